//! The protocol: bytes and headers in, a reply out. Knows no socket; tested without one.

use crate::host::{Delivery, Host};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use std::net::SocketAddr;

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

/// An open event stream.
#[derive(Debug)]
pub struct Events {}

/// One frame of an event stream: an event or a comment.
#[derive(Debug)]
pub struct Frame {
    /// The bytes, terminated by an empty line.
    pub bytes: Bytes,
    /// What is marked once these bytes were written.
    pub delivery: Delivery,
}

impl Events {
    /// The next frame, when there is something to say; `None` at the end of the stream. May be dropped and asked again.
    pub async fn next(&mut self) -> Option<Frame> {
        todo!()
    }
}

/// Answers requests against one host.
#[derive(Clone, Debug)]
pub struct Dispatcher {}

impl Dispatcher {
    /// A dispatcher for this host.
    pub fn new(host: Host) -> Self {
        let _ = host;
        todo!()
    }

    /// Answers one request. Quick calls come back as one JSON body, longer ones as events after `limits().stream_after`.
    /// Dropping the future says that the client is gone.
    pub async fn handle(&self, incoming: Incoming) -> Reply {
        let _ = incoming;
        todo!()
    }

    /// Settles every open wait with a reason: the process is ending.
    pub fn shut_down(&self) {
        todo!()
    }

    /// The body of `GET /probe`.
    pub fn probe(&self) -> Bytes {
        todo!()
    }
}
