//! Entries that have not settled: what runs them and who waits for them.

use super::handles::Known;
use crate::base::{EntryId, Owner, Wake, lock};
use crate::engine::{Callable, Task};
use crate::spaces::library::ModuleSpace;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use tokio::sync::Notify;

/// What an entry does once it has a slot.
pub(super) enum Work {
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

/// Notes that host functions leave on their entry while it runs.
#[derive(Debug, Default)]
pub(super) struct Notes {
    /// Where the session goes when the entry settles `ok` inside its call.
    pub(super) move_to: Option<String>,
    /// The space that came into being for it.
    pub(super) new_space: Option<String>,
}

/// One entry that has not settled.
pub(super) struct Live {
    pub(super) id: EntryId,
    pub(super) owner: Owner,
    pub(super) task: Arc<Task>,
    /// The module it evaluates in, if it is one.
    pub(super) module: Option<Arc<ModuleSpace>>,
    /// Notified when it prints, and when it settles.
    pub(super) changed: Arc<Notify>,
    notes: Mutex<Notes>,
    work: Mutex<Option<Work>>,
    /// A slot was granted while its thread waited for one.
    granted: AtomicBool,
    settled: AtomicBool,
    waiters: Mutex<Vec<Waiter>>,
    /// What its handles share, while there are any.
    known: Mutex<Weak<Known>>,
}

impl Live {
    pub(super) fn new(
        owner: Owner,
        task: Arc<Task>,
        work: Work,
        notes: Notes,
        module: Option<Arc<ModuleSpace>>,
        changed: Arc<Notify>,
    ) -> Self {
        Self {
            id: task.id(),
            owner,
            task,
            module,
            changed,
            notes: Mutex::new(notes),
            work: Mutex::new(Some(work)),
            granted: AtomicBool::new(false),
            settled: AtomicBool::new(false),
            waiters: Mutex::default(),
            known: Mutex::default(),
        }
    }

    /// Its work, the first time this is asked.
    pub(super) fn take_work(&self) -> Option<Work> {
        lock(&self.work).take()
    }

    /// Whether it has not begun.
    pub(super) fn has_work(&self) -> bool {
        lock(&self.work).is_some()
    }

    pub(super) fn notes(&self) -> std::sync::MutexGuard<'_, Notes> {
        lock(&self.notes)
    }

    /// It has a slot again: its thread goes on.
    pub(super) fn grant(&self) {
        self.granted.store(true, Ordering::Release);
        self.task.wake().notify();
    }

    /// Whether a slot was granted since this was last asked.
    pub(super) fn take_grant(&self) -> bool {
        self.granted.swap(false, Ordering::AcqRel)
    }

    pub(super) fn is_settled(&self) -> bool {
        self.settled.load(Ordering::Acquire)
    }

    /// The thread that waits on `wake` is notified when this entry settles.
    pub(super) fn tell_thread(&self, wake: &Wake) {
        self.tell(Waiter::Thread(wake.clone()), || wake.notify());
    }

    /// The call is notified when this entry settles.
    pub(super) fn tell_call(&self, call: &Arc<Notify>) {
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

    /// What its handles share; made when there is none.
    pub(super) fn known(&self, make: impl FnOnce() -> Arc<Known>) -> Arc<Known> {
        let mut known = lock(&self.known);
        known.upgrade().unwrap_or_else(|| {
            let made = make();
            *known = Arc::downgrade(&made);
            made
        })
    }

    /// What its handles share, when there are any.
    pub(super) fn shared(&self) -> Option<Arc<Known>> {
        lock(&self.known).upgrade()
    }

    /// It has settled: everybody who waits looks again.
    pub(super) fn settle(&self) {
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
