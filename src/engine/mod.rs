//! Floor 1: evaluation. Turns a script and a few hooks into an outcome.
//!
//! Owns the language: the engine made for each running entry, the pass over a compiled script that makes closures portable
//! and names what each statement writes, publishing, errors as data, the memory count, and the language types [`Atom`] and
//! [`EntryHandle`]. Knows no registry, no host and no wire: whatever it needs from above it asks through the traits of
//! [`hooks`] and [`view`].

pub mod atom;
mod caught;
mod cells;
mod explain;
pub mod failure;
mod guards;
pub mod handle;
pub mod hooks;
pub mod memory;
pub mod module;
pub mod outcome;
mod portable;
mod publish;
pub mod register;
mod rhai_internals;
pub mod runtime;
mod signature;
pub mod syntax;
pub mod task;
mod text;
pub mod values;
pub mod view;

pub use atom::Atom;
pub use failure::{Fallible, Thrown, raise, refuse, terminated};
pub use handle::{EntryHandle, EntryOps, shared_by_identity};
pub use hooks::{Blocking, Budget, Hooks, Modules, Sink, Sources, Waits};
pub use module::{LoadedModule, Overlay, compile_module};
pub use outcome::{Callable, Ended, Unfinished, call, evaluate};
pub use register::Api;
pub use rhai;
pub use runtime::{FunctionFacts, Runtime};
pub use task::Task;
pub use view::SpaceView;
