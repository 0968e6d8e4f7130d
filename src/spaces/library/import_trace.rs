//! An eval's way through modules that import modules: what it is loading or checking now, outermost first, and what it has
//! settled on. Finds circles; remembers which module needed which. Knows nothing of files or loading.

use super::name::ModuleName;
use crate::base::{EntryId, ModuleError, lock};
use std::collections::HashMap;
use std::mem;
use std::sync::{Arc, Mutex};

/// One import of a module when it was loaded: the name, and the version it got; `None` when there was none to be had.
pub(super) type Need<V> = (ModuleName, Option<Arc<V>>);

/// The traces of all evals. An entry runs on one thread, so it has at most one.
#[derive(Debug)]
pub(super) struct ImportTraces<V> {
    /// Most modules that may be open in one trace.
    deepest: usize,
    all: Mutex<HashMap<EntryId, ImportTrace<V>>>,
}

/// The way of one eval.
#[derive(Debug)]
struct ImportTrace<V> {
    /// The modules it is loading or checking, outermost first.
    open: Vec<Open<V>>,
    /// The versions it has settled on.
    settled: HashMap<ModuleName, Arc<V>>,
    /// The place in `open` of the module whose imports cannot work: a circle leads back to it, or it leads too deep. Whatever
    /// was opened after it fails for a reason that is not its own.
    to_blame: Option<usize>,
}

/// A module that is being loaded or checked.
#[derive(Debug)]
struct Open<V> {
    name: ModuleName,
    needs: Vec<Need<V>>,
    fleeting: bool,
}

/// The next step of an eval that asks for a module.
pub(super) enum Step<'a, V> {
    /// Nothing: it has this version already.
    Settled(Arc<V>),
    /// Find out; the module is open until then.
    Opened(Opened<'a, V>),
}

/// A module that an eval is loading or checking. Closed when dropped, also by a panic.
pub(super) struct Opened<'a, V> {
    traces: &'a ImportTraces<V>,
    entry: EntryId,
    depth: usize,
    closed: bool,
}

impl<V> ImportTraces<V> {
    pub(super) fn new(deepest: usize) -> Self {
        Self { deepest, all: Mutex::default() }
    }

    /// The eval `entry` asks for the module, on behalf of the module it opened last, if any.
    ///
    /// # Errors
    ///
    /// [`ModuleError::Circular`], [`ModuleError::TooDeep`].
    pub(super) fn open(&self, entry: EntryId, name: &ModuleName) -> Result<Step<'_, V>, ModuleError> {
        let mut all = lock(&self.all);
        let trace = all.entry(entry).or_default();
        if let Some(at) = trace.place(name) {
            let mut path: Vec<_> = trace.open[at..].iter().map(|open| open.name.to_string()).collect();
            path.push(name.to_string());
            trace.to_blame = Some(trace.to_blame.map_or(at, |other| other.min(at)));
            trace.note(name, None);
            return Err(ModuleError::Circular { path });
        }
        if let Some(version) = trace.settled.get(name).cloned() {
            trace.note(name, Some(version.clone()));
            return Ok(Step::Settled(version));
        }
        if trace.open.len() >= self.deepest {
            trace.to_blame = Some(0);
            return Err(ModuleError::TooDeep { limit: self.deepest });
        }
        trace.open.push(Open { name: name.clone(), needs: Vec::new(), fleeting: false });
        Ok(Step::Opened(Opened { traces: self, entry, depth: trace.open.len() - 1, closed: false }))
    }

    /// The module that the eval opened last reads something that changes without a file.
    pub(super) fn fleeting(&self, entry: EntryId) {
        if let Some(open) = lock(&self.all).get_mut(&entry).and_then(|trace| trace.open.last_mut()) {
            open.fleeting = true;
        }
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        lock(&self.all).is_empty()
    }
}

impl<V> Opened<'_, V> {
    fn with<T>(&self, f: impl FnOnce(&mut ImportTrace<V>) -> T) -> T {
        f(lock(&self.traces.all).entry(self.entry).or_default())
    }

    /// Loading begins: what was noted so far came from checking.
    pub(super) fn restart(&self) {
        self.with(|trace| {
            trace.to_blame = None;
            if let Some(open) = trace.open.get_mut(self.depth) {
                open.needs.clear();
                open.fleeting = false;
            }
        });
    }

    /// It loaded: what it needed, and whether it is fleeting.
    pub(super) fn loaded(&self) -> (Vec<Need<V>>, bool) {
        self.with(|trace| {
            // Its text caught whatever went wrong below it.
            trace.to_blame = None;
            trace.open.get_mut(self.depth).map(|open| (mem::take(&mut open.needs), open.fleeting)).unwrap_or_default()
        })
    }

    /// It did not load: true when that is for a reason of its own, rather than of a module further out, as when a circle leads
    /// back to that one. `circle` is where a circle leads back to that was found elsewhere.
    pub(super) fn is_to_blame(&self, circle: Option<&ModuleName>) -> bool {
        self.with(|trace| match trace.to_blame.or_else(|| trace.place(circle?)) {
            Some(at) if at < self.depth => false,
            _ => {
                trace.to_blame = None;
                true
            }
        })
    }

    /// The eval has found out: this version, or none.
    pub(super) fn close(mut self, version: Option<&Arc<V>>) {
        self.leave(version);
    }

    fn leave(&mut self, version: Option<&Arc<V>>) {
        if mem::replace(&mut self.closed, true) {
            return;
        }
        let mut all = lock(&self.traces.all);
        let Some(trace) = all.get_mut(&self.entry) else { return };
        let left: Vec<_> = trace.open.drain(self.depth..).collect();
        if let Some(open) = left.first() {
            if let Some(version) = version {
                trace.settled.insert(open.name.clone(), version.clone());
            }
            trace.note(&open.name, version.cloned());
        }
        let over = if trace.open.is_empty() { all.remove(&self.entry) } else { None };
        // Versions may end here, and with them values of modules: not under the lock.
        drop(all);
        drop((left, over));
    }
}

impl<V> Drop for Opened<'_, V> {
    fn drop(&mut self) {
        self.leave(None);
    }
}

impl<V> ImportTrace<V> {
    /// Where the module is among the open ones.
    fn place(&self, name: &ModuleName) -> Option<usize> {
        self.open.iter().position(|open| open.name == *name)
    }

    /// The innermost open module imports `name`.
    fn note(&mut self, name: &ModuleName, version: Option<Arc<V>>) {
        if let Some(open) = self.open.last_mut() {
            open.needs.push((name.clone(), version));
        }
    }
}

impl<V> Default for ImportTrace<V> {
    fn default() -> Self {
        Self { open: Vec::new(), settled: HashMap::new(), to_blame: None }
    }
}
