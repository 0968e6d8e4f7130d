//! An exchange: the calls of one POST on their way to an answer, first as one JSON body to be, then, when that takes long or
//! there is something to say before, as a stream of events. Knows calls as futures and no host.

use super::wire::{self, Object};
use super::{Body, Frame, Reply};
use crate::base::{Clock, Time};
use crate::host::{Delivery, wait};
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, StatusCode};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::mpsc;

/// The answer to one request: its message, and what is marked once it was written.
#[derive(Debug)]
pub(super) struct Response {
    /// The status of a reply that is this response alone.
    pub(super) status: StatusCode,
    /// The JSON-RPC message.
    pub(super) message: Value,
    /// What it delivers.
    pub(super) delivery: Delivery,
}

/// A request at work; `None` when it was taken back and gets no response.
pub(super) type Pending = Pin<Box<dyn Future<Output = Option<Response>> + Send>>;

/// What an open stream can say about a call that is still at work.
#[derive(Default)]
pub(super) struct Pulse {
    /// The request's progress token, as sent.
    pub(super) token: Option<Value>,
    /// The latest line of output.
    pub(super) latest_line: Option<Box<dyn Fn() -> Option<String> + Send>>,
    /// What a sign of life that was written is worth to the call's session.
    pub(super) heard: Option<Box<dyn Fn() -> Delivery + Send>>,
}

/// One request and its way to an answer. Dropping it says that nobody waits for the answer any more.
pub(super) struct Call {
    /// The work. `None` once it has ended.
    pending: Option<Pending>,
    /// The response, when it has ended with one.
    response: Option<Response>,
    pulse: Pulse,
    progress: u64,
}

impl Call {
    /// A call whose answer takes time.
    pub(super) fn new(pulse: Pulse, pending: Pending) -> Self {
        Self { pending: Some(pending), response: None, pulse, progress: 0 }
    }

    /// A call that is answered already.
    pub(super) fn answered(response: Response) -> Self {
        Self { pending: None, response: Some(response), pulse: Pulse::default(), progress: 0 }
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
    fn progress(&mut self, seconds: u64) -> Option<Value> {
        let token = self.pulse.token.clone()?;
        // Seconds so far; but strictly growing, whatever the pace.
        self.progress = seconds.max(self.progress + 1);
        let mut params = json!({"progressToken": token, "progress": self.progress});
        if let Some(line) = self.pulse.latest_line.as_ref().and_then(|latest| latest()) {
            params["message"] = Value::String(line);
        }
        Some(wire::notification("notifications/progress", Some(params)))
    }
}

/// Where a call may say something before its answer. The first word commits the exchange to a stream.
#[derive(Clone, Debug)]
pub(super) struct Notes(mpsc::UnboundedSender<Value>);

impl Notes {
    /// Sends a notification. After the end of the exchange it goes nowhere.
    pub(super) fn say(&self, method: &str, params: Option<Object>) {
        // An error means that the stream has ended, which is not the speaker's concern.
        drop(self.0.send(wire::notification(method, params.map(Value::Object))));
    }
}

/// The pace of an exchange.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// How long it stays uncommitted; `None` when the client takes no stream.
    pub(super) stream_after: Option<Duration>,
    /// The pause between signs of life on the stream.
    pub(super) heartbeat: Duration,
}

/// An open event stream: the rest of an exchange.
pub struct Events {
    calls: Vec<Call>,
    batch: bool,
    notes: mpsc::UnboundedReceiver<Value>,
    /// Said and not yet sent.
    said: VecDeque<Value>,
    clock: Clock,
    started: Time,
    next_beat: Time,
    pace: Pace,
}

/// Where notes go while the calls of an exchange are being set up.
pub(super) fn notes() -> (Notes, mpsc::UnboundedReceiver<Value>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    (Notes(sender), receiver)
}

impl Events {
    /// An exchange about to begin. A `batch` is answered with an array.
    pub(super) fn new(
        calls: Vec<Call>,
        batch: bool,
        notes: mpsc::UnboundedReceiver<Value>,
        clock: Clock,
        pace: Pace,
    ) -> Self {
        let started = clock.now();
        let next_beat = started + pace.stream_after.unwrap_or_default();
        Self { calls, batch, notes, said: VecDeque::new(), clock, started, next_beat, pace }
    }

