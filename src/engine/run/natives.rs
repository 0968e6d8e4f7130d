//! What is known of functions by their names alone, before a script runs: whether a call may come to code of a script, and
//! whether a method leaves its object as it is.

use crate::engine::rhai_internals::calls::{Native, Natives, Overload, Readings};
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
    /// What those of the space read and call.
    readings: &'a Readings,
}

impl<'a> Known<'a> {
    pub(super) fn new(runtime: &'a Runtime, scripts: Vec<&'a Shared<Module>>, readings: &'a Readings) -> Self {
        Self { runtime, scripts, readings }
    }
}

impl Natives for Known<'_> {
    fn is_of_scripts(&self, name: &str) -> bool {
        self.scripts.iter().any(|module| script_functions(module).any(|function| function.name == name))
    }

    fn native(&self, name: &str) -> Native {
        if KEYWORDS.contains(&name) { Native::Quiet } else { self.runtime.native(name) }
    }

    fn of_space(&self, name: &str) -> &[Overload] {
        self.readings.of(name)
    }

    fn may_be_own(&self, name: &str) -> bool {
        self.runtime.may_be_own(name)
    }

    fn note_own(&self, name: Option<&str>) {
        self.runtime.note_own(name);
    }

    fn only_reads(&self, name: &str) -> bool {
        READERS.contains(&name) && !self.runtime.has_callback(name) && !self.is_of_scripts(name)
    }
}
