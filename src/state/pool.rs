//! What is kept and what goes: the capacity, eviction by age and by size, `forget`.

use super::{OutputLog, Owner, State};
use crate::words::{EntryId, Refusal};
use std::sync::Arc;

/// What is left of evicted entries. Drop it after unlocking.
#[derive(Debug)]
#[must_use = "drop this after unlocking"]
pub struct Remains<V> {
    /// What they kept.
    pub values: Vec<V>,
    /// Their output.
    pub logs: Vec<Arc<OutputLog>>,
    /// Their ids, in the order in which they went.
    pub ids: Vec<EntryId>,
}

/// What `forget` let go.
#[derive(Debug)]
#[must_use = "drop this after unlocking"]
pub struct Forgotten<V> {
    /// The value, to be dropped after unlocking; `None` when there was none.
    pub value: Option<V>,
    /// How much was freed, output included, in bytes.
    pub bytes: usize,
}

impl<V: Clone> State<V> {
    /// The settled and seen entries that are kept for one session.
    pub fn capacity(&self) -> usize {
        todo!()
    }

    /// Changes the capacity; acts at the next admission.
    pub fn set_capacity(&mut self, capacity: usize) {
        let _ = capacity;
        todo!()
    }

    /// The capacity in force: ten more for each live session beyond the first.
    pub fn effective_capacity(&self) -> usize {
        todo!()
    }

    /// What entries keep, in bytes: values, output and code.
    pub fn kept_bytes(&self) -> usize {
        todo!()
    }

    /// The entries that keep the most (value and output, in bytes), largest first.
    pub fn largest(&self, n: usize) -> Vec<(EntryId, usize)> {
        let _ = n;
        todo!()
    }

    /// Drops the value and output an entry keeps (of a running entry: the output so far). `ForeignUnread` for another owner's
    /// entry that its owner has not read, `NoEntry`, `Evicted`.
    pub fn forget(&mut self, id: EntryId, by: Owner) -> Result<Forgotten<V>, Refusal> {
        let _ = (id, by);
        todo!()
    }
}
