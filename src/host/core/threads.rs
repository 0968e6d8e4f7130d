//! Threads for running entries: one each, taken from the idle ones when there are any. Knows no entry; a job is a closure.
//!
//! Stacks are large (see [`crate::base::Limits::stack_bytes`]) but virtual: only touched pages cost memory.

use crate::base::lock;
use std::cell::RefCell;
use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::Duration;

/// The work that a thread is given.
pub(in crate::host) type Job = Box<dyn FnOnce() + Send>;

/// How long an idle thread waits for a job before it ends.
const IDLE: Duration = Duration::from_secs(10);

/// A thread, as those see it who give it jobs. Whoever takes it off the idle list is the only one to use it, once.
///
/// Not a channel: before it sleeps, whoever waits at one looks for a message again and again. That takes about twice as long as a
/// short eval, on the core that whoever is to give the next job may need.
#[derive(Default)]
struct Worker {
    waiting: Mutex<Waiting>,
    signal: Condvar,
}

#[derive(Default)]
struct Waiting {
    job: Option<Job>,
    /// Whether the thread sleeps. To wake nobody still costs a call of the system.
    asleep: bool,
}

impl Worker {
    fn hand_in(&self, job: Job) {
        let mut waiting = lock(&self.waiting);
        waiting.job = Some(job);
        let asleep = waiting.asleep;
        drop(waiting);
        if asleep {
            self.signal.notify_one();
        }
    }

    /// Waits for a job, at most so long.
    fn wait(&self, at_most: Duration) -> Option<Job> {
        let mut waiting = lock(&self.waiting);
        if waiting.job.is_none() {
            waiting.asleep = true;
            let waited = self.signal.wait_timeout_while(waiting, at_most, |waiting| waiting.job.is_none());
            waiting = waited.unwrap_or_else(PoisonError::into_inner).0;
            waiting.asleep = false;
        }
        waiting.job.take()
    }
}

thread_local! {
    /// This thread, if it is one of ours and no job can reach it yet.
    static CURRENT: RefCell<Option<Arc<Worker>>> = const { RefCell::new(None) };
}

/// The threads of one host.
pub(in crate::host) struct Threads {
    stack: usize,
    idle: Mutex<Vec<Arc<Worker>>>,
}

impl Threads {
    pub(in crate::host) fn new(stack: usize) -> Arc<Self> {
        Arc::new(Self { stack, idle: Mutex::default() })
    }

    /// Runs a job on an idle thread, or on a new one. When no thread can be started the job comes back.
    pub(in crate::host) fn run(self: &Arc<Self>, job: Job) -> Result<(), (Job, io::Error)> {
        let idle = lock(&self.idle).pop();
        match idle {
            Some(worker) => {
                worker.hand_in(job);
                Ok(())
            }
            None => self.start(job),
        }
    }

    fn start(self: &Arc<Self>, job: Job) -> Result<(), (Job, io::Error)> {
        let worker = Arc::new(Worker::default());
        let (threads, its_worker) = (Arc::downgrade(self), Arc::clone(&worker));
        let started = std::thread::Builder::new()
            .name("eval".to_owned())
            .stack_size(self.stack)
            .spawn(move || work(&threads, &its_worker));
        match started {
            Ok(_handle) => {
                worker.hand_in(job);
                Ok(())
            }
            Err(error) => Err((job, error)),
        }
    }

    /// Runs a clean-up on one of the threads; here, when none can be started (nothing that is kept is deep).
    pub(in crate::host) fn clean_up(self: &Arc<Self>, act: impl FnOnce() + Send + 'static) {
        if let Err((job, _error)) = self.run(Box::new(act)) {
            job();
        }
    }

    /// Called on a thread of ours near the end of its job: it may be given the next one. Doing this before the entry is
    /// marked settled lets whoever waited for it reuse this warm thread.
    pub(in crate::host) fn offer(&self) {
        CURRENT.with_borrow_mut(|worker| {
            if let Some(worker) = worker.take() {
                lock(&self.idle).push(worker);
            }
        });
    }

    /// Takes a worker off the list; false when it is gone because a job is on its way to it.
    fn withdraw(&self, worker: &Arc<Worker>) -> bool {
        let mut idle = lock(&self.idle);
        let before = idle.len();
        idle.retain(|other| !Arc::ptr_eq(other, worker));
        idle.len() < before
    }
}

fn work(threads: &Weak<Threads>, worker: &Arc<Worker>) {
    loop {
        let Some(job) = worker.wait(IDLE) else {
            // The first job reaches a worker that was never on the list.
            let Some(owner) = threads.upgrade() else { return };
            if owner.withdraw(worker) {
                return;
            }
            continue;
        };
        CURRENT.with_borrow_mut(|mine| *mine = Some(Arc::clone(worker)));
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
