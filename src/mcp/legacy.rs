//! The handshake wire, 2024-11-05 to 2025-11-25: `initialize` opens a session that a header names from then on. Requests are
//! taken back by a notification within the session; closing a socket takes nothing back.

use super::call::{self, Asker, Outcome};
use super::dispatch::Shared;
use super::era::Revision;
use super::error::{Fault, Wire};
use super::headers;
use super::requests::{Key, Noticed};
use super::stream::{Call, Notes, Response};
use super::tools::{self, Listing};
use super::wire::{self, Id, Message, Notification, Object, Rejected, Request, object};
use super::{Incoming, Reply, server_info};
use crate::base::HeaderKey;
use crate::base::limits::MOST_CLIENT_CHARACTERS;
use crate::base::{ClientInfo, Owner};
use crate::host::Delivery;
use crate::registry::CancelBy;
use crate::render::teach;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde_json::{Value, json};
use std::sync::Arc;

/// `initialize`: opens a session. Its id is in the header of the reply.
pub(super) fn handshake(shared: &Shared, request: &Request, peer: Option<String>) -> Reply {
    let opened = open(shared, &request.params, peer);
    let header = opened.as_ref().ok().map(|(key, _)| key.clone());
    let outcome = opened.map(|(_, result)| Outcome::plain(result));
    let response = call::respond(Wire::Legacy, &request.id, outcome, None);
    let mut reply = Reply::json(response.status, &response.message, response.delivery);
    if let Some(value) = header.and_then(|key| HeaderValue::from_str(key.as_str()).ok()) {
        reply.headers.push((HeaderName::from_static("mcp-session-id"), value));
    }
    reply
}

fn open(shared: &Shared, params: &Object, peer: Option<String>) -> Result<(HeaderKey, Object), Fault> {
    let asked = params.get("protocolVersion").and_then(Value::as_str);
    let asked = asked.ok_or_else(|| Fault::BadParams("initialize needs a `protocolVersion`, a string".into()))?;
    let revision = Revision::from_name(asked).unwrap_or(Revision::NEWEST);
    let said = |member: &str| {
        let value = params.get("clientInfo").and_then(|client| client.get(member));
        value.and_then(Value::as_str).unwrap_or_default().chars().take(MOST_CLIENT_CHARACTERS).collect()
    };
    // Tasks exist on the modern wire only, whatever a client declares here.
    let client = ClientInfo {
        name: said("name"),
        version: said("version"),
        revision: revision.as_str().to_owned(),
        tasks: false,
    };
    let (key, _) = shared.host.initialize(client, peer).map_err(Fault::Refused)?;
    let result = json!({
        "protocolVersion": revision.as_str(),
        "capabilities": {"tools": {"listChanged": true}},
        "serverInfo": server_info(),
        "instructions": teach::instructions(shared.host.describe(), false),
    });
    Ok((key, object(result)))
}

/// DELETE: ends the session the header names.
pub(super) fn delete(shared: &Shared, incoming: &Incoming) -> Reply {
    let ended = headers::legacy_revision(&incoming.headers)
        .and_then(|_| headers::session_key(&incoming.headers))
        .and_then(|key| shared.host.end_header_session(&key).map_err(Fault::Refused));
    match ended {
        Ok(()) => Reply::empty(StatusCode::NO_CONTENT),
        Err(fault) => Reply::refusal(None, &fault),
    }
}

/// What a POST of a header session holds: messages, whether they came as a batch, and the revision its header names.
pub(super) struct Post {
    pub(super) messages: Vec<Result<Message, Rejected>>,
    pub(super) batch: bool,
    pub(super) revision: Option<Revision>,
}

/// Begins to answer the messages of a header session: gives the calls that get a response. An error is the whole reply.
pub(super) fn begin(
    shared: &Arc<Shared>,
    headers: &HeaderMap,
    post: Post,
    peer: Option<String>,
    notes: &Notes,
) -> Result<Vec<Call>, Rejected> {
    let id = match post.messages.as_slice() {
        [Ok(Message::Request(request))] if !post.batch => Some(request.id.clone()),
        _ => None,
    };
    let refuse = |fault: Fault| Rejected { id: id.clone(), fault };
    let key = headers::session_key(headers).map_err(refuse)?;
    if post.batch && post.revision.is_some_and(|revision| !revision.has_batches()) {
        return Err(refuse(no_batches()));
    }
    let opened = shared.host.header_caller(&key, peer.clone()).map_err(|why| refuse(Fault::Refused(why)))?;
    let caller = Owner::Session(opened.session);
    let session = Session { shared, key, caller, peer, notes };
    if post.batch && post.revision.is_none() && !session.revision().has_batches() {
        return Err(refuse(no_batches()));
    }
    session.announce(&post.messages);
    Ok(post.messages.into_iter().filter_map(|message| session.message(message)).collect())
}

