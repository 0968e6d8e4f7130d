//! The registry as a value: its parts side by side. The steps that change them stand in the files above.

use super::entries::Entries;
use super::ledger::{Claims, Ledger};
use super::run_queue::RunQueue;
use super::sessions::Sessions;
use super::space_names::SpaceNames;
use super::wait_graph::WaitGraph;
use crate::base::{Limits, Owner};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

/// The registry. `V` is the value or failure that a settled entry keeps: opaque here, cheap to clone.
pub struct Registry<V> {
    pub(super) limits: Limits,
    /// The capacity in force for one session.
    pub(super) capacity: usize,
    /// Nobody is let in any more.
    pub(super) closing: bool,
    pub(super) entries: Entries<V>,
    pub(super) sessions: Sessions,
    pub(super) space_names: SpaceNames,
    pub(super) ledgers: HashMap<Owner, Ledger>,
    pub(super) claims: Claims,
    pub(super) run_queue: RunQueue,
    pub(super) wait_graph: WaitGraph,
    /// The memory the output logs of the process take, in bytes: kept up to date by themselves.
    pub(super) output: Arc<AtomicUsize>,
}

impl<V: Clone> Registry<V> {
    /// An empty registry, without a prompt.
    pub fn new(limits: Limits) -> Self {
        Self {
            capacity: limits.capacity,
            closing: false,
            entries: Entries::new(),
            sessions: Sessions::default(),
            space_names: SpaceNames::new(),
            ledgers: HashMap::new(),
            claims: Claims::default(),
            run_queue: RunQueue::new(&limits),
            wait_graph: WaitGraph::default(),
            output: Arc::default(),
            limits,
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
