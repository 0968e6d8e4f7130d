//! An exchange: the calls of one POST on their way to their answers. Either all end soon, or the exchange goes on as messages
//! that come one by one, with signs of life between them. Knows calls as futures, no host and no transport.

use super::response::Response;
use crate::base::{Clock, Time};
use crate::host::{Delivery, wait};
use crate::mcp::rpc::message;
use crate::mcp::rpc::notifier::Notifications;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

/// A request at work; `None` when it was taken back and gets no response.
pub(crate) type Pending = Pin<Box<dyn Future<Output = Option<Response>> + Send>>;

/// The signs of life of a call that is still at work.
#[derive(Default)]
pub(crate) struct Progress {
    /// The request's progress token, as sent.
    pub(crate) token: Option<Value>,
    /// The latest line of output.
    pub(crate) latest_line: Option<Box<dyn Fn() -> Option<String> + Send>>,
    /// Makes the receipt by which the call's session counts as alive once a sign of life was written.
    pub(crate) heard: Option<Box<dyn Fn() -> Delivery + Send>>,
}

/// One request and its way to an answer. Dropping it says that nobody waits for the answer any more.
pub(crate) struct Call {
    /// The work. `None` once it has ended.
    pending: Option<Pending>,
    /// The response, when it has ended with one.
    response: Option<Response>,
    progress: Progress,
    /// The last number of progress that was told.
    steps: u64,
}

impl Call {
    /// A call whose answer takes time.
    pub(crate) fn new(progress: Progress, pending: Pending) -> Self {
        Self { pending: Some(pending), response: None, progress, steps: 0 }
    }

    /// A call that is answered already.
    pub(crate) fn answered(response: Response) -> Self {
        Self { pending: None, response: Some(response), progress: Progress::default(), steps: 0 }
    }

    /// Polls the work; true when it has ended.
    fn poll(&mut self, cx: &mut Context<'_>) -> bool {
        if let Some(pending) = &mut self.pending
            && let Poll::Ready(response) = pending.as_mut().poll(cx)
        {
            self.pending = None;
            self.response = response;
        }
        self.pending.is_none()
    }

    /// The progress notification that is due, when the request asked for any.
    fn notification(&mut self, seconds: u64) -> Option<Value> {
        let token = self.progress.token.clone()?;
        // Seconds so far; but strictly growing, however close they follow.
        self.steps = seconds.max(self.steps + 1);
        let mut params = json!({"progressToken": token, "progress": self.steps});
        if let Some(line) = self.progress.latest_line.as_ref().and_then(|latest| latest()) {
            params["message"] = Value::String(line);
        }
        Some(message::notification("notifications/progress", Some(params)))
    }
}

/// The timing of an exchange.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    /// How long it may take before it goes on as a stream of messages; `None` when the client takes no stream.
    pub(crate) stream_after: Option<Duration>,
    /// The pause between signs of life on the stream.
    pub(crate) heartbeat: Duration,
}

/// The calls of one POST, and what they say on the way.
pub(crate) struct Exchange {
    calls: Vec<Call>,
    notifications: Notifications,
    /// Received and not yet passed on.
    received: VecDeque<Value>,
    clock: Clock,
    started: Time,
    next_beat: Time,
    /// Runs until the next beat. Made when it is first waited for.
    beat: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    timing: Timing,
}

/// The state of an exchange after its first wait.
#[derive(Debug)]
pub(crate) enum First {
    /// All calls have ended, and nothing was said before: the responses, in order, without the requests that were taken back.
    Ended(Vec<Response>),
    /// It goes on as a stream of messages.
    Streaming(Exchange),
}

/// One step of a stream.
#[derive(Debug)]
pub(crate) enum Step {
    /// A message, and what is marked once it was written.
    Message(Value, Delivery),
    /// A sign of life: a progress notification for every call that asked for it, and what is marked once they were written.
    Beat(Vec<Value>, Delivery),
}

