//! Copies that leave the lock: entries, sessions and counts as they stand, so that nobody holds it while reading them.

use super::entries::{Entry, Kept, Phase};
use super::log::OutputLog;
use super::sessions::Session;
use super::state::Registry;
use crate::base::{ClientInfo, EntryId, Owner, Refusal, SessionId, SpaceId, Status, Time};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// One entry as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryView {
    /// Its id.
    pub id: EntryId,
    /// Whose it is.
    pub owner: Owner,
    /// The name people know the owner by, also after it ended; `None` for the nil caller.
    pub by: Option<Arc<str>>,
    /// The entry that started it.
    pub parent: Option<EntryId>,
    /// The space it evaluates in.
    pub space: SpaceId,
    /// The name of that space or module.
    pub ns: Arc<str>,
    /// The script.
    pub code: Arc<str>,
    /// The stage of its life.
    pub status: Status,
    /// The time it was admitted.
    pub created: Time,
    /// The time it got its first slot.
    pub started: Option<Time>,
    /// The time it ended.
    pub settled: Option<Time>,
    /// The time it ran, up to now while it does.
    pub ran: Duration,
    /// It was asked to stop and has not settled.
    pub stopping: bool,
    /// The number of queued entries before it, while it is queued.
    pub queued_before: Option<usize>,
    /// The number of lines it ever printed.
    pub lines: u64,
    /// Value and output kept, in bytes.
    pub bytes: usize,
    /// It was freed of its parent.
    pub detached: bool,
    /// Its value and output were dropped by `forget`.
    pub forgotten: bool,
    /// Its outcome reached its owner, or the owner gave it up.
    pub seen: bool,
    /// Its owner was told that it settled.
    pub told: bool,
    /// A client follows it as a task.
    pub followed: bool,
}

/// The entries to be listed.
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
    /// The session; `None` for a row that came over the wire.
    pub session: Option<SessionId>,
    /// The name people know it by.
    pub label: Arc<str>,
    /// Its note on the roster.
    pub note: Option<Arc<str>>,
    /// Its client, as it introduced itself.
    pub client: ClientInfo,
    /// Its network address.
    pub peer: Option<Arc<str>>,
    /// The time it has been silent.
    pub idle: Duration,
    /// Its entries in the registry.
    pub entries: usize,
    /// Those of them that run or are queued.
    pub running: usize,
    /// The name of the space or module it is in.
    pub ns: Arc<str>,
}

/// The registry in numbers.
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
    /// Settled, seen and not followed: those the capacity counts.
    pub pool: usize,
    /// Shared spaces.
    pub spaces: usize,
    /// The newest id given out, 0 when there is none.
    pub newest: u64,
}

impl<V: Clone> Registry<V> {
    /// One entry as it stands. `NoEntry` for an id never given out, `Evicted` for one that is gone. Touches nothing.
    pub fn get(&self, id: EntryId, now: Time) -> Result<EntryView, Refusal> {
        self.entries.find(id).map(|entry| self.view(id, entry, now))
    }

    /// The value or failure a settled entry keeps; `None` when it has not settled, or never ran. `Forgotten`, `NoEntry`, `Evicted`. Touches
    /// nothing.
    pub fn value(&self, id: EntryId) -> Result<Option<V>, Refusal> {
        match &self.entries.find(id)?.phase {
            Phase::Settled { kept: Kept::Value(value, _), .. } => Ok(Some(value.clone())),
            Phase::Settled { kept: Kept::Forgotten, .. } => Err(Refusal::Forgotten(id)),
            Phase::Settled { kept: Kept::Nothing, .. } | Phase::Queued | Phase::Running { .. } => Ok(None),
        }
    }

    /// The output log of an entry. `NoEntry`, `Evicted`. Touches nothing.
    pub fn log(&self, id: EntryId) -> Result<Arc<OutputLog>, Refusal> {
        self.entries.find(id).map(|entry| Arc::clone(&entry.log))
    }

