//! The one shared body of a host: the registry behind its lock, the engine, the spaces, the threads. Accessors only; what happens
//! to entries is told in `run`.

use super::active::ActiveEntry;
use super::ceiling::Ceiling;
use super::serving::Serving;
use super::settled::SettledEntry;
use super::threads::Threads;
use crate::base::{Clock, EntryId, Limits, Refusal, SpaceId, Wake, lock};
use crate::engine::{Hooks, Runtime};
use crate::registry::{OutputLog, Registry};
use crate::render::teach::{FunctionDoc, ModuleAlong};
use crate::render::{Shown, Style};
use crate::spaces::Space;
use crate::spaces::library::{Library, ModuleName, ModuleSpace, ScriptModules};
use rhai::Dynamic;
use std::any::Any;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard, Weak};

/// Everything a host owns.
pub(in crate::host) struct HostCore {
    pub(in crate::host) clock: Clock,
    pub(in crate::host) limits: Limits,
    pub(in crate::host) describe: String,
    pub(in crate::host) runtime: Runtime,
    pub(in crate::host) library: Arc<Library>,
    /// Everything that `import` finds.
    pub(in crate::host) modules: ScriptModules,
    /// The host's own functions, in the order of the manual.
    pub(in crate::host) docs: Vec<FunctionDoc>,
    /// The native modules.
    pub(in crate::host) native: NativeModules,
    /// Bytes that the process held when the host was built; `None` without the counting allocator: then memory limits of evals are
    /// not enforced.
    pub(in crate::host) held_before: Option<usize>,
    /// What the process may allocate before running evals are looked at.
    pub(super) ceiling: Ceiling,
    /// How values of the types that the host's functions define are shown.
    pub(in crate::host) show_custom: fn(&Dynamic) -> Option<Shown>,
    pub(in crate::host) threads: Arc<Threads>,
    /// Evaluation's way back to the host.
    pub(in crate::host) hooks: Hooks,
    /// The registry. No script runs, nothing is rendered and no value is dropped while it is locked.
    registry: Mutex<Registry<SettledEntry>>,
    /// Entries that have not settled. Locked inside the registry's lock, never around it.
    active: RwLock<HashMap<EntryId, Arc<ActiveEntry>>>,
    /// Spaces by id. Locked around the registry's lock, never inside it.
    pub(super) spaces: RwLock<HashMap<SpaceId, Arc<Space>>>,
    /// Spaces that stand for modules, by module.
    pub(super) module_spaces: Mutex<HashMap<ModuleName, Arc<ModuleSpace>>>,
    /// Set once the process lets nobody in any more.
    closing: AtomicBool,
    /// Is notified whenever an entry has settled.
    pub(in crate::host) ends: Wake,
    /// How the prompt wants its answers, when there is one.
    prompt: Mutex<Option<Style>>,
    /// Where the host is served.
    pub(in crate::host) serving: Serving,
    /// The local time of day at which the process started, once a session may have to be told it.
    pub(in crate::host) started: OnceLock<String>,
}

/// The native modules of a host.
pub(in crate::host) struct NativeModules {
    /// The names of those that the embedding program added.
    pub(in crate::host) program: Vec<String>,
    /// Those that come along.
    pub(in crate::host) along: Vec<ModuleAlong>,
}

impl NativeModules {
    /// The names of all.
    pub(in crate::host) fn names(&self) -> impl Iterator<Item = &str> {
        self.program.iter().map(String::as_str).chain(self.along.iter().map(|module| module.name.as_str()))
    }
}

/// The parts a host is put together from.
pub(in crate::host) struct Parts {
    pub(in crate::host) clock: Clock,
    pub(in crate::host) limits: Limits,
    pub(in crate::host) describe: String,
    pub(in crate::host) runtime: Runtime,
    pub(in crate::host) library: Arc<Library>,
    pub(in crate::host) docs: Vec<FunctionDoc>,
    pub(in crate::host) native: NativeModules,
    /// What the modules that come along need.
    pub(in crate::host) tools: Arc<dyn Any + Send + Sync>,
    pub(in crate::host) held_before: Option<usize>,
    pub(in crate::host) show_custom: fn(&Dynamic) -> Option<Shown>,
}

impl HostCore {
    /// Puts the parts together. `connect` makes what leads back to the host: the modules that `import` finds, and the hooks.
    pub(in crate::host) fn new(
        parts: Parts,
        connect: impl FnOnce(&Weak<Self>, &Parts) -> (ScriptModules, Hooks),
    ) -> Arc<Self> {
        Arc::new_cyclic(|weak| {
            let (modules, hooks) = connect(weak, &parts);
            let Parts { clock, limits, describe, runtime, library, docs, native, tools: _, held_before, show_custom } =
                parts;
            Self {
                modules,
                hooks,
                threads: Threads::new(limits.stack_bytes()),
                registry: Mutex::new(Registry::new(limits.clone())),
                active: RwLock::default(),
                spaces: RwLock::default(),
                module_spaces: Mutex::default(),
                closing: AtomicBool::new(false),
                ends: Wake::default(),
                prompt: Mutex::default(),
                serving: Serving::default(),
                ceiling: Ceiling::new(held_before, limits.total_bytes),
                started: OnceLock::new(),
                clock,
                limits,
                describe,
                runtime,
                library,
                docs,
                native,
                held_before,
                show_custom,
            }
        })
    }

    /// The registry, locked.
    pub(in crate::host) fn registry(&self) -> MutexGuard<'_, Registry<SettledEntry>> {
        lock(&self.registry)
    }

    /// An entry that has not settled.
    pub(in crate::host) fn active(&self, id: EntryId) -> Option<Arc<ActiveEntry>> {
        self.all_active().get(&id).cloned()
    }

    /// The entries that have not settled.
    pub(in crate::host) fn all_active(&self) -> RwLockReadGuard<'_, HashMap<EntryId, Arc<ActiveEntry>>> {
        self.active.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The ids of the entries that have not settled.
    pub(in crate::host) fn active_ids(&self) -> Vec<EntryId> {
        self.all_active().keys().copied().collect()
    }

    /// Puts an entry on the list of those that have not settled.
    pub(in crate::host) fn add_active(&self, active: &Arc<ActiveEntry>) {
        self.active.write().unwrap_or_else(PoisonError::into_inner).insert(active.id, Arc::clone(active));
    }

    /// Takes an entry off the list of those that have not settled.
    pub(in crate::host) fn remove_active(&self, id: EntryId) -> Option<Arc<ActiveEntry>> {
        let active = self.active.write().unwrap_or_else(PoisonError::into_inner).remove(&id);
        self.ends.notify();
        active
    }

    /// The log of an entry, running or settled.
    pub(in crate::host) fn log(&self, id: EntryId) -> Result<Arc<OutputLog>, Refusal> {
        self.registry().log(id)
    }

    /// Somebody sits at a prompt from now on (or no longer), and wants answers in this style.
    pub(in crate::host) fn set_prompt(&self, style: Option<Style>) {
        *lock(&self.prompt) = style;
        self.registry().set_prompt(style.is_some());
    }

    /// How the prompt wants its answers; as agents do, when there is none.
    pub(in crate::host) fn prompt_style(&self) -> Style {
        lock(&self.prompt).unwrap_or(Style::Agent)
    }

    /// Whether nobody is let in any more.
    pub(in crate::host) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }

    /// Nobody is let in from now on.
    pub(in crate::host) fn set_closing(&self) {
        self.closing.store(true, Ordering::Release);
    }
}

impl std::fmt::Debug for HostCore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HostCore").field("describe", &self.describe).finish_non_exhaustive()
    }
}
