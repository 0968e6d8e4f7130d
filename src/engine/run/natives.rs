//! What is known of functions by their names alone, before a script runs: whether a call may come to code of a script, and
//! whether a method leaves its object as it is.

use crate::engine::marks;
use crate::engine::rhai_internals::calls::{Native, Natives, Overload, Readings};
use crate::engine::rhai_internals::function_body::calls;
use crate::engine::rhai_internals::markers::NestingCheck;
use crate::engine::rhai_internals::runtime_state::script_functions;
use crate::engine::task::runtime::Runtime;
use rhai::{Module, Shared};

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

    fn gives_in_place(&self, name: &str) -> bool {
        let named = |module: &&Shared<Module>| {
            script_functions(module).any(|function| function.name == name && calls(function, NestingCheck::GIVING))
        };
        self.scripts.iter().any(named)
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
        marks::only_reads(name) && !self.runtime.has_callback(name) && !self.is_of_scripts(name)
    }
}