fn no_batches() -> Fault {
    Fault::BadBatch("only revision 2025-03-26 has batches")
}

/// A header session, while one POST of it is dealt with.
struct Session<'a> {
    shared: &'a Arc<Shared>,
    key: HeaderKey,
    caller: Owner,
    peer: Option<String>,
    notes: &'a Notes,
}

impl Session<'_> {
    /// The revision that was agreed on, when this process knows.
    fn revision(&self) -> Revision {
        let client = self.shared.host.client_of(self.caller);
        client.and_then(|client| Revision::from_name(&client.revision)).unwrap_or(Revision::ASSUMED)
    }

    /// Tells a session whose list of tools may be of an earlier process that it changed, on the stream of a call.
    fn announce(&self, messages: &[Result<Message, Rejected>]) {
        let calls = messages
            .iter()
            .flatten()
            .any(|message| matches!(message, Message::Request(request) if request.method == "tools/call"));
        if calls && self.shared.host.tools_stale(self.caller) {
            self.notes.say("notifications/tools/list_changed", None);
        }
    }

    fn message(&self, message: Result<Message, Rejected>) -> Option<Call> {
        match message {
            Ok(Message::Request(request)) => Some(self.request(request)),
            Ok(Message::Notification(notification)) => {
                self.notification(&notification);
                None
            }
            // Nothing is ever asked of a client, so there is nothing this could answer.
            Ok(Message::Response) => None,
            Err(Rejected { id, fault }) => Some(Call::answered(Response {
                status: fault.status(Wire::Legacy),
                message: wire::error(id.as_ref(), &fault, Wire::Legacy),
                delivery: Delivery::none(),
            })),
        }
    }

    fn request(&self, request: Request) -> Call {
        let token = request.progress_token();
        let Request { id, method, params } = request;
        let ticket = self.shared.requests.open(Key { session: self.key.clone(), id: id.clone() });
        let outcome = match method.as_str() {
            "tools/call" => {
                let asker = Asker {
                    listing: Listing::Legacy,
                    header: Some(self.caller),
                    client: self.shared.host.client_of(self.caller).unwrap_or_default(),
                    capabilities: Object::new(),
                    peer: self.peer.clone(),
                    token,
                };
                return call::begin(self.shared, id, params, asker, ticket, self.notes);
            }
            "tools/list" => self.list_tools(&params),
            "ping" => Ok(Outcome::plain(Object::new())),
            _ => Err(Fault::UnknownMethod(method)),
        };
        Call::answered(call::respond(Wire::Legacy, &id, outcome, Some(Arc::new(ticket))))
    }

    fn list_tools(&self, params: &Object) -> Result<Outcome, Fault> {
        tools::check_cursor(params)?;
        // At once, not when it was written: a client may call again before we hear that its answer has gone out, and one that
        // did not get its list asks for it again.
        self.shared.host.tools_fetched(self.caller);
        Ok(Outcome::plain(object(json!({"tools": self.shared.declarations(Listing::Legacy)}))))
    }

    fn notification(&self, notification: &Notification) {
        if notification.method != "notifications/cancelled" {
            return;
        }
        let Some(id) = notification.params.get("requestId").and_then(Id::from_value) else { return };
        match self.shared.requests.cancel(&Key { session: self.key.clone(), id }) {
            // What has settled meanwhile needs no stopping.
            Noticed::Cancelled(Some(entry)) => drop(self.shared.host.cancel(CancelBy::Request, entry)),
            Noticed::Cancelled(None) | Noticed::Nothing => {}
            Noticed::Ambiguous => tracing::info!("a cancel notice fits several open requests and stopped none"),
        }
    }
}
