//! The versions of captured variables that several entries may hold: how often each was written, and who holds it.
//!
//! A cell is entered here when it leaves its eval for the first time, in a closure that a child is given, that is kept, or that is
//! put into an atom. Cells of one eval alone have no version. Of those that are here nobody counts the writes before a second
//! running entry comes to hold one.

use super::cycle_collector::{Captures, Cell};
use super::inspect::address;
use crate::base::lock;
use rhai::Dynamic;
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};

/// The number of cells from which dead ones are forgotten.
const FIRST_LOOK: usize = 1_024;

/// One cell that several entries may hold. While this is held no other cell comes to be where it is, so its address names it.
pub(crate) struct CellVersion {
    cell: Weak<Cell>,
    writes: AtomicU64,
    /// How often it was written when a second entry came to hold it.
    contested: AtomicU64,
    /// The running entries that hold it: where each is told that it has to watch.
    holders: Mutex<Vec<Weak<AtomicBool>>>,
}

impl CellVersion {
    /// How often it was written up to now.
    pub(crate) fn now(&self) -> u64 {
        self.writes.load(Ordering::Acquire)
    }

    /// It is written. Returns how often it was before.
    pub(crate) fn written(&self) -> u64 {
        self.writes.fetch_add(1, Ordering::AcqRel)
    }

    /// How often it was written when a second entry came to hold it.
    pub(crate) fn contested(&self) -> u64 {
        self.contested.load(Ordering::Acquire)
    }

    /// Whether somebody still holds the cell.
    pub(crate) fn is_alive(&self) -> bool {
        self.cell.strong_count() > 0
    }

    /// A running entry holds it from now on. When it is not the only one, all of them have to watch.
    pub(crate) fn join(&self, watches: &Arc<AtomicBool>) {
        let mut holders = lock(&self.holders);
        holders.retain(|holder| holder.strong_count() > 0);
        if !holders.iter().any(|holder| std::ptr::eq(holder.as_ptr(), Arc::as_ptr(watches))) {
            holders.push(Arc::downgrade(watches));
        }
        if holders.len() > 1 {
            self.contested.store(self.now(), Ordering::Release);
            holders.iter().filter_map(Weak::upgrade).for_each(|holder| holder.store(true, Ordering::Release));
        }
    }
}

impl fmt::Debug for CellVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CellVersion").field("writes", &self.now()).finish_non_exhaustive()
    }
}

/// The cells of a process that several entries may hold, by address.
#[derive(Debug, Default)]
pub(crate) struct CellVersions {
    any: AtomicBool,
    known: RwLock<Known>,
}

#[derive(Debug, Default)]
struct Known {
    cells: HashMap<usize, Arc<CellVersion>>,
    /// Dead ones are forgotten when there are so many.
    next_look: usize,
}

impl CellVersions {
    /// The address of a cell when there are any that several entries may hold, and it is not in use.
    pub(crate) fn address_of(&self, cell: &Dynamic) -> Option<usize> {
        let any = self.any.load(Ordering::Acquire) && cell.is_shared();
        any.then(|| cell.read_lock::<Dynamic>().map(|value| address(&value))).flatten()
    }

    /// The version of the cell at this address, when several entries may hold it.
    pub(crate) fn get(&self, address: usize) -> Option<Arc<CellVersion>> {
        if !self.any.load(Ordering::Acquire) {
            return None;
        }
        self.known.read().unwrap_or_else(PoisonError::into_inner).cells.get(&address).cloned()
    }

    /// Several entries may hold the cell at this address from now on. It is known, or one of these.
    pub(crate) fn enter(&self, address: usize, captures: &Captures) {
        if self.get(address).is_some() {
            return;
        }
        let Some(cell) = captures.find(address) else { return };
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.cells.len() >= known.next_look {
            known.cells.retain(|_, version| version.is_alive());
            known.next_look = (known.cells.len() * 2).max(FIRST_LOOK);
        }
        let (writes, contested) = (AtomicU64::new(0), AtomicU64::new(0));
        let version = CellVersion { cell, writes, contested, holders: Mutex::default() };
        // What is here holds its address, so it is the same cell.
        known.cells.entry(address).or_insert_with(|| Arc::new(version));
        self.any.store(true, Ordering::Release);
    }
}
