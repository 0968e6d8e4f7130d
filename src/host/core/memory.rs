//! The memory that counts against the total of the process, and who holds it.

use super::active::ActiveEntry;
use super::host_core::HostCore;
use crate::base::limits::{LimitHit, MIB, bytes};
use crate::base::{EntryId, StopCause, lock};
use crate::engine::{SpaceView, memory};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

/// An entry that holds less than this is never stopped for what the process holds as a whole.
const SPARED: usize = MIB;

/// The longest wait for one entry that is on its way out, before whoever waits looks whether it was stopped itself.
const LEAVING: Duration = Duration::from_millis(20);

impl HostCore {
    /// Bytes held beside those that the registry counts: spaces, running evals, and what stands behind atoms and channels.
    /// With the counting allocator this is what the process allocated since the host was built, so whatever hides from a walk
    /// over values counts too; without it, what spaces say of themselves.
    pub(in crate::host) fn unregistered_bytes(&self) -> usize {
        if let Some(before) = self.held_before {
            return memory::process_bytes().saturating_sub(before).saturating_sub(self.registry().kept_bytes());
        }
        self.space_bytes()
    }

    /// Bytes that all spaces say they hold.
    fn space_bytes(&self) -> usize {
        let spaces: usize =
            self.spaces.read().unwrap_or_else(PoisonError::into_inner).values().map(|space| space.bytes()).sum();
        let modules = lock(&self.module_spaces);
        spaces + modules.values().map(|module| module.space().bytes()).sum::<usize>()
    }

    /// All that counts against the total of the process, and how much of it no kept entry, space or running eval accounts for; both
    /// in bytes. Holders say of themselves what they take, mostly a little too much: the second is what is missing at least.
    pub(in crate::host) fn held(&self) -> (usize, usize) {
        let kept = self.registry().kept_bytes();
        let all = kept.saturating_add(self.unregistered_bytes());
        let running: usize = self.all_active().values().map(|active| active.task.memory_held()).sum();
        (all, all.saturating_sub(kept.saturating_add(self.space_bytes()).saturating_add(running)))
    }

    /// Makes room for `more` bytes by evicting what was delivered, and by freeing what only holds itself. False when that is not
    /// enough. Values are dropped: call it on a thread of evals.
    pub(in crate::host) fn make_room_for(&self, more: usize) -> bool {
        let fits = || {
            let unregistered = self.unregistered_bytes();
            let (evicted, fits) = self.registry().make_room_for(more, unregistered);
            // Dropped here: what is measured next shall not count it any more.
            drop(evicted);
            fits
        };
        if fits() {
            return true;
        }
        self.runtime.free_circles();
        fits()
    }

    /// The refusal of a process that is full, with the largest holders: kept entries and spaces, and with `running` also evals that
    /// run.
    pub(in crate::host) fn total_hit(&self, running: bool) -> LimitHit {
        let spaces = self.largest_spaces(2).into_iter().map(|(name, size)| (true, format!("space {name}"), size));
        let entries = self.registry().largest(2);
        let entries = entries.into_iter().map(|(id, size)| (false, format!("entry {id}"), size));
        let running = self.largest_running(if running { 2 } else { 0 });
        let running = running.into_iter().map(|(name, size)| (false, name, size));
        let mut holders: Vec<_> = spaces.chain(entries).chain(running).collect();
        // To free what may be kept even now is no way out.
        holders.retain(|(.., size)| *size > self.limits.kept_when_full_bytes);
        holders.sort_by_key(|(.., size)| std::cmp::Reverse(*size));
        holders.truncate(3);
        // The order stays within each.
        holders.sort_by_key(|(is_space, ..)| !is_space);
        LimitHit::TotalMemory {
            limit: self.limits.total_bytes,
            still: self.limits.kept_when_full_bytes,
            unnamed: self.held().1,
            holders: holders.into_iter().map(|(_, name, size)| format!("{name} ({})", bytes(size))).collect(),
        }
    }

    /// The bytes of the process above which [`HostCore::over_total`] is to be called.
    pub(in crate::host) fn ceiling(&self) -> Arc<AtomicUsize> {
        self.ceiling.shared()
    }

    /// The ceiling follows what there is down again. Asked at every admission.
    pub(in crate::host) fn lower_ceiling(&self) {
        self.ceiling.lower();
    }

    /// Running evals have brought the process above its ceiling, or `entry` would with the `wanted` bytes that it is about to
    /// allocate. What was delivered makes room first; then the running entry that holds most is stopped. Where those that were
    /// stopped before free enough nothing is done, but an allocation waits for the next of them to end.
    pub(in crate::host) fn over_total(&self, entry: EntryId, wanted: usize) {
        let ended = self.ends.generation();
        let alone = match self.ceiling.making_room.try_lock() {
            Ok(alone) => alone,
            // Somebody else is at it.
            Err(_) if wanted == 0 => return,
            Err(_) => lock(&self.ceiling.making_room),
        };
        if self.ceiling.has_room(wanted, self.leaving()) {
            drop(alone);
            if wanted > 0 && !self.ceiling.has_room(wanted, 0) {
                self.ends.wait(ended, &self.clock, Some(self.clock.now() + LEAVING));
            }
            return;
        }
        if self.make_room_for(wanted) && self.ceiling.has_room(wanted, 0) {
            return;
        }
        let holds = |active: &ActiveEntry| {
            let asked = if active.id == entry { wanted } else { 0 };
            active.task.memory_held().saturating_add(asked)
        };
        let largest = {
            let all = self.all_active();
            let running = all.values().filter(|active| active.task.stopped().is_none());
            // Of equals the newest.
            running
                .map(|active| (holds(active), active.id, Arc::clone(active)))
                .max_by_key(|(holds, id, _)| (*holds, *id))
        };
        match largest {
            Some((holds, _, active)) if holds >= SPARED => {
                active.task.stop(StopCause::Limit(self.total_hit(true)));
            }
            _ => self.ceiling.raise(),
        }
    }

    /// Nobody has made room in time for the `wanted` bytes of `entry`: it is stopped, unless it is small.
    pub(in crate::host) fn no_room(&self, entry: EntryId, wanted: usize) {
        let asking = self.all_active().get(&entry).cloned();
        if let Some(active) = asking.filter(|active| active.task.memory_used().saturating_add(wanted) >= SPARED) {
            active.task.stop(StopCause::Limit(self.total_hit(true)));
        }
    }

    /// The bytes of entries that were stopped and have not settled.
    fn leaving(&self) -> usize {
        let all = self.all_active();
        let stopped = all.values().filter(|active| active.task.stopped().is_some());
        stopped.map(|active| active.task.memory_held()).fold(0, usize::saturating_add)
    }

    /// The `n` running entries that hold most, with how much that is, in bytes.
    fn largest_running(&self, n: usize) -> Vec<(String, usize)> {
        let running = |active: &Arc<ActiveEntry>| (format!("running entry {}", active.id), active.task.memory_held());
        let mut all: Vec<_> = self.all_active().values().map(running).collect();
        all.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
        all.truncate(n);
        all
    }

    /// The `n` largest spaces with what they hold, in bytes, largest first; those of modules among them.
    pub(in crate::host) fn largest_spaces(&self, n: usize) -> Vec<(String, usize)> {
        let of_modules = self.known_module_spaces();
        let of_modules = of_modules.iter().map(|space| (space.name().to_owned(), space.bytes()));
        let mut all: Vec<_> = self
            .spaces
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .values()
            .map(|space| (space.name().to_owned(), space.bytes()))
            .chain(of_modules)
            .collect();
        all.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
        all.truncate(n);
        all
    }
}
