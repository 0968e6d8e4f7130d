//! The types of rendering a value: the budget, the hook for values of the host, the text that comes back, and the mark of values
//! that are shown whole.

use crate::base::Failure;
use crate::base::limits::thousands;
use crate::render::plain;
use rhai::Dynamic;
use std::fmt;
use std::sync::Arc;

/// Bounds on the text of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Budget {
    /// Length of the text, in bytes.
    pub bytes: usize,
    /// Levels of containers.
    pub depth: usize,
    /// Items of one container before it is cut.
    pub items: usize,
    /// Items of the head of a cut container.
    pub head: usize,
    /// Items of the tail of a cut container.
    pub tail: usize,
    /// Characters of a string inside a container.
    pub string: usize,
    /// Characters of a string in a table that is long.
    pub cell: usize,
}

impl Budget {
    /// The bounds of a value in an answer: 8 KiB, 6 levels, 50 items (cut to 40 and 10), 1,000 characters, 80 in
    /// a table.
    pub(crate) const ANSWER: Self =
        Self { bytes: 8 << 10, depth: 6, items: 50, head: 40, tail: 10, string: 1_000, cell: 80 };
    /// The bounds of a value marked by [`whole`]: 48 KiB, whatever its shape.
    pub(crate) const WHOLE: Self = Self {
        bytes: 48 << 10,
        depth: 16,
        items: usize::MAX,
        head: usize::MAX,
        tail: 0,
        string: usize::MAX,
        cell: usize::MAX,
    };
}

impl Default for Budget {
    fn default() -> Self {
        Self::ANSWER
    }
}

/// The part of a value that its text leaves out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Elided {
    /// Nothing.
    #[default]
    None,
    /// Counted parts: items of containers that are not shown (what they hold is not counted), and characters of strings.
    Counted {
        /// Items of arrays and maps, bytes of blobs.
        items: usize,
        /// Characters of strings.
        characters: usize,
    },
    /// Something that was not counted, since counting would mean visiting it.
    Uncounted,
}

/// A value as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rendered {
    /// The text, without colours and with control characters escaped.
    pub text: String,
    /// The part it leaves out.
    pub elided: Elided,
}

/// The look of a value that is none of Rhai's own: the answer of the hook given to [`value`](super::value()).
#[derive(Clone, Debug)]
pub(crate) enum Shown {
    /// As this text, escaped and cut like a string, without quotes: `<atom 42>`, `2024-02-03`.
    Text(String),
    /// A closure with these parameters: `|x, y| closure`.
    Closure(Vec<String>),
    /// A handle to an entry.
    Entry(EntryShown),
    /// A container of this name around another value: `atom(42)`. The value is walked within the same budget.
    Around(String, Dynamic),
}

/// A handle to an entry: inside a container only its line; as the whole value also its end.
#[derive(Clone, Debug)]
pub(crate) struct EntryShown {
    /// The facts of its line inside a container, made by [`entry_line`](crate::render::answer::entry_line).
    pub line: String,
    /// The facts of its line as the whole value, made by [`entry_facts`](crate::render::answer::entry_facts).
    pub facts: String,
    /// Its end.
    pub end: EntryEnd,
}

/// The end of the entry behind a handle.
#[derive(Clone, Debug)]
pub(crate) enum EntryEnd {
    /// It has not, or there is nothing to show (forgotten, evicted: its line says so).
    Open,
    /// With a value.
    Value(Dynamic),
    /// With a failure, or without one by being cancelled.
    Stopped {
        /// The line of what it had set by then, made by [`set_before`](crate::render::answer::set_before).
        set: Option<String>,
        /// The failure.
        failure: Option<Arc<Failure>>,
    },
    /// To be asked only when it is shown, which it is not inside a container: for hooks that take note of what was read.
    Ask(Ask),
}

/// A question that is put at most once.
#[derive(Clone)]
pub(crate) struct Ask(Arc<dyn Fn() -> EntryEnd>);

impl Ask {
    /// A question with this answer. An answer that is a question again counts as [`EntryEnd::Open`].
    pub(crate) fn new(answer: impl Fn() -> EntryEnd + 'static) -> Self {
        Self(Arc::new(answer))
    }

    pub(super) fn put(&self) -> EntryEnd {
        (self.0)()
    }
}

impl fmt::Debug for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ask")
    }
}

/// The hook that is asked for the look of closures and of values of types that are not Rhai's own; `None` shows the name of
/// the type.
pub(crate) type Hook<'a> = &'a dyn Fn(&Dynamic) -> Option<Shown>;

/// The tag of values that are shown whole. Any number that nobody else uses will do; Rhai itself uses none.
const WHOLE_TAG: i32 = 0x5748_4f4c;

/// Marks a value to be shown whole (up to [`Budget::WHOLE`]) when it is the result of an eval: what `manual()`, `source()`
/// and `outline()` return. The mark is the value's own tag, so strings stay strings. What a script makes of the value is
/// ordinary, and so is a string that went through a variable (Rhai stores another copy of its own).
pub(crate) fn whole(value: impl Into<Dynamic>) -> Dynamic {
    let mut value = value.into();
    value.set_tag(WHOLE_TAG);
    value
}

/// True for a value that [`whole`] marked.
pub(crate) fn is_whole(value: &Dynamic) -> bool {
    value.tag() == WHOLE_TAG
}

impl Elided {
    /// The words of the line `;; truncated`; `None` when nothing is left out.
    pub(crate) fn phrase(self) -> Option<String> {
        match self {
            Self::None => None,
            Self::Counted { items, characters: 0 } => Some(format!("{} elided", thousands(items))),
            Self::Counted { items: 0, characters } => Some(format!("{} elided", plain::count(characters, "character"))),
            Self::Counted { items, characters } => {
                Some(format!("{} and {} elided", plain::count(items, "item"), plain::count(characters, "character")))
            }
            Self::Uncounted => Some("uncounted elision".to_owned()),
        }
    }

    /// Both elisions together.
    pub(crate) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::None, one) | (one, Self::None) => one,
            (Self::Uncounted, _) | (_, Self::Uncounted) => Self::Uncounted,
            (Self::Counted { items: a, characters: b }, Self::Counted { items: c, characters: d }) => {
                Self::Counted { items: a.saturating_add(c), characters: b.saturating_add(d) }
            }
        }
    }
}
