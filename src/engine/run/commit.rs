//! What an eval sees of its space, and how what it changes gets there.
//!
//! An eval works on a snapshot. After each top-level statement the variables that statement may have written are compared
//! with what the eval read, and only those that differ are published. Capturing is a read: a variable becomes a shared cell
//! in the space only when a closure that captured it is kept as well.

use super::closures::Home;
use crate::base::limits::LimitHit;
use crate::base::{EntryId, StopCause};
use crate::engine::environment::Import;
use crate::engine::error::{Fallible, terminated};
use crate::engine::rhai_internals::rewrite::Prepared;
use crate::engine::rhai_internals::runtime_state::StateView;
use crate::engine::task::context::{Tag, Task};
use crate::engine::task::space_view::{Batch, Change, Opened, Published, Resized, SpaceFailure, Variable};
use crate::engine::value::inspect::{Measure, address, empty_deep_cells, is_handle, is_small, measure, same_or};
use rhai::{Dynamic, ImmutableString, Map, Scope, Shared};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// What an eval knows of its space.
#[derive(Debug, Default)]
pub(crate) struct Run {
    /// The version of the space when the eval began.
    opened: u64,
    /// Every variable it read or wrote, as it knows it.
    known: HashMap<ImmutableString, Known>,
    /// For each statement the variables it may write.
    plan: Vec<Vec<ImmutableString>>,
    /// The statement that runs.
    statement: usize,
    /// How many imports are known to the space.
    imports: usize,
    /// Cells that a kept closure captured, by address.
    linked: HashSet<usize>,
    /// The variables it published, in order.
    pub(crate) published: Vec<String>,
    /// Variables it overwrote, with the entries that had set them.
    pub(crate) overwritten: Vec<(ImmutableString, EntryId)>,
    /// The values it overwrote.
    pub(crate) lost: Map,
    /// Functions it redefined, with the entries that had defined them.
    redefined: Vec<(ImmutableString, EntryId)>,
}

/// How far a script has come when it publishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reached {
    /// The end of a top-level statement.
    Statement,
    /// Its end.
    End,
    /// An error or a stop, inside a statement.
    BrokenOff,
}

/// One variable as an eval knows it.
#[derive(Debug, Default)]
struct Known {
    /// The version it has in the space; 0 when it is not there.
    version: u64,
    /// The value it has in the space.
    value: Option<Arc<Dynamic>>,
    /// What functions see instead, when the running statement has changed it.
    ahead: Option<Arc<Dynamic>>,
    /// What was charged for it.
    bytes: usize,
    /// What the space was told that it takes, in bytes.
    size: usize,
    /// Whether there are captured cells or atoms in it.
    live: bool,
    /// The entries that can be reached from the value it published.
    entries: BTreeSet<EntryId>,
    /// A read-only cell of what functions see, made when one first reads it: reading is then free.
    cell: Option<Dynamic>,
}

impl Known {
    fn read(variable: Variable) -> Self {
        Self {
            version: variable.version,
            size: variable.bytes,
            live: variable.live,
            value: Some(variable.value),
            ..Self::default()
        }
    }
}

