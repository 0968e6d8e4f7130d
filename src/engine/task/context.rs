//! [`Task`]: the context of one running entry. It carries the entry's output, stop, deadlines and waits, and is found again
//! by every native function through [`Task::of`], on whatever thread, so that nothing is ever attributed by luck.

use super::hooks::{Hooks, Sink};
use super::runtime::Runtime;
use super::space_view::SpaceView;
use crate::engine::environment::Environment;
use crate::engine::error::{Fallible, limit, refuse, terminated};
use crate::engine::memory;
use crate::engine::run::closures;
use crate::engine::run::closures::{Home, Homes};
use crate::engine::run::commit::Run;
use crate::engine::run::modules::{LoadedModule, Loading};
use crate::engine::value::cycle_collector::Captures;
use crate::engine::value::inspect::{Measure, empty_deep_cells, measure};

use crate::base::limits::LimitHit;
use crate::base::{Clock, EntryId, Limits, Refusal, StopCause, Time, Wake, lock};
use rhai::{Dynamic, NativeCallContext};
use std::any::Any;
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

/// The context of one running entry.
pub struct Task {
    id: EntryId,
    parent: Option<EntryId>,
    source: String,
    space: Arc<dyn SpaceView>,
    sink: Arc<dyn Sink>,
    hooks: Hooks,
    /// The language it runs in; set when it starts.
    language: OnceLock<Runtime>,
    /// Whether `stop` is set: read at every operation.
    stopping: AtomicBool,
    stop: Mutex<Option<(StopCause, Time)>>,
    wake: Wake,
    /// What this thread had allocated when the entry began.
    memory_base: AtomicI64,
    /// What it had allocated at its latest operation, in bytes.
    memory_used: AtomicI64,
    /// How many deadlines there are: read at every operation.
    deadline_count: AtomicUsize,
    deadlines: Mutex<Vec<Deadline>>,
    /// What it sees of its space, and has published.
    run: Mutex<Run>,
    environment: Mutex<Environment>,
    /// Every piece of code it called a closure of: kept until it ends.
    homes: Mutex<HashMap<usize, Arc<Home>>>,
    /// Modules it loads at this moment, outermost first.
    loading: Mutex<Vec<Loading>>,
    /// Modules that were resolved for it: kept until it ends.
    modules: Mutex<Vec<Arc<LoadedModule>>>,
    /// Entries that are reachable from what it published and from atoms it set.
    kept: Mutex<BTreeSet<EntryId>>,
    /// What it keeps beyond its end, in bytes.
    kept_bytes: AtomicUsize,
    /// The captured variables it made.
    cells: Mutex<Captures>,
}

/// A moment at which script code is ended.
#[derive(Clone, Copy, Debug)]
struct Deadline {
    at: Time,
    /// The time limit of the whole eval, rather than one of `timeout`.
    of_eval: Option<Duration>,
}

/// What travels with the running code: who it runs for, and which code it is when that is not the eval's own.
#[derive(Clone, Debug)]
pub(crate) struct Tag {
    pub(crate) task: Arc<Task>,
    pub(crate) home: Option<Arc<Home>>,
}

impl Tag {
    /// The tag in a runtime state.
    pub(crate) fn of(tag: &Dynamic) -> Option<Self> {
        tag.read_lock::<Self>().map(|tag| tag.clone())
    }

    /// The tag as runtime states carry it.
    pub(crate) fn into_value(self) -> Dynamic {
        Dynamic::from(self)
    }
}

impl Task {
    /// The context of entry `id`, which evaluates in `space`.
    pub fn new(
        id: EntryId,
        parent: Option<EntryId>,
        space: Arc<dyn SpaceView>,
        sink: Arc<dyn Sink>,
        hooks: Hooks,
    ) -> Arc<Self> {
        Arc::new(Self {
            id,
            parent,
            source: format!("eval {id}"),
            space,
            sink,
            hooks,
            language: OnceLock::new(),
            stopping: AtomicBool::new(false),
            stop: Mutex::default(),
            wake: Wake::default(),
            memory_base: AtomicI64::new(0),
            memory_used: AtomicI64::new(0),
            deadline_count: AtomicUsize::new(0),
            deadlines: Mutex::default(),
            run: Mutex::default(),
            environment: Mutex::default(),
            homes: Mutex::default(),
            loading: Mutex::default(),
            modules: Mutex::default(),
            kept: Mutex::default(),
            kept_bytes: AtomicUsize::new(0),
            cells: Mutex::default(),
        })
    }

