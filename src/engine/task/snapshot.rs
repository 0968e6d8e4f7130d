//! [`Snapshot`]: what an eval has seen of its space and committed to it, as data; and [`SpaceState`], which keeps it for a
//! running entry. Committing is done above, in `run/commit.rs`.

use super::space_view::{Resized, SpaceView, Variable};
use crate::base::{EntryId, lock};
use crate::engine::environment::Environment;
use crate::engine::value::inspect::{Measure, address, is_handle, is_small, measure};
use rhai::{Dynamic, ImmutableString, Map, Scope};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard};

/// The space of a running entry, as the entry sees it. The lock of the environment may be taken while that of the snapshot is
/// held, never the other way round.
#[derive(Debug, Default)]
pub(crate) struct SpaceState {
    snapshot: Mutex<Snapshot>,
    environment: Mutex<Environment>,
}

impl SpaceState {
    /// The snapshot, locked.
    pub(crate) fn snapshot(&self) -> MutexGuard<'_, Snapshot> {
        lock(&self.snapshot)
    }

    /// The bytes of values that `space` has no more, and that are only held because the entry has seen them.
    pub(super) fn held_alone(&self, space: &dyn SpaceView) -> usize {
        // It is asked by others, and never worth a wait.
        let Ok(snapshot) = self.snapshot.try_lock() else { return 0 };
        snapshot.known.iter().map(|(name, seen)| seen.bytes_unless(space.variable(name).as_ref())).sum()
    }

    /// The functions, imports and constants that the entry's own code runs in.
    pub(crate) fn environment(&self) -> Environment {
        lock(&self.environment).clone()
    }

    /// Replaces the environment.
    pub(crate) fn set_environment(&self, environment: Environment) {
        let old = std::mem::replace(&mut *lock(&self.environment), environment);
        drop(old);
    }

    /// Takes the snapshot out.
    pub(crate) fn take_snapshot(&self) -> Snapshot {
        std::mem::take(&mut *self.snapshot())
    }

    /// Lets go of everything, on this thread.
    pub(super) fn clear(&self) {
        drop(self.take_snapshot());
        self.set_environment(Environment::default());
    }
}

/// The part of its space that an eval has seen, and what it has committed.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    /// The version of the space when the eval began.
    pub(crate) opened: u64,
    /// Every variable it read or wrote, as it knows it.
    pub(crate) known: HashMap<ImmutableString, SeenVariable>,
    /// For each statement the variables it may write.
    pub(crate) plan: Vec<Vec<ImmutableString>>,
    /// For each statement the variables that closures in it capture.
    pub(crate) captured: Vec<Vec<ImmutableString>>,
    /// The statement that runs.
    pub(crate) statement: usize,
    /// The number of variables of the top level when it began: those behind are locals.
    pub(crate) top_level: usize,
    /// Variables it changed that functions have not been shown yet.
    pub(crate) changed: Vec<ImmutableString>,
    /// The number of imports that are known to the space.
    pub(crate) imports: usize,
    /// Cells that a kept closure captured, by address.
    pub(crate) linked: HashSet<usize>,
    /// The variables it committed, in order.
    pub(crate) committed: Vec<String>,
    /// Variables it overwrote, with the entries that had set them.
    pub(crate) overwritten: Vec<(ImmutableString, EntryId)>,
    /// The values it overwrote.
    pub(crate) lost: Map,
    /// Functions it redefined, with the entries that had defined them.
    pub(crate) redefined: Vec<(ImmutableString, EntryId)>,
}