impl Task {
    /// The scope of a script that begins: the snapshot of what it names.
    pub(crate) fn start_run(&self, prepared: &mut Prepared, opened: Opened) -> Scope<'static> {
        let mut scope = Scope::new();
        let mut run = self.run();
        run.opened = opened.version;
        for (name, variable) in opened.variables {
            let value = (*variable.value).clone();
            if variable.constant {
                scope.push_constant_dynamic(name.as_str(), value);
            } else {
                scope.push_dynamic(name.as_str(), value);
            }
            run.known.insert(name, Known::read(variable));
        }
        run.plan = std::mem::take(&mut prepared.writes);
        run.imports = opened.environment.imports.len();
        drop(run);
        self.set_environment(opened.environment);
        scope
    }

    /// Kept imports were resolved to other modules: the eval and its space use these from now on.
    pub(crate) fn refresh_imports(&self, refreshed: &[Import]) {
        if refreshed.is_empty() {
            return;
        }
        let mut environment = self.environment();
        let imports = environment
            .imports
            .iter()
            .map(|kept| refreshed.iter().find(|import| import.alias == kept.alias).unwrap_or(kept).clone());
        environment.imports = Arc::new(imports.collect());
        self.set_environment(environment);
        let batch = Batch { entry: self.id(), changes: Vec::new(), resized: Vec::new(), imports: refreshed.to_vec() };
        // A space that ended is noticed by the next publish.
        drop(self.space().publish(batch));
    }

    /// Functions this eval redefined while their author was still at work.
    pub(crate) fn set_redefined(&self, redefined: Vec<(ImmutableString, EntryId)>) {
        self.run().redefined = redefined;
    }

    /// The eval is over: functions that were defined by two entries at the same time.
    pub(crate) fn take_redefined(&self) -> Vec<(ImmutableString, EntryId)> {
        let mut redefined = std::mem::take(&mut self.run().redefined);
        for function in self.space().close_eval(self.id()) {
            if !redefined.contains(&function) {
                redefined.push(function);
            }
        }
        redefined
    }

    /// A variable that running code names and that is not in its scope.
    pub(crate) fn look_up(&self, name: &str, at: StateView<'_>) -> Fallible<Option<Dynamic>> {
        let home = Tag::of(at.tag()).and_then(|tag| tag.home);
        if !self.sees_a_space(home.as_deref(), at) {
            return Ok(at.constant(name));
        }
        if let Some((id, space)) = home.as_deref().and_then(Home::space)
            && *id != self.space().id()
        {
            // A closure of another space reads that space, as it is now.
            let variable = space.upgrade().and_then(|space| space.variable(name));
            // Of a space that ended the constants are left.
            return Ok(variable.map(|variable| (*variable.value).clone()).or_else(|| at.constant(name)));
        }
        let mut run = self.run();
        if !run.known.contains_key(name) {
            let Some(variable) = self.space().variable(name) else { return Ok(at.constant(name)) };
            run.known.insert(name.into(), Known::read(variable));
        }
        Ok(run.known.get_mut(name).and_then(Known::shown))
    }

    /// Whether the code that runs belongs to a space, and not to a module.
    fn sees_a_space(&self, home: Option<&Home>, at: StateView<'_>) -> bool {
        let Some(functions) = at.innermost_functions() else { return false };
        match home {
            None => Shared::ptr_eq(functions, &self.environment().functions),
            // A closure sees its own code and its space's functions; a third layer is a module it called.
            Some(home) => home.space().is_some() && at.layers() <= 2,
        }
    }

    /// Lets functions see the present value of a variable.
    pub(crate) fn sync(&self, name: &str, scope: &Scope<'_>) {
        let Some(value) = scope.get(name) else { return };
        let value = Arc::new(value.clone());
        let mut run = self.run();
        let known = run.known.entry(name.into()).or_default();
        let old = (known.ahead.replace(value), known.cell.take());
        drop(run);
        drop(old);
    }

    /// Publishes what the statement that just ended changed, or when the script is over what all that are left did. A statement
    /// that broke off publishes nothing: what it had changed by then is only made safe to drop.
    ///
    /// # Errors
    /// Ends the entry when its space is gone or a limit is hit.
    pub(crate) fn publish(&self, scope: &Scope<'_>, at: StateView<'_>, reached: Reached) -> Fallible<()> {
        let all = reached != Reached::Statement;
        let mut run = self.run();
        let (names, written) = run.next_names(all, scope);
        let measures = run.measure(&names, scope, self.nesting());
        let mut hit = None;
        let mut changes = Vec::new();
        let mut resized = Vec::new();
        let mut entries = HashMap::new();
        for (index, (name, found)) in names.iter().zip(measures).enumerate() {
            let (Some(value), Some(found)) = (scope.get(name), found) else { continue };
            if found.too_deep {
                hit = Some(LimitHit::Nesting { limit: self.nesting() });
                empty_deep_cells(value, self.nesting());
                continue;
            }
            if reached == Reached::BrokenOff && index < written {
                continue;
            }
            let flat;
            let value = if run.stays_shared(name, value) {
                value
            } else {
                flat = value.flatten_clone();
                &flat
            };
            if run
                .known
                .get(name)
                .and_then(|known| known.value.as_ref())
                .is_some_and(|old| same_or(old, value, index >= written))
            {
                resized.extend(run.resize(name, found.bytes));
                continue;
            }
            let mut value = value.clone();
            if found.bound {
                self.make_portable(&mut value);
            }
            entries.insert(name.clone(), found.entries);
            changes.push(Change {
                base: run.known.get(name).map_or(0, |known| known.version).max(run.opened),
                name: name.clone(),
                live: value.is_shared() || !(found.cells.is_empty() && found.atoms.is_empty()),
                value: Arc::new(value),
                constant: scope.is_constant(name).unwrap_or(false),
                bytes: found.bytes,
            });
        }
        if all {
            for (name, value) in run.live(&names) {
                let found = measure(&value, self.nesting());
                if found.too_deep {
                    hit = Some(LimitHit::Nesting { limit: self.nesting() });
                    empty_deep_cells(&value, self.nesting());
                } else if self.takes_otherwise(&name, &value, found.bytes) {
                    resized.push(Resized { name, value, bytes: found.bytes });
                }
            }
        }
        let imports = self.new_imports(&mut run, at);
        if !(changes.is_empty() && resized.is_empty() && imports.is_empty()) {
            let batch = Batch { entry: self.id(), changes, resized, imports };
            let dropped = self.publish_batch(&mut run, batch, entries, &mut hit);
            drop(run);
            // Old values may be large: they go without the lock.
            drop(dropped?);
        }
        match hit {
            Some(hit) => Err(self.hit(hit)),
            None => Ok(()),
        }
    }

    /// Whether the space still has this value, and takes it to have another size. It may have been told so by a child.
    fn takes_otherwise(&self, name: &str, value: &Arc<Dynamic>, bytes: usize) -> bool {
        self.space().variable(name).is_some_and(|kept| Arc::ptr_eq(&kept.value, value) && kept.bytes != bytes)
    }

    /// Lets what a background child changed in captured cells and atoms count in its space. With `captured` that may be any
    /// variable of the space, otherwise those it read.
    ///
    /// # Errors
    /// Ends the entry when the space is above its limit then, or a value nested too deeply.
    pub(crate) fn recount(&self, captured: bool) -> Fallible<()> {
        let space = self.space();
        let names =
            if captured { space.names() } else { self.run().live(&[]).into_iter().map(|(name, _)| name).collect() };
        let (resized, mut hit) = self.resized(names);
        if !resized.is_empty() {
            let batch = Batch { entry: self.id(), changes: Vec::new(), resized, imports: Vec::new() };
            match space.publish(batch) {
                Ok(published) => hit = hit.or(published.hit),
                Err(SpaceFailure::Limit(limit)) => hit = hit.or(Some(limit)),
                // A child may outlive its space: there is nothing to count in.
                Err(SpaceFailure::Closed) => {}
            }
        }
        hit.map_or(Ok(()), |hit| Err(self.hit(hit)))
    }

    /// What variables take now that may have changed without having been written, where the space was told otherwise.
    fn resized(&self, names: Vec<ImmutableString>) -> (Vec<Resized>, Option<LimitHit>) {
        let (space, levels) = (self.space(), self.nesting());
        let mut hit = None;
        let mut resized = Vec::new();
        for name in names {
            let Some(variable) = space.variable(&name).filter(|variable| variable.live) else { continue };
            let found = measure(&variable.value, levels);
            if found.too_deep {
                hit = Some(LimitHit::Nesting { limit: levels });
                empty_deep_cells(&variable.value, levels);
            } else if found.bytes != variable.bytes {
                resized.push(Resized { name, value: variable.value, bytes: found.bytes });
            }
        }
        (resized, hit)
    }

    /// Publishes to the space. What does not fit is tried again when other variables turn out to take less than the space was told:
    /// what is in their cells and atoms may have been emptied by another name. `changes` are those of the batch.
    fn publish_to_space(&self, batch: Batch, changes: &[Change]) -> Result<Published, SpaceFailure> {
        let (space, entry) = (self.space(), batch.entry);
        let mut published = space.publish(batch)?;
        if published.versions.len() < changes.len() && matches!(published.hit, Some(LimitHit::SpaceMemory { .. })) {
            let (resized, _) = self.resized(space.names());
            if !resized.is_empty() {
                space.publish(Batch { entry, changes: Vec::new(), resized, imports: Vec::new() })?;
                let changes = changes[published.versions.len()..].to_vec();
                let again = space.publish(Batch { entry, changes, resized: Vec::new(), imports: Vec::new() })?;
                published.versions.extend(again.versions);
                published.overwritten.extend(again.overwritten);
                published.replaced.extend(again.replaced);
                published.hit = again.hit;
            }
        }
        Ok(published)
    }

    fn publish_batch(
        &self,
        run: &mut Run,
        batch: Batch,
        mut entries: HashMap<ImmutableString, BTreeSet<EntryId>>,
        hit: &mut Option<LimitHit>,
    ) -> Fallible<Vec<Arc<Dynamic>>> {
        let added = batch.changes.iter().map(|change| change.bytes).sum();
        let before: usize = batch.changes.iter().filter_map(|c| run.known.get(&c.name)).map(|known| known.bytes).sum();
        self.charge(added)?;
        self.release(before);
        let changes = batch.changes.clone();
        let published = match self.publish_to_space(batch, &changes) {
            Ok(published) => published,
            Err(SpaceFailure::Closed) => {
                self.stop(StopCause::NoSuchSpace(self.space().name().to_owned()));
                return Err(terminated());
            }
            Err(SpaceFailure::Limit(limit)) => return Err(self.hit(limit)),
        };
        let mut dropped = published.replaced;
        for (change, version) in changes.into_iter().zip(published.versions) {
            if !run.published.iter().any(|name| *name == *change.name) {
                run.published.push(change.name.to_string());
            }
            let known = Known {
                version,
                value: Some(change.value),
                bytes: change.bytes,
                size: change.bytes,
                live: change.live,
                entries: entries.remove(&change.name).unwrap_or_default(),
                ..Known::default()
            };
            dropped.extend(run.known.insert(change.name, known).and_then(|known| known.value));
        }
        for other in published.overwritten {
            run.lost.insert(other.name.as_str().into(), (*other.value).clone());
            run.overwritten.push((other.name, other.by));
        }
        *hit = hit.take().or(published.hit);
        Ok(dropped)
    }

    /// Imports of the top level that the space does not know yet.
    fn new_imports(&self, run: &mut Run, at: StateView<'_>) -> Vec<Import> {
        if at.import_count() <= run.imports {
            return Vec::new();
        }
        let imports: Vec<Import> = at
            .imports(run.imports)
            .filter(|(alias, _)| !alias.is_empty())
            .map(|(alias, module)| Import::new(alias.clone(), module.clone()))
            .collect();
        run.imports = at.import_count();
        let mut environment = self.environment();
        environment.add_imports(&imports);
        self.set_environment(environment);
        imports
    }
}

