//! The methods of revision 2026-07-28: every request describes itself, nothing is remembered between requests but what handles
//! name, and dropping a call takes its request back.

use crate::base::limits::MOST_CLIENT_CHARACTERS;
use crate::base::{ClientInfo, EntryId, Refusal, Status, TaskId};
use crate::host::{Delivery, TaskView};
use crate::mcp::calls::call::{self, RequestContext};
use crate::mcp::calls::exchange::Call;
use crate::mcp::calls::open_requests::RequestGuard;
use crate::mcp::calls::response::{Response, tool_result};
use crate::mcp::calls::shared::Shared;
use crate::mcp::rpc::fault::RpcError;
use crate::mcp::rpc::message::{Object, Request, object};
use crate::mcp::rpc::notifier::Notifier;
use crate::mcp::rpc::revision::{CAPABILITIES_KEY, CLIENT_KEY, Era, LOG_LEVEL_KEY, MODERN, TASKS, VERSION_KEY};
use crate::mcp::tools::arguments;
use crate::mcp::tools::declarations::{self, ToolSet};
use crate::mcp::tools::reading::Named;
use crate::mcp::tools::task_view;
use crate::registry::CancelBy;
use crate::render::teach;
use serde_json::{Value, json};
use std::sync::Arc;

/// How long a client may keep what `server/discover` says, in milliseconds.
const DISCOVER_TTL_MS: u64 = 3_600_000;

/// How long a client may keep the list of tools, in milliseconds. Short: a restart may change it, and nothing tells.
const TOOLS_TTL_MS: u64 = 60_000;

/// The methods of this revision.
const METHODS: [&str; 6] = ["server/discover", "tools/list", "tools/call", "tasks/get", "tasks/update", "tasks/cancel"];

/// A request's description of itself, from its `_meta`.
#[derive(Debug, PartialEq)]
pub(crate) struct Envelope {
    /// The revision it is written for.
    pub(crate) version: String,
    /// The capabilities of its client.
    pub(crate) capabilities: Object,
    /// The client.
    pub(crate) client: ClientInfo,
    /// The progress token, as sent.
    pub(crate) token: Option<Value>,
    /// The log level, as sent.
    pub(crate) log_level: Option<Value>,
}

