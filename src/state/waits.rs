//! The waits-for graph: finds waits that could never end before they begin.

use super::State;
use crate::words::{EntryId, Refusal};

/// Whether a wait needs all of its targets or one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wants {
    /// Every target.
    All,
    /// One target.
    Any,
}

impl<V: Clone> State<V> {
    /// The entry waits for others without a limit of time. `Deadlock` when that could never end; then nothing changed. Targets
    /// that have settled count as reached. An entry has one wait at a time: a new one replaces the old. Waiting for an atom is
    /// waiting for the entry that owns it.
    pub fn add_wait(&mut self, waiter: EntryId, targets: &[EntryId], wants: Wants) -> Result<(), Refusal> {
        let _ = (waiter, targets, wants);
        todo!()
    }

    /// The entry's wait is over.
    pub fn remove_wait(&mut self, waiter: EntryId) {
        let _ = waiter;
        todo!()
    }
}
