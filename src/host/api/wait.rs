//! Waiting in async code: for a moment, on a real clock or one moved by hand, and for entries to settle.

use super::host::HostApi;
use crate::base::{Clock, EntryId, Time};
use crate::host::core::host_core::HostCore;
use std::sync::{Arc, LazyLock};
use std::thread::{available_parallelism, yield_now};
use std::time::Duration;
use tokio::sync::{Notify, oneshot};

/// How long a call looks for the end of the eval it has just started before it sleeps. To be woken costs several times what a
/// short eval takes, and other calls on this thread of the runtime can spare so little.
const SPIN: Duration = Duration::from_micros(100);

/// How many threads can run at once. SettledEntry, since the system reads files to find out.
static CORES: LazyLock<usize> = LazyLock::new(|| available_parallelism().map_or(1, usize::from));

/// Waits until `at` has come.
pub async fn until(clock: &Clock, at: Time) {
    if clock.is_manual() {
        let (ring, rung) = oneshot::channel();
        let _alarm = clock.alarm(at, move || {
            ring.send(()).ok();
        });
        // An error means that the alarm is gone, which only happens when this future is.
        drop(rung.await);
    } else if let Some(instant) = clock.instant(at) {
        tokio::time::sleep_until(instant.into()).await;
    } else {
        std::future::pending::<()>().await;
    }
}

impl HostApi {
    /// Whether an entry that was started a moment ago has settled, or does so within 0.1 ms. The calling thread stays busy
    /// meanwhile. So it looks on only while fewer entries are at work than there are cores, and not at all on a clock moved by
    /// hand.
    pub fn settles_at_once(&self, id: EntryId) -> bool {
        let Some(active) = self.core.active(id) else { return true };
        let clock = &self.core.clock;
        // A clock moved by hand would stand still meanwhile, and this would never end.
        if !clock.is_manual() && self.core.registry().working() < *CORES {
            let until = clock.now() + SPIN;
            while !active.is_settled() && clock.now() < until {
                // The eval may be waiting for this very core.
                yield_now();
            }
        }
        active.is_settled()
    }

    /// Waits until every one of `all` and one of `any` (if there are any) has settled or was never there, or until `until`.
    /// Returns whether they have. May be dropped at any time.
    pub async fn settled(&self, all: &[EntryId], any: &[EntryId], until: Option<Time>) -> bool {
        self.wait_for(all, any, until, true).await
    }

    /// Waits until every one of `ids` has settled or was never there, for whoever only tidies up behind a call: it counts as
    /// nobody waiting, so their sessions may expire meanwhile.
    pub async fn over(&self, ids: &[EntryId]) {
        self.wait_for(ids, &[], None, false).await;
    }

    async fn wait_for(&self, all: &[EntryId], any: &[EntryId], limit: Option<Time>, somebody: bool) -> bool {
        let find = |ids: &[EntryId]| ids.iter().filter_map(|id| self.core.active(*id)).collect::<Vec<_>>();
        let (every, some) = (find(all), find(any));
        let one_is_there = some.len() < any.len();
        let done = || {
            every.iter().all(|active| active.is_settled())
                && (any.is_empty() || one_is_there || some.iter().any(|active| active.is_settled()))
        };
        if done() {
            return true;
        }
        let changed = Arc::new(Notify::new());
        for active in every.iter().chain(&some) {
            active.tell_call(&changed);
        }
        let _awaited = somebody.then(|| Awaited::begin(&self.core, every.iter().chain(&some).map(|active| active.id)));
        let out_of_time = async {
            match limit {
                Some(at) => until(&self.core.clock, at).await,
                None => std::future::pending().await,
            }
        };
        tokio::pin!(out_of_time);
        loop {
            if done() {
                return true;
            }
            tokio::select! {
                () = changed.notified() => {}
                () = &mut out_of_time => return done(),
            }
        }
    }

    /// Waits until every entry has settled, at most so long.
    pub async fn drained(&self, at_most: Duration) {
        let all = self.core.active_ids();
        self.settled(&all, &[], Some(self.core.clock.now() + at_most)).await;
    }
}

/// While this lives somebody waits for these entries: their sessions do not expire, and they are not evicted.
#[derive(Debug)]
pub(super) struct Awaited {
    core: Arc<HostCore>,
    ids: Vec<EntryId>,
}

impl Awaited {
    pub(super) fn begin(core: &Arc<HostCore>, ids: impl IntoIterator<Item = EntryId>) -> Self {
        let ids: Vec<_> = ids.into_iter().collect();
        let mut registry = core.registry();
        for id in &ids {
            registry.awaited(*id);
        }
        drop(registry);
        Self { core: Arc::clone(core), ids }
    }
}

impl Drop for Awaited {
    fn drop(&mut self) {
        let now = self.core.clock.now();
        let mut registry = self.core.registry();
        for id in &self.ids {
            registry.unawait(*id, now);
        }
    }
}
