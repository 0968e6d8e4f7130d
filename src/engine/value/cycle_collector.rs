//! Captured variables that nobody can reach any more.
//!
//! A captured variable is a cell that is counted by references. A closure that is kept in what it captured makes a circle, which
//! counting never frees: `{ let f = (); f = || f; }`. So every cell is made here and noted, and those that only each other hold
//! are emptied: at the end of the eval that made them, and later when the process is short of memory.
//!
//! Everything that is *not* understood counts as held: a reference that is not found inside another noted cell, be it in a space, a
//! result, an atom, a running eval or a value of the embedding program, keeps a cell and all it leads to.

use super::inspect::{address, is_small};
use crate::base::lock;
use rhai::{Dynamic, FnPtr, Locked, Map, Shared};
use std::collections::HashMap;
use std::fmt;
use std::sync::{LazyLock, Mutex, RwLockWriteGuard, Weak};

/// A captured variable.
pub(super) type Cell = Locked<Dynamic>;

/// How far from the beginning of a cell its value stands.
static OFFSET: LazyLock<usize> = LazyLock::new(|| {
    let cell = Shared::new(Cell::new(Dynamic::UNIT));
    let value = cell.try_read().map_or(0, |value| address(&value));
    value.saturating_sub(Shared::as_ptr(&cell).addr())
});

/// References to cells in use after which looking is given up: each costs a pause of Rhai's own making.
const PATIENCE: usize = 4;

/// The number of cells that may outlive their evals before the circles among them are looked for.
const FIRST_LOOK: usize = 1_024;

/// Noted that were made, without keeping them alive.
#[derive(Default)]
struct Noted {
    noted: Vec<Weak<Cell>>,
    /// Dead ones are forgotten when there are so many.
    next_look: usize,
}

impl Noted {
    /// A new cell that holds `value`.
    fn make(&mut self, value: Dynamic) -> Dynamic {
        let cell = Shared::new(Cell::new(value));
        if self.noted.len() >= self.next_look {
            self.noted.retain(|cell| cell.strong_count() > 0);
            self.next_look = (self.noted.len() * 2).max(FIRST_LOOK);
        }
        self.noted.push(Shared::downgrade(&cell));
        cell.into()
    }
}

impl fmt::Debug for Noted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Noted").field("noted", &self.noted.len()).finish_non_exhaustive()
    }
}

/// The captured variables that one entry made.
#[derive(Debug, Default)]
pub(crate) struct Captures(Mutex<Noted>);

impl Captures {
    /// A new cell that holds `value`.
    pub(crate) fn make(&self, value: Dynamic) -> Dynamic {
        lock(&self.0).make(value)
    }

    /// The cell whose value has this address, if it was made here.
    pub(super) fn find(&self, address: usize) -> Option<Weak<Cell>> {
        let of_cell = address.checked_sub(*OFFSET)?;
        // Those that leave their eval were mostly made just now.
        lock(&self.0).noted.iter().rev().find(|cell| cell.as_ptr().addr() == of_cell).cloned()
    }
}

/// The cells of a process that outlived the evals that made them.
#[derive(Debug, Default)]
pub(crate) struct CycleCollector(Mutex<Noted>);

impl CycleCollector {
    /// An eval is over: empties the circles among its cells, and takes over the others. Values are dropped here: call it on a
    /// stack that is large enough for any.
    pub(crate) fn take_over(&self, young: &Captures) {
        let young = std::mem::take(&mut *lock(&young.0));
        if young.noted.is_empty() {
            return;
        }
        let left = sweep(young.noted);
        let full = {
            let mut all = lock(&self.0);
            all.noted.extend(left);
            all.noted.len() >= all.next_look.max(FIRST_LOOK)
        };
        if full {
            self.sweep();
        }
    }

    /// The number of those that are alive.
    #[cfg(test)]
    pub(crate) fn alive(&self) -> usize {
        lock(&self.0).noted.iter().filter(|cell| cell.strong_count() > 0).count()
    }

    /// Empties the circles among all of them.
    pub(crate) fn sweep(&self) {
        let noted = std::mem::take(&mut lock(&self.0).noted);
        let left = sweep(noted);
        let mut all = lock(&self.0);
        all.noted.extend(left);
        all.next_look = all.noted.len() * 2;
    }
}

