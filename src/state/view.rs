//! Answers to questions: owned copies, so that nobody holds the lock while reading them.

use super::{ClientFacts, OutputLog, Owner, State};
use crate::words::{EntryId, Refusal, SessionId, SpaceId, Status, Time};
use std::sync::Arc;
use std::time::Duration;

/// One entry as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryView {
    /// Its id.
    pub id: EntryId,
    /// Whose it is.
    pub owner: Owner,
    /// How people name the owner, also after it ended; `None` for the nil caller.
    pub by: Option<Arc<str>>,
    /// The entry that started it.
    pub parent: Option<EntryId>,
    /// The space it evaluates in.
    pub space: SpaceId,
    /// The name of that space or module.
    pub ns: Arc<str>,
    /// The script.
    pub code: Arc<str>,
    /// Where it is in its life.
    pub status: Status,
    /// When it was admitted.
    pub created: Time,
    /// When it got its first slot.
    pub started: Option<Time>,
    /// When it ended.
    pub settled: Option<Time>,
    /// How long it ran, up to now while it does.
    pub ran: Duration,
    /// Whether it was asked to stop and has not settled.
    pub stopping: bool,
    /// How many queued entries are before it, while it is queued.
    pub queued_before: Option<usize>,
    /// How many lines it ever printed.
    pub lines: u64,
    /// Value and output kept, in bytes.
    pub bytes: usize,
    /// Whether it was freed of its parent.
    pub detached: bool,
    /// Whether its value and output were dropped by `forget`.
    pub forgotten: bool,
    /// Whether its outcome reached its owner, or the owner gave it up.
    pub seen: bool,
    /// Whether its owner was told that it settled.
    pub told: bool,
    /// Whether a client follows it as a task.
    pub followed: bool,
}

/// Which entries to list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EntryFilter {
    /// Only those with this status.
    pub status: Option<Status>,
    /// Only those of this owner.
    pub owner: Option<Owner>,
}

/// A row of the roster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    /// The session.
    pub session: SessionId,
    /// How people name it.
    pub label: Arc<str>,
    /// What it says about itself.
    pub note: Option<Arc<str>>,
    /// What its client says about itself.
    pub client: ClientFacts,
    /// Its network address.
    pub peer: Option<Arc<str>>,
    /// How long it has been silent.
    pub idle: Duration,
    /// Its entries in the registry.
    pub entries: usize,
    /// Those of them that run or are queued.
    pub running: usize,
    /// Where it is.
    pub ns: Arc<str>,
}

/// Numbers about the whole registry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Live sessions.
    pub sessions: usize,
    /// Entries at work, waiting or asleep.
    pub running: usize,
    /// Entries that wait for their first slot.
    pub queued: usize,
    /// Settled, not seen and not followed.
    pub unread: usize,
    /// Settled and followed.
    pub followed: usize,
    /// Settled, seen and not followed: what the capacity counts.
    pub pool: usize,
    /// Shared spaces.
    pub spaces: usize,
    /// The newest id given out, 0 when there is none.
    pub newest: u64,
}

impl<V: Clone> State<V> {
    /// One entry as it stands. `NoEntry` for an id never given out, `Evicted` for one that is gone. Touches nothing.
    pub fn get(&self, id: EntryId, now: Time) -> Result<EntryView, Refusal> {
        let _ = (id, now);
        todo!()
    }

    /// What a settled entry keeps; `None` when it has not settled, or never ran. `Forgotten`, `NoEntry`, `Evicted`. Touches
    /// nothing.
    pub fn value(&self, id: EntryId) -> Result<Option<V>, Refusal> {
        let _ = id;
        todo!()
    }

    /// The output log of an entry. `NoEntry`, `Evicted`. Touches nothing.
    pub fn log(&self, id: EntryId) -> Result<Arc<OutputLog>, Refusal> {
        let _ = id;
        todo!()
    }

    /// The status of an entry, with its refusals: cheaper than [`State::get`].
    pub fn status(&self, id: EntryId) -> Result<Status, Refusal> {
        let _ = id;
        todo!()
    }

    /// The owner's newest entry that ended `ok`.
    pub fn last_ok(&self, owner: Owner) -> Option<EntryId> {
        let _ = owner;
        todo!()
    }

    /// The entries that pass the filter, oldest first. Listing touches them; their order of age among each other stays.
    pub fn entries(&mut self, filter: EntryFilter, now: Time) -> Vec<EntryView> {
        let _ = (filter, now);
        todo!()
    }

    /// The roster of live sessions, oldest first.
    pub fn sessions(&self, now: Time) -> Vec<SessionRow> {
        let _ = now;
        todo!()
    }

    /// Numbers for `/probe` and `limits()`. Touches nothing.
    pub fn counts(&self, now: Time) -> Counts {
        let _ = now;
        todo!()
    }
}
