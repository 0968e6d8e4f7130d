//! [`Control`]: whether a running entry must end, and what its thread waits for. It holds the stop, the deadlines and the count
//! of memory of one entry, and knows neither its space nor its code.

use super::hooks::Budget;
use crate::base::limits::LimitHit;
use crate::base::{Clock, EntryId, Limits, Refusal, StopCause, Time, Wake, lock};
use crate::engine::error::{Fallible, refuse, terminated};
use crate::engine::memory;
use rhai::{Dynamic, EvalAltResult};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Told when an entry's thread blocks and goes on.
pub(crate) trait Blocking: Send + Sync {
    /// The entry is about to wait: it gives its slot back.
    fn give(&self, entry: &Control);
    /// The entry goes on: blocks until it has a slot again, or, when the entry was stopped, not at all.
    fn take(&self, entry: &Control);
}

/// The stop, deadlines, memory and waits of one running entry.
pub(crate) struct Control {
    id: EntryId,
    clock: Clock,
    blocking: Arc<dyn Blocking>,
    limits: Arc<Limits>,
    budget: Arc<dyn Budget>,
    /// The bytes of the process above which its running entries are looked at.
    ceiling: Arc<AtomicUsize>,
    /// The bytes that this entry may have allocated before it looks at its limit and at the process again.
    look_at: AtomicI64,
    /// Whether `stop` is set.
    stopping: AtomicBool,
    /// Whether there is a stop or a deadline to look at: read at every operation.
    is_watched: AtomicBool,
    stop: Mutex<Option<(StopCause, Time)>>,
    wake: Wake,
    /// The bytes that this thread had allocated when the entry began.
    memory_base: AtomicI64,
    /// The bytes it had allocated at its latest operation.
    memory_used: AtomicI64,
    /// The number of deadlines.
    deadline_count: AtomicUsize,
    deadlines: Mutex<Vec<Deadline>>,
}

/// The base of the memory count of an entry that has not begun. What its thread holds from before is none of its.
const NOT_BEGUN: i64 = i64::MAX / 2;

/// The bytes by which an entry grows before it looks at what the process holds.
const GROWTH: i64 = 16 << 10;

/// The time for which a large allocation waits for room that others are about to leave.
const ROOM_WAIT: Duration = Duration::from_secs(2);

/// A moment at which script code is ended.
#[derive(Clone, Copy, Debug)]
struct Deadline {
    at: Time,
    /// The time limit of the whole eval, rather than one of `timeout`.
    of_eval: Option<Duration>,
}

impl Control {
    /// The control of entry `id`, which has not begun.
    pub(super) fn new(
        id: EntryId,
        clock: Clock,
        blocking: Arc<dyn Blocking>,
        budget: Arc<dyn Budget>,
        limits: Arc<Limits>,
    ) -> Self {
        Self {
            id,
            clock,
            blocking,
            limits,
            ceiling: budget.ceiling(),
            budget,
            look_at: AtomicI64::new(0),
            stopping: AtomicBool::new(false),
            is_watched: AtomicBool::new(false),
            stop: Mutex::default(),
            wake: Wake::default(),
            memory_base: AtomicI64::new(NOT_BEGUN),
            memory_used: AtomicI64::new(0),
            deadline_count: AtomicUsize::new(0),
            deadlines: Mutex::default(),
        }
    }

    /// The entry.
    pub(crate) fn id(&self) -> EntryId {
        self.id
    }

    /// The clock it asks.
    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The limits in force.
    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The entry begins on this thread.
    pub(super) fn begin(&self) {
        self.memory_base.store(memory::thread_bytes(), Ordering::Relaxed);
        if let Some(limit) = self.limits.eval_time {
            self.arm(Deadline { at: self.clock.now() + limit, of_eval: Some(limit) });
        }
    }

    // --- stopping -------------------------------------------------------------------------------------------------------

    /// Makes the entry stop: the next operation of its script ends it, and every wait returns. The first cause decides;
    /// returns whether this was the first.
    pub(crate) fn stop(&self, cause: StopCause) -> bool {
        let first = {
            let mut stop = lock(&self.stop);
            let first = stop.is_none();
            if first {
                *stop = Some((cause, self.clock.now()));
            }
            first
        };
        self.stopping.store(true, Ordering::Release);
        self.is_watched.store(true, Ordering::Release);
        self.wake.notify();
        first
    }

