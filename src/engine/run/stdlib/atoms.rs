//! The functions of atoms, and their parts that need a task: keeping a value, and waiting for an atom that another entry owns.

use crate::engine::error::{Fallible, fail, refuse};
use crate::engine::native::Api;
use crate::engine::run::closures::keep;
use crate::engine::task::context::Task;
use crate::engine::value::atom::{Atom, Facts, Owned};
use crate::engine::value::inspect::Measure;
use rhai::{Dynamic, FnPtr, NativeCallContext};

pub(super) fn register(api: &mut Api) {
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

    /// Replaces the value, once no other entry's `swap` runs.
    ///
    /// # Errors
    /// Inside the `swap` of the same entry; when a limit forbids to keep the value; when the wait could never end.
    pub(crate) fn set(&self, context: &NativeCallContext<'_>, value: Dynamic) -> Fallible<()> {
        self.change(context, move |_| Ok(value)).map(drop)
    }

    /// Replaces the value by what `function` makes of it, and returns the new one. A function that fails changes nothing.
    ///
    /// # Errors
    /// As [`Atom::set`], and what the function raises.
    pub(crate) fn swap(&self, context: &NativeCallContext<'_>, function: &FnPtr) -> Fallible<Dynamic> {
        self.change(context, |old| function.call_within_context(context, (old,)))
    }

    fn change(
        &self,
        context: &NativeCallContext<'_>,
        make: impl FnOnce(Dynamic) -> Fallible<Dynamic>,
    ) -> Fallible<Dynamic> {
        let task = Task::of(context);
        let (owned, old) = own(self, &task)?;
        let mut new = make(old)?.flatten();
        let found = keep(&task, &mut new)?;
        let replaced =
            owned.replace(new.clone(), facts(&found)).ok_or_else(|| fail("AtomCycle", "an atom cannot hold itself"))?;
        drop(owned);
        drop(replaced);
        Ok(new)
    }
}

fn facts(found: &Measure) -> Facts {
    Facts::new(found.height, found.bytes - found.in_atoms, &found.atoms)
}

/// Waits for the atom to be free, and owns it. Returns its value as well.
fn own<'a>(atom: &'a Atom, task: &Task) -> Fallible<(Owned<'a>, Dynamic)> {
    loop {
        let (owner, seen) = match atom.try_own(task.id(), task.wake()) {
            Ok(owned) => return Ok(owned),
            Err(taken) => taken,
        };
        if owner == task.id() {
            let text = "this eval is inside a swap of the same atom; return the new value from its function instead";
            return Err(fail("NestedSwap", text));
        }
        let waits = &task.hooks().waits;
        waits.begin(task.id(), owner).map_err(|refusal| refuse(&refusal))?;
        let waited = task.wait(None, || atom.freed() != seen);
        waits.end(task.id(), owner);
        waited?;
    }
}
