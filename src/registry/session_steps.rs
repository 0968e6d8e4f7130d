//! Sessions opened, heard and ended.

use super::ledger::{Adoption, Ledger};
use super::sessions::{Created, EndedSession, Opened, Session, SessionName, key_hash};
use super::space_names::scratch_name;
use super::state::Registry;
use crate::base::{ClientInfo, EntryId, Handle, HeaderKey, Owner, Refusal, SessionId, Time};
use std::collections::HashSet;
use std::sync::Arc;

/// Answers that remind a session of the manual.
const REMINDERS: u8 = 3;

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
        if let Some(session) = self.sessions.of_key(key) {
            let owner = Owner::Session(session);
            self.sessions.heard(owner, now);
            if let (Some(session), Some(peer)) = (self.sessions.get_mut(owner), peer) {
                session.peer = Some(peer);
            }
            return Ok(Opened { session, adopted: false, ended: None });
        }
        if self.sessions.was_ended(key) {
            return Err(Refusal::SessionEnded);
        }
        let ended = self.make_room_for_session(now)?;
        let session = self.open(SessionName::Header(key.clone()), ClientInfo::default(), peer, now);
        let owner = Owner::Session(session);
        let known = self.sessions.take_expired(key);
        if let (Some(session), Some(ledger)) = (self.sessions.get_mut(owner), self.ledgers.get_mut(&owner)) {
            session.adopted = true;
            ledger.adopted = Some(if known { Adoption::Expired } else { Adoption::Unknown });
        }
        Ok(Opened { session, adopted: true, ended })
    }

    /// Ends a header session for good, also one that was never seen (then there is nothing to drop). `SessionEnded` the
    /// second time.
    pub fn end_by_key(&mut self, key: &HeaderKey, now: Time) -> Result<Option<EndedSession>, Refusal> {
        if !self.sessions.note_ended(key) {
            return Err(Refusal::SessionEnded);
        }
        let session = self.sessions.of_key(key);
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
        let names = &self.space_names;
        let is_taken = |handle: &Handle| names.is_taken(&scratch_name(handle.as_str()));
        let Some(handle) = self.sessions.mint(random, is_taken) else {
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
        let found = handle.parse().ok().and_then(|handle: Handle| self.sessions.of_handle(&handle));
        let session =
            found.ok_or_else(|| Refusal::UnknownSession { given: handle.to_owned(), up: now.since_start() })?;
        self.heard(session, now);
        Ok(session)
    }

    /// Notes a sign of life.
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

    /// Tells whether anybody speaks under this name: a live session, or the nil caller.
    pub fn is_alive(&self, owner: Owner) -> bool {
        owner == Owner::Local || self.sessions.get(owner).is_some()
    }

    /// The name people know an owner by: the handle, or the first eight characters of the header; `None` for the nil caller and for
    /// ended sessions (entries keep the name in `EntryView::by`).
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

    /// The handle under which an entry is a task: that of its owner. Of an ended session only followed entries still are tasks.
    pub fn task_handle(&self, id: EntryId) -> Option<Handle> {
        let entry = self.entries.get(id)?;
        match entry.owner {
            Owner::Local => None,
            Owner::Session(session) if self.is_alive(entry.owner) => self.handle_of(session),
            Owner::Session(_) => entry.by.as_ref().filter(|_| entry.is_followed())?.parse().ok(),
        }
    }

    /// The client of a live session, as it introduced itself.
    pub fn client_of(&self, session: SessionId) -> Option<ClientInfo> {
        self.sessions.get(Owner::Session(session)).map(|session| session.client.clone())
    }

    /// Sets the note on the roster. Nothing happens for the nil caller and for ended sessions.
    pub fn introduce(&mut self, owner: Owner, note: Arc<str>) {
        if let Some(session) = self.sessions.get_mut(owner) {
            session.note = Some(note);
        }
    }

    /// Notes that the session ran `manual()`.
    pub fn manual_read(&mut self, owner: Owner) {
        if let Some(session) = self.sessions.get_mut(owner) {
            session.reminders = 0;
        }
    }

    /// Whether an answer that is made now reminds a live session of the manual: the first `REMINDERS` do, until
    /// [`Registry::manual_read`].
    pub fn remind_of_manual(&mut self, owner: Owner) -> bool {
        let Some(session) = self.sessions.get_mut(owner).filter(|session| session.reminders > 0) else { return false };
        session.reminders -= 1;
        true
    }

    /// Notes that the session fetched the list of tools of this process.
    pub fn tools_fetched(&mut self, session: SessionId) {
        if let Some(session) = self.sessions.get_mut(Owner::Session(session)) {
            session.tools_fetched = true;
        }
    }

    /// The session's list of tools may be of an earlier process: true when it was adopted and has not fetched since.
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
        let id = self.sessions.fresh();
        let owner = Owner::Session(id);
        let (label, scratch_name) = match &name {
            SessionName::Handle(handle) => (handle.as_str(), scratch_name(handle.as_str())),
            SessionName::Header(key) => (key.short(), self.scratch_of_key(key)),
        };
        let (label, scratch_name): (Arc<str>, Arc<str>) = (label.into(), scratch_name.into());
        let session = Session {
            name,
            label,
            note: None,
            client,
            peer,
            heard: now,
            pins: 0,
            live_entries: 0,
            reminders: REMINDERS,
            tools_fetched: false,
            adopted: false,
            scratch: self.space_names.add_scratch(Arc::clone(&scratch_name), owner),
            current: Arc::clone(&scratch_name),
            scratch_name,
        };
        self.sessions.insert(id, session);
        self.ledgers.insert(owner, Ledger::default());
        id
    }

    /// Names the scratch of a header session: by its first eight letters and digits, by a hash when there are none or the
    /// name is taken.
    fn scratch_of_key(&self, key: &HeaderKey) -> String {
        let legal: String = key.as_str().chars().filter(char::is_ascii_alphanumeric).take(8).collect();
        let plain = Some(scratch_name(&legal)).filter(|_| !legal.is_empty());
        let hashed = (0..).map(|salt| scratch_name(&format!("{:08x}", key_hash(key, salt) >> 32)));
        let free = plain.into_iter().chain(hashed).find(|name| !self.space_names.is_taken(name));
        free.expect("one of so many names is free")
    }

    /// Ends a session: its name is free, its scratch retired, nothing is owed to it any more, its queued entries are cancelled.
    fn end_session(&mut self, id: SessionId, now: Time) -> Option<EndedSession> {
        let session = self.sessions.remove(id)?;
        if let SessionName::Header(key) = &session.name {
            self.sessions.note_expired(key);
        }
        let owner = Owner::Session(id);
        self.space_names.retire(&session.scratch_name);
        self.close_ledger(owner);
        let dequeued = self.run_queue.queued_of(owner);
        for entry in &dequeued {
            self.dequeue(*entry, true, now);
        }
        let Session { label, scratch, scratch_name, .. } = session;
        Some(EndedSession { session: id, label, scratch, scratch_name, dequeued })
    }
}
