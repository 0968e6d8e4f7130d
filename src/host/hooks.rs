//! What evaluation asks from above: output sinks, slots around waits, source lines, budgets, waits between atoms, modules.

use super::inner::Inner;
use crate::base::limits::{LimitHit, bytes};
use crate::base::{Clock, EntryId, Refusal};
use crate::engine::{
    Blocking, Budget, Fallible, Hooks, LoadedModule, Runtime, Sink, Sources, SpaceView, Task, Waits, refuse,
};
use crate::registry::{OutputLog, Wants};
use crate::spaces::library::{ScriptModules, SpaceModules};
use std::sync::{Arc, Weak};
use tokio::sync::Notify;

/// The way host functions find their host again.
#[derive(Debug)]
pub(super) struct Services(Weak<Inner>);

impl Services {
    pub(super) fn host(&self) -> Option<Arc<Inner>> {
        self.0.upgrade()
    }
}

/// The hooks of a host. They hold it weakly: a host ends when its last owner lets go, whatever still runs.
pub(super) fn hooks(inner: &Arc<Inner>) -> Hooks {
    let joint = Arc::new(Joint(Arc::downgrade(inner)));
    Hooks {
        modules: Arc::new(inner.modules.clone()),
        sources: Arc::clone(&joint) as Arc<dyn Sources>,
        blocking: Arc::clone(&joint) as Arc<dyn Blocking>,
        budget: Arc::clone(&joint) as Arc<dyn Budget>,
        waits: Arc::clone(&joint) as Arc<dyn Waits>,
        clock: inner.clock.clone(),
        services: Arc::new(Services(Arc::downgrade(inner))),
    }
}

/// One object behind all hooks.
struct Joint(Weak<Inner>);

/// What `import` finds: the library's modules, and the host's spaces after an `@`.
pub(super) fn modules(inner: &Weak<Inner>, library: Arc<crate::spaces::library::Library>) -> ScriptModules {
    ScriptModules::new(library, Arc::new(Joint(Weak::clone(inner))))
}

impl SpaceModules for Joint {
    fn space_module(&self, language: &Runtime, name: &str) -> Fallible<LoadedModule> {
        let Some(host) = self.0.upgrade() else { return Err(crate::engine::terminated()) };
        let id = host.state().find_space(name).map_err(|refusal| refuse(&refusal))?;
        // A space that has a name and in which nothing was evaluated yet is made now, empty.
        let space: Arc<dyn SpaceView> = host.space(id, name);
        LoadedModule::of_space(language, &format!("@{name}"), &space)
            .ok_or_else(|| refuse(&Refusal::NoSuchSpace { name: name.to_owned() }))
    }
}

impl Sources for Joint {
    fn text(&self, source: &str) -> Option<Arc<str>> {
        let host = self.0.upgrade()?;
        let Some(id) = source.strip_prefix("eval ") else { return host.library.text(source) };
        let code = host.state().get(EntryId(id.parse().ok()?), host.clock.now()).ok()?.code;
        match code.trim_start_matches('\u{feff}') {
            marked if marked.len() < code.len() => Some(marked.into()),
            _ => Some(code),
        }
    }

    fn line(&self, source: &str, line: usize) -> Option<String> {
        if !source.starts_with("eval ") {
            return self.0.upgrade()?.library.line(source, line);
        }
        self.text(source)?.lines().nth(line.checked_sub(1)?).map(str::to_owned)
    }
}

impl Blocking for Joint {
    fn give(&self, task: &Task) {
        if let Some(host) = self.0.upgrade() {
            let granted = host.state().give_back(task.id(), host.clock.now());
            host.granted(granted);
        }
    }

    fn take(&self, task: &Task) {
        let Some(host) = self.0.upgrade() else { return };
        let Some(live) = host.live(task.id()) else { return };
        if host.state().take_back(task.id(), task.stopped().is_some()) {
            return;
        }
        loop {
            let seen = task.wake().generation();
            if live.take_grant() {
                return;
            }
            if task.stopped().is_some() {
                host.state().take_back(task.id(), true);
                return;
            }
            task.wake().wait(seen, &host.clock, None);
        }
    }
}

impl Budget for Joint {
    fn may_keep(&self, more: usize) -> Result<(), LimitHit> {
        let Some(host) = self.0.upgrade() else { return Ok(()) };
        let fits = || {
            let elsewhere = host.elsewhere();
            let (evicted, fits) = host.state().make_room_for(more, elsewhere);
            // Dropped here: this is a thread of evals, and what is measured next shall not count it any more.
            drop(evicted);
            fits
        };
        if fits() {
            return Ok(());
        }
        host.language.free_circles();
        if fits() {
            return Ok(());
        }
        let largest = host.state().largest(2);
        let mut holders: Vec<_> = largest.into_iter().map(|(id, size)| (format!("entry {id}"), size)).collect();
        holders.extend(host.largest_spaces(2).into_iter().map(|(name, size)| (format!("space {name}"), size)));
        // To free what may be kept even now is no way out.
        holders.retain(|(_, size)| *size > host.limits.kept_when_full_bytes);
        holders.sort_by_key(|(_, size)| std::cmp::Reverse(*size));
        Err(LimitHit::TotalMemory {
            limit: host.limits.total_bytes,
            still: host.limits.kept_when_full_bytes,
            unnamed: host.held().1,
            holders: holders.into_iter().take(3).map(|(name, size)| format!("{name} ({})", bytes(size))).collect(),
        })
    }
}

impl Waits for Joint {
    fn begin(&self, waiter: EntryId, owner: EntryId) -> Result<(), Refusal> {
        self.0.upgrade().map_or(Ok(()), |host| host.state().add_wait(waiter, &[owner], Wants::All))
    }

    fn end(&self, waiter: EntryId, _owner: EntryId) {
        if let Some(host) = self.0.upgrade() {
            host.state().remove_wait(waiter);
        }
    }
}

/// The output of one entry goes to its log, stamped with the host's time.
pub(super) struct LogSink {
    pub(super) log: Arc<OutputLog>,
    pub(super) clock: Clock,
    /// Told of every line.
    pub(super) changed: Arc<Notify>,
}

impl Sink for LogSink {
    fn line(&self, source: &str, text: &str) {
        let now = self.clock.now();
        match source {
            "print" => self.log.push(now, "print", text),
            "debug" => self.log.push(now, "debug", text),
            other => self.log.push(now, other.to_owned(), text),
        }
        self.changed.notify_waiters();
    }
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inner").field("describe", &self.describe).finish_non_exhaustive()
    }
}
