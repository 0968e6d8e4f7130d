//! The ceiling of what the process may allocate while evals run. Data only; what is done above it stands in `memory.rs`.

use crate::base::limits::MIB;
use crate::engine::memory::process_bytes;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// The part of the total by which running evals may go beyond it, so that an eval which keeps nothing has room in a full process.
const MARGIN: usize = 8;

/// The number of bytes above which running entries are looked at.
#[derive(Debug)]
pub(super) struct Ceiling {
    /// The bytes where it stands as a rule.
    lowest: usize,
    /// The bytes where it stands: higher after there was nobody to stop. Shared with every running entry.
    bytes: Arc<AtomicUsize>,
    /// Locked by whoever makes room: one at a time.
    pub(super) making_room: Mutex<()>,
}

impl Ceiling {
    /// The ceiling of a process that had allocated `before` and may keep `total`; none when memory is not counted.
    pub(super) fn new(before: Option<usize>, total: usize) -> Self {
        let lowest = before.map_or(usize::MAX, |before| before.saturating_add(total).saturating_add(total / MARGIN));
        Self { lowest, bytes: Arc::new(AtomicUsize::new(lowest)), making_room: Mutex::default() }
    }

    /// The bytes where it stands, for those who look at every operation.
    pub(super) fn shared(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.bytes)
    }

    /// Whether the process stays below where it stands as a rule, with `wanted` bytes more and once `leaving` bytes are freed.
    pub(super) fn has_room(&self, wanted: usize, leaving: usize) -> bool {
        process_bytes().saturating_sub(leaving).saturating_add(wanted) <= self.lowest
    }

    /// Nobody can be stopped: it stands a little above what there is.
    pub(super) fn raise(&self) {
        self.bytes.store(process_bytes().saturating_add(MIB).max(self.lowest), Ordering::Relaxed);
    }

    /// Comes down again after what there is has become less.
    pub(super) fn lower(&self) {
        let stands = self.bytes.load(Ordering::Relaxed);
        if stands > self.lowest {
            let now = process_bytes().saturating_add(MIB).max(self.lowest);
            self.bytes.store(stands.min(now), Ordering::Relaxed);
        }
    }
}
