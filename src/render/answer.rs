//! Answers: an entry as it stands, its footer, and the tail of news that a response carries.
//!
//! The first line stands alone. Then the value or failure, what was printed, the footer `;; id …`, what there is to say about
//! this entry, and last the news of the session. Only the system's own lines start with `;;`.

use super::failure;
use super::notes;
use super::output::{self, Output};
use super::plain::{count, duration, guarded, head, listed, one_line};
use super::style::{Role, Style};
use super::summary::{EndText, Summary};
use super::value::Rendered;
use crate::base::limits::thousands;
use crate::base::{Conflict, EntryId, Failure, Status, StopCause};
use crate::registry::{Adoption, EntryView, HeadTail};
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

/// One entry as it stands, copied when it was claimed.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// The entry.
    pub entry: EntryView,
    /// The session its footer names, as people know it; `None` for readers that are told of none.
    pub session: Option<Arc<str>>,
    /// Its end; `None` while it has not settled, when it never ran, and after `forget`.
    pub summary: Option<Arc<Summary>>,
    /// Its output, asked of the log with [`EndText::output_room`], or [`output::ROOM`] without an end.
    pub printed: HeadTail,
    /// The number of lines of its output that are gone for ever.
    pub dropped: u64,
    /// The time since it was asked to stop, when native code holds that up.
    pub held_up: Option<Duration>,
    /// The spaces or modules from and to which its session is moved by this answer, if it is.
    pub moved: Option<(Arc<str>, Arc<str>)>,
}

/// The stages of an entry's life as its block shows them.
enum Stage<'a> {
    /// Waits for a slot.
    Queued,
    /// At work, waiting or asleep.
    Running,
    /// Asked to stop so long ago, but at work in native code.
    Cancelling(Duration),
    /// Ended with a value.
    Ok(&'a Rendered),
    /// Ended, and its outcome was dropped by `forget`.
    Forgotten,
    /// Ended with a failure.
    Failed(&'a Failure),
    /// Was stopped, by a cause when it is known.
    Cancelled(Option<&'a StopCause>),
}

impl Block {
    fn stage(&self) -> Stage<'_> {
        match (self.entry.status, self.summary.as_deref().map(|summary| &summary.end)) {
            (Status::Queued, _) => Stage::Queued,
            (Status::Running, _) => self.held_up.map_or(Stage::Running, Stage::Cancelling),
            (Status::Ok, Some(EndText::Value(value))) => Stage::Ok(value),
            (Status::Failed, Some(EndText::Failed(failure))) => Stage::Failed(failure),
            (Status::Cancelled, Some(EndText::Cancelled(cause))) => Stage::Cancelled(Some(cause)),
            (Status::Cancelled, _) => Stage::Cancelled(None),
            (Status::Ok | Status::Failed, _) => Stage::Forgotten,
        }
    }
}

/// The news that one response carries, after all blocks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tail<'a> {
    /// The session's own work that settled since it was last told.
    pub settled: &'a [News],
    /// The session's entries that were evicted.
    pub evicted: &'a [EntryId],
    /// The reason why the session is new under an old id, when it is to be told so.
    pub adopted: Option<Adoption>,
    /// The local time of day at which the process started, such as `14:02`, for a session whose id it never saw.
    pub started: &'a str,
    /// Say that the manual is unread (answers to eval only).
    pub manual_unread: bool,
}

/// An entry that settled without its session having been told.
#[derive(Clone, Debug)]
pub(crate) struct News {
    /// The entry.
    pub id: EntryId,
    /// How it ended.
    pub status: Status,
    /// Its failure, while that is kept.
    pub failure: Option<Arc<Failure>>,
}

impl News {
    /// The words for how it ended: `ok`, `failed (ArrayBounds)`.
    fn outcome(&self) -> String {
        match &self.failure {
            Some(failure) => format!("{} ({})", self.status, name(&failure.kind)),
            None => self.status.to_string(),
        }
    }
}

/// The answer about one entry: its block and the tail.
pub(crate) fn one(block: &Block, tail: &Tail<'_>, style: Style) -> String {
    let mut lines = block_lines(block, style);
    lines.extend(tail_lines(tail, style));
    lines.join("\n")
}

