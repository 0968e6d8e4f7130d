//! [`Task`]: the context of one running entry. It holds the parts that know its output, stop, space, imports and captures, and is
//! found again by every native function through [`Task::of`], on whatever thread, so that nothing is ever attributed by luck.

use super::code_unit::{CalledUnits, CodeUnit};
use super::control::{Blocking, Control};
use super::hooks::{Budget, Sink, Sources, Waits};
use super::loaded_module::{ImportState, LoadedModule};
use super::notes::Notes;
use super::retained::Retained;
use super::runtime::Runtime;
use super::snapshot::SpaceState;
use super::space_view::SpaceView;
use super::views::Views;
use super::witness::Witness;
use crate::base::limits::LimitHit;
use crate::base::{Clock, EntryId, Limits, Note, StopCause, Time, Wake};
use crate::engine::error::{Fallible, limit};
use crate::engine::rhai_internals::walk::Use;
use crate::engine::value::cycle_collector::Captures;
use rhai::{Dynamic, EvalAltResult, NativeCallContext};
use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

/// The place where modules come from.
pub(crate) trait Modules: Send + Sync {
    /// The module called `name` as it is now, compiled by [`compile_module`](crate::engine::compile_module) on behalf of `task` when
    /// it is not loaded yet or has changed. Loading it again must be cheap when nothing changed: this is asked at every
    /// import, and for every kept import at the start of an eval that names it.
    ///
    /// # Errors
    /// `ErrorModuleNotFound` for a name that no module has; what its text raises otherwise.
    fn resolve(&self, task: &Arc<Task>, name: &str) -> Fallible<Arc<LoadedModule>>;

    /// The names of the modules there are, for hints: `stats`, `patterns/retry`.
    fn names(&self) -> Vec<String>;
}

/// The hooks, which are the same for all entries of a process.
#[derive(Clone)]
pub(crate) struct Hooks {
    /// The place where modules come from.
    pub modules: Arc<dyn Modules>,
    /// The place where source lines come from.
    pub sources: Arc<dyn Sources>,
    /// Told about waits.
    pub blocking: Arc<dyn Blocking>,
    /// The memory that the process may still keep.
    pub budget: Arc<dyn Budget>,
    /// The graph of waits.
    pub waits: Arc<dyn Waits>,
    /// The clock that sleeps, waits and time limits ask.
    pub clock: Clock,
    /// The host's own context, fetched back by its functions with [`Task::services`].
    pub services: Arc<dyn Any + Send + Sync>,
    /// What native modules that come along need of the host, fetched back with [`Task::tools`].
    pub tools: Arc<dyn Any + Send + Sync>,
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooks").field("clock", &self.clock).finish_non_exhaustive()
    }
}

/// The context of one running entry.
pub(crate) struct Task {
    source: String,
    space: Arc<dyn SpaceView>,
    sink: Arc<dyn Sink>,
    hooks: Hooks,
    runtime: Runtime,
    control: Control,
    state: SpaceState,
    imports: ImportState,
    views: Views,
    called_units: CalledUnits,
    retained: Retained,
    captures: Captures,
    witness: Witness,
    notes: Notes,
    /// The entry it is a background child of.
    parent: OnceLock<Weak<Self>>,
}

/// The tag of running code: who it runs for, and which code it is when that is not the eval's own.
#[derive(Clone, Debug)]
pub(crate) struct Tag {
    pub(crate) task: Arc<Task>,
    pub(crate) unit: Option<Arc<CodeUnit>>,
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
    pub(crate) fn new(
        id: EntryId,
        runtime: Runtime,
        space: Arc<dyn SpaceView>,
        sink: Arc<dyn Sink>,
        hooks: Hooks,
    ) -> Arc<Self> {
        let (clock, blocking, budget) = (hooks.clock.clone(), Arc::clone(&hooks.blocking), Arc::clone(&hooks.budget));
        Arc::new(Self {
            source: format!("eval {id}"),
            space,
            sink,
            control: Control::new(id, clock, blocking, budget, runtime.shared_limits()),
            hooks,
            runtime,
            state: SpaceState::default(),
            imports: ImportState::default(),
            views: Views::default(),
            called_units: CalledUnits::default(),
            retained: Retained::default(),
            captures: Captures::default(),
            witness: Witness::default(),
            notes: Notes::default(),
            parent: OnceLock::new(),
        })
    }

    /// The task that a native function is called by.
    ///
    /// # Panics
    /// When the engine was not made for a task; every engine a script runs in is.
    pub(crate) fn of(context: &NativeCallContext<'_>) -> Arc<Self> {
        let tag = context.tag().and_then(Tag::of).expect("every engine carries its task as default tag");
        tag.task
    }

