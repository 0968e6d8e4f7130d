//! Committing: how what an eval changes gets into its space.
//!
//! An eval works on a snapshot. After each top-level statement the variables that statement may have written are compared
//! with what the eval read, and only those that differ are committed. Capturing is a read: a variable becomes a shared cell
//! in the space only when a closure that captured it is kept as well.

use super::closures::{Prepared, make_portable};
use crate::base::limits::LimitHit;
use crate::base::{EntryId, StopCause};
use crate::engine::environment::Import;
use crate::engine::error::{Fallible, terminated};
use crate::engine::rhai_internals::runtime_state::StateView;
use crate::engine::task::context::Task;
use crate::engine::task::snapshot::{SeenVariable, Snapshot};
use crate::engine::task::space_view::{Batch, Change, Committed, Opened, Resized, SpaceFailure};
use crate::engine::value::inspect::{empty_deep_cells, measure, same_or};
use rhai::{Dynamic, ImmutableString, Scope};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// The point a script has come to when it commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reached {
    /// The end of a top-level statement.
    Statement,
    /// Its end.
    End,
    /// An error or a stop, inside a statement.
    BrokenOff,
}

/// Whether a value is a cell that holds what the space has under its name.
fn is_cell_of(value: &Dynamic, seen: Option<&SeenVariable>) -> bool {
    let old = seen.and_then(|seen| seen.value.as_ref());
    value.is_shared()
        && old.is_some_and(|old| value.read_lock::<Dynamic>().is_some_and(|inner| same_or(old, &inner, true)))
}

