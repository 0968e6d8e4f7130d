//! Everything that Rhai marks as internal or volatile, or that depends on the English of its messages, in one place, with tests
//! that fail loudly when an upgrade changes it: rewriting the syntax tree, native function pointers, and running code in an
//! environment of our choice.

pub(crate) mod callbacks;
pub(crate) mod calls;
mod chain_walk;
mod chains;
pub(crate) mod closure_name;
pub(crate) mod error_text;
pub(crate) mod function_body;
mod hand_over;
#[cfg(test)]
mod hand_over_tests;
pub(crate) mod lexer;
pub(crate) mod markers;
pub(crate) mod module_outline;
pub(crate) mod module_text;
mod names;
mod notes;
mod questions;
pub(crate) mod rewrite;
pub(crate) mod runtime_state;
#[cfg(test)]
mod tests;
pub(crate) mod walk;
