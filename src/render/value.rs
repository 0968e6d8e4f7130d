//! Values as text within a budget. One walk that visits only what it prints.

use crate::words::Failure;
use rhai::{Dynamic, ImmutableString};
use std::sync::Arc;

/// How much of a value is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
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
}

impl Budget {
    /// What an answer shows of a value: 8 KiB, 6 levels, 50 items (cut to 40 and 10), 1,000 characters.
    pub const ANSWER: Self = Self { bytes: 8 << 10, depth: 6, items: 50, head: 40, tail: 10, string: 1_000 };
    /// What an answer shows of a value marked by [`whole`]: 48 KiB, whatever its shape.
    pub const WHOLE: Self =
        Self { bytes: 48 << 10, depth: 16, items: usize::MAX, head: usize::MAX, tail: 0, string: usize::MAX };
    /// One line of a list.
    pub const LINE: Self = Self { bytes: 400, depth: 3, items: 10, head: 8, tail: 2, string: 60 };
}

impl Default for Budget {
    fn default() -> Self {
        Self::ANSWER
    }
}

/// What a text leaves out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Elided {
    /// Nothing.
    #[default]
    None,
    /// So much: items of containers that are not shown (what they hold is not counted), and characters of strings.
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
pub struct Rendered {
    /// The text, without colours and with control characters escaped.
    pub text: String,
    /// What it leaves out.
    pub elided: Elided,
}

/// How a value that the language does not know is shown: the answer of the hook given to [`value`].
#[derive(Clone, Debug)]
pub enum Shown {
    /// As this text, escaped and cut like a string, without quotes: `<atom 42>`, `2024-02-03`.
    Text(String),
    /// A closure with these parameters: `|x, y| closure`.
    Closure(Vec<String>),
    /// A handle to an entry.
    Entry(EntryShown),
    /// A container of this name around another value: `atom(42)`. The value is walked within the same budget.
    Around(String, Dynamic),
}

/// A handle to an entry: inside a container only its line; as the whole value also how it ended.
#[derive(Clone, Debug)]
pub struct EntryShown {
    /// The facts of its line, made by [`super::answer::entry_line`].
    pub line: String,
    /// How it ended.
    pub end: EntryEnd,
}

/// How the entry behind a handle ended.
#[derive(Clone, Debug)]
pub enum EntryEnd {
    /// It has not, or there is nothing to show (cancelled, forgotten, evicted: its line says so).
    Open,
    /// With a value.
    Value(Dynamic),
    /// With a failure.
    Failed(Arc<Failure>),
}

/// The hook: what to show for a closure or a value of a type that is not the language's own; `None` shows its type's name.
pub type Hook<'a> = &'a dyn Fn(&Dynamic) -> Option<Shown>;

/// Renders a value that is the whole result of an eval.
///
/// `stopped` is asked on the way; once it says true the rest is left out and [`Elided::Uncounted`]. A value marked by
/// [`whole`] gets [`Budget::WHOLE`].
pub fn value(value: &Dynamic, budget: &Budget, hook: Hook<'_>, stopped: &dyn Fn() -> bool) -> Rendered {
    let _ = (value, budget, hook, stopped);
    todo!()
}

/// Marks a value to be shown whole (up to [`Budget::WHOLE`]) when it is the result of an eval: what `manual()`, `source()`
/// and `outline()` return. The mark is the value's own tag, so strings stay strings, and what a script makes of them is
/// ordinary.
pub fn whole(value: impl Into<Dynamic>) -> Dynamic {
    let _ = value.into();
    todo!()
}

/// Whether [`whole`] marked this value.
pub fn is_whole(value: &Dynamic) -> bool {
    let _ = value;
    todo!()
}

/// A plain text as the language writes it: quoted and escaped.
pub fn quoted(text: &str) -> ImmutableString {
    let _ = text;
    todo!()
}
