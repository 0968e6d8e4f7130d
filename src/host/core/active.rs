//! Entries that have not settled: their task and their work, and who waits for their end.

use super::handle_facts::HandleFacts;
use crate::base::{EntryId, Owner, Wake, lock};
use crate::engine::{Callable, Task};
use crate::spaces::library::ModuleSpace;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use tokio::sync::Notify;

/// The work of an entry once it has a slot.
pub(in crate::host) enum Work {
    /// Evaluates a script.
    Script(Arc<str>),
    /// Runs a background child's function.
    Child(Box<Callable>),
}

/// Somebody who waits for an entry to settle.
enum Waiter {
    /// A thread of another entry.
    Thread(Wake),
    /// An async caller; gone when the reference is.
    Call(Weak<Notify>),
}

/// Changes beside its value that an entry brings about, noted while it runs.
#[derive(Debug, Default)]
pub(in crate::host) struct Effects {
    /// Where the session goes when the entry settles `ok` inside its call.
    pub(in crate::host) move_to: Option<String>,
    /// The space that came into being for it.
    pub(in crate::host) new_space: Option<String>,
}

/// One entry that has not settled.
pub(in crate::host) struct ActiveEntry {
    pub(in crate::host) id: EntryId,
    pub(in crate::host) owner: Owner,
    pub(in crate::host) task: Arc<Task>,
    /// The module it evaluates in, if it is one.
    pub(in crate::host) module: Option<Arc<ModuleSpace>>,
    /// Notified when it prints, and when it settles.
    pub(in crate::host) changed: Arc<Notify>,
    effects: Mutex<Effects>,
    work: Mutex<Option<Work>>,
    /// A slot was granted while its thread waited for one.
    granted: AtomicBool,
    settled: AtomicBool,
    waiters: Mutex<Vec<Waiter>>,
    /// The facts that its handles share, while there are any.
    facts: Mutex<Weak<HandleFacts>>,
}

impl ActiveEntry {
    pub(in crate::host) fn new(
        owner: Owner,
        task: Arc<Task>,
        work: Work,
        effects: Effects,
        module: Option<Arc<ModuleSpace>>,
        changed: Arc<Notify>,
    ) -> Self {
        Self {
            id: task.id(),
            owner,
            task,
            module,
            changed,
            effects: Mutex::new(effects),
            work: Mutex::new(Some(work)),
            granted: AtomicBool::new(false),
            settled: AtomicBool::new(false),
            waiters: Mutex::default(),
            facts: Mutex::default(),
        }
    }

    /// Its work, the first time this is asked.
    pub(in crate::host) fn take_work(&self) -> Option<Work> {
        lock(&self.work).take()
    }

    /// Whether it has not begun.
    pub(in crate::host) fn has_work(&self) -> bool {
        lock(&self.work).is_some()
    }

    /// The changes it brings about.
    pub(in crate::host) fn effects(&self) -> std::sync::MutexGuard<'_, Effects> {
        lock(&self.effects)
    }

    /// It has a slot again: its thread goes on.
    pub(in crate::host) fn grant(&self) {
        self.granted.store(true, Ordering::Release);
        self.task.wake().notify();
    }

    /// Whether a slot was granted since this was last asked.
    pub(in crate::host) fn take_grant(&self) -> bool {
        self.granted.swap(false, Ordering::AcqRel)
    }

    pub(in crate::host) fn is_settled(&self) -> bool {
        self.settled.load(Ordering::Acquire)
    }

    /// The thread that waits on `wake` is notified when this entry settles.
    pub(in crate::host) fn tell_thread(&self, wake: &Wake) {
        self.tell(Waiter::Thread(wake.clone()), || wake.notify());
    }

    /// The call is notified when this entry settles.
    pub(in crate::host) fn tell_call(&self, call: &Arc<Notify>) {
        self.tell(Waiter::Call(Arc::downgrade(call)), || call.notify_one());
    }

    fn tell(&self, waiter: Waiter, at_once: impl FnOnce()) {
        let mut waiters = lock(&self.waiters);
        if self.is_settled() {
            drop(waiters);
            at_once();
            return;
        }
        // Calls that gave up leave their place behind; tidy up before the list grows.
        if waiters.len() >= 16 && waiters.len().is_power_of_two() {
            waiters.retain(|waiter| !matches!(waiter, Waiter::Call(call) if call.strong_count() == 0));
        }
        waiters.push(waiter);
    }

    /// The facts that its handles share; made when there is no handle.
    pub(in crate::host) fn facts_or(&self, make: impl FnOnce() -> Arc<HandleFacts>) -> Arc<HandleFacts> {
        let mut facts = lock(&self.facts);
        facts.upgrade().unwrap_or_else(|| {
            let made = make();
            *facts = Arc::downgrade(&made);
            made
        })
    }

    /// The facts that its handles share, when there are any.
    pub(in crate::host) fn facts(&self) -> Option<Arc<HandleFacts>> {
        lock(&self.facts).upgrade()
    }

    /// It has settled: everybody who waits looks again.
    pub(in crate::host) fn settle(&self) {
        let waiters = {
            let mut waiters = lock(&self.waiters);
            self.settled.store(true, Ordering::Release);
            std::mem::take(&mut *waiters)
        };
        self.changed.notify_waiters();
        for waiter in waiters {
            match waiter {
                Waiter::Thread(wake) => wake.notify(),
                Waiter::Call(call) => {
                    if let Some(call) = call.upgrade() {
                        call.notify_one();
                    }
                }
            }
        }
    }
}
