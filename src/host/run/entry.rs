//! One life of an entry: it is admitted, gets a slot and a thread, works, may be cancelled, and settles. Each step tells the
//! registry under its lock and acts on the answer after unlocking.

use super::tracing_layer::Served;
use crate::base::{EntryId, Failure, Owner, Refusal, Status, StopCause, Time};
use crate::engine::{self, Callable, Ended, SpaceView, Task, Unfinished};
use crate::host::core::active::{ActiveEntry, Effects, Work};
use crate::host::core::host_core::HostCore;
use crate::host::core::log_sink::LogSink;
use crate::host::core::settled::{SettledEntry, Values};
use crate::host::types::EvalRequest;
use crate::registry::{Asked, CancelBy, CancelState, EndedSession, NewEntry, Remains, Settlement, TargetSpace};
use crate::render::{self, Budget};
use crate::render::{EndText, Summary};
use crate::spaces::library::ModuleSpace;
use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use tokio::sync::Notify;

/// The place where an eval happens, resolved.
struct Target {
    space: Arc<dyn SpaceView>,
    /// The same, when it stands for a module.
    module: Option<Arc<ModuleSpace>>,
    ns: Arc<str>,
    new_space: Option<String>,
}

/// An entry that asks to be let in.
struct Applicant {
    owner: Owner,
    parent: Option<EntryId>,
    target: Target,
    code: Arc<str>,
    work: Work,
    effects: Effects,
    /// Whether a call of the owner is open for it.
    expected: bool,
}

// --- in ----------------------------------------------------------------------------------------------------------------------

impl HostCore {
    /// Admits an eval and lets it run. A call of the owner is open for it: it is no news elsewhere until
    /// [`Registry::unexpect`](crate::registry::Registry::unexpect).
    pub(in crate::host) fn submit(self: &Arc<Self>, owner: Owner, request: &EvalRequest) -> Result<EntryId, Refusal> {
        if request.code.len() > self.limits.script_bytes {
            return Err(Refusal::ScriptTooLong { bytes: request.code.len(), limit: self.limits.script_bytes });
        }
        let mut target = self.target(owner, request.ns.as_deref())?;
        let code: Arc<str> = request.code.as_str().into();
        let move_to = request.ns.is_some().then(|| target.ns.to_string());
        let effects = Effects { move_to, new_space: target.new_space.take() };
        let work = Work::Script(Arc::clone(&code));
        self.admit(Applicant { owner, parent: None, target, code, work, effects, expected: true })
    }

    /// Admits a background child of a running entry.
    pub(in crate::host) fn submit_child(
        self: &Arc<Self>,
        parent: &ActiveEntry,
        callable: Callable,
    ) -> Result<EntryId, Refusal> {
        let ns = self.registry().get(parent.id, self.clock.now())?.ns;
        let space = Arc::clone(parent.task.space());
        self.admit(Applicant {
            owner: parent.owner,
            parent: Some(parent.id),
            target: Target { space, module: None, ns, new_space: None },
            code: callable.name().into(),
            work: Work::Child(Box::new(callable)),
            effects: Effects::default(),
            expected: false,
        })
    }

