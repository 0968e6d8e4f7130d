//! Connections that carry many calls, and nonsense, and slowness.

use super::*;

#[tokio::test]
async fn one_connection_carries_many_calls_good_and_bad() {
    let fixture = Fixture::new().await;
    let mut client = fixture.client().await;
    for n in 0..50 {
        client.post(&format!("call {n}")).await;
        assert_eq!(client.response().await.1, format!("call {n}"));
        client.send("POST /nope HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}").await;
        assert_eq!(client.status().await, 404);
    }
}

#[tokio::test]
async fn nonsense_is_refused_and_ends_only_its_own_connection() {
    let fixture = Fixture::new().await;
    let many = "X-Many: y\r\n".repeat(10_000);
    let big = format!("X-Big: {}\r\n", "x".repeat(1 << 20));
    for text in [
        "hello\r\n\r\n".to_owned(),
        "POST /mcp HTTP/9.9\r\n\r\n".to_owned(),
        "\x16\x03\x01\x02\0\x01\0\r\n".to_owned(),
        format!("GET /probe HTTP/1.1\r\nHost: localhost\r\n{many}\r\n"),
        format!("GET /probe HTTP/1.1\r\nHost: localhost\r\n{big}\r\n"),
    ] {
        let mut client = fixture.client().await;
        // The server may close while the text is under way.
        drop(client.0.write_all(text.as_bytes()).await);
        client.closed().await;
    }
    let mut client = fixture.client().await;
    client.post("panic").await;
    client.closed().await;
    let mut client = fixture.client().await;
    client.post("hello").await;
    assert_eq!(client.status().await, 200);
}

#[tokio::test]
async fn slow_clients_keep_nobody_waiting_and_are_dropped_in_time() {
    let fixture = Fixture::new().await;
    let mut slow = Vec::new();
    for n in 0..60 {
        let mut client = fixture.client().await;
        let rest = if n % 2 == 0 { "X-Slow:" } else { "Content-Length: 9\r\n\r\n{" };
        client.send(format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\n{rest}")).await;
        slow.push(client);
    }
    let mut client = fixture.client().await;
    client.post("hello").await;
    assert_eq!(client.status().await, 200);
    let mut body = slow.pop().unwrap();
    let mut head = slow.pop().unwrap();
    let (seconds, status) = Fixture::seconds_until(&fixture.clock, body.status()).await;
    assert_eq!(status, 408);
    assert!((30..45).contains(&seconds), "a body may pause for 30 seconds, this one had {seconds}");
    let (more, ()) = Fixture::seconds_until(&fixture.clock, head.closed()).await;
    assert!((120..140).contains(&(seconds + more)), "a head may take 120 seconds, this one had {}", seconds + more);
}
