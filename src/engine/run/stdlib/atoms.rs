//! The functions of atoms, and their parts that need a task: keeping a value, and waiting for an atom that another entry owns.

use crate::base::limits::LimitHit;
use crate::engine::error::{Fallible, fail, refuse};
use crate::engine::native::Api;
use crate::engine::run::closures::{call_on, keep, make_portable};
use crate::engine::task::context::Task;
use crate::engine::value::atom::{Atom, Facts, Lent, Owned, Taken, Use};
use crate::engine::value::inspect::{Measure, empty_deep_cells, measure};
use rhai::{Dynamic, EvalAltResult, FnPtr, NativeCallContext};

pub(super) fn register(api: &mut Api) {
    api.custom_type::<Atom>("Atom");
    api.function(
        "atom",
        &["value: Dynamic", "Atom"],
        "A cell that concurrent evals share safely.\n\n```rhai\nlet hits = atom(0);\nhits.swap(|n| n + 1);\nhits.get() //=> 1\n```",
        |context: NativeCallContext<'_>, value: Dynamic| Atom::new(&context, value),
    );
    api.function(
        "get",
        &["atom: Atom", "Dynamic"],
        "A copy of the value of an atom. To look at a part of a large one, `read` is cheaper.",
        |context: NativeCallContext<'_>, atom: &mut Atom| atom.get(&context),
    );
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
    api.function(
        "change",
        &["atom: Atom", "f: Fn", "Dynamic"],
        "Calls `f()` with the value of an atom as `this`, to be changed where it is, and returns what `f` gives. Nothing is copied, \
         so what was done before an error stays. No other eval sees the atom meanwhile.\n\n```rhai\nlet list = atom([3]);\n\
         list.change(|| this.push(4));\nlist.get() //=> [3, 4]\n```",
        |context: NativeCallContext<'_>, atom: &mut Atom, f: FnPtr| atom.change(&context, &f),
    );
    api.function(
        "read",
        &["atom: Atom", "f: Fn", "Dynamic"],
        "Calls `f()` with the value of an atom as `this`, which cannot be changed, and returns what `f` gives. Nothing is \
         copied.\n\n```rhai\natom([3, 4]).read(|| this[1]) //=> 4\n```",
        |context: NativeCallContext<'_>, atom: &mut Atom, f: FnPtr| atom.read(&context, &f),
    );
    api.function("to_string", &[], "", |_: &mut Atom| "<atom>".to_owned());
    api.function("to_debug", &[], "", |_: &mut Atom| "<atom>".to_owned());
    api.function("==", &[], "", |a: Atom, b: Atom| a == b);
    api.function("!=", &[], "", |a: Atom, b: Atom| a != b);
}

impl Atom {
    /// A cell that holds `value`, made portable for any eval.
    ///
    /// # Errors
    /// When a limit forbids to keep the value.
    pub(crate) fn new(context: &NativeCallContext<'_>, mut value: Dynamic) -> Fallible<Self> {
        let found = keep(&Task::of(context), &mut value)?;
        Ok(Self::of(value.flatten(), facts(&found)))
    }

    /// A copy of the value, once no `change` or `read` of another entry runs.
    ///
    /// # Errors
    /// Inside the `change` or `read` of the same entry; when the wait could never end.
    pub(super) fn get(&self, context: &NativeCallContext<'_>) -> Fallible<Dynamic> {
        once_free(self, &Task::of(context), |task| self.try_value(task.id(), task.wake()))
    }

    /// Replaces the value, once no other entry owns the atom.
    ///
    /// # Errors
    /// When the same entry owns it; when a limit forbids to keep the value; when the wait could never end.
    pub(super) fn set(&self, context: &NativeCallContext<'_>, value: Dynamic) -> Fallible<()> {
        self.replace(context, move |_| Ok(value)).map(drop)
    }

    /// Replaces the value by what `function` makes of it, and returns the new one. A function that fails changes nothing.
    ///
    /// # Errors
    /// As [`Atom::set`], and what the function raises.
    pub(super) fn swap(&self, context: &NativeCallContext<'_>, function: &FnPtr) -> Fallible<Dynamic> {
        self.replace(context, |owned| function.call_within_context(context, (owned.copy(),)))
    }

