//! Waiting in async code: for a moment, on a real clock or one moved by hand, and for entries to settle.

use super::api::Host;
use super::inner::Inner;
use crate::base::{Clock, EntryId, Time};
use std::sync::{Arc, LazyLock};
use std::thread::{available_parallelism, yield_now};
use std::time::Duration;
use tokio::sync::{Notify, oneshot};

/// How long a call looks for the end of the eval it has just started before it sleeps. To be woken costs several times what a
/// short eval takes, and other calls on this thread of the runtime can spare so little.
const LOOK: Duration = Duration::from_micros(100);

/// How many threads can run at once. Kept, since the system reads files to find out.
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

impl Host {
    /// Whether an entry that was started a moment ago has settled, or does so within 0.1 ms. The calling thread stays busy
    /// meanwhile. So it looks on only while fewer entries are at work than there are cores, and not at all on a clock moved by
    /// hand.
    pub fn settles_at_once(&self, id: EntryId) -> bool {
        let Some(live) = self.inner.live(id) else { return true };
        let clock = &self.inner.clock;
        // A clock moved by hand would stand still meanwhile, and this would never end.
        if !clock.is_manual() && self.inner.state().working() < *CORES {
            let until = clock.now() + LOOK;
            while !live.is_settled() && clock.now() < until {
                // The eval may be waiting for this very core.
                yield_now();
            }
        }
        live.is_settled()
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
        let find = |ids: &[EntryId]| ids.iter().filter_map(|id| self.inner.live(*id)).collect::<Vec<_>>();
        let (every, some) = (find(all), find(any));
        let one_is_there = some.len() < any.len();
        let done = || {
            every.iter().all(|live| live.is_settled())
                && (any.is_empty() || one_is_there || some.iter().any(|live| live.is_settled()))
        };
        if done() {
            return true;
        }
        let changed = Arc::new(Notify::new());
        for live in every.iter().chain(&some) {
            live.tell_call(&changed);
        }
        let _awaited = somebody.then(|| Awaited::begin(&self.inner, every.iter().chain(&some).map(|live| live.id)));
        let out_of_time = async {
            match limit {
                Some(at) => until(&self.inner.clock, at).await,
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
        let all = self.inner.live_ids();
        self.settled(&all, &[], Some(self.inner.clock.now() + at_most)).await;
    }
}

/// While this lives somebody waits for these entries: their sessions do not expire, and they are not evicted.
#[derive(Debug)]
pub(super) struct Awaited {
    inner: Arc<Inner>,
    ids: Vec<EntryId>,
}

impl Awaited {
    pub(super) fn begin(inner: &Arc<Inner>, ids: impl IntoIterator<Item = EntryId>) -> Self {
        let ids: Vec<_> = ids.into_iter().collect();
        let mut state = inner.state();
        for id in &ids {
            state.awaited(*id);
        }
        drop(state);
        Self { inner: Arc::clone(inner), ids }
    }
}

impl Drop for Awaited {
    fn drop(&mut self) {
        let now = self.inner.clock.now();
        let mut state = self.inner.state();
        for id in &self.ids {
            state.unawait(*id, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Owner;
    use crate::host::Job;

    #[test]
    fn a_look_ends_with_the_eval_or_soon() {
        let host = Host::builder().build().unwrap();
        let submit = |code: &str| host.submit(Owner::Local, &Job::new(code)).unwrap();
        let long = submit("loop { sleep(60) }");
        let before = host.clock().now();
        assert!(!host.settles_at_once(long.id()));
        assert!(host.clock().now().since(before) < Duration::from_secs(5), "it looks for a moment only");
        let short = submit("1");
        while !host.settles_at_once(short.id()) {
            assert!(host.clock().now().since(before) < Duration::from_secs(20), "a short eval is over soon");
        }
        host.close();
    }
}
