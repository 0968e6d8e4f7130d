//! What is known of functions by their names alone, before a script runs: whether a call may come to code of a script, and
//! whether a method leaves its object as it is.

use crate::engine::rhai_internals::hand_over::Natives;
use crate::engine::rhai_internals::runtime_state::script_functions;
use crate::engine::task::runtime::Runtime;
use rhai::{Module, Shared};

/// Methods and functions that only look at their first argument, whatever its type, and call nothing.
const READERS: [&str; 47] = [
    "contains",
    "ends_with",
    "extract",
    "get",
    "get_bit",
    "get_bits",
    "has",
    "index_of",
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
    "sum",
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
    "abs",
    "bits",
    "bytes",
    "chars",
    "ceiling",
    "floor",
    "debug",
];

/// Words that look like calls and are none, or call nothing.
const KEYWORDS: [&str; 8] = ["print", "debug", "type_of", "curry", "is_shared", "is_def_var", "is_def_fn", "Fn"];

/// The functions that a script may call: those of the process, of its space and its own.
pub(super) struct Known<'a> {
    runtime: &'a Runtime,
    /// The functions of the space and of the script, which come before native ones.
    scripts: Vec<&'a Shared<Module>>,
}

impl<'a> Known<'a> {
    pub(super) fn new(runtime: &'a Runtime, scripts: Vec<&'a Shared<Module>>) -> Self {
        Self { runtime, scripts }
    }
}

impl Natives for Known<'_> {
    fn is_of_scripts(&self, name: &str) -> bool {
        self.scripts.iter().any(|module| script_functions(module).any(|function| function.name == name))
    }

    fn may_call_scripts(&self, name: &str) -> bool {
        let quiet = KEYWORDS.contains(&name) || self.runtime.calls_nothing(name);
        !quiet || self.is_of_scripts(name)
    }

    fn only_reads(&self, name: &str) -> bool {
        READERS.contains(&name) && !self.runtime.has_callback(name) && !self.is_of_scripts(name)
    }
}
