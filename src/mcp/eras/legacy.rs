//! The methods of revisions 2024-11-05 to 2025-11-25: `initialize` opens a session, which every later message names. Requests are
//! taken back by a notification within the session; dropping a call takes nothing back.

use crate::base::limits::MOST_CLIENT_CHARACTERS;
use crate::base::{ClientInfo, HeaderKey, Owner};
use crate::mcp::calls::call::{self, RequestContext};
use crate::mcp::calls::exchange::Call;
use crate::mcp::calls::open_requests::{Key, Meaning, Noticed};
use crate::mcp::calls::response::Response;
use crate::mcp::calls::shared::Shared;
use crate::mcp::rpc::fault::RpcError;
use crate::mcp::rpc::message::{Id, Message, Notification, Object, Rejected, Request, object};
use crate::mcp::rpc::notifier::Notifier;
use crate::mcp::rpc::revision::{Era, Revision, server_info};
use crate::mcp::tools::declarations::{self, ToolSet};
use crate::registry::CancelBy;
use crate::render::teach;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::SystemTime;

/// `initialize`: opens a session. Gives the key that names it from now on, if it was opened, and the response.
pub(crate) fn handshake(shared: &Shared, request: &Request, peer: Option<String>) -> (Option<HeaderKey>, Response) {
    let (key, result) = match open(shared, &request.params, peer) {
        Ok((key, result)) => (Some(key), Ok(result)),
        Err(fault) => (None, Err(fault)),
    };
    (key, Response::plain(Era::Legacy, &request.id, result))
}

fn open(shared: &Shared, params: &Object, peer: Option<String>) -> Result<(HeaderKey, Object), RpcError> {
    let asked = params.get("protocolVersion").and_then(Value::as_str);
    let asked = asked.ok_or_else(|| RpcError::BadParams("initialize needs a `protocolVersion`, a string".into()))?;
    let revision = Revision::from_name(asked).unwrap_or(Revision::NEWEST);
    let said = |member: &str| {
        let value = params.get("clientInfo").and_then(|client| client.get(member));
        value.and_then(Value::as_str).unwrap_or_default().chars().take(MOST_CLIENT_CHARACTERS).collect()
    };
    // Tasks exist in the modern era only, whatever a client declares here.
    let client = ClientInfo {
        name: said("name"),
        version: said("version"),
        revision: revision.as_str().to_owned(),
        tasks: false,
    };
    let (key, _) = shared.host.initialize(client, peer).map_err(RpcError::Refused)?;
    let result = json!({
        "protocolVersion": revision.as_str(),
        "capabilities": {"tools": {"listChanged": true}},
        "serverInfo": server_info(),
        "instructions": teach::instructions(shared.host.describe(), false),
    });
    Ok((key, object(result)))
}

/// Ends the session with this key.
pub(crate) fn end(shared: &Shared, key: &HeaderKey) -> Result<(), RpcError> {
    shared.host.end_header_session(key).map_err(RpcError::Refused)
}

/// The messages of one POST of a session.
pub(crate) struct Post {
    /// The messages; each may be malformed on its own.
    pub(crate) messages: Vec<Result<Message, Rejected>>,
    /// Says that they came as a batch.
    pub(crate) batch: bool,
    /// The revision that the POST names, if it does.
    pub(crate) revision: Option<Revision>,
}

impl Post {
    /// Refuses the whole POST, by the id of its request when it is a single one.
    pub(crate) fn refuse(&self, fault: RpcError) -> Rejected {
        let id = match self.messages.as_slice() {
            [Ok(Message::Request(request))] if !self.batch => Some(request.id.clone()),
            _ => None,
        };
        Rejected { id, fault }
    }
}

/// The local time of day, such as `14:02`.
fn time_of_day(at: SystemTime) -> String {
    match jiff::Timestamp::try_from(at) {
        Ok(stamp) => stamp.to_zoned_datetime(jiff::tz::TimeZone::system()).strftime("%H:%M").to_string(),
        Err(_) => "??:??".to_owned(),
    }
}

