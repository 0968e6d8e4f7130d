//! Requests and replies as the HTTP server hands them over and takes them back. Knows no socket.

use super::status::status;
use crate::host::Delivery;
use crate::mcp::calls::response::Response;
use crate::mcp::rpc::fault::RpcError;
use crate::mcp::rpc::message::Id;
use crate::mcp::rpc::revision::Era;
use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use serde_json::Value;
use std::fmt;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::task::{Context, Poll};

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

/// An HTTP reply.
#[derive(Debug)]
pub struct Reply {
    /// The status.
    pub status: StatusCode,
    /// Headers beside those of the connection and the length.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// The body.
    pub body: Body,
}

impl Reply {
    /// A reply without a body.
    pub(super) fn empty(status: StatusCode) -> Self {
        Self { status, headers: Vec::new(), body: Body::Empty }
    }

    /// A reply of a line for people.
    pub(super) fn text(status: StatusCode, text: &'static str) -> Self {
        let headers = vec![(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"))];
        Self { status, headers, body: Body::Whole(Bytes::from_static(text.as_bytes()), Delivery::none()) }
    }

    /// A reply of one JSON text.
    pub(super) fn json(status: StatusCode, body: &Value, delivery: Delivery) -> Self {
        let headers = vec![(CONTENT_TYPE, HeaderValue::from_static("application/json"))];
        Self { status, headers, body: Body::Whole(Bytes::from(body.to_string()), delivery) }
    }

    /// One response alone.
    pub(super) fn response(response: Response, era: Era) -> Self {
        let status = response.fault.map_or(StatusCode::OK, |fault| status(&fault, era));
        Self::json(status, &response.message, response.delivery)
    }

    /// The responses of one POST, in order; a batch is answered with an array.
    pub(super) fn responses(mut responses: Vec<Response>, batch: bool, era: Era) -> Self {
        if batch && !responses.is_empty() {
            let mut delivery = Delivery::none();
            let mut messages = Vec::with_capacity(responses.len());
            for response in responses {
                delivery = delivery.and(response.delivery);
                messages.push(response.message);
            }
            return Self::json(StatusCode::OK, &Value::Array(messages), delivery);
        }
        match responses.pop() {
            Some(response) => Self::response(response, era),
            None => Self::empty(StatusCode::ACCEPTED),
        }
    }

    /// An error of the protocol that is the whole reply, before the request has reached its era.
    pub(super) fn refusal(id: Option<&Id>, fault: RpcError) -> Self {
        let is_encoded = matches!(fault, RpcError::Encoded(_));
        let mut reply = Self::response(Response::error(id, fault), Era::Legacy);
        if is_encoded {
            reply.headers.push((ACCEPT_ENCODING, HeaderValue::from_static("identity")));
        }
        reply
    }
}

/// The body of a reply.
pub enum Body {
    /// Nothing, which delivers nothing.
    Empty,
    /// One text, and what it delivers once it was written whole.
    Whole(Bytes, Delivery),
    /// A stream of frames that are written as they come. Dropping it early says that the client is gone.
    Events(Box<dyn Frames>),
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("Empty"),
            Self::Whole(bytes, delivery) => f.debug_tuple("Whole").field(&bytes.len()).field(delivery).finish(),
            Self::Events(_) => f.write_str("Events"),
        }
    }
}

/// A source of the frames of an event stream.
pub trait Frames: Send + 'static {
    /// The next frame, when there is something to say; `None` at the end of the stream.
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Frame>>;
}

impl dyn Frames {
    /// Waits for the next frame; `None` at the end of the stream. May be dropped and asked again.
    pub async fn next(&mut self) -> Option<Frame> {
        poll_fn(|cx| self.poll_next(cx)).await
    }
}

/// One frame of an event stream: events, or a comment.
#[derive(Debug)]
pub struct Frame {
    /// The bytes, terminated by an empty line.
    pub bytes: Bytes,
    /// The receipts that are marked once these bytes were written.
    pub delivery: Delivery,
}
