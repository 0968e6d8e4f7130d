//! Time: the only module that reads a clock. Everything else is handed a [`Time`] or asks a [`Clock`].
//!
//! A clock is real, or moved by hand in tests. Both kinds answer `now`, and both can wake a waiting thread ([`Wake`]) or run
//! a callback ([`Clock::alarm`]) when a moment has come.

use super::locks::lock;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Add, Sub};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// A moment, counted from the start of its [`Clock`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(Duration);

impl Time {
    /// The moment the clock started.
    pub const START: Self = Self(Duration::ZERO);

    /// The moment `duration` after the start of the clock.
    pub const fn after_start(duration: Duration) -> Self {
        Self(duration)
    }

    /// The time from the start of the clock to this moment.
    pub const fn since_start(self) -> Duration {
        self.0
    }

    /// The time from `earlier` to this moment; zero when it is not after it.
    pub fn since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

impl Add<Duration> for Time {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(duration))
    }
}

impl Sub<Duration> for Time {
    type Output = Self;

    fn sub(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(duration))
    }
}

type Callback = Box<dyn FnOnce() + Send>;

/// A source of time, shared by cloning.
#[derive(Clone)]
pub struct Clock(Arc<Kind>);

enum Kind {
    Real { start: Instant, wall: SystemTime },
    Manual(Mutex<Hands>),
}

/// The state of a clock moved by hand.
#[derive(Default)]
struct Hands {
    now: Time,
    next: u64,
    alarms: BTreeMap<(Time, u64), Callback>,
}

/// 2000-01-01T00:00:00Z: where the wall time of a clock moved by hand begins.
const MANUAL_WALL: Duration = Duration::from_secs(946_684_800);

impl Clock {
    /// The machine's clock, started now.
    #[expect(clippy::disallowed_methods, reason = "this is the module that reads the clock")]
    pub fn real() -> Self {
        Self(Arc::new(Kind::Real { start: Instant::now(), wall: SystemTime::now() }))
    }

    /// A clock that moves only by [`Clock::advance`]; its wall time starts at 2000-01-01T00:00:00Z.
    pub fn manual() -> Self {
        Self(Arc::new(Kind::Manual(Mutex::default())))
    }

    /// True for a clock that moves only by [`Clock::advance`].
    pub fn is_manual(&self) -> bool {
        matches!(*self.0, Kind::Manual(_))
    }

    /// The present moment.
    pub fn now(&self) -> Time {
        match &*self.0 {
            Kind::Real { start, .. } => Time(start.elapsed()),
            Kind::Manual(hands) => lock(hands).now,
        }
    }

    /// The wall time of a moment as people and programs write it: `2026-12-01T04:06:07Z`.
    pub(crate) fn stamp(&self, time: Time) -> String {
        let wall = self.wall(time).duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
        let (days, seconds) = (wall / 86_400, wall % 86_400);
        // The years of this reckoning begin in March, so that a leap day is the last of its year.
        let days = days + 719_468;
        let (era, day_of_era) = (days / 146_097, days % 146_097);
        let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        let year = era * 400 + year_of_era + u64::from(month <= 2);
        let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }

    /// The wall time of a moment, for stamps that people and protocols read.
    pub fn wall(&self, time: Time) -> SystemTime {
        match &*self.0 {
            Kind::Real { wall, .. } => *wall + time.0,
            Kind::Manual(_) => SystemTime::UNIX_EPOCH + MANUAL_WALL + time.0,
        }
    }

    /// On a real clock, the instant a moment falls on: what a runtime's timer needs. `None` on a clock moved by hand, and for
    /// moments too far away to be represented.
    pub fn instant(&self, time: Time) -> Option<Instant> {
        match &*self.0 {
            Kind::Real { start, .. } => start.checked_add(time.0),
            Kind::Manual(_) => None,
        }
    }

    /// Moves a clock made by [`Clock::manual`] and runs what has become due, in order of time.
    ///
    /// # Panics
    /// On a real clock.
    pub fn advance(&self, by: Duration) {
        let Kind::Manual(hands) = &*self.0 else { panic!("only a clock made by Clock::manual can be moved") };
        let due: Vec<Callback> = {
            let mut hands = lock(hands);
            hands.now = hands.now + by;
            let now = hands.now;
            let later = hands.alarms.split_off(&(now, u64::MAX));
            std::mem::replace(&mut hands.alarms, later).into_values().collect()
        };
        for ring in due {
            ring();
        }
    }

    /// Runs `ring` once a clock moved by hand has reached `at` (at once when it already has). On a real clock this does
    /// nothing: there, waiting is up to the runtime's timers. The alarm is off when the returned value is dropped.
    pub fn alarm(&self, at: Time, ring: impl FnOnce() + Send + 'static) -> Alarm {
        let Kind::Manual(hands) = &*self.0 else { return Alarm { clock: None, key: (at, 0) } };
        let key = {
            let mut hands = lock(hands);
            if hands.now < at {
                hands.next += 1;
                let key = (at, hands.next);
                hands.alarms.insert(key, Box::new(ring));
                return Alarm { clock: Some(self.clone()), key };
            }
            (at, 0)
        };
        ring();
        Alarm { clock: None, key }
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clock").field("manual", &self.is_manual()).field("now", &self.now()).finish()
    }
}

/// A callback that waits for its moment on a clock moved by hand; dropping it takes the callback back.
#[derive(Debug)]
#[must_use = "an alarm that is dropped does not ring"]
pub struct Alarm {
    clock: Option<Clock>,
    key: (Time, u64),
}