/// Begins to answer the messages of a session: gives the calls that get a response. An error is the whole reply.
pub(crate) fn begin(
    shared: &Arc<Shared>,
    key: HeaderKey,
    post: Post,
    peer: Option<String>,
    notifier: &Notifier,
) -> Result<Vec<Call>, Rejected> {
    if post.batch && post.revision.is_some_and(|revision| !revision.has_batches()) {
        return Err(post.refuse(no_batches()));
    }
    let opened = shared.host.header_caller(&key, peer.clone(), time_of_day);
    let opened = opened.map_err(|why| post.refuse(RpcError::Refused(why)))?;
    let caller = Owner::Session(opened.session);
    let session = Session { shared, key, caller, peer, notifier };
    if post.batch && post.revision.is_none() && !session.revision().has_batches() {
        return Err(post.refuse(no_batches()));
    }
    session.announce(&post.messages);
    Ok(post.messages.into_iter().filter_map(|message| session.message(message)).collect())
}

/// The methods of a session.
const METHODS: [&str; 4] = ["initialize", "ping", "tools/list", "tools/call"];

/// What a notice with this reason means for the work. The SDKs send one by themselves when their own time limit for a request is
/// over; nobody has asked for the work to end then.
fn meaning(reason: Option<&Value>) -> Meaning {
    let reason = reason.and_then(Value::as_str).unwrap_or_default().to_ascii_lowercase();
    if reason.contains("timed out") || reason.contains("timeout") { Meaning::GoOn } else { Meaning::Stop }
}

fn no_batches() -> RpcError {
    RpcError::BadBatch("only revision 2025-03-26 has batches")
}

/// A session, while one POST of it is dealt with.
struct Session<'a> {
    shared: &'a Arc<Shared>,
    key: HeaderKey,
    caller: Owner,
    peer: Option<String>,
    notifier: &'a Notifier,
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
            self.notifier.notify("notifications/tools/list_changed", None);
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
            Err(Rejected { id, fault }) => Some(Call::answered(Response::error(id.as_ref(), fault))),
        }
    }

    fn request(&self, request: Request) -> Call {
        let token = request.progress_token();
        let Request { id, method, params } = request;
        let guard = self.shared.open_requests.open(Key { session: self.key.clone(), id: id.clone() });
        let result = match method.as_str() {
            "tools/call" => {
                let context = RequestContext {
                    tools: ToolSet::Legacy,
                    session: Some(self.caller),
                    client: self.shared.host.client_of(self.caller).unwrap_or_default(),
                    capabilities: Object::new(),
                    peer: self.peer.clone(),
                    token,
                };
                return call::begin(self.shared, id, params, context, guard, self.notifier);
            }
            "tools/list" => self.list_tools(&params),
            "ping" => Ok(Object::new()),
            _ => Err(RpcError::UnknownMethod { given: method, known: &METHODS }),
        };
        Call::answered(Response::plain(Era::Legacy, &id, result).keeping_open(Arc::new(guard)))
    }

    fn list_tools(&self, params: &Object) -> Result<Object, RpcError> {
        declarations::check_cursor(params)?;
        // At once, not when it was written: a client may call again before we hear that its answer has gone out, and one that
        // did not get its list asks for it again.
        self.shared.host.tools_fetched(self.caller);
        Ok(object(json!({"tools": self.shared.declarations(ToolSet::Legacy)})))
    }

    fn notification(&self, notification: &Notification) {
        if notification.method != "notifications/cancelled" {
            return;
        }
        let Some(id) = notification.params.get("requestId").and_then(Id::from_value) else { return };
        let meaning = meaning(notification.params.get("reason"));
        match self.shared.open_requests.take_back(&Key { session: self.key.clone(), id }, meaning) {
            // What has settled meanwhile needs no stopping.
            Noticed::TakenBack(Some(entry)) if meaning == Meaning::Stop => {
                drop(self.shared.host.cancel(CancelBy::Request, entry));
            }
            Noticed::TakenBack(_) | Noticed::Nothing => {}
            Noticed::Ambiguous => tracing::info!("a cancel notice fits several open requests and stopped none"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_ran_out_of_time_stops_nothing() {
        for reason in [
            "McpError: MCP error -32001: Request timed out",
            "timed out after 30.0s",
            "TIMED OUT",
            "TimeoutError: The operation was aborted due to timeout",
        ] {
            assert_eq!(meaning(Some(&json!(reason))), Meaning::GoOn, "{reason}");
        }
        for reason in
            [json!("AbortError: This operation was aborted"), json!("the user said stop"), json!(""), json!(7)]
        {
            assert_eq!(meaning(Some(&reason)), Meaning::Stop, "{reason}");
        }
        assert_eq!(meaning(None), Meaning::Stop);
    }
}