    /// The status of an entry, with its refusals: cheaper than [`Registry::get`].
    pub fn status(&self, id: EntryId) -> Result<Status, Refusal> {
        self.entries.find(id).map(Entry::status)
    }

    /// The owner's newest entry that ended `ok`.
    pub fn last_ok(&self, owner: Owner) -> Option<EntryId> {
        let is_meant = |entry: &Entry<V>| entry.owner == owner && entry.status() == Status::Ok;
        self.entries.iter().rev().find(|(_, entry)| is_meant(entry)).map(|(id, _)| id)
    }

    /// The entries that pass the filter, oldest first. Listing touches them; their order of age among each other stays.
    pub fn entries(&mut self, filter: EntryFilter, now: Time) -> Vec<EntryView> {
        let passes = |entry: &Entry<V>| {
            filter.status.is_none_or(|status| entry.status() == status)
                && filter.owner.is_none_or(|owner| entry.owner == owner)
        };
        let listed = self.entries.iter().filter(|(_, entry)| passes(entry));
        let (rows, mut ages): (Vec<_>, Vec<_>) =
            listed.map(|(id, entry)| (self.view(id, entry, now), (entry.touched, id))).unzip();
        ages.sort_unstable();
        for (_, id) in ages {
            self.look(id);
        }
        rows
    }

    /// The roster of live sessions, oldest first.
    pub fn sessions(&self, now: Time) -> Vec<SessionRow> {
        let mut counts: HashMap<Owner, (usize, usize)> = HashMap::new();
        for (_, entry) in self.entries.iter() {
            let (entries, running) = counts.entry(entry.owner).or_default();
            *entries += 1;
            *running += usize::from(entry.is_live());
        }
        let row = |(id, session): (SessionId, &Session)| {
            let (entries, running) = counts.get(&Owner::Session(id)).copied().unwrap_or_default();
            SessionRow {
                session: Some(id),
                label: Arc::clone(&session.label),
                note: session.note.clone(),
                client: session.client.clone(),
                peer: session.peer.clone(),
                idle: now.since(session.heard),
                entries,
                running,
                ns: Arc::clone(&session.current),
            }
        };
        self.sessions.iter().map(row).collect()
    }

    /// The number of entries that hold a slot: at work, neither asleep nor waiting for others. Touches nothing.
    pub fn working(&self) -> usize {
        self.run_queue.held()
    }

    /// Numbers for `/probe` and `limits()`. Touches nothing.
    pub fn counts(&self, now: Time) -> Counts {
        let mut counts = Counts {
            sessions: self.sessions.len(),
            queued: self.run_queue.queued(),
            running: self.entries.live() - self.run_queue.queued(),
            spaces: self.space_names.shared(),
            newest: self.entries.newest(),
            ..Counts::default()
        };
        for (_, entry) in self.entries.iter().filter(|(_, entry)| !entry.is_live()) {
            if entry.is_followed_at(now) {
                counts.followed += 1;
            } else if entry.seen {
                counts.pool += 1;
            } else {
                counts.unread += 1;
            }
        }
        counts
    }

    /// One entry as it stands.
    fn view(&self, id: EntryId, entry: &Entry<V>, now: Time) -> EntryView {
        let until = entry.settled_at().unwrap_or(now);
        EntryView {
            id,
            owner: entry.owner,
            by: entry.by.clone(),
            parent: entry.parent,
            space: entry.space,
            ns: Arc::clone(&entry.ns),
            code: Arc::clone(&entry.code),
            status: entry.status(),
            created: entry.created,
            started: entry.started,
            settled: entry.settled_at(),
            ran: entry.started.map_or(Duration::ZERO, |started| until.since(started)),
            stopping: entry.is_stopping(),
            queued_before: matches!(entry.phase, Phase::Queued).then(|| self.queued_before(id)).flatten(),
            lines: entry.log.total_lines(),
            bytes: entry.bytes(),
            detached: entry.detached,
            forgotten: entry.is_forgotten(),
            seen: entry.seen,
            told: entry.told,
            followed: entry.is_followed_at(now),
        }
    }
}
