//! Threads for running entries: one each, taken from the idle ones when there are any. Knows no entry; a job is a closure.
//!
//! Stacks are large (see [`crate::base::Limits::stack_bytes`]) but virtual: only touched pages cost memory.

use crate::base::lock;
use std::cell::RefCell;
use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::Duration;

/// What a thread is given to do.
pub(super) type Job = Box<dyn FnOnce() + Send>;

/// How long an idle thread waits for a job before it ends.
const IDLE: Duration = Duration::from_secs(10);

/// The way jobs reach a thread. Whoever takes it off the idle list is the only one to use it, once.
///
/// Not a channel: before it sleeps, whoever waits at one looks for a message again and again. That takes about twice as long as a
/// short eval, on the core that whoever is to give the next job may need.
#[derive(Default)]
struct Door {
    waiting: Mutex<Waiting>,
    knock: Condvar,
}

#[derive(Default)]
struct Waiting {
    job: Option<Job>,
    /// Whether the thread sleeps. To wake nobody still costs a call of the system.
    asleep: bool,
}

impl Door {
    fn hand_in(&self, job: Job) {
        let mut waiting = lock(&self.waiting);
        waiting.job = Some(job);
        let asleep = waiting.asleep;
        drop(waiting);
        if asleep {
            self.knock.notify_one();
        }
    }

    /// Waits for a job, at most so long.
    fn wait(&self, at_most: Duration) -> Option<Job> {
        let mut waiting = lock(&self.waiting);
        if waiting.job.is_none() {
            waiting.asleep = true;
            let waited = self.knock.wait_timeout_while(waiting, at_most, |waiting| waiting.job.is_none());
            waiting = waited.unwrap_or_else(PoisonError::into_inner).0;
            waiting.asleep = false;
        }
        waiting.job.take()
    }
}

thread_local! {
    /// The door of this thread, if it is one of ours and no job can come through it yet.
    static DOOR: RefCell<Option<Arc<Door>>> = const { RefCell::new(None) };
}

/// The threads of one host.
pub(super) struct Threads {
    stack: usize,
    idle: Mutex<Vec<Arc<Door>>>,
}

impl Threads {
    pub(super) fn new(stack: usize) -> Arc<Self> {
        Arc::new(Self { stack, idle: Mutex::default() })
    }

    /// Runs a job on an idle thread, or on a new one. When no thread can be started the job comes back.
    pub(super) fn run(self: &Arc<Self>, job: Job) -> Result<(), (Job, io::Error)> {
        let idle = lock(&self.idle).pop();
        match idle {
            Some(door) => {
                door.hand_in(job);
                Ok(())
            }
            None => self.start(job),
        }
    }

    fn start(self: &Arc<Self>, job: Job) -> Result<(), (Job, io::Error)> {
        let door = Arc::new(Door::default());
        let (threads, its_door) = (Arc::downgrade(self), Arc::clone(&door));
        let started = std::thread::Builder::new()
            .name("eval".to_owned())
            .stack_size(self.stack)
            .spawn(move || work(&threads, &its_door));
        match started {
            Ok(_handle) => {
                door.hand_in(job);
                Ok(())
            }
            Err(error) => Err((job, error)),
        }
    }

    /// Called on a thread of ours near the end of its job: it may be given the next one. Doing this before the entry is
    /// marked settled lets whoever waited for it reuse this warm thread.
    pub(super) fn offer(&self) {
        DOOR.with_borrow_mut(|door| {
            if let Some(door) = door.take() {
                lock(&self.idle).push(door);
            }
        });
    }

    /// Takes a door off the list; false when it is gone because a job is on its way through it.
    fn withdraw(&self, door: &Arc<Door>) -> bool {
        let mut idle = lock(&self.idle);
        let before = idle.len();
        idle.retain(|other| !Arc::ptr_eq(other, door));
        idle.len() < before
    }
}

fn work(threads: &Weak<Threads>, door: &Arc<Door>) {
    loop {
        let Some(job) = door.wait(IDLE) else {
            // The first job comes through a door that was never on the list.
            let Some(owner) = threads.upgrade() else { return };
            if owner.withdraw(door) {
                return;
            }
            continue;
        };
        DOOR.with_borrow_mut(|mine| *mine = Some(Arc::clone(door)));
        job();
        let Some(owner) = threads.upgrade() else { return };
        owner.offer();
    }
}

impl std::fmt::Debug for Threads {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Threads").field("stack", &self.stack).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::limits::MIB;
    use std::sync::mpsc;

    #[test]
    fn an_offered_thread_is_reused() {
        let threads = Threads::new(4 * MIB);
        let (tell, told) = mpsc::channel();
        let mut ids = Vec::new();
        for _ in 0..10 {
            let (tell, threads_in) = (tell.clone(), Arc::clone(&threads));
            threads
                .run(Box::new(move || {
                    threads_in.offer();
                    tell.send(std::thread::current().id()).unwrap();
                }))
                .map_err(|(_, error)| error)
                .unwrap();
            ids.push(told.recv().unwrap());
        }
        ids.dedup();
        assert_eq!(ids.len(), 1, "ten jobs one after the other run on one thread");
    }

    #[test]
    fn jobs_run_side_by_side() {
        let threads = Threads::new(4 * MIB);
        let barrier = Arc::new(std::sync::Barrier::new(9));
        for _ in 0..8 {
            let barrier = Arc::clone(&barrier);
            let meet = move || {
                barrier.wait();
            };
            threads.run(Box::new(meet)).map_err(|(_, error)| error).unwrap();
        }
        barrier.wait();
    }
}
