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
//! The modules stand on floors; each imports only from floors below its own, and modules on one floor do not know each other:
//!
//! ```text
//! 7  cli                         joins the parts
//! 6  config
//! 5  http                        sockets, Host and Origin, delivery
//! 4  mcp            repl         the two front ends
//! 3  host                        where registry, engine and spaces meet; the embedding API
//! 2  spaces         render
//! 1  registry       engine
//! 0  base                        ids, time, limits, outcomes, refusals
//! ```

pub mod base;

pub mod engine;
pub mod registry;

pub mod render;
pub mod spaces;

pub mod host;

#[cfg(feature = "mcp")]
pub mod mcp;
#[cfg(feature = "prompt")]
#[cfg_attr(not(feature = "cli"), allow(dead_code, unused_imports, reason = "the command line runs it"))]
mod repl;

#[cfg(feature = "http")]
pub mod http;

#[cfg(feature = "cli")]
mod config;

#[cfg(feature = "cli")]
mod cli;

pub use base::limits::LimitHit;
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
    pub use crate::base::{ClientInfo, HeaderKey, Owner, Time};
    #[cfg(feature = "cli")]
    pub use crate::cli::main as program;
    pub use crate::engine::memory::process_bytes;
    pub use crate::host::wait::until;
    pub use crate::host::{
        Answer, Delivery, Expected, Hold, HostApi, OutputPage, PromptSession, Script, Submitted, SubmittedScript,
    };
    pub use crate::registry::CancelBy;
    pub use crate::render::Style;
}