/// Empties those that only each other hold, and returns the others.
fn sweep(noted: Vec<Weak<Cell>>) -> Vec<Weak<Cell>> {
    let cells: Vec<Shared<Cell>> = noted.iter().filter_map(Weak::upgrade).collect();
    drop(noted);
    let garbage = unheld(&cells).filter(|unheld| unheld.iter().any(|unheld| *unheld)).map(|unheld| {
        let of =
            |wanted| move |(cell, unheld): (&Shared<Cell>, &bool)| (*unheld == wanted).then(|| Shared::clone(cell));
        let garbage: Vec<_> = cells.iter().zip(&unheld).filter_map(of(true)).collect();
        let others: Vec<_> = cells.iter().zip(&unheld).filter_map(of(false)).collect();
        (garbage, others)
    });
    let (garbage, mut others) = garbage.unwrap_or_else(|| (Vec::new(), cells.clone()));
    drop(cells);
    let values: Option<Vec<Dynamic>> = certainly_unheld(&garbage).then(|| {
        // Nobody else can come to these locks any more.
        garbage.iter().filter_map(|cell| Some(std::mem::take(&mut *cell.try_write().ok()?))).collect()
    });
    if values.is_none() {
        others.extend(garbage);
    }
    let left = others.iter().map(Shared::downgrade).collect();
    drop(others);
    drop(values);
    left
}

/// Which of the cells seem to be held by each other alone. Others may use them meanwhile, so this is a guess. A cell in use is held,
/// and so is all that is in it, as nobody can look there. `None` when too many are. The caller holds each of them once.
fn unheld(cells: &[Shared<Cell>]) -> Option<Vec<bool>> {
    let mut places = HashMap::with_capacity(cells.len());
    let mut in_use = vec![false; cells.len()];
    for (index, cell) in cells.iter().enumerate() {
        match cell.try_read() {
            Ok(inner) => _ = places.insert(address(&inner), index),
            Err(_) => in_use[index] = true,
        }
    }
    let mut leads = Vec::with_capacity(cells.len());
    let mut found = vec![0; cells.len()];
    let mut patience = PATIENCE;
    for (index, cell) in cells.iter().enumerate() {
        let mut inside = Vec::new();
        match cell.try_read() {
            Ok(inner) => references(&inner, &places, &mut inside, &mut patience)?,
            Err(_) => in_use[index] = true,
        }
        inside.iter().for_each(|index| found[*index] += 1);
        leads.push(inside);
    }
    let held = |index: &usize| in_use[*index] || Shared::strong_count(&cells[*index]) - 1 > found[*index];
    let mut next: Vec<usize> = (0..cells.len()).filter(held).collect();
    let mut unheld = vec![true; cells.len()];
    while let Some(index) = next.pop() {
        if std::mem::replace(&mut unheld[index], false) {
            next.extend(&leads[index]);
        }
    }
    Some(unheld)
}

/// Whether these cells are held by each other alone, from now on for ever. The caller holds each of them once.
fn certainly_unheld(cells: &[Shared<Cell>]) -> bool {
    // While all are locked nobody can get at a cell through another: who holds one from elsewhere can only copy or drop that
    // reference. So a cell that is not held from elsewhere when it is counted is not held later either.
    let mut locked = Vec::with_capacity(cells.len());
    for cell in cells {
        let Ok(guard) = cell.try_write() else { return false };
        locked.push(guard);
    }
    let counts: Vec<usize> = cells.iter().map(|cell| Shared::strong_count(cell) - 1).collect();
    // Downgrading lets no writer in between: what is found now is what was in the cells when they were counted.
    let locked: Vec<_> = locked.into_iter().map(RwLockWriteGuard::downgrade).collect();
    let places: HashMap<usize, usize> =
        locked.iter().enumerate().map(|(index, guard)| (address(guard), index)).collect();
    let mut found = vec![0; cells.len()];
    for guard in &locked {
        let mut inside = Vec::new();
        if references(guard, &places, &mut inside, &mut 0).is_none() {
            return false;
        }
        inside.iter().for_each(|index| found[*index] += 1);
    }
    counts == found
}

