//! The part of a settled entry that the registry keeps: texts that any thread may read, and live values that are only touched on
//! threads of evals.

use crate::base::{Conflict, EntryId, Failure, StopCause};
use crate::render::Rendered;
use rhai::{Dynamic, Map};
use std::sync::Arc;

/// A settled entry. Cheap to clone; the two halves are shared.
#[derive(Clone, Debug)]
pub(in crate::host) struct SettledEntry {
    /// The texts that answers show.
    pub(in crate::host) summary: Arc<Summary>,
    /// The values that scripts get.
    pub(in crate::host) values: Arc<Values>,
}

/// A settled entry as answers show it: plain text and ids, safe to drop anywhere.
#[derive(Clone, Debug)]
pub(in crate::host) struct Summary {
    /// How it ended.
    pub(in crate::host) end: EndText,
    /// Variables it committed.
    pub(in crate::host) committed: Vec<String>,
    /// Names that others set as well.
    pub(in crate::host) conflicts: Vec<Conflict>,
    /// Children that were cancelled when it settled.
    pub(in crate::host) cancelled_children: Vec<EntryId>,
    /// The space that came into being for it.
    pub(in crate::host) new_space: Option<String>,
    /// Where its session goes when this ended `ok` inside its call.
    pub(in crate::host) move_to: Option<String>,
}

/// How an entry ended, as text.
#[derive(Clone, Debug)]
pub(in crate::host) enum EndText {
    /// With a value, rendered once when it settled.
    Value(Rendered),
    /// With a failure.
    Failed(Arc<Failure>),
    /// It was stopped.
    Cancelled(StopCause),
}

/// The live values of a settled entry.
#[derive(Debug, Default)]
pub(in crate::host) struct Values {
    /// The value of the last expression; `()` when there is none.
    pub(in crate::host) value: Dynamic,
    /// The value that was thrown.
    pub(in crate::host) thrown: Option<Dynamic>,
    /// The values it overwrote that others had set.
    pub(in crate::host) lost: Map,
}
