//! Sessions: who they are, when they were last heard, and when they end.

use super::Registry;
use super::delivery::Ledger;
use super::places::scratch_name;
use crate::base::{ClientInfo, EntryId, Handle, HeaderKey, Owner, Refusal, SessionId, SpaceId, Time};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

/// A header session that was minted, found or adopted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// The session.
    pub session: SessionId,
    /// Whether the id was unknown and has just been adopted.
    pub adopted: bool,
    /// The idle session that had to end to make room.
    pub ended: Option<EndedSession>,
}

/// Why a header session was adopted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adoption {
    /// This process never saw its id.
    Unknown,
    /// The session that had the id ended after a silence. Its entries may still be in the book.
    Expired,
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
    /// How people named it.
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

/// One live session.
pub(super) struct Session {
    name: SessionName,
    pub(super) label: Arc<str>,
    pub(super) note: Option<Arc<str>>,
    pub(super) client: ClientInfo,
    pub(super) peer: Option<Arc<str>>,
    pub(super) heard: Time,
    /// Open streams and running entries that somebody awaits: while there is one, it does not expire.
    pub(super) pins: usize,
    /// Its entries that have not settled.
    pub(super) live_entries: usize,
    manual_read: bool,
    tools_fetched: bool,
    adopted: bool,
    scratch: SpaceId,
    scratch_name: Arc<str>,
    pub(super) current: Arc<str>,
}

/// What the wire knows a session by.
enum SessionName {
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
    /// How often chance is asked before the next free handle is taken.
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

    /// Changes what expiry looks at, and files the session where that belongs.
    fn stir(&mut self, owner: Owner, change: impl FnOnce(&mut Session)) {
        let Owner::Session(id) = owner else { return };
        let Some(session) = self.live.get_mut(&id) else { return };
        self.silent.remove(&(session.heard, id));
        change(session);
        if session.pins == 0 {
            self.silent.insert((session.heard, id));
        }
    }

