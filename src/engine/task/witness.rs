//! [`Witness`]: what a running entry saw of the captured variables that other entries hold as well. It tells when a write of its
//! own rests on what somebody else has changed meanwhile.

use crate::base::lock;
use crate::engine::rhai_internals::walk::Use;
use crate::engine::value::cell_versions::{CellVersion, CellVersions};
use rhai::Dynamic;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// The number of cells from which those are forgotten that nobody holds any more.
const FIRST_LOOK: usize = 256;

/// What one entry saw of captured variables.
#[derive(Debug, Default)]
pub(crate) struct Witness {
    /// Whether there is anything to watch: it holds a cell that another running entry holds as well.
    watches: Arc<AtomicBool>,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    /// By the address of the cell.
    cells: HashMap<usize, SeenCell>,
    /// Dead ones are forgotten when there are so many.
    next_look: usize,
}

#[derive(Debug)]
struct SeenCell {
    version: Arc<CellVersion>,
    /// How often it was written when this entry knew its value last.
    known: Known,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// It has not looked.
    Never,
    /// It may have looked while it was the only one that held the cell.
    Perhaps,
    /// It looked, or wrote, when the cell had been written so often.
    At(u64),
}

impl Witness {
    /// Whether uses of captured variables are to be told to it.
    pub(crate) fn watches(&self) -> bool {
        self.watches.load(Ordering::Relaxed)
    }

    /// The entry is about to share cells with a child. Up to now it has them for itself.
    pub(crate) fn watch(&self) {
        if !self.watches.swap(true, Ordering::AcqRel) {
            lock(&self.seen).cells.values_mut().for_each(|seen| seen.known = Known::Never);
        }
    }

    /// The entry holds the cell at this address, if that is one that several may hold.
    pub(crate) fn holds(&self, versions: &CellVersions, address: usize) {
        self.seen_cell(&mut lock(&self.seen), versions, address);
    }

    /// The entry uses this captured variable now. Returns whether it overwrites what another entry wrote since it looked last.
    pub(crate) fn uses(&self, versions: &CellVersions, cell: &Dynamic, what: Use) -> bool {
        // One that is in use is waited for by Rhai, and then refused.
        let Some(address) = versions.address_of(cell) else { return false };
        let mut seen = lock(&self.seen);
        let Some(SeenCell { version, known }) = self.seen_cell(&mut seen, versions, address) else { return false };
        let last = match *known {
            Known::Never => None,
            Known::Perhaps => Some(version.contested()),
            Known::At(writes) => Some(writes),
        };
        match what {
            Use::Captured => false,
            Use::Read => {
                *known = Known::At(version.now());
                false
            }
            // Reads and writes in one step: nothing is lost, whoever wrote before.
            Use::InPlace => {
                let before = version.written();
                if last == Some(before) {
                    *known = Known::At(before + 1);
                }
                false
            }
            Use::Assigned => {
                let before = version.written();
                if last.is_some() {
                    *known = Known::At(before + 1);
                }
                last.is_some_and(|last| last != before)
            }
        }
    }

    fn seen_cell<'s>(&self, seen: &'s mut Seen, versions: &CellVersions, address: usize) -> Option<&'s mut SeenCell> {
        if !seen.cells.contains_key(&address) {
            let version = versions.get(address)?;
            if seen.cells.len() >= seen.next_look {
                seen.cells.retain(|_, seen| seen.version.is_alive());
                seen.next_look = (seen.cells.len() * 2).max(FIRST_LOOK);
            }
            let watched = self.watches();
            version.join(&self.watches);
            // What it does while nobody else holds the cell is not told.
            let known = if watched || self.watches() { Known::Never } else { Known::Perhaps };
            seen.cells.insert(address, SeenCell { version, known });
        }
        seen.cells.get_mut(&address)
    }

    /// Lets go of everything.
    pub(super) fn clear(&self) {
        let seen = std::mem::take(&mut *lock(&self.seen));
        drop(seen);
    }
}
