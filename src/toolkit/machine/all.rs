//! The modules that reach the machine, with their names.

use super::env;
use super::fs::module as fs_module;
use rhai::Module;

/// All of them, in the order of the manual.
pub(in crate::toolkit) fn all() -> Vec<(&'static str, Module)> {
    vec![("fs", fs_module::module()), ("env", env::module())]
}
