//! The texts that clients read at the start: instructions, and descriptions of tools. The prose is Markdown next to this file; its
//! examples follow the form of [`examples()`](super::examples()), so that tests evaluate every one of them.

use crate::base::Limits;
use crate::base::limits::AWAIT_WAIT;
use crate::render::plain::{duration, head, one_line, spelled};
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

/// Characters of the operator's words that the instructions carry; they have to stay short.
pub(super) const DESCRIBE: usize = 400;

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
pub(super) fn brief(describe: &str, max: usize) -> String {
    let words = describe.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = one_line(head(&words, max));
    match shown.chars().last() {
        _ if shown.len() < words.len() => format!("{shown}…"),
        Some('.' | '!' | '?' | '…') => shown,
        _ => format!("{shown}."),
    }
}

/// The numbers of a text in its places, which are written `{GRACE}`: whatever can be set is said as it is set.
pub(super) fn filled(text: &str, limits: &Limits) -> String {
    let seconds = |time: Duration| time.as_secs_f64().to_string();
    let places = [
        ("{EVAL_WAIT}", seconds(limits.grace.min(limits.silence))),
        ("{EVAL_WAITED}", duration(limits.grace.min(limits.silence))),
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
