//! [`Atom`]: a cell that concurrent evals share safely, as data: its value, who owns it at the moment, and how it is dropped.
//!
//! Knows no task. Waiting for an atom and running the function of a `swap` is done above, in `stdlib/atoms.rs`.

use crate::base::{EntryId, Wake, lock};
use rhai::Dynamic;
use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Held while an atom is given a value with atoms in it: two evals could otherwise close a circle together.
static LINKING: Mutex<()> = Mutex::new(());

/// A shared mutable cell. `swap` owns it while its function runs; other writers wait, cancellably, and readers see the value
/// from before. Cheap to clone; equal when it is the same cell.
#[derive(Clone)]
pub(crate) struct Atom(Arc<Cell>);

#[derive(Debug)]
struct Cell {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    value: Dynamic,
    /// The facts found in the value when it was put here.
    facts: Facts,
    /// The entry whose `swap` is running.
    owner: Option<EntryId>,
    /// The number of times it was set free. The same entry may take it again before anyone who waits has looked.
    freed: u64,
    /// The alarms of those who wait for it.
    waiting: Vec<Wake>,
}

/// The facts that are known of the value of an atom.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// The number of its levels.
    height: usize,
    /// Its size in bytes, without the atoms in it.
    bytes: usize,
    /// The atoms in it.
    atoms: Vec<Weak<Cell>>,
}

impl Facts {
    /// The facts of a value of `height` levels that takes `bytes` without the `atoms` in it.
    pub(crate) fn new(height: usize, bytes: usize, atoms: &[Atom]) -> Self {
        Self { height, bytes, atoms: atoms.iter().map(|atom| Arc::downgrade(&atom.0)).collect() }
    }

    fn atoms(&self) -> Vec<Atom> {
        self.atoms.iter().filter_map(Weak::upgrade).map(Atom).collect()
    }
}

impl Atom {
    /// A cell that holds `value`, of which `facts` are known.
    pub(crate) fn of(value: Dynamic, facts: Facts) -> Self {
        let state = State { value, facts, owner: None, freed: 0, waiting: Vec::new() };
        Self(Arc::new(Cell { state: Mutex::new(state) }))
    }

    /// The value. While a `swap` runs it is the one from before.
    pub(crate) fn get(&self) -> Dynamic {
        lock(&self.0.state).value.clone()
    }

    /// Makes `entry` the owner, and gives the value as well.
    ///
    /// # Errors
    /// When it has an owner: who that is, and how often the atom was set free up to now. `wake` is notified when it is set free,
    /// unless it is `entry` itself that owns it.
    pub(crate) fn try_own(&self, entry: EntryId, wake: &Wake) -> Result<(Owned<'_>, Dynamic), (EntryId, u64)> {
        let mut state = lock(&self.0.state);
        match state.owner {
            None => {
                state.owner = Some(entry);
                Ok((Owned(self), state.value.clone()))
            }
            Some(owner) => {
                if owner != entry {
                    state.waiting.push(wake.clone());
                }
                Err((owner, state.freed))
            }
        }
    }

    /// The number of times it was set free.
    pub(crate) fn freed(&self) -> u64 {
        lock(&self.0.state).freed
    }
}

impl Atom {
    /// The number of levels its value has.
    pub(crate) fn height(&self) -> usize {
        lock(&self.0.state).facts.height
    }

    /// The size of its value in bytes, without the atoms in it.
    pub(crate) fn own_bytes(&self) -> usize {
        lock(&self.0.state).facts.bytes
    }
}

/// `atoms` and the atoms in them, each once.
pub(crate) fn reachable(atoms: &[Atom]) -> Vec<Atom> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    let mut next = atoms.to_vec();
    while let Some(atom) = next.pop() {
        if seen.insert(Arc::as_ptr(&atom.0).addr()) {
            next.extend(lock(&atom.0.state).facts.atoms());
            found.push(atom);
        }
    }
    found
}

thread_local! {
    /// The values of atoms that are to be dropped on this thread, while one is being dropped.
    static DROPPING: RefCell<Option<Vec<Dynamic>>> = const { RefCell::new(None) };
}

/// Atoms in atoms are dropped one after the other: their nesting has no bound, and the stack has.
impl Drop for Cell {
    fn drop(&mut self) {
        /// Also when the drop of a value of the embedding program panics.
        struct Done;
        impl Drop for Done {
            fn drop(&mut self) {
                let rest = DROPPING.try_with(RefCell::take);
                drop(rest);
            }
        }
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let mut value = Some(std::mem::take(&mut state.value));
        let queued = DROPPING.try_with(|dropping| match &mut *dropping.borrow_mut() {
            Some(queue) => {
                queue.extend(value.take());
                true
            }
            none => {
                *none = Some(Vec::new());
                false
            }
        });
        if queued != Ok(false) {
            // In the queue, or on a thread that ends: there it goes with this cell.
            return;
        }
        let _done = Done;
        while let Some(next) = value {
            drop(next);
            value = DROPPING.with_borrow_mut(|queue| queue.as_mut().and_then(Vec::pop));
        }
    }
}

/// An atom that is owned by an entry until this is dropped.
pub(crate) struct Owned<'a>(&'a Atom);

impl Owned<'_> {
    /// Gives it another value, and returns the old one; `None` when the atom would hold itself then.
    pub(crate) fn replace(&self, value: Dynamic, facts: Facts) -> Option<Dynamic> {
        let _linking = (!facts.atoms.is_empty()).then(|| lock(&LINKING));
        if reachable(&facts.atoms()).contains(self.0) {
            return None;
        }
        let mut state = lock(&self.0.0.state);
        state.facts = facts;
        Some(std::mem::replace(&mut state.value, value))
    }
}

impl Drop for Owned<'_> {
    fn drop(&mut self) {
        let waiting = {
            let mut state = lock(&self.0.0.state);
            state.owner = None;
            state.freed += 1;
            std::mem::take(&mut state.waiting)
        };
        waiting.iter().for_each(Wake::notify);
    }
}

impl PartialEq for Atom {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Atom {}

impl fmt::Debug for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the value: it may hold this atom.
        f.write_str("Atom")
    }
}
