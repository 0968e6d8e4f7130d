//! Answers: an entry as it stands, its footer, and the tail of news that a response carries.
//!
//! The first line stands alone. Then the value or failure, what was printed, the footer `;; id …`, what there is to say about
//! this entry, and last the news of the session. Only the system's own lines start with `;;`.

use super::failure;
use super::output::{self, Output};
use super::plain::{count, duration, guarded, head, listed, one_line};
use super::style::{Role, Style};
use super::value::Rendered;
use crate::base::limits::thousands;
use crate::base::{Conflict, EntryId, Failure, Status, StopCause};
use std::fmt::Write;
use std::time::Duration;

/// One entry as it stands.
#[derive(Clone, Debug)]
pub struct Block<'a> {
    /// Its id.
    pub id: EntryId,
    /// The reader's session as people name it: a handle, or the first eight characters of a header session. `None` for the
    /// nil caller.
    pub session: Option<&'a str>,
    /// The space or module it is evaluated in.
    pub ns: &'a str,
    /// Where it is in its life.
    pub stage: Stage<'a>,
    /// What it printed; `None` when nothing is known of it.
    pub output: Option<Output<'a>>,
    /// Names it set that another entry had set since, in order.
    pub conflicts: &'a [Conflict],
    /// Names it committed; said only when it failed or was cancelled.
    pub committed: &'a [String],
    /// Children that were cancelled when it settled.
    pub cancelled_children: &'a [EntryId],
    /// The space that came into being for it.
    pub new_space: Option<&'a str>,
    /// From where to where its session is moved by this answer, if it is.
    pub moved: Option<(&'a str, &'a str)>,
}

/// Where an entry is in its life, with what that stage has to show.
#[derive(Clone, Debug)]
pub enum Stage<'a> {
    /// Waits for a slot.
    Queued {
        /// Entries before it.
        before: usize,
    },
    /// At work, waiting or asleep.
    Running {
        /// For how long.
        so_far: Duration,
    },
    /// Asked to stop, but at work in native code.
    Cancelling {
        /// How long ago it was asked.
        asked: Duration,
        /// For how long it runs.
        so_far: Duration,
    },
    /// Ended with a value, as it was rendered when it settled.
    Ok {
        /// The value.
        value: &'a Rendered,
        /// How long it ran.
        took: Duration,
    },
    /// Ended, and what it kept was dropped by `forget`.
    Forgotten {
        /// How it ended.
        status: Status,
        /// How long it ran.
        took: Duration,
    },
    /// Ended with a failure.
    Failed {
        /// Why.
        failure: &'a Failure,
        /// How long it ran.
        took: Duration,
    },
    /// Was stopped.
    Cancelled {
        /// After what time.
        after: Duration,
        /// Why, when it was not somebody's wish.
        cause: Option<&'a StopCause>,
    },
}

/// Why a session is new under an old id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Adopted {
    /// This process never saw the id.
    Unknown {
        /// The local time of day at which the process started, such as `14:02`.
        started: String,
    },
    /// The session that had the id ended after a silence.
    Expired,
}

/// The news that one response carries, after all blocks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tail<'a> {
    /// The session's own work that settled since it was last told.
    pub settled: &'a [(EntryId, Status)],
    /// The session's entries that were evicted.
    pub evicted: &'a [EntryId],
    /// Why the session is new under an old id, when it is to be told so.
    pub adopted: Option<&'a Adopted>,
    /// Whether to say that the manual is unread (answers to eval only).
    pub manual_unread: bool,
}

/// The answer about one entry: its block and the tail.
pub fn one(block: &Block<'_>, tail: &Tail<'_>, style: Style) -> String {
    let mut lines = block_lines(block, style);
    lines.extend(tail_lines(tail, style));
    lines.join("\n")
}

