//! What is known of the native functions that every script sees, by their names alone, before a script runs: whether they leave
//! their object as it is, and what they give. The one source of it. What is not named here may do anything.

/// What a function does with the object that it is called on, its first argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Only looks at it, whatever its type, and calls nothing.
    Reads,
    /// Leaves it as it is, whatever the function that it is given does with its parameters. That function's value is used.
    Asks,
    /// Changes a list or a map in place and gives `()`.
    InPlace,
    /// The same, and uses the value of a function that it is given.
    InPlaceAsking,
    /// May change it, and gives something; or is given a function whose value it throws away.
    Changes,
    /// The same, and uses the value of a function that it is given.
    ChangesAsking,
}

use Mark::{Asks, Changes, ChangesAsking, InPlace, InPlaceAsking, Reads};

/// The functions by what they do.
const MARKED: [(Mark, &[&str]); 6] = [
    (
        Reads,
        &[
            "abs",
            "bits",
            "bytes",
            "ceiling",
            "chars",
            "debug",
            "ends_with",
            "extract",
            "floor",
            "get",
            "get_bit",
            "get_bits",
            "is_empty",
            "is_even",
            "is_finite",
            "is_infinite",
            "is_nan",
            "is_odd",
            "is_zero",
            "keys",
            "len",
            "max",
            "min",
            "parse_float",
            "parse_int",
            "print",
            "round",
            "sign",
            "split_rev",
            "starts_with",
            "sub_string",
            "tag",
            "to_array",
            "to_chars",
            "to_debug",
            "to_float",
            "to_int",
            "to_json",
            "to_lower",
            "to_string",
            "to_upper",
            "type_of",
            "values",
            "is_anonymous",
            "name",
            "parse_be_float",
            "parse_be_int",
            "parse_le_float",
            "parse_le_int",
            "start",
            "end",
            "is_inclusive",
            "is_exclusive",
            "contains",
            "collect",
        ],
    ),
    (
        Asks,
        &[
            "all",
            "find_path",
            "filter",
            "find",
            "find_map",
            "index_of",
            "map",
            "order",
            "order_by",
            "order_desc",
            "reduce",
            "reduce_rev",
            "some",
            "zip",
        ],
    ),
    (
        InPlace,
        &[
            "append",
            "chop",
            "clear",
            "fill_with",
            "insert",
            "mixin",
            "pad",
            "push",
            "reverse",
            "sort_desc",
            "splice",
            "truncate",
        ],
    ),
    (InPlaceAsking, &["dedup", "sort", "sort_by"]),
    (
        Changes,
        &[
            "crop",
            "for_each",
            "make_lower",
            "make_upper",
            "pop",
            "remove",
            "replace",
            "set",
            "set_bit",
            "set_bits",
            "set_tag",
            "shift",
            "split",
            "take",
            "trim",
            "write_ascii",
            "write_be",
            "write_le",
            "write_utf8",
        ],
    ),
    (ChangesAsking, &["drain", "retain", "swap"]),
];

fn mark(name: &str) -> Option<Mark> {
    MARKED.iter().find(|(_, names)| names.contains(&name)).map(|(mark, _)| *mark)
}

/// Whether every function of this name only looks at its object and calls nothing.
pub(crate) fn only_reads(name: &str) -> bool {
    mark(name) == Some(Reads)
}

/// Whether every function of this name leaves its object as it is, also when it calls a function with parts of it.
pub(crate) fn leaves_object(name: &str) -> bool {
    matches!(mark(name), Some(Reads | Asks))
}

/// Whether a function of this name changes a list or a map in place and gives `()`.
pub(crate) fn works_in_place(name: &str) -> bool {
    matches!(mark(name), Some(InPlace | InPlaceAsking))
}

/// Whether a function of this name uses the value of a function that it is given.
pub(crate) fn uses_result(name: &str) -> bool {
    matches!(mark(name), Some(Asks | InPlaceAsking | ChangesAsking))
}

/// The functions that work in place, in an order that stays.
pub(crate) fn in_place() -> impl Iterator<Item = &'static str> {
    let works = |mark: Mark| matches!(mark, InPlace | InPlaceAsking);
    MARKED.iter().filter(move |(mark, _)| works(*mark)).flat_map(|(_, names)| names.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Limits;
    use crate::engine::{Runtime, stdlib};
    use rhai::packages::{Package, StandardPackage};
    use rhai::{Engine, Module};
    use std::collections::BTreeSet;

    /// Words that look like functions and are none.
    const WORDS: [&str; 3] = ["debug", "print", "type_of"];

    #[test]
    fn every_name_is_that_of_a_function_and_stands_once() {
        let runtime = Runtime::new(Limits::default(), stdlib(), Module::new(), Vec::new());
        let names: BTreeSet<&str> = runtime.functions().iter().map(|facts| facts.name.as_str()).collect();
        let mut seen = BTreeSet::new();
        for name in MARKED.iter().flat_map(|(_, names)| names.iter()) {
            // The places of a range are properties as well.
            assert!(names.contains(name) || WORDS.contains(name), "no function {name}");
            assert!(seen.insert(name), "{name} stands twice");
        }
    }

    #[test]
    fn every_function_of_rhai_that_could_change_its_object_is_marked() {
        let mut engine = Engine::new_raw();
        engine.register_global_module(StandardPackage::new().as_shared_module());
        let json: serde_json::Value = serde_json::from_str(&engine.gen_fn_metadata_to_json(true).unwrap()).unwrap();
        let mut unmarked = BTreeSet::new();
        for function in json["functions"].as_array().unwrap() {
            let (name, signature) = (function["name"].as_str().unwrap(), function["signature"].as_str().unwrap());
            let by_reference = signature.split_once(": ").is_some_and(|(_, first)| first.starts_with("&mut "));
            // Operators and properties are no methods.
            let is_method = name.starts_with(|c: char| c.is_alphabetic()) && !name.contains('$');
            if by_reference && is_method && mark(name).is_none() {
                unmarked.insert(name.to_owned());
            }
        }
        assert_eq!(unmarked, BTreeSet::new());
    }
}
