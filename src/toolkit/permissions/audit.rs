//! The record of what was reached, and of what was refused. It holds no contents.

use crate::base::{EntryId, PermissionKind, Time, lock};
use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;

/// The number of rows that are kept; the oldest go first.
const KEPT: usize = 4_096;

/// One call.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// The entry that called.
    pub(crate) entry: EntryId,
    /// When it asked.
    pub(crate) at: Time,
    pub(crate) kind: PermissionKind,
    /// What it named.
    pub(crate) what: String,
    pub(crate) allowed: bool,
    /// The bytes that were read or written.
    pub(crate) bytes: u64,
    /// How long it took.
    pub(crate) took: Duration,
}

/// The newest rows.
#[derive(Debug, Default)]
pub(super) struct Audit(Mutex<VecDeque<Row>>);

impl Audit {
    /// Keeps a row, and hands it to who listens to the program's events.
    pub(super) fn keep(&self, row: Row) {
        tracing::info!(
            target: "remontoire::audit",
            entry = row.entry.0,
            kind = row.kind.as_str(),
            what = row.what,
            allowed = row.allowed,
            bytes = row.bytes,
            ms = u64::try_from(row.took.as_millis()).unwrap_or(u64::MAX),
        );
        let mut rows = lock(&self.0);
        if rows.len() >= KEPT {
            rows.pop_front();
        }
        rows.push_back(row);
    }

    /// The rows of an entry, or all; the oldest first.
    pub(super) fn rows(&self, entry: Option<EntryId>) -> Vec<Row> {
        lock(&self.0).iter().filter(|row| entry.is_none_or(|entry| entry == row.entry)).cloned().collect()
    }
}
