//! The wire of 2026-07-28: every request describes itself, nothing is remembered between requests but what handles name, and
//! closing the stream of a response takes the request back.

use super::call::{self, Asker, Outcome};
use super::dispatch::Shared;
use super::era::{CAPABILITIES_KEY, MODERN, VERSION_KEY};
use super::error::{Fault, Wire};
use super::headers::{self, Absent};
use super::requests::Ticket;
use super::stream::{Call, Notes};
use super::tasks;
use super::tools::{self, Listing};
use super::wire::{Object, Request, object};
use super::{TASKS, server_info};
use crate::base::limits::MOST_CLIENT_CHARACTERS;
use crate::base::{ClientInfo, Refusal, Status, TaskId};
use crate::host::TaskView;
use crate::registry::CancelBy;
use crate::render::teach;
use http::HeaderMap;
use serde_json::{Value, json};
use std::sync::Arc;

/// The `_meta` key with who the client is.
const CLIENT_KEY: &str = "io.modelcontextprotocol/clientInfo";

/// The `_meta` key with what a client wants to hear of the server's log, of which this server sends nothing.
const LOG_LEVEL_KEY: &str = "io.modelcontextprotocol/logLevel";

/// The `_meta` key of results with who answers.
const SERVER_KEY: &str = "io.modelcontextprotocol/serverInfo";

/// How long a client may keep what `server/discover` says, in milliseconds.
const DISCOVER_TTL_MS: u64 = 3_600_000;

/// How long a client may keep the list of tools, in milliseconds. Short: a restart may change it, and nothing tells.
const TOOLS_TTL_MS: u64 = 60_000;

/// What a request says about itself.
#[derive(Debug, PartialEq)]
struct Envelope {
    version: String,
    capabilities: Object,
    client: ClientInfo,
    token: Option<Value>,
    log_level: Option<Value>,
}

impl Envelope {
    fn read(request: &Request) -> Result<Self, Fault> {
        let meta = request.meta();
        let get = |key: &str| meta.and_then(|meta| meta.get(key));
        let version = get(VERSION_KEY).and_then(Value::as_str);
        let capabilities = get(CAPABILITIES_KEY).and_then(Value::as_object);
        let (Some(version), Some(capabilities)) = (version, capabilities) else {
            let missing = [(VERSION_KEY, version.is_none()), (CAPABILITIES_KEY, capabilities.is_none())];
            let keys = missing.into_iter().filter_map(|(key, missing)| missing.then_some(key)).collect();
            return Err(Fault::BadMeta { keys });
        };
        let said = |member: &str| {
            let value = get(CLIENT_KEY).and_then(|client| client.get(member));
            value.and_then(Value::as_str).unwrap_or_default().chars().take(MOST_CLIENT_CHARACTERS).collect()
        };
        let extensions = capabilities.get("extensions");
        let tasks = extensions.and_then(|extensions| extensions.get(TASKS)).is_some_and(Value::is_object);
        Ok(Self {
            version: version.to_owned(),
            client: ClientInfo { name: said("name"), version: said("version"), revision: version.to_owned(), tasks },
            capabilities: capabilities.clone(),
            token: request.progress_token(),
            log_level: get(LOG_LEVEL_KEY).cloned(),
        })
    }

    fn listing(&self) -> Listing {
        if self.client.tasks { Listing::Tasks } else { Listing::Modern }
    }
}

/// What every result on this wire says: its type, and who answers.
pub(super) fn envelope(result: &mut Object) {
    result.entry("resultType").or_insert_with(|| json!("complete"));
    if let Some(meta) = result.entry("_meta").or_insert_with(|| json!({})).as_object_mut() {
        meta.insert(SERVER_KEY.into(), server_info());
    }
}

/// Checks what a request says about itself against its headers: what is missing first, then what disagrees, then whether the
/// revision is spoken here.
fn check(headers: &HeaderMap, request: &Request) -> Result<Envelope, Fault> {
    let envelope = Envelope::read(request)?;
    headers::check_version(headers, &envelope.version)?;
    if envelope.version != MODERN {
        return Err(Fault::UnsupportedVersion { requested: envelope.version });
    }
    headers::check_method(headers, &request.method)?;
    let (member, absent) = match request.method.as_str() {
        "tools/call" | "prompts/get" => ("name", Absent::Refused),
        "resources/read" => ("uri", Absent::Refused),
        // Clients in wide use leave it out.
        "tasks/get" | "tasks/update" | "tasks/cancel" => ("taskId", Absent::Tolerated),
        _ => return Ok(envelope),
    };
    if let Some(name) = request.params.get(member).and_then(Value::as_str) {
        headers::check_name(headers, name, absent)?;
    }
    Ok(envelope)
}

