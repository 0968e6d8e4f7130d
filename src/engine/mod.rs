//! Floor 1: evaluation. Turns a script and a few hooks into an outcome.
//!
//! Owns everything that touches Rhai: the engine made for each running entry, the rewriting of a compiled script that makes
//! closures portable and names what each statement writes, committing, errors as data, the memory count, and the script types
//! [`Atom`] and [`EntryHandle`]. Knows no registry, no host and no wire: whatever it needs from above it asks through the
//! traits [`SpaceView`], [`Modules`], [`Sources`], [`Sink`], [`Blocking`], [`Budget`] and [`Waits`].
//!
//! Inside it has floors of its own: the files beside this one and [`native`] at the bottom, then `rhai_internals` (all that Rhai
//! does not promise to keep), `value` (values at rest), `task` (the context of a running entry, as data) and `run`.

mod environment;
pub mod error;
pub mod memory;
mod native;
mod rhai_internals;
mod run;
mod signature;
mod source_text;
mod task;
mod value;

pub use environment::{Constants, Environment, Import};
pub use error::{Fallible, Thrown, column, fail, limit, raise, refuse, terminated};
pub use native::Api;
pub use rhai;
pub use rhai_internals::FunctionDef;
pub use rhai_internals::lexer;
pub use rhai_internals::module_outline::{ConstantOutline, FunctionOutline, ModuleImport, ModuleOutline, Parsed};
pub(crate) use rhai_internals::module_text;
pub use run::describe::describe;
pub use run::evaluate::{Callable, Ended, Unfinished, call, evaluate};
pub use run::modules::compile_module;
pub use run::stdlib::all::stdlib;
pub use task::context::{Hooks, Modules, Task};
pub use task::control::{Blocking, Control};
pub use task::hooks::{Budget, Sink, Sources, Waits};
pub use task::loaded_module::LoadedModule;
pub use task::runtime::{FunctionFacts, Runtime};
pub use task::space_view::{
    Batch, Change, Committed, Definition, Opened, Opening, Overlay, Overwritten, Resized, SpaceFailure, SpaceView,
    Variable,
};
pub use value::atom::Atom;
pub use value::handle::{EntryHandle, EntryOps, shared_by_identity};
pub use value::inspect::{Measure, holds_functions, measure};
pub use value::sequences::sequence_text;
