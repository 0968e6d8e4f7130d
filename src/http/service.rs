//! What stands behind the door: the seam between sockets and the protocol.

use crate::host::Delivery;
use crate::mcp::{self, Dispatcher, Frame, Incoming};
use bytes::Bytes;
use http::{HeaderName, HeaderValue, StatusCode};
use std::fmt;
use std::future::Future;
use std::pin::Pin;

/// Answers requests that were let in.
pub trait Service: Clone + Send + Sync + 'static {
    /// Answers one request to `/mcp`. The future is dropped when the client has gone.
    fn handle(&self, incoming: Incoming) -> impl Future<Output = Reply> + Send;

    /// The JSON body of `GET /probe`.
    fn probe(&self) -> Bytes;

    /// Makes every open request answer soon: the process is ending.
    fn shut_down(&self);
}

/// What to answer.
#[derive(Debug)]
pub struct Reply {
    /// The status.
    pub status: StatusCode,
    /// Headers beside those of the connection and the length.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// The body.
    pub body: ReplyBody,
}

/// The body of a reply.
pub enum ReplyBody {
    /// Nothing, which delivers nothing.
    Empty,
    /// One text, and what it delivers once it was written whole.
    Whole(Bytes, Delivery),
    /// Frames that are written as they come. Dropped early when the client has gone.
    Events(Box<dyn Frames>),
}

/// A source of the frames of an event stream.
pub trait Frames: Send + 'static {
    /// The next frame; `None` at the end.
    fn next(&mut self) -> Pin<Box<dyn Future<Output = Option<Frame>> + Send + '_>>;
}

impl fmt::Debug for ReplyBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("Empty"),
            Self::Whole(bytes, delivery) => f.debug_tuple("Whole").field(&bytes.len()).field(delivery).finish(),
            Self::Events(_) => f.write_str("Events"),
        }
    }
}

impl Service for Dispatcher {
    async fn handle(&self, incoming: Incoming) -> Reply {
        let mcp::Reply { status, headers, body } = Self::handle(self, incoming).await;
        let body = match body {
            mcp::Body::Empty => ReplyBody::Empty,
            mcp::Body::Json(bytes, delivery) => ReplyBody::Whole(bytes, delivery),
            mcp::Body::Events(events) => ReplyBody::Events(Box::new(events)),
        };
        Reply { status, headers, body }
    }

    fn probe(&self) -> Bytes {
        Self::probe(self)
    }

    fn shut_down(&self) {
        Self::shut_down(self);
    }
}

impl Frames for mcp::Events {
    fn next(&mut self) -> Pin<Box<dyn Future<Output = Option<Frame>> + Send + '_>> {
        Box::pin(Self::next(self))
    }
}
