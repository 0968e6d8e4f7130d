//! Modules that reach the machine, where it is allowed.

mod all;
mod env;
mod fs;

pub(super) use all::all;
