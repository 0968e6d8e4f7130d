//! The small host as evaluation sees it: spaces, modules, sources, slots, budget, waits.

use super::*;
use crate::engine::Readings;
use crate::engine::rhai::{EvalAltResult, Position};

impl SpaceView for Noting {
    fn id(&self) -> SpaceId {
        self.space.id()
    }

    fn name(&self) -> &str {
        self.space.name()
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Opened, SpaceFailure> {
        lock(&self.overlay).clone_from(&opening.overlay);
        self.space.open(opening)
    }

    fn close_eval(&self, entry: EntryId) -> Vec<(ImmutableString, EntryId)> {
        self.space.close_eval(entry)
    }

    fn readings(&self) -> Arc<Readings> {
        self.space.readings()
    }

    fn captured(&self) -> Arc<BTreeSet<ImmutableString>> {
        self.space.captured()
    }

    fn names(&self) -> Vec<ImmutableString> {
        self.space.names()
    }

    fn variable(&self, name: &str) -> Option<Variable> {
        self.space.variable(name)
    }

    fn commit(&self, batch: Batch) -> Result<Committed, SpaceFailure> {
        self.space.commit(batch)
    }

    fn environment(&self) -> Option<Environment> {
        self.space.environment()
    }

    fn last_environment(&self) -> Arc<OnceLock<Environment>> {
        self.space.last_environment()
    }
}

impl Modules for Host {
    fn resolve(&self, task: &Arc<Task>, name: &str) -> Fallible<Arc<LoadedModule>> {
        if let Some(space) = name.strip_prefix('@') {
            let space = lock(&self.spaces).get(space).cloned().ok_or_else(|| module_not_found(name))?;
            let view: Arc<dyn SpaceView> = space;
            let module = LoadedModule::of_space(task, name, &view).ok_or_else(|| module_not_found(name))?;
            return Ok(Arc::new(module));
        }
        let plain = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || "_-".contains(c));
        if !name.split('/').all(plain) {
            return Err(module_not_found(name));
        }
        let path = self.folder.path().join(name).with_extension("rhai");
        let text = std::fs::read_to_string(path).map_err(|_| module_not_found(name))?;
        if let Some((old, module)) = lock(&self.modules).get(name)
            && *old == text
        {
            return Ok(Arc::clone(module));
        }
        let module = Arc::new(compile_module(task, name, &text, &[])?);
        lock(&self.modules).insert(name.to_owned(), (text, Arc::clone(&module)));
        Ok(module)
    }

    fn names(&self) -> Vec<String> {
        let files = std::fs::read_dir(self.folder.path()).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        names.filter_map(|name| name.strip_suffix(".rhai").map(str::to_owned)).collect()
    }
}

impl Sources for Host {
    fn text(&self, source: &str) -> Option<Arc<str>> {
        std::fs::read_to_string(self.folder.path().join(source)).ok().map(Arc::from)
    }
}

impl Blocking for Host {
    fn give(&self, task: &Control) {
        let job = Arc::clone(&lock(&self.jobs)[&task.id().0]);
        if job.has_slot.swap(false, Ordering::SeqCst) {
            *lock(&self.slots) += 1;
            self.slot_free.notify_one();
        }
    }

    fn take(&self, task: &Control) {
        let job = Arc::clone(&lock(&self.jobs)[&task.id().0]);
        let mut slots = lock(&self.slots);
        while *slots <= 0 && task.stopped().is_none() {
            let waited = self.slot_free.wait_timeout(slots, Duration::from_millis(20));
            slots = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        *slots -= 1;
        job.has_slot.store(true, Ordering::SeqCst);
    }
}

impl Budget for Host {
    fn may_keep(&self, bytes: usize) -> Result<(), LimitHit> {
        let left = self.budget.load(Ordering::SeqCst);
        if bytes <= left {
            return Ok(());
        }
        let still = self.limits.kept_when_full_bytes;
        let holders = vec!["entry 1 (1 GiB)".into()];
        Err(LimitHit::TotalMemory { limit: self.limits.total_bytes, still, holders, unnamed: 0 })
    }
}

impl Waits for Host {
    fn begin(&self, waiter: EntryId, owner: EntryId) -> Result<(), Refusal> {
        fn path(
            edges: &[(EntryId, EntryId)],
            at: EntryId,
            goal: EntryId,
            seen: &mut HashSet<EntryId>,
        ) -> Option<Vec<EntryId>> {
            if at == goal {
                return Some(vec![at]);
            }
            if !seen.insert(at) {
                return None;
            }
            let next = edges.iter().filter(|(from, _)| *from == at);
            next.filter_map(|(_, to)| path(edges, *to, goal, seen)).next().map(|mut rest| {
                rest.insert(0, at);
                rest
            })
        }
        let mut waits = lock(&self.waits);
        if let Some(mut circle) = path(&waits, owner, waiter, &mut HashSet::new()) {
            circle.insert(0, waiter);
            return Err(Refusal::Deadlock { path: circle });
        }
        waits.push((waiter, owner));
        Ok(())
    }

    fn end(&self, waiter: EntryId, owner: EntryId) {
        let mut waits = lock(&self.waits);
        if let Some(index) = waits.iter().position(|edge| *edge == (waiter, owner)) {
            waits.swap_remove(index);
        }
    }
}

fn module_not_found(name: &str) -> Box<EvalAltResult> {
    EvalAltResult::ErrorModuleNotFound(name.to_owned(), Position::NONE).into()
}
