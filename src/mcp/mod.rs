//! The protocol: bytes and headers in, a reply out. Knows no socket; tested without one.
//!
//! ```text
//! dispatch   an HTTP request comes in, its era is decided (era), a reply goes out
//! legacy     header sessions, 2024-11-05 to 2025-11-25
//! modern     requests that describe themselves, 2026-07-28, and tasks
//! call       the tools: arguments, waiting, answers
//! stream     one exchange: JSON when it is quick, events when it lasts
//! requests   what is open, for those who take a request back
//! wire, headers, error    messages, headers, codes and statuses
//! ```

mod arguments;
mod call;
mod dispatch;
mod era;
mod error;
mod fixture;
mod headers;
mod legacy;
mod modern;
mod requests;
mod stream;
mod tasks;
mod tools;
mod wire;

pub use dispatch::Dispatcher;
pub use fixture::{Answered, Tool, ToolCall, ToolFault, ToolFuture};
pub use stream::Events;

use self::error::{Fault, Wire};
use self::wire::Id;
use crate::host::Delivery;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use serde_json::{Value, json};
use std::net::SocketAddr;

/// The name of the extension by which clients follow evals as tasks.
const TASKS: &str = "io.modelcontextprotocol/tasks";

/// Who answers, as both wires say it.
fn server_info() -> Value {
    json!({"name": "remontoire", "version": env!("CARGO_PKG_VERSION")})
}

/// One HTTP request to `/mcp`, after Host, Origin, token and body size were checked.
#[derive(Clone, Debug)]
pub struct Incoming {
    /// The HTTP method.
    pub method: Method,
    /// All headers.
    pub headers: HeaderMap,
    /// The whole body.
    pub body: Bytes,
    /// The other end of the connection.
    pub peer: Option<SocketAddr>,
}

/// What to answer.
#[derive(Debug)]
pub struct Reply {
    /// The status.
    pub status: StatusCode,
    /// Headers beside `Content-Length`.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// The body.
    pub body: Body,
}

impl Reply {
    /// A reply without a body.
    fn empty(status: StatusCode) -> Self {
        Self { status, headers: Vec::new(), body: Body::Empty }
    }

    /// A reply of one JSON text.
    fn json(status: StatusCode, body: &Value, delivery: Delivery) -> Self {
        let headers = vec![(CONTENT_TYPE, HeaderValue::from_static("application/json"))];
        Self { status, headers, body: Body::Json(Bytes::from(body.to_string()), delivery) }
    }

    /// An error of the protocol that is the whole reply, before the request has reached its wire.
    fn refusal(id: Option<&Id>, fault: &Fault) -> Self {
        Self::json(fault.status(Wire::Legacy), &wire::error(id, fault, Wire::Legacy), Delivery::none())
    }
}

/// The body of a reply.
#[derive(Debug)]
pub enum Body {
    /// Nothing.
    Empty,
    /// One JSON text, and what it delivers once it was written whole.
    Json(Bytes, Delivery),
    /// A stream of events, to be asked for one by one until it ends. Dropping it early says that the client is gone.
    Events(Events),
}

/// One frame of an event stream: events, or a comment.
#[derive(Debug)]
pub struct Frame {
    /// The bytes, terminated by an empty line.
    pub bytes: Bytes,
    /// What is marked once these bytes were written.
    pub delivery: Delivery,
}
