//! The registry as a plain value: sessions, entries, deliveries, slots and the waits-for graph.
//!
//! Owns every rule about who may do what, who is owed which news, and what is kept. Knows no Rhai, no clock, no thread and
//! no wire: time comes in as [`Time`](crate::base::Time), randomness as a closure, and whatever must be dropped, stopped or
//! woken goes out in the return value. The host keeps one [`Registry`] behind one lock, so each method is a single step.
//!
//! Data stands below (`entries`, `ledger`, `sessions`, `space_names`, `run_queue`, `wait_graph`, `log`), `state` holds it together,
//! and the other files are the steps.
//!
//! Two rules for callers: drop [`Remains`] and other values that come out only after unlocking, and wake or stop the entries
//! that an answer names. Lists called `granted` name entries that hold a slot from now on.

mod admission;
mod cancel;
mod delivery;
mod entries;
mod eviction;
mod ledger;
mod log;
mod run_queue;
mod session_steps;
mod sessions;
mod slot_steps;
mod space_names;
mod space_steps;
mod state;
mod view;
mod wait_graph;
mod wait_steps;

#[cfg(test)]
mod tests;

pub use admission::{Admission, Refused, Settled, Settlement};
pub use cancel::{Asked, CancelBy, CancelState, Released, ShutDown};
pub use entries::{FOLLOWED_FOR, NewEntry};
pub use eviction::{Forgotten, Remains};
pub use ledger::{Adoption, Claim, ClaimId};
pub use log::OutputLog;
pub(crate) use log::{Gap, HeadTail, Line, Page};
pub use sessions::{Created, EndedSession, Opened};
pub use space_names::{NamedSpace, SpaceKind, TargetSpace};
pub use state::Registry;
pub use view::{Counts, EntryFilter, EntryView, SessionRow};
pub use wait_graph::Wants;
