//! A small host for tests: threads, slots, children, a folder of modules, and gates that hold an eval until the test says so.

mod hooks;

use super::natives::{embedded, functions};
use crate::base::limits::LimitHit;
use crate::base::{Clock, EntryId, Failure, Limits, Refusal, SpaceId, StopCause, Wake, lock};
use crate::engine::rhai::{Dynamic, ImmutableString, NativeCallContext};
use crate::engine::{Batch, Committed, Environment, Opened, Opening, SpaceFailure, Variable};
use crate::engine::{
    Blocking, Budget, Control, Ended, EntryHandle, EntryOps, Fallible, Hooks, LoadedModule, Modules, Overlay, Runtime,
    Sink, Sources, SpaceView, Task, Thrown, Unfinished, Waits, compile_module, evaluate, fail, raise, refuse, stdlib,
};
use crate::spaces::Space;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// How long a test waits for what must happen.
pub(super) const PATIENCE: Duration = Duration::from_secs(120);

/// A process.
#[derive(Clone)]
pub(super) struct Harness(pub(super) Arc<Host>);

pub(super) struct Host {
    pub(super) runtime: OnceLock<Runtime>,
    pub(super) clock: Clock,
    limits: Limits,
    next: AtomicU64,
    next_space: AtomicU64,
    jobs: Mutex<BTreeMap<u64, Arc<Job>>>,
    spaces: Mutex<HashMap<String, Arc<Space>>>,
    folder: tempfile::TempDir,
    modules: Mutex<HashMap<String, (String, Arc<LoadedModule>)>>,
    /// Entries that may wait for others to settle.
    waiting: Mutex<Vec<Wake>>,
    waits: Mutex<Vec<(EntryId, EntryId)>>,
    slots: Mutex<i64>,
    slot_free: Condvar,
    pub(super) gates: Mutex<HashMap<String, Gate>>,
    pub(super) gates_changed: Condvar,
    settled: Condvar,
    settling: Mutex<()>,
    /// The bytes that the process may still keep.
    pub(super) budget: AtomicUsize,
}

#[derive(Default)]
pub(super) struct Gate {
    pub(super) arrived: usize,
    pub(super) open: bool,
    pub(super) waiting: Vec<Wake>,
}

/// An entry.
pub(super) struct Job {
    pub(super) id: u64,
    pub(super) parent: Option<EntryId>,
    pub(super) task: Arc<Task>,
    pub(super) space: Arc<Space>,
    pub(super) ended: Mutex<Option<Ended>>,
    output: Arc<Lines>,
    pub(super) children: Mutex<Vec<Arc<Self>>>,
    pub(super) detached: AtomicBool,
    has_slot: AtomicBool,
    overlay: Arc<Mutex<Overlay>>,
    pub(super) host: Arc<Host>,
}

/// A space that notes the functions an eval writes, as one that stands for a module does.
#[derive(Debug)]
struct Noting {
    space: Arc<Space>,
    overlay: Arc<Mutex<Overlay>>,
}

#[derive(Default)]
struct Lines(Mutex<Vec<(String, String)>>);

impl Sink for Lines {
    fn line(&self, source: &str, text: &str) {
        lock(&self.0).push((source.to_owned(), text.to_owned()));
    }
}

/// A session: a place to evaluate in.
#[derive(Clone)]
pub(super) struct Session {
    pub(super) harness: Harness,
    pub(super) space: Arc<Space>,
}

impl Harness {
    pub(super) fn new() -> Self {
        Self::with(Limits::default(), Clock::real())
    }

    pub(super) fn with(limits: Limits, clock: Clock) -> Self {
        let slots = i64::try_from(limits.running).unwrap();
        let host = Arc::new(Host {
            runtime: OnceLock::new(),
            clock,
            limits: limits.clone(),
            next: AtomicU64::new(1),
            next_space: AtomicU64::new(1),
            jobs: Mutex::default(),
            spaces: Mutex::default(),
            folder: tempfile::tempdir().unwrap(),
            modules: Mutex::default(),
            waiting: Mutex::default(),
            waits: Mutex::default(),
            slots: Mutex::new(slots),
            slot_free: Condvar::new(),
            gates: Mutex::default(),
            gates_changed: Condvar::new(),
            settled: Condvar::new(),
            settling: Mutex::default(),
            budget: AtomicUsize::new(usize::MAX),
        });
        let embedded = vec![("orders".to_owned(), embedded())];
        host.runtime.set(Runtime::new(limits, stdlib(), functions().build(), embedded)).unwrap();
        Self(host)
    }

