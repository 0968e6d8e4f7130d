//! The host as evaluation sees it, through hooks: slots around waits, source lines, budgets, waits between atoms, modules.

use crate::base::limits::LimitHit;
use crate::base::{EntryId, Refusal};
use crate::engine::{
    Blocking, Budget, Control, Fallible, Hooks, LoadedModule, Sources, SpaceView, Task, Waits, refuse,
};
use crate::host::core::host_core::{HostCore, Parts};
use crate::registry::Wants;
use crate::spaces::library::{ScriptModules, SpaceModules};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Weak};

/// The way host functions find their host again.
#[derive(Debug)]
pub(in crate::host) struct Services(Weak<HostCore>);

impl Services {
    pub(in crate::host) fn host(&self) -> Option<Arc<HostCore>> {
        self.0.upgrade()
    }
}

/// One object behind all hooks. It holds the host weakly: a host ends when its last owner lets go, whatever still runs.
struct HostHooks(Weak<HostCore>);

/// Makes what leads from evaluation back to a host: the modules that `import` finds (the library's, and the host's spaces after an
/// `@`), and the hooks.
pub(in crate::host) fn connect(host: &Weak<HostCore>, parts: &Parts) -> (ScriptModules, Hooks) {
    let all = Arc::new(HostHooks(Weak::clone(host)));
    let modules = ScriptModules::new(Arc::clone(&parts.library), Arc::clone(&all) as Arc<dyn SpaceModules>);
    let hooks = Hooks {
        modules: Arc::new(modules.clone()),
        sources: Arc::clone(&all) as Arc<dyn Sources>,
        blocking: Arc::clone(&all) as Arc<dyn Blocking>,
        budget: Arc::clone(&all) as Arc<dyn Budget>,
        waits: all as Arc<dyn Waits>,
        clock: parts.clock.clone(),
        services: Arc::new(Services(Weak::clone(host))),
        tools: Arc::clone(&parts.tools),
    };
    (modules, hooks)
}

impl SpaceModules for HostHooks {
    fn space_module(&self, task: &Task, name: &str) -> Fallible<LoadedModule> {
        let Some(host) = self.0.upgrade() else { return Err(crate::engine::terminated()) };
        let id = host.registry().find_space(name).map_err(|refusal| refuse(&refusal))?;
        // A space that has a name and in which nothing was evaluated yet is made now, empty.
        let space: Arc<dyn SpaceView> = host.space(id, name);
        LoadedModule::of_space(task, &format!("@{name}"), &space)
            .ok_or_else(|| refuse(&Refusal::NoSuchSpace { name: name.to_owned() }))
    }
}

impl Sources for HostHooks {
    fn text(&self, source: &str) -> Option<Arc<str>> {
        let host = self.0.upgrade()?;
        let Some(id) = source.strip_prefix("eval ") else { return host.library.text(source) };
        let code = host.registry().get(EntryId(id.parse().ok()?), host.clock.now()).ok()?.code;
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

impl Blocking for HostHooks {
    fn give(&self, entry: &Control) {
        if let Some(host) = self.0.upgrade() {
            let granted = host.registry().give_back(entry.id(), host.clock.now());
            host.granted(granted);
        }
    }

    fn take(&self, entry: &Control) {
        let Some(host) = self.0.upgrade() else { return };
        let Some(active) = host.active(entry.id()) else { return };
        if host.registry().take_back(entry.id(), entry.stopped().is_some()) {
            return;
        }
        loop {
            let seen = entry.wake().generation();
            if active.take_grant() {
                return;
            }
            if entry.stopped().is_some() {
                host.registry().take_back(entry.id(), true);
                return;
            }
            entry.wake().wait(seen, &host.clock, None);
        }
    }
}

impl Budget for HostHooks {
    fn may_keep(&self, more: usize) -> Result<(), LimitHit> {
        let Some(host) = self.0.upgrade() else { return Ok(()) };
        if host.make_room_for(more) { Ok(()) } else { Err(host.total_hit(false)) }
    }

    fn ceiling(&self) -> Arc<AtomicUsize> {
        let ceiling = self.0.upgrade().map(|host| host.ceiling());
        ceiling.unwrap_or_else(|| Arc::new(AtomicUsize::new(usize::MAX)))
    }

    fn over_total(&self, entry: EntryId, wanted: usize) {
        if let Some(host) = self.0.upgrade() {
            host.over_total(entry, wanted);
        }
    }

    fn no_room(&self, entry: EntryId, wanted: usize) {
        if let Some(host) = self.0.upgrade() {
            host.no_room(entry, wanted);
        }
    }
}

impl Waits for HostHooks {
    fn begin(&self, waiter: EntryId, owner: EntryId) -> Result<(), Refusal> {
        self.0.upgrade().map_or(Ok(()), |host| host.registry().add_wait(waiter, &[owner], Wants::All))
    }

    fn end(&self, waiter: EntryId, _owner: EntryId) {
        if let Some(host) = self.0.upgrade() {
            host.registry().remove_wait(waiter);
        }
    }
}
