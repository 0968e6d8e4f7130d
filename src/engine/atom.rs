//! [`Atom`]: a cell that concurrent evals share safely.

use super::failure::{Fallible, fail, refuse};
use super::register::Api;
use super::task::{Task, lock};
use crate::words::{EntryId, Wake};
use rhai::{Dynamic, FnPtr, Module, NativeCallContext};
use std::fmt;
use std::sync::{Arc, Mutex};

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
    /// The entry whose `swap` is running.
    owner: Option<EntryId>,
    /// How often it was set free. The same entry may take it again before anyone who waits has looked.
    freed: u64,
    /// Who waits for it.
    waiting: Vec<Wake>,
}

impl Atom {
    /// A cell that holds `value`, made portable for any eval.
    ///
    /// # Errors
    /// When a limit forbids to keep the value.
    pub fn new(context: &NativeCallContext<'_>, mut value: Dynamic) -> Fallible<Self> {
        Task::of(context).keep(&mut value)?;
        let state = State { value: value.flatten(), owner: None, freed: 0, waiting: Vec::new() };
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
        task.keep(&mut new)?;
        let replaced = owned.replace(new.clone());
        drop(owned);
        drop(replaced);
        Ok(new)
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

    fn replace(&self, value: Dynamic) -> Dynamic {
        std::mem::replace(&mut lock(&self.0.state).value, value)
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

/// The functions of atoms.
pub(crate) fn module() -> Module {
    let mut api = Api::new();
    api.custom_type::<Atom>("Atom");
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
