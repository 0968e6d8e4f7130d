//! The texts. The prose is Markdown next to this file; its examples follow the form of [`examples()`](super::examples()), so that
//! tests evaluate every one of them.

use crate::base::Limits;
use crate::base::limits::{AWAIT_WAIT, EVAL_WAIT};
use crate::render::plain::{head, listed, one_line, spelled};
use std::time::Duration;

/// The ways of waiting a client can have: its texts differ in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Calls answer `running` after a deadline; the tools `await` and `cancel` go on from there.
    Await,
    /// The client follows tasks: calls that last become tasks.
    Tasks,
}

/// A tool of the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// `create-session`.
    CreateSession,
    /// `eval`.
    Eval,
    /// `await`.
    Await,
    /// `cancel`.
    Cancel,
}

impl Tool {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 4] = [Self::CreateSession, Self::Eval, Self::Await, Self::Cancel];
}

/// A function that scripts can call, as its registration tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionDoc {
    /// Its name.
    pub name: String,
    /// Its calls, such as `out(id, from, n)`; one for each overload.
    pub signatures: Vec<String>,
    /// Its doc comment without the marks; may hold examples (see [`examples()`](super::examples())).
    pub doc: String,
}

/// Characters of the operator's words that the instructions carry; they have to stay short.
const DESCRIBE: usize = 400;

/// The instructions a client reads at the start, under 1,000 characters. `describe`: the operator's words about this instance.
/// `create_session`: the wire needs `create-session` first.
pub fn instructions(describe: &str, create_session: bool) -> String {
    let mut text = include_str!("instructions.md").trim_end().to_owned();
    if !describe.trim().is_empty() {
        text.push_str(&format!(" This one: {}", brief(describe, DESCRIBE)));
    }
    text.push_str(if create_session {
        "\n\nCall create-session once and pass the handle it answers as `session` with every call. Then, before the first real eval, \
         evaluate `manual()` and read it."
    } else {
        "\n\nBefore the first real eval, evaluate `manual()` and read it."
    });
    text
}

/// The operator's words on one line, cut when they are too many, and ended like a sentence.
fn brief(describe: &str, max: usize) -> String {
    let words = describe.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = one_line(head(&words, max));
    match shown.chars().last() {
        _ if shown.len() < words.len() => format!("{shown}…"),
        Some('.' | '!' | '?' | '…') => shown,
        _ => format!("{shown}."),
    }
}

/// The numbers of a text in its places, which are written `{GRACE}`: whatever can be set is said as it is set.
fn filled(text: &str, limits: &Limits) -> String {
    let seconds = |time: Duration| time.as_secs_f64().to_string();
    let places = [
        ("{EVAL_WAIT}", seconds(EVAL_WAIT.min(limits.silence))),
        ("{AWAIT_WAIT}", seconds(AWAIT_WAIT.min(limits.silence))),
        ("{LONGEST}", seconds(limits.silence)),
        ("{GRACE}", spelled(limits.grace)),
        ("{CANCEL_WAIT}", spelled(limits.cancel_wait)),
        ("{SILENCE}", spelled(limits.silence)),
    ];
    places.iter().fold(text.to_owned(), |text, (place, value)| text.replace(place, value))
}

/// The description of a tool, under 2,000 characters. `own_session`: the connection has a session already.
pub fn tool_description(tool: Tool, variant: Variant, own_session: bool, limits: &Limits) -> String {
    let text = match (tool, variant) {
        (Tool::CreateSession, _) if own_session => include_str!("tools/create-session-beside.md"),
        (Tool::CreateSession, _) => include_str!("tools/create-session.md"),
        (Tool::Eval, Variant::Await) => include_str!("tools/eval-await.md"),
        (Tool::Eval, Variant::Tasks) => include_str!("tools/eval-tasks.md"),
        (Tool::Await, _) => include_str!("tools/await.md"),
        (Tool::Cancel, _) => include_str!("tools/cancel.md"),
    };
    filled(text.trim_end(), limits)
}

