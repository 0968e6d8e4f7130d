//! Threads for running entries: one each, taken from the idle ones when there are any. Knows no entry; a job is a closure.
//!
//! Stacks are large (see [`crate::words::Limits::stack_bytes`]) but virtual: only touched pages cost memory.

use crossbeam_channel::{Receiver, Sender, bounded};
use std::cell::RefCell;
use std::io;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

/// What a thread is given to do.
pub(super) type Job = Box<dyn FnOnce() + Send>;

/// How long an idle thread waits for a job before it ends.
const IDLE: Duration = Duration::from_secs(10);

thread_local! {
    /// The way jobs reach this thread, if it is one of ours.
    static DOOR: RefCell<Option<Sender<Job>>> = const { RefCell::new(None) };
}

/// The threads of one host.
pub(super) struct Threads {
    stack: usize,
    idle: Mutex<Vec<Sender<Job>>>,
}

impl Threads {
    pub(super) fn new(stack: usize) -> Arc<Self> {
        Arc::new(Self { stack, idle: Mutex::default() })
    }

    /// Runs a job on an idle thread, or on a new one. When no thread can be started the job comes back.
    pub(super) fn run(self: &Arc<Self>, mut job: Job) -> Result<(), (Job, io::Error)> {
        loop {
            let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let Some(door) = idle else { return self.start(job) };
            match door.send(job) {
                Ok(()) => return Ok(()),
                // That thread has just ended; the job comes back with the error.
                Err(back) => job = back.0,
            }
        }
    }

    fn start(self: &Arc<Self>, job: Job) -> Result<(), (Job, io::Error)> {
        let (door, jobs) = bounded::<Job>(1);
        let threads = Arc::downgrade(self);
        let thread_door = door.clone();
        let started = std::thread::Builder::new()
            .name("eval".to_owned())
            .stack_size(self.stack)
            .spawn(move || work(&threads, &thread_door, &jobs));
        match started {
            // The channel has room for one, and the thread is the only one who knows it.
            Ok(_handle) => door.send(job).map_err(|back| (back.0, io::Error::other("the thread ended at once"))),
            Err(error) => Err((job, error)),
        }
    }

    /// Called on a thread of ours near the end of its job: it may be given the next one. Doing this before the entry is
    /// marked settled lets whoever waited for it reuse this warm thread.
    pub(super) fn offer(&self) {
        DOOR.with_borrow_mut(|door| {
            if let Some(door) = door.take() {
                self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(door);
            }
        });
    }

    /// Takes a door off the list; false when it is gone because a job is on its way through it.
    fn withdraw(&self, door: &Sender<Job>) -> bool {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let before = idle.len();
        idle.retain(|other| !other.same_channel(door));
        idle.len() < before
    }
}

fn work(threads: &Weak<Threads>, door: &Sender<Job>, jobs: &Receiver<Job>) {
    let Ok(mut job) = jobs.recv() else { return };
    loop {
        DOOR.with_borrow_mut(|mine| *mine = Some(door.clone()));
        job();
        let Some(owner) = threads.upgrade() else { return };
        owner.offer();
        drop(owner);
        job = match jobs.recv_timeout(IDLE) {
            Ok(job) => job,
            Err(_) => {
                let Some(owner) = threads.upgrade() else { return };
                if owner.withdraw(door) {
                    return;
                }
                drop(owner);
                match jobs.recv() {
                    Ok(job) => job,
                    Err(_) => return,
                }
            }
        };
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
    use crate::words::limits::MIB;
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
