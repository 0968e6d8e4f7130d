//! The requests and answers that the host and its front ends exchange, as plain data.

use super::delivery::Delivery;
use crate::base::{Handle, Owner, Status, Time};

/// A request to evaluate a script.
#[derive(Clone, Debug, Default)]
pub struct EvalRequest {
    /// The script.
    pub code: String,
    /// The space or module to evaluate in; where the session is when `None`.
    pub ns: Option<String>,
}

impl EvalRequest {
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
    /// The entries and news that are marked as delivered once the text was written.
    pub delivery: Delivery,
}

/// How an entry stands, for a client that follows it as a task. Computed, never stored.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskView {
    /// The session that started it, or this process.
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

/// The counts that `/probe` tells, beside the host's own words about itself.
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
    /// Settled and seen entries, which capacity counts.
    pub pool: usize,
    /// Seconds since the process started.
    pub uptime_seconds: u64,
}

/// Some of the output of an entry, as a terminal may show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputPage {
    /// Where the entry is in its life.
    pub status: Status,
    /// The number of the first of `lines`, from 0: more than was asked for when lines before it were skipped.
    pub first: usize,
    /// Whether lines that were skipped can still be asked for, or were dropped for ever.
    pub skipped_are_kept: bool,
    /// The lines.
    pub lines: Vec<String>,
    /// How many lines the entry has printed.
    pub total: usize,
}