impl Task {
    /// The scope of a script that begins: the snapshot of what it names.
    pub(super) fn open_snapshot(&self, prepared: &mut Prepared, opened: Opened) -> Scope<'static> {
        let mut scope = Scope::new();
        let mut snapshot = self.state().snapshot();
        snapshot.opened = opened.version;
        for (name, variable) in opened.variables {
            let value = (*variable.value).clone();
            self.holds(&value);
            if variable.constant {
                scope.push_constant_dynamic(name.as_str(), value);
            } else {
                scope.push_dynamic(name.as_str(), value);
            }
            snapshot.known.insert(name, SeenVariable::read(variable));
        }
        snapshot.top_level = scope.len();
        snapshot.plan = std::mem::take(&mut prepared.script.writes);
        snapshot.captured = std::mem::take(&mut prepared.script.captures);
        snapshot.imports = opened.environment.imports.len();
        drop(snapshot);
        self.state().set_environment(opened.environment);
        scope
    }

    /// Kept imports were resolved to other modules: the eval and its space use these from now on.
    pub(crate) fn refresh_imports(&self, refreshed: &[Import]) {
        if refreshed.is_empty() {
            return;
        }
        let mut environment = self.state().environment();
        let imports = environment
            .imports
            .iter()
            .map(|kept| refreshed.iter().find(|import| import.alias == kept.alias).unwrap_or(kept).clone());
        environment.imports = Arc::new(imports.collect());
        self.state().set_environment(environment);
        let batch = Batch { entry: self.id(), changes: Vec::new(), resized: Vec::new(), imports: refreshed.to_vec() };
        // A space that ended is noticed by the next commit.
        drop(self.space().commit(batch));
    }

    /// Functions this eval redefined while their author was still at work.
    pub(crate) fn set_redefined(&self, redefined: Vec<(ImmutableString, EntryId)>) {
        self.state().snapshot().redefined = redefined;
    }

    /// The eval is over: functions that were defined by two entries at the same time.
    pub(crate) fn take_redefined(&self) -> Vec<(ImmutableString, EntryId)> {
        let mut redefined = std::mem::take(&mut self.state().snapshot().redefined);
        for function in self.space().close_eval(self.id()) {
            if !redefined.contains(&function) {
                redefined.push(function);
            }
        }
        redefined
    }

    /// Commits what the statement that just ended changed, or when the script is over what all that are left did. A statement
    /// that broke off commits nothing: what it had changed by then is only made safe to drop.
    ///
    /// # Errors
    /// Ends the entry when its space is gone or a limit is hit.
    pub(crate) fn commit(&self, scope: &Scope<'_>, at: StateView<'_>, reached: Reached) -> Fallible<()> {
        let all = reached != Reached::Statement;
        let mut snapshot = self.state().snapshot();
        let (names, written) = snapshot.next_names(all, scope);
        let shown = snapshot.forget_shown(&names, scope);
        let measures = snapshot.measure(&names, scope, self.nesting());
        measures.iter().flatten().for_each(|found| self.shares(&found.cells));
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
            let value = if snapshot.stays_shared(name, value) {
                value
            } else {
                flat = value.flatten_clone();
                &flat
            };
            if snapshot
                .known
                .get(name)
                .and_then(|known| known.value.as_ref())
                .is_some_and(|old| same_or(old, value, index >= written))
            {
                if found.bound {
                    // The same cell, with a closure put into it.
                    make_portable(self, &mut value.clone());
                }
                resized.extend(snapshot.resize(name, found.bytes));
                continue;
            }
            let captured = index >= written && is_cell_of(value, snapshot.known.get(name));
            let mut value = value.clone();
            if found.bound {
                make_portable(self, &mut value);
            }
            entries.insert(name.clone(), found.entries);
            changes.push(Change {
                base: snapshot.known.get(name).map_or(0, |known| known.version).max(snapshot.opened),
                name: name.clone(),
                live: value.is_shared() || !(found.cells.is_empty() && found.atoms.is_empty()),
                value: Arc::new(value),
                constant: scope.is_constant(name).unwrap_or(false),
                bytes: found.bytes,
                captured,
            });
        }
        if all {
            for (name, value) in snapshot.live(&names) {
                let found = measure(&value, self.nesting());
                if found.too_deep {
                    hit = Some(LimitHit::Nesting { limit: self.nesting() });
                    empty_deep_cells(&value, self.nesting());
                    continue;
                }
                if found.bound {
                    make_portable(self, &mut (*value).clone());
                }
                if self.takes_otherwise(&name, &value, found.bytes) {
                    resized.push(Resized { name, value, bytes: found.bytes });
                }
            }
        }
        let imports = self.new_imports(&mut snapshot, at);
        if !(changes.is_empty() && resized.is_empty() && imports.is_empty()) {
            let batch = Batch { entry: self.id(), changes, resized, imports };
            let dropped = self.commit_batch(&mut snapshot, batch, entries, &mut hit);
            drop(snapshot);
            // Old values may be large: they go without the lock.
            drop(shown);
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
        let names = if captured {
            space.names()
        } else {
            self.state().snapshot().live(&[]).into_iter().map(|(name, _)| name).collect()
        };
        let (resized, mut hit) = self.resized(names);
        if !resized.is_empty() {
            let batch = Batch { entry: self.id(), changes: Vec::new(), resized, imports: Vec::new() };
            match space.commit(batch) {
                Ok(committed) => hit = hit.or(committed.hit),
                Err(SpaceFailure::Limit(limit)) => hit = hit.or(Some(limit)),
                // A child may outlive its space: there is nothing to count in.
                Err(SpaceFailure::Closed) => {}
            }
        }
        hit.map_or(Ok(()), |hit| Err(self.hit(hit)))
    }

    /// The present sizes of variables that may have changed without having been written, where the space was told otherwise.
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

    /// Commits to the space. What does not fit is tried again when other variables turn out to take less than the space was told:
    /// what is in their cells and atoms may have been emptied by another name. `changes` are those of the batch.
    fn commit_to_space(&self, batch: Batch, changes: &[Change]) -> Result<Committed, SpaceFailure> {
        let (space, entry) = (self.space(), batch.entry);
        let mut committed = space.commit(batch)?;
        if committed.versions.len() < changes.len() && matches!(committed.hit, Some(LimitHit::SpaceMemory { .. })) {
            let (resized, _) = self.resized(space.names());
            if !resized.is_empty() {
                space.commit(Batch { entry, changes: Vec::new(), resized, imports: Vec::new() })?;
                let changes = changes[committed.versions.len()..].to_vec();
                let again = space.commit(Batch { entry, changes, resized: Vec::new(), imports: Vec::new() })?;
                committed.versions.extend(again.versions);
                committed.overwritten.extend(again.overwritten);
                committed.replaced.extend(again.replaced);
                committed.hit = again.hit;
            }
        }
        Ok(committed)
    }

    fn commit_batch(
        &self,
        snapshot: &mut Snapshot,
        batch: Batch,
        mut entries: HashMap<ImmutableString, BTreeSet<EntryId>>,
        hit: &mut Option<LimitHit>,
    ) -> Fallible<Vec<Arc<Dynamic>>> {
        let added = batch.changes.iter().map(|change| change.bytes).sum();
        let before: usize =
            batch.changes.iter().filter_map(|c| snapshot.known.get(&c.name)).map(|known| known.bytes).sum();
        self.charge(added)?;
        self.release(before);
        let changes = batch.changes.clone();
        let committed = match self.commit_to_space(batch, &changes) {
            Ok(committed) => committed,
            Err(SpaceFailure::Closed) => {
                self.stop(StopCause::NoSuchSpace(self.space().name().to_owned()));
                return Err(terminated());
            }
            Err(SpaceFailure::Limit(limit)) => return Err(self.hit(limit)),
        };
        let mut dropped = committed.replaced;
        for (change, version) in changes.into_iter().zip(committed.versions) {
            if !snapshot.committed.iter().any(|name| *name == *change.name) {
                snapshot.committed.push(change.name.to_string());
            }
            let known = SeenVariable {
                version,
                value: Some(change.value),
                ahead: snapshot.known.get_mut(&change.name).and_then(|known| known.ahead.take()),
                bytes: change.bytes,
                size: change.bytes,
                live: change.live,
                entries: entries.remove(&change.name).unwrap_or_default(),
                ..SeenVariable::default()
            };
            dropped.extend(snapshot.known.insert(change.name, known).and_then(|known| known.value));
        }
        for other in committed.overwritten {
            snapshot.lost.insert(other.name.as_str().into(), (*other.value).clone());
            snapshot.overwritten.push((other.name, other.by));
        }
        *hit = hit.take().or(committed.hit);
        Ok(dropped)
    }

    /// Imports of the top level that the space does not know yet.
    fn new_imports(&self, snapshot: &mut Snapshot, at: StateView<'_>) -> Vec<Import> {
        if at.import_count() <= snapshot.imports {
            return Vec::new();
        }
        let imports: Vec<Import> = at
            .imports(snapshot.imports)
            .filter(|(alias, _)| !alias.is_empty())
            .map(|(alias, module)| Import::new(alias.clone(), module.clone()))
            .collect();
        snapshot.imports = at.import_count();
        let mut environment = self.state().environment();
        environment.add_imports(&imports);
        self.state().set_environment(environment);
        imports
    }
}
