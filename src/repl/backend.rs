//! What a prompt needs of the instance it stands on. The same loop serves the host of this process, an instance reached over
//! the wire, and tests.

use super::interrupts::Interrupts;
use crate::base::{Clock, EntryId, Status, Time, Wake};
use crate::host::Delivery;
pub use crate::host::{ModuleNames, Names, OutputPage as Page, Signature};
use std::fmt;
use std::time::Duration;

/// An instance, as the prompt's caller sees it. Methods block; texts come ready to be shown.
pub trait Backend: Send + Sync {
    /// The clock everything asks.
    fn clock(&self) -> &Clock;

    /// How long a prompt waits for a cancellation to bite before it goes on without.
    fn cancel_wait(&self) -> Duration;

    /// The space the next eval runs in, when it is not the caller's own scratch.
    fn place(&self) -> Option<String>;

    /// What can be typed here, for completion and hints. Asked once for each line.
    fn names(&self) -> Names;

    /// Admits an eval and lets it run. Returns at once. One of the foreground ends by [`Backend::answer`] or
    /// [`Backend::leave`]; until then its end is no news.
    fn submit(&self, code: &str, mode: Mode) -> Reply<EntryId>;

    /// Waits until the entry has settled, or one of the other reasons of [`Waited`] comes first.
    fn wait(&self, id: EntryId, unless: &Unless<'_>) -> Reply<Waited>;

    /// Up to `most` of the lines an entry printed, beginning with line `from` (from 0, over all lines it ever printed; past the
    /// end there are none). Lines are as a terminal may show them: control characters escaped, lines that begin with `;;`
    /// indented.
    fn output(&self, id: EntryId, from: usize, most: usize) -> Reply<Page>;

    /// Asks an entry to stop. Returns at once.
    fn cancel(&self, id: EntryId) -> Reply<()>;

    /// The answer to an eval of the foreground, as it stands now.
    fn answer(&self, id: EntryId, output: Output) -> Reply<Said>;

    /// The prompt waits no longer for an eval of the foreground: its end is news from now on.
    fn leave(&self, id: EntryId);

    /// The answer to a question.
    fn ask(&self, query: &Query) -> Reply<Said>;

    /// Takes the news for this prompt: its work that settled and was not shown. `None` when there is none.
    fn take_news(&self) -> Option<Said>;

    /// Is notified whenever there may be news.
    fn news(&self) -> &Wake;
}

/// What a backend answers: something, or why not.
pub type Reply<T> = Result<T, Trouble>;

/// Why a backend could not do what it was asked for, in words: a refusal, or a connection that broke.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble(pub String);

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Trouble {}

/// A text for the terminal, and what it delivers once it was written there.
#[derive(Debug)]
pub struct Said {
    /// The text; a last line break may be missing.
    pub text: String,
    /// What is marked once the text was written.
    pub delivery: Delivery,
}

impl Said {
    /// A text that delivers nothing.
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), delivery: Delivery::none() }
    }
}

/// Whether the prompt waits for an eval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It does, and answers it.
    Foreground,
    /// It goes on at once; the end is news.
    Background,
}

/// What ends a wait beside the end of the entry.
#[derive(Debug)]
pub struct Unless<'a> {
    /// The entry has printed more than this many lines.
    pub lines: usize,
    /// This moment has come.
    pub until: Option<Time>,
    /// Ctrl-C was pressed..
    pub interrupts: &'a Interrupts,
    /// ..more often than this.
    pub presses: u64,
}

/// Why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited {
    /// The entry has settled, or is not there any more.
    Settled,
    /// It printed something.
    Printed,
    /// Ctrl-C was pressed.
    Interrupted,
    /// The moment has come.
    Expired,
}

/// Whether an answer shows the output of its entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// It does, head and tail.
    Included,
    /// It does not: it was shown while it was printed.
    AlreadyShown,
}

/// What a command asks the backend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Query {
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
        /// How many lines.
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
