//! The status and the end of an eval, in plain owned text: no type of Rhai is named here.

use super::ids::EntryId;
use super::limits::LimitHit;
use std::fmt;

/// The stages of an entry's life. Only `Queued → Running → one of the others` happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// Admitted, and waiting for a free slot.
    Queued,
    /// At work, waiting or asleep.
    Running,
    /// Ended with a value.
    Ok,
    /// Ended with a failure.
    Failed,
    /// Stopped by somebody.
    Cancelled,
}

impl Status {
    /// True for the three ends.
    pub fn is_settled(self) -> bool {
        matches!(self, Self::Ok | Self::Failed | Self::Cancelled)
    }

    /// The word that answers and scripts use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// The status with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Queued, Self::Running, Self::Ok, Self::Failed, Self::Cancelled].into_iter().find(|s| s.as_str() == word)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The causes for which a running eval is made to stop. The first cause decides; later ones change nothing.
#[derive(Clone, Debug, PartialEq)]
pub enum StopCause {
    /// Somebody cancelled it: a session, the prompt, a closing stream, its parent.
    Cancelled,
    /// The process is shutting down.
    Shutdown,
    /// Its space ended while it ran.
    NoSuchSpace(String),
    /// It ran into a limit.
    Limit(LimitHit),
    /// It ended itself by `exit` with a value that is kept elsewhere.
    Exit,
}

/// One call on the way to an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The function that was called, `<import>` for loading a module.
    pub function: String,
    /// The source the call stands in: `eval 12`, or a file such as `stats.rhai`.
    pub source: String,
    /// Line of the call, from 1; 0 when unknown.
    pub line: usize,
    /// Column of the call in characters, from 1; 0 when unknown.
    pub column: usize,
}

/// The part of a huge thrown value that the message of its [`Failure`] leaves out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// Characters of the line that the message ends in.
    pub characters: usize,
    /// Whole lines after that.
    pub lines: usize,
    /// Elements of lists, maps and blobs.
    pub elements: usize,
}

impl Cut {
    /// True when nothing is left out.
    pub fn is_nothing(self) -> bool {
        self == Self::default()
    }
}

/// The failure of an eval, as data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failure {
    /// The kind, such as `FunctionNotFound`.
    pub kind: String,
    /// One sentence. It ends in `…` when it shows only the beginning of a thrown value.
    pub message: String,
    /// The part of a thrown value that the message leaves out.
    pub cut: Cut,
    /// The thrown value is kept.
    pub thrown: bool,
    /// The entry that failed first, when this failure was handed on by a wait for another entry.
    pub cause: Option<EntryId>,
    /// The source it happened in: `eval 12`, or a file such as `stats.rhai`; empty when unknown.
    pub source: String,
    /// Line in `source`, from 1; 0 when unknown.
    pub line: usize,
    /// Column in characters, from 1; 0 when unknown.
    pub column: usize,
    /// The source line, when the source is still known.
    pub excerpt: Option<String>,
    /// The calls that led there, outermost first.
    pub frames: Vec<Frame>,
    /// Near names, best first.
    pub suggestions: Vec<String>,
    /// A further sentence that says what to do.
    pub hint: Option<String>,
}

impl Failure {
    /// A failure without a place.
    pub fn new(kind: impl Into<String>, message: impl Into<String>) -> Self {
        Self { kind: kind.into(), message: message.into(), ..Self::default() }
    }
}

impl From<&LimitHit> for Failure {
    fn from(hit: &LimitHit) -> Self {
        Self::new(hit.kind(), hit.to_string())
    }
}

/// A remark beside an answer: the eval did what its code says, which may not be what was meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Note {
    /// The value of this function was used, which changes a list or a map in place and gave `()`.
    InPlace(String),
    /// `for (i, x) in list`: the item comes first, and then the index.
    ItemFirst,
    /// `7 // 2`: the rest of the line is a comment.
    SlashesComment,
    /// An entry gave this captured variable a value that rests on what another entry had changed meanwhile.
    Contested(String),
}

impl Note {
    /// What is said of a comment where a division was meant, in a note and in a hint.
    pub(crate) const SLASHES: &str = "// begins a comment in Rhai; whole numbers are divided by /";
}

/// A name that another entry set or defined too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Conflict {
    /// The variable or function.
    pub name: String,
    /// The other entry.
    pub other: EntryId,
    /// It is a function.
    pub function: bool,
}
