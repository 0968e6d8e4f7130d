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
#[cfg(test)]
pub(crate) use self::core::serving::Serving;
pub use api::builder::{BuildError, HostBuilder};
pub use api::embed::{EvalError, Evaluated, Host};
pub use api::host::{Expected, Hold, HostApi, Submitted};
pub use api::prompt::PromptSession;
pub use api::script::{Script, SubmittedScript};
pub(crate) use api::wait;
pub use delivery::Delivery;
#[cfg(test)]
pub(crate) use delivery::Receipt;
pub(crate) use names::{ModuleKind, ModuleNames, Names, Signature};
pub use run::tracing_layer::{EntryLayer, tracing_layer};
pub(crate) use types::TaskView;
pub use types::{Answer, EvalRequest, OutputPage, Probe};
