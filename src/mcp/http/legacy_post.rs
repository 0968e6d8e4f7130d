//! The HTTP side of the legacy era: the header that names a session, and the methods POST and DELETE.

use super::headers;
use super::reply::{Incoming, Reply};
use crate::mcp::calls::exchange::Call;
use crate::mcp::calls::shared::Shared;
use crate::mcp::eras::legacy::{self, Post};
use crate::mcp::rpc::message::{Rejected, Request};
use crate::mcp::rpc::notifier::Notifier;
use crate::mcp::rpc::revision::Era;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use std::sync::Arc;

/// `initialize`: opens a session. Its key is in a header of the reply.
pub(super) fn handshake(shared: &Shared, request: &Request, peer: Option<String>) -> Reply {
    let (key, response) = legacy::handshake(shared, request, peer);
    let mut reply = Reply::response(response, Era::Legacy);
    if let Some(value) = key.and_then(|key| HeaderValue::from_str(key.as_str()).ok()) {
        reply.headers.push((HeaderName::from_static("mcp-session-id"), value));
    }
    reply
}

/// DELETE: ends the session the header names.
pub(super) fn delete(shared: &Shared, incoming: &Incoming) -> Reply {
    let ended = headers::legacy_revision(&incoming.headers)
        .and_then(|_| headers::session_key(&incoming.headers))
        .and_then(|key| legacy::end(shared, &key));
    match ended {
        Ok(()) => Reply::empty(StatusCode::NO_CONTENT),
        Err(fault) => Reply::refusal(None, fault),
    }
}

/// Begins to answer the messages of the session the header names: gives the calls that get a response. An error is the whole
/// reply.
pub(super) fn begin(
    shared: &Arc<Shared>,
    headers: &HeaderMap,
    post: Post,
    peer: Option<String>,
    notifier: &Notifier,
) -> Result<Vec<Call>, Rejected> {
    match headers::session_key(headers) {
        Ok(key) => legacy::begin(shared, key, post, peer, notifier),
        Err(fault) => Err(post.refuse(fault)),
    }
}