/// The answer about several entries: ids that are not there are named first (the sentences of their refusals), then a block
/// each, set apart by an empty line, then one tail.
pub(crate) fn several(refused: &[String], blocks: &[Block], tail: &Tail<'_>, style: Style) -> String {
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
pub(crate) fn text(text: &str, tail: &Tail<'_>, style: Style) -> String {
    let safe = text.lines().map(|line| guarded(&one_line(line)));
    safe.chain(tail_lines(tail, style)).collect::<Vec<_>>().join("\n")
}

/// The block alone, as a task's result carries it.
pub(crate) fn block(block: &Block, style: Style) -> String {
    block_lines(block, style).join("\n")
}

/// The tail alone; empty when there is no news.
pub(crate) fn tail(tail: &Tail<'_>, style: Style) -> String {
    tail_lines(tail, style).join("\n")
}

fn block_lines(block: &Block, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(outcome(block, style));
    let room = block.summary.as_ref().map_or(output::ROOM, |summary| summary.end.output_room());
    let output = Output { lines: &block.printed, room, dropped: block.dropped };
    if !output.is_empty() {
        lines.push(output::block(&output, block.entry.id, style));
    }
    let own = std::iter::once(footer(block)).chain(about(block));
    lines.extend(own.map(|line| style.paint(Role::Quiet, &line)));
    lines
}

/// The value, the failure, or the stage of an entry that has neither.
fn outcome(block: &Block, style: Style) -> Option<String> {
    let EntryView { id, status, ran, .. } = block.entry;
    Some(match block.stage() {
        Stage::Queued => style.paint(Role::Busy, &format!("queued · id {id} · {} before it", thousands(before(block)))),
        Stage::Running => style.paint(Role::Busy, &format!("running · id {id} · {} so far", duration(ran))),
        Stage::Cancelling(asked) => {
            let tenths = (asked.as_millis() + 50) / 100;
            let line = format!(
                "cancelling (in native code since {}.{}s) · id {id} · {} so far",
                tenths / 10,
                tenths % 10,
                duration(ran)
            );
            style.paint(Role::Busy, &line)
        }
        // A person knows that nothing came back.
        Stage::Ok(value) if style.is_terminal() && value.text == "()" => return None,
        Stage::Ok(value) => value.text.clone(),
        Stage::Forgotten => {
            format!("{status} · id {id} · its value and output were dropped by forget({id})")
        }
        Stage::Failed(failure) => failure::text(failure, Some(id), style),
        Stage::Cancelled(cause) => {
            let mut line = format!("cancelled · id {id} after {}", duration(ran));
            if let Some(cause) = cause.and_then(reason) {
                write!(line, " · {cause}").expect("writing to a string cannot fail");
            }
            style.paint(Role::Busy, &line)
        }
    })
}

/// The number of entries before one that is queued.
fn before(block: &Block) -> usize {
    block.entry.queued_before.unwrap_or(0)
}

/// The reason why an entry was stopped, when that is more than somebody's wish.
fn reason(cause: &StopCause) -> Option<String> {
    match cause {
        StopCause::Cancelled | StopCause::Exit => None,
        StopCause::Shutdown => Some("the process is shutting down".to_owned()),
        StopCause::NoSuchSpace(name) => Some(format!("no such space: {}", one_line(name))),
        StopCause::Limit(hit) => Some(hit.to_string()),
    }
}

/// `;; id 12 · session bfw · ns s-bfw · ok · 3 ms`.
fn footer(block: &Block) -> String {
    let EntryView { id, status, ran, .. } = block.entry;
    let mut line = format!(";; id {id}");
    let mut push = |text: std::fmt::Arguments<'_>| line.write_fmt(text).expect("writing to a string cannot fail");
    if let Some(session) = &block.session {
        push(format_args!(" · session {}", one_line(session)));
    }
    push(format_args!(" · ns {}", one_line(&block.entry.ns)));
    match block.stage() {
        Stage::Queued => push(format_args!(" · queued, {} before it", thousands(before(block)))),
        Stage::Running => push(format_args!(" · running")),
        Stage::Cancelling(_) => push(format_args!(" · cancelling")),
        Stage::Ok(_) | Stage::Failed(_) | Stage::Forgotten | Stage::Cancelled(_) => {
            push(format_args!(" · {status} · {}", duration(ran)));
        }
    }
    line
}

/// The lines after the footer that are about the entry itself.
fn about(block: &Block) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(summary) = &block.summary {
        about_the_end(block, summary, &mut lines);
    }
    if let Some((from, to)) = &block.moved {
        let (from, to) = (one_line(from), one_line(to));
        lines.push(format!(";; moved from {from} to {to} · evals without ns take place there from now on"));
    }
    lines
}

