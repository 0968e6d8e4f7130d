//! The Model Context Protocol: messages in, messages out.
//!
//! ```text
//! http     requests with headers in, replies with statuses and event streams out
//! eras     the methods: header sessions, 2024-11-05 to 2025-11-25; requests that describe themselves, 2026-07-28, and tasks
//! calls    the tools against the host; open requests; the exchange that carries the answers as messages
//! tools    declarations and arguments of the tools, tasks as data
//! rpc      messages, errors, revisions, notifications
//! ```
//!
//! Each folder imports from those below it. Only `http` knows of HTTP: another transport would stand beside it.

mod calls;
mod eras;
mod http;
mod rpc;
mod tools;

pub use self::http::{Body, Dispatcher, Frame, Frames, Incoming, Reply};
pub use self::tools::custom::{Answered, Tool, ToolCall, ToolFault, ToolFuture};