    fn replace(
        &self,
        context: &NativeCallContext<'_>,
        make: impl FnOnce(&Owned<'_>) -> Fallible<Dynamic>,
    ) -> Fallible<Dynamic> {
        let task = Task::of(context);
        let owned = own(self, &task, Use::Swap)?;
        let mut new = make(&owned)?.flatten();
        let found = keep(&task, &mut new)?;
        let replaced = owned.replace(new.clone(), facts(&found)).ok_or_else(holds_itself)?;
        drop(owned);
        drop(replaced);
        Ok(new)
    }

    /// Hands the value to `function` as its `this`, and returns what that gives. What it did before it failed stays.
    ///
    /// # Errors
    /// As [`Atom::set`], and what the function raises.
    pub(super) fn change(&self, context: &NativeCallContext<'_>, function: &FnPtr) -> Fallible<Dynamic> {
        let task = Task::of(context);
        takes_nothing(&task, function)?;
        let mut lent = own(self, &task, Use::Change)?.lend();
        let result = call_on(context, function, lent.value(), Vec::new());
        let kept = keep_in_place(&task, &mut lent);
        drop(lent);
        let result = result?;
        kept.map(|()| result)
    }

    /// Hands the value to `function` as its `this`, which it cannot change, and returns what that gives.
    ///
    /// # Errors
    /// When the same entry owns the atom; when the wait could never end; what the function raises.
    pub(super) fn read(&self, context: &NativeCallContext<'_>, function: &FnPtr) -> Fallible<Dynamic> {
        let task = Task::of(context);
        takes_nothing(&task, function)?;
        let mut lent = own(self, &task, Use::Read)?.lend();
        call_on(context, function, lent.value(), Vec::new())
    }
}

fn facts(found: &Measure) -> Facts {
    Facts::new(found.height, found.bytes - found.in_atoms, &found.atoms)
}

fn holds_itself() -> Box<EvalAltResult> {
    fail("AtomCycle", "an atom cannot hold itself")
}

/// Refuses a function with parameters: it would be handed a copy, and change that.
fn takes_nothing(task: &Task, function: &FnPtr) -> Fallible<()> {
    match task.runtime().code_units().parameter_count(function) {
        None | Some(0) => Ok(()),
        Some(_) => Err(fail("BadArgument", "this function takes no parameters here: the value of the atom is `this`")),
    }
}

/// Makes a value that was changed where it is fit to be kept. It cannot be refused as a whole any more: what it must not hold is
/// taken out of it.
fn keep_in_place(task: &Task, lent: &mut Lent<'_>) -> Fallible<()> {
    let levels = task.nesting();
    let before = lent.bytes_before();
    if lent.value().is_shared() {
        *lent.value() = lent.value().flatten_clone();
    }
    let mut trouble = None;
    let mut found = measure(lent.value(), levels);
    if found.too_deep {
        trouble = Some(task.hit(LimitHit::Nesting { limit: levels }));
        empty_deep_cells(lent.value(), levels);
        // The atom is a level as well.
        lent.cut(levels.saturating_sub(1));
        found = measure(lent.value(), levels);
    }
    if found.bound {
        make_portable(task, lent.value());
    }
    if !lent.note(facts(&found)) {
        trouble = trouble.or_else(|| Some(holds_itself()));
        found = measure(lent.value(), levels);
        if !lent.note(facts(&found)) {
            // It is in a variable that a closure in the value has captured.
            *lent.value() = Dynamic::UNIT;
            found = measure(lent.value(), levels);
            lent.note(facts(&found));
        }
    }
    task.retained().keep_entries(found.entries.iter().copied());
    trouble.map_or(Ok(()), Err)?;
    task.charge((found.bytes - found.in_atoms).saturating_sub(before))
}

/// Waits for the atom to be free, and owns it.
fn own<'a>(atom: &'a Atom, task: &Task, purpose: Use) -> Fallible<Owned<'a>> {
    once_free(atom, task, |task| atom.try_own(task.id(), purpose, task.wake()))
}

/// Tries until nobody else has the atom.
fn once_free<T>(atom: &Atom, task: &Task, attempt: impl Fn(&Task) -> Result<T, Taken>) -> Fallible<T> {
    loop {
        let Taken { by, purpose, freed } = match attempt(task) {
            Ok(got) => return Ok(got),
            Err(taken) => taken,
        };
        if by == task.id() {
            return Err(nested(purpose));
        }
        let waits = &task.hooks().waits;
        waits.begin(task.id(), by).map_err(|refusal| refuse(&refusal))?;
        let waited = task.wait(None, || atom.freed() != freed);
        waits.end(task.id(), by);
        waited?;
    }
}

/// The error of an entry that asks for an atom which it owns already.
fn nested(purpose: Use) -> Box<EvalAltResult> {
    match purpose {
        Use::Swap => {
            let text = "this eval is inside a swap of the same atom; return the new value from its function instead";
            fail("NestedSwap", text)
        }
        Use::Change => fail("NestedChange", "this eval is inside a change of the same atom; its value is `this` there"),
        Use::Read => fail("NestedRead", "this eval is inside a read of the same atom; its value is `this` there"),
    }
}
