//! The one shared body of a host: the registry behind its lock, the language, spaces, threads, and the steps that join them.

use super::api::Job;
use super::hooks::LogSink;
use super::kept::Kept;
use super::live::{Live, Notes, Work};
use super::serving::Serving;
use super::threads::Threads;
use crate::base::{Clock, EntryId, Failure, Limits, Owner, Refusal, SpaceId, Status, StopCause, Wake, lock};
use crate::engine::{Callable, Hooks, Runtime, SpaceView, Task, memory};
use crate::registry::{Asked, CancelBy, EndedSession, NewEntry, OutputLog, Place, Registry, Remains, Settlement};
use crate::render::Style;
use crate::render::teach::FunctionDoc;
use crate::spaces::Space;
use crate::spaces::library::{Library, ModuleName, ModuleSpace, ScriptModules};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use tokio::sync::Notify;

/// Everything a host owns.
pub(super) struct Inner {
    pub(super) clock: Clock,
    pub(super) limits: Limits,
    pub(super) describe: String,
    pub(super) language: Runtime,
    pub(super) library: Arc<Library>,
    /// What `import` finds.
    pub(super) modules: ScriptModules,
    /// The host's own functions, in the order of the manual.
    pub(super) docs: Vec<FunctionDoc>,
    /// Names of the embedding program's modules.
    pub(super) embedded: Vec<String>,
    /// What the process held when the host was built, in bytes; `None` without the counting allocator: then memory limits of evals
    /// are not enforced.
    pub(super) held_before: Option<usize>,
    pub(super) threads: Arc<Threads>,
    /// The registry. No script runs, nothing is rendered and no value is dropped while it is locked.
    state: Mutex<Registry<Kept>>,
    /// Entries that have not settled. Locked inside the registry's lock, never around it.
    live: RwLock<HashMap<EntryId, Arc<Live>>>,
    /// Spaces by id. Locked around the registry's lock, never inside it.
    spaces: RwLock<HashMap<SpaceId, Arc<Space>>>,
    /// Spaces that stand for modules, by module.
    pub(super) module_spaces: Mutex<HashMap<ModuleName, Arc<ModuleSpace>>>,
    pub(super) hooks: OnceLock<Hooks>,
    /// Set once the process lets nobody in any more.
    closing: AtomicBool,
    /// Is notified whenever an entry has settled.
    pub(super) ends: Wake,
    /// How the prompt wants its answers, when there is one.
    prompt: Mutex<Option<Style>>,
    /// Where the host is served.
    pub(super) serving: Serving,
}

/// Where an eval takes place, resolved.
pub(super) struct Site {
    place: Arc<dyn SpaceView>,
    /// The same, when it stands for a module.
    module: Option<Arc<ModuleSpace>>,
    ns: Arc<str>,
    new_space: Option<String>,
}

/// The parts a host is put together from.
pub(super) struct Parts {
    pub(super) clock: Clock,
    pub(super) limits: Limits,
    pub(super) describe: String,
    pub(super) language: Runtime,
    pub(super) library: Arc<Library>,
    pub(super) docs: Vec<FunctionDoc>,
    pub(super) embedded: Vec<String>,
    pub(super) held_before: Option<usize>,
}

impl Inner {
    pub(super) fn new(parts: Parts) -> Arc<Self> {
        let Parts { clock, limits, describe, language, library, docs, embedded, held_before } = parts;
        let inner = Arc::new_cyclic(|weak| Self {
            modules: super::hooks::modules(weak, Arc::clone(&library)),
            threads: Threads::new(limits.stack_bytes()),
            state: Mutex::new(Registry::new(limits.clone())),
            live: RwLock::default(),
            spaces: RwLock::default(),
            module_spaces: Mutex::default(),
            hooks: OnceLock::new(),
            closing: AtomicBool::new(false),
            ends: Wake::default(),
            prompt: Mutex::default(),
            serving: Serving::default(),
            clock,
            limits,
            describe,
            language,
            library,
            docs,
            embedded,
            held_before,
        });
        let hooks = super::hooks::hooks(&inner);
        inner.hooks.set(hooks).ok();
        inner
    }

