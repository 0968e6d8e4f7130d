//! The host as front ends use it: sessions and evals.

use crate::base::{ClientInfo, Clock, EntryId, Handle, HeaderKey, Limits, Owner, Refusal, SessionId, StopCause, Time};
use crate::host::core::host_core::HostCore;
use crate::host::core::serving::Serving;
use crate::host::core::settled::SettledEntry;
use crate::host::types::{EvalRequest, Probe, TaskView};
use crate::registry::{CancelBy, EntryView, Opened, Registry};
use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

/// A running host, as front ends use it. Cheap to clone; the host ends when the last clone is gone.
#[derive(Clone)]
pub struct HostApi {
    pub(in crate::host) core: Arc<HostCore>,
}

impl fmt::Debug for HostApi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostApi").field("describe", &self.core.describe).finish_non_exhaustive()
    }
}

/// A call of a session is open that will render these entries. While this lives their outcomes are delivered by that call alone
/// and are no news elsewhere; it is kept until the answer was composed, or dropped when the call is gone.
#[derive(Debug)]
#[must_use = "dropping this says that the call is gone"]
pub struct Expected {
    host: HostApi,
    owner: Owner,
    ids: Vec<EntryId>,
}

impl Drop for Expected {
    fn drop(&mut self) {
        let mut registry = self.host.core.registry();
        for id in &self.ids {
            registry.unexpect(*id, self.owner);
        }
    }
}

/// An eval that was admitted for a call which is still open. It is handed to [`HostApi::answer_eval`] or [`HostApi::follow`], or
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
    host: HostApi,
    session: Option<SessionId>,
}

impl Drop for Hold {
    fn drop(&mut self) {
        if let Some(session) = self.session {
            self.host.core.registry().unhold(session, self.host.core.clock.now());
        }
    }
}

impl HostApi {
    /// The clock everything asks.
    pub fn clock(&self) -> &Clock {
        &self.core.clock
    }

    /// The limits in force.
    pub fn limits(&self) -> &Limits {
        &self.core.limits
    }

    /// This instance, in the operator's words; may be empty.
    pub fn describe(&self) -> &str {
        &self.core.describe
    }

    /// When the process started.
    pub fn started(&self) -> SystemTime {
        self.core.clock.wall(Time::START)
    }

    /// Counts for `/probe`. Touches nothing.
    pub fn probe(&self) -> Probe {
        let now = self.core.clock.now();
        let counts = self.core.registry().counts(now);
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
        &self.core.serving
    }

    // --- sessions -------------------------------------------------------------------------------------------------------

    /// Opens a header session with a fresh id (`initialize` on the handshake wire).
    ///
    /// # Errors
    /// `TooManySessions`.
    pub fn initialize(&self, client: ClientInfo, peer: Option<String>) -> Result<(HeaderKey, Owner), Refusal> {
        let key: HeaderKey =
            uuid::Uuid::new_v4().to_string().parse().expect("a UUID is visible ASCII of 36 characters");
        let now = self.core.clock.now();
        let opened = self.core.registry().initialize(key.clone(), client, peer.map(Into::into), now)?;
        self.core.sessions_ended(opened.ended.into_iter().collect());
        Ok((key, Owner::Session(opened.session)))
    }

    /// The session a header names: live, or adopted when never seen. Counts as a sign of life. `time_of_day` says a time as the
    /// clocks of this machine show it: an adopted session is told the time at which the process started.
    ///
    /// # Errors
    /// `SessionEnded` for an id ended by DELETE, `TooManySessions`.
    pub fn header_caller(
        &self,
        key: &HeaderKey,
        peer: Option<String>,
        time_of_day: fn(SystemTime) -> String,
    ) -> Result<Opened, Refusal> {
        // Before the session is there: from then on an answer may tell it.
        self.core.started.get_or_init(|| time_of_day(self.started()));
        let mut opened = self.looked_up(|registry, now| registry.find_or_adopt(key, peer.map(Into::into), now))?;
        self.core.sessions_ended(opened.ended.take().into_iter().collect());
        Ok(opened)
    }

    /// Ends a header session (DELETE), also one that was never seen.
    ///
    /// # Errors
    /// `SessionEnded` the second time.
    pub fn end_header_session(&self, key: &HeaderKey) -> Result<(), Refusal> {
        let ended = self.core.registry().end_by_key(key, self.core.clock.now())?;
        self.core.sessions_ended(ended.into_iter().collect());
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
        let now = self.core.clock.now();
        let created = self.core.registry().create_with_handle(
            &mut random,
            note.map(Into::into),
            client,
            peer.map(Into::into),
            now,
        )?;
        self.core.sessions_ended(created.ended.into_iter().collect());
        Ok((created.handle, Owner::Session(created.session)))
    }

