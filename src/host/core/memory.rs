//! The memory that counts against the total of the process, and who holds it.

use super::host_core::HostCore;
use crate::base::lock;
use crate::engine::{SpaceView, memory};
use std::sync::PoisonError;

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
        let running: usize = self.all_active().values().map(|active| active.task.memory_used()).sum();
        (all, all.saturating_sub(kept.saturating_add(self.space_bytes()).saturating_add(running)))
    }

    /// The `n` largest spaces with what they hold, in bytes, largest first.
    pub(in crate::host) fn largest_spaces(&self, n: usize) -> Vec<(String, usize)> {
        let mut all: Vec<_> = self
            .spaces
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .values()
            .map(|space| (space.name().to_owned(), space.bytes()))
            .collect();
        all.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
        all.truncate(n);
        all
    }
}