    /// Waits for all answers and gives them as one JSON body, or commits to a stream.
    pub(super) async fn reply(mut self) -> Reply {
        let streams = self.pace.stream_after.is_some();
        let calls = &mut self.calls;
        tokio::select! {
            biased;
            () = poll_fn(|cx| all_ended(calls, cx)) => {
                // What was said on the way must not be lost, and comes before the answer.
                self.hear();
                if !streams || self.said.is_empty() {
                    return self.into_json();
                }
            }
            Some(note) = self.notes.recv(), if streams => self.said.push_back(note),
            () = wait::until(&self.clock, self.next_beat), if streams => {}
        }
        self.commit()
    }

    fn commit(self) -> Reply {
        let headers = vec![
            (CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
            (CACHE_CONTROL, HeaderValue::from_static("no-cache")),
            (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
        ];
        Reply { status: StatusCode::OK, headers, body: Body::Events(self) }
    }

    fn into_json(self) -> Reply {
        let mut responses: Vec<_> = self.calls.into_iter().filter_map(|call| call.response).collect();
        if self.batch && !responses.is_empty() {
            let mut delivery = Delivery::none();
            let mut messages = Vec::with_capacity(responses.len());
            for response in responses {
                delivery = delivery.and(response.delivery);
                messages.push(response.message);
            }
            return Reply::json(StatusCode::OK, &Value::Array(messages), delivery);
        }
        match responses.pop() {
            Some(response) => Reply::json(response.status, &response.message, response.delivery),
            None => Reply::empty(StatusCode::ACCEPTED),
        }
    }

    /// The next frame, when there is something to say; `None` at the end of the stream. May be dropped and asked again.
    /// Dropping the whole stream says that the client is gone.
    pub async fn next(&mut self) -> Option<Frame> {
        loop {
            self.hear();
            if let Some(note) = self.said.pop_front() {
                return Some(Frame { bytes: event(&note), delivery: Delivery::none() });
            }
            if let Some(response) = self.calls.iter_mut().find_map(|call| call.response.take()) {
                return Some(Frame { bytes: event(&response.message), delivery: response.delivery });
            }
            self.calls.retain(|call| call.pending.is_some());
            if self.calls.is_empty() {
                return None;
            }
            let calls = &mut self.calls;
            tokio::select! {
                biased;
                () = poll_fn(|cx| some_ended(calls, cx)) => {}
                Some(note) = self.notes.recv() => self.said.push_back(note),
                () = wait::until(&self.clock, self.next_beat) => return Some(self.beat()),
            }
        }
    }

    /// Takes in what was said.
    fn hear(&mut self) {
        while let Ok(note) = self.notes.try_recv() {
            self.said.push_back(note);
        }
    }

    /// A sign of life: progress for every call that asked for it, else a comment.
    fn beat(&mut self) -> Frame {
        let now = self.clock.now();
        self.next_beat = now + self.pace.heartbeat;
        let seconds = now.since(self.started).as_secs();
        let mut bytes = Vec::new();
        let mut delivery = Delivery::none();
        for call in &mut self.calls {
            if let Some(progress) = call.progress(seconds) {
                bytes.extend_from_slice(&event(&progress));
            }
            if let Some(heard) = &call.pulse.heard {
                delivery = delivery.and(heard());
            }
        }
        if bytes.is_empty() {
            bytes.extend_from_slice(b":\n\n");
        }
        Frame { bytes: bytes.into(), delivery }
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events")
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

/// One event. JSON text has no line breaks, so it is one line of data.
fn event(message: &Value) -> Bytes {
    Bytes::from(format!("event: message\ndata: {message}\n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tokio::sync::oneshot;

    const PACE: Pace = Pace { stream_after: Some(Duration::from_secs(1)), heartbeat: Duration::from_secs(5) };

    fn response(text: &str) -> Response {
        Response { status: StatusCode::OK, message: json!(text), delivery: Delivery::none() }
    }

    /// A call that ends when it is told to.
    fn call(pulse: Pulse) -> (oneshot::Sender<Option<Response>>, Call) {
        let (end, ended) = oneshot::channel();
        (end, Call::new(pulse, Box::pin(async move { ended.await.unwrap_or_default() })))
    }

    fn exchange(calls: Vec<Call>, batch: bool, clock: &Clock, pace: Pace) -> (Notes, Events) {
        let (say, heard) = notes();
        (say, Events::new(calls, batch, heard, clock.clone(), pace))
    }

    fn body(reply: Reply) -> String {
        match reply.body {
            Body::Json(bytes, delivery) => {
                delivery.written();
                String::from_utf8(bytes.to_vec()).unwrap()
            }
            other => panic!("{other:?}"),
        }
    }

    fn events(reply: Reply) -> Events {
        match reply.body {
            Body::Events(events) => events,
            other => panic!("{other:?}"),
        }
    }

    fn text(frame: Option<Frame>) -> String {
        frame.map(|frame| String::from_utf8(frame.bytes.to_vec()).unwrap()).unwrap_or_default()
    }

    async fn settle() {
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_quick_answer_is_one_json_body() {
        let clock = Clock::manual();
        let (end, quick) = call(Pulse::default());
        let (_say, exchange) = exchange(vec![quick], false, &clock, PACE);
        end.send(Some(response("42"))).unwrap();
        assert_eq!(body(exchange.reply().await), "\"42\"");
    }

    #[tokio::test]
    async fn a_long_call_becomes_a_stream_with_progress_and_its_answer_last() {
        let clock = Clock::manual();
        let heard = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&heard);
        let pulse = Pulse {
            token: Some(json!(0)),
            latest_line: Some(Box::new(|| Some("tick".into()))),
            heard: Some(Box::new(move || {
                let counter = Arc::clone(&counter);
                Delivery::then(move || {
                    counter.fetch_add(1, Ordering::SeqCst);
                })
            })),
        };
        let (end, long) = call(pulse);
        let (_say, exchange) = exchange(vec![long], false, &clock, PACE);
        let reply = tokio::spawn(exchange.reply());
        settle().await;
        assert!(!reply.is_finished());
        clock.advance(Duration::from_secs(1));
        let mut events = events(reply.await.unwrap());
        let mut steps = Vec::new();
        for _ in 0..3 {
            let frame = events.next().await.unwrap();
            let shown = String::from_utf8(frame.bytes.to_vec()).unwrap();
            frame.delivery.written();
            let data: Value =
                serde_json::from_str(shown.lines().nth(1).unwrap().strip_prefix("data: ").unwrap()).unwrap();
            assert_eq!(data["params"]["progressToken"], json!(0));
            assert_eq!(data["params"]["message"], json!("tick"));
            steps.push(data["params"]["progress"].as_u64().unwrap());
            clock.advance(PACE.heartbeat);
        }
        assert_eq!(steps, [1, 6, 11]);
        assert_eq!(heard.load(Ordering::SeqCst), 3);
        end.send(Some(response("done"))).unwrap();
        assert_eq!(text(events.next().await), "event: message\ndata: \"done\"\n\n");
        assert_eq!(text(events.next().await), "");
    }

    #[tokio::test]
    async fn progress_grows_even_when_the_clock_stands() {
        let clock = Clock::manual();
        let (_end, long) = call(Pulse { token: Some(json!("t")), ..Pulse::default() });
        let pace = Pace { stream_after: Some(Duration::ZERO), heartbeat: Duration::ZERO };
        let (_say, exchange) = exchange(vec![long], false, &clock, pace);
        let mut events = events(exchange.reply().await);
        for step in 1..4 {
            assert!(text(events.next().await).contains(&format!("\"progress\":{step}}}")));
        }
    }

    #[tokio::test]
    async fn without_a_token_the_stream_shows_life_by_comments() {
        let clock = Clock::manual();
        let (_end, long) = call(Pulse::default());
        let (_say, exchange) = exchange(vec![long], false, &clock, PACE);
        let reply = tokio::spawn(exchange.reply());
        settle().await;
        clock.advance(Duration::from_secs(1));
        let mut events = events(reply.await.unwrap());
        assert_eq!(text(events.next().await), ":\n\n");
        // Asking, giving up and asking again loses nothing and repeats nothing.
        for _ in 0..3 {
            tokio::select! { biased; _ = events.next() => panic!("too early"), () = tokio::task::yield_now() => {} }
        }
        clock.advance(PACE.heartbeat);
        assert_eq!(text(events.next().await), ":\n\n");
    }

    #[tokio::test]
    async fn a_client_that_takes_no_stream_waits_for_json() {
        let clock = Clock::manual();
        let (end, long) = call(Pulse::default());
        let (say, exchange) = exchange(vec![long], false, &clock, Pace { stream_after: None, ..PACE });
        say.say("notifications/tools/list_changed", None);
        let reply = tokio::spawn(exchange.reply());
        settle().await;
        clock.advance(Duration::from_secs(60));
        settle().await;
        assert!(!reply.is_finished());
        end.send(Some(response("late"))).unwrap();
        assert_eq!(body(reply.await.unwrap()), "\"late\"");
    }

    #[tokio::test]
    async fn a_note_commits_to_a_stream_and_comes_before_the_answer() {
        let clock = Clock::manual();
        let (say, exchange) = exchange(vec![Call::answered(response("42"))], false, &clock, PACE);
        say.say("notifications/tools/list_changed", None);
        let mut events = events(exchange.reply().await);
        assert!(text(events.next().await).contains("list_changed"));
        assert!(text(events.next().await).contains("42"));
        assert!(events.next().await.is_none());
    }

    #[tokio::test]
    async fn a_call_taken_back_is_accepted_without_a_body_or_ends_its_stream() {
        let clock = Clock::manual();
        let (end, early) = call(Pulse::default());
        let (_say, early) = exchange(vec![early], false, &clock, PACE);
        end.send(None).unwrap();
        let reply = early.reply().await;
        assert_eq!(reply.status, StatusCode::ACCEPTED);
        assert!(matches!(reply.body, Body::Empty));

        let (end, late) = call(Pulse::default());
        let (_say, late) = exchange(vec![late], false, &clock, Pace { stream_after: Some(Duration::ZERO), ..PACE });
        let mut events = events(late.reply().await);
        assert_eq!(text(events.next().await), ":\n\n");
        end.send(None).unwrap();
        assert!(events.next().await.is_none());
    }

    #[tokio::test]
    async fn a_batch_is_answered_in_order_without_those_taken_back() {
        let clock = Clock::manual();
        let (first, a) = call(Pulse::default());
        let (second, b) = call(Pulse::default());
        let (_say, exchange) = exchange(vec![a, b, Call::answered(response("c"))], true, &clock, PACE);
        second.send(None).unwrap();
        let reply = tokio::spawn(exchange.reply());
        settle().await;
        first.send(Some(response("a"))).unwrap();
        assert_eq!(body(reply.await.unwrap()), r#"["a","c"]"#);
    }

    #[tokio::test]
    async fn dropping_the_stream_drops_the_calls() {
        struct Gone(Arc<AtomicUsize>);
        impl Drop for Gone {
            fn drop(&mut self) {
                self.0.fetch_add(1, Ordering::SeqCst);
            }
        }
        let clock = Clock::manual();
        let drops = Arc::new(AtomicUsize::new(0));
        let guard = Gone(Arc::clone(&drops));
        let long = Call::new(
            Pulse::default(),
            Box::pin(async move {
                let _guard = guard;
                std::future::pending().await
            }),
        );
        let (_say, exchange) = exchange(vec![long], false, &clock, Pace { stream_after: Some(Duration::ZERO), ..PACE });
        let events = events(exchange.reply().await);
        assert_eq!(drops.load(Ordering::SeqCst), 0);
        drop(events);
        assert_eq!(drops.load(Ordering::SeqCst), 1);
    }
}
