//! From an HTTP request to a reply: methods, content types, the era, then the methods of that era.

use super::era::{self, Routed};
use super::reply::{Incoming, Reply};
use super::{headers, legacy_post, modern_headers, sse};
use crate::host::{Host, HostApi};
use crate::mcp::calls::exchange::{Call, Exchange, First, Timing};
use crate::mcp::calls::response::Response;
use crate::mcp::calls::shared::Shared;
use crate::mcp::eras::legacy::Post;
use crate::mcp::eras::modern;
use crate::mcp::rpc::fault::RpcError;
use crate::mcp::rpc::message::{self, Rejected};
use crate::mcp::rpc::notifier::{Notifications, Notifier};
use crate::mcp::rpc::revision::Era;
use crate::mcp::tools::custom::Tool;
use bytes::Bytes;
use http::header::ALLOW;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde_json::json;
use std::fmt;
use std::sync::Arc;

/// Answers requests against one host. Cheap to clone.
#[derive(Clone)]
pub struct Dispatcher(Arc<Shared>);

impl Dispatcher {
    /// A dispatcher for this host.
    pub fn new(host: &Host) -> Self {
        Self::with_tools(host, Vec::new())
    }

    /// A dispatcher that serves further tools beside the built-in ones.
    pub fn with_tools(host: &Host, tools: Vec<Arc<dyn Tool>>) -> Self {
        Self(Arc::new(Shared::new(HostApi::of(host).clone(), tools)))
    }

    /// The host it answers for.
    pub fn host(&self) -> &HostApi {
        &self.0.host
    }

    /// Answers one request. Quick calls come back as one JSON body, longer ones as events after `limits().stream_after`.
    /// Dropping the future says that the client is gone.
    pub async fn handle(&self, incoming: Incoming) -> Reply {
        let modern = era::has_modern_header(&incoming.headers);
        match incoming.method {
            Method::POST => self.post(incoming).await,
            Method::DELETE if !modern => legacy_post::delete(&self.0, &incoming),
            _ => not_allowed(modern),
        }
    }

    async fn post(&self, incoming: Incoming) -> Reply {
        let begun = self.begin(&incoming);
        // Bodies may be large and waits long.
        drop(incoming);
        match begun {
            // Nothing is kept across the wait but the exchange itself: dropping this future drops the calls.
            Ok(Begun::Open { exchange, batch, era }) => finish(exchange, batch, era).await,
            Ok(Begun::Over(reply)) => reply,
            Err(Rejected { id, fault }) => Reply::refusal(id.as_ref(), fault),
        }
    }

    /// Starts everything the request asks for.
    fn begin(&self, incoming: &Incoming) -> Result<Begun, Rejected> {
        let headers = &incoming.headers;
        headers::check_json(headers).map_err(|given| Rejected::nameless(RpcError::NotJsonType(given)))?;
        if let Some(coding) = headers::content_coding(headers) {
            return Err(Rejected::nameless(RpcError::Encoded(coding)));
        }
        let posted = message::parse(&incoming.body)?;
        let peer = incoming.peer.map(|peer| peer.ip().to_string());
        let (notifier, notifications) = Notifier::new();
        let post = match era::decide(headers, posted)? {
            Routed::Handshake(request) => {
                return Ok(Begun::Over(legacy_post::handshake(&self.0, &request, peer)));
            }
            Routed::ModernNotification => return Ok(Begun::Over(Reply::empty(StatusCode::ACCEPTED))),
            Routed::Modern(request) => {
                let call = match modern_headers::check(headers, &request) {
                    Ok(envelope) => modern::begin(&self.0, envelope, request, peer, &notifier),
                    Err(fault) => Call::answered(Response::error(Some(&request.id), fault)),
                };
                let exchange = self.exchange(headers, vec![call], notifications);
                return Ok(Begun::Open { exchange, batch: false, era: Era::Modern });
            }
            Routed::Session(message, revision) => Post { messages: vec![Ok(message)], batch: false, revision },
            Routed::Batch(messages, revision) => Post { messages, batch: true, revision },
        };
        let batch = post.batch;
        let calls = legacy_post::begin(&self.0, headers, post, peer, &notifier)?;
        if calls.is_empty() {
            return Ok(Begun::Over(Reply::empty(StatusCode::ACCEPTED)));
        }
        Ok(Begun::Open { exchange: self.exchange(headers, calls, notifications), batch, era: Era::Legacy })
    }

    fn exchange(&self, headers: &HeaderMap, calls: Vec<Call>, notifications: Notifications) -> Exchange {
        let limits = self.0.host.limits();
        let stream_after = headers::accepts_events(headers).then_some(limits.stream_after);
        let timing = Timing { stream_after, heartbeat: limits.heartbeat };
        Exchange::new(calls, notifications, self.0.host.clock().clone(), timing)
    }

    /// Settles every open wait with a reason: the server is stopping. A process that ends closes its host before this, so that
    /// what the waits are for has been asked to stop and is answered with its end.
    pub fn shut_down(&self) {
        self.0.stop();
    }

    /// The body of `GET /probe`. Mints nothing and touches nothing.
    pub fn probe(&self) -> Bytes {
        let host = &self.0.host;
        let probe = host.probe();
        let body = json!({
            "server": "remontoire",
            "version": env!("CARGO_PKG_VERSION"),
            "describe": host.describe(),
            "sessions": probe.sessions,
            "running": probe.running,
            "queued": probe.queued,
            "unread": probe.unread,
            "followed": probe.followed,
            "pool": probe.pool,
            "uptimeSeconds": probe.uptime_seconds,
        });
        Bytes::from(body.to_string())
    }
}

/// A request of which everything has been started.
enum Begun {
    /// It is answered.
    Over(Reply),
    /// Its calls are on their way.
    Open { exchange: Exchange, batch: bool, era: Era },
}

/// The reply of an exchange: one JSON body when all its calls end soon, else an event stream.
pub(super) async fn finish(exchange: Exchange, batch: bool, era: Era) -> Reply {
    match exchange.first().await {
        First::Ended(responses) => Reply::responses(responses, batch, era),
        First::Streaming(exchange) => sse::reply(exchange),
    }
}

impl fmt::Debug for Dispatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dispatcher").field("host", &self.0.host).finish_non_exhaustive()
    }
}

/// Streams are opened by calls only, so GET has nothing to give.
fn not_allowed(modern: bool) -> Reply {
    let (allowed, text) = if modern {
        ("POST", "MCP is spoken here by POST\n")
    } else {
        ("POST, DELETE", "MCP is spoken here by POST; DELETE ends a session\n")
    };
    let mut reply = Reply::text(StatusCode::METHOD_NOT_ALLOWED, text);
    reply.headers.push((ALLOW, HeaderValue::from_static(allowed)));
    reply
}
