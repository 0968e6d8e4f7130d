//! The fate of replies and streams whose clients read, stall, or go away.

use super::*;

#[tokio::test]
async fn a_reply_that_was_taken_is_written_once() {
    let mut fixture = Fixture::new().await;
    let mut client = fixture.client().await;
    client.post("hello").await;
    let (head, body) = client.response().await;
    assert_eq!((status(&head), body.as_str()), (200, "hello"));
    fixture.expect("handled hello").await;
    fixture.expect("written echo").await;
    drop(client);
    fixture.server.shutdown().await;
    drop(fixture.fake);
    assert_eq!(fixture.log.recv().await, None, "nothing else happened");
}

#[tokio::test]
async fn a_huge_reply_that_is_read_is_written_only_at_its_end() {
    let mut fixture = Fixture::new().await;
    let mut client = fixture.client().await;
    client.post("huge").await;
    fixture.expect("handled huge").await;
    let head = client.until("\r\n\r\n").await;
    assert_eq!(status(&head), 200);
    assert!(fixture.log.try_recv().is_err(), "most of it is still to come");
    let mut body = vec![0; HUGE];
    timeout(BOUND, client.0.read_exact(&mut body)).await.unwrap().unwrap();
    fixture.expect("written huge").await;
}

#[tokio::test]
async fn a_reply_that_nobody_reads_is_given_back_when_the_write_stalls() {
    let mut fixture = Fixture::new().await;
    let mut client = fixture.client().await;
    client.post("huge").await;
    fixture.expect("handled huge").await;
    let (seconds, line) = Fixture::seconds_until(&fixture.clock, fixture.log.recv()).await;
    assert_eq!(line.unwrap(), "lost huge");
    assert!((30..40).contains(&seconds), "{seconds}");
    client.closed().await;
}

#[tokio::test]
async fn a_reply_cut_off_by_a_reset_is_given_back() {
    let mut fixture = Fixture::new().await;
    let mut client = fixture.client().await;
    client.post("huge").await;
    fixture.expect("handled huge").await;
    client.until("\r\n\r\n").await;
    client.reset();
    fixture.expect("lost huge").await;
}

#[tokio::test]
async fn a_half_closed_client_that_stops_reading_counts_as_gone() {
    let mut fixture = Fixture::new().await;
    let mut client = fixture.client().await;
    client.post("huge").await;
    fixture.expect("handled huge").await;
    client.0.shutdown().await.unwrap();
    fixture.expect("lost huge").await;
}

#[tokio::test]
async fn a_request_whose_client_goes_away_is_dropped() {
    let mut fixture = Fixture::new().await;
    for how in ["reset", "close", "half-close"] {
        let mut client = fixture.client().await;
        client.post("wait").await;
        fixture.expect("handled wait").await;
        let mut kept = None;
        match how {
            "reset" => client.reset(),
            "close" => drop(client),
            _ => {
                client.0.shutdown().await.unwrap();
                kept = Some(client);
            }
        }
        fixture.expect("dropped wait").await;
        drop(kept);
    }
}

/// Bytes that a client may have sent beyond its request.
const BEYOND: [&str; 2] = ["\r\n", "GET /probe HTTP/1.1\r\nHost: localhost\r\n\r\n"];

#[tokio::test]
async fn bytes_beyond_a_request_hide_no_hang_up() {
    let mut fixture = Fixture::new().await;
    for (beyond, whole) in BEYOND.into_iter().flat_map(|beyond| [(beyond, true), (beyond, false)]) {
        for body in ["wait", "events"] {
            let mut client = fixture.client().await;
            let head = format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}", body.len());
            client.send(format!("{head}\r\n\r\n{body}{beyond}")).await;
            fixture.expect(&format!("handled {body}")).await;
            let kept = if whole {
                drop(client);
                None
            } else {
                client.0.shutdown().await.unwrap();
                Some(client)
            };
            let (seconds, line) = Fixture::seconds_until(&fixture.clock, fixture.log.recv()).await;
            assert_eq!(line.unwrap(), format!("dropped {body}"));
            assert!(seconds < 10, "{seconds}");
            drop(kept);
        }
    }
}

#[tokio::test]
async fn what_is_written_to_a_client_that_has_hung_up_is_given_back() {
    let mut fixture = Fixture::new().await;
    for beyond in BEYOND {
        let mut client = fixture.client().await;
        client.send(format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nwait{beyond}")).await;
        fixture.expect("handled wait").await;
        client.0.shutdown().await.unwrap();
        // The clock stands still, so the connection is kept; the end of the client is known all the same.
        tokio::task::yield_now().await;
        fixture.open(1);
        let mut end = [fixture.next().await, fixture.next().await];
        end.sort();
        assert_eq!(end, ["dropped wait", "lost wait"]);
    }
}

#[tokio::test]
async fn requests_sent_before_the_answer_are_answered_in_turn() {
    let mut fixture = Fixture::new().await;
    let mut client = fixture.client().await;
    client.post("wait").await;
    client.post("hello").await;
    fixture.expect("handled wait").await;
    for _ in 0..5 {
        fixture.clock.advance(Duration::from_secs(1));
        tokio::task::yield_now().await;
    }
    fixture.open(1);
    assert_eq!(client.response().await.1, "opened");
    assert_eq!(client.response().await.1, "hello");
    for line in ["dropped wait", "written wait", "handled hello", "written echo"] {
        fixture.expect(line).await;
    }
}

#[tokio::test]
async fn frames_are_written_one_by_one() {
    let mut fixture = Fixture::new().await;
    let mut client = fixture.client().await;
    client.post("events").await;
    fixture.expect("handled events").await;
    let head = client.until("\r\n\r\n").await;
    assert!(has(&head, "transfer-encoding: chunked"), "the head comes before the first frame: {head}");
    for n in 1..=2 {
        fixture.open(1);
        let chunk = client.until("\n\n\r\n").await;
        assert!(chunk.contains(&format!("data: {n}\n\n")), "{chunk:?}");
        fixture.expect(&format!("written frame {n}")).await;
    }
    fixture.open(1);
    assert!(client.until("\r\n0\r\n\r\n").await.contains("data: 3\n\n"));
    let mut end = [fixture.next().await, fixture.next().await];
    end.sort();
    assert_eq!(end, ["dropped events", "written frame 3"]);
    client.post("again").await;
    assert_eq!(client.status().await, 200, "the connection lives on");
}

#[tokio::test]
async fn a_stream_whose_client_goes_away_is_dropped() {
    let mut fixture = Fixture::new().await;
    let mut client = fixture.client().await;
    client.post("events").await;
    fixture.expect("handled events").await;
    fixture.open(1);
    client.until("data: 1\n\n\r\n").await;
    fixture.expect("written frame 1").await;
    client.0.shutdown().await.unwrap();
    fixture.expect("dropped events").await;
}

#[tokio::test]
async fn a_frame_that_is_not_taken_is_given_back() {
    let mut fixture = Fixture::new().await;
    fixture.open(1);
    let mut client = fixture.client().await;
    client.post(&format!("events {HUGE}")).await;
    fixture.next().await;
    client.until("\r\n\r\n").await;
    client.reset();
    let mut end = [fixture.next().await, fixture.next().await];
    end.sort();
    assert_eq!(end, ["dropped events", "lost frame 1"]);
}
