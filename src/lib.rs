//! A live Rhai runtime that AI agents reach over MCP and a person reaches at a prompt: one registry of evals shared by both.
//!
//! A program that embeds it registers modules of its own, and can be inspected while it runs:
//!
//! ```
//! use remontoire::rhai::{FuncRegistration, Module};
//! use remontoire::{Host, Limits, ServeError};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut orders = Module::new();
//! FuncRegistration::new("count").with_comments(["/// How many orders are open."]).set_into_module(&mut orders, || 7_i64);
//!
//! let host = Host::builder()
//!     .describe("orders service, staging")
//!     .module("orders", orders)
//!     .limits(Limits::default())
//!     .build()?;
//! let server = remontoire::serve(&host, "127.0.0.1:0".parse()?).await?; // nothing was reachable until now
//! println!("an MCP client may connect to {}", server.url());
//!
//! let counted = host.eval("orders::count() + 1").await?;
//! assert_eq!(counted.value.as_int(), Ok(8));
//! let twice = remontoire::serve(&host, "127.0.0.1:0".parse()?).await;
//! assert!(matches!(twice, Err(ServeError::Serving { .. })));
//! server.shutdown().await;
//! # Ok(()) }
//! ```
//!
//! The rooms of the library are private and stand on floors; each imports only from floors below its own. How it is put together
//! is told in `doc/architecture.md`.

// Which parts nobody uses is judged where all front ends are built; each of them leaves some out that the others need.
#![cfg_attr(not(feature = "cli"), allow(dead_code, unused_imports, reason = "front ends that are left out use them"))]

mod base;

mod engine;
mod registry;

mod render;
mod spaces;
mod toolkit;

mod host;

#[cfg(feature = "mcp")]
mod mcp;
#[cfg(feature = "prompt")]
mod repl;

#[cfg(feature = "http")]
mod http;

#[cfg(feature = "cli")]
mod config;

#[cfg(feature = "cli")]
mod cli;

pub use base::limits::LimitHit;
pub use base::{Ask, Decision, PermissionError, PermissionKind, Permissions};
pub use base::{Clock, EntryId, Failure, Frame, Limits, Refusal, Status, StopCause};
pub use engine::memory::CountingAllocator;
pub use engine::rhai;
pub use engine::shared_by_identity;
pub use host::{BuildError, EntryLayer, EvalError, EvalRequest, Evaluated, Host, HostBuilder, Probe, tracing_layer};
#[cfg(feature = "http")]
pub use http::{ServeError, ServeOptions, Server, Token, serve, serve_with};

/// The former name of [`EvalRequest`].
#[deprecated(note = "it is called `EvalRequest` now")]
pub type Job = EvalRequest;

/// Parts that the project's own tests, benches and examples use. Not part of the interface: they change without notice.
#[doc(hidden)]
pub mod internals {
    pub use crate::base::limits::{KIB, MIB};
    pub use crate::base::{ClientInfo, Handle, HeaderKey, Owner, SessionId, SpaceId, Time};
    #[cfg(feature = "cli")]
    pub use crate::cli::main as program;
    pub use crate::engine::memory::{process_bytes, share_arenas};
    pub use crate::host::wait::until;
    pub use crate::host::{
        Answer, Delivery, Expected, Hold, HostApi, OutputPage, PromptSession, Script, Submitted, SubmittedScript,
    };
    #[cfg(feature = "http")]
    pub use crate::http::serve_dispatcher;
    #[cfg(feature = "mcp")]
    pub use crate::mcp::{
        Answered, Body, Dispatcher, Frame, Frames, Incoming, Reply, Tool, ToolCall, ToolFault, ToolFuture,
    };
    pub use crate::registry::{
        Admission, Adoption, Asked, CancelBy, CancelState, Claim, ClaimId, Counts, Created, EndedSession, EntryFilter,
        EntryView, FOLLOWED_FOR, Forgotten, NamedSpace, NewEntry, Opened, OutputLog, Refused, Registry, Released,
        Remains, SessionRow, Settled, Settlement, ShutDown, SpaceKind, TargetSpace, Wants,
    };
    pub use crate::render::{Style, teach};
}
