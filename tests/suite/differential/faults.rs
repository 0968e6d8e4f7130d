//! Programs that differ because of a fault. This list only shrinks: one that no longer differs fails the test until it is taken
//! off.

/// A fault, and the programs that show it.
pub(super) struct Fault {
    pub(super) what: &'static str,
    pub(super) programs: &'static [&'static str],
}

/// Every known fault.
pub(super) const FAULTS: &[Fault] = &[
    Fault {
        what: "a closure is refused what its own eval holds for reading: the variable that the call it was given to \
               is made on",
        programs: &["closure reads what it is called on: stored closure"],
    },
    Fault {
        what: "a pointer to a function of the program, once it was published, cannot be called with this, and \
               functions that hand out this or an index take its parameters for others",
        programs: &[
            "stored function with this: map of a map",
            "stored function with this: drain of a map",
            "stored function with this: for_each with an index",
            "stored function with this: filter of a map",
            "stored function with this: retain of a map",
        ],
    },
    Fault {
        what: "call on a receiver destroys it when the function is a native one or a closure that does not use this",
        programs: &["receiver of call: closure that does not use this"],
    },
    Fault {
        what: "a closure takes more arguments than it has parameters, or fewer parameters than it is given, without \
               a word",
        programs: &["too few parameters: sort", "too few parameters: zip", "too many parameters: for_each"],
    },
    Fault {
        what: "an error in the function of dedup is swallowed",
        programs: &["error through dedup nobody catches", "dedup with a closure that throws", "throw through dedup"],
    },
    Fault {
        what: "a capture that fails leaves the next variable that is named captured, so that a function call \
               changes a copy of it",
        programs: &["capture of one that is there and one that is not"],
    },
    Fault {
        what: "is_def_var with a name that is not written out knows only what the eval itself names",
        programs: &[
            "is_def_var with a name in a variable",
            "is_def_var with a name from a function",
            "is_def_var with a name put together",
        ],
    },
    Fault {
        what: "an empty text splits into nothing, or backwards into two",
        programs: &["splitting nothing backwards", "splitting nothing"],
    },
    Fault {
        what: "a closure does not know that it is anonymous",
        programs: &["anonymous closures with captures", "anonymous closures"],
    },
    Fault {
        what: "functions that change a text in place give nothing",
        programs: &[
            "text in place gives the new text: trim of a literal",
            "text in place gives the new text: replace",
            "text in place gives the new text: crop",
            "text in place gives the new text: pad",
            "text in place gives the new text: remove",
            "text in place gives the new text: make_lower",
            "text in place gives the new text: as a function",
            "text in place gives the new text: of a part",
            "text in place gives the new text: trim",
            "text in place gives the new text: trim in map",
            "text in place gives the new text: replace with characters",
            "text in place gives the new text: crop from",
            "text in place gives the new text: truncate",
            "text in place gives the new text: make_upper",
            "text in place gives the new text: chained",
            "text in place gives the new text: in a function",
        ],
    },
    Fault {
        what: "methods that only read are refused on constants, and in functions on variables of the space",
        programs: &[
            "reading method on a constant: extract of a list",
            "reading method on a constant: range",
            "reading method in a function: extract",
            "reading method in a function: for_each",
            "reading method in a function: blob",
            "reading method on a constant: for_each",
            "reading method on a constant: blob",
            "reading method in a function: get",
            "reading method in a function: range",
            "reading method in a function: on a part",
        ],
    },
    Fault {
        what: "ranges and iterators have none of the functions of lists",
        programs: &[
            "ranges as lists: map of a literal",
            "ranges as lists: inclusive",
            "ranges as lists: to_array",
            "ranges as lists: steps",
            "ranges as lists: map",
            "ranges as lists: filter",
            "ranges as lists: some all len",
            "ranges as lists: characters",
        ],
    },
    Fault {
        what: "texts have no to_int and to_float",
        programs: &["texts to numbers: to_float", "texts to numbers: to_int"],
    },
    Fault {
        what: "a list cannot be indexed by a range literal",
        programs: &[
            "list part by an inclusive range literal",
            "list part by a range literal",
            "list literal part by a range literal",
        ],
    },
    Fault { what: "only maps have to_json", programs: &["json of a list", "json of a text and numbers"] },
    Fault {
        what: "a comparison that gives a float or a boolean sorts nothing",
        programs: &["sorting by floats", "sorting by booleans", "ordering by floats"],
    },
    Fault {
        what: "call with a closure that does not use this is refused, where plain Rhai calls it",
        programs: &[
            "receiver of call: closure without parameters",
            "receiver of call: part of a list",
            "receiver of call: in a block",
            "receiver of call: a captured variable",
            "receiver of call: part of a map",
            "receiver of call: a text",
        ],
    },
];
