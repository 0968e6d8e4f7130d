//! Single sentences: the start line, shutdown reasons, status messages of tasks, tool answers that are not about an entry.

use crate::words::{EntryId, Handle};

/// The first line on stderr: `remontoire 0.1.0 · http://127.0.0.1:7766/mcp`.
pub fn start_line(url: &str) -> String {
    let _ = url;
    todo!()
}

/// The answer of `create-session`: the handle alone on the first line, then how to use it. `header`: whether the wire also has
/// header sessions, so that `session` is optional.
pub fn session_created(handle: &Handle, header: bool) -> String {
    let _ = (handle, header);
    todo!()
}

/// The status message of a task: `;; id 12 · running in the background`, then the latest line of output when there is one.
pub fn task_status(id: EntryId, latest_line: Option<&str>) -> String {
    let _ = (id, latest_line);
    todo!()
}
