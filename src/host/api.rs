//! The host's public face: sessions, evals, and the types both front ends share.

use super::inner::Inner;
use super::kept::Kept;
use super::{Delivery, Serving};
use crate::base::{
    ClientInfo, Clock, EntryId, Handle, HeaderKey, Limits, Owner, Refusal, SessionId, Status, StopCause, Time,
};
use crate::registry::{CancelBy, Opened, Registry};
use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

/// A running Remontoire: one registry, its engine and its spaces. Cheap to clone; it ends when the last clone is gone.
#[derive(Clone)]
pub struct Host {
    pub(super) inner: Arc<Inner>,
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").field("describe", &self.inner.describe).finish_non_exhaustive()
    }
}

/// What to evaluate.
#[derive(Clone, Debug, Default)]
pub struct Job {
    /// The script.
    pub code: String,
    /// The space or module to evaluate in; where the session is when `None`.
    pub ns: Option<String>,
}

impl Job {
    /// A script, where the caller is.
    pub fn new(code: impl Into<String>) -> Self {
        Self { code: code.into(), ns: None }
    }
}

/// An answer to a caller, ready to be written, and what it delivers.
#[derive(Debug)]
pub struct Answer {
    /// The text, as the caller's style wants it.
    pub text: String,
    /// Whether the caller must treat it as an error.
    pub is_error: bool,
    /// What is marked once the text was written.
    pub delivery: Delivery,
}

/// How an entry stands, for a client that follows it as a task. Computed, never stored.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskView {
    /// Who started it.
    pub owner: Owner,
    /// Where it is in its life.
    pub status: Status,
    /// When it was admitted.
    pub created: Time,
    /// When it last changed: its latest output or its end.
    pub updated: Time,
    /// (settled, or now) − created + 3,600,000 ms.
    pub ttl_ms: u64,
    /// The latest line it printed.
    pub latest_line: Option<String>,
    /// The handle under which it is a task: its session's. A session that has ended may still own entries that are followed.
    pub handle: Option<Handle>,
}

/// What `/probe` tells, beside the host's own words about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Live sessions.
    pub sessions: usize,
    /// Entries at work.
    pub running: usize,
    /// Entries that wait for a slot.
    pub queued: usize,
    /// Settled entries whose owner has not read them.
    pub unread: usize,
    /// Settled entries that a client still follows as tasks.
    pub followed: usize,
    /// Settled and seen entries: what capacity counts.
    pub pool: usize,
    /// Seconds since the process started.
    pub uptime_seconds: u64,
}

/// Facts of one entry, for lists.
pub use crate::registry::EntryView as EvalFacts;

/// A call of a session is open that will render these entries. While this lives their outcomes are delivered by that call alone
/// and are no news elsewhere; it is kept until the answer was composed, or dropped when the call is gone.
#[derive(Debug)]
#[must_use = "dropping this says that the call is gone"]
pub struct Expected {
    host: Host,
    owner: Owner,
    ids: Vec<EntryId>,
}

impl Drop for Expected {
    fn drop(&mut self) {
        let mut state = self.host.inner.state();
        for id in &self.ids {
            state.unexpect(*id, self.owner);
        }
    }
}

/// An eval that was admitted for a call which is still open. It is handed to [`Host::answer_eval`] or [`Host::follow`], or
/// dropped when the call is gone.
#[derive(Debug)]
#[must_use = "dropping this says that the call is gone"]
pub struct Submitted {
    id: EntryId,
    /// Held until the answer is composed.
    _expected: Expected,
}

impl Submitted {
    /// The entry.
    pub fn id(&self) -> EntryId {
        self.id
    }
}

/// Keeps a session from expiring until it is dropped (an open stream).
#[derive(Debug)]
pub struct Hold {
    host: Host,
    session: Option<SessionId>,
}

impl Drop for Hold {
    fn drop(&mut self) {
        if let Some(session) = self.session {
            self.host.inner.state().unhold(session, self.host.inner.clock.now());
        }
    }
}

impl Host {
    /// Begins a host: `Host::builder().describe("…").build()?`.
    pub fn builder() -> super::HostBuilder {
        super::HostBuilder::new()
    }

    /// The clock everything asks.
    pub fn clock(&self) -> &Clock {
        &self.inner.clock
    }

    /// The limits in force.
    pub fn limits(&self) -> &Limits {
        &self.inner.limits
    }