/// Begins to answer one request.
pub(super) fn begin(
    shared: &Arc<Shared>,
    headers: &HeaderMap,
    request: Request,
    peer: Option<String>,
    notes: &Notes,
) -> Call {
    let envelope = match check(headers, &request) {
        Ok(envelope) => envelope,
        Err(fault) => return Call::answered(call::respond(Wire::Modern, &request.id, Err(fault), None)),
    };
    let Request { id, method, params } = request;
    if method == "tools/call" {
        if let Err(fault) = check_log_level(envelope.log_level.as_ref()) {
            return Call::answered(call::respond(Wire::Modern, &id, Err(fault), None));
        }
        let asker = Asker {
            listing: envelope.listing(),
            header: None,
            client: envelope.client,
            capabilities: envelope.capabilities,
            peer,
            token: envelope.token,
        };
        return call::begin(shared, id, params, asker, Ticket::unlisted(), notes);
    }
    let outcome = match method.as_str() {
        "server/discover" => Ok(Outcome::plain(discover(shared))),
        "tools/list" => list_tools(shared, &envelope, &params),
        "tasks/get" | "tasks/update" | "tasks/cancel" => task(shared, &envelope, &method, &params),
        _ => Err(Fault::UnknownMethod(method)),
    };
    Call::answered(call::respond(Wire::Modern, &id, outcome, None))
}

fn check_log_level(level: Option<&Value>) -> Result<(), Fault> {
    const LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
    match level {
        None => Ok(()),
        Some(level) if level.as_str().is_some_and(|level| LEVELS.contains(&level)) => Ok(()),
        Some(_) => Err(Fault::BadParams(format!("{LOG_LEVEL_KEY} must be one of {}", LEVELS.join(", ")))),
    }
}

fn discover(shared: &Shared) -> Object {
    let result = json!({
        "supportedVersions": [MODERN],
        "capabilities": {"tools": {}, "extensions": {TASKS: {}}},
        "instructions": teach::instructions(shared.host.describe(), true),
        "ttlMs": DISCOVER_TTL_MS,
        "cacheScope": "public",
    });
    object(result)
}

fn list_tools(shared: &Shared, envelope: &Envelope, params: &Object) -> Result<Outcome, Fault> {
    tools::check_cursor(params)?;
    // Private: what is listed depends on what this request declares.
    let result =
        json!({"tools": shared.declarations(envelope.listing()), "ttlMs": TOOLS_TTL_MS, "cacheScope": "private"});
    Ok(Outcome::plain(object(result)))
}

/// `tasks/get`, `tasks/update`, `tasks/cancel`.
fn task(shared: &Shared, envelope: &Envelope, method: &str, params: &Object) -> Result<Outcome, Fault> {
    if !envelope.client.tasks {
        return Err(Fault::needs_tasks());
    }
    let given = params.get("taskId").and_then(Value::as_str);
    let given = given.ok_or_else(|| Fault::BadParams(format!("{method} needs a `taskId`, a string")))?;
    let (id, view) = find(shared, given)?;
    let host = &shared.host;
    // Whoever follows a task is there, whatever else its session does.
    host.heard(view.owner);
    match method {
        "tasks/get" => {
            let mut members = tasks::members(&id, &view, Some(tasks::message(id.entry, &view)), host.clock());
            let mut outcome = match view.status {
                Status::Ok | Status::Failed => {
                    let answer = host.answer_task(id.entry);
                    let mut result = call::tool_result(&answer);
                    // Exactly what the call would have been answered without a task.
                    result.insert("resultType".into(), json!("complete"));
                    members.insert("result".into(), Value::Object(result));
                    Outcome { result: Object::new(), delivery: answer.delivery }
                }
                // Nothing is inlined for a cancelled task, but its owner knows by this that it has ended.
                Status::Cancelled => Outcome { result: Object::new(), delivery: host.deliver_task(id.entry) },
                Status::Queued | Status::Running => Outcome::plain(Object::new()),
            };
            outcome.result = members;
            Ok(outcome)
        }
        "tasks/cancel" => {
            // What has settled stays as it is: cancelling twice is fine.
            drop(host.cancel(CancelBy::Owner(view.owner), id.entry));
            Ok(Outcome::plain(Object::new()))
        }
        // Nothing here ever asks for input, so there is nothing to update.
        _ => Ok(Outcome::plain(Object::new())),
    }
}

