//! The running slots and the lines before them, as data: holders, those that wait for one, and the order they get one in.

use crate::base::{EntryId, Limits, Owner};
use std::collections::{HashMap, VecDeque};

/// The slots and the two lines before them. Entries that waited and go on come before those that have not begun; in each
/// line an entry whose owner is at its cap is passed over.
pub(super) struct RunQueue {
    limit: usize,
    limit_of_owner: usize,
    holders: HashMap<EntryId, Owner>,
    held_by: HashMap<Owner, usize>,
    resuming: VecDeque<(EntryId, Owner)>,
    queued: VecDeque<(EntryId, Owner)>,
}

impl RunQueue {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            limit: limits.running.max(1),
            limit_of_owner: limits.slots_per_session(),
            holders: HashMap::new(),
            held_by: HashMap::new(),
            resuming: VecDeque::new(),
            queued: VecDeque::new(),
        }
    }

    /// An entry of this owner could have a slot now. Nobody who could is ever left in line, so nobody is overtaken.
    pub(super) fn is_free(&self, owner: Owner) -> bool {
        self.holders.len() < self.limit && self.held_by.get(&owner).copied().unwrap_or(0) < self.limit_of_owner
    }

    /// The number of slots held.
    pub(super) fn held(&self) -> usize {
        self.holders.len()
    }

    /// The number of entries in the queue.
    pub(super) fn queued(&self) -> usize {
        self.queued.len()
    }

    /// A slot for a new entry: `None`, or how many are before it in the queue.
    pub(super) fn request(&mut self, id: EntryId, owner: Owner) -> Option<usize> {
        if self.is_free(owner) {
            self.hold(id, owner);
            return None;
        }
        self.queued.push_back((id, owner));
        Some(self.queued.len() - 1)
    }

    /// A slot for an entry that goes on: true when it has one now.
    pub(super) fn resume(&mut self, id: EntryId, owner: Owner, force: bool) -> bool {
        if self.holders.contains_key(&id) {
            return true;
        }
        let waits = self.resuming.iter().any(|(waiting, _)| *waiting == id);
        if force || self.is_free(owner) {
            self.resuming.retain(|(waiting, _)| *waiting != id);
            self.hold(id, owner);
            return true;
        }
        if !waits {
            self.resuming.push_back((id, owner));
        }
        false
    }

    /// Takes an entry out of everything.
    pub(super) fn leave(&mut self, id: EntryId) {
        if let Some(owner) = self.holders.remove(&id) {
            if let Some(held) = self.held_by.get_mut(&owner) {
                *held -= 1;
                if *held == 0 {
                    self.held_by.remove(&owner);
                }
            }
        } else {
            self.resuming.retain(|(waiting, _)| *waiting != id);
            self.queued.retain(|(waiting, _)| *waiting != id);
        }
    }

    /// Hands out what is free, in order.
    pub(super) fn grant(&mut self) -> Vec<EntryId> {
        let mut granted = Vec::new();
        let line = std::mem::take(&mut self.resuming);
        self.resuming = self.serve(line, &mut granted);
        let line = std::mem::take(&mut self.queued);
        self.queued = self.serve(line, &mut granted);
        granted
    }

    /// Gives slots to a line; returns who is left in it.
    fn serve(
        &mut self,
        mut line: VecDeque<(EntryId, Owner)>,
        granted: &mut Vec<EntryId>,
    ) -> VecDeque<(EntryId, Owner)> {
        let mut passed_over = Vec::new();
        while self.holders.len() < self.limit
            && let Some((id, owner)) = line.pop_front()
        {
            if self.is_free(owner) {
                self.hold(id, owner);
                granted.push(id);
            } else {
                passed_over.push((id, owner));
            }
        }
        // Back to the front: the rest of a long line is not touched.
        for waiting in passed_over.into_iter().rev() {
            line.push_front(waiting);
        }
        line
    }

    fn hold(&mut self, id: EntryId, owner: Owner) {
        self.holders.insert(id, owner);
        *self.held_by.entry(owner).or_default() += 1;
    }

    /// The number of queued entries before this one; `None` when it is not queued.
    pub(super) fn queued_before(&self, id: EntryId) -> Option<usize> {
        self.queued.iter().position(|(queued, _)| *queued == id)
    }

    /// The queued entries of an owner, first come first.
    pub(super) fn queued_of(&self, owner: Owner) -> Vec<EntryId> {
        self.queued.iter().filter(|(_, other)| *other == owner).map(|(id, _)| *id).collect()
    }

    /// Compares the counts with the holders, and the queue with the entries that are queued.
    #[cfg(test)]
    #[track_caller]
    pub(super) fn check(&self, queued: &std::collections::BTreeSet<EntryId>) {
        let mut held_by: HashMap<Owner, usize> = HashMap::new();
        for owner in self.holders.values() {
            *held_by.entry(*owner).or_default() += 1;
        }
        assert_eq!(self.held_by, held_by, "slots by owner");
        assert_eq!(self.queued.iter().map(|(id, _)| *id).collect::<std::collections::BTreeSet<_>>(), *queued, "queue");
        let mut in_line = self.resuming.iter().chain(&self.queued);
        assert!(
            in_line.all(|(id, owner)| !self.holders.contains_key(id) && !self.is_free(*owner)),
            "nobody waits in vain"
        );
    }
}
