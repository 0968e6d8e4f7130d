//! From an HTTP request to a reply: methods, content types, the era, then the wire it belongs to.

use super::era::{self, Turn};
use super::error::Fault;
use super::fixture::Tool;
use super::headers;
use super::legacy::{self, Post};
use super::modern;
use super::requests::Requests;
use super::stream::{self, Call, Events, Pace};
use super::tools::{self, Listing};
use super::wire::{self, Rejected};
use super::{Incoming, Reply};
use crate::host::{Host, HostApi};
use bytes::Bytes;
use http::header::ALLOW;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde_json::{Value, json};
use std::fmt;
use std::sync::Arc;
use tokio::sync::watch;

/// Answers requests against one host. Cheap to clone.
#[derive(Clone)]
pub struct Dispatcher(Arc<Shared>);

/// What all requests share.
pub(super) struct Shared {
    pub(super) host: HostApi,
    pub(super) requests: Requests,
    tools: Vec<Arc<dyn Tool>>,
    stopping: watch::Sender<bool>,
}

impl Shared {
    /// What a client is shown: the built-in tools, then the further ones.
    pub(super) fn declarations(&self, listing: Listing) -> Vec<Value> {
        let mut declarations = tools::declarations(listing);
        declarations.extend(self.tools.iter().map(|tool| tool.declaration()));
        declarations
    }

    /// The further tool with this name.
    pub(super) fn tool(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.tools.iter().find(|tool| tool.name() == name).cloned()
    }

    /// Waits until the server is stopping.
    pub(super) async fn stopping(&self) {
        // An error means that the sender is gone, and it is a field of this very struct.
        drop(self.stopping.subscribe().wait_for(|stopping| *stopping).await);
    }
}

impl Dispatcher {
    /// A dispatcher for this host.
    pub fn new(host: &Host) -> Self {
        Self::with_tools(host, Vec::new())
    }

    /// A dispatcher that serves further tools beside the built-in ones.
    pub fn with_tools(host: &Host, tools: Vec<Arc<dyn Tool>>) -> Self {
        let host = HostApi::of(host).clone();
        Self(Arc::new(Shared { host, requests: Requests::default(), tools, stopping: watch::Sender::new(false) }))
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
            Method::DELETE if !modern => legacy::delete(&self.0, &incoming),
            _ => not_allowed(modern),
        }
    }

    async fn post(&self, incoming: Incoming) -> Reply {
        let begun = self.begin(&incoming);
        // Bodies may be large and waits long.
        drop(incoming);
        match begun {
            // Nothing is kept across the wait but the exchange itself: dropping this future drops the calls.
            Ok(Begun::Open(exchange)) => exchange.reply().await,
            Ok(Begun::Over(reply)) => reply,
            Err(Rejected { id, fault }) => Reply::refusal(id.as_ref(), &fault),
        }
    }

    /// Starts everything the request asks for.
    fn begin(&self, incoming: &Incoming) -> Result<Begun, Rejected> {
        if !headers::is_json(&incoming.headers) {
            return Err(Rejected::nameless(Fault::NotJsonType));
        }
        let posted = wire::parse(&incoming.body)?;
        let peer = incoming.peer.map(|peer| peer.ip().to_string());
        let (notes, heard) = stream::notes();
        let post = match era::decide(&incoming.headers, posted)? {
            Turn::Handshake(request) => return Ok(Begun::Over(legacy::handshake(&self.0, &request, peer))),
            Turn::ModernNotification => return Ok(Begun::Over(Reply::empty(StatusCode::ACCEPTED))),
            Turn::Modern(request) => {
                let call = modern::begin(&self.0, &incoming.headers, request, peer, &notes);
                return Ok(Begun::Open(self.exchange(&incoming.headers, vec![call], false, heard)));
            }
            Turn::Session(message, revision) => Post { messages: vec![Ok(message)], batch: false, revision },
            Turn::Batch(messages, revision) => Post { messages, batch: true, revision },
        };
        let batch = post.batch;
        let calls = legacy::begin(&self.0, &incoming.headers, post, peer, &notes)?;
        if calls.is_empty() {
            return Ok(Begun::Over(Reply::empty(StatusCode::ACCEPTED)));
        }
        Ok(Begun::Open(self.exchange(&incoming.headers, calls, batch, heard)))
    }

    fn exchange(
        &self,
        headers: &HeaderMap,
        calls: Vec<Call>,
        batch: bool,
        notes: tokio::sync::mpsc::UnboundedReceiver<Value>,
    ) -> Events {
        let limits = self.0.host.limits();
        let stream_after = headers::accepts_events(headers).then_some(limits.stream_after);
        let pace = Pace { stream_after, heartbeat: limits.heartbeat };
        Events::new(calls, batch, notes, self.0.host.clock().clone(), pace)
    }

    /// Settles every open wait with a reason: the server is stopping. A process that ends closes its host before this, so that
    /// what the waits are for has been asked to stop and is answered with its end.
    pub fn shut_down(&self) {
        self.0.stopping.send_replace(true);
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
    Open(Events),
}

impl fmt::Debug for Dispatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dispatcher").field("host", &self.0.host).finish_non_exhaustive()
    }
}

/// Streams are opened by calls only, so GET has nothing to give.
fn not_allowed(modern: bool) -> Reply {
    let mut reply = Reply::empty(StatusCode::METHOD_NOT_ALLOWED);
    reply.headers.push((ALLOW, HeaderValue::from_static(if modern { "POST" } else { "POST, DELETE" })));
    reply
}