impl Drop for Alarm {
    fn drop(&mut self) {
        if let Some(clock) = &self.clock
            && let Kind::Manual(hands) = &*clock.0
        {
            let taken = lock(hands).alarms.remove(&self.key);
            drop(taken);
        }
    }
}

/// A thing threads wait on: a counter that goes up whenever something may have changed.
///
/// Read [`Wake::generation`], look at the world, then [`Wake::wait`] for that generation to pass: nothing can be missed.
#[derive(Clone, Default)]
pub struct Wake(Arc<WakeInner>);

#[derive(Default)]
struct WakeInner {
    count: Mutex<Count>,
    changed: Condvar,
}

#[derive(Default)]
struct Count {
    generation: u64,
    /// The number of threads that wait. To wake nobody still costs a call of the system.
    waiting: usize,
}

impl Wake {
    /// Something may have changed: everyone who waits looks again.
    pub fn notify(&self) {
        let mut count = lock(&self.0.count);
        count.generation += 1;
        let somebody = count.waiting > 0;
        drop(count);
        if somebody {
            self.0.changed.notify_all();
        }
    }

    /// The number of notifications so far.
    pub fn generation(&self) -> u64 {
        lock(&self.0.count).generation
    }

    /// Blocks the thread until the generation is no longer `seen`, or `until` has come. May also return early.
    pub fn wait(&self, seen: u64, clock: &Clock, until: Option<Time>) {
        let alarm = until.filter(|_| clock.is_manual()).map(|at| {
            let wake = self.clone();
            clock.alarm(at, move || wake.notify())
        });
        let mut count = lock(&self.0.count);
        count.waiting += 1;
        while count.generation == seen {
            let left = match until {
                // More than a day away is as good as far away: the loop looks again.
                Some(at) if !clock.is_manual() => Some(at.since(clock.now()).min(Duration::from_secs(86_400))),
                _ => None,
            };
            count = match left {
                Some(Duration::ZERO) => break,
                Some(left) => self.0.changed.wait_timeout(count, left).unwrap_or_else(PoisonError::into_inner).0,
                None => self.0.changed.wait(count).unwrap_or_else(PoisonError::into_inner),
            };
        }
        count.waiting -= 1;
        drop(count);
        drop(alarm);
    }
}

impl fmt::Debug for Wake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Wake").field(&self.generation()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn alarms_ring_in_order_and_only_when_due() {
        let clock = Clock::manual();
        let rung = Arc::new(Mutex::new(Vec::new()));
        let set = |secs: u64| {
            let rung = Arc::clone(&rung);
            clock.alarm(Time::after_start(Duration::from_secs(secs)), move || rung.lock().unwrap().push(secs))
        };
        let _alarms = [set(3), set(1), set(2)];
        drop(set(1));
        clock.advance(Duration::from_secs(2));
        assert_eq!(*rung.lock().unwrap(), [1, 2]);
        clock.advance(Duration::from_secs(1));
        assert_eq!(*rung.lock().unwrap(), [1, 2, 3]);
        let _late = set(1);
        assert_eq!(*rung.lock().unwrap(), [1, 2, 3, 1]);
    }

    #[test]
    fn a_waiting_thread_wakes_by_notice_and_by_time() {
        let clock = Clock::manual();
        let wake = Wake::default();
        let woken = Arc::new(AtomicUsize::new(0));
        let (started, has_started) = std::sync::mpsc::channel();
        let thread = {
            let (clock, wake, woken) = (clock.clone(), wake.clone(), Arc::clone(&woken));
            std::thread::spawn(move || {
                let until = Time::after_start(Duration::from_secs(10));
                loop {
                    let seen = wake.generation();
                    if clock.now() >= until {
                        return;
                    }
                    started.send(()).unwrap();
                    wake.wait(seen, &clock, Some(until));
                    woken.fetch_add(1, Ordering::SeqCst);
                }
            })
        };
        has_started.recv().unwrap();
        wake.notify();
        // It has looked again because of the notice, and waits for the time.
        has_started.recv().unwrap();
        clock.advance(Duration::from_secs(10));
        thread.join().unwrap();
        assert_eq!(woken.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn stamps_follow_the_calendar() {
        let clock = Clock::manual();
        let at = |seconds| clock.stamp(Time::after_start(Duration::from_secs(seconds)));
        assert_eq!(at(0), "2000-01-01T00:00:00Z");
        assert_eq!(at(59 * 86_400 + 86_399), "2000-02-29T23:59:59Z");
        assert_eq!(at(60 * 86_400), "2000-03-01T00:00:00Z");
        assert_eq!(at(366 * 86_400 - 1), "2000-12-31T23:59:59Z");
        assert_eq!(at(849_413_167), "2026-12-01T04:06:07Z");
        assert_eq!(at(36_524 * 86_400 + 3_600), "2099-12-31T01:00:00Z");
        assert_eq!(at(36_525 * 86_400 + 58 * 86_400), "2100-02-28T00:00:00Z");
        assert_eq!(at(36_525 * 86_400 + 59 * 86_400), "2100-03-01T00:00:00Z");
    }

    #[test]
    fn wall_time_of_a_manual_clock_starts_in_2000() {
        let clock = Clock::manual();
        clock.advance(Duration::from_secs(60));
        let wall = clock.wall(clock.now()).duration_since(SystemTime::UNIX_EPOCH).unwrap();
        assert_eq!(wall.as_secs(), 946_684_860);
    }
}
