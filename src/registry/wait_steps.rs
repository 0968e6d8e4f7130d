//! Waits registered and ended.

use super::entries::Entry;
use super::state::Registry;
use super::wait_graph::{Wait, Wants};
use crate::base::{EntryId, Refusal};

impl<V: Clone> Registry<V> {
    /// The entry waits for others without a limit of time. `Deadlock` when that could never end; then nothing changed. Targets
    /// that have settled count as reached. An entry has one wait at a time: a new one replaces the old. Waiting for an atom is
    /// waiting for the entry that owns it.
    pub fn add_wait(&mut self, waiter: EntryId, targets: &[EntryId], wants: Wants) -> Result<(), Refusal> {
        let mut targets = targets.to_vec();
        targets.sort_unstable();
        targets.dedup();
        if !self.entries.get(waiter).is_some_and(Entry::is_live) {
            return Ok(());
        }
        self.wait_graph.add(waiter, Wait { targets, wants }).map_err(|path| Refusal::Deadlock { path })
    }

    /// The entry's wait is over.
    pub fn remove_wait(&mut self, waiter: EntryId) {
        self.wait_graph.remove(waiter);
    }
}