    /// The entry.
    pub(crate) fn id(&self) -> EntryId {
        self.control.id()
    }

    /// The name that errors give its code: `eval 12`.
    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    /// The space it evaluates in.
    pub(crate) fn space(&self) -> &Arc<dyn SpaceView> {
        &self.space
    }

    /// The hooks it was made with.
    pub(crate) fn hooks(&self) -> &Hooks {
        &self.hooks
    }

    /// The clock it asks.
    pub(crate) fn clock(&self) -> &Clock {
        self.control.clock()
    }

    /// The runtime it was made with.
    pub(crate) fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// The host's own context, when it is a `T`.
    pub(crate) fn services<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        Arc::clone(&self.hooks.services).downcast().ok()
    }

    /// What native modules that come along need of the host, when it is a `T`.
    pub(crate) fn tools<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        Arc::clone(&self.hooks.tools).downcast().ok()
    }

    /// The bytes that the eval may still allocate; `usize::MAX` when memory is not counted.
    pub(crate) fn memory_left(&self) -> usize {
        self.control.memory_left()
    }

    /// Keeps output of the entry.
    pub(crate) fn print(&self, source: &str, text: &str) {
        self.sink.line(source, text);
    }

    /// Its stop, deadlines, memory and waits, for those who need no more of it.
    #[cfg(test)]
    pub(crate) fn control(&self) -> &Control {
        &self.control
    }

    // --- stopping and waiting: see [`Control`] --------------------------------------------------------------------------

    /// Makes the entry stop: the next operation of its script ends it, and every wait returns. The first cause decides;
    /// returns whether this was the first.
    pub(crate) fn stop(&self, cause: StopCause) -> bool {
        self.control.stop(cause)
    }

    /// The cause of its stop, if it was made to stop.
    pub(crate) fn stopped(&self) -> Option<StopCause> {
        self.control.stopped()
    }

    /// The time of its stop, if it was made to stop.
    pub(crate) fn stopped_at(&self) -> Option<Time> {
        self.control.stopped_at()
    }

    /// Whether it was made to stop.
    pub(crate) fn is_stopping(&self) -> bool {
        self.control.is_stopping()
    }

    /// Ends the entry for a limit, and gives the error to return.
    pub(crate) fn hit(&self, hit: LimitHit) -> Box<EvalAltResult> {
        self.control.hit(hit)
    }

    /// Whether code must end now: stopped, out of memory, or out of time. Asked at every operation.
    pub(crate) fn must_end(&self) -> bool {
        self.control.must_end()
    }

    /// For loops of native functions: an error once the entry was stopped or a deadline has passed.
    pub(crate) fn check(&self) -> Fallible<()> {
        self.control.check()
    }

    /// Asks for so many bytes before they are allocated at once.
    ///
    /// # Errors
    /// Ends the entry when it, or the process, may not have them.
    pub(crate) fn afford(&self, bytes: usize) -> Fallible<()> {
        self.control.afford(bytes)
    }

    /// The bytes that the eval had allocated at its latest operation; 0 when memory is not counted.
    pub(crate) fn memory_used(&self) -> usize {
        self.control.memory_used()
    }

    /// The bytes that are there because it runs: what it allocated, and values that it has seen and that no space has any more.
    pub(crate) fn memory_held(&self) -> usize {
        let of_others = self.views.held_alone();
        let of_its_own = self.state.held_alone(&*self.space);
        self.memory_used().saturating_add(of_others).saturating_add(of_its_own)
    }

    /// The alarm that its thread waits on. Notify it when something it may wait for has changed.
    pub(crate) fn wake(&self) -> &Wake {
        self.control.wake()
    }

    /// Blocks until `ready` says so (`true`), or until `until` has come (`false`). `ready` is asked again whenever
    /// [`Task::wake`] is notified. The slot is given back meanwhile.
    ///
    /// # Errors
    /// When the entry was stopped, or an outer `timeout` has run out.
    pub(crate) fn wait(&self, until: Option<Time>, ready: impl FnMut() -> bool) -> Fallible<bool> {
        self.control.wait(until, ready)
    }

    /// Runs `f` with a deadline: the script it calls is ended when `limit` has passed, and every wait in it.
    ///
    /// # Errors
    /// `Refusal::TimedOut` as a catchable error when the time ran out; what `f` raises otherwise.
    pub(crate) fn within(&self, limit: Duration, f: impl FnOnce() -> Fallible<Dynamic>) -> Fallible<Dynamic> {
        self.control.within(limit, f)
    }

    // --- for the rest of the engine -------------------------------------------------------------------------------------

    /// The limits in force.
    pub(crate) fn limits(&self) -> &Limits {
        self.control.limits()
    }

    /// The number of levels a value may have.
    pub(crate) fn nesting(&self) -> usize {
        self.limits().nesting
    }

    /// The part of its space that it has seen.
    pub(crate) fn state(&self) -> &SpaceState {
        &self.state
    }

    /// The modules it is loading and has loaded.
    pub(crate) fn imports(&self) -> &ImportState {
        &self.imports
    }

    /// The values of other spaces that it has seen.
    pub(crate) fn views(&self) -> &Views {
        &self.views
    }

    /// The code it called closures of.
    pub(crate) fn called_units(&self) -> &CalledUnits {
        &self.called_units
    }

    /// The entries and bytes that it keeps beyond its end.
    pub(crate) fn retained(&self) -> &Retained {
        &self.retained
    }

    /// The captured variables it made.
    pub(crate) fn captures(&self) -> &Captures {
        &self.captures
    }

    /// What it saw of captured variables.
    pub(crate) fn witness(&self) -> &Witness {
        &self.witness
    }

    /// Other entries may hold these cells, which closures captured, from now on.
    pub(crate) fn shares(&self, cells: &[usize]) {
        let versions = self.runtime.cell_versions();
        for cell in cells {
            versions.enter(*cell, &self.captures);
            self.witness.holds(versions, *cell);
        }
    }

    /// Its code uses this value: when it is a cell that others may hold, the entry is one of its holders.
    pub(crate) fn holds(&self, value: &Dynamic) {
        let versions = self.runtime.cell_versions();
        if let Some(address) = versions.address_of(value) {
            self.witness.holds(versions, address);
        }
    }

    /// Its code names a captured variable, whose cell this is.
    pub(crate) fn uses(&self, name: &str, cell: &Dynamic) {
        let what = self.runtime.code_units().use_of(name);
        if self.witness.uses(self.runtime.cell_versions(), cell, what) {
            self.note_contested(name);
        }
    }

    /// A function of its code looks at a captured variable of the space.
    pub(crate) fn looks_at(&self, cell: &Dynamic) {
        self.holds(cell);
        if self.witness.watches() {
            self.witness.uses(self.runtime.cell_versions(), cell, Use::Read);
        }
    }

    /// Notes a captured variable that several entries changed at once: here, and where the answer is read.
    fn note_contested(&self, name: &str) {
        let note = || Note::Contested(name.to_owned());
        self.note(note());
        let mut above = self.parent();
        while let Some(task) = above {
            task.note(note());
            above = task.parent();
        }
    }

    /// The entry that it is a background child of, while that runs.
    fn parent(&self) -> Option<Arc<Self>> {
        self.parent.get()?.upgrade()
    }

    /// It is a background child of this entry.
    pub(crate) fn set_parent(&self, parent: Weak<Self>) {
        // A child begins once.
        drop(self.parent.set(parent));
    }

    /// Adds a remark to its answer, once.
    pub(crate) fn note(&self, note: Note) {
        self.notes.add(note);
    }

    /// Takes the remarks for its answer.
    pub(crate) fn take_notes(&self) -> Vec<Note> {
        self.notes.take()
    }

    /// Asks whether the process keeps `bytes` more for this entry.
    ///
    /// # Errors
    /// A catchable error that names the limit.
    pub(crate) fn charge(&self, bytes: usize) -> Fallible<()> {
        if self.retained.add(bytes) <= self.limits().kept_when_full_bytes {
            return Ok(());
        }
        // The value at hand may be a copy that no operation has counted yet: a refusal shall not call it nobody's.
        self.control.measure();
        self.hooks.budget.may_keep(bytes).map_err(|hit| {
            self.release(bytes);
            limit(&hit)
        })
    }

    /// No longer keeps `bytes` that were charged.
    pub(crate) fn release(&self, bytes: usize) {
        self.retained.subtract(bytes);
    }

    /// The entry begins on this thread.
    pub(crate) fn begin(&self) {
        self.control.begin();
    }

    /// The entry is over: drops what it held, on this thread.
    pub(crate) fn end(&self) {
        self.state.clear();
        self.called_units.clear();
        self.imports.clear();
        self.witness.clear();
        self.views.clear();
    }
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task").field("id", &self.id()).field("stopped", &self.stopped()).finish_non_exhaustive()
    }
}
