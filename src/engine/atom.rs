//! [`Atom`]: a cell that concurrent evals share safely.

use super::failure::{Fallible, fail, refuse};
use super::register::Api;
use super::task::Task;
use super::values::Survey;
use crate::base::{EntryId, Wake, lock};
use rhai::{Dynamic, FnPtr, Module, NativeCallContext};
use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Held while an atom is given a value with atoms in it: two evals could otherwise close a circle together.
static LINKING: Mutex<()> = Mutex::new(());

/// A shared mutable cell. `swap` owns it while its function runs; other writers wait, cancellably, and readers see the value
/// from before. Cheap to clone; equal when it is the same cell.
#[derive(Clone)]
pub struct Atom(Arc<Cell>);

#[derive(Debug)]
struct Cell {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    value: Dynamic,
    /// What was found in the value when it was put here.
    facts: Facts,
    /// The entry whose `swap` is running.
    owner: Option<EntryId>,
    /// How often it was set free. The same entry may take it again before anyone who waits has looked.
    freed: u64,
    /// Who waits for it.
    waiting: Vec<Wake>,
}

/// What is known of the value of an atom.
#[derive(Debug, Default)]
struct Facts {
    /// How many levels it has.
    height: usize,
    /// What it takes, without the atoms in it.
    bytes: usize,
    /// The atoms in it.
    atoms: Vec<Weak<Cell>>,
}

impl Facts {
    fn of(found: &Survey) -> Self {
        Self {
            height: found.height,
            bytes: found.bytes - found.in_atoms,
            atoms: found.atoms.iter().map(|atom| Arc::downgrade(&atom.0)).collect(),
        }
    }
}

impl Atom {
    /// A cell that holds `value`, made portable for any eval.
    ///
    /// # Errors
    /// When a limit forbids to keep the value.
    pub fn new(context: &NativeCallContext<'_>, mut value: Dynamic) -> Fallible<Self> {
        let found = Task::of(context).keep(&mut value)?;
        let facts = Facts::of(&found);
        let state = State { value: value.flatten(), facts, owner: None, freed: 0, waiting: Vec::new() };
        Ok(Self(Arc::new(Cell { state: Mutex::new(state) })))
    }

    /// The value. While a `swap` runs it is the one from before.
    pub fn get(&self) -> Dynamic {
        lock(&self.0.state).value.clone()
    }

    /// Replaces the value, once no other entry's `swap` runs.
    ///
    /// # Errors
    /// Inside the `swap` of the same entry; when a limit forbids to keep the value; when the wait could never end.
    pub fn set(&self, context: &NativeCallContext<'_>, value: Dynamic) -> Fallible<()> {
        self.change(context, move |_| Ok(value)).map(drop)
    }

    /// Replaces the value by what `function` makes of it, and returns the new one. A function that fails changes nothing.
    ///
    /// # Errors
    /// As [`Atom::set`], and what the function raises.
    pub fn swap(&self, context: &NativeCallContext<'_>, function: &FnPtr) -> Fallible<Dynamic> {
        self.change(context, |old| function.call_within_context(context, (old,)))
    }

    fn change(
        &self,
        context: &NativeCallContext<'_>,
        make: impl FnOnce(Dynamic) -> Fallible<Dynamic>,
    ) -> Fallible<Dynamic> {
        let task = Task::of(context);
        let (owned, old) = Owned::take(&self.0, &task)?;
        let mut new = make(old)?.flatten();
        let found = task.keep(&mut new)?;
        let replaced = {
            let _linking = (!found.atoms.is_empty()).then(|| lock(&LINKING));
            if reachable(&found.atoms).contains(self) {
                return Err(fail("AtomCycle", "an atom cannot hold itself"));
            }
            owned.replace(new.clone(), Facts::of(&found))
        };
        drop(owned);
        drop(replaced);
        Ok(new)
    }
}

impl Atom {
    /// How many levels its value has.
    pub(crate) fn height(&self) -> usize {
        lock(&self.0.state).facts.height
    }

    /// What its value takes, without the atoms in it, in bytes.
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
            next.extend(lock(&atom.0.state).facts.atoms.iter().filter_map(Weak::upgrade).map(Atom));
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

/// A cell that is owned by an entry until this is dropped.
struct Owned<'c>(&'c Cell);

impl<'c> Owned<'c> {
    /// Waits for the cell to be free. Returns its value as well.
    fn take(cell: &'c Cell, task: &Task) -> Fallible<(Self, Dynamic)> {
        loop {
            let (owner, seen) = {
                let mut state = lock(&cell.state);
                match state.owner {
                    None => {
                        state.owner = Some(task.id());
                        return Ok((Self(cell), state.value.clone()));
                    }
                    Some(owner) if owner == task.id() => {
                        let text = "this eval is inside a swap of the same atom; return the new value from its function instead";
                        return Err(fail("NestedSwap", text));
                    }
                    Some(owner) => {
                        state.waiting.push(task.wake().clone());
                        (owner, state.freed)
                    }
                }
            };
            let waits = &task.hooks().waits;
            waits.begin(task.id(), owner).map_err(|refusal| refuse(&refusal))?;
            let waited = task.wait(None, || lock(&cell.state).freed != seen);
            waits.end(task.id(), owner);
            waited?;
        }
    }

    fn replace(&self, value: Dynamic, facts: Facts) -> Dynamic {
        let mut state = lock(&self.0.state);
        state.facts = facts;
        std::mem::replace(&mut state.value, value)
    }
}

impl Drop for Owned<'_> {
    fn drop(&mut self) {
        let waiting = {
            let mut state = lock(&self.0.state);
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

/// Names the type as scripts see it.
pub(crate) fn name_type(module: &mut Module) {
    module.set_custom_type::<Atom>("Atom");
}

/// The functions of atoms.
pub(crate) fn module() -> Module {
    let mut api = Api::new();
    api.function(
        "atom",
        &["value: Dynamic", "Atom"],
        "A cell that concurrent evals share safely.\n\n```rhai\nlet hits = atom(0);\nhits.swap(|n| n + 1);\nhits.get() //=> 1\n```",
        |context: NativeCallContext<'_>, value: Dynamic| Atom::new(&context, value),
    );
    api.function("get", &["atom: Atom", "Dynamic"], "The value of an atom.", |atom: &mut Atom| atom.get());
    api.function(
        "set",
        &["atom: Atom", "value: Dynamic"],
        "Replaces the value of an atom.",
        |context: NativeCallContext<'_>, atom: &mut Atom, value: Dynamic| atom.set(&context, value),
    );
    api.function(
        "swap",
        &["atom: Atom", "f: Fn", "Dynamic"],
        "Replaces the value of an atom by what `f` makes of it, and returns it. No other eval changes the atom meanwhile.",
        |context: NativeCallContext<'_>, atom: &mut Atom, f: FnPtr| atom.swap(&context, &f),
    );
    api.function("to_string", &[], "", |_: &mut Atom| "<atom>".to_owned());
    api.function("to_debug", &[], "", |_: &mut Atom| "<atom>".to_owned());
    api.function("==", &[], "", |a: Atom, b: Atom| a == b);
    api.function("!=", &[], "", |a: Atom, b: Atom| a != b);
    api.build()
}