    fn heard(&mut self, owner: Owner, now: Time) {
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
    fn silent_for(&self, silence: Duration, now: Time) -> Option<SessionId> {
        self.silent.first().filter(|(heard, _)| now.since(*heard) >= silence).map(|(_, id)| *id)
    }

    /// The longest silent session without any work; one that `is_spared` only when there is no other.
    fn longest_idle(&self, is_spared: impl Fn(SessionId) -> bool) -> Option<SessionId> {
        let is_idle = |id: &SessionId| self.live.get(id).is_some_and(|session| session.live_entries == 0);
        let idle = || self.silent.iter().map(|(_, id)| *id).filter(is_idle);
        idle().find(|id| !is_spared(*id)).or_else(|| idle().next())
    }

    fn remove(&mut self, id: SessionId) -> Option<Session> {
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
fn hash(key: &HeaderKey, salt: u64) -> u64 {
    let mut hasher = DefaultHasher::new();
    (key, salt).hash(&mut hasher);
    hasher.finish()
}

impl<V: Clone> Registry<V> {
    /// Opens a header session with a freshly minted id. `TooManySessions` when nobody idle can make room.
    pub fn initialize(
        &mut self,
        key: HeaderKey,
        client: ClientInfo,
        peer: Option<Arc<str>>,
        now: Time,
    ) -> Result<Opened, Refusal> {
        let ended = self.make_room_for_session(now)?;
        let session = self.open(SessionName::Header(key), client, peer, now);
        Ok(Opened { session, adopted: false, ended })
    }

    /// The session a header names: live (which counts as a sign of life), or adopted when unknown or expired. `SessionEnded`
    /// for an id ended by [`Registry::end_by_key`], `TooManySessions` when nobody idle can make room for an adopted one.
    pub fn find_or_adopt(&mut self, key: &HeaderKey, peer: Option<Arc<str>>, now: Time) -> Result<Opened, Refusal> {
        if let Some(session) = self.sessions.by_key.get(key).copied() {
            let owner = Owner::Session(session);
            self.sessions.heard(owner, now);
            if let (Some(session), Some(peer)) = (self.sessions.get_mut(owner), peer) {
                session.peer = Some(peer);
            }
            return Ok(Opened { session, adopted: false, ended: None });
        }
        if self.sessions.ended.contains(&hash(key, 0)) {
            return Err(Refusal::SessionEnded);
        }
        let ended = self.make_room_for_session(now)?;
        let session = self.open(SessionName::Header(key.clone()), ClientInfo::default(), peer, now);
        let owner = Owner::Session(session);
        let known = self.sessions.expired.remove(&hash(key, 0));
        if let (Some(session), Some(ledger)) = (self.sessions.get_mut(owner), self.ledgers.get_mut(&owner)) {
            session.adopted = true;
            ledger.adopted = Some(if known { Adoption::Expired } else { Adoption::Unknown });
        }
        Ok(Opened { session, adopted: true, ended })
    }

    /// Ends a header session for good, also one that was never seen (then there is nothing to drop). `SessionEnded` the
    /// second time.
    pub fn end_by_key(&mut self, key: &HeaderKey, now: Time) -> Result<Option<EndedSession>, Refusal> {
        if !self.sessions.ended.insert(hash(key, 0)) {
            return Err(Refusal::SessionEnded);
        }
        let session = self.sessions.by_key.get(key).copied();
        Ok(session.and_then(|session| self.end_session(session, now)))
    }

    /// Mints a session with a handle that was never given out before. `TooManySessions` when nobody idle can make room, or
    /// when all handles are used up.
    pub fn create_with_handle(
        &mut self,
        random: &mut dyn FnMut() -> u64,
        note: Option<Arc<str>>,
        client: ClientInfo,
        peer: Option<Arc<str>>,
        now: Time,
    ) -> Result<Created, Refusal> {
        let ended = self.make_room_for_session(now)?;
        let places = &self.places;
        let is_taken = |handle: &Handle| places.is_taken(&scratch_name(handle.as_str()));
        let Some(handle) = self.sessions.handles.mint(random, is_taken) else {
            return Err(Refusal::TooManySessions { limit: self.limits.sessions });
        };
        let session = self.open(SessionName::Handle(handle.clone()), client, peer, now);
        if let Some(session) = self.sessions.get_mut(Owner::Session(session)) {
            session.note = note;
        }
        Ok(Created { session, handle, ended })
    }

    /// The live session with this handle, which counts as a sign of life; `UnknownSession` otherwise. Mints nothing.
    pub fn by_handle(&mut self, handle: &str, now: Time) -> Result<SessionId, Refusal> {
        let found = handle.parse().ok().and_then(|handle: Handle| self.sessions.by_handle.get(&handle).copied());
        let session = found.ok_or_else(|| Refusal::UnknownSession { given: handle.to_owned() })?;
        self.heard(session, now);
        Ok(session)
    }

    /// A sign of life.
    pub fn heard(&mut self, session: SessionId, now: Time) {
        self.sessions.heard(Owner::Session(session), now);
    }

    /// Keeps a session from expiring (an open stream) until [`Registry::unhold`]; holds are counted.
    pub fn hold(&mut self, session: SessionId) {
        self.sessions.pin(Owner::Session(session));
    }

    /// Ends one hold. The silence is counted from here.
    pub fn unhold(&mut self, session: SessionId, now: Time) {
        self.sessions.unpin(Owner::Session(session), now);
    }

    /// Ends the sessions that were silent for too long. Every admission does this too.
    pub fn expire(&mut self, now: Time) -> Vec<EndedSession> {
        let mut ended = Vec::new();
        while let Some(session) = self.sessions.silent_for(self.limits.silence, now) {
            ended.extend(self.end_session(session, now));
        }
        ended
    }

    /// Whether anybody speaks under this name: a live session, or the nil caller.
    pub fn is_alive(&self, owner: Owner) -> bool {
        owner == Owner::Local || self.sessions.get(owner).is_some()
    }

    /// How people name an owner: the handle, or the first eight characters of the header; `None` for the nil caller and for
    /// ended sessions (entries keep the name in [`super::EntryView::by`]).
    pub fn label(&self, owner: Owner) -> Option<Arc<str>> {
        self.sessions.get(owner).map(|session| Arc::clone(&session.label))
    }

    /// The handle of a live session that was minted with one.
    pub fn handle_of(&self, session: SessionId) -> Option<Handle> {
        match &self.sessions.get(Owner::Session(session))?.name {
            SessionName::Handle(handle) => Some(handle.clone()),
            SessionName::Header(_) => None,
        }
    }

    /// The handle under which an entry is a task: that of its owner. Of an ended session only what is followed still is one.
    pub fn task_handle(&self, id: EntryId) -> Option<Handle> {
        let entry = self.entries.get(id)?;
        match entry.owner {
            Owner::Local => None,
            Owner::Session(session) if self.is_alive(entry.owner) => self.handle_of(session),
            Owner::Session(_) => entry.by.as_ref().filter(|_| entry.is_followed())?.parse().ok(),
        }
    }

    /// What the client of a live session said about itself.
    pub fn client_of(&self, session: SessionId) -> Option<ClientInfo> {
        self.sessions.get(Owner::Session(session)).map(|session| session.client.clone())
    }

    /// Sets the note on the roster. Nothing happens for the nil caller and for ended sessions.
    pub fn introduce(&mut self, owner: Owner, note: Arc<str>) {
        if let Some(session) = self.sessions.get_mut(owner) {
            session.note = Some(note);
        }
    }

    /// The session ran `manual()`.
    pub fn manual_read(&mut self, owner: Owner) {
        if let Some(session) = self.sessions.get_mut(owner) {
            session.manual_read = true;
        }
    }

    /// Whether answers should say that the manual is unread: for live sessions until [`Registry::manual_read`].
    pub fn manual_unread(&self, owner: Owner) -> bool {
        self.sessions.get(owner).is_some_and(|session| !session.manual_read)
    }

    /// The session fetched the list of tools of this process.
    pub fn tools_fetched(&mut self, session: SessionId) {
        if let Some(session) = self.sessions.get_mut(Owner::Session(session)) {
            session.tools_fetched = true;
        }
    }

    /// Whether the session's list of tools may be of an earlier process: it was adopted and has not fetched since.
    pub fn tools_stale(&self, session: SessionId) -> bool {
        self.sessions.get(Owner::Session(session)).is_some_and(|session| session.adopted && !session.tools_fetched)
    }

    /// Ends the longest silent idle session when there are as many as there may be. One with entries that are unread or
    /// followed goes only when there is no other.
    fn make_room_for_session(&mut self, now: Time) -> Result<Option<EndedSession>, Refusal> {
        if self.sessions.len() < self.limits.sessions {
            return Ok(None);
        }
        self.lapse(now);
        let owners_of_followed = self.entries.lapses().filter_map(|(_, id)| self.entries.get(id));
        let owners_of_followed: HashSet<_> = owners_of_followed.map(|entry| entry.owner).collect();
        let is_spared = |id: SessionId| {
            let owner = Owner::Session(id);
            owners_of_followed.contains(&owner)
                || self.ledgers.get(&owner).is_some_and(|ledger| !ledger.unread.is_empty())
        };
        let idle = self.sessions.longest_idle(is_spared);
        let idle = idle.ok_or(Refusal::TooManySessions { limit: self.limits.sessions })?;
        Ok(self.end_session(idle, now))
    }

    /// Opens a session; there is room for it.
    fn open(&mut self, name: SessionName, client: ClientInfo, peer: Option<Arc<str>>, now: Time) -> SessionId {
        self.sessions.newest += 1;
        let id = SessionId(self.sessions.newest);
        let owner = Owner::Session(id);
        let (label, scratch_name) = match &name {
            SessionName::Handle(handle) => (handle.as_str(), scratch_name(handle.as_str())),
            SessionName::Header(key) => (key.short(), self.scratch_of_key(key)),
        };
        let (label, scratch_name): (Arc<str>, Arc<str>) = (label.into(), scratch_name.into());
        match &name {
            SessionName::Handle(handle) => self.sessions.by_handle.insert(handle.clone(), id),
            SessionName::Header(key) => self.sessions.by_key.insert(key.clone(), id),
        };
        let session = Session {
            name,
            label,
            note: None,
            client,
            peer,
            heard: now,
            pins: 0,
            live_entries: 0,
            manual_read: false,
            tools_fetched: false,
            adopted: false,
            scratch: self.places.add_scratch(Arc::clone(&scratch_name), owner),
            current: Arc::clone(&scratch_name),
            scratch_name,
        };
        self.sessions.live.insert(id, session);
        self.sessions.silent.insert((now, id));
        self.ledgers.insert(owner, Ledger::default());
        id
    }

    /// Names the scratch of a header session: by its first eight letters and digits, by a hash when there are none or the
    /// name is taken.
    fn scratch_of_key(&self, key: &HeaderKey) -> String {
        let legal: String = key.as_str().chars().filter(char::is_ascii_alphanumeric).take(8).collect();
        let plain = Some(scratch_name(&legal)).filter(|_| !legal.is_empty());
        let hashed = (0..).map(|salt| scratch_name(&format!("{:08x}", hash(key, salt) >> 32)));
        let free = plain.into_iter().chain(hashed).find(|name| !self.places.is_taken(name));
        free.expect("one of so many names is free")
    }

    /// Ends a session: its name is free, its scratch retired, nothing is owed to it any more, its queued entries are cancelled.
    fn end_session(&mut self, id: SessionId, now: Time) -> Option<EndedSession> {
        let session = self.sessions.remove(id)?;
        if let SessionName::Header(key) = &session.name
            && !self.sessions.ended.contains(&hash(key, 0))
        {
            self.sessions.expired.insert(hash(key, 0));
        }
        let owner = Owner::Session(id);
        self.places.retire(&session.scratch_name);
        self.close_ledger(owner);
        let dequeued = self.slots.queued_of(owner);
        for entry in &dequeued {
            self.dequeue(*entry, true, now);
        }
        let Session { label, scratch, scratch_name, .. } = session;
        Some(EndedSession { session: id, label, scratch, scratch_name, dequeued })
    }
}