impl Envelope {
    /// Reads what a request says about itself. What every request must say and this one lacks is an error.
    pub(crate) fn read(request: &Request) -> Result<Self, RpcError> {
        let meta = request.meta();
        let get = |key: &str| meta.and_then(|meta| meta.get(key));
        let version = get(VERSION_KEY).and_then(Value::as_str);
        let capabilities = get(CAPABILITIES_KEY).and_then(Value::as_object);
        let (Some(version), Some(capabilities)) = (version, capabilities) else {
            let missing = [(VERSION_KEY, version.is_none()), (CAPABILITIES_KEY, capabilities.is_none())];
            let keys = missing.into_iter().filter_map(|(key, missing)| missing.then_some(key)).collect();
            return Err(RpcError::BadMeta { keys });
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

    /// Refuses a revision that is not spoken here.
    pub(crate) fn check_revision(&self) -> Result<(), RpcError> {
        if self.version == MODERN {
            return Ok(());
        }
        Err(RpcError::UnsupportedVersion { requested: self.version.clone() })
    }

    /// The tools it is shown.
    pub(crate) fn tools(&self) -> ToolSet {
        if self.client.tasks { ToolSet::Tasks } else { ToolSet::Modern }
    }
}

/// Begins to answer one request.
pub(crate) fn begin(
    shared: &Arc<Shared>,
    envelope: Envelope,
    request: Request,
    peer: Option<String>,
    notifier: &Notifier,
) -> Call {
    let Request { id, method, params } = request;
    if method == "tools/call" {
        if let Err(fault) = check_log_level(envelope.log_level.as_ref()) {
            return Call::answered(Response::error(Some(&id), fault));
        }
        let context = RequestContext {
            tools: envelope.tools(),
            session: None,
            client: envelope.client,
            capabilities: envelope.capabilities,
            peer,
            token: envelope.token,
        };
        return call::begin(shared, id, params, context, RequestGuard::unlisted(), notifier);
    }
    let result = match method.as_str() {
        "server/discover" => Ok((discover(shared), Delivery::none())),
        "tools/list" => list_tools(shared, &envelope, &params),
        "tasks/get" | "tasks/update" | "tasks/cancel" => task(shared, &envelope, &method, &params),
        _ => Err(RpcError::UnknownMethod { given: method, known: &METHODS }),
    };
    Call::answered(match result {
        Ok((result, delivery)) => Response::result(Era::Modern, &id, result, delivery),
        Err(fault) => Response::error(Some(&id), fault),
    })
}

fn check_log_level(level: Option<&Value>) -> Result<(), RpcError> {
    const LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
    match level {
        None => Ok(()),
        Some(level) if level.as_str().is_some_and(|level| LEVELS.contains(&level)) => Ok(()),
        Some(_) => Err(RpcError::BadParams(format!("{LOG_LEVEL_KEY} must be one of {}", LEVELS.join(", ")))),
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

fn list_tools(shared: &Shared, envelope: &Envelope, params: &Object) -> Result<(Object, Delivery), RpcError> {
    declarations::check_cursor(params)?;
    // Private: what is listed depends on what this request declares.
    let result =
        json!({"tools": shared.declarations(envelope.tools()), "ttlMs": TOOLS_TTL_MS, "cacheScope": "private"});
    Ok((object(result), Delivery::none()))
}

/// `tasks/get`, `tasks/update`, `tasks/cancel`.
fn task(shared: &Shared, envelope: &Envelope, method: &str, params: &Object) -> Result<(Object, Delivery), RpcError> {
    if !envelope.client.tasks {
        return Err(RpcError::needs_tasks());
    }
    let (id, view) = find(shared, method, params)?;
    let host = &shared.host;
    // Whoever follows a task is there, whatever else its session does.
    host.heard(view.owner);
    match method {
        "tasks/get" => {
            let mut members = task_view::members(&id, &view, Some(task_view::message(id.entry, &view)), host.clock());
            let delivery = match view.status {
                Status::Ok | Status::Failed => {
                    let answer = host.answer_task(id.entry);
                    let mut result = tool_result(&answer);
                    // Exactly what the call would have been answered without a task.
                    result.insert("resultType".into(), json!("complete"));
                    members.insert("result".into(), Value::Object(result));
                    answer.delivery
                }
                // Nothing is inlined for a cancelled task, but its owner knows by this that it has ended.
                Status::Cancelled => host.deliver_task(id.entry),
                Status::Queued | Status::Running => Delivery::none(),
            };
            Ok((members, delivery))
        }
        "tasks/cancel" => {
            // What has settled stays as it is: cancelling twice is fine.
            drop(host.cancel(CancelBy::Task, id.entry));
            Ok((Object::new(), Delivery::none()))
        }
        // Nothing here ever asks for input, so there is nothing to update.
        _ => Ok((Object::new(), Delivery::none())),
    }
}

/// The task that is meant. The handle must be the owner's: an entry of somebody else is no task of this one. A number alone names
/// the entry, whoever owns it.
fn find(shared: &Shared, method: &str, params: &Object) -> Result<(TaskId, TaskView), RpcError> {
    let given = params.get("taskId");
    let named = arguments::task_id(method, given).map_err(RpcError::BadParams)?;
    let shown = given.map_or_else(String::new, |given| given.as_str().map_or_else(|| given.to_string(), str::to_owned));
    let unknown = |why: Option<Refusal>| RpcError::UnknownTask { given: shown.clone(), why };
    let entry = match &named {
        Named::Entry(id) => EntryId(*id),
        Named::Task(task) => task.entry,
    };
    let view = shared.host.task(entry).map_err(|why| unknown(Some(why)))?;
    let handle = match named {
        Named::Entry(_) => view.handle.clone(),
        Named::Task(task) => view.handle.clone().filter(|owner| *owner == task.handle),
    };
    handle.map(|handle| (TaskId { handle, entry }, view)).ok_or_else(|| unknown(None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::rpc::message::Id;

    fn described(meta: Value) -> Envelope {
        let params = object(json!({"_meta": meta}));
        Envelope::read(&Request { id: Id::Number(1.into()), method: "tools/list".into(), params }).unwrap()
    }

    #[test]
    fn a_request_declares_for_itself() {
        let mut meta = json!({VERSION_KEY: MODERN, CAPABILITIES_KEY: {}});
        meta["progressToken"] = json!("");
        meta[CLIENT_KEY] = json!({"name": "a client", "version": 3});
        meta["example.org/trace"] = json!("x");
        let plain = described(meta.clone());
        assert_eq!((plain.tools(), plain.token), (ToolSet::Modern, Some(json!(""))));
        assert_eq!((plain.client.name.as_str(), plain.client.version.as_str()), ("a client", ""));
        meta[CAPABILITIES_KEY] = json!({"extensions": {TASKS: {}}});
        assert_eq!(described(meta).tools(), ToolSet::Tasks);
    }

    #[test]
    fn log_levels_are_checked_though_nothing_is_logged() {
        assert!(check_log_level(None).is_ok() && check_log_level(Some(&json!("debug"))).is_ok());
        assert!(check_log_level(Some(&json!("loud"))).is_err() && check_log_level(Some(&json!(3))).is_err());
    }
}
