//! Sessions: who they are, when they were last heard, and when they end.

use super::{Owner, State};
use crate::words::{EntryId, Handle, HeaderKey, Refusal, SessionId, SpaceId, Time};
use std::sync::Arc;

/// What a client says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientFacts {
    /// Its name; empty when it did not say.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The protocol revision it speaks.
    pub revision: String,
    /// Whether it declared that it follows tasks.
    pub tasks: bool,
}

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

impl<V: Clone> State<V> {
    /// Opens a header session with a freshly minted id. `TooManySessions` when nobody idle can make room.
    pub fn initialize(
        &mut self,
        key: HeaderKey,
        client: ClientFacts,
        peer: Option<Arc<str>>,
        now: Time,
    ) -> Result<Opened, Refusal> {
        let _ = (key, client, peer, now);
        todo!()
    }

    /// The session a header names: live (which counts as a sign of life), or adopted when unknown or expired. `SessionEnded`
    /// for an id ended by [`State::end_by_key`], `TooManySessions` when nobody idle can make room for an adopted one.
    pub fn find_or_adopt(&mut self, key: &HeaderKey, peer: Option<Arc<str>>, now: Time) -> Result<Opened, Refusal> {
        let _ = (key, peer, now);
        todo!()
    }

    /// Ends a header session for good, also one that was never seen (then there is nothing to drop). `SessionEnded` the
    /// second time.
    pub fn end_by_key(&mut self, key: &HeaderKey, now: Time) -> Result<Option<EndedSession>, Refusal> {
        let _ = (key, now);
        todo!()
    }

    /// Mints a session with a handle that was never given out before. `TooManySessions` when nobody idle can make room.
    pub fn create_with_handle(
        &mut self,
        random: &mut dyn FnMut() -> u64,
        note: Option<Arc<str>>,
        client: ClientFacts,
        peer: Option<Arc<str>>,
        now: Time,
    ) -> Result<Created, Refusal> {
        let _ = (random, note, client, peer, now);
        todo!()
    }

    /// The live session with this handle, which counts as a sign of life; `UnknownSession` otherwise. Mints nothing.
    pub fn by_handle(&mut self, handle: &str, now: Time) -> Result<SessionId, Refusal> {
        let _ = (handle, now);
        todo!()
    }

    /// A sign of life.
    pub fn heard(&mut self, session: SessionId, now: Time) {
        let _ = (session, now);
        todo!()
    }

    /// Keeps a session from expiring (an open stream) until [`State::unhold`]; holds are counted.
    pub fn hold(&mut self, session: SessionId) {
        let _ = session;
        todo!()
    }

    /// Ends one hold. The silence is counted from here.
    pub fn unhold(&mut self, session: SessionId, now: Time) {
        let _ = (session, now);
        todo!()
    }

    /// Ends the sessions that were silent for too long. Every admission does this too.
    pub fn expire(&mut self, now: Time) -> Vec<EndedSession> {
        let _ = now;
        todo!()
    }

    /// Whether somebody is there who can be owed anything: a live session, or the nil caller.
    pub fn is_alive(&self, owner: Owner) -> bool {
        let _ = owner;
        todo!()
    }

    /// How people name an owner: the handle, or the first eight characters of the header; `None` for the nil caller and for
    /// ended sessions (entries keep the name in [`super::EntryView::by`]).
    pub fn label(&self, owner: Owner) -> Option<Arc<str>> {
        let _ = owner;
        todo!()
    }

    /// The handle of a live session that was minted with one.
    pub fn handle_of(&self, session: SessionId) -> Option<Handle> {
        let _ = session;
        todo!()
    }

    /// What the client of a live session said about itself.
    pub fn client_of(&self, session: SessionId) -> Option<ClientFacts> {
        let _ = session;
        todo!()
    }

    /// Sets the note on the roster. Nothing happens for the nil caller and for ended sessions.
    pub fn introduce(&mut self, owner: Owner, note: Arc<str>) {
        let _ = (owner, note);
        todo!()
    }

    /// The session ran `manual()`.
    pub fn manual_read(&mut self, owner: Owner) {
        let _ = owner;
        todo!()
    }

    /// Whether answers should say that the manual is unread: for live sessions until [`State::manual_read`].
    pub fn manual_unread(&self, owner: Owner) -> bool {
        let _ = owner;
        todo!()
    }

    /// The session fetched the list of tools of this process.
    pub fn tools_fetched(&mut self, session: SessionId) {
        let _ = session;
        todo!()
    }

    /// Whether the session's list of tools may be of an earlier process: it was adopted and has not fetched since.
    pub fn tools_stale(&self, session: SessionId) -> bool {
        let _ = session;
        todo!()
    }
}