/// The description of the seconds that `eval` waits.
pub fn eval_wait(limits: &Limits) -> String {
    filled("Seconds to wait for the outcome: {EVAL_WAIT} by default, 0 answers at once", limits)
}

/// The description of the seconds that `await` waits.
pub fn await_wait(limits: &Limits) -> String {
    filled("Seconds to wait at most: {AWAIT_WAIT} by default, 0 answers at once", limits)
}

/// A tool's title.
pub fn tool_title(tool: Tool) -> &'static str {
    match tool {
        Tool::CreateSession => "Open a session",
        Tool::Eval => "Evaluate a script",
        Tool::Await => "Wait for evals",
        Tool::Cancel => "Stop evals",
    }
}

/// Longest entry of the reference, in characters of its text; `doc("name")` shows the rest.
const REFERENCE: usize = 260;

/// The manual: the concepts, then a reference of `functions` in the order given; under 24 KiB with the functions of this
/// program. `modules`: names of the native modules an embedding program added.
pub fn manual(
    describe: &str,
    variant: Variant,
    functions: &[FunctionDoc],
    modules: &[String],
    limits: &Limits,
) -> String {
    let mut text = include_str!("manual/1-start.md").to_owned();
    if !describe.trim().is_empty() {
        // After the title, before everything else: the place names itself.
        let title = text.find('\n').map_or(text.len(), |end| end + 1);
        text.insert_str(title, &format!("\nThis instance: {}\n", brief(describe, 10 * DESCRIBE)));
    }
    let waiting = match variant {
        Variant::Await => include_str!("manual/2-waiting-await.md"),
        Variant::Tasks => include_str!("manual/2-waiting-tasks.md"),
    };
    for part in [waiting, include_str!("manual/3-work.md"), include_str!("manual/4-rhai.md")] {
        text.push('\n');
        text.push_str(&filled(part, limits));
    }
    if !modules.is_empty() {
        let names = listed(modules.iter().map(|name| format!("`{}::`", one_line(name))));
        text.push_str(&format!("\n## This program's own modules\n\nCall them without an import: {names}.\n"));
    }
    text.push_str("\n## Reference\n\n`doc(\"name\")` shows all there is to say about a function.\n\n");
    for function in functions {
        text.push_str(&reference(function));
        text.push('\n');
    }
    text
}

/// One line of the reference: its calls, and the first paragraph of its doc.
pub(super) fn reference(function: &FunctionDoc) -> String {
    let calls = listed(function.signatures.iter().map(|call| format!("`{}`", one_line(call))));
    let calls = if calls.is_empty() { format!("`{}`", one_line(&function.name)) } else { calls };
    let first = function.doc.trim().split("\n\n").next().unwrap_or_default();
    let first = first.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = one_line(head(&first, REFERENCE));
    let cut = if shown.len() < first.len() { "…" } else { "" };
    let colon = if shown.is_empty() { "" } else { ": " };
    format!("- {calls}{colon}{shown}{cut}")
}

/// The text of `doc("name")`: its calls, then its whole doc.
pub fn doc(function: &FunctionDoc) -> String {
    let calls: Vec<_> = function.signatures.iter().map(|call| one_line(call)).collect();
    let calls = if calls.is_empty() { one_line(&function.name) } else { calls.join("\n") };
    let doc: Vec<_> = function.doc.trim().lines().map(one_line).collect();
    if doc.is_empty() { calls } else { format!("{calls}\n\n{}", doc.join("\n")) }
}

/// The text of `doc("name")` when nothing has that name. `near`: names that look like it, best first.
pub fn no_doc(name: &str, near: &[String]) -> String {
    let name = one_line(head(name, 80));
    match near {
        [] => format!("nothing is called `{name}`; manual() lists every function"),
        near => format!("nothing is called `{name}`; did you mean: {}", listed(near.iter().map(|name| one_line(name)))),
    }
}
