//! Exchanges as replies: one JSON body when they are quick, an event stream when they last.

use super::dispatcher::finish;
use super::*;
use crate::base::Clock;
use crate::host::Delivery;
use crate::mcp::calls::exchange::{Call, Exchange, Progress, Timing};
use crate::mcp::calls::response::Response;
use crate::mcp::rpc::notifier::Notifier;
use crate::mcp::rpc::revision::Era;
use http::StatusCode;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::oneshot;

const TIMING: Timing = Timing { stream_after: Some(Duration::from_secs(1)), heartbeat: Duration::from_secs(5) };

fn response(text: &str) -> Response {
    Response { message: json!(text), fault: None, delivery: Delivery::none() }
}

/// A call that ends when it is told to.
fn call(progress: Progress) -> (oneshot::Sender<Option<Response>>, Call) {
    let (end, ended) = oneshot::channel();
    (end, Call::new(progress, Box::pin(async move { ended.await.unwrap_or_default() })))
}

fn exchange(calls: Vec<Call>, batch: bool, clock: &Clock, timing: Timing) -> (Notifier, (Exchange, bool)) {
    let (notifier, notifications) = Notifier::new();
    (notifier, (Exchange::new(calls, notifications, clock.clone(), timing), batch))
}

async fn reply((exchange, batch): (Exchange, bool)) -> Reply {
    finish(exchange, batch, Era::Legacy).await
}

fn body(reply: Reply) -> String {
    match reply.body {
        Body::Whole(bytes, delivery) => {
            delivery.written();
            String::from_utf8(bytes.to_vec()).unwrap()
        }
        other => panic!("{other:?}"),
    }
}

fn events(reply: Reply) -> Box<dyn Frames> {
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
    let (end, quick) = call(Progress::default());
    let (_say, exchange) = exchange(vec![quick], false, &clock, TIMING);
    end.send(Some(response("42"))).unwrap();
    assert_eq!(body(reply(exchange).await), "\"42\"");
}

#[tokio::test]
async fn a_long_call_becomes_a_stream_with_progress_and_its_answer_last() {
    let clock = Clock::manual();
    let heard = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&heard);
    let progress = Progress {
        token: Some(json!(0)),
        latest_line: Some(Box::new(|| Some("tick".into()))),
        heard: Some(Box::new(move || {
            let counter = Arc::clone(&counter);
            Delivery::then(move || {
                counter.fetch_add(1, Ordering::SeqCst);
            })
        })),
    };
    let (end, long) = call(progress);
    let (_say, exchange) = exchange(vec![long], false, &clock, TIMING);
    let answered = tokio::spawn(reply(exchange));
    settle().await;
    assert!(!answered.is_finished());
    clock.advance(Duration::from_secs(1));
    let mut events = events(answered.await.unwrap());
    let mut steps = Vec::new();
    for _ in 0..3 {
        let frame = events.next().await.unwrap();
        let shown = String::from_utf8(frame.bytes.to_vec()).unwrap();
        frame.delivery.written();
        let data: Value = serde_json::from_str(shown.lines().nth(1).unwrap().strip_prefix("data: ").unwrap()).unwrap();
        assert_eq!(data["params"]["progressToken"], json!(0));
        assert_eq!(data["params"]["message"], json!("tick"));
        steps.push(data["params"]["progress"].as_u64().unwrap());
        clock.advance(TIMING.heartbeat);
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
    let (_end, long) = call(Progress { token: Some(json!("t")), ..Progress::default() });
    let timing = Timing { stream_after: Some(Duration::ZERO), heartbeat: Duration::ZERO };
    let (_say, exchange) = exchange(vec![long], false, &clock, timing);
    let mut events = events(reply(exchange).await);
    for step in 1..4 {
        assert!(text(events.next().await).contains(&format!("\"progress\":{step}}}")));
    }
}

#[tokio::test]
async fn without_a_token_the_stream_shows_life_by_comments() {
    let clock = Clock::manual();
    let (_end, long) = call(Progress::default());
    let (_say, exchange) = exchange(vec![long], false, &clock, TIMING);
    let answered = tokio::spawn(reply(exchange));
    settle().await;
    clock.advance(Duration::from_secs(1));
    let mut events = events(answered.await.unwrap());
    assert_eq!(text(events.next().await), ":\n\n");
    // Asking, giving up and asking again loses nothing and repeats nothing.
    for _ in 0..3 {
        tokio::select! { biased; _ = events.next() => panic!("too early"), () = tokio::task::yield_now() => {} }
    }
    clock.advance(TIMING.heartbeat);
    assert_eq!(text(events.next().await), ":\n\n");
}

#[tokio::test]
async fn a_client_that_takes_no_stream_waits_for_json() {
    let clock = Clock::manual();
    let (end, long) = call(Progress::default());
    let (say, exchange) = exchange(vec![long], false, &clock, Timing { stream_after: None, ..TIMING });
    say.notify("notifications/tools/list_changed", None);
    let answered = tokio::spawn(reply(exchange));
    settle().await;
    clock.advance(Duration::from_secs(60));
    settle().await;
    assert!(!answered.is_finished());
    end.send(Some(response("late"))).unwrap();
    assert_eq!(body(answered.await.unwrap()), "\"late\"");
}

#[tokio::test]
async fn a_note_commits_to_a_stream_and_comes_before_the_answer() {
    let clock = Clock::manual();
    let (say, exchange) = exchange(vec![Call::answered(response("42"))], false, &clock, TIMING);
    say.notify("notifications/tools/list_changed", None);
    let mut events = events(reply(exchange).await);
    assert!(text(events.next().await).contains("list_changed"));
    assert!(text(events.next().await).contains("42"));
    assert!(events.next().await.is_none());
}

#[tokio::test]
async fn a_call_taken_back_is_accepted_without_a_body_or_ends_its_stream() {
    let clock = Clock::manual();
    let (end, early) = call(Progress::default());
    let (_say, early) = exchange(vec![early], false, &clock, TIMING);
    end.send(None).unwrap();
    let accepted = reply(early).await;
    assert_eq!(accepted.status, StatusCode::ACCEPTED);
    assert!(matches!(accepted.body, Body::Empty));

    let (end, late) = call(Progress::default());
    let (_say, late) = exchange(vec![late], false, &clock, Timing { stream_after: Some(Duration::ZERO), ..TIMING });
    let mut events = events(reply(late).await);
    assert_eq!(text(events.next().await), ":\n\n");
    end.send(None).unwrap();
    assert!(events.next().await.is_none());
}

#[tokio::test]
async fn a_batch_is_answered_in_order_without_those_taken_back() {
    let clock = Clock::manual();
    let (first, a) = call(Progress::default());
    let (second, b) = call(Progress::default());
    let (_say, exchange) = exchange(vec![a, b, Call::answered(response("c"))], true, &clock, TIMING);
    second.send(None).unwrap();
    let answered = tokio::spawn(reply(exchange));
    settle().await;
    first.send(Some(response("a"))).unwrap();
    assert_eq!(body(answered.await.unwrap()), r#"["a","c"]"#);
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
        Progress::default(),
        Box::pin(async move {
            let _guard = guard;
            std::future::pending().await
        }),
    );
    let (_say, exchange) = exchange(vec![long], false, &clock, Timing { stream_after: Some(Duration::ZERO), ..TIMING });
    let events = events(reply(exchange).await);
    assert_eq!(drops.load(Ordering::SeqCst), 0);
    drop(events);
    assert_eq!(drops.load(Ordering::SeqCst), 1);
}
