//! Running slots: who holds one, who waits for one, who is next.

use super::State;
use crate::words::{EntryId, Time};

impl<V: Clone> State<V> {
    /// A running entry is about to wait: it gives its slot back and still shows as running. Returns who got it.
    #[must_use = "these entries hold slots now and must be woken"]
    pub fn give_back(&mut self, id: EntryId, now: Time) -> Vec<EntryId> {
        let _ = (id, now);
        todo!()
    }

    /// The wait is over: asks for a slot. `true`: it has one. `false`: it is in line (before all queued entries) and a later
    /// `granted` will name it. With `force` it gets one in any case, above the limit if need be: for an entry that was stopped
    /// and only runs its last steps.
    pub fn take_back(&mut self, id: EntryId, force: bool) -> bool {
        let _ = (id, force);
        todo!()
    }

    /// Whether the entry holds a slot.
    pub fn holds_slot(&self, id: EntryId) -> bool {
        let _ = id;
        todo!()
    }

    /// How many queued entries are before this one; `None` when it is not queued.
    pub fn queued_before(&self, id: EntryId) -> Option<usize> {
        let _ = id;
        todo!()
    }
}
