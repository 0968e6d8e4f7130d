//! Single sentences: the start line, tool answers that are not about an entry, status messages, the end of the process.

use super::plain::one_line;
use super::style::{Role, Style};
use crate::base::{EntryId, Handle, Permissions};
use std::path::PathBuf;

/// The first line on stderr: `remontoire 0.1.0 · http://127.0.0.1:7766/mcp`.
pub(crate) fn start_line(url: &str) -> String {
    format!("remontoire {} · {url}", env!("CARGO_PKG_VERSION"))
}

/// The second line on stderr, when scripts may reach something: `allowed: read ./src · env LANG`.
pub(crate) fn allowed_line(permissions: &Permissions) -> Option<String> {
    if permissions.all {
        return Some("allowed: everything that you can".to_owned());
    }
    let paths = |paths: &[PathBuf]| paths.iter().map(|path| one_line(&path.display().to_string())).collect::<Vec<_>>();
    let names = permissions.env.iter().map(ToString::to_string).collect();
    let parts = [("read", paths(&permissions.read)), ("write", paths(&permissions.write)), ("env", names)];
    let shown: Vec<_> = parts
        .iter()
        .filter(|(_, what)| !what.is_empty())
        .map(|(kind, what)| format!("{kind} {}", what.join(", ")))
        .collect();
    (!shown.is_empty()).then(|| format!("allowed: {}", shown.join(" · ")))
}

/// Without a token, scripts of everybody on this machine may write.
pub(crate) const OPEN_TO_ALL_USERS: &str =
    "every user of this machine can reach the port, and so write what scripts may write; --token-file keeps others out";

/// A warning on stderr: `warning: …`.
pub(crate) fn warning(sentence: &str, style: Style) -> String {
    format!("{} {}", style.paint(Role::Busy, "warning:"), one_line(sentence))
}

/// An error on stderr that is not a script's: `remontoire: …`.
pub(crate) fn complaint(sentence: &str) -> String {
    format!("remontoire: {}", one_line(sentence))
}

/// The answer of `create-session`: the handle alone on the first line, then how to use it. `optional`: on a wire that has header
/// sessions, `session` may be left out.
pub(crate) fn session_created(handle: &Handle, optional: bool) -> String {
    let use_it = if optional {
        format!(
            "Your connection has a session of its own already, which every call without `session` works in: you need this one \
             only to keep two conversations apart. Pass session: \"{handle}\" with the calls of this one: its variables and news \
             are its own."
        )
    } else {
        format!("Pass session: \"{handle}\" with every call. Keep it for the whole conversation.")
    };
    format!(
        "session {handle}\n{use_it}\nIts variables are in the space s-{handle}. eval manual() once before real work."
    )
}

/// The status message of a task: `;; id 12 · running in the background`, then the latest line of output when there is one
/// (already shown as [`super::output::line`] shows it).
pub(crate) fn task_status(id: EntryId, latest_line: Option<&str>) -> String {
    let head = format!(";; id {id} · running in the background");
    match latest_line.filter(|line| !line.is_empty()) {
        Some(line) => format!("{head} · {}", super::plain::first_line(line, 200)),
        None => head,
    }
}

/// The answer to a call that waits while the process ends.
pub(crate) const SHUTTING_DOWN: &str = "the process is shutting down; ids, sessions and variables end with it";

/// The last line of a prompt when the process ends.
pub(crate) fn goodbye(running: usize) -> String {
    match running {
        0 => "bye".to_owned(),
        n => format!("bye · {} cancelled", super::plain::count(n, "running eval")),
    }
}

/// The first line on stderr of a prompt on another instance.
pub(crate) fn attached(url: &str, session: &str) -> String {
    format!("attached to {} · session {}", one_line(url), one_line(session))
}

/// The last line of a prompt on another instance.
pub(crate) fn left(session: &str) -> String {
    format!("left session {} · what still runs there runs on", one_line(session))
}

/// A signal came while an eval on another instance was waited for.
pub(crate) fn cancelled_by_leaving(session: &str) -> String {
    format!("left session {} · the eval was cancelled", one_line(session))
}

/// The line of the command line about an eval that was cancelled.
pub(crate) fn cancelled(id: EntryId) -> String {
    format!("cancelled · id {id}")
}

/// The line of the command line when its script ended and background work with it, unfinished.
pub(crate) fn unfinished(ids: &[EntryId]) -> String {
    let ids = super::answer::entries(ids);
    format!("cancelled with the end of the script: {ids} · await_all(list) as its last step waits for its children")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::style::visible;
    use expect_test::expect;

    #[test]
    fn every_notice() {
        let bfw: Handle = "bfw".parse().unwrap();
        let all = [
            start_line("http://127.0.0.1:7766/mcp").replace(env!("CARGO_PKG_VERSION"), "0.1.0"),
            allowed_line(&"read=./src,doc env=LANG".parse().unwrap()).unwrap(),
            allowed_line(&Permissions::all()).unwrap(),
            warning(OPEN_TO_ALL_USERS, Style::Agent),
            warning("memory: not enforced", Style::Agent),
            warning("memory: not enforced", Style::Terminal { colour: true }),
            complaint("127.0.0.1:7766: address in use"),
            session_created(&bfw, false),
            session_created(&bfw, true),
            task_status(EntryId(12), None),
            task_status(EntryId(12), Some("step 3 of 9\u{1b}")),
            SHUTTING_DOWN.to_owned(),
            goodbye(0),
            goodbye(2),
            attached("http://127.0.0.1:7766/mcp", "bfw"),
            left("bfw"),
            cancelled_by_leaving("bfw"),
            cancelled(EntryId(12)),
            unfinished(&[EntryId(2), EntryId(3)]),
        ];
        expect![[r#"
            remontoire 0.1.0 · http://127.0.0.1:7766/mcp
            ---
            allowed: read ./src, doc · env LANG
            ---
            allowed: everything that you can
            ---
            warning: every user of this machine can reach the port, and so write what scripts may write; --token-file keeps others out
            ---
            warning: memory: not enforced
            ---
            ␛[33mwarning:␛[0m memory: not enforced
            ---
            remontoire: 127.0.0.1:7766: address in use
            ---
            session bfw
            Pass session: "bfw" with every call. Keep it for the whole conversation.
            Its variables are in the space s-bfw. eval manual() once before real work.
            ---
            session bfw
            Your connection has a session of its own already, which every call without `session` works in: you need this one only to keep two conversations apart. Pass session: "bfw" with the calls of this one: its variables and news are its own.
            Its variables are in the space s-bfw. eval manual() once before real work.
            ---
            ;; id 12 · running in the background
            ---
            ;; id 12 · running in the background · step 3 of 9\x1b
            ---
            the process is shutting down; ids, sessions and variables end with it
            ---
            bye
            ---
            bye · 2 running evals cancelled
            ---
            attached to http://127.0.0.1:7766/mcp · session bfw
            ---
            left session bfw · what still runs there runs on
            ---
            left session bfw · the eval was cancelled
            ---
            cancelled · id 12
            ---
            cancelled with the end of the script: entries 2, 3 · await_all(list) as its last step waits for its children"#]].assert_eq(&visible(&all.join("\n---\n")));
    }
}
