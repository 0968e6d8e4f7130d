//! The capacity, eviction by age and by size, and `forget`.

use super::entries::{Kept, Phase};
use super::log::{Line, OutputLog};
use super::state::Registry;
use crate::base::{EntryId, Owner, Refusal};
use std::cmp::Reverse;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The growth of the capacity with each live session beyond the first.
const PLACES_PER_SESSION: usize = 10;

/// The remains of evicted entries. Drop them after unlocking.
#[derive(Debug)]
#[must_use = "drop this after unlocking"]
pub struct Remains<V> {
    /// Their values and failures.
    pub values: Vec<V>,
    /// Their output.
    pub logs: Vec<Arc<OutputLog>>,
    /// Their ids, in the order in which they went.
    pub ids: Vec<EntryId>,
}

/// The value and output that `forget` let go.
#[derive(Debug)]
#[must_use = "drop this after unlocking"]
pub struct Forgotten<V> {
    /// The value; `None` when there was none.
    pub value: Option<V>,
    /// The output.
    pub lines: VecDeque<Line>,
    /// The size of both, in bytes.
    pub bytes: usize,
}

impl<V> Remains<V> {
    pub(super) fn none() -> Self {
        Self { values: Vec::new(), logs: Vec::new(), ids: Vec::new() }
    }
}

impl<V: Clone> Registry<V> {
    /// The settled and seen entries that are kept for one session.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Changes the capacity; acts at the next admission.
    pub fn set_capacity(&mut self, capacity: usize) {
        self.capacity = capacity;
    }

    /// The capacity in force: ten more for each live session beyond the first.
    pub fn effective_capacity(&self) -> usize {
        self.capacity.saturating_add(PLACES_PER_SESSION * self.sessions.len().saturating_sub(1))
    }

    /// The size of what entries keep, in bytes: values, output and code.
    pub fn kept_bytes(&self) -> usize {
        self.entries.bytes().saturating_add(self.output.load(Ordering::Relaxed))
    }

    /// The entries that keep the most (value and output, in bytes), largest first.
    pub fn largest(&self, n: usize) -> Vec<(EntryId, usize)> {
        let mut sizes: Vec<_> = self.entries.iter().map(|(id, entry)| (id, entry.bytes())).collect();
        sizes.sort_by_key(|(id, bytes)| (Reverse(*bytes), *id));
        sizes.truncate(n);
        sizes
    }

    /// Drops the value and output an entry keeps (of a running entry: the output so far). `ForeignUnread` for another owner's
    /// entry that its owner has not read, `NoEntry`, `Evicted`.
    pub fn forget(&mut self, id: EntryId, by: Owner) -> Result<Forgotten<V>, Refusal> {
        let entry = self.entries.find(id)?;
        if entry.owner != by && !entry.seen {
            return Err(Refusal::ForeignUnread(id));
        }
        let output = entry.log.kept_bytes();
        let lines = entry.log.forget();
        let (value, bytes) = self.entries.forget(id).map_or((None, 0), |(value, bytes)| (Some(value), bytes));
        Ok(Forgotten { value, lines, bytes: bytes.saturating_add(output) })
    }

    /// Evicts what is over the capacity, oldest touch first, then the largest while the process is over its total.
    pub(super) fn make_room(&mut self, elsewhere: usize) -> Remains<V> {
        let mut remains = Remains::none();
        let surplus = self.entries.pooled().saturating_sub(self.effective_capacity());
        let oldest: Vec<_> = self.entries.pool().take(surplus).collect();
        let mut held = 0;
        for id in oldest {
            held += self.evict(id, &mut remains);
        }
        // The logs of evicted entries count until they are dropped, which is after this.
        let total = self.kept_bytes().saturating_sub(held).saturating_add(elsewhere);
        let excess = total.saturating_sub(self.limits.total_bytes);
        self.evict_largest(excess, &mut remains);
        remains
    }

    /// Evicts the largest so that `more` bytes fit into the total of the process, beside the bytes held `elsewhere`. False when
    /// all there is to evict would not be enough; then nothing is evicted.
    pub fn make_room_for(&mut self, more: usize, elsewhere: usize) -> (Remains<V>, bool) {
        let mut remains = Remains::none();
        let total = self.kept_bytes().saturating_add(elsewhere).saturating_add(more);
        let excess = total.saturating_sub(self.limits.total_bytes);
        let evictable = self.entries.pool().map(|id| self.size(id)).fold(0_usize, usize::saturating_add);
        if evictable < excess {
            return (remains, false);
        }
        self.evict_largest(excess, &mut remains);
        (remains, true)
    }

    /// The bytes that evicting an entry frees.
    fn size(&self, id: EntryId) -> usize {
        self.entries.get(id).map_or(0, |entry| entry.bytes() + entry.code.len())
    }

    /// Evicts the largest of the pool until `excess` bytes are free or nothing is left to evict.
    fn evict_largest(&mut self, mut excess: usize, remains: &mut Remains<V>) {
        if excess == 0 {
            return;
        }
        let mut by_size: Vec<_> = self.entries.pool().map(|id| (id, self.size(id))).collect();
        // Stable, so that of equals the oldest goes first.
        by_size.sort_by_key(|(_, bytes)| Reverse(*bytes));
        for (id, bytes) in by_size {
            if excess == 0 {
                break;
            }
            self.evict(id, remains);
            excess = excess.saturating_sub(bytes);
        }
    }

    /// Evicts one entry and lets its owner know. Returns the size of its output, in bytes.
    fn evict(&mut self, id: EntryId, remains: &mut Remains<V>) -> usize {
        let Some(entry) = self.entries.remove(id) else { return 0 };
        if let Some(ledger) = self.ledgers.get_mut(&entry.owner) {
            ledger.evicted.insert(id);
        }
        let output = entry.log.kept_bytes();
        if let Phase::Settled { kept: Kept::Value(value, _), .. } = entry.phase {
            remains.values.push(value);
        }
        remains.logs.push(entry.log);
        remains.ids.push(id);
        output
    }
}