    /// What this instance is, in the operator's words; may be empty.
    pub fn describe(&self) -> &str {
        &self.inner.describe
    }

    /// When the process started.
    pub fn started(&self) -> SystemTime {
        self.inner.clock.wall(Time::START)
    }

    /// Counts for `/probe`. Touches nothing.
    pub fn probe(&self) -> Probe {
        let now = self.inner.clock.now();
        let counts = self.inner.state().counts(now);
        Probe {
            sessions: counts.sessions,
            running: counts.running,
            queued: counts.queued,
            unread: counts.unread,
            followed: counts.followed,
            pool: counts.pool,
            uptime_seconds: now.since_start().as_secs(),
        }
    }

    /// Where this host is served, if it is.
    pub fn serving(&self) -> &Serving {
        &self.inner.serving
    }

    // --- sessions -------------------------------------------------------------------------------------------------------

    /// Opens a header session with a fresh id (`initialize` on the handshake wire).
    ///
    /// # Errors
    /// `TooManySessions`.
    pub fn initialize(&self, client: ClientInfo, peer: Option<String>) -> Result<(HeaderKey, Owner), Refusal> {
        let key: HeaderKey =
            uuid::Uuid::new_v4().to_string().parse().expect("a UUID is visible ASCII of 36 characters");
        let now = self.inner.clock.now();
        let opened = self.inner.state().initialize(key.clone(), client, peer.map(Into::into), now)?;
        self.inner.sessions_ended(opened.ended.into_iter().collect());
        Ok((key, Owner::Session(opened.session)))
    }

    /// The session a header names: live, or adopted when never seen. Counts as a sign of life.
    ///
    /// # Errors
    /// `SessionEnded` for an id ended by DELETE, `TooManySessions`.
    pub fn header_caller(&self, key: &HeaderKey, peer: Option<String>) -> Result<Opened, Refusal> {
        let mut opened = self.looked_up(|state, now| state.find_or_adopt(key, peer.map(Into::into), now))?;
        self.inner.sessions_ended(opened.ended.take().into_iter().collect());
        Ok(opened)
    }

    /// Ends a header session (DELETE), also one that was never seen.
    ///
    /// # Errors
    /// `SessionEnded` the second time.
    pub fn end_header_session(&self, key: &HeaderKey) -> Result<(), Refusal> {
        let ended = self.inner.state().end_by_key(key, self.inner.clock.now())?;
        self.inner.sessions_ended(ended.into_iter().collect());
        Ok(())
    }

    /// Mints a session with a handle (`create-session`).
    ///
    /// # Errors
    /// `TooManySessions`.
    pub fn create_session(
        &self,
        note: Option<String>,
        client: ClientInfo,
        peer: Option<String>,
    ) -> Result<(Handle, Owner), Refusal> {
        let mut random = || {
            let bits = uuid::Uuid::new_v4().as_u128();
            u64::try_from((bits ^ (bits >> 64)) & u128::from(u64::MAX)).unwrap_or_default()
        };
        let now = self.inner.clock.now();
        let created = self.inner.state().create_with_handle(
            &mut random,
            note.map(Into::into),
            client,
            peer.map(Into::into),
            now,
        )?;
        self.inner.sessions_ended(created.ended.into_iter().collect());
        Ok((created.handle, Owner::Session(created.session)))
    }

    /// The session with this handle. Mints nothing. Counts as a sign of life.
    ///
    /// # Errors
    /// `UnknownSession`.
    pub fn handle_caller(&self, handle: &str) -> Result<Owner, Refusal> {
        self.looked_up(|state, now| state.by_handle(handle, now)).map(Owner::Session)
    }

    /// Looks a session up after the silent ones were ended: one that was silent for too long is gone, also when it is itself the
    /// first to speak again.
    fn looked_up<T>(&self, look: impl FnOnce(&mut Registry<Kept>, Time) -> T) -> T {
        let now = self.inner.clock.now();
        let mut state = self.inner.state();
        let expired = state.expire(now);
        let found = look(&mut state, now);
        drop(state);
        self.inner.sessions_ended(expired);
        found
    }

    /// The handle of a session that was minted by [`Host::create_session`].
    pub fn handle_of(&self, caller: Owner) -> Option<Handle> {
        match caller {
            Owner::Local => None,
            Owner::Session(session) => self.inner.state().handle_of(session),
        }
    }

