//! The facts behind the handles of an entry, as scripts hold them.

use crate::base::{EntryId, lock};
use crate::engine::EntryOps;
use crate::registry::EntryView;
use std::sync::Mutex;

/// Asks for the facts of an entry; `None` once it is gone.
type Ask = Box<dyn Fn(EntryId) -> Option<EntryView> + Send + Sync>;

/// The facts of an entry as they were last known, at the latest when it settled. After it was evicted they still answer.
pub(in crate::host) struct HandleFacts {
    ask: Ask,
    last_known: Mutex<EntryView>,
}

impl EntryOps for HandleFacts {}

impl HandleFacts {
    /// The facts `known`, and the way to fresh ones. `ask` does not keep the host alive: handles may outlive it.
    pub(in crate::host) fn new(
        known: EntryView,
        ask: impl Fn(EntryId) -> Option<EntryView> + Send + Sync + 'static,
    ) -> Self {
        Self { ask: Box::new(ask), last_known: Mutex::new(known) }
    }

    /// The facts, as fresh as they can be had.
    pub(in crate::host) fn facts(&self) -> EntryView {
        let mut facts = lock(&self.last_known);
        if let Some(fresh) = (self.ask)(facts.id) {
            *facts = fresh;
        }
        facts.clone()
    }

    /// The facts are these from now on.
    pub(in crate::host) fn learn(&self, facts: EntryView) {
        *lock(&self.last_known) = facts;
    }
}