/// One variable as an eval knows it.
#[derive(Debug, Default)]
pub(crate) struct SeenVariable {
    /// The version it has in the space; 0 when it is not there.
    pub(crate) version: u64,
    /// The value it has in the space.
    pub(crate) value: Option<Arc<Dynamic>>,
    /// The value functions see instead, when the running statement has changed it.
    pub(crate) ahead: Option<Arc<Dynamic>>,
    /// The bytes that were charged for it.
    pub(crate) bytes: usize,
    /// The size in bytes that the space was told.
    pub(crate) size: usize,
    /// Whether there are captured cells or atoms in it.
    pub(crate) live: bool,
    /// The entries that can be reached from the value it committed.
    pub(crate) entries: BTreeSet<EntryId>,
    /// A read-only cell of what functions see, made when one first reads it: reading is then free.
    pub(crate) cell: Option<Dynamic>,
}

impl SeenVariable {
    /// A variable that was just read from the space.
    pub(crate) fn read(variable: Variable) -> Self {
        Self {
            version: variable.version,
            size: variable.bytes,
            live: variable.live,
            value: Some(variable.value),
            ..Self::default()
        }
    }
}

impl Snapshot {
    /// The index of the top-level statement that runs.
    pub(crate) fn statement(&self) -> usize {
        self.statement
    }

    /// Notes that the running statement has changed a variable that functions read.
    pub(crate) fn note(&mut self, name: &str) {
        if !self.changed.iter().any(|changed| changed == name) {
            self.changed.push(name.into());
        }
    }

    /// Takes those of these names, separated by spaces, that are noted as changed; without names, all.
    pub(crate) fn take_changed(&mut self, names: &str) -> Vec<ImmutableString> {
        if names.is_empty() || self.changed.is_empty() {
            return std::mem::take(&mut self.changed);
        }
        self.changed.extract_if(.., |changed| names.split(' ').any(|name| *changed == name)).collect()
    }

    /// A statement has ended: functions see what is committed of these again. Of those that are cells in the eval they go on seeing
    /// the cells, which closures write that are in an atom, a channel or a child. Returns what they saw, to be dropped.
    pub(crate) fn forget_shown(&mut self, names: &[ImmutableString], scope: &Scope<'_>) -> Vec<Dynamic> {
        self.changed.clear();
        let mut shown = Vec::new();
        for name in names {
            if let Some(seen) = self.known.get_mut(name)
                && let Some(ahead) = seen.ahead.take()
            {
                if ahead.is_shared() && scope.get(name).is_some_and(Dynamic::is_shared) {
                    seen.ahead = Some(ahead);
                    continue;
                }
                shown.extend(seen.cell.take());
                shown.extend(Arc::into_inner(ahead));
            }
        }
        shown
    }

    /// The variables that functions see as one of these cells.
    pub(crate) fn cells(&self, cells: &[usize]) -> Vec<(ImmutableString, Arc<Dynamic>)> {
        let is_one = |value: &Dynamic| {
            value.is_shared() && value.read_lock::<Dynamic>().is_some_and(|inner| cells.contains(&address(&inner)))
        };
        let ahead = self.known.iter().filter_map(|(name, seen)| Some((name, seen.ahead.as_ref()?)));
        ahead.filter(|(_, value)| is_one(value)).map(|(name, value)| (name.clone(), Arc::clone(value))).collect()
    }

    /// Functions see these variables as these cells, which the entry's code captured from another.
    pub(crate) fn show_cells(&mut self, variables: Vec<(ImmutableString, Arc<Dynamic>)>) {
        for (name, cell) in variables {
            self.known.entry(name).or_default().ahead = Some(cell);
        }
    }

    /// The entries that can be reached from what it committed.
    pub(crate) fn entries(&self) -> BTreeSet<EntryId> {
        self.known.values().flat_map(|known| known.entries.iter().copied()).collect()
    }

    /// The variables it knows, beside `names`, that may have changed without having been written: cells and atoms in them do.
    pub(crate) fn live(&self, names: &[ImmutableString]) -> Vec<(ImmutableString, Arc<Dynamic>)> {
        let others = self.known.iter().filter(|(name, known)| known.live && !names.contains(name));
        others.filter_map(|(name, known)| Some((name.clone(), Arc::clone(known.value.as_ref()?)))).collect()
    }

