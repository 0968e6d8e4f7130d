//! Entries let in, awaited, detached and settled.

use super::entries::{Entry, Kept, NewEntry, Phase};
use super::eviction::Remains;
use super::log::OutputLog;
use super::sessions::EndedSession;
use super::state::Registry;
use crate::base::{EntryId, Owner, Refusal, Status, Time};
use std::sync::Arc;

/// An entry that was let in.
#[derive(Debug)]
pub struct Admission<V> {
    /// Its id.
    pub id: EntryId,
    /// `None`: it holds a slot and runs. Otherwise it is queued behind so many.
    pub queued_before: Option<usize>,
    /// Its output log.
    pub log: Arc<OutputLog>,
    /// The sessions that ended of silence on the way.
    pub expired: Vec<EndedSession>,
    /// The evicted, to be dropped after unlocking. Their owners are told by `Claim::evicted`.
    pub evicted: Remains<V>,
}

/// An entry that was not let in. The silent sessions ended all the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    /// `QueueFull`, `TooManyLive`, `ShuttingDown`, or `SessionEnded` when the owner is gone.
    pub refusal: Refusal,
    /// The sessions that ended of silence on the way.
    pub expired: Vec<EndedSession>,
}

/// The end of an entry.
#[derive(Clone, Debug)]
pub struct Settlement<V> {
    /// `Ok`, `Failed` or `Cancelled`.
    pub status: Status,
    /// Its value or failure.
    pub value: V,
    /// The size of that, in bytes.
    pub bytes: usize,
}

/// The consequences of settling an entry.
#[derive(Clone, Debug)]
#[must_use = "the entries named here hold slots now and must be woken"]
pub struct Settled<V> {
    /// Entries that got its slot.
    pub granted: Vec<EntryId>,
    /// The value that nobody keeps, because the entry had settled before: to be dropped after unlocking.
    pub unkept: Option<V>,
}

impl<V: Clone> Registry<V> {
    /// Lets an entry in: ends silent sessions, counts live ones, inserts, evicts what is over the capacity (oldest touch first),
    /// then delivered entries by size, the largest first, while the process is over `total_bytes`. `elsewhere`: the bytes that
    /// spaces and running evals hold.
    pub fn admit(&mut self, new: NewEntry, elsewhere: usize, now: Time) -> Result<Admission<V>, Refused> {
        let expired = self.expire(now);
        self.lapse(now);
        // A child is let in also when its owner's session has ended: then its parent runs on, owed to nobody.
        let from_parent =
            new.parent.and_then(|parent| self.entries.get(parent)).map(|parent| (parent.owner, parent.by.clone()));
        let owner_is_gone = from_parent.is_none() && !self.is_alive(new.owner);
        let (owner, by) = from_parent.unwrap_or_else(|| (new.owner, self.label(new.owner)));
        if let Some(refusal) = self.refusal(owner, owner_is_gone) {
            return Err(Refused { refusal, expired });
        }
        let log = Arc::new(OutputLog::new(self.limits.output_bytes, Arc::clone(&self.output), now));
        let id = self.entries.insert(NewEntry { owner, ..new }, by, Arc::clone(&log), now);
        self.sessions.count_live(owner, 1);
        let queued_before = self.run_queue.request(id, owner);
        if queued_before.is_none() {
            self.begin(id, now);
        }
        let evicted = self.make_room(elsewhere);
        Ok(Admission { id, queued_before, log, expired, evicted })
    }

    /// The reason why nothing of this owner can be let in now, if there is one.
    fn refusal(&self, owner: Owner, owner_is_gone: bool) -> Option<Refusal> {
        if self.closing {
            Some(Refusal::ShuttingDown)
        } else if owner_is_gone {
            Some(Refusal::SessionEnded)
        } else if self.entries.live() >= self.limits.live_entries {
            Some(Refusal::TooManyLive { limit: self.limits.live_entries })
        } else if !self.run_queue.is_free(owner) && self.run_queue.queued() >= self.limits.queued {
            Some(Refusal::QueueFull { running: self.run_queue.held(), queued: self.run_queue.queued() })
        } else {
            None
        }
    }

    /// Settles a running entry.
    pub fn settle(&mut self, id: EntryId, settlement: Settlement<V>, now: Time) -> Settled<V> {
        let Settlement { status, value, bytes } = settlement;
        debug_assert!(status.is_settled(), "an entry settles with an end");
        let Some(entry) = self.entries.get_mut(id) else { return Settled::not(value) };
        let Phase::Running { stop } = &entry.phase else { return Settled::not(value) };
        let quiet = status == Status::Cancelled && stop.is_some_and(|stop| stop.quiet);
        let parent = entry.parent;
        self.hand_over_reads(id, parent);
        self.wait_graph.remove(id);
        self.run_queue.leave(id);
        self.end(id, status, Kept::Value(value, bytes), quiet, now);
        Settled { granted: self.grant(now), unkept: None }
    }

    /// Has the entries that a child read delivered with its parent's outcome, as long as that is to come.
    fn hand_over_reads(&mut self, id: EntryId, parent: Option<EntryId>) {
        let Some(parent) = parent else { return };
        if !self.entries.get(parent).is_some_and(Entry::is_live) {
            return;
        }
        let reads = self.entries.get_mut(id).map(|entry| std::mem::take(&mut entry.reads)).unwrap_or_default();
        if let Some(parent) = self.entries.get_mut(parent) {
            parent.reads.extend(reads);
        }
    }

    /// Ends an entry's life and marks it. `quiet`: its owner knows how it ended.
    pub(super) fn end(&mut self, id: EntryId, status: Status, kept: Kept<V>, quiet: bool, now: Time) {
        let Some(entry) = self.entries.get(id) else { return };
        let (owner, awaited) = (entry.owner, entry.awaited > 0);
        self.entries.end(id, status, now, kept);
        self.mark_settled(id, quiet);
        self.sessions.count_live(owner, -1);
        if awaited {
            self.sessions.unpin(owner, now);
        }
    }

    /// Frees a child of its parent: it is not cancelled with it.
    pub fn detach(&mut self, id: EntryId) -> Result<(), Refusal> {
        self.entries.find(id)?;
        self.change(id, |entry| entry.detached = true);
        Ok(())
    }

    /// The children an entry started and that have not settled, oldest first; detached ones are left out.
    pub fn live_children(&self, id: EntryId) -> Vec<EntryId> {
        self.entries.live_children(id)
    }

    /// Somebody waits for the entry from now on, until [`Registry::unawait`]: while it runs its owner's session does not expire, and
    /// once it has settled it is not evicted. Waits are counted.
    pub fn awaited(&mut self, id: EntryId) {
        let Some(entry) = self.entries.get(id) else { return };
        if entry.is_live() && entry.awaited == 0 {
            self.sessions.pin(entry.owner);
        }
        self.change(id, |entry| entry.awaited += 1);
    }

    /// Ends one [`Registry::awaited`].
    pub fn unawait(&mut self, id: EntryId, now: Time) {
        let Some(entry) = self.entries.get(id) else { return };
        if entry.is_live() && entry.awaited == 1 {
            self.sessions.unpin(entry.owner, now);
        }
        self.change(id, |entry| entry.awaited = entry.awaited.saturating_sub(1));
    }
}

impl<V> Settled<V> {
    /// The entry had settled before, or was never there: nothing happened.
    fn not(value: V) -> Self {
        Self { granted: Vec::new(), unkept: Some(value) }
    }
}