    /// The cause of its stop, if it was made to stop.
    pub(crate) fn stopped(&self) -> Option<StopCause> {
        if !self.is_stopping() {
            return None;
        }
        lock(&self.stop).as_ref().map(|(cause, _)| cause.clone())
    }

    /// The time of its stop, if it was made to stop.
    pub(crate) fn stopped_at(&self) -> Option<Time> {
        lock(&self.stop).as_ref().map(|(_, at)| *at)
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    /// Ends the entry for a limit, and gives the error to return.
    pub(crate) fn hit(&self, hit: LimitHit) -> Box<EvalAltResult> {
        self.stop(StopCause::Limit(hit));
        terminated()
    }

    /// Whether code must end now: stopped, out of memory, or out of time. Asked at every operation, so what it looks at as a rule is
    /// two numbers and a flag.
    #[inline]
    pub(crate) fn must_end(&self) -> bool {
        let used = self.measure();
        // It grew by less than `GROWTH` since it looked, and shrank by less than that.
        let steady = (0..=2 * GROWTH).contains(&(self.look_at.load(Ordering::Relaxed) - used));
        (!steady || self.is_watched.load(Ordering::Acquire)) && self.must_end_after_a_look(used)
    }

    /// The same with all that there is to look at, for an entry that has allocated `used` bytes.
    #[cold]
    fn must_end_after_a_look(&self, used: i64) -> bool {
        if self.is_stopping() {
            return true;
        }
        let limit = as_signed(self.limits.eval_bytes);
        if used > limit {
            self.stop(StopCause::Limit(LimitHit::Memory { limit: self.limits.eval_bytes }));
            return true;
        }
        // The total is met by those who grow. The counts of the process are written by all of its threads, so they are not read at
        // every operation.
        if used > self.look_at.load(Ordering::Relaxed) && self.exceeds_total(0) {
            return true;
        }
        self.look_at.store((used + GROWTH).min(limit), Ordering::Relaxed);
        self.deadline_count.load(Ordering::Relaxed) > 0 && self.is_late(self.clock.now())
    }

    /// For loops of native functions: an error once the entry was stopped or a deadline has passed.
    pub(crate) fn check(&self) -> Fallible<()> {
        if self.must_end() { Err(terminated()) } else { Ok(()) }
    }

    // --- memory ---------------------------------------------------------------------------------------------------------

    /// The bytes that the eval has allocated, noted down as well. Call it on its own thread.
    pub(super) fn measure(&self) -> i64 {
        let used = memory::thread_bytes() - self.memory_base.load(Ordering::Relaxed);
        self.memory_used.store(used, Ordering::Relaxed);
        used
    }

    /// The bytes that the eval may still allocate; `usize::MAX` when memory is not counted.
    pub(super) fn memory_left(&self) -> usize {
        if !memory::installed() {
            return usize::MAX;
        }
        let used = memory::thread_bytes() - self.memory_base.load(Ordering::Relaxed);
        self.limits.eval_bytes.saturating_sub(usize::try_from(used).unwrap_or(0))
    }

    /// Whether the entry must end because the process has met its total, or would with `wanted` bytes more.
    fn exceeds_total(&self, wanted: usize) -> bool {
        if !self.above_ceiling(wanted) {
            return false;
        }
        self.budget.over_total(self.id, wanted);
        self.is_stopping()
    }

    fn above_ceiling(&self, wanted: usize) -> bool {
        memory::process_bytes().saturating_add(wanted) > self.ceiling.load(Ordering::Relaxed)
    }

    /// Asks for so many bytes before they are allocated at once.
    ///
    /// # Errors
    /// Ends the entry when it, or the process, may not have them.
    pub(crate) fn afford(&self, bytes: usize) -> Fallible<()> {
        if bytes > self.memory_left() {
            return Err(self.hit(LimitHit::Memory { limit: self.limits.eval_bytes }));
        }
        // Asked again after each entry that was on its way out. Native code may keep one for as long as it likes.
        let mut until = None;
        while self.above_ceiling(bytes) {
            let now = self.clock.now();
            let patient = now < *until.get_or_insert(now + ROOM_WAIT);
            if self.exceeds_total(bytes) {
                return Err(terminated());
            }
            if !patient && self.above_ceiling(bytes) {
                self.budget.no_room(self.id, bytes);
                if self.is_stopping() {
                    return Err(terminated());
                }
                break;
            }
        }
        // Others that look for the largest shall see it while it is being filled.
        let used = self.measure().saturating_add(as_signed(bytes));
        self.memory_used.store(used, Ordering::Relaxed);
        Ok(())
    }

    /// The bytes that the eval had allocated at its latest operation; 0 when memory is not counted.
    pub(crate) fn memory_used(&self) -> usize {
        usize::try_from(self.memory_used.load(Ordering::Relaxed)).unwrap_or(0)
    }

    // --- waiting --------------------------------------------------------------------------------------------------------

    /// The alarm that its thread waits on. Notify it when something it may wait for has changed.
    pub(crate) fn wake(&self) -> &Wake {
        &self.wake
    }

    /// Blocks until `ready` says so (`true`), or until `until` has come (`false`). `ready` is asked again whenever
    /// [`Control::wake`] is notified. The slot is given back meanwhile.
    pub(crate) fn wait(&self, until: Option<Time>, mut ready: impl FnMut() -> bool) -> Fallible<bool> {
        let mut parked = None;
        loop {
            let seen = self.wake.generation();
            if self.is_stopping() {
                return Err(terminated());
            }
            if ready() {
                return Ok(true);
            }
            let now = self.clock.now();
            if self.is_late(now) {
                return Err(terminated());
            }
            if until.is_some_and(|until| until <= now) {
                return Ok(false);
            }
            parked.get_or_insert_with(|| Parked::new(self));
            let next = until.into_iter().chain(self.next_deadline()).min();
            self.wake.wait(seen, &self.clock, next);
        }
    }

    /// Runs `f` with a deadline: the script it calls is ended when `limit` has passed, and every wait in it.
    pub(crate) fn within(&self, limit: Duration, f: impl FnOnce() -> Fallible<Dynamic>) -> Fallible<Dynamic> {
        let at = self.clock.now() + limit;
        let result = {
            let _armed = Armed::new(self, Deadline { at, of_eval: None });
            f()
        };
        if self.is_stopping() {
            return Err(terminated());
        }
        let now = self.clock.now();
        // An outer deadline that has passed as well ends more than this call.
        if now < at || self.is_late(now) { result } else { Err(refuse(&Refusal::TimedOut { after: limit })) }
    }

    fn arm(&self, deadline: Deadline) {
        lock(&self.deadlines).push(deadline);
        self.deadline_count.fetch_add(1, Ordering::AcqRel);
        self.is_watched.store(true, Ordering::Release);
    }

    fn next_deadline(&self) -> Option<Time> {
        if self.deadline_count.load(Ordering::Relaxed) == 0 {
            return None;
        }
        lock(&self.deadlines).iter().map(|deadline| deadline.at).min()
    }

    /// Whether a deadline has passed. That of the whole eval stops the entry for good.
    fn is_late(&self, now: Time) -> bool {
        if self.deadline_count.load(Ordering::Relaxed) == 0 {
            return false;
        }
        let mut late = false;
        let mut limit = None;
        for deadline in lock(&self.deadlines).iter().filter(|deadline| deadline.at <= now) {
            late = true;
            limit = limit.or(deadline.of_eval);
        }
        if let Some(limit) = limit {
            self.stop(StopCause::Limit(LimitHit::Seconds { limit }));
        }
        late
    }
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control").field("id", &self.id).field("stopped", &self.stopped()).finish_non_exhaustive()
    }
}

/// The slot of a waiting entry, given back until this is dropped.
struct Parked<'c>(&'c Control);

impl<'c> Parked<'c> {
    fn new(control: &'c Control) -> Self {
        control.blocking.give(control);
        Self(control)
    }
}

impl Drop for Parked<'_> {
    fn drop(&mut self) {
        self.0.blocking.take(self.0);
    }
}

/// A deadline in force until this is dropped.
struct Armed<'c> {
    control: &'c Control,
    at: Time,
}

impl<'c> Armed<'c> {
    fn new(control: &'c Control, deadline: Deadline) -> Self {
        control.arm(deadline);
        Self { control, at: deadline.at }
    }
}

impl Drop for Armed<'_> {
    fn drop(&mut self) {
        let mut deadlines = lock(&self.control.deadlines);
        if let Some(index) = deadlines.iter().rposition(|deadline| deadline.at == self.at) {
            deadlines.remove(index);
        }
        if self.control.deadline_count.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.control.is_watched.store(false, Ordering::Release);
            // It may have been stopped in between.
            if self.control.is_stopping() {
                self.control.is_watched.store(true, Ordering::Release);
            }
        }
    }
}

fn as_signed(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