impl Run {
    /// The index of the top-level statement that runs.
    pub(crate) fn statement(&self) -> usize {
        self.statement
    }

    /// The entries that can be reached from what it published.
    pub(crate) fn entries(&self) -> BTreeSet<EntryId> {
        self.known.values().flat_map(|known| known.entries.iter().copied()).collect()
    }

    /// The variables it knows, beside `names`, that may have changed without having been written: cells and atoms in them do.
    fn live(&self, names: &[ImmutableString]) -> Vec<(ImmutableString, Arc<Dynamic>)> {
        let others = self.known.iter().filter(|(name, known)| known.live && !names.contains(name));
        others.filter_map(|(name, known)| Some((name.clone(), Arc::clone(known.value.as_ref()?)))).collect()
    }

    /// What the space must be told when a variable that is the same takes `bytes` now.
    fn resize(&mut self, name: &ImmutableString, bytes: usize) -> Option<Resized> {
        let known = self.known.get_mut(name).filter(|known| known.live && known.size != bytes)?;
        known.size = bytes;
        Some(Resized { name: name.clone(), value: Arc::clone(known.value.as_ref()?), bytes })
    }

    /// The names to look at, each once, and how many of them the statement may have written. At the end those of earlier
    /// statements follow that were captured: a background child may have written them since.
    fn next_names(&mut self, all: bool, scope: &Scope<'_>) -> (Vec<ImmutableString>, usize) {
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
        let earlier = if cells.is_empty() { &[] } else { &self.plan[..from] }.iter().flatten();
        let earlier = earlier.filter(|name| cells.contains(name.as_str()) && !in_space(name));
        let mut seen = HashSet::new();
        let mut names: Vec<_> =
            self.plan[from..to].iter().flatten().filter(|name| seen.insert(*name)).cloned().collect();
        let written = names.len();
        names.extend(earlier.filter(|name| seen.insert(*name)).cloned());
        (names, written)
    }

    /// Surveys the values of `names`, and notes the cells that closures among them captured.
    fn measure(&mut self, names: &[ImmutableString], scope: &Scope<'_>, levels: usize) -> Vec<Option<Measure>> {
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
    fn stays_shared(&self, name: &str, value: &Dynamic) -> bool {
        if !value.is_shared() {
            return true;
        }
        let captured = value.read_lock::<Dynamic>().is_some_and(|inner| self.linked.contains(&address(&inner)));
        captured || self.known.get(name).and_then(|known| known.value.as_ref()).is_some_and(|old| old.is_shared())
    }
}

impl Known {
    /// The value for code that must not change it.
    fn shown(&mut self) -> Option<Dynamic> {
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
