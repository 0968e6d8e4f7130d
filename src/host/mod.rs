//! Floor 3: where registry, engine and spaces meet. Both front ends and embedding programs call only this module.
//!
//! Owns the threads entries run on, the moments at which the registry is told about them, the functions scripts call, and the
//! answers callers get with what those deliver. Knows no HTTP, no JSON and no terminal.
//!
//! Inside, each folder knows those before it: plain types, `core` (the parts of a host), `run` (the life of an entry),
//! `functions` (the functions scripts call), `api` (the ways in).

mod api;
mod core;
mod delivery;
mod functions;
mod names;
mod run;
#[cfg(test)]
mod tests;
mod types;

pub(crate) use self::core::serving::Occupied;
pub use api::builder::{BuildError, HostBuilder};
pub use api::embed::{EvalError, Evaluated, Host};
pub use api::host::{Expected, Hold, HostApi, Submitted};
pub use api::prompt::PromptSession;
pub(crate) use api::script::Script;
pub(crate) use api::wait;
pub(crate) use delivery::Delivery;
pub(crate) use names::{ModuleKind, ModuleNames, Names, Signature};
pub use run::tracing_layer::{EntryLayer, tracing_layer};
pub(crate) use types::{Answer, EvalRequest, OutputPage, TaskView};