    pub(super) fn runtime(&self) -> &Runtime {
        self.0.runtime.get().unwrap()
    }

    /// Writes a module.
    pub(super) fn write(&self, name: &str, text: &str) {
        let path = self.0.folder.path().join(name).with_extension("rhai");
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Removes a module.
    pub(super) fn remove(&self, name: &str) {
        std::fs::remove_file(self.0.folder.path().join(name).with_extension("rhai")).unwrap();
    }

    pub(super) fn session(&self) -> Session {
        let id = self.0.next_space.fetch_add(1, Ordering::Relaxed);
        self.space(&format!("s-{id}"))
    }

    pub(super) fn space(&self, name: &str) -> Session {
        let id = SpaceId(self.0.next_space.fetch_add(1, Ordering::Relaxed));
        let space = Space::new(id, name, &self.0.limits);
        lock(&self.0.spaces).insert(name.to_owned(), Arc::clone(&space));
        Session { harness: self.clone(), space }
    }

    pub(super) fn newest(&self) -> u64 {
        self.0.next.load(Ordering::Relaxed) - 1
    }

    pub(super) fn job(&self, id: u64) -> Arc<Job> {
        Arc::clone(&lock(&self.0.jobs)[&id])
    }

    /// Makes a module known as if it had been loaded.
    pub(super) fn put(&self, module: LoadedModule) {
        let name = module.name().to_owned();
        self.write(&name, "");
        lock(&self.0.modules).insert(name, (String::new(), Arc::new(module)));
    }

    /// Waits until `count` evals stand at a gate.
    pub(super) fn arrived(&self, gate: &str, count: usize) {
        let gates = lock(&self.0.gates);
        let waited = self
            .0
            .gates_changed
            .wait_timeout_while(gates, PATIENCE, |gates| gates.get(gate).is_none_or(|gate| gate.arrived < count));
        let (_gates, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        assert!(!timeout.timed_out(), "nobody came to gate {gate}");
    }

    /// Lets everyone at a gate, now and later, go on.
    pub(super) fn open(&self, gate: &str) {
        let mut gates = lock(&self.0.gates);
        let gate = gates.entry(gate.to_owned()).or_default();
        gate.open = true;
        gate.waiting.iter().for_each(Wake::notify);
        self.0.gates_changed.notify_all();
    }
}

impl Session {
    /// Starts an eval.
    pub(super) fn start(&self, code: &str) -> Arc<Job> {
        let job = self.harness.0.admit(&self.space, None);
        let (run, code) = (Arc::clone(&job), code.to_owned());
        self.harness.0.launch(&job, move || evaluate(&run.task, &code));
        job
    }

    /// Starts an eval and waits for its end.
    #[track_caller]
    pub(super) fn run(&self, code: &str) -> Arc<Job> {
        let job = self.start(code);
        assert!(job.join(), "the eval does not end: {code}");
        job
    }

    #[track_caller]
    pub(super) fn shown(&self, code: &str) -> String {
        self.run(code).show()
    }

    /// The eval ends with this value.
    #[track_caller]
    pub(super) fn is(&self, code: &str, expected: &str) -> Arc<Job> {
        let job = self.run(code);
        assert_eq!(job.show(), expected, "{code}");
        job
    }

    /// The eval's value or failure has this text in it.
    #[track_caller]
    pub(super) fn has(&self, code: &str, expected: &str) -> Arc<Job> {
        let job = self.run(code);
        let shown = job.show();
        assert!(shown.contains(expected), "{code}\n→ {shown}\nwithout {expected}");
        job
    }

    /// The eval fails.
    #[track_caller]
    pub(super) fn fails(&self, code: &str) -> Failure {
        let job = self.run(code);
        job.failure().unwrap_or_else(|| panic!("{code}\n→ {}", job.show()))
    }
}

impl Job {
    /// Waits for the end, for as long as is reasonable.
    pub(super) fn join(&self) -> bool {
        self.join_for(PATIENCE)
    }

    pub(super) fn join_for(&self, patience: Duration) -> bool {
        let settling = lock(&self.host.settling);
        let waited = self.host.settled.wait_timeout_while(settling, patience, |()| !self.is_done());
        drop(waited);
        self.is_done()
    }

    pub(super) fn is_done(&self) -> bool {
        lock(&self.ended).is_some()
    }

    pub(super) fn ended(&self) -> Ended {
        lock(&self.ended).clone().expect("the eval has ended")
    }

    pub(super) fn show(&self) -> String {
        match &*lock(&self.ended) {
            None => "running".into(),
            Some(Ended { result: Ok(value), .. }) => value.to_string(),
            Some(Ended { result: Err(Unfinished::Failed { failure, .. }), .. }) => {
                format!("!{}: {}", failure.kind, failure.message)
            }
            Some(Ended { result: Err(Unfinished::Stopped(StopCause::Cancelled)), .. }) => "cancelled".into(),
            Some(Ended { result: Err(Unfinished::Stopped(other)), .. }) => format!("stopped {other:?}"),
        }
    }

    pub(super) fn failure(&self) -> Option<Failure> {
        match self.ended().result {
            Err(Unfinished::Failed { failure, .. }) => Some(*failure),
            _ => None,
        }
    }

    pub(super) fn thrown(&self) -> Option<Dynamic> {
        match self.ended().result {
            Err(Unfinished::Failed { thrown, .. }) => thrown,
            _ => None,
        }
    }

    pub(super) fn committed(&self) -> Vec<String> {
        self.ended().committed
    }

    pub(super) fn conflicts(&self) -> Vec<String> {
        let conflicts = self.ended().conflicts;
        let text = |c: &crate::base::Conflict| format!("{}{} {}", if c.function { "fn " } else { "" }, c.name, c.other);
        conflicts.iter().map(text).collect()
    }

    pub(super) fn output(&self) -> Vec<String> {
        lock(&self.output.0).iter().map(|(_, text)| text.clone()).collect()
    }

    pub(super) fn lines(&self) -> Vec<(String, String)> {
        lock(&self.output.0).clone()
    }

    pub(super) fn cancel(&self) {
        self.task.stop(StopCause::Cancelled);
        for child in lock(&self.children).iter().filter(|child| !child.detached.load(Ordering::SeqCst)) {
            child.cancel();
        }
    }

    pub(super) fn newest_child(&self) -> Arc<Self> {
        lock(&self.host.jobs).values().rev().find(|job| job.parent == Some(EntryId(self.id))).unwrap().clone()
    }

    /// The functions it wrote.
    pub(super) fn overlay(&self) -> Overlay {
        lock(&self.overlay).clone()
    }

    pub(super) fn handle(self: &Arc<Self>) -> EntryHandle {
        EntryHandle::new(EntryId(self.id), Arc::new(Link(Arc::clone(self))))
    }
}

pub(super) struct Link(pub(super) Arc<Job>);

impl EntryOps for Link {}

impl Host {
    pub(super) fn admit(self: &Arc<Self>, space: &Arc<Space>, parent: Option<EntryId>) -> Arc<Job> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let output = Arc::new(Lines::default());
        let host: Arc<Self> = Arc::clone(self);
        let hooks = Hooks {
            modules: host.clone(),
            sources: host.clone(),
            blocking: host.clone(),
            budget: host.clone(),
            waits: host.clone(),
            clock: self.clock.clone(),
            services: host.clone(),
            tools: Arc::new(()),
        };
        let runtime = self.runtime.get().unwrap().clone();
        let overlay = Arc::new(Mutex::default());
        let view: Arc<dyn SpaceView> = Arc::new(Noting { space: Arc::clone(space), overlay: Arc::clone(&overlay) });
        let task = Task::new(EntryId(id), runtime, view, output.clone(), hooks);
        let job = Arc::new(Job {
            id,
            parent,
            task,
            space: Arc::clone(space),
            ended: Mutex::default(),
            output,
            children: Mutex::default(),
            detached: AtomicBool::new(false),
            has_slot: AtomicBool::new(false),
            overlay,
            host,
        });
        lock(&self.jobs).insert(id, Arc::clone(&job));
        job
    }

    pub(super) fn launch(self: &Arc<Self>, job: &Arc<Job>, body: impl FnOnce() -> Ended + Send + 'static) {
        let (host, job) = (Arc::clone(self), Arc::clone(job));
        let stack = self.limits.stack_bytes();
        std::thread::Builder::new()
            .stack_size(stack)
            .spawn(move || {
                host.take(job.task.control());
                let ended = body();
                host.settle(&job, ended);
            })
            .unwrap();
    }

    fn settle(&self, job: &Arc<Job>, ended: Ended) {
        let children = std::mem::take(&mut *lock(&job.children));
        let lost: Vec<_> = children
            .iter()
            .filter(|c| !c.detached.load(Ordering::SeqCst) && !ended.kept.contains(&EntryId(c.id)) && !c.is_done())
            .collect();
        lost.iter().for_each(|child| child.cancel());
        for child in lost {
            child.join_for(Duration::from_secs(2));
        }
        self.give(job.task.control());
        {
            let _settling = lock(&self.settling);
            *lock(&job.ended) = Some(ended);
        }
        self.settled.notify_all();
        lock(&self.waiting).iter().for_each(Wake::notify);
    }

    pub(super) fn of(context: &NativeCallContext<'_>) -> (Arc<Self>, Arc<Task>) {
        let task = Task::of(context);
        (task.services().unwrap(), task)
    }

    pub(super) fn found(&self, id: u64) -> Fallible<Arc<Job>> {
        let newest = self.next.load(Ordering::Relaxed) - 1;
        lock(&self.jobs).get(&id).cloned().ok_or_else(|| refuse(&Refusal::NoEntry { id, newest }))
    }

    /// Waits for entries: all of them, or one.
    pub(super) fn await_jobs(&self, task: &Task, jobs: &[Arc<Job>], all: bool, secs: Option<f64>) -> Fallible<bool> {
        let done = || if all { jobs.iter().all(|j| j.is_done()) } else { jobs.iter().any(|j| j.is_done()) };
        if done() {
            return Ok(true);
        }
        lock(&self.waiting).push(task.wake().clone());
        let edges: Vec<EntryId> =
            if all { jobs.iter().filter(|j| !j.is_done()).map(|j| EntryId(j.id)).collect() } else { Vec::new() };
        for edge in &edges {
            self.begin(task.id(), *edge).map_err(|refusal| refuse(&refusal))?;
        }
        let until = secs.map(|secs| self.clock.now() + Duration::from_secs_f64(secs));
        let waited = task.wait(until, done);
        edges.iter().for_each(|edge| self.end(task.id(), *edge));
        waited
    }

    pub(super) fn value_of(&self, task: &Task, job: &Arc<Job>, secs: Option<f64>) -> Fallible<Dynamic> {
        if !self.await_jobs(task, std::slice::from_ref(job), true, secs)? {
            return Err(refuse(&Refusal::TimedOut { after: Duration::from_secs_f64(secs.unwrap()) }));
        }
        let entry = EntryId(job.id);
        match job.ended().result {
            Ok(value) => Ok(value),
            Err(Unfinished::Failed { failure, thrown }) => Err(raise(&Thrown { failure: *failure, entry, thrown })),
            Err(Unfinished::Stopped(_)) => Err(fail("Cancelled", format!("entry {entry} was cancelled"))),
        }
    }
}

/// Runs tests without the panics of scripts on the console.
pub(super) fn quiet() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let text = info.payload().downcast_ref::<&str>().copied().unwrap_or_default();
            if !text.contains("host function panicked") {
                usual(info);
            }
        }));
    });
}

/// Many declarations, one per line.
pub(super) fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).fold(String::new(), |mut text, index| {
        writeln!(text, "{}", line(index)).unwrap();
        text
    })
}
