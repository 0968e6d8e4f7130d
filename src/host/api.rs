//! The host's public face. (Signatures first: bodies follow.)

use super::{Delivery, Serving};
use crate::words::{Clock, EntryId, Handle, HeaderKey, Limits, Refusal, SessionId, Status, Time};
use std::time::SystemTime;

/// A running Remontoire: one registry, its engine and its spaces. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Host {}

/// What a client says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Client {
    /// Its name, such as `claude-code`; empty when it did not say.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The protocol revision it speaks.
    pub revision: String,
    /// Whether it declared that it follows tasks.
    pub tasks: bool,
}

/// Who speaks: the nil caller, or a session. Resolved once per request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Caller {
    /// The prompt of this process, or the embedding program.
    Nil,
    /// A session of the wire.
    Session(SessionId),
}

/// A header session that was found or adopted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderCaller {
    /// Who speaks.
    pub caller: Caller,
    /// Whether the id was unknown and has just been adopted.
    pub adopted: bool,
}

/// What to evaluate.
#[derive(Clone, Debug, Default)]
pub struct Job {
    /// The script.
    pub code: String,
    /// The space or module to evaluate in; where the session is when `None`.
    pub ns: Option<String>,
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
    pub owner: Caller,
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

impl Host {
    /// The clock everything asks.
    pub fn clock(&self) -> &Clock {
        todo!()
    }

    /// The limits in force.
    pub fn limits(&self) -> &Limits {
        todo!()
    }

    /// What this instance is, in the operator's words; may be empty.
    pub fn describe(&self) -> &str {
        todo!()
    }

    /// When the process started.
    pub fn started(&self) -> SystemTime {
        todo!()
    }

    /// Where this host is served, if it is.
    pub fn serving(&self) -> &Serving {
        todo!()
    }

    /// Counts for `/probe`. Touches nothing.
    pub fn probe(&self) -> Probe {
        todo!()
    }

    // --- sessions -------------------------------------------------------------------------------------------------------

    /// Opens a header session with a fresh id (`initialize` on the handshake wire).
    pub fn initialize(&self, client: Client, peer: Option<String>) -> Result<(HeaderKey, Caller), Refusal> {
        let _ = (client, peer);
        todo!()
    }

    /// The session a header names: live, or adopted when never seen. An id ended by DELETE is `Refusal::SessionEnded`.
    /// Counts as a sign of life.
    pub fn header_caller(&self, key: &HeaderKey, peer: Option<String>) -> Result<HeaderCaller, Refusal> {
        let _ = (key, peer);
        todo!()
    }

    /// Ends a header session (DELETE). A second time is `Refusal::SessionEnded`; a never-seen id is ended too.
    pub fn end_header_session(&self, key: &HeaderKey) -> Result<(), Refusal> {
        let _ = key;
        todo!()
    }

    /// Mints a session with a handle (`create-session`).
    pub fn create_session(
        &self,
        note: Option<String>,
        client: Client,
        peer: Option<String>,
    ) -> Result<(Handle, Caller), Refusal> {
        let _ = (note, client, peer);
        todo!()
    }

    /// The session with this handle; `Refusal::UnknownSession` otherwise. Mints nothing. Counts as a sign of life.
    pub fn handle_caller(&self, handle: &str) -> Result<Caller, Refusal> {
        let _ = handle;
        todo!()
    }

    /// The handle of a session that was minted by `create_session`.
    pub fn handle_of(&self, caller: Caller) -> Option<Handle> {
        let _ = caller;
        todo!()
    }

    /// What the client of a session said about itself (at `initialize` or `create_session`).
    pub fn client_of(&self, caller: Caller) -> Option<Client> {
        let _ = caller;
        todo!()
    }

    /// A sign of life of the session (a heartbeat was written, a task was polled).
    pub fn heard(&self, caller: Caller) {
        let _ = caller;
        todo!()
    }

    /// Keeps the session from expiring while the returned value lives (an open stream).
    pub fn hold(&self, caller: Caller) -> Hold {
        let _ = caller;
        todo!()
    }

    /// The session fetched the list of tools of this process.
    pub fn tools_fetched(&self, caller: Caller) {
        let _ = caller;
        todo!()
    }

    /// Whether the session's list of tools may be of an earlier process.
    pub fn tools_stale(&self, caller: Caller) -> bool {
        let _ = caller;
        todo!()
    }

    // --- evals ----------------------------------------------------------------------------------------------------------

    /// Admits an eval and lets it run. Returns at once.
    pub fn submit(&self, caller: Caller, job: Job) -> Result<EntryId, Refusal> {
        let _ = (caller, job);
        todo!()
    }

    /// Waits until every one of `all` and one of `any` (if there are any) has settled or was never there, or until `until`.
    /// Returns whether they have. Cheap to drop.
    pub async fn settled(&self, all: &[EntryId], any: &[EntryId], until: Option<Time>) -> bool {
        let _ = (all, any, until);
        todo!()
    }

    /// Asks an entry to stop; returns at once. `by` is who asks: the owner's own cancel counts as read.
    pub fn cancel(&self, by: Canceller, id: EntryId) -> Result<(), Refusal> {
        let _ = (by, id);
        todo!()
    }

    /// The latest line an entry printed.
    pub fn latest_line(&self, id: EntryId) -> Option<String> {
        let _ = id;
        todo!()
    }

    /// How an entry stands, for a follower.
    pub fn task(&self, id: EntryId) -> Result<TaskView, Refusal> {
        let _ = id;
        todo!()
    }

    /// A task answer for this entry is about to be sent: its client follows it. When the delivery is dropped unwritten, the
    /// entry is an ordinary one again.
    pub fn follow(&self, id: EntryId) -> Delivery {
        let _ = id;
        todo!()
    }

    // --- answers --------------------------------------------------------------------------------------------------------

    /// The answer to an eval call: the entry's block as it stands now, and the caller's news.
    pub fn answer_eval(&self, caller: Caller, id: EntryId) -> Answer {
        let _ = (caller, id);
        todo!()
    }

    /// The answer to `await`: a block for each id (given as text of the caller: unknown ones are named), one tail of news.
    pub fn answer_await(&self, caller: Caller, ids: &[u64]) -> Answer {
        let _ = (caller, ids);
        todo!()
    }

    /// Cancels for the caller, waits (at most `limits().cancel_wait`) for each to bite, and answers as `await` does.
    pub async fn answer_cancel(&self, caller: Caller, ids: &[u64]) -> Answer {
        let _ = (caller, ids);
        todo!()
    }

    /// The result inside a completed task: the block alone. Claims the entry for its owner.
    pub fn answer_task(&self, id: EntryId) -> Answer {
        let _ = id;
        todo!()
    }

    /// A plain answer of the tools (a minted session, a refused argument) with the caller's news after it, when there is a
    /// caller.
    pub fn answer_text(&self, caller: Option<Caller>, text: String, is_error: bool) -> Answer {
        let _ = (caller, text, is_error);
        todo!()
    }
}

/// Who asks an eval to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Canceller {
    /// A session or the prompt, by a tool or a script.
    Caller(Caller),
    /// The request it belonged to was cancelled, or its stream was closed.
    Request,
    /// The process is shutting down.
    Shutdown,
}

/// Keeps a session alive until dropped.
#[derive(Debug)]
pub struct Hold {}
