//! [`Atom`]: a cell that concurrent evals share safely, as data: its value, who owns it at the moment, and how it is dropped.
//!
//! Knows no task. Waiting for an atom and running the function of a `swap`, a `change` or a `read` is done above, in
//! `stdlib/atoms.rs`.

use crate::base::{EntryId, Wake, lock};
use rhai::{Array, Dynamic, FnPtr, Map, Scope};
use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Held while an atom is given a value with atoms in it: two evals could otherwise close a circle together.
static LINKING: Mutex<()> = Mutex::new(());

/// A shared mutable cell. `swap`, `change` and `read` own it while their function runs; others who want it wait, cancellably.
/// `swap` works on a copy, and readers see the value from before meanwhile; `change` and `read` lend the value itself to their
/// function, and nobody else sees it until they give it back. Cheap to clone; equal when it is the same cell.
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
    /// The entry that owns it, and what for.
    owner: Option<(EntryId, Use)>,
    /// The number of times it was set free. The same entry may take it again before anyone who waits has looked.
    freed: u64,
    /// The alarms of those who wait for it.
    waiting: Vec<Wake>,
}

/// The purpose for which an entry owns an atom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// To replace the value: `swap` and `set`.
    Swap,
    /// To change the value where it is.
    Change,
    /// To look at the value where it is.
    Read,
}

impl Use {
    /// Whether the value is away meanwhile, in the hands of a function.
    fn lends(self) -> bool {
        self != Self::Swap
    }
}

/// The owner of an atom that was asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    /// The entry that owns it.
    pub(crate) by: EntryId,
    /// What for.
    pub(crate) purpose: Use,
    /// The number of times the atom was set free up to now.
    pub(crate) freed: u64,
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

    /// A copy of the value; `None` while a `change` or `read` has it. While a `swap` runs it is the one from before.
    pub(crate) fn value(&self) -> Option<Dynamic> {
        lock(&self.0.state).value()
    }

    /// A copy of the value, as [`Atom::value`].
    ///
    /// # Errors
    /// While it is lent. `wake` is notified when the atom is set free, unless `entry` itself has the value.
    pub(crate) fn try_value(&self, entry: EntryId, wake: &Wake) -> Result<Dynamic, Taken> {
        let mut state = lock(&self.0.state);
        state.value().ok_or_else(|| state.taken(entry, wake))
    }

    /// Makes `entry` the owner.
    ///
    /// # Errors
    /// When it has an owner. `wake` is notified when it is set free, unless it is `entry` itself that owns it.
    pub(crate) fn try_own(&self, entry: EntryId, purpose: Use, wake: &Wake) -> Result<Owned<'_>, Taken> {
        let mut state = lock(&self.0.state);
        if state.owner.is_some() {
            return Err(state.taken(entry, wake));
        }
        state.owner = Some((entry, purpose));
        Ok(Owned(self))
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

impl State {
    fn value(&self) -> Option<Dynamic> {
        let lent = self.owner.is_some_and(|(_, purpose)| purpose.lends());
        (!lent).then(|| self.value.clone())
    }

    /// The owner, for an entry that waits from now on.
    fn taken(&mut self, waiter: EntryId, wake: &Wake) -> Taken {
        let (by, purpose) = self.owner.unwrap_or((waiter, Use::Swap));
        if by != waiter {
            self.waiting.push(wake.clone());
        }
        Taken { by, purpose, freed: self.freed }
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

impl<'a> Owned<'a> {
    /// A copy of the value.
    pub(crate) fn copy(&self) -> Dynamic {
        lock(&self.0.0.state).value.clone()
    }

    /// Takes the value out, to be changed where it is or only to be looked at.
    pub(crate) fn lend(self) -> Lent<'a> {
        let (value, purpose) = {
            let mut state = lock(&self.0.0.state);
            let purpose = state.owner.map(|(_, purpose)| purpose);
            (std::mem::take(&mut state.value), purpose)
        };
        let value = if purpose == Some(Use::Read) { value.into_read_only() } else { writable(value) };
        Lent { owned: self, value }
    }

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

/// A value that may be changed. What a constant or a `read` has marked as read-only is so in all its parts.
fn writable(value: Dynamic) -> Dynamic {
    if !value.is_read_only() {
        return value;
    }
    // A variable is what Rhai marks as writable without a copy.
    let mut scope = Scope::new();
    scope.push("value", value);
    scope.remove("value").unwrap_or_default()
}

/// The value of an atom while a function has it. It is given back when this is dropped, and then the atom is free.
pub(crate) struct Lent<'a> {
    owned: Owned<'a>,
    value: Dynamic,
}

impl Lent<'_> {
    /// The value, to be handed to a function as its `this`.
    pub(crate) fn value(&mut self) -> &mut Dynamic {
        &mut self.value
    }

    /// The size in bytes that was known of the value before it was changed.
    pub(crate) fn bytes_before(&self) -> usize {
        self.owned.0.own_bytes()
    }

    /// Notes the facts of the changed value; `false` when the atom would hold itself then. In that case `()` has taken its place
    /// there, and the facts are those from before.
    pub(crate) fn note(&mut self, facts: Facts) -> bool {
        let atom = self.owned.0;
        let _linking = (!facts.atoms.is_empty()).then(|| lock(&LINKING));
        if reachable(&facts.atoms()).contains(atom) {
            clear(&mut self.value, usize::MAX, &|found, _| reachable(std::slice::from_ref(found)).contains(atom));
            return false;
        }
        lock(&atom.0.state).facts = facts;
        true
    }

    /// Puts `()` in the place of what is more than `levels` deep.
    pub(crate) fn cut(&mut self, levels: usize) {
        clear(&mut self.value, levels, &|atom, left| atom.height() >= left);
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let value = std::mem::take(&mut self.value);
        lock(&self.owned.0.0.state).value = value;
    }
}

/// Puts `()` in the place of lists and maps that are more than `levels` deep, and of the atoms that are `unwanted` with so many
/// levels left. In function pointers it does so for what they carry. Captured cells are left alone: others use them too.
fn clear(value: &mut Dynamic, levels: usize, unwanted: &dyn Fn(&Atom, usize) -> bool) {
    if value.is_shared() {
        return;
    }
    if value.read_lock::<Atom>().is_some_and(|atom| unwanted(&atom, levels)) {
        *value = Dynamic::UNIT;
        return;
    }
    if levels == 0 && (value.is_array() || value.is_map()) {
        *value = Dynamic::UNIT;
        return;
    }
    let inside = levels.saturating_sub(1);
    if let Some(mut items) = value.write_lock::<Array>() {
        items.iter_mut().for_each(|item| clear(item, inside, unwanted));
    } else if let Some(mut map) = value.write_lock::<Map>() {
        map.values_mut().for_each(|item| clear(item, inside, unwanted));
    } else if let Some(mut pointer) = value.write_lock::<FnPtr>() {
        pointer.iter_curry_mut().for_each(|item| clear(item, inside, unwanted));
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
