//! The part of a settled entry that the registry keeps: texts that any thread may read, and live values that are only touched on
//! threads of evals.

use crate::render::Summary;
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
