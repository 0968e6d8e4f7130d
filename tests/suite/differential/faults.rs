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
        what: "call on a receiver destroys it when the function is a native one or a closure that does not use this",
        programs: &["receiver of call: closure that does not use this"],
    },
];
