//! Entries: from admission to their end.

use super::pool::Remains;
use super::session::EndedSession;
use super::{OutputLog, Owner, State};
use crate::words::{EntryId, Refusal, SpaceId, Status, Time};
use std::sync::Arc;
use std::time::Duration;

/// What to admit.
#[derive(Clone, Debug)]
pub struct NewEntry {
    /// Whose it is. Ignored for a child: it belongs to its parent's owner.
    pub owner: Owner,
    /// The running entry that started it.
    pub parent: Option<EntryId>,
    /// The space it evaluates in.
    pub space: SpaceId,
    /// The name of that space or module.
    pub ns: Arc<str>,
    /// The script.
    pub code: Arc<str>,
}

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
    /// What was evicted, to be dropped after unlocking. Their owners are told by [`super::Claim::evicted`].
    pub evicted: Remains<V>,
    /// By how many bytes the process is still over `total_bytes`: 0 when all is well.
    pub over: usize,
}

/// An entry that was not let in. The silent sessions ended all the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    /// `QueueFull`, `TooManyLive`, `ShuttingDown`, or `SessionEnded` when the owner is gone.
    pub refusal: Refusal,
    /// The sessions that ended of silence on the way.
    pub expired: Vec<EndedSession>,
}

/// How an entry ended.
#[derive(Clone, Debug)]
pub struct Settlement<V> {
    /// `Ok`, `Failed` or `Cancelled`.
    pub status: Status,
    /// What it keeps.
    pub value: V,
    /// How much that is, in bytes.
    pub bytes: usize,
}

/// What settling an entry led to.
#[derive(Clone, Debug)]
#[must_use = "the entries named here hold slots now and must be woken"]
pub struct Settled<V> {
    /// How long it ran.
    pub ran: Duration,
    /// Entries that got its slot.
    pub granted: Vec<EntryId>,
    /// What nobody keeps, because the entry had settled before: to be dropped after unlocking.
    pub unkept: Option<V>,
}

impl<V: Clone> State<V> {
    /// Lets an entry in: ends silent sessions, counts live ones, inserts, evicts what is over the capacity (oldest touch first),
    /// then delivered entries by size while the process is over `total_bytes`. `elsewhere` is what spaces and running evals
    /// hold, in bytes.
    pub fn admit(&mut self, new: NewEntry, elsewhere: usize, now: Time) -> Result<Admission<V>, Refused> {
        let _ = (new, elsewhere, now);
        todo!()
    }

    /// A running entry has ended.
    pub fn settle(&mut self, id: EntryId, settlement: Settlement<V>, now: Time) -> Settled<V> {
        let _ = (id, settlement, now);
        todo!()
    }

    /// Frees a child of its parent: it is not cancelled with it.
    pub fn detach(&mut self, id: EntryId) -> Result<(), Refusal> {
        let _ = id;
        todo!()
    }

    /// The children an entry started and that have not settled, oldest first; detached ones are left out.
    pub fn live_children(&self, id: EntryId) -> Vec<EntryId> {
        let _ = id;
        todo!()
    }

    /// Somebody waits for the entry from now on, until [`State::unawait`]: while it runs its owner's session does not expire, and
    /// once it has settled it is not evicted.
    pub fn awaited(&mut self, id: EntryId) {
        let _ = id;
        todo!()
    }

    /// Ends one [`State::awaited`].
    pub fn unawait(&mut self, id: EntryId, now: Time) {
        let _ = (id, now);
        todo!()
    }

    /// A script of `reader` read the outcome of `target`, or waits for it. Of its own owner: goes on the reader's list and is
    /// delivered with the reader's outcome. Of another: touched.
    pub fn read_by_script(&mut self, reader: EntryId, target: EntryId) {
        let _ = (reader, target);
        todo!()
    }

    /// Somebody looked (paged its output, read it from another session): touched, nothing else.
    pub fn look(&mut self, id: EntryId) {
        let _ = id;
        todo!()
    }
}