/// Those of them that an entry has once it has settled.
fn about_the_end(block: &Block, summary: &Summary, lines: &mut Vec<String>) {
    if let Stage::Ok(value) = block.stage()
        && let Some(phrase) = value.elided.phrase()
    {
        lines.push(format!(";; truncated — {phrase} · res({}) is the whole value", block.entry.id));
    }
    lines.extend(summary.notes.iter().take(NOTES).map(|note| format!(";; note: {}", notes::sentence(note))));
    for Conflict { name, other, function } in &summary.conflicts {
        let name = self::name(name);
        lines.push(if *function {
            format!(";; function {name} was also defined by entry {other}")
        } else {
            format!(";; {name} was also set by entry {other}")
        });
    }
    let stopped = matches!(block.stage(), Stage::Failed(_) | Stage::Cancelled(_));
    if stopped && !summary.committed.is_empty() {
        lines.extend(set_before(&summary.committed).map(|line| format!(";; {line}")));
    }
    if !summary.cancelled_children.is_empty() {
        lines.push(format!(";; cancelled children: {}", entries(&summary.cancelled_children)));
    }
    if let Some(name) = &summary.new_space {
        lines.push(format!(";; new space {}", one_line(name)));
    }
}

/// Remarks of one answer.
const NOTES: usize = 3;
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
        lines.push(format!(";; evicted: {}", entries(tail.evicted)));
    }
    if let Some(adopted) = tail.adopted {
        let why = match adopted {
            Adoption::Unknown => {
                format!("this process started {} · earlier ids and variables are gone", one_line(tail.started))
            }
            Adoption::Expired => {
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
fn ranges(ids: &[EntryId]) -> String {
    if ids.len() <= LISTED {
        return listed(ids);
    }
    let mut sorted = ids.to_vec();
    sorted.sort_unstable();
    let mut folded: Vec<(EntryId, EntryId)> = Vec::new();
    for id in sorted {
        match folded.last_mut() {
            Some((_, last)) if id.0 <= last.0 + 1 => *last = id,
            _ => folded.push((id, id)),
        }
    }
    listed(folded.iter().map(|(first, last)| if first == last { first.to_string() } else { format!("{first}-{last}") }))
}

/// Entries by their ids, so that no number can be taken for a count: `entry 3`, `entries 3, 4`.
pub(super) fn entries(ids: &[EntryId]) -> String {
    format!("{} {}", if ids.len() == 1 { "entry" } else { "entries" }, ranges(ids))
}

/// `entry 5 failed (ArrayBounds) · entries 9, 10 ok`: those that ended alike together, in the order of the first of each.
fn news(settled: &[News]) -> String {
    let mut alike: Vec<(String, Vec<EntryId>)> = Vec::new();
    for news in settled {
        let outcome = news.outcome();
        match alike.iter_mut().find(|(other, _)| *other == outcome) {
            Some((_, ids)) => ids.push(news.id),
            None => alike.push((outcome, vec![news.id])),
        }
    }
    let told: Vec<_> = alike.iter().map(|(outcome, ids)| format!("{} {outcome}", entries(ids))).collect();
    told.join(" · ")
}

/// The line of an entry handle: `entry 12 · ok · 3 ms · by bfw`. `by`: its owner, when that is not the reader. `gone`: why the
/// value is not there any more, `evicted` or `forgotten`.
pub(crate) fn entry_line(entry: &EntryView, by: Option<&str>, gone: Option<&str>) -> String {
    let mut line = format!("entry {} · {} · {}", entry.id, entry.status, duration(entry.ran));
    for (label, fact) in [("by ", by), ("", gone)] {
        if let Some(fact) = fact {
            write!(line, " · {label}{}", one_line(fact)).expect("writing to a string cannot fail");
        }
    }
    line
}

/// The line of an entry handle that is the whole value of an eval:
/// `entry 12 · session bfw · ns s-bfw · ok · 3 ms · 12,000 lines printed, 2,953 dropped`. `gone` as in [`entry_line`]; `dropped`: the
/// lines of its output that are gone for ever.
pub(crate) fn entry_facts(entry: &EntryView, gone: Option<&str>, dropped: u64) -> String {
    let mut line = format!("entry {}", entry.id);
    let mut push = |text: std::fmt::Arguments<'_>| line.write_fmt(text).expect("writing to a string cannot fail");
    if let Some(owner) = &entry.by {
        push(format_args!(" · session {}", one_line(owner)));
    }
    push(format_args!(" · ns {} · {} · {}", one_line(&entry.ns), entry.status, duration(entry.ran)));
    if entry.lines > 0 {
        push(format_args!(" · {} printed", count(usize::try_from(entry.lines).unwrap_or(usize::MAX), "line")));
    }
    if dropped > 0 {
        push(format_args!(", {} dropped", thousands(usize::try_from(dropped).unwrap_or(usize::MAX))));
    }
    if let Some(gone) = gone {
        push(format_args!(" · {}", one_line(gone)));
    }
    line
}

/// The line of the names that an entry had set before it stopped; `None` when there are none.
pub(crate) fn set_before(committed: &[String]) -> Option<String> {
    (!committed.is_empty()).then(|| format!("set before it stopped: {}", names(committed)))
}

#[cfg(test)]
mod tests;
