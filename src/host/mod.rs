//! Floor 3: where state, engine and spaces meet. Both front ends and embedding programs call only this module.
//!
//! Owns the threads entries run on, the moments at which the registry is told about them, the functions scripts call, and the
//! answers callers get with what those deliver. Knows no HTTP, no JSON and no terminal.

mod answers;
mod api;
mod builder;
mod children;
mod delivery;
mod embed;
mod functions;
mod handles;
mod hooks;
mod inner;
mod kept;
mod known;
mod live;
mod prompt;
mod script;
mod serving;
mod settle;
mod threads;
mod tracing_layer;
pub mod wait;

pub use api::{Answer, EvalFacts, Expected, Hold, Host, Job, Probe, Submitted, TaskView};
pub use builder::{BuildError, HostBuilder};
pub use delivery::{Delivery, Receipt};
pub use embed::{EvalError, Evaluated};
pub use prompt::{Known, KnownModule, ModuleKind, OutputPage, Seat};
pub use script::{Ended, Printed, Script, SubmittedScript};
pub use serving::{Occupied, Serving};
pub use tracing_layer::{EntryLayer, tracing_layer};