    /// The place where an eval of `owner` happens.
    fn target(&self, owner: Owner, ns: Option<&str>) -> Result<Target, Refusal> {
        let wanted: Cow<'_, str> = match ns {
            Some(name) => Cow::Borrowed(name),
            None => Cow::Owned(self.registry().current(owner)?.to_string()),
        };
        // A scratch is never a module, and most evals take place in one: no need to look at the folder.
        let may_be_module = ns.is_some() || !wanted.starts_with("s-");
        if let Some(name) = may_be_module.then(|| self.library.find(&wanted)).flatten() {
            let module = self.module_space(&name);
            let ns = name.as_str().into();
            return Ok(Target { space: Arc::clone(&module) as _, module: Some(module), ns, new_space: None });
        }
        let TargetSpace { space, name, created } = self.registry().target_space(owner, ns)?;
        let new_space = created.then(|| name.to_string());
        Ok(Target { space: self.space(space, &name), module: None, ns: name, new_space })
    }

    fn admit(self: &Arc<Self>, applicant: Applicant) -> Result<EntryId, Refusal> {
        let Applicant { owner, parent, target, code, work, effects, expected } = applicant;
        let new = NewEntry { owner, parent, space: target.space.id(), ns: target.ns, code };
        let unregistered = self.unregistered_bytes();
        self.lower_ceiling();
        let now = self.clock.now();
        let mut registry = self.registry();
        let admission = match registry.admit(new, unregistered, now) {
            Ok(admission) => admission,
            Err(refused) => {
                drop(registry);
                self.sessions_ended(refused.expired);
                return Err(refused.refusal);
            }
        };
        let id = admission.id;
        let changed = Arc::new(Notify::new());
        let sink = Arc::new(LogSink {
            log: Arc::clone(&admission.log),
            clock: self.clock.clone(),
            changed: Arc::clone(&changed),
        });
        let task = Task::new(id, self.runtime.clone(), target.space, sink, self.hooks.clone());
        let active = Arc::new(ActiveEntry::new(owner, task, work, effects, target.module, changed));
        if expected {
            registry.expect(id, owner);
        }
        // Nobody can know the id before the registry is unlocked, so whoever asks for it finds it here.
        self.add_active(&active);
        drop(registry);
        self.drop_evicted(admission.evicted);
        self.sessions_ended(admission.expired);
        if admission.queued_before.is_none() {
            self.start(&active);
        }
        Ok(id)
    }

    /// Drops what is left of evicted entries where values may be dropped.
    fn drop_evicted(&self, remains: Remains<SettledEntry>) {
        if !remains.values.is_empty() {
            self.threads.clean_up(move || drop(remains));
        }
    }

    /// Lets an entry that holds a slot run on a thread.
    fn start(self: &Arc<Self>, active: &Arc<ActiveEntry>) {
        let (host, entry) = (Arc::clone(self), Arc::clone(active));
        if let Err((job, error)) = self.threads.run(Box::new(move || host.work(&entry))) {
            drop(job);
            let failure = Failure::new("NoThread", format!("no thread could be started for this eval: {error}"));
            self.settle_failed(active, failure);
        }
    }

    /// Entries that hold a slot from now on: those that never ran are started, the others go on.
    pub(in crate::host) fn granted(self: &Arc<Self>, ids: Vec<EntryId>) {
        for id in ids {
            let Some(active) = self.active(id) else { continue };
            if active.has_work() { self.start(&active) } else { active.grant() }
        }
    }
}

// --- at work -----------------------------------------------------------------------------------------------------------------

impl HostCore {
    /// Runs an entry to its end. On its own thread, with a slot.
    fn work(self: &Arc<Self>, active: &Arc<ActiveEntry>) {
        // Taken by whoever cancelled it while it was queued.
        let Some(work) = active.take_work() else { return };
        let serving = Served::begin(&active.task);
        let ran = catch_unwind(AssertUnwindSafe(|| {
            let ended = match work {
                Work::Script(code) => self.evaluate(active, &code),
                Work::Child(callable) => engine::call(&active.task, *callable),
            };
            self.finish(active, ended);
        }));
        // What scripts do is caught by the engine; this is for the drop of a value of the embedding program, and the like.
        if let Err(payload) = ran {
            let text = payload.downcast_ref::<&str>().copied().map(str::to_owned);
            let text = text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default();
            self.settle_failed(active, Failure::new("Panic", format!("native code panicked: {text}")));
        }
        drop(serving);
    }

    /// Evaluates a script. Inside a module, the module's space is brought in step with it first.
    fn evaluate(self: &Arc<Self>, active: &ActiveEntry, code: &str) -> Ended {
        if let Some(module) = &active.module
            && let Err(error) = module.follow(&active.task)
        {
            let (failure, _thrown) = engine::describe(&error, &active.task);
            return Ended::failed(failure);
        }
        engine::evaluate(&active.task, code)
    }

    fn finish(self: &Arc<Self>, active: &Arc<ActiveEntry>, ended: Ended) {
        let cancelled_children = self.end_children(active, &ended);
        let (status, end, values) = match ended.result {
            Ok(value) => {
                let rendered = self.render_value(active, &value);
                (Status::Ok, EndText::Value(rendered), Values { value, thrown: None, lost: ended.lost })
            }
            Err(Unfinished::Failed { failure, thrown }) => (
                Status::Failed,
                EndText::Failed(Arc::new(*failure)),
                Values { thrown, lost: ended.lost, ..Values::default() },
            ),
            Err(Unfinished::Stopped(cause)) => {
                (Status::Cancelled, EndText::Cancelled(cause), Values { lost: ended.lost, ..Values::default() })
            }
        };
        let Effects { move_to, new_space } = std::mem::take(&mut *active.effects());
        let (committed, conflicts, notes) = (ended.committed, ended.conflicts, ended.notes);
        let summary = Summary { end, committed, conflicts, notes, cancelled_children, new_space, move_to };
        let kept = SettledEntry { summary: Arc::new(summary), values: Arc::new(values) };
        // Idle before anyone learns that the entry settled: whoever waited for it finds this thread warm.
        self.threads.offer();
        self.settle(active, status, kept, ended.bytes);
    }

