//! The interface between the prompt and the instance it stands on. The same loop serves the host of this process, an instance
//! reached over the wire, and tests.

use super::interrupts::Interrupts;
use crate::base::{Clock, EntryId, Status, Time, Wake};
use crate::host::{Delivery, Names, OutputPage};
use std::fmt;
use std::time::Duration;

/// An instance, as the prompt's caller sees it. Methods block; texts come ready to be shown.
pub(crate) trait Backend: Send + Sync {
    /// The clock everything asks.
    fn clock(&self) -> &Clock;

    /// The time a prompt waits for a cancellation to bite before it goes on without.
    fn cancel_wait(&self) -> Duration;

    /// The space the next eval runs in, when it is not the caller's own scratch.
    fn place(&self) -> Option<String>;

    /// The names that can be typed here, for completion and hints. Asked once for each line.
    fn names(&self) -> Names;

    /// Admits an eval and lets it run. Returns at once. One of the foreground ends by [`Backend::answer`] or
    /// [`Backend::leave`]; until then its end is no news.
    fn submit(&self, code: &str, mode: Mode) -> Reply<EntryId>;

    /// Waits until the entry has settled, or one of the other reasons of [`Waited`] comes first.
    fn wait(&self, id: EntryId, until: &WaitUntil<'_>) -> Reply<Waited>;

    /// Up to `most` of the lines an entry printed, beginning with line `from` (from 0, over all lines it ever printed; past the
    /// end there are none). Lines are as a terminal may show them: control characters escaped, lines that begin with `;;`
    /// indented.
    fn output(&self, id: EntryId, from: usize, most: usize) -> Reply<OutputPage>;

    /// Asks an entry to stop. Returns at once.
    fn cancel(&self, id: EntryId) -> Reply<()>;

    /// The answer to an eval of the foreground, as it stands now.
    fn answer(&self, id: EntryId, output: Output) -> Reply<Message>;

    /// The prompt waits no longer for an eval of the foreground: its end is news from now on.
    fn leave(&self, id: EntryId);

    /// The answer to a question.
    fn ask(&self, query: &Query) -> Reply<Message>;

    /// Who and what would come to an end if this prompt were left, in words; `None` when it may be left at once.
    fn ended_by_leaving(&self) -> Option<String>;

    /// Takes the news for this prompt: its work that settled and was not shown. `None` when there is none.
    fn take_news(&self) -> Option<Message>;

    /// Is notified whenever there may be news.
    fn news(&self) -> &Wake;
}

/// The result of a question to a backend.
pub(crate) type Reply<T> = Result<T, BackendError>;

/// An error of a backend, in words: a refusal, or a connection that broke.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BackendError(pub String);

impl fmt::Display for BackendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BackendError {}

/// A text for the terminal, and the delivery that is marked once it was written there.
#[derive(Debug)]
pub(crate) struct Message {
    /// The text; a last line break may be missing.
    pub text: String,
    /// The delivery, marked once the text was written.
    pub delivery: Delivery,
}

impl Message {
    /// A text that delivers nothing.
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), delivery: Delivery::none() }
    }
}

/// The two ways to run an eval from the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// The prompt waits for it and shows its answer.
    Foreground,
    /// The prompt goes on at once; the end is news.
    Background,
}

/// The conditions that end a wait before the entry has settled; the first to hold does.
#[derive(Debug)]
pub(crate) struct WaitUntil<'a> {
    /// The entry has printed more than this many lines.
    pub lines: usize,
    /// The clock has reached this time.
    pub deadline: Option<Time>,
    /// The presses of Ctrl-C, which end the wait..
    pub interrupts: &'a Interrupts,
    /// ..when there are more than these.
    pub presses: u64,
}

/// The reason why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waited {
    /// The entry has settled, or is not there any more.
    Settled,
    /// It printed something.
    Printed,
    /// Ctrl-C was pressed.
    Interrupted,
    /// The deadline has come.
    Expired,
}

/// The output of the entry in its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    /// It is shown, head and tail.
    Included,
    /// It is left out: it was shown while it was printed.
    AlreadyShown,
}

/// A question or an order to the backend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Query {
    /// The entries of everybody, or only those that stand so.
    Evals(Option<Status>),
    /// One entry with its value.
    Entry(EntryId),
    /// Output of an entry: head and tail, or `count` lines (as many as fit when `None`) beginning with `from`.
    Output {
        /// The entry.
        id: EntryId,
        /// The first line, from 0.
        from: Option<usize>,
        /// The number of lines.
        count: Option<usize>,
    },
    /// Cancels an entry, waits a little for that to bite, and says what came of it.
    Cancel(EntryId),
    /// The conversations.
    Sessions,
    /// The spaces with their sizes.
    Spaces,
    /// The space the next eval runs in.
    Place,
    /// Moves to a space.
    Move(String),
    /// The documentation of a name.
    Doc(String),
}
