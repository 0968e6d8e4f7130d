//! Sessions as data: their names, what is known of each, and the order in which they were last heard.

use crate::base::{ClientInfo, EntryId, Handle, HeaderKey, Owner, SessionId, SpaceId, Time};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

/// A header session that was minted, found or adopted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// The session.
    pub session: SessionId,
    /// The id was unknown and has just been adopted.
    pub adopted: bool,
    /// The idle session that had to end to make room.
    pub ended: Option<EndedSession>,
}

/// A session minted with a handle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Created {
    /// The session.
    pub session: SessionId,
    /// Its handle.
    pub handle: Handle,
    /// The idle session that had to end to make room.
    pub ended: Option<EndedSession>,
}

/// A session that is no more. Its scratch is to be dropped, after unlocking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedSession {
    /// The session.
    pub session: SessionId,
    /// The name people knew it by.
    pub label: Arc<str>,
    /// The scratch space that was retired with it.
    pub scratch: SpaceId,
    /// The name that space had.
    pub scratch_name: Arc<str>,
    /// Its queued entries: cancelled now.
    pub dequeued: Vec<EntryId>,
}

/// All sessions of the process.
#[derive(Default)]
pub(super) struct Sessions {
    newest: u64,
    live: BTreeMap<SessionId, Session>,
    by_key: HashMap<HeaderKey, SessionId>,
    by_handle: HashMap<Handle, SessionId>,
    /// Header ids ended by their clients, as hashes, for the life of the process.
    ended: HashSet<u64>,
    /// Header ids whose sessions ended for another reason, as hashes, until they are adopted again.
    expired: HashSet<u64>,
    handles: Handles,
    /// Sessions that nothing keeps alive, the longest silent first.
    pub(super) silent: BTreeSet<(Time, SessionId)>,
}

/// The record of one live session.
pub(super) struct Session {
    pub(super) name: SessionName,
    pub(super) label: Arc<str>,
    pub(super) note: Option<Arc<str>>,
    pub(super) client: ClientInfo,
    pub(super) peer: Option<Arc<str>>,
    pub(super) heard: Time,
    /// Open streams and running entries that somebody awaits: while there is one, it does not expire.
    pub(super) pins: usize,
    /// Its entries that have not settled.
    pub(super) live_entries: usize,
    /// How many of its answers are still to remind it of the manual.
    pub(super) reminders: u8,
    pub(super) tools_fetched: bool,
    pub(super) adopted: bool,
    pub(super) scratch: SpaceId,
    pub(super) scratch_name: Arc<str>,
    /// The name of the space or module it is in.
    pub(super) current: Arc<str>,
}

/// The name the wire knows a session by.
pub(super) enum SessionName {
    Header(HeaderKey),
    Handle(Handle),
}

/// The handles given out, so that none is given out twice.
#[derive(Default)]
struct Handles {
    three: HashSet<u64>,
    four: HashSet<u64>,
}

impl Handles {
    /// The number of random tries before the next free handle is taken.
    const TRIES: usize = 64;

    /// A fresh random handle: of three letters until half of these are used, then of four. `None` when all are used up.
    /// Those that `is_taken` for another reason are passed over.
    fn mint(&mut self, random: &mut dyn FnMut() -> u64, is_taken: impl Fn(&Handle) -> bool) -> Option<Handle> {
        let (letters, size) = if self.three.len() < 4_000 { (3, 8_000) } else { (4, 160_000) };
        let given = if letters == 3 { &mut self.three } else { &mut self.four };
        let is_free = |n: u64, given: &HashSet<u64>| !given.contains(&n) && !is_taken(&Handle::nth(n, letters));
        let mut n = random() % size;
        for _ in 1..Self::TRIES {
            if is_free(n, given) {
                break;
            }
            n = random() % size;
        }
        let n = (n..size).chain(0..n).find(|n| is_free(*n, given))?;
        given.insert(n);
        Some(Handle::nth(n, letters))
    }
}

impl Sessions {
    /// An id that no session had before.
    pub(super) fn fresh(&mut self) -> SessionId {
        self.newest += 1;
        SessionId(self.newest)
    }

    /// Inserts a session that begins now.
    pub(super) fn insert(&mut self, id: SessionId, session: Session) {
        match &session.name {
            SessionName::Handle(handle) => self.by_handle.insert(handle.clone(), id),
            SessionName::Header(key) => self.by_key.insert(key.clone(), id),
        };
        self.silent.insert((session.heard, id));
        self.live.insert(id, session);
    }

    /// The live session with this header id.
    pub(super) fn of_key(&self, key: &HeaderKey) -> Option<SessionId> {
        self.by_key.get(key).copied()
    }

