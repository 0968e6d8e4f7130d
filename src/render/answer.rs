//! Answers: an entry as it stands, its footer, and the tail of news that a response carries.

use super::output::Output;
use super::style::Style;
use super::value::Rendered;
use crate::words::{EntryId, Failure, Status, StopCause};
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
    /// What it printed.
    pub output: Output<'a>,
    /// Names it set that another entry had set since, in order.
    pub conflicts: &'a [Conflict],
    /// Names it published; said only when it failed or was cancelled.
    pub published: &'a [String],
    /// Children that were cancelled when it settled.
    pub cancelled_children: &'a [EntryId],
    /// The space that came into being for it.
    pub new_space: Option<&'a str>,
    /// The module whose functions it redefined, which holds until the file changes or is reloaded.
    pub changed_module: Option<&'a str>,
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
    /// Ended with a value that is no longer kept, by `forget`.
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
        /// The failure of the entry it waited for, when that is why.
        failure: Option<&'a Failure>,
    },
}

/// A name that two entries set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The variable or function.
    pub name: String,
    /// The entry that set it in between.
    pub other: EntryId,
    /// Whether it is a function.
    pub function: bool,
}

/// The news that one response carries, after all blocks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tail<'a> {
    /// The session's own work that settled since it was last told.
    pub settled: &'a [(EntryId, Status)],
    /// The session's entries that were evicted.
    pub evicted: &'a [EntryId],
    /// The adoption notice: the local time of day at which the process started, such as `14:02`.
    pub adopted: Option<&'a str>,
    /// Whether to say that the manual is unread (answers to eval only).
    pub manual_unread: bool,
}

/// The answer about one entry: its block and the tail.
pub fn one(block: &Block<'_>, tail: &Tail<'_>, style: Style) -> String {
    let _ = (block, tail, style);
    todo!()
}

/// The answer about several entries: ids that are not there are named first (the sentences of their refusals), then a block
/// each, then one tail.
pub fn several(refused: &[String], blocks: &[Block<'_>], tail: &Tail<'_>, style: Style) -> String {
    let _ = (refused, blocks, tail, style);
    todo!()
}

/// A plain text (a minted session, a refused argument) and the tail.
pub fn text(text: &str, tail: &Tail<'_>, style: Style) -> String {
    let _ = (text, tail, style);
    todo!()
}

/// The block alone, as a task's result carries it.
pub fn block(block: &Block<'_>, style: Style) -> String {
    let _ = (block, style);
    todo!()
}

/// The tail alone; empty when there is no news.
pub fn tail(tail: &Tail<'_>, style: Style) -> String {
    let _ = (tail, style);
    todo!()
}

/// What one line says of an entry: `entry 12 · ok · 3 ms · by bfw`.
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
    /// Whether the value is gone: `evicted` or `forgotten`.
    pub gone: Option<&'a str>,
}

/// The line of an entry handle.
pub fn entry_line(facts: &EntryFacts<'_>) -> String {
    let _ = facts;
    todo!()
}
