//! The registry as a plain value: sessions, entries, deliveries, slots and the waits-for graph.
//!
//! Owns every rule about who may do what, who is owed which news, and what is kept. Knows no language, no clock, no thread and
//! no wire: time comes in as [`Time`](crate::base::Time), randomness as a closure, and whatever must be dropped, stopped or
//! woken goes out in the return value. The host keeps one [`Registry`] behind one lock, so each method is a single step.
//!
//! Two rules for callers: drop [`Remains`] and other values that come out only after unlocking, and wake or stop the entries
//! that an answer names. Lists called `granted` name entries that hold a slot from now on.

mod book;
mod cancel;
mod delivery;
mod entry;
mod log;
mod places;
mod pool;
mod session;
mod slots;
mod view;
mod waits;

#[cfg(test)]
mod tests;

pub use cancel::{Asked, CancelBy, CancelState, Released, ShutDown};
pub use delivery::{Claim, ClaimId};
pub use entry::{Admission, NewEntry, Refused, Settled, Settlement};
pub use log::{Gap, HeadTail, Line, OutputLog, Page};
pub use places::{Place, SpaceKind, SpaceRow};
pub use pool::{Forgotten, Remains};
pub use session::{Adoption, Created, EndedSession, Opened};
pub use view::{Counts, EntryFilter, EntryView, SessionRow};
pub use waits::Wants;

use crate::base::{Limits, Owner};
use book::Entries;
use delivery::{Claims, Ledger};
use places::Places;
use session::Sessions;
use slots::Slots;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;
use waits::Waits;

/// How long after its end an entry stays readable for a client that follows it as a task. The `ttlMs` of a task is
/// (settled, or now) − created, plus this.
pub const FOLLOWED_FOR: Duration = Duration::from_millis(3_600_000);

/// The registry. `V` is what a settled entry keeps: its value or failure, opaque here, cheap to clone.
pub struct Registry<V> {
    limits: Limits,
    /// The capacity in force for one session.
    capacity: usize,
    /// Whether nobody is let in any more.
    closing: bool,
    entries: Entries<V>,
    sessions: Sessions,
    places: Places,
    ledgers: HashMap<Owner, Ledger>,
    claims: Claims,
    slots: Slots,
    waits: Waits,
    /// What the output logs of the process hold, in bytes: kept up to date by themselves.
    output: Arc<AtomicUsize>,
}

impl<V: Clone> Registry<V> {
    /// An empty registry, without a prompt.
    pub fn new(limits: Limits) -> Self {
        Self {
            capacity: limits.capacity,
            closing: false,
            entries: Entries::new(),
            sessions: Sessions::default(),
            places: Places::new(),
            ledgers: HashMap::new(),
            claims: Claims::default(),
            slots: Slots::new(&limits),
            waits: Waits::default(),
            output: Arc::default(),
            limits,
        }
    }

    /// The limits it was made with. (The capacity in force is [`Registry::capacity`].)
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Whether somebody sits at a prompt and is told about the nil caller's work. Without one (the beginning) that work is
    /// seen and told when it settles; switching it off gives up what was owed.
    pub fn set_prompt(&mut self, prompt: bool) {
        if prompt {
            self.ledgers.entry(Owner::Local).or_default();
        } else {
            self.close_ledger(Owner::Local);
        }
    }
}

impl<V> fmt::Debug for Registry<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry")
            .field("newest", &self.entries.newest())
            .field("live", &self.entries.live())
            .field("sessions", &self.sessions.len())
            .finish_non_exhaustive()
    }
}