    pub(super) fn state(&self) -> MutexGuard<'_, Registry<Kept>> {
        lock(&self.state)
    }

    pub(super) fn live(&self, id: EntryId) -> Option<Arc<Live>> {
        self.live.read().unwrap_or_else(PoisonError::into_inner).get(&id).cloned()
    }

    /// Somebody sits at a prompt from now on (or no longer), and wants answers in this style.
    pub(super) fn set_prompt(&self, style: Option<Style>) {
        *lock(&self.prompt) = style;
        self.state().set_prompt(style.is_some());
    }

    pub(super) fn prompt_style(&self) -> Style {
        lock(&self.prompt).unwrap_or(Style::Agent)
    }

    pub(super) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }

    pub(super) fn hooks(&self) -> Hooks {
        self.hooks.get().expect("set when the host was made").clone()
    }

    /// Where an eval of `owner` takes place.
    fn site(self: &Arc<Self>, owner: Owner, ns: Option<&str>) -> Result<Site, Refusal> {
        let wanted: Cow<'_, str> = match ns {
            Some(name) => Cow::Borrowed(name),
            None => Cow::Owned(self.state().current(owner)?.to_string()),
        };
        // A scratch is never a module, and most evals take place in one: no need to look at the folder.
        let may_be_module = ns.is_some() || !wanted.starts_with("s-");
        if let Some(name) = may_be_module.then(|| self.library.find(&wanted)).flatten() {
            let module = self.module_space(&name);
            let ns = name.as_str().into();
            return Ok(Site { place: Arc::clone(&module) as _, module: Some(module), ns, new_space: None });
        }
        let Place { space, name, created } = self.state().place(owner, ns)?;
        let new_space = created.then(|| name.to_string());
        Ok(Site { place: self.space(space, &name), module: None, ns: name, new_space })
    }

    /// The space with this id and name, made when it is not there yet. One that has ended meanwhile is closed and kept nowhere.
    pub(super) fn space(&self, id: SpaceId, name: &str) -> Arc<Space> {
        if let Some(space) = self.spaces.read().unwrap_or_else(PoisonError::into_inner).get(&id) {
            return Arc::clone(space);
        }
        let mut spaces = self.spaces.write().unwrap_or_else(PoisonError::into_inner);
        // A space that ends loses its name first and is removed from here afterwards. So one that has its name now will be removed
        // in its time, and one without would stay for ever.
        if self.state().find_space(name).is_ok_and(|named| named == id) {
            return Arc::clone(spaces.entry(id).or_insert_with(|| Space::new(id, name, &self.limits)));
        }
        let ended = Space::new(id, name, &self.limits);
        ended.close();
        ended
    }

    /// A space that exists already.
    pub(super) fn known_space(&self, id: SpaceId) -> Option<Arc<Space>> {
        self.spaces.read().unwrap_or_else(PoisonError::into_inner).get(&id).cloned()
    }

    /// The space that stands for a module: evals inside the module run there.
    fn module_space(&self, name: &ModuleName) -> Arc<ModuleSpace> {
        let mut spaces = lock(&self.module_spaces);
        if let Some(space) = spaces.get(name) {
            return Arc::clone(space);
        }
        let id = self.state().fresh_space();
        let space = Space::new(id, name.as_str(), &self.limits);
        let module = ModuleSpace::new(space, self.modules.clone(), name.clone());
        spaces.insert(name.clone(), Arc::clone(&module));
        module
    }

    /// What is held beside what the registry counts, in bytes: spaces, running evals, and what stands behind atoms and channels.
    /// With the counting allocator this is what the process allocated since the host was built, so whatever hides from a walk
    /// over values counts too; without it, what spaces say of themselves.
    pub(super) fn elsewhere(&self) -> usize {
        if let Some(before) = self.held_before {
            return memory::process_bytes().saturating_sub(before).saturating_sub(self.state().kept_bytes());
        }
        self.space_bytes()
    }

    /// What all spaces say that they hold, in bytes.
    fn space_bytes(&self) -> usize {
        let spaces: usize =
            self.spaces.read().unwrap_or_else(PoisonError::into_inner).values().map(|space| space.bytes()).sum();
        let modules = lock(&self.module_spaces);
        spaces + modules.values().map(|module| module.space().bytes()).sum::<usize>()
    }

    /// What counts against the total of the process, and how much of it no kept entry, space or running eval accounts for; both in
    /// bytes. Holders say of themselves what they take, mostly a little too much: the second is what is missing at least.
    pub(super) fn held(&self) -> (usize, usize) {
        let kept = self.state().kept_bytes();
        let all = kept.saturating_add(self.elsewhere());
        let running: usize = {
            let live = self.live.read().unwrap_or_else(PoisonError::into_inner);
            live.values().map(|live| live.task.memory_used()).sum()
        };
        (all, all.saturating_sub(kept.saturating_add(self.space_bytes()).saturating_add(running)))
    }

    /// All spaces with what they hold, in bytes, largest first.
    pub(super) fn largest_spaces(&self, n: usize) -> Vec<(String, usize)> {
        let mut all: Vec<_> = self
            .spaces
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .values()
            .map(|space| (space.name().to_owned(), space.bytes()))
            .collect();
        all.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
        all.truncate(n);
        all
    }

    /// Admits an eval and lets it run. With `expected` a call of the owner is open for it: it is no news elsewhere until
    /// [`Registry::unexpect`].
    pub(super) fn submit(self: &Arc<Self>, owner: Owner, job: &Job, expected: bool) -> Result<EntryId, Refusal> {
        if job.code.len() > self.limits.script_bytes {
            return Err(Refusal::ScriptTooLong { bytes: job.code.len(), limit: self.limits.script_bytes });
        }
        let mut site = self.site(owner, job.ns.as_deref())?;
        let code: Arc<str> = job.code.as_str().into();
        let notes = Notes { move_to: job.ns.is_some().then(|| site.ns.to_string()), new_space: site.new_space.take() };
        self.admit(owner, None, site, Arc::clone(&code), Work::Script(code), notes, expected).map(|live| live.id)
    }

    /// Admits a background child of a running entry.
    pub(super) fn submit_child(self: &Arc<Self>, parent: &Live, callable: Callable) -> Result<EntryId, Refusal> {
        let ns = self.state().get(parent.id, self.clock.now())?.ns;
        let place = Arc::clone(parent.task.space());
        let site = Site { place, module: None, ns, new_space: None };
        let code: Arc<str> = callable.name().into();
        let work = Work::Child(Box::new(callable));
        self.admit(parent.owner, Some(parent.id), site, code, work, Notes::default(), false).map(|live| live.id)
    }

    #[expect(clippy::too_many_arguments, reason = "the one place where all facts of a new entry come together")]
    fn admit(
        self: &Arc<Self>,
        owner: Owner,
        parent: Option<EntryId>,
        site: Site,
        code: Arc<str>,
        work: Work,
        notes: Notes,
        expected: bool,
    ) -> Result<Arc<Live>, Refusal> {
        let new = NewEntry { owner, parent, space: site.place.id(), ns: site.ns, code };
        let elsewhere = self.elsewhere();
        let now = self.clock.now();
        let mut state = self.state();
        let admission = match state.admit(new, elsewhere, now) {
            Ok(admission) => admission,
            Err(refused) => {
                drop(state);
                self.sessions_ended(refused.expired);
                return Err(refused.refusal);
            }
        };
        let changed = Arc::new(Notify::new());
        let sink = Arc::new(LogSink {
            log: Arc::clone(&admission.log),
            clock: self.clock.clone(),
            changed: Arc::clone(&changed),
        });
        let task = Task::new(admission.id, parent, site.place, sink, self.hooks());
        let live = Arc::new(Live::new(owner, task, work, notes, site.module, changed));
        if expected {
            state.expect(admission.id, owner);
        }
        // Nobody can know the id before the registry is unlocked, so whoever asks for it finds it here.
        self.live.write().unwrap_or_else(PoisonError::into_inner).insert(admission.id, Arc::clone(&live));
        drop(state);
        self.bury(admission.evicted);
        self.sessions_ended(admission.expired);
        if admission.queued_before.is_none() {
            self.start(&live);
        }
        Ok(live)
    }

    /// Lets an entry that holds a slot run on a thread.
    fn start(self: &Arc<Self>, live: &Arc<Live>) {
        let (inner, entry) = (Arc::clone(self), Arc::clone(live));
        if let Err((job, error)) = self.threads.run(Box::new(move || inner.work(&entry))) {
            drop(job);
            let failure = Failure::new("NoThread", format!("no thread could be started for this eval: {error}"));
            self.settle_failed(live, failure);
        }
    }

    /// Entries that hold a slot from now on: those that never ran are started, the others go on.
    pub(super) fn granted(self: &Arc<Self>, ids: Vec<EntryId>) {
        for id in ids {
            let Some(live) = self.live(id) else { continue };
            if live.has_work() { self.start(&live) } else { live.grant() }
        }
    }

    /// Asks an entry to stop, and its children with it.
    pub(super) fn cancel(
        self: &Arc<Self>,
        id: EntryId,
        by: CancelBy,
        cause: &StopCause,
    ) -> Result<crate::registry::CancelState, Refusal> {
        let Asked { state, stop, dequeued } = self.state().request_cancel(id, by, self.clock.now())?;
        self.stop_all(&stop, cause);
        self.dequeued(&dequeued);
        Ok(state)
    }

    pub(super) fn stop_all(&self, ids: &[EntryId], cause: &StopCause) {
        for live in ids.iter().filter_map(|id| self.live(*id)) {
            live.task.stop(cause.clone());
        }
    }

    /// Entries that were cancelled before they ran.
    pub(super) fn dequeued(&self, ids: &[EntryId]) {
        for id in ids {
            if let Some(live) = self.retire(*id) {
                drop(live.take_work());
                if let Some(known) = live.shared() {
                    known.facts();
                }
                live.settle();
            }
        }
    }

    /// Takes an entry off the list of those that have not settled.
    pub(super) fn retire(&self, id: EntryId) -> Option<Arc<Live>> {
        let live = self.live.write().unwrap_or_else(PoisonError::into_inner).remove(&id);
        self.ends.notify();
        live
    }

    /// Sessions are over: what was queued for them is gone, and so are their scratches.
    pub(super) fn sessions_ended(&self, ended: Vec<EndedSession>) {
        if ended.is_empty() {
            return;
        }
        for session in ended {
            self.dequeued(&session.dequeued);
            self.drop_space(session.scratch);
        }
        // What they made may have ended with them, such as a channel somebody waits on: all who wait look again.
        for live in self.live.read().unwrap_or_else(PoisonError::into_inner).values() {
            live.task.wake().notify();
        }
    }

    /// Ends a space on a thread that can take it.
    pub(super) fn drop_space(&self, id: SpaceId) {
        let space = self.spaces.write().unwrap_or_else(PoisonError::into_inner).remove(&id);
        if let Some(space) = space {
            self.on_large_stack(move || space.close());
        }
    }

    /// Drops what is left of evicted entries where values may be dropped.
    pub(super) fn bury(&self, remains: Remains<Kept>) {
        if !remains.values.is_empty() {
            self.on_large_stack(move || drop(remains));
        }
    }

    /// Runs a clean-up on a thread of evals; here, when none can be started (what is kept is never deep).
    pub(super) fn on_large_stack(&self, act: impl FnOnce() + Send + 'static) {
        if let Err((job, _error)) = self.threads.run(Box::new(act)) {
            job();
        }
    }

    /// Marks an entry failed that could not be run to its end. Nothing happens when it has settled.
    pub(super) fn settle_failed(self: &Arc<Self>, live: &Live, failure: Failure) {
        if live.is_settled() {
            return;
        }
        let face = super::kept::Face {
            end: super::kept::End::Failed(Arc::new(failure)),
            published: Vec::new(),
            conflicts: Vec::new(),
            cancelled_children: Vec::new(),
            new_space: None,
            move_to: None,
        };
        self.settle(live, Status::Failed, Kept { face: Arc::new(face), values: Arc::default() }, 0);
    }

    /// Marks an entry settled and tells everybody who waits.
    pub(super) fn settle(self: &Arc<Self>, live: &Live, status: Status, kept: Kept, bytes: usize) {
        let now = self.clock.now();
        let (settled, told) = {
            let mut state = self.state();
            let settled = state.settle(live.id, Settlement { status, value: kept, bytes }, now);
            // In the same step: a moment later it may be evicted, and its handles are to know how it ended.
            let told = live.shared().and_then(|known| Some((known, state.get(live.id, now).ok()?)));
            (settled, told)
        };
        if let Some((known, facts)) = told {
            known.learn(facts);
        }
        self.retire(live.id);
        live.settle();
        self.granted(settled.granted);
        drop(settled.unkept);
    }

    /// Lets nobody in any more and asks everything to stop.
    pub(super) fn close(self: &Arc<Self>) {
        self.closing.store(true, Ordering::Release);
        let down = self.state().shut_down(self.clock.now());
        self.stop_all(&down.stop, &StopCause::Shutdown);
        self.dequeued(&down.dequeued);
    }

    /// The entries that have not settled.
    pub(super) fn live_ids(&self) -> Vec<EntryId> {
        self.live.read().unwrap_or_else(PoisonError::into_inner).keys().copied().collect()
    }

    /// The log of an entry, running or settled.
    pub(super) fn log(&self, id: EntryId) -> Result<Arc<OutputLog>, Refusal> {
        self.state().log(id)
    }
}

