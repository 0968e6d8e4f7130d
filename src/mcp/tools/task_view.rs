//! Tasks as the protocol shows them: nothing is stored, everything is computed from how the entry stands.
//!
//! A script that fails is a task that `completed` with a result that says `isError`; the status `failed` is for errors of the
//! protocol, and an eval that was admitted has none.

use crate::base::{Clock, EntryId, Status, TaskId, Time};
use crate::host::TaskView;
use crate::mcp::rpc::message::Object;
use crate::render::notice;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

/// How often a client is asked to look.
const POLL_INTERVAL_MS: u64 = 1_000;

/// The members that say how a task stands. Its result is not among them.
pub(crate) fn members(id: &TaskId, view: &TaskView, message: Option<String>, clock: &Clock) -> Object {
    let mut members = Map::new();
    members.insert("taskId".into(), json!(id.to_string()));
    members.insert("status".into(), json!(status(view.status)));
    if let Some(message) = message {
        members.insert("statusMessage".into(), json!(message));
    }
    members.insert("createdAt".into(), json!(stamp(clock, view.created)));
    members.insert("lastUpdatedAt".into(), json!(stamp(clock, view.updated)));
    members.insert("ttlMs".into(), json!(view.ttl_ms));
    members.insert("pollIntervalMs".into(), json!(POLL_INTERVAL_MS));
    members
}

/// The message of a task that has just been made of an eval.
pub(crate) fn started(id: EntryId) -> String {
    notice::task_status(id, None)
}

/// The message of a task as it stands: with its latest line while it is at work.
pub(crate) fn message(id: EntryId, view: &TaskView) -> String {
    if view.status.is_settled() {
        return format!(";; id {id} · {}", view.status);
    }
    notice::task_status(id, view.latest_line.as_deref())
}

/// The protocol's word for a status.
fn status(status: Status) -> &'static str {
    match status {
        Status::Queued | Status::Running => "working",
        Status::Ok | Status::Failed => "completed",
        Status::Cancelled => "cancelled",
    }
}

/// RFC 3339 in UTC, to the millisecond.
fn stamp(clock: &Clock, time: Time) -> Value {
    let stamp =
        Timestamp::try_from(clock.wall(time)).and_then(|stamp| Timestamp::from_millisecond(stamp.as_millisecond()));
    match stamp {
        Ok(stamp) => Value::String(stamp.to_string()),
        // Only a clock beyond the year 9999 gets here.
        Err(_) => Value::String(Timestamp::MAX.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Owner;
    use std::time::Duration;

    fn view(status: Status) -> TaskView {
        TaskView {
            owner: Owner::Local,
            status,
            created: Time::after_start(Duration::from_secs(60)),
            updated: Time::after_start(Duration::from_millis(61_500)),
            ttl_ms: 3_601_500,
            latest_line: Some("half way".into()),
            handle: None,
        }
    }

    #[test]
    fn a_task_is_flat_and_stamped_in_utc() {
        let id: TaskId = "bfw-12".parse().unwrap();
        let members = members(&id, &view(Status::Running), Some("so far".into()), &Clock::manual());
        assert_eq!(
            Value::Object(members),
            json!({
                "taskId": "bfw-12",
                "status": "working",
                "statusMessage": "so far",
                "createdAt": "2000-01-01T00:01:00Z",
                "lastUpdatedAt": "2000-01-01T00:01:01.5Z",
                "ttlMs": 3_601_500,
                "pollIntervalMs": 1_000,
            })
        );
    }

    #[test]
    fn only_a_cancel_is_no_completion() {
        let words = [Status::Queued, Status::Running, Status::Ok, Status::Failed, Status::Cancelled].map(status);
        assert_eq!(words, ["working", "working", "completed", "completed", "cancelled"]);
    }
}
