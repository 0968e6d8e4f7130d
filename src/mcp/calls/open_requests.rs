//! The open requests of sessions that a handshake opened, so that `notifications/cancelled` finds the one it means. Knows no host: it hands
//! back what a notice stopped, and the caller acts.
//!
//! A request is open from before it is dispatched until its answer was written (or given up), and is found by session and
//! request id. Clients reuse ids, and several may share one session: a notice that fits two open requests means neither.

use crate::base::{EntryId, HeaderKey, lock};
use crate::mcp::rpc::message::Id;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;

/// The key by which an open request is found.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    /// The session it came in.
    pub(crate) session: HeaderKey,
    /// Its id, as sent.
    pub(crate) id: Id,
}

/// The requests that are open.
#[derive(Clone, Default)]
pub(crate) struct OpenRequests(Arc<Mutex<HashMap<Key, Vec<Arc<Record>>>>>);

/// One open request.
#[derive(Default)]
struct Record {
    state: Mutex<State>,
    notice: Notify,
}

#[derive(Default)]
struct State {
    taken_back: Option<Meaning>,
    work: Option<EntryId>,
}

/// What becomes of the work of a request that is taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// Nobody wants it: it is stopped.
    Stop,
    /// The client only waits no longer: it goes on.
    GoOn,
}

/// The outcome of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Noticed {
    /// No open request has this id.
    Nothing,
    /// Several have it, so none was stopped.
    Ambiguous,
    /// The request will not be answered; this is the entry it stood for, if any.
    TakenBack(Option<EntryId>),
}

impl OpenRequests {
    /// Opens a request. It stays open until the guard is dropped.
    pub(crate) fn open(&self, key: Key) -> RequestGuard {
        let record = Arc::new(Record::default());
        lock(&self.0).entry(key.clone()).or_default().push(Arc::clone(&record));
        RequestGuard { place: Some((self.clone(), key)), record }
    }

    /// A client takes the request back.
    pub(crate) fn take_back(&self, key: &Key, meaning: Meaning) -> Noticed {
        let record = match lock(&self.0).get(key).map(Vec::as_slice) {
            None | Some([]) => return Noticed::Nothing,
            Some([record]) => Arc::clone(record),
            Some(_) => return Noticed::Ambiguous,
        };
        let work = {
            let mut state = lock(&record.state);
            // A stop is not taken back.
            if state.taken_back != Some(Meaning::Stop) {
                state.taken_back = Some(meaning);
            }
            state.work
        };
        record.notice.notify_waiters();
        Noticed::TakenBack(work)
    }

    /// How many requests are open.
    #[cfg(test)]
    pub(crate) fn open_count(&self) -> usize {
        lock(&self.0).values().map(Vec::len).sum()
    }
}

impl fmt::Debug for OpenRequests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OpenRequests").field(&lock(&self.0).len()).finish()
    }
}

/// An open request, held until its answer was written or given up.
pub(crate) struct RequestGuard {
    place: Option<(OpenRequests, Key)>,
    record: Arc<Record>,
}

impl RequestGuard {
    /// For requests that no notice can reach: those of the modern era.
    pub(crate) fn unlisted() -> Self {
        Self { place: None, record: Arc::default() }
    }

    /// The request stands for this entry from now on: a notice stops it too.
    pub(crate) fn stands_for(&self, id: EntryId) {
        lock(&self.record.state).work = Some(id);
    }

    /// What the notice means that has taken the request back, if one has.
    pub(crate) fn taken_back(&self) -> Option<Meaning> {
        lock(&self.record.state).taken_back
    }

    /// Waits until a notice takes the request back; at once when one has.
    pub(crate) async fn cancelled(&self) -> Meaning {
        loop {
            let notice = self.record.notice.notified();
            if let Some(meaning) = self.taken_back() {
                return meaning;
            }
            notice.await;
        }
    }
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        let Some((requests, key)) = self.place.take() else { return };
        let mut open = lock(&requests.0);
        if let Some(records) = open.get_mut(&key) {
            records.retain(|record| !Arc::ptr_eq(record, &self.record));
            if records.is_empty() {
                open.remove(&key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Waker};

    fn key(session: &str, id: u64) -> Key {
        Key { session: session.parse().unwrap(), id: Id::Number(id.into()) }
    }

    fn is_cancelled(guard: &RequestGuard) -> bool {
        pin!(guard.cancelled()).poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    #[test]
    fn a_notice_stops_the_one_request_it_fits() {
        let requests = OpenRequests::default();
        let (ours, theirs) = (requests.open(key("a", 7)), requests.open(key("b", 7)));
        ours.stands_for(EntryId(12));
        assert_eq!(requests.take_back(&key("a", 7), Meaning::Stop), Noticed::TakenBack(Some(EntryId(12))));
        assert!(is_cancelled(&ours) && !is_cancelled(&theirs));
        assert_eq!(requests.take_back(&key("a", 8), Meaning::Stop), Noticed::Nothing);
        let text = Key { id: Id::Text("7".into()), ..key("b", 7) };
        assert_eq!(requests.take_back(&text, Meaning::Stop), Noticed::Nothing);
    }

    #[test]
    fn a_notice_that_fits_two_means_neither_until_one_has_ended() {
        let requests = OpenRequests::default();
        let (first, second) = (requests.open(key("a", 7)), requests.open(key("a", 7)));
        assert_eq!(requests.take_back(&key("a", 7), Meaning::Stop), Noticed::Ambiguous);
        assert!(!is_cancelled(&first) && !is_cancelled(&second));
        drop(first);
        assert_eq!(requests.take_back(&key("a", 7), Meaning::Stop), Noticed::TakenBack(None));
        assert!(is_cancelled(&second));
    }

    #[test]
    fn work_that_may_go_on_can_still_be_stopped_and_not_the_other_way() {
        let requests = OpenRequests::default();
        let guard = requests.open(key("a", 7));
        assert_eq!(guard.taken_back(), None);
        for (notice, meaning) in
            [(Meaning::GoOn, Meaning::GoOn), (Meaning::Stop, Meaning::Stop), (Meaning::GoOn, Meaning::Stop)]
        {
            requests.take_back(&key("a", 7), notice);
            assert_eq!(guard.taken_back(), Some(meaning));
        }
    }

    #[test]
    fn a_dropped_guard_leaves_nothing_behind() {
        let requests = OpenRequests::default();
        drop(requests.open(key("a", 7)));
        assert_eq!(requests.take_back(&key("a", 7), Meaning::Stop), Noticed::Nothing);
        assert_eq!(requests.open_count(), 0);
    }

    #[tokio::test]
    async fn a_waiting_request_hears_the_notice() {
        let requests = OpenRequests::default();
        let guard = requests.open(key("a", 7));
        let waiting = tokio::spawn(async move { guard.cancelled().await });
        tokio::task::yield_now().await;
        assert_eq!(requests.take_back(&key("a", 7), Meaning::Stop), Noticed::TakenBack(None));
        waiting.await.unwrap();
    }
}