    /// The message for the space when a variable that is the same takes `bytes` now.
    pub(crate) fn resize(&mut self, name: &ImmutableString, bytes: usize) -> Option<Resized> {
        let known = self.known.get_mut(name).filter(|known| known.live && known.size != bytes)?;
        known.size = bytes;
        Some(Resized { name: name.clone(), value: Arc::clone(known.value.as_ref()?), bytes })
    }

    /// The names to look at, each once, and how many of them the statement may have written. At the end those of earlier
    /// statements follow that were captured: a background child may have written them since.
    pub(crate) fn next_names(&mut self, all: bool, scope: &Scope<'_>) -> (Vec<ImmutableString>, usize) {
        let from = self.statement.min(self.plan.len());
        let to = if all { self.plan.len() } else { (from + 1).min(self.plan.len()) };
        self.statement = to;
        let cells: HashSet<&str> = if all {
            scope.iter_raw().filter(|(_, _, value)| value.is_shared()).map(|(name, ..)| name).collect()
        } else {
            HashSet::new()
        };
        // What is a cell in the space as well needs no word.
        let in_space = |name: &ImmutableString| {
            self.known.get(name).and_then(|known| known.value.as_ref()).is_some_and(|value| value.is_shared())
        };
        let captured = self.captured.iter().take(to).skip(from).flatten();
        let before = if cells.is_empty() { 0 } else { from };
        let earlier = self.plan[..before].iter().chain(self.captured.iter().take(before)).flatten();
        let earlier = earlier.filter(|name| cells.contains(name.as_str()) && !in_space(name));
        let mut seen = HashSet::new();
        let mut names: Vec<_> =
            self.plan[from..to].iter().flatten().filter(|name| seen.insert(*name)).cloned().collect();
        let written = names.len();
        names.extend(captured.chain(earlier).filter(|name| seen.insert(*name)).cloned());
        (names, written)
    }

    /// Measures the values of `names`, and notes the cells that closures among them captured.
    pub(crate) fn measure(
        &mut self,
        names: &[ImmutableString],
        scope: &Scope<'_>,
        levels: usize,
    ) -> Vec<Option<Measure>> {
        let mut measures = Vec::with_capacity(names.len());
        for name in names {
            let found = scope.get(name).map(|value| {
                if is_small(value) && !value.is_shared() {
                    Measure { bytes: size_of::<Dynamic>(), ..Measure::default() }
                } else {
                    measure(value, levels)
                }
            });
            self.linked.extend(found.iter().flat_map(|found| found.cells.iter().copied()));
            measures.push(found);
        }
        measures
    }

    /// Whether a variable that is a cell in the eval is one in the space as well.
    pub(crate) fn stays_shared(&self, name: &str, value: &Dynamic) -> bool {
        if !value.is_shared() {
            return true;
        }
        let captured = value.read_lock::<Dynamic>().is_some_and(|inner| self.linked.contains(&address(&inner)));
        captured || self.known.get(name).and_then(|known| known.value.as_ref()).is_some_and(|old| old.is_shared())
    }
}

impl SeenVariable {
    /// Its bytes, unless its space has that very value `now`.
    pub(super) fn bytes_unless(&self, now: Option<&Variable>) -> usize {
        let Some(value) = &self.value else { return 0 };
        if now.is_some_and(|now| Arc::ptr_eq(&now.value, value)) { 0 } else { self.size }
    }

    /// The value for code that must not change it.
    pub(crate) fn shown(&mut self) -> Option<Dynamic> {
        let value = self.ahead.as_ref().or(self.value.as_ref())?;
        if value.is_shared() {
            return Some((**value).clone().into_read_only());
        }
        if is_small(value) || value.is_string() || is_handle(value) {
            return Some((**value).clone());
        }
        // A plain cell could be changed in place, and a plain copy costs its size at every access.
        Some(self.cell.get_or_insert_with(|| (**value).clone().into_read_only().into_shared()).clone())
    }
}
