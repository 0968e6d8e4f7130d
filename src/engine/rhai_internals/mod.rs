//! Everything the language marks as internal or volatile, in one place, with tests that fail loudly when an upgrade changes it:
//! the pass over the syntax tree, native function pointers, and running code in an environment of our choice.

mod body;
mod calls;
mod marks;
mod pass;
#[cfg(test)]
mod tests;

pub(crate) use calls::{
    Moment, State, begin_module, call_pointer, is_native_pointer, load_module, native_pointer, pointer_to,
    run_statements, script_functions,
};
pub(crate) use marks::{Mark, NestingCheck};
pub(crate) use pass::{Kind, Prepared, prepare};
