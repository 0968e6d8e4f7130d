//! Slots given back, taken back and handed on.

use super::entries::Phase;
use super::state::Registry;
use crate::base::{EntryId, Time};

impl<V: Clone> Registry<V> {
    /// A running entry is about to wait: it gives its slot back and still shows as running. Returns who got it.
    #[must_use = "these entries hold slots now and must be woken"]
    pub fn give_back(&mut self, id: EntryId, now: Time) -> Vec<EntryId> {
        if self.entries.get(id).is_none_or(|entry| !matches!(entry.phase, Phase::Running { .. })) {
            return Vec::new();
        }
        self.run_queue.leave(id);
        self.grant(now)
    }

    /// The wait is over: asks for a slot. `true`: it has one. `false`: it is in line (before all queued entries) and a later
    /// `granted` will name it. With `force` it gets one in any case, above the limit if need be: for an entry that was stopped
    /// and only runs its last steps.
    pub fn take_back(&mut self, id: EntryId, force: bool) -> bool {
        match self.entries.get(id) {
            Some(entry) if matches!(entry.phase, Phase::Running { .. }) => {
                self.run_queue.resume(id, entry.owner, force)
            }
            // Nobody is there to be kept waiting.
            _ => true,
        }
    }

    /// The number of queued entries before this one; `None` when it is not queued.
    pub fn queued_before(&self, id: EntryId) -> Option<usize> {
        self.run_queue.queued_before(id)
    }

    /// Hands out free slots; queued entries that get one begin to run.
    pub(super) fn grant(&mut self, now: Time) -> Vec<EntryId> {
        let granted = self.run_queue.grant();
        for id in &granted {
            self.begin(*id, now);
        }
        granted
    }

    /// A queued entry runs from now on.
    pub(super) fn begin(&mut self, id: EntryId, now: Time) {
        if let Some(entry) = self.entries.get_mut(id)
            && matches!(entry.phase, Phase::Queued)
        {
            entry.phase = Phase::Running { stop: None };
            entry.started = Some(now);
            entry.log.start(now);
        }
    }
}
