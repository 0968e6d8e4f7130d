//! [`Retained`]: what a running entry will keep beyond its end: entries that can be reached from it, and bytes.

use crate::base::{EntryId, lock};
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The entries and bytes that one entry keeps beyond its end.
#[derive(Debug, Default)]
pub(crate) struct Retained {
    /// Entries that are reachable from what it committed and from atoms it set.
    entries: Mutex<BTreeSet<EntryId>>,
    bytes: AtomicUsize,
}

impl Retained {
    /// Notes entries that can be reached from now on.
    pub(crate) fn keep_entries(&self, entries: impl IntoIterator<Item = EntryId>) {
        lock(&self.entries).extend(entries);
    }

    /// The entries noted so far.
    pub(crate) fn entries(&self) -> BTreeSet<EntryId> {
        lock(&self.entries).clone()
    }

    /// Counts `bytes` more, and gives the sum.
    pub(super) fn add(&self, bytes: usize) -> usize {
        self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes
    }

    /// Counts `bytes` less.
    pub(super) fn subtract(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}