/// Notes every reference to one of the cells at `places` that is found in a value, but not in cells inside it. Which cell it is
/// cannot be told of one in use: such references are left out, and `None` when there are more than `patience` of them.
fn references(
    value: &Dynamic,
    places: &HashMap<usize, usize>,
    found: &mut Vec<usize>,
    patience: &mut usize,
) -> Option<()> {
    if value.is_shared() {
        match value.read_lock::<Dynamic>() {
            Some(inner) => found.extend(places.get(&address(&inner))),
            None => *patience = patience.checked_sub(1)?,
        }
        return Some(());
    }
    if is_small(value) {
        return Some(());
    }
    let mut look = |item: &Dynamic| references(item, places, found, patience);
    if let Some(items) = value.read_lock::<rhai::Array>() {
        items.iter().try_for_each(look)
    } else if let Some(map) = value.read_lock::<Map>() {
        map.values().try_for_each(look)
    } else if let Some(pointer) = value.read_lock::<FnPtr>() {
        pointer.iter_curry().try_for_each(&mut look)
    } else {
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// A ring of cells, each of which holds a list of its number and the next.
    fn ring(cells: &mut Noted, length: usize) -> Vec<Dynamic> {
        let ring: Vec<Dynamic> = (0..length).map(|_| cells.make(Dynamic::UNIT)).collect();
        for (index, cell) in ring.iter().enumerate() {
            let next = ring[(index + 1) % length].clone();
            *cell.clone().write_lock::<Dynamic>().unwrap() = vec![Dynamic::from(index as i64), next].into();
        }
        ring
    }

    #[test]
    fn a_ring_is_kept_while_one_of_its_cells_is_held() {
        let mut cells = Noted::default();
        let mut held = ring(&mut cells, 3).swap_remove(1);
        let other = cells.make(held.clone());
        let noted = sweep(cells.noted);
        assert_eq!(noted.len(), 4);
        drop(other);
        let noted = sweep(noted);
        assert_eq!(noted.len(), 3);
        for _ in 0..3 {
            let next = held.read_lock::<rhai::Array>().unwrap()[1].clone();
            held = next;
        }
        drop(held);
        assert!(sweep(noted).is_empty());
    }

    #[test]
    fn a_ring_is_freed_while_other_cells_are_in_use() {
        let mut cells = Noted::default();
        drop(ring(&mut cells, 3));
        let mut busy = cells.make(Dynamic::UNIT);
        let held = ring(&mut cells, 2).swap_remove(0);
        let mut inner = busy.write_lock::<Dynamic>().unwrap();
        *inner = vec![held].into();
        let noted = sweep(cells.noted);
        assert_eq!(noted.len(), 3, "the busy one, and the ring that only it holds");
        drop(inner);
        drop(busy);
        assert!(sweep(noted).is_empty());
    }

    #[test]
    fn a_ring_that_leads_to_a_cell_in_use_waits_for_it() {
        let mut cells = Noted::default();
        let mut busy = cells.make(Dynamic::UNIT);
        let ring: Vec<Dynamic> = ring(&mut cells, PATIENCE + 2);
        for cell in &ring {
            cell.clone().write_lock::<Dynamic>().unwrap().write_lock::<rhai::Array>().unwrap().push(busy.clone());
        }
        drop(ring);
        let inner = busy.write_lock::<Dynamic>().unwrap();
        let noted = sweep(cells.noted);
        assert_eq!(noted.len(), PATIENCE + 3);
        drop(inner);
        assert_eq!(sweep(noted).len(), 1);
    }

    #[test]
    fn who_goes_round_a_ring_never_finds_an_empty_cell() {
        let mut cells = Noted::default();
        let mut at = ring(&mut cells, 3).swap_remove(0);
        let mut noted = cells.noted;
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let next =
                        at.read_lock::<Dynamic>().map(|inner| inner.read_lock::<rhai::Array>().unwrap()[1].clone());
                    at = next.unwrap_or_else(|| at.clone());
                }
            });
            for _ in 0..20_000 {
                noted = sweep(std::mem::take(&mut noted));
                assert_eq!(noted.len(), 3);
            }
            done.store(true, Ordering::Relaxed);
        });
        drop(at);
        assert!(sweep(noted).is_empty());
    }
}