    /// The live session with this handle.
    pub(super) fn of_handle(&self, handle: &Handle) -> Option<SessionId> {
        self.by_handle.get(handle).copied()
    }

    /// A handle that was never given out before; those that `is_taken` for another reason are passed over.
    pub(super) fn mint(
        &mut self,
        random: &mut dyn FnMut() -> u64,
        is_taken: impl Fn(&Handle) -> bool,
    ) -> Option<Handle> {
        self.handles.mint(random, is_taken)
    }

    /// The header id was ended by its client.
    pub(super) fn was_ended(&self, key: &HeaderKey) -> bool {
        self.ended.contains(&key_hash(key, 0))
    }

    /// Notes that a client ended its header id; false when it had done so before.
    pub(super) fn note_ended(&mut self, key: &HeaderKey) -> bool {
        self.ended.insert(key_hash(key, 0))
    }

    /// Notes that the session of a header id ended without its client's doing.
    pub(super) fn note_expired(&mut self, key: &HeaderKey) {
        if !self.was_ended(key) {
            self.expired.insert(key_hash(key, 0));
        }
    }

    /// Takes back [`Sessions::note_expired`]: the id is adopted. True when it had expired.
    pub(super) fn take_expired(&mut self, key: &HeaderKey) -> bool {
        self.expired.remove(&key_hash(key, 0))
    }

    pub(super) fn len(&self) -> usize {
        self.live.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (SessionId, &Session)> {
        self.live.iter().map(|(id, session)| (*id, session))
    }

    pub(super) fn get(&self, owner: Owner) -> Option<&Session> {
        match owner {
            Owner::Local => None,
            Owner::Session(id) => self.live.get(&id),
        }
    }

    pub(super) fn get_mut(&mut self, owner: Owner) -> Option<&mut Session> {
        match owner {
            Owner::Local => None,
            Owner::Session(id) => self.live.get_mut(&id),
        }
    }

    /// Changes the marks expiry looks at, and files the session where that belongs.
    fn stir(&mut self, owner: Owner, change: impl FnOnce(&mut Session)) {
        let Owner::Session(id) = owner else { return };
        let Some(session) = self.live.get_mut(&id) else { return };
        self.silent.remove(&(session.heard, id));
        change(session);
        if session.pins == 0 {
            self.silent.insert((session.heard, id));
        }
    }

    /// Notes a sign of life.
    pub(super) fn heard(&mut self, owner: Owner, now: Time) {
        self.stir(owner, |session| session.heard = session.heard.max(now));
    }

    /// Something keeps the session alive.
    pub(super) fn pin(&mut self, owner: Owner) {
        self.stir(owner, |session| session.pins += 1);
    }

    /// One thing less keeps it alive; its silence is counted from here.
    pub(super) fn unpin(&mut self, owner: Owner, now: Time) {
        self.stir(owner, |session| {
            session.pins = session.pins.saturating_sub(1);
            session.heard = session.heard.max(now);
        });
    }

    /// Counts entries that begin (1) or settle (-1).
    pub(super) fn count_live(&mut self, owner: Owner, by: isize) {
        if let Some(session) = self.get_mut(owner) {
            session.live_entries = session.live_entries.saturating_add_signed(by);
        }
    }

    /// The longest silent session, if it has been silent for that long.
    pub(super) fn silent_for(&self, silence: Duration, now: Time) -> Option<SessionId> {
        self.silent.first().filter(|(heard, _)| now.since(*heard) >= silence).map(|(_, id)| *id)
    }

    /// The longest silent session without any work; one that `is_spared` only when there is no other.
    pub(super) fn longest_idle(&self, is_spared: impl Fn(SessionId) -> bool) -> Option<SessionId> {
        let is_idle = |id: &SessionId| self.live.get(id).is_some_and(|session| session.live_entries == 0);
        let idle = || self.silent.iter().map(|(_, id)| *id).filter(is_idle);
        idle().find(|id| !is_spared(*id)).or_else(|| idle().next())
    }

    /// Takes a session out; its name is free.
    pub(super) fn remove(&mut self, id: SessionId) -> Option<Session> {
        let session = self.live.remove(&id)?;
        self.silent.remove(&(session.heard, id));
        match &session.name {
            SessionName::Header(key) => drop(self.by_key.remove(key)),
            SessionName::Handle(handle) => drop(self.by_handle.remove(handle)),
        }
        Some(session)
    }
}

/// A hash that stands for a header id which ended. The same in every process: tombstones are compared with nothing else.
pub(super) fn key_hash(key: &HeaderKey, salt: u64) -> u64 {
    let mut hasher = DefaultHasher::new();
    (key, salt).hash(&mut hasher);
    hasher.finish()
}