    /// Cancels the children that nothing keeps, and waits for them, but not for ever.
    fn end_children(self: &Arc<Self>, active: &Arc<ActiveEntry>, ended: &Ended) -> Vec<EntryId> {
        let children = self.registry().live_children(active.id);
        let doomed: Vec<_> = children.into_iter().filter(|child| !ended.kept.contains(child)).collect();
        if doomed.is_empty() {
            return doomed;
        }
        let waiting: Vec<_> = doomed.iter().filter_map(|child| self.active(*child)).collect();
        for child in &doomed {
            // A child that settled or was evicted meanwhile needs no cancelling.
            drop(self.cancel(*child, CancelBy::Parent, &StopCause::Cancelled));
        }
        let granted = self.registry().give_back(active.id, self.clock.now());
        self.granted(granted);
        let until = self.clock.now() + self.limits.cancel_wait;
        self.wait_for_all(active, &waiting, until);
        let mut registry = self.registry();
        registry.take_back(active.id, true);
        // Some may have come to their own end first.
        doomed.into_iter().filter(|child| !matches!(registry.status(*child), Ok(Status::Ok | Status::Failed))).collect()
    }

    /// Blocks this entry's thread until others have settled, also when it was stopped itself.
    fn wait_for_all(&self, active: &ActiveEntry, others: &[Arc<ActiveEntry>], until: Time) {
        let wake = active.task.wake();
        for other in others {
            other.tell_thread(wake);
        }
        loop {
            let seen = wake.generation();
            if self.clock.now() >= until || others.iter().all(|other| other.is_settled()) {
                return;
            }
            wake.wait(seen, &self.clock, Some(until));
        }
    }

    fn render_value(self: &Arc<Self>, active: &ActiveEntry, value: &rhai::Dynamic) -> render::Rendered {
        let hook = |shown: &rhai::Dynamic| self.show(shown, Some(active.id));
        render::value::value(value, &Budget::ANSWER, &hook, &|| active.task.stopped().is_some())
    }
}

// --- out ---------------------------------------------------------------------------------------------------------------------

impl HostCore {
    /// Marks an entry failed that could not be run to its end. Nothing happens when it has settled.
    fn settle_failed(self: &Arc<Self>, active: &ActiveEntry, failure: Failure) {
        if active.is_settled() {
            return;
        }
        let summary = Summary::of(EndText::Failed(Arc::new(failure)));
        let settled = SettledEntry { summary: Arc::new(summary), values: Arc::default() };
        self.settle(active, Status::Failed, settled, 0);
    }

    /// Marks an entry settled and tells everybody who waits.
    fn settle(self: &Arc<Self>, active: &ActiveEntry, status: Status, settled: SettledEntry, bytes: usize) {
        let now = self.clock.now();
        let (settled, told) = {
            let mut registry = self.registry();
            let settled = registry.settle(active.id, Settlement { status, value: settled, bytes }, now);
            // In the same step: a moment later it may be evicted, and its handles are to know how it ended.
            let told = active.facts().and_then(|facts| Some((facts, registry.get(active.id, now).ok()?)));
            (settled, told)
        };
        if let Some((facts, view)) = told {
            facts.learn(view);
        }
        self.remove_active(active.id);
        active.settle();
        self.granted(settled.granted);
        drop(settled.unkept);
    }

    /// Asks an entry to stop, and its children with it.
    pub(in crate::host) fn cancel(&self, id: EntryId, by: CancelBy, cause: &StopCause) -> Result<CancelState, Refusal> {
        let Asked { state, stop, dequeued } = self.registry().request_cancel(id, by, self.clock.now())?;
        self.stop_all(&stop, cause);
        self.dequeued(&dequeued);
        Ok(state)
    }

    /// Tells running entries to stop.
    pub(in crate::host) fn stop_all(&self, ids: &[EntryId], cause: &StopCause) {
        for active in ids.iter().filter_map(|id| self.active(*id)) {
            active.task.stop(cause.clone());
        }
    }

    /// Entries that were cancelled before they ran.
    pub(in crate::host) fn dequeued(&self, ids: &[EntryId]) {
        for id in ids {
            if let Some(active) = self.remove_active(*id) {
                drop(active.take_work());
                if let Some(facts) = active.facts() {
                    // Asked for now: later the entry may be gone.
                    facts.facts();
                }
                active.settle();
            }
        }
    }

    /// Sessions are over: what was queued for them is gone, and so are their scratches.
    pub(in crate::host) fn sessions_ended(&self, ended: Vec<EndedSession>) {
        if ended.is_empty() {
            return;
        }
        for session in ended {
            self.dequeued(&session.dequeued);
            self.drop_space(session.scratch);
        }
        // What they made may have ended with them, such as a channel somebody waits on: all who wait look again.
        for active in self.all_active().values() {
            active.task.wake().notify();
        }
    }

    /// Lets nobody in any more and asks everything to stop.
    pub(in crate::host) fn close(&self) {
        self.set_closing();
        let down = self.registry().shut_down(self.clock.now());
        self.stop_all(&down.stop, &StopCause::Shutdown);
        self.dequeued(&down.dequeued);
    }
}
