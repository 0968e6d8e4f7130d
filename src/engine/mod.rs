//! Floor 1: evaluation. Turns a script and a few hooks into an outcome.
//!
//! Owns everything that touches Rhai: the engine made for each running entry, the rewriting of a compiled script that makes
//! closures portable and names what each statement writes, committing, errors as data, the memory count, and the script types
//! [`Atom`] and [`EntryHandle`]. Knows no registry, no host and no wire: whatever it needs from above it asks through the
//! traits [`SpaceView`], [`Modules`], [`Sources`], [`Sink`], [`Blocking`], [`Budget`] and [`Waits`].
//!
//! Inside it has floors of its own: the files beside this one and `native` at the bottom, then `rhai_internals` (all that Rhai
//! does not promise to keep), `value` (values at rest), `task` (the context of a running entry, as data) and `run`.

mod environment;
pub(crate) mod error;
mod marks;
pub(crate) mod memory;
mod native;
mod rhai_internals;
mod run;
mod signature;
mod source_text;
mod task;
mod value;

pub(crate) use environment::{Constants, Environment, Import};
pub(crate) use error::{Fallible, Thrown, fail, fail_with, raise, refuse, terminated};
pub(crate) use native::Api;
pub use rhai;
pub(crate) use rhai_internals::calls::Readings;
pub(crate) use rhai_internals::lexer;
pub(crate) use rhai_internals::module_outline::{
    ConstantOutline, FunctionOutline, ModuleImport, ModuleOutline, Parsed,
};
pub(crate) use rhai_internals::module_text;
pub(crate) use run::describe::describe;
pub(crate) use run::evaluate::{Callable, Ended, Unfinished, call, evaluate};
pub(crate) use run::modules::compile_module;
pub(crate) use run::stdlib::all::stdlib;
pub(crate) use run::stdlib::json::{read_json, write_json};
pub(crate) use signature::value_type;
pub(crate) use task::context::{Hooks, Modules, Task};
pub(crate) use task::control::{Blocking, Control};
pub(crate) use task::hooks::{Budget, Sink, Sources, Waits};
pub(crate) use task::loaded_module::LoadedModule;
pub(crate) use task::runtime::{FunctionFacts, Runtime};
pub(crate) use task::space_view::{
    Batch, Change, Committed, Definition, Opened, Opening, Overlay, Overwritten, Resized, SpaceFailure, SpaceView,
    Variable,
};
pub(crate) use value::atom::Atom;
pub use value::handle::shared_by_identity;
pub(crate) use value::handle::{EntryHandle, EntryOps};
pub(crate) use value::inspect::holds_functions;
#[cfg(test)]
pub(crate) use value::inspect::measure;
pub(crate) use value::sequences::sequence_text;
