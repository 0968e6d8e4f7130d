//! What the registry keeps of a settled entry: texts that any thread may read, and live values that are only touched on threads
//! of evals.

use crate::base::{Conflict, EntryId, Failure, StopCause};
use crate::render::Rendered;
use rhai::{Dynamic, Map};
use std::sync::Arc;

/// What is kept. Cheap to clone; the two halves are shared.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    /// What answers show.
    pub(super) face: Arc<Face>,
    /// What scripts get.
    pub(super) values: Arc<Values>,
}

/// What answers show of a settled entry: plain text and ids, safe to drop anywhere.
#[derive(Clone, Debug)]
pub(super) struct Face {
    /// How it ended.
    pub(super) end: End,
    /// Variables it published.
    pub(super) published: Vec<String>,
    /// Names that others set as well.
    pub(super) conflicts: Vec<Conflict>,
    /// Children that were cancelled when it settled.
    pub(super) cancelled_children: Vec<EntryId>,
    /// The space that came into being for it.
    pub(super) new_space: Option<String>,
    /// Where its session goes when this ended `ok` inside its call.
    pub(super) move_to: Option<String>,
}

/// How an entry ended, as text.
#[derive(Clone, Debug)]
pub(super) enum End {
    /// With a value, rendered once when it settled.
    Value(Rendered),
    /// With a failure.
    Failed(Arc<Failure>),
    /// It was stopped.
    Cancelled(StopCause),
}

/// The live values of a settled entry.
#[derive(Debug, Default)]
pub(super) struct Values {
    /// The value of the last expression; `()` when there is none.
    pub(super) value: Dynamic,
    /// What was thrown.
    pub(super) thrown: Option<Dynamic>,
    /// The values it overwrote that others had set.
    pub(super) lost: Map,
}