    /// What the client of a session said about itself (at `initialize` or `create-session`).
    pub fn client_of(&self, caller: Owner) -> Option<ClientInfo> {
        let Owner::Session(session) = caller else { return None };
        self.inner.state().client_of(session)
    }

    /// A sign of life of the session (a heartbeat was written, a task was polled).
    pub fn heard(&self, caller: Owner) {
        if let Owner::Session(session) = caller {
            self.inner.state().heard(session, self.inner.clock.now());
        }
    }

    /// Keeps the session from expiring while the returned value lives (an open stream).
    pub fn hold(&self, caller: Owner) -> Hold {
        let session = match caller {
            Owner::Local => None,
            Owner::Session(session) => {
                self.inner.state().hold(session);
                Some(session)
            }
        };
        Hold { host: self.clone(), session }
    }

    /// The session fetched the list of tools of this process.
    pub fn tools_fetched(&self, caller: Owner) {
        if let Owner::Session(session) = caller {
            self.inner.state().tools_fetched(session);
        }
    }

    /// Whether the session's list of tools may be of an earlier process.
    pub fn tools_stale(&self, caller: Owner) -> bool {
        match caller {
            Owner::Local => false,
            Owner::Session(session) => self.inner.state().tools_stale(session),
        }
    }

    // --- evals ----------------------------------------------------------------------------------------------------------

    /// Admits an eval and lets it run. Returns at once.
    ///
    /// # Errors
    /// `QueueFull`, `TooManyLive`, `ShuttingDown`, `SessionEnded`, and what is wrong with `ns`: `BadName`, `ForeignScratch`,
    /// `TooManySpaces`. Nothing was started.
    pub fn submit(&self, caller: Owner, job: &Job) -> Result<Submitted, Refusal> {
        let id = self.inner.submit(caller, job, true)?;
        Ok(Submitted { id, _expected: Expected { host: self.clone(), owner: caller, ids: vec![id] } })
    }

    /// A call is open that will render these entries: what a caller awaits or cancels. Those of others are not affected.
    pub fn expect(&self, caller: Owner, ids: &[EntryId]) -> Expected {
        let mut state = self.inner.state();
        let ids: Vec<_> = ids.iter().copied().filter(|id| state.expect(*id, caller)).collect();
        drop(state);
        Expected { host: self.clone(), owner: caller, ids }
    }

    /// Asks an entry to stop; returns at once. `by` is who asks: the owner's own cancel counts as read.
    ///
    /// # Errors
    /// `NoEntry`, `Evicted`.
    pub fn cancel(&self, by: CancelBy, id: EntryId) -> Result<(), Refusal> {
        let cause = if by == CancelBy::Shutdown { StopCause::Shutdown } else { StopCause::Cancelled };
        self.inner.cancel(id, by, &cause).map(drop)
    }

    /// The latest line an entry printed.
    pub fn latest_line(&self, id: EntryId) -> Option<String> {
        let log = self.inner.log(id).ok()?;
        let line = log.last_line()?;
        Some(crate::render::output::line(&line))
    }

    /// How an entry stands, for a follower.
    ///
    /// # Errors
    /// `NoEntry`, `Evicted`.
    pub fn task(&self, id: EntryId) -> Result<TaskView, Refusal> {
        let now = self.inner.clock.now();
        let (view, log, handle) = {
            let state = self.inner.state();
            (state.get(id, now)?, state.log(id)?, state.task_handle(id))
        };
        let end = view.settled.unwrap_or(now);
        let ttl = end.since(view.created) + crate::registry::FOLLOWED_FOR;
        let updated = view.settled.or(log.last_at()).or(view.started).unwrap_or(view.created);
        Ok(TaskView {
            owner: view.owner,
            status: view.status,
            created: view.created,
            updated,
            ttl_ms: u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX),
            latest_line: self.latest_line(id),
            handle,
        })
    }

    /// One entry as it stands. Touches nothing.
    ///
    /// # Errors
    /// `NoEntry`, `Evicted`.
    pub fn entry(&self, id: EntryId) -> Result<EvalFacts, Refusal> {
        self.inner.state().get(id, self.inner.clock.now())
    }

    /// Lets nobody in any more and asks every entry to stop.
    pub fn close(&self) {
        self.inner.close();
    }

    /// Whether the host lets nobody in any more.
    pub fn is_closing(&self) -> bool {
        self.inner.is_closing()
    }
}
