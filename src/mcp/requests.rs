//! The open requests of header sessions, so that `notifications/cancelled` finds the one it means. Knows no host: it hands
//! back what a notice stopped, and the caller acts.
//!
//! A record is on the books from before its request is dispatched until its answer was written (or given up), and is found by
//! header session and request id. Clients reuse ids, and several may share one session: a notice that fits two open requests
//! means neither.

use super::wire::Id;
use crate::base::{EntryId, HeaderKey, lock};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;

/// What a request is found by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    /// The header session it came in.
    pub(super) session: HeaderKey,
    /// Its id, as sent.
    pub(super) id: Id,
}

/// The books.
#[derive(Clone, Default)]
pub(super) struct Requests(Arc<Mutex<HashMap<Key, Vec<Arc<Record>>>>>);

/// One open request.
#[derive(Default)]
struct Record {
    state: Mutex<State>,
    notice: Notify,
}

#[derive(Default)]
struct State {
    cancelled: bool,
    work: Option<EntryId>,
}

/// What came of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Noticed {
    /// No open request has this id.
    Nothing,
    /// Several have it, so none was stopped.
    Ambiguous,
    /// The request will not be answered; the entry it stood for, if any, is to be cancelled.
    Cancelled(Option<EntryId>),
}

impl Requests {
    /// Puts a request on the books. It stays there until the ticket is dropped.
    pub(super) fn open(&self, key: Key) -> Ticket {
        let record = Arc::new(Record::default());
        lock(&self.0).entry(key.clone()).or_default().push(Arc::clone(&record));
        Ticket { place: Some((self.clone(), key)), record }
    }

    /// A client takes the request back.
    pub(super) fn cancel(&self, key: &Key) -> Noticed {
        let record = match lock(&self.0).get(key).map(Vec::as_slice) {
            None | Some([]) => return Noticed::Nothing,
            Some([record]) => Arc::clone(record),
            Some(_) => return Noticed::Ambiguous,
        };
        let work = {
            let mut state = lock(&record.state);
            state.cancelled = true;
            state.work
        };
        record.notice.notify_waiters();
        Noticed::Cancelled(work)
    }

    /// How many requests are open.
    #[cfg(test)]
    pub(super) fn open_count(&self) -> usize {
        lock(&self.0).values().map(Vec::len).sum()
    }
}

impl fmt::Debug for Requests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Requests").field(&lock(&self.0).len()).finish()
    }
}

/// A request's place on the books, held until its answer was written or given up.
pub(super) struct Ticket {
    place: Option<(Requests, Key)>,
    record: Arc<Record>,
}

impl Ticket {
    /// For requests that no notice can reach: those of the modern wire.
    pub(super) fn unlisted() -> Self {
        Self { place: None, record: Arc::default() }
    }

    /// The request stands for this entry from now on: a notice stops it too.
    pub(super) fn stands_for(&self, id: EntryId) {
        lock(&self.record.state).work = Some(id);
    }

    /// Whether a notice has taken the request back.
    pub(super) fn is_cancelled(&self) -> bool {
        lock(&self.record.state).cancelled
    }

    /// Waits until a notice takes the request back; at once when one has.
    pub(super) async fn cancelled(&self) {
        loop {
            let notice = self.record.notice.notified();
            if self.is_cancelled() {
                return;
            }
            notice.await;
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let Some((requests, key)) = self.place.take() else { return };
        let mut books = lock(&requests.0);
        if let Some(records) = books.get_mut(&key) {
            records.retain(|record| !Arc::ptr_eq(record, &self.record));
            if records.is_empty() {
                books.remove(&key);
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

    fn is_cancelled(ticket: &Ticket) -> bool {
        pin!(ticket.cancelled()).poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    #[test]
    fn a_notice_stops_the_one_request_it_fits() {
        let requests = Requests::default();
        let (ours, theirs) = (requests.open(key("a", 7)), requests.open(key("b", 7)));
        ours.stands_for(EntryId(12));
        assert_eq!(requests.cancel(&key("a", 7)), Noticed::Cancelled(Some(EntryId(12))));
        assert!(is_cancelled(&ours) && !is_cancelled(&theirs));
        assert_eq!(requests.cancel(&key("a", 8)), Noticed::Nothing);
        let text = Key { id: Id::Text("7".into()), ..key("b", 7) };
        assert_eq!(requests.cancel(&text), Noticed::Nothing);
    }

    #[test]
    fn a_notice_that_fits_two_means_neither_until_one_has_ended() {
        let requests = Requests::default();
        let (first, second) = (requests.open(key("a", 7)), requests.open(key("a", 7)));
        assert_eq!(requests.cancel(&key("a", 7)), Noticed::Ambiguous);
        assert!(!is_cancelled(&first) && !is_cancelled(&second));
        drop(first);
        assert_eq!(requests.cancel(&key("a", 7)), Noticed::Cancelled(None));
        assert!(is_cancelled(&second));
    }

    #[test]
    fn a_dropped_ticket_leaves_nothing_behind() {
        let requests = Requests::default();
        drop(requests.open(key("a", 7)));
        assert_eq!(requests.cancel(&key("a", 7)), Noticed::Nothing);
        assert_eq!(requests.open_count(), 0);
    }

    #[tokio::test]
    async fn a_waiting_request_hears_the_notice() {
        let requests = Requests::default();
        let ticket = requests.open(key("a", 7));
        let waiting = tokio::spawn(async move { ticket.cancelled().await });
        tokio::task::yield_now().await;
        assert_eq!(requests.cancel(&key("a", 7)), Noticed::Cancelled(None));
        waiting.await.unwrap();
    }
}