impl Exchange {
    /// An exchange about to begin.
    pub(crate) fn new(calls: Vec<Call>, notifications: Notifications, clock: Clock, timing: Timing) -> Self {
        let started = clock.now();
        let next_beat = started + timing.stream_after.unwrap_or_default();
        Self { calls, notifications, received: VecDeque::new(), clock, started, next_beat, beat: None, timing }
    }

    /// Waits for the end of all calls, or until the exchange has to go on as a stream: when it lasts, or when something is said
    /// before the answer.
    pub(crate) async fn first(mut self) -> First {
        let streams = self.timing.stream_after.is_some();
        let calls = &mut self.calls;
        tokio::select! {
            biased;
            () = poll_fn(|cx| all_ended(calls, cx)) => {
                // What was said on the way must not be lost, and comes before the answer.
                self.receive();
                if !streams || self.received.is_empty() {
                    return First::Ended(self.calls.into_iter().filter_map(|call| call.response).collect());
                }
            }
            Some(notification) = self.notifications.recv(), if streams => self.received.push_back(notification),
            () = wait::until(&self.clock, self.next_beat), if streams => {}
        }
        First::Streaming(self)
    }

    /// The next step, when there is one; `None` at the end of the stream. Dropping the exchange says that the client is gone.
    pub(crate) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Step>> {
        loop {
            self.receive();
            if let Some(notification) = self.received.pop_front() {
                return Poll::Ready(Some(Step::Message(notification, Delivery::none())));
            }
            if let Some(response) = self.calls.iter_mut().find_map(|call| call.response.take()) {
                return Poll::Ready(Some(Step::Message(response.message, response.delivery)));
            }
            self.calls.retain(|call| call.pending.is_some());
            if self.calls.is_empty() {
                return Poll::Ready(None);
            }
            if some_ended(&mut self.calls, cx).is_ready() {
                continue;
            }
            if let Poll::Ready(Some(notification)) = self.notifications.poll_recv(cx) {
                self.received.push_back(notification);
                continue;
            }
            ready!(self.poll_beat(cx));
            return Poll::Ready(Some(self.beat()));
        }
    }

    /// Takes in what was said.
    fn receive(&mut self) {
        while let Ok(notification) = self.notifications.try_recv() {
            self.received.push_back(notification);
        }
    }

    fn poll_beat(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let beat = self.beat.get_or_insert_with(|| {
            let (clock, at) = (self.clock.clone(), self.next_beat);
            Box::pin(async move { wait::until(&clock, at).await })
        });
        ready!(beat.as_mut().poll(cx));
        self.beat = None;
        Poll::Ready(())
    }

    /// A sign of life, which is due.
    fn beat(&mut self) -> Step {
        let now = self.clock.now();
        self.next_beat = now + self.timing.heartbeat;
        let seconds = now.since(self.started).as_secs();
        let mut progress = Vec::new();
        let mut delivery = Delivery::none();
        for call in &mut self.calls {
            progress.extend(call.notification(seconds));
            if let Some(heard) = &call.progress.heard {
                delivery = delivery.and(heard());
            }
        }
        Step::Beat(progress, delivery)
    }
}

impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exchange")
            .field("calls", &self.calls.len())
            .field("started", &self.started)
            .finish_non_exhaustive()
    }
}

// Every call is polled, whatever the others say: each must know whom to wake.

fn all_ended(calls: &mut [Call], cx: &mut Context<'_>) -> Poll<()> {
    let at_work = calls.iter_mut().filter_map(|call| (!call.poll(cx)).then_some(())).count();
    if at_work == 0 { Poll::Ready(()) } else { Poll::Pending }
}

fn some_ended(calls: &mut [Call], cx: &mut Context<'_>) -> Poll<()> {
    let ended = calls.iter_mut().filter_map(|call| call.poll(cx).then_some(())).count();
    if ended > 0 { Poll::Ready(()) } else { Poll::Pending }
}