/// The answer about several entries: ids that are not there are named first (the sentences of their refusals), then a block
/// each, set apart by an empty line, then one tail.
pub fn several(refused: &[String], blocks: &[Block<'_>], tail: &Tail<'_>, style: Style) -> String {
    let mut parts = Vec::new();
    if !refused.is_empty() {
        let named: Vec<_> =
            refused.iter().map(|sentence| style.paint(Role::Bad, &guarded(&one_line(sentence)))).collect();
        parts.push(named.join("\n"));
    }
    parts.extend(blocks.iter().map(|block| self::block(block, style)));
    let mut lines = vec![parts.join("\n\n")];
    lines.extend(tail_lines(tail, style));
    lines.retain(|line| !line.is_empty());
    lines.join("\n")
}

/// A plain text (a minted session, a refused argument) and the tail.
pub fn text(text: &str, tail: &Tail<'_>, style: Style) -> String {
    let safe = text.lines().map(|line| guarded(&one_line(line)));
    safe.chain(tail_lines(tail, style)).collect::<Vec<_>>().join("\n")
}

/// The block alone, as a task's result carries it.
pub fn block(block: &Block<'_>, style: Style) -> String {
    block_lines(block, style).join("\n")
}

/// The tail alone; empty when there is no news.
pub fn tail(tail: &Tail<'_>, style: Style) -> String {
    tail_lines(tail, style).join("\n")
}

fn block_lines(block: &Block<'_>, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(outcome(block, style));
    lines
        .extend(block.output.filter(|output| !output.is_empty()).map(|output| output::block(&output, block.id, style)));
    let own = std::iter::once(footer(block)).chain(about(block));
    lines.extend(own.map(|line| style.paint(Role::Quiet, &line)));
    lines
}

/// The value, the failure, or how the entry stands.
fn outcome(block: &Block<'_>, style: Style) -> Option<String> {
    let id = block.id;
    Some(match &block.stage {
        Stage::Queued { before } => {
            style.paint(Role::Busy, &format!("queued · id {id} · {} before it", thousands(*before)))
        }
        Stage::Running { so_far } => {
            style.paint(Role::Busy, &format!("running · id {id} · {} so far", duration(*so_far)))
        }
        Stage::Cancelling { asked, so_far } => {
            let tenths = (asked.as_millis() + 50) / 100;
            let line = format!(
                "cancelling (in native code since {}.{}s) · id {id} · {} so far",
                tenths / 10,
                tenths % 10,
                duration(*so_far)
            );
            style.paint(Role::Busy, &line)
        }
        // A person knows that nothing came back.
        Stage::Ok { value, .. } if style.is_terminal() && value.text == "()" => return None,
        Stage::Ok { value, .. } => value.text.clone(),
        Stage::Forgotten { status, .. } => {
            format!("{status} · id {id} · its value and output were dropped by forget({id})")
        }
        Stage::Failed { failure, .. } => failure::text(failure, Some(id), style),
        Stage::Cancelled { after, cause } => {
            let mut line = format!("cancelled · id {id} after {}", duration(*after));
            if let Some(cause) = cause.and_then(reason) {
                write!(line, " · {cause}").expect("writing to a string cannot fail");
            }
            style.paint(Role::Busy, &line)
        }
    })
}

/// Why an entry was stopped, when that is more than somebody's wish.
fn reason(cause: &StopCause) -> Option<String> {
    match cause {
        StopCause::Cancelled | StopCause::Exit => None,
        StopCause::Shutdown => Some("the process is shutting down".to_owned()),
        StopCause::NoSuchSpace(name) => Some(format!("no such space: {}", one_line(name))),
        StopCause::Limit(hit) => Some(hit.to_string()),
    }
}

/// `;; id 12 · session bfw · ns s-bfw · ok · 3 ms`.
fn footer(block: &Block<'_>) -> String {
    let mut line = format!(";; id {}", block.id);
    let mut push = |text: std::fmt::Arguments<'_>| line.write_fmt(text).expect("writing to a string cannot fail");
    if let Some(session) = block.session {
        push(format_args!(" · session {}", one_line(session)));
    }
    push(format_args!(" · ns {}", one_line(block.ns)));
    match &block.stage {
        Stage::Queued { before } => push(format_args!(" · queued, {} before it", thousands(*before))),
        Stage::Running { .. } => push(format_args!(" · running")),
        Stage::Cancelling { .. } => push(format_args!(" · cancelling")),
        Stage::Ok { took, .. } => push(format_args!(" · ok · {}", duration(*took))),
        Stage::Failed { took, .. } => push(format_args!(" · failed · {}", duration(*took))),
        Stage::Forgotten { status, took } => push(format_args!(" · {status} · {}", duration(*took))),
        Stage::Cancelled { after, .. } => push(format_args!(" · cancelled · {}", duration(*after))),
    }
    line
}

/// The lines after the footer that are about the entry itself.
fn about(block: &Block<'_>) -> Vec<String> {
    let id = block.id;
    let mut lines = Vec::new();
    if let Stage::Ok { value, .. } = &block.stage
        && let Some(phrase) = value.elided.phrase()
    {
        lines.push(format!(";; truncated — {phrase} · res({id}) is the whole value"));
    }
    for Conflict { name, other, function } in block.conflicts {
        let name = self::name(name);
        lines.push(if *function {
            format!(";; function {name} was also defined by entry {other}")
        } else {
            format!(";; {name} was also set by entry {other}")
        });
    }
    let stopped = matches!(block.stage, Stage::Failed { .. } | Stage::Cancelled { .. });
    if stopped && !block.committed.is_empty() {
        lines.push(format!(";; set before it stopped: {}", names(block.committed)));
    }
    if !block.cancelled_children.is_empty() {
        lines.push(format!(";; cancelled children: {}", ranges(block.cancelled_children)));
    }
    if let Some(name) = block.new_space {
        lines.push(format!(";; new space {}", one_line(name)));
    }
    if let Some((from, to)) = block.moved {
        let (from, to) = (one_line(from), one_line(to));
        lines.push(format!(";; moved from {from} to {to} · evals without ns take place there from now on"));
    }
    lines
}

/// Names of one line that are told without a cut.
const NAMES: usize = 50;
/// Characters of a name.
const NAME: usize = 80;

/// A name of any length, on one line.
fn name(name: &str) -> String {
    let shown = head(name, NAME);
    match name[shown.len()..].chars().count() {
        0 => one_line(shown),
        left => format!("{}… {} elided", one_line(shown), count(left, "character")),
    }
}

fn names(all: &[String]) -> String {
    let shown = listed(all.iter().take(NAMES).map(|one| name(one)));
    match all.len().saturating_sub(NAMES) {
        0 => shown,
        more => format!("{shown}, … {} more", thousands(more)),
    }
}

fn tail_lines(tail: &Tail<'_>, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    if !tail.settled.is_empty() {
        lines.push(format!(";; settled news: {}", news(tail.settled)));
    }
    if !tail.evicted.is_empty() {
        lines.push(format!(";; evicted: {}", ranges(tail.evicted)));
    }
    if let Some(adopted) = tail.adopted {
        let why = match adopted {
            Adopted::Unknown { started } => {
                format!("this process started {} · earlier ids and variables are gone", one_line(started))
            }
            Adopted::Expired => {
                "the earlier one ended after a silence · its own variables are gone, its ids can be read while they are kept"
                    .to_owned()
            }
        };
        lines.push(format!(";; new session under an old id · {why}"));
    }
    if tail.manual_unread {
        lines.push(";; manual unread · eval manual() once before real work".to_owned());
    }
    lines.into_iter().map(|line| style.paint(Role::Quiet, &line)).collect()
}

