//! Asking entries to stop, one by one or all at once, and giving up what is owed.

use super::{Owner, State};
use crate::words::{EntryId, Refusal, Status, Time};

/// Who asks an entry to stop: decides whether its end is news.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelBy {
    /// A session or the nil caller. Of its owner: seen and told when it bites. Of another: owed as news.
    Caller(Owner),
    /// The request it belonged to was cancelled or its stream closed: owed as news.
    Request,
    /// Its parent settles or is cancelled: seen and told when it bites.
    Parent,
    /// A limit: owed as news.
    Limit,
    /// The process is shutting down: owed as news.
    Shutdown,
}

/// What became of asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelState {
    /// It was queued and is cancelled now.
    Dequeued,
    /// It was asked to stop.
    Asked,
    /// It had been asked before.
    AlreadyAsked,
    /// It had settled before.
    Settled(Status),
}

/// What asking led to. Children that are not detached are asked along.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "the entries named here must be stopped"]
pub struct Asked {
    /// What became of the entry itself.
    pub state: CancelState,
    /// Entries whose threads must be stopped: the entry and its descendants.
    pub stop: Vec<EntryId>,
    /// Entries that were queued and are cancelled now.
    pub dequeued: Vec<EntryId>,
}

/// What `release` did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use = "the entries named here must be stopped"]
pub struct Released {
    /// Settled entries that are no longer owed, by id.
    pub released: Vec<EntryId>,
    /// Entries that were asked to stop or taken from the queue, by id.
    pub cancelled: Vec<EntryId>,
    /// Those of `cancelled` (and of their children) whose threads must be stopped.
    pub stop: Vec<EntryId>,
    /// Those that were queued and are cancelled now.
    pub dequeued: Vec<EntryId>,
}

/// What remains to be stopped when the process ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use = "the entries named here must be stopped"]
pub struct ShutDown {
    /// Entries whose threads must be stopped.
    pub stop: Vec<EntryId>,
    /// Entries that were queued and are cancelled now.
    pub dequeued: Vec<EntryId>,
}

impl<V: Clone> State<V> {
    /// Asks an entry to stop. `NoEntry` or `Evicted` when there is none.
    pub fn request_cancel(&mut self, id: EntryId, by: CancelBy, now: Time) -> Result<Asked, Refusal> {
        let _ = (id, by, now);
        todo!()
    }

    /// Whether the entry was asked to stop and has not settled.
    pub fn is_stopping(&self, id: EntryId) -> bool {
        let _ = id;
        todo!()
    }

    /// Marks the owner's settled unread entries seen and told. With `cancel` its others are asked to stop, except the entry that
    /// speaks, its ancestors and its descendants.
    pub fn release(&mut self, owner: Owner, speaking: Option<EntryId>, cancel: bool, now: Time) -> Released {
        let _ = (owner, speaking, cancel, now);
        todo!()
    }

    /// Lets nobody in any more, and asks everything to stop.
    pub fn shut_down(&mut self, now: Time) -> ShutDown {
        let _ = now;
        todo!()
    }
}