    /// The session with this handle. Mints nothing. Counts as a sign of life.
    ///
    /// # Errors
    /// `UnknownSession`.
    pub fn handle_caller(&self, handle: &str) -> Result<Owner, Refusal> {
        self.looked_up(|registry, now| registry.by_handle(handle, now)).map(Owner::Session)
    }

    /// Looks a session up after the silent ones were ended: one that was silent for too long is gone, also when it is itself the
    /// first to speak again.
    fn looked_up<T>(&self, look: impl FnOnce(&mut Registry<SettledEntry>, Time) -> T) -> T {
        let now = self.core.clock.now();
        let mut registry = self.core.registry();
        let expired = registry.expire(now);
        let found = look(&mut registry, now);
        drop(registry);
        self.core.sessions_ended(expired);
        found
    }

    /// The handle of a session that was minted by [`HostApi::create_session`].
    pub fn handle_of(&self, caller: Owner) -> Option<Handle> {
        match caller {
            Owner::Local => None,
            Owner::Session(session) => self.core.registry().handle_of(session),
        }
    }

    /// The client of a session, as it described itself (at `initialize` or `create-session`).
    pub fn client_of(&self, caller: Owner) -> Option<ClientInfo> {
        let Owner::Session(session) = caller else { return None };
        self.core.registry().client_of(session)
    }

    /// A sign of life of the session (a heartbeat was written, a task was polled).
    pub fn heard(&self, caller: Owner) {
        if let Owner::Session(session) = caller {
            self.core.registry().heard(session, self.core.clock.now());
        }
    }

    /// Keeps the session from expiring while the returned value lives (an open stream).
    pub fn hold(&self, caller: Owner) -> Hold {
        let session = match caller {
            Owner::Local => None,
            Owner::Session(session) => {
                self.core.registry().hold(session);
                Some(session)
            }
        };
        Hold { host: self.clone(), session }
    }

    /// The session fetched the list of tools of this process.
    pub fn tools_fetched(&self, caller: Owner) {
        if let Owner::Session(session) = caller {
            self.core.registry().tools_fetched(session);
        }
    }

    /// Whether the session's list of tools may be of an earlier process.
    pub fn tools_stale(&self, caller: Owner) -> bool {
        match caller {
            Owner::Local => false,
            Owner::Session(session) => self.core.registry().tools_stale(session),
        }
    }

    // --- evals ----------------------------------------------------------------------------------------------------------

    /// Admits an eval and lets it run. Returns at once.
    ///
    /// # Errors
    /// `QueueFull`, `TooManyLive`, `ShuttingDown`, `SessionEnded`, and what is wrong with `ns`: `BadName`, `ForeignScratch`,
    /// `TooManySpaces`. Nothing was started.
    pub fn submit(&self, caller: Owner, request: &EvalRequest) -> Result<Submitted, Refusal> {
        let id = self.core.submit(caller, request)?;
        Ok(Submitted { id, _expected: Expected { host: self.clone(), owner: caller, ids: vec![id] } })
    }

    /// A call is open that will render these entries: what a caller awaits or cancels. Those of others are not affected.
    pub fn expect(&self, caller: Owner, ids: &[EntryId]) -> Expected {
        let mut registry = self.core.registry();
        let ids: Vec<_> = ids.iter().copied().filter(|id| registry.expect(*id, caller)).collect();
        drop(registry);
        Expected { host: self.clone(), owner: caller, ids }
    }

    /// Asks an entry to stop; returns at once. `by` is who asks: the owner's own cancel counts as read.
    ///
    /// # Errors
    /// `NoEntry`, `Evicted`.
    pub fn cancel(&self, by: CancelBy, id: EntryId) -> Result<(), Refusal> {
        let cause = if by == CancelBy::Shutdown { StopCause::Shutdown } else { StopCause::Cancelled };
        self.core.cancel(id, by, &cause).map(drop)
    }

    /// The latest line an entry printed.
    pub fn latest_line(&self, id: EntryId) -> Option<String> {
        let log = self.core.log(id).ok()?;
        let line = log.last_line()?;
        Some(crate::render::output::line(&line))
    }

    /// How an entry stands, for a follower.
    ///
    /// # Errors
    /// `NoEntry`, `Evicted`.
    pub fn task(&self, id: EntryId) -> Result<TaskView, Refusal> {
        let now = self.core.clock.now();
        let (view, log, handle) = {
            let registry = self.core.registry();
            (registry.get(id, now)?, registry.log(id)?, registry.task_handle(id))
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
    pub fn entry(&self, id: EntryId) -> Result<EntryView, Refusal> {
        self.core.registry().get(id, self.core.clock.now())
    }

    /// Lets nobody in any more and asks every entry to stop.
    pub fn close(&self) {
        self.core.close();
    }

    /// Whether the host lets nobody in any more.
    pub fn is_closing(&self) -> bool {
        self.core.is_closing()
    }
}