#[cfg(test)]
mod tests {
    use crate::base::{ClientInfo, Owner};
    use crate::engine::SpaceView;
    use crate::host::Host;

    #[test]
    fn a_space_that_ended_is_not_made_again() {
        let host = Host::builder().build().unwrap();
        let inner = &host.inner;
        let (_, caller) = host.create_session(None, ClientInfo::default(), None).unwrap();
        // Between the moment an eval knows its place and the moment it asks for the space, its session or the space ends.
        let scratch = inner.state().place(caller, None).unwrap();
        let shared = inner.state().place(Owner::Local, Some("workshop")).unwrap();
        let ended = {
            let mut state = inner.state();
            let now = inner.clock.now() + inner.limits.silence;
            state.expire(now)
        };
        assert_eq!(ended.len(), 1);
        inner.sessions_ended(ended);
        let dropped = inner.state().drop_shared("workshop").unwrap();
        inner.drop_space(dropped);
        // One of the same name is another.
        let again = inner.state().place(Owner::Local, Some("workshop")).unwrap();
        for place in [scratch, shared] {
            let space = inner.space(place.space, &place.name);
            assert!(space.environment().is_none(), "{} has ended", place.name);
            assert!(inner.known_space(place.space).is_none(), "{} is kept by nobody", place.name);
        }
        let space = inner.space(again.space, &again.name);
        assert!(space.environment().is_some() && inner.known_space(again.space).is_some());
    }
}