/// Ids that are listed one by one; more than these fold into ranges.
const LISTED: usize = 20;

/// `3, 4`, or `3-40, 45` when there are many.
pub(super) fn ranges(ids: &[EntryId]) -> String {
    if ids.len() <= LISTED {
        return listed(ids);
    }
    let same: Vec<_> = ids.iter().map(|id| (*id, Status::Ok)).collect();
    listed(folded(&same).iter().map(Range::ids))
}

/// `9 ok, 10 failed`, or `9-31 ok, 32 failed` when there are many.
fn news(settled: &[(EntryId, Status)]) -> String {
    if settled.len() <= LISTED {
        return listed(settled.iter().map(|(id, status)| format!("{id} {status}")));
    }
    listed(folded(settled).iter().map(|range| format!("{} {}", range.ids(), range.status)))
}

/// Neighbouring ids of one status.
struct Range {
    first: EntryId,
    last: EntryId,
    status: Status,
}

impl Range {
    fn ids(&self) -> String {
        if self.first == self.last { self.first.to_string() } else { format!("{}-{}", self.first, self.last) }
    }
}

fn folded(settled: &[(EntryId, Status)]) -> Vec<Range> {
    let mut sorted = settled.to_vec();
    sorted.sort_unstable_by_key(|(id, _)| *id);
    let mut ranges: Vec<Range> = Vec::new();
    for (id, status) in sorted {
        match ranges.last_mut() {
            Some(range) if range.status == status && id.0 <= range.last.0 + 1 => range.last = id,
            _ => ranges.push(Range { first: id, last: id, status }),
        }
    }
    ranges
}

/// What one line says of an entry.
#[derive(Clone, Copy, Debug)]
pub struct EntryFacts<'a> {
    /// Its id.
    pub id: EntryId,
    /// Its status.
    pub status: Status,
    /// How long it ran, or runs.
    pub time: Duration,
    /// Whose it is, when it is not the reader's: a handle, the first eight characters of a header session, `the prompt`.
    pub by: Option<&'a str>,
    /// Why the value is gone: `evicted` or `forgotten`.
    pub gone: Option<&'a str>,
}

/// The line of an entry handle: `entry 12 · ok · 3 ms · by bfw`.
pub fn entry_line(facts: &EntryFacts<'_>) -> String {
    let mut line = format!("entry {} · {} · {}", facts.id, facts.status, duration(facts.time));
    for (label, fact) in [("by ", facts.by), ("", facts.gone)] {
        if let Some(fact) = fact {
            write!(line, " · {label}{}", one_line(fact)).expect("writing to a string cannot fail");
        }
    }
    line
}

/// What the command line prints for a settled entry: the value or the failure, without a footer. `None` when there is nothing
/// to print, which is so for `()`.
pub fn bare(block: &Block<'_>, style: Style) -> Option<String> {
    match &block.stage {
        Stage::Ok { value, .. } if value.text == "()" => None,
        _ => outcome(block, style),
    }
}

#[cfg(test)]
mod tests;
