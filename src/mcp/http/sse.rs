//! Server-sent events: the messages of an exchange as the bytes of an event stream.

use super::reply::{Body, Frame, Frames, Reply};
use crate::mcp::calls::exchange::{Exchange, Step};
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, StatusCode};
use serde_json::Value;
use std::task::{Context, Poll, ready};

/// A comment, which clients skip.
const COMMENT: &[u8] = b":\n\n";

/// The reply that streams the rest of an exchange.
pub(super) fn reply(exchange: Exchange) -> Reply {
    let headers = vec![
        (CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    Reply { status: StatusCode::OK, headers, body: Body::Events(Box::new(Events(exchange))) }
}

/// An open event stream.
struct Events(Exchange);

impl Frames for Events {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Frame>> {
        let step = ready!(self.0.poll_next(cx));
        Poll::Ready(step.map(|step| match step {
            Step::Message(message, delivery) => Frame { bytes: Bytes::from(event(&message)), delivery },
            Step::Beat(progress, delivery) if progress.is_empty() => {
                Frame { bytes: Bytes::from_static(COMMENT), delivery }
            }
            Step::Beat(progress, delivery) => {
                Frame { bytes: progress.iter().map(event).collect::<String>().into(), delivery }
            }
        }))
    }
}

/// One event. JSON text has no line breaks, so it is one line of data.
fn event(message: &Value) -> String {
    format!("event: message\ndata: {message}\n\n")
}