/// The task with this id. The handle must be the owner's: an entry of somebody else is no task of this one.
fn find(shared: &Shared, given: &str) -> Result<(TaskId, TaskView), Fault> {
    let unknown = |why: Option<Refusal>| Fault::UnknownTask { given: given.to_owned(), why };
    let id: TaskId = given.parse().map_err(|_| unknown(None))?;
    let view = shared.host.task(id.entry).map_err(|why| unknown(Some(why)))?;
    if view.handle.as_ref() != Some(&id.handle) {
        return Err(unknown(None));
    }
    Ok((id, view))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::wire::Id;
    use http::{HeaderName, HeaderValue};

    fn request(method: &str, params: Value) -> Request {
        Request { id: Id::Number(1.into()), method: method.into(), params: object(params) }
    }

    fn meta() -> Value {
        json!({VERSION_KEY: MODERN, CAPABILITIES_KEY: {}})
    }

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let pairs = pairs.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        pairs.collect()
    }

    fn checked(pairs: &[(&'static str, &'static str)], method: &str, params: Value) -> Result<Envelope, Fault> {
        check(&headers(pairs), &request(method, params))
    }

    const LIST: [(&str, &str); 2] = [("mcp-protocol-version", MODERN), ("mcp-method", "tools/list")];

    #[test]
    fn what_a_request_must_say_is_named() {
        let keys = |meta: Value| match checked(&LIST, "tools/list", json!({"_meta": meta})) {
            Err(Fault::BadMeta { keys }) => keys,
            other => panic!("{other:?}"),
        };
        assert_eq!(keys(json!({})), [VERSION_KEY, CAPABILITIES_KEY]);
        assert_eq!(keys(json!(7)), [VERSION_KEY, CAPABILITIES_KEY]);
        assert_eq!(keys(json!({VERSION_KEY: MODERN})), [CAPABILITIES_KEY]);
        assert_eq!(keys(json!({VERSION_KEY: 7, CAPABILITIES_KEY: {}})), [VERSION_KEY]);
        assert_eq!(keys(json!({VERSION_KEY: MODERN, CAPABILITIES_KEY: []})), [CAPABILITIES_KEY]);
    }

    #[test]
    fn disagreement_comes_before_an_unsupported_revision() {
        let odd = || json!({"_meta": {VERSION_KEY: "2099-01-01", CAPABILITIES_KEY: {}}});
        assert!(matches!(checked(&LIST, "tools/list", odd()), Err(Fault::HeaderMismatch(_))));
        let both = [("mcp-protocol-version", "2099-01-01")];
        assert_eq!(
            checked(&both, "tools/list", odd()),
            Err(Fault::UnsupportedVersion { requested: "2099-01-01".into() })
        );
        assert!(matches!(checked(&[], "tools/list", json!({"_meta": meta()})), Err(Fault::HeaderMismatch(_))));
        assert!(matches!(checked(&LIST[..1], "tools/list", json!({"_meta": meta()})), Err(Fault::HeaderMismatch(_))));
        assert!(checked(&LIST, "tools/list", json!({"_meta": meta()})).is_ok());
    }

    #[test]
    fn the_name_of_a_tool_must_be_in_the_header_that_of_a_task_may() {
        let call = [("mcp-protocol-version", MODERN), ("mcp-method", "tools/call")];
        let params = || json!({"name": "eval", "_meta": meta()});
        assert!(checked(&call, "tools/call", params()).is_err());
        let named = |name| [call[0], call[1], ("mcp-name", name)];
        assert!(checked(&named("await"), "tools/call", params()).is_err());
        assert!(checked(&named("eval"), "tools/call", params()).is_ok());

        let get = [("mcp-protocol-version", MODERN), ("mcp-method", "tasks/get")];
        let params = || json!({"taskId": "bfw-1", "_meta": meta()});
        assert!(checked(&get, "tasks/get", params()).is_ok());
        assert!(checked(&[get[0], get[1], ("mcp-name", "bfw-2")], "tasks/get", params()).is_err());
    }

    #[test]
    fn a_request_declares_for_itself() {
        let mut meta = meta();
        meta["progressToken"] = json!("");
        meta[CLIENT_KEY] = json!({"name": "a client", "version": 3});
        meta["example.org/trace"] = json!("x");
        let plain = checked(&LIST, "tools/list", json!({"_meta": meta.clone()})).unwrap();
        assert_eq!((plain.listing(), plain.token), (Listing::Modern, Some(json!(""))));
        assert_eq!((plain.client.name.as_str(), plain.client.version.as_str()), ("a client", ""));
        meta[CAPABILITIES_KEY] = json!({"extensions": {TASKS: {}}});
        assert_eq!(checked(&LIST, "tools/list", json!({"_meta": meta})).unwrap().listing(), Listing::Tasks);
    }

    #[test]
    fn log_levels_are_checked_though_nothing_is_logged() {
        assert!(check_log_level(None).is_ok() && check_log_level(Some(&json!("debug"))).is_ok());
        assert!(check_log_level(Some(&json!("loud"))).is_err() && check_log_level(Some(&json!(3))).is_err());
    }

    #[test]
    fn results_say_their_type_and_who_answers() {
        let mut result = object(json!({"resultType": "task"}));
        envelope(&mut result);
        assert_eq!(result["resultType"], "task");
        assert_eq!(result["_meta"][SERVER_KEY]["name"], "remontoire");
        let mut result = Object::new();
        envelope(&mut result);
        assert_eq!(result["resultType"], "complete");
    }
}
