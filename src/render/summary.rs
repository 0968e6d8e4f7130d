//! A settled entry as answers show it: the texts made once when it settled, and ids.

use super::output;
use super::value::Rendered;
use crate::base::{Conflict, EntryId, Failure, Note, StopCause};
use std::sync::Arc;

/// A settled entry as answers show it: plain text and ids, safe to drop anywhere.
#[derive(Clone, Debug)]
pub(crate) struct Summary {
    /// The way it ended.
    pub end: EndText,
    /// Variables it committed; said only when it failed or was cancelled.
    pub committed: Vec<String>,
    /// Names it set that another entry had set since, in order.
    pub conflicts: Vec<Conflict>,
    /// Remarks on what its code did.
    pub notes: Vec<Note>,
    /// Children that were cancelled when it settled.
    pub cancelled_children: Vec<EntryId>,
    /// The space that came into being for it.
    pub new_space: Option<String>,
    /// The space or module its session goes to when this ended `ok` inside its call.
    pub move_to: Option<String>,
}

impl Summary {
    /// An end with nothing beside it.
    pub(crate) fn of(end: EndText) -> Self {
        Self {
            end,
            committed: Vec::new(),
            conflicts: Vec::new(),
            notes: Vec::new(),
            cancelled_children: Vec::new(),
            new_space: None,
            move_to: None,
        }
    }
}

/// The end of an entry, as text.
#[derive(Clone, Debug)]
pub(crate) enum EndText {
    /// A value, rendered once when it settled.
    Value(Rendered),
    /// A failure.
    Failed(Arc<Failure>),
    /// It was stopped.
    Cancelled(StopCause),
}

impl EndText {
    /// Bytes of lines that an answer shows of what the entry printed.
    pub(crate) fn output_room(&self) -> usize {
        match self {
            Self::Value(value) if value.text == "()" => output::BESIDE_NOTHING,
            _ => output::ROOM,
        }
    }
}