    /// The task that a native function is called by.
    ///
    /// # Panics
    /// When the engine was not made by [`Runtime`]; every engine a script runs in is.
    pub fn of(context: &NativeCallContext<'_>) -> Arc<Self> {
        let tag = context.tag().and_then(Tag::of).expect("every engine carries its task as default tag");
        tag.task
    }

    /// The entry.
    pub fn id(&self) -> EntryId {
        self.id
    }

    /// The entry that started it, for a background child.
    pub fn parent(&self) -> Option<EntryId> {
        self.parent
    }

    /// How errors name its code: `eval 12`.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The space it evaluates in.
    pub fn space(&self) -> &Arc<dyn SpaceView> {
        &self.space
    }

    /// The hooks it was made with.
    pub fn hooks(&self) -> &Hooks {
        &self.hooks
    }

    /// The clock it asks.
    pub fn clock(&self) -> &Clock {
        &self.hooks.clock
    }

    /// The language it runs in; `None` before it began.
    pub fn language(&self) -> Option<&Runtime> {
        self.language.get()
    }

    /// The host's own context, when it is a `T`.
    pub fn services<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        Arc::clone(&self.hooks.services).downcast().ok()
    }

    /// Keeps output of the entry.
    pub fn print(&self, source: &str, text: &str) {
        self.sink.line(source, text);
    }

    // --- stopping -------------------------------------------------------------------------------------------------------

    /// Makes the entry stop: the next operation of its script ends it, and every wait returns. The first cause decides;
    /// returns whether this was the first.
    pub fn stop(&self, cause: StopCause) -> bool {
        let first = {
            let mut stop = lock(&self.stop);
            let first = stop.is_none();
            if first {
                *stop = Some((cause, self.clock().now()));
            }
            first
        };
        self.stopping.store(true, Ordering::Release);
        self.wake.notify();
        first
    }

    /// Why it was made to stop, if it was.
    pub fn stopped(&self) -> Option<StopCause> {
        if !self.is_stopping() {
            return None;
        }
        lock(&self.stop).as_ref().map(|(cause, _)| cause.clone())
    }

    /// When it was made to stop, if it was.
    pub fn stopped_at(&self) -> Option<Time> {
        lock(&self.stop).as_ref().map(|(_, at)| *at)
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    /// Ends the entry for a limit, and gives the error to return.
    pub(crate) fn hit(&self, hit: LimitHit) -> Box<rhai::EvalAltResult> {
        self.stop(StopCause::Limit(hit));
        terminated()
    }

    /// Whether code must end now: stopped, out of memory, or out of time. Asked at every operation.
    pub(crate) fn must_end(&self) -> bool {
        if self.is_stopping() {
            return true;
        }
        let used = self.measure();
        if let Some(limits) = self.limits()
            && used > as_signed(limits.eval_bytes)
        {
            self.stop(StopCause::Limit(LimitHit::Memory { limit: limits.eval_bytes }));
            return true;
        }
        self.deadline_count.load(Ordering::Relaxed) > 0 && self.is_late(self.clock().now())
    }

    /// What the eval has allocated, in bytes. Call it on its own thread.
    fn measure(&self) -> i64 {
        let used = memory::thread_bytes() - self.memory_base.load(Ordering::Relaxed);
        self.memory_used.store(used, Ordering::Relaxed);
        used
    }

    /// For loops of native functions: an error once the entry was stopped or a deadline has passed.
    pub fn check(&self) -> Fallible<()> {
        if self.must_end() { Err(terminated()) } else { Ok(()) }
    }

    /// How many bytes the eval may still allocate; `usize::MAX` when memory is not counted.
    pub fn memory_left(&self) -> usize {
        let Some(limits) = self.limits().filter(|_| memory::installed()) else { return usize::MAX };
        let used = memory::thread_bytes() - self.memory_base.load(Ordering::Relaxed);
        limits.eval_bytes.saturating_sub(usize::try_from(used).unwrap_or(0))
    }

    /// What the eval had allocated at its latest operation, in bytes; 0 when memory is not counted.
    pub fn memory_used(&self) -> usize {
        usize::try_from(self.memory_used.load(Ordering::Relaxed)).unwrap_or(0)
    }

    // --- waiting --------------------------------------------------------------------------------------------------------

    /// What its thread waits on. Notify it when something it may wait for has changed.
    pub fn wake(&self) -> &Wake {
        &self.wake
    }

    /// Blocks until `ready` says so (`true`), or until `until` has come (`false`). `ready` is asked again whenever
    /// [`Task::wake`] is notified. The slot is given back meanwhile.
    ///
    /// # Errors
    /// When the entry was stopped, or an outer `timeout` has run out.
    pub fn wait(&self, until: Option<Time>, mut ready: impl FnMut() -> bool) -> Fallible<bool> {
        let mut parked = None;
        loop {
            let seen = self.wake.generation();
            if self.is_stopping() {
                return Err(terminated());
            }
            if ready() {
                return Ok(true);
            }
            let now = self.clock().now();
            if self.is_late(now) {
                return Err(terminated());
            }
            if until.is_some_and(|until| until <= now) {
                return Ok(false);
            }
            parked.get_or_insert_with(|| Parked::new(self));
            let next = until.into_iter().chain(self.next_deadline()).min();
            self.wake.wait(seen, self.clock(), next);
        }
    }

    /// Runs `f` with a deadline: the script it calls is ended when `limit` has passed, and every wait in it.
    ///
    /// # Errors
    /// `Refusal::TimedOut` as a catchable error when the time ran out; what `f` raises otherwise.
    pub fn within(&self, limit: Duration, f: impl FnOnce() -> Fallible<Dynamic>) -> Fallible<Dynamic> {
        let at = self.clock().now() + limit;
        let result = {
            let _armed = Armed::new(self, Deadline { at, of_eval: None });
            f()
        };
        if self.is_stopping() {
            return Err(terminated());
        }
        let now = self.clock().now();
        // An outer deadline that has passed as well ends more than this call.
        if now < at || self.is_late(now) { result } else { Err(refuse(&Refusal::TimedOut { after: limit })) }
    }

    fn next_deadline(&self) -> Option<Time> {
        if self.deadline_count.load(Ordering::Relaxed) == 0 {
            return None;
        }
        lock(&self.deadlines).iter().map(|deadline| deadline.at).min()
    }

    /// Whether a deadline has passed. That of the whole eval stops the entry for good.
    fn is_late(&self, now: Time) -> bool {
        if self.deadline_count.load(Ordering::Relaxed) == 0 {
            return false;
        }
        let mut late = false;
        let mut limit = None;
        for deadline in lock(&self.deadlines).iter().filter(|deadline| deadline.at <= now) {
            late = true;
            limit = limit.or(deadline.of_eval);
        }
        if let Some(limit) = limit {
            self.stop(StopCause::Limit(LimitHit::Seconds { limit }));
        }
        late
    }

    // --- for the rest of the engine -------------------------------------------------------------------------------------

    /// The entry begins on this thread.
    pub(crate) fn begin(&self, language: &Runtime) {
        let language = self.language.get_or_init(|| language.clone());
        self.memory_base.store(memory::thread_bytes(), Ordering::Relaxed);
        if let Some(limit) = language.limits().eval_time {
            let deadline = Deadline { at: self.clock().now() + limit, of_eval: Some(limit) };
            lock(&self.deadlines).push(deadline);
            self.deadline_count.fetch_add(1, Ordering::AcqRel);
        }
    }

    pub(crate) fn limits(&self) -> Option<&Limits> {
        self.language.get().map(Runtime::limits)
    }

    pub(crate) fn nesting(&self) -> usize {
        self.limits().map_or(1_000, |limits| limits.nesting)
    }

    pub(crate) fn run(&self) -> MutexGuard<'_, Run> {
        lock(&self.run)
    }

    pub(crate) fn environment(&self) -> Environment {
        lock(&self.environment).clone()
    }

    pub(crate) fn set_environment(&self, environment: Environment) {
        let old = std::mem::replace(&mut *lock(&self.environment), environment);
        drop(old);
    }

    pub(crate) fn loading(&self) -> MutexGuard<'_, Vec<Loading>> {
        lock(&self.loading)
    }

    pub(crate) fn keep_home(&self, home: &Arc<Home>) {
        lock(&self.homes).entry(Arc::as_ptr(home).addr()).or_insert_with(|| Arc::clone(home));
    }

    pub(crate) fn keep_module(&self, module: &Arc<LoadedModule>) {
        let mut modules = lock(&self.modules);
        if !modules.iter().any(|kept| Arc::ptr_eq(kept, module)) {
            modules.push(Arc::clone(module));
        }
    }

    pub(crate) fn keep_entries(&self, entries: impl IntoIterator<Item = EntryId>) {
        lock(&self.kept).extend(entries);
    }

    pub(crate) fn kept_entries(&self) -> BTreeSet<EntryId> {
        lock(&self.kept).clone()
    }

    /// The captured variables it made.
    pub(crate) fn cells(&self) -> MutexGuard<'_, Captures> {
        lock(&self.cells)
    }

    pub(crate) fn homes(&self) -> Option<&Arc<Homes>> {
        self.language.get().map(Runtime::homes)
    }

    /// Makes a value fit to outlive the eval: closures strong, nesting bounded, the process willing to keep it.
    ///
    /// # Errors
    /// Ends the entry when a limit forbids to keep the value.
    pub(crate) fn keep(&self, value: &mut Dynamic) -> Fallible<Measure> {
        let found = measure(value, self.nesting());
        if found.too_deep {
            empty_deep_cells(value, self.nesting());
            return Err(self.hit(LimitHit::Nesting { limit: self.nesting() }));
        }
        // What is in atoms was charged when it was put there.
        self.charge(found.bytes - found.in_atoms)?;
        if found.bound {
            self.make_portable(value);
        }
        self.keep_entries(found.entries.iter().copied());
        Ok(found)
    }

    pub(crate) fn make_portable(&self, value: &mut Dynamic) {
        if let Some(homes) = self.homes() {
            closures::make_portable(value, homes, &self.space, &self.source, &|| self.must_end());
        }
    }

    /// Asks whether the process keeps `bytes` more for this entry.
    ///
    /// # Errors
    /// A catchable error that names the limit.
    pub(crate) fn charge(&self, bytes: usize) -> Fallible<()> {
        let kept = self.kept_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if self.limits().is_some_and(|limits| kept <= limits.kept_when_full_bytes) {
            return Ok(());
        }
        // The value at hand may be a copy that no operation has counted yet: a refusal shall not call it nobody's.
        self.measure();
        self.hooks.budget.may_keep(bytes).map_err(|hit| {
            self.release(bytes);
            limit(&hit)
        })
    }

    /// What was charged is no longer kept.
    pub(crate) fn release(&self, bytes: usize) {
        self.kept_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// The entry is over: drops what it held, on this thread.
    pub(crate) fn end(&self) {
        let run = std::mem::take(&mut *self.run());
        drop(run);
        self.set_environment(Environment::default());
        let homes = std::mem::take(&mut *lock(&self.homes));
        let modules = std::mem::take(&mut *lock(&self.modules));
        drop((homes, modules));
    }
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task").field("id", &self.id).field("stopped", &self.stopped()).finish_non_exhaustive()
    }
}

/// The slot of a waiting entry, given back until this is dropped.
struct Parked<'t>(&'t Task);

impl<'t> Parked<'t> {
    fn new(task: &'t Task) -> Self {
        task.hooks.blocking.give(task);
        Self(task)
    }
}

impl Drop for Parked<'_> {
    fn drop(&mut self) {
        self.0.hooks.blocking.take(self.0);
    }
}

/// A deadline in force until this is dropped.
struct Armed<'t> {
    task: &'t Task,
    at: Time,
}

impl<'t> Armed<'t> {
    fn new(task: &'t Task, deadline: Deadline) -> Self {
        lock(&task.deadlines).push(deadline);
        task.deadline_count.fetch_add(1, Ordering::AcqRel);
        Self { task, at: deadline.at }
    }
}

impl Drop for Armed<'_> {
    fn drop(&mut self) {
        let mut deadlines = lock(&self.task.deadlines);
        if let Some(index) = deadlines.iter().rposition(|deadline| deadline.at == self.at) {
            deadlines.remove(index);
        }
        self.task.deadline_count.fetch_sub(1, Ordering::AcqRel);
    }
}

fn as_signed(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
