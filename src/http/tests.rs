//! Real sockets on 127.0.0.1, a service that does what it is told, a clock moved by hand.

use super::server::start;
use super::*;
use crate::host::{Delivery, Host, Receipt, Serving};
use crate::mcp::{Frame, Incoming};
use crate::words::{Clock, Limits};
use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::time::timeout;

/// No wait of a test takes longer.
const BOUND: Duration = Duration::from_secs(20);
/// More than the kernel buffers for a client that does not read.
const HUGE: usize = 48 << 20;

type Log = mpsc::UnboundedSender<String>;

/// Does what the body of a request says, and logs what becomes of it.
#[derive(Clone)]
struct Fake {
    log: Log,
    /// A permit lets one `wait` or one frame of `events` go.
    gate: Arc<Semaphore>,
    stopping: watch::Sender<bool>,
}

/// Logs `written x` or `lost x`.
struct Note {
    what: String,
    log: Log,
    written: bool,
}

impl Receipt for Note {
    fn written(mut self: Box<Self>) {
        self.written = true;
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        let verdict = if self.written { "written" } else { "lost" };
        let _gone = self.log.send(format!("{verdict} {}", self.what));
    }
}

/// Logs `dropped x`.
struct Presence(&'static str, Log);

impl Drop for Presence {
    fn drop(&mut self) {
        let _gone = self.1.send(format!("dropped {}", self.0));
    }
}

impl Fake {
    fn delivery(&self, what: impl Into<String>) -> Delivery {
        Delivery::of(Note { what: what.into(), log: self.log.clone(), written: false })
    }

    fn text(&self, text: impl Into<Bytes>, what: &str) -> Reply {
        let json = HeaderValue::from_static("application/json");
        let body = ReplyBody::Whole(text.into(), self.delivery(what));
        Reply { status: StatusCode::OK, headers: vec![(header::CONTENT_TYPE, json)], body }
    }

    async fn pass(&self) {
        self.gate.acquire().await.unwrap().forget();
    }
}

impl Service for Fake {
    async fn handle(&self, incoming: Incoming) -> Reply {
        let text = String::from_utf8_lossy(&incoming.body).into_owned();
        self.log.send(format!("handled {:.20}", text.trim())).unwrap();
        match text.split_once(' ').map_or((text.as_str(), ""), |(word, rest)| (word, rest)) {
            ("huge", _) => self.text(vec![b'x'; HUGE], "huge"),
            ("wait", _) => {
                let _presence = Presence("wait", self.log.clone());
                let mut stopping = self.stopping.subscribe();
                tokio::select! {
                    () = self.pass() => self.text("opened", "wait"),
                    _ = stopping.wait_for(|stopping| *stopping) => self.text("stopping", "wait"),
                }
            }
            ("stuck", _) => {
                let _presence = Presence("stuck", self.log.clone());
                std::future::pending().await
            }
            ("events", size) => {
                let size = size.parse().unwrap_or(0);
                let frames =
                    FakeFrames { fake: self.clone(), size, next: 1, _presence: Presence("events", self.log.clone()) };
                Reply { status: StatusCode::OK, headers: Vec::new(), body: ReplyBody::Events(Box::new(frames)) }
            }
            ("panic", _) => panic!("as told"),
            _ => self.text(incoming.body, "echo"),
        }
    }

    fn probe(&self) -> Bytes {
        Bytes::from_static(b"{\"server\":\"fake\"}")
    }

    fn shut_down(&self) {
        self.stopping.send_replace(true);
    }
}

/// Three frames of at least `size` bytes, each let go by the gate.
struct FakeFrames {
    fake: Fake,
    size: usize,
    next: usize,
    _presence: Presence,
}

impl Frames for FakeFrames {
    fn next(&mut self) -> Pin<Box<dyn Future<Output = Option<Frame>> + Send + '_>> {
        Box::pin(async {
            if self.next > 3 {
                return None;
            }
            self.fake.pass().await;
            let n = self.next;
            self.next += 1;
            Some(Frame {
                bytes: format!("data: {}{n}\n\n", " ".repeat(self.size)).into(),
                delivery: self.fake.delivery(format!("frame {n}")),
            })
        })
    }
}

/// A server on a free port and everything around it.
struct World {
    server: Server,
    fake: Fake,
    log: mpsc::UnboundedReceiver<String>,
    clock: Clock,
    serving: Serving,
}

impl World {
    async fn new() -> Self {
        Self::with(ServeOptions::default()).await
    }

    async fn with(options: ServeOptions) -> Self {
        let (sender, log) = mpsc::unbounded_channel();
        let fake = Fake { log: sender, gate: Arc::new(Semaphore::new(0)), stopping: watch::Sender::new(false) };
        let (clock, serving) = (Clock::manual(), Serving::default());
        let limits = Limits { body_bytes: 1_000, ..Limits::default() };
        let occupied = serving.occupy(local(0)).unwrap();
        let server = start(fake.clone(), &clock, &limits, local(0), options, occupied).await.unwrap();
        Self { server, fake, log, clock, serving }
    }

    async fn client(&self) -> Client {
        Client(TcpStream::connect(self.server.addr()).await.unwrap())
    }

    /// The next line of the log.
    async fn next(&mut self) -> String {
        timeout(BOUND, self.log.recv()).await.expect("something happens").unwrap()
    }

    /// The next line of the log is this one.
    async fn expect(&mut self, line: &str) {
        assert_eq!(self.next().await, line);
    }

    fn open(&self, permits: usize) {
        self.fake.gate.add_permits(permits);
    }

    /// Moves the clock second by second until `event` has happened; answers how many it took.
    async fn seconds_until<T>(clock: &Clock, event: impl Future<Output = T>) -> (u64, T) {
        let mut event = std::pin::pin!(event);
        for seconds in 0..1_000 {
            if let Ok(outcome) = timeout(Duration::from_millis(10), event.as_mut()).await {
                return (seconds, outcome);
            }
            clock.advance(Duration::from_secs(1));
        }
        panic!("it never happened");
    }
}

fn local(port: u16) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], port))
}

struct Client(TcpStream);

impl Client {
    async fn send(&mut self, text: impl AsRef<[u8]>) {
        self.0.write_all(text.as_ref()).await.unwrap();
    }

    async fn post(&mut self, body: &str) {
        let length = body.len();
        self.send(format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n{body}")).await;
    }

    /// One response with a known length: the head, and the body.
    async fn response(&mut self) -> (String, String) {
        let head = self.until("\r\n\r\n").await;
        let length =
            head.to_ascii_lowercase().lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        timeout(BOUND, self.0.read_exact(&mut body)).await.expect("a whole body").unwrap();
        (head, String::from_utf8(body).unwrap())
    }

    /// The status of the next response, whose body is read too.
    async fn status(&mut self) -> u16 {
        status(&self.response().await.0)
    }

    /// Reads up to and with `mark`.
    async fn until(&mut self, mark: &str) -> String {
        let mut text = Vec::new();
        while !text.ends_with(mark.as_bytes()) {
            let byte = timeout(BOUND, self.0.read_u8()).await.expect("an answer");
            text.push(byte.unwrap_or_else(|error| panic!("{error} after {:?}", String::from_utf8_lossy(&text))));
        }
        String::from_utf8(text).unwrap()
    }

    /// Waits until the other side closes, whatever comes before.
    async fn closed(&mut self) {
        let mut rest = Vec::new();
        // A reset is an end too.
        drop(timeout(BOUND, self.0.read_to_end(&mut rest)).await.expect("an end"));
    }

    /// Resets the connection instead of closing it in order.
    fn reset(self) {
        self.0.set_zero_linger().unwrap();
    }
}

fn status(head: &str) -> u16 {
    head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or_else(|| panic!("no status in {head:?}"))
}

fn has(head: &str, field: &str) -> bool {
    head.to_ascii_lowercase().lines().any(|line| line == field.to_ascii_lowercase())
}

// --- delivery ---------------------------------------------------------------------------------------------------------------

#[tokio::test]
async fn a_reply_that_was_taken_is_written_once() {
    let mut world = World::new().await;
    let mut client = world.client().await;
    client.post("hello").await;
    let (head, body) = client.response().await;
    assert_eq!((status(&head), body.as_str()), (200, "hello"));
    world.expect("handled hello").await;
    world.expect("written echo").await;
    drop(client);
    world.server.shutdown().await;
    drop(world.fake);
    assert_eq!(world.log.recv().await, None, "nothing else happened");
}

#[tokio::test]
async fn a_huge_reply_that_is_read_is_written_only_at_its_end() {
    let mut world = World::new().await;
    let mut client = world.client().await;
    client.post("huge").await;
    world.expect("handled huge").await;
    let head = client.until("\r\n\r\n").await;
    assert_eq!(status(&head), 200);
    assert!(world.log.try_recv().is_err(), "most of it is still to come");
    let mut body = vec![0; HUGE];
    timeout(BOUND, client.0.read_exact(&mut body)).await.unwrap().unwrap();
    world.expect("written huge").await;
}

#[tokio::test]
async fn a_reply_that_nobody_reads_is_given_back_when_the_write_stalls() {
    let mut world = World::new().await;
    let mut client = world.client().await;
    client.post("huge").await;
    world.expect("handled huge").await;
    let (seconds, line) = World::seconds_until(&world.clock, world.log.recv()).await;
    assert_eq!(line.unwrap(), "lost huge");
    assert!((30..40).contains(&seconds), "{seconds}");
    client.closed().await;
}

#[tokio::test]
async fn a_reply_cut_off_by_a_reset_is_given_back() {
    let mut world = World::new().await;
    let mut client = world.client().await;
    client.post("huge").await;
    world.expect("handled huge").await;
    client.until("\r\n\r\n").await;
    client.reset();
    world.expect("lost huge").await;
}

#[tokio::test]
async fn a_half_closed_client_that_stops_reading_counts_as_gone() {
    let mut world = World::new().await;
    let mut client = world.client().await;
    client.post("huge").await;
    world.expect("handled huge").await;
    client.0.shutdown().await.unwrap();
    world.expect("lost huge").await;
}

#[tokio::test]
async fn a_request_whose_client_goes_away_is_dropped() {
    let mut world = World::new().await;
    for how in ["reset", "close", "half-close"] {
        let mut client = world.client().await;
        client.post("wait").await;
        world.expect("handled wait").await;
        let mut kept = None;
        match how {
            "reset" => client.reset(),
            "close" => drop(client),
            _ => {
                client.0.shutdown().await.unwrap();
                kept = Some(client);
            }
        }
        world.expect("dropped wait").await;
        drop(kept);
    }
}

/// What a client may have sent beyond its request.
const BEYOND: [&str; 2] = ["\r\n", "GET /probe HTTP/1.1\r\nHost: localhost\r\n\r\n"];

#[tokio::test]
async fn bytes_beyond_a_request_hide_no_hang_up() {
    let mut world = World::new().await;
    for (beyond, whole) in BEYOND.into_iter().flat_map(|beyond| [(beyond, true), (beyond, false)]) {
        for body in ["wait", "events"] {
            let mut client = world.client().await;
            let head = format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}", body.len());
            client.send(format!("{head}\r\n\r\n{body}{beyond}")).await;
            world.expect(&format!("handled {body}")).await;
            let kept = if whole {
                drop(client);
                None
            } else {
                client.0.shutdown().await.unwrap();
                Some(client)
            };
            let (seconds, line) = World::seconds_until(&world.clock, world.log.recv()).await;
            assert_eq!(line.unwrap(), format!("dropped {body}"));
            assert!(seconds < 10, "{seconds}");
            drop(kept);
        }
    }
}

#[tokio::test]
async fn what_is_written_to_a_client_that_has_hung_up_is_given_back() {
    let mut world = World::new().await;
    for beyond in BEYOND {
        let mut client = world.client().await;
        client.send(format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nwait{beyond}")).await;
        world.expect("handled wait").await;
        client.0.shutdown().await.unwrap();
        // The clock stands still, so the connection is kept; the end of the client is known all the same.
        tokio::task::yield_now().await;
        world.open(1);
        let mut end = [world.next().await, world.next().await];
        end.sort();
        assert_eq!(end, ["dropped wait", "lost wait"]);
    }
}

#[tokio::test]
async fn requests_sent_before_the_answer_are_answered_in_turn() {
    let mut world = World::new().await;
    let mut client = world.client().await;
    client.post("wait").await;
    client.post("hello").await;
    world.expect("handled wait").await;
    for _ in 0..5 {
        world.clock.advance(Duration::from_secs(1));
        tokio::task::yield_now().await;
    }
    world.open(1);
    assert_eq!(client.response().await.1, "opened");
    assert_eq!(client.response().await.1, "hello");
    for line in ["dropped wait", "written wait", "handled hello", "written echo"] {
        world.expect(line).await;
    }
}

#[tokio::test]
async fn frames_are_written_one_by_one() {
    let mut world = World::new().await;
    let mut client = world.client().await;
    client.post("events").await;
    world.expect("handled events").await;
    let head = client.until("\r\n\r\n").await;
    assert!(has(&head, "transfer-encoding: chunked"), "the head comes before the first frame: {head}");
    for n in 1..=2 {
        world.open(1);
        let chunk = client.until("\n\n\r\n").await;
        assert!(chunk.contains(&format!("data: {n}\n\n")), "{chunk:?}");
        world.expect(&format!("written frame {n}")).await;
    }
    world.open(1);
    assert!(client.until("\r\n0\r\n\r\n").await.contains("data: 3\n\n"));
    let mut end = [world.next().await, world.next().await];
    end.sort();
    assert_eq!(end, ["dropped events", "written frame 3"]);
    client.post("again").await;
    assert_eq!(client.status().await, 200, "the connection lives on");
}

#[tokio::test]
async fn a_stream_whose_client_goes_away_is_dropped() {
    let mut world = World::new().await;
    let mut client = world.client().await;
    client.post("events").await;
    world.expect("handled events").await;
    world.open(1);
    client.until("data: 1\n\n\r\n").await;
    world.expect("written frame 1").await;
    client.0.shutdown().await.unwrap();
    world.expect("dropped events").await;
}

#[tokio::test]
async fn a_frame_that_is_not_taken_is_given_back() {
    let mut world = World::new().await;
    world.open(1);
    let mut client = world.client().await;
    client.post(&format!("events {HUGE}")).await;
    world.next().await;
    client.until("\r\n\r\n").await;
    client.reset();
    let mut end = [world.next().await, world.next().await];
    end.sort();
    assert_eq!(end, ["dropped events", "lost frame 1"]);
}

// --- connections ------------------------------------------------------------------------------------------------------------

#[tokio::test]
async fn one_connection_carries_many_calls_good_and_bad() {
    let world = World::new().await;
    let mut client = world.client().await;
    for n in 0..50 {
        client.post(&format!("call {n}")).await;
        assert_eq!(client.response().await.1, format!("call {n}"));
        client.send("POST /nope HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}").await;
        assert_eq!(client.status().await, 404);
    }
}

#[tokio::test]
async fn nonsense_is_refused_and_ends_only_its_own_connection() {
    let world = World::new().await;
    let many = "X-Many: y\r\n".repeat(10_000);
    let big = format!("X-Big: {}\r\n", "x".repeat(1 << 20));
    for text in [
        "hello\r\n\r\n".to_owned(),
        "POST /mcp HTTP/9.9\r\n\r\n".to_owned(),
        "\x16\x03\x01\x02\0\x01\0\r\n".to_owned(),
        format!("GET /probe HTTP/1.1\r\nHost: localhost\r\n{many}\r\n"),
        format!("GET /probe HTTP/1.1\r\nHost: localhost\r\n{big}\r\n"),
    ] {
        let mut client = world.client().await;
        // The server may close while the text is under way.
        drop(client.0.write_all(text.as_bytes()).await);
        client.closed().await;
    }
    let mut client = world.client().await;
    client.post("panic").await;
    client.closed().await;
    let mut client = world.client().await;
    client.post("hello").await;
    assert_eq!(client.status().await, 200);
}

#[tokio::test]
async fn slow_clients_keep_nobody_waiting_and_are_dropped_in_time() {
    let world = World::new().await;
    let mut slow = Vec::new();
    for n in 0..60 {
        let mut client = world.client().await;
        let rest = if n % 2 == 0 { "X-Slow:" } else { "Content-Length: 9\r\n\r\n{" };
        client.send(format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\n{rest}")).await;
        slow.push(client);
    }
    let mut client = world.client().await;
    client.post("hello").await;
    assert_eq!(client.status().await, 200);
    let mut body = slow.pop().unwrap();
    let mut head = slow.pop().unwrap();
    let (seconds, status) = World::seconds_until(&world.clock, body.status()).await;
    assert_eq!(status, 408);
    assert!((30..45).contains(&seconds), "a body may pause for 30 seconds, this one had {seconds}");
    let (more, ()) = World::seconds_until(&world.clock, head.closed()).await;
    assert!((120..140).contains(&(seconds + more)), "a head may take 120 seconds, this one had {}", seconds + more);
}

// --- who is let in, and what is refused ---------------------------------------------------------------------------------------

#[tokio::test]
async fn every_refusal_has_its_status_and_reaches_no_service() {
    let token = Token::new("secret-one");
    let options = ServeOptions { token, allow_origins: vec!["https://desk.example".into()], ..ServeOptions::default() };
    let mut world = World::with(options).await;
    let key = "Authorization: Bearer secret-one\r\n";
    let cases: &[(&str, &str, &str, u16, &str)] = &[
        ("POST", "/mcp", "Host: evil.example\r\n", 403, ""),
        ("GET", "/probe", "Host: evil.example\r\n", 403, ""),
        ("DELETE", "/mcp", "Host: localhost\r\nOrigin: null\r\n", 403, ""),
        ("GET", "/nope", "Host: localhost\r\nOrigin: http://evil.example\r\n", 403, ""),
        ("POST", "/mcp", "", 400, ""),
        ("POST", "/mcp", "Host: localhost\r\n", 401, "www-authenticate: Bearer realm=\"remontoire\""),
        ("GET", "/probe", "Host: localhost\r\nAuthorization: Bearer wrong\r\n", 401, ""),
        ("GET", "/nope", "Host: localhost\r\nKEY", 404, ""),
        ("POST", "/probe", "Host: localhost\r\nKEY", 405, "allow: GET, HEAD"),
        ("GET", "/probe", "Host: localhost\r\nKEY", 200, "content-type: application/json"),
        (
            "OPTIONS",
            "/mcp",
            "Host: localhost\r\nOrigin: http://localhost\r\nAccess-Control-Request-Method: POST\r\n",
            401,
            "",
        ),
    ];
    let mut client = world.client().await;
    for (method, path, headers, wanted, field) in cases {
        let headers = headers.replace("KEY", key);
        client.send(format!("{method} {path} HTTP/1.1\r\n{headers}\r\n")).await;
        let (head, _) = client.response().await;
        assert_eq!(status(&head), *wanted, "{method} {path} {headers}");
        assert!(field.is_empty() || has(&head, field), "{field} in {head}");
    }
    client.send(format!("HEAD /probe HTTP/1.1\r\nHost: localhost\r\n{key}\r\n")).await;
    assert_eq!(status(&client.until("\r\n\r\n").await), 200);
    assert!(world.log.try_recv().is_err(), "nothing was handled");
}

#[tokio::test]
async fn pages_of_an_allowed_origin_may_ask_and_read() {
    let origins = vec!["https://desk.example".into()];
    let world =
        World::with(ServeOptions { token: Token::new("t"), allow_origins: origins, ..ServeOptions::default() }).await;
    let mut client = world.client().await;
    let page = "Host: localhost\r\nOrigin: https://desk.example\r\n";
    let asks = "Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: content-type\r\n";
    client.send(format!("OPTIONS /mcp HTTP/1.1\r\n{page}{asks}\r\n")).await;
    let head = client.until("\r\n\r\n").await;
    assert_eq!(status(&head), 204);
    for field in ["origin: https://desk.example", "headers: content-type", "methods: GET, POST, DELETE"] {
        assert!(has(&head, &format!("access-control-allow-{field}")), "{head}");
    }
    client.send(format!("POST /mcp HTTP/1.1\r\n{page}Authorization: Bearer t\r\nContent-Length: 2\r\n\r\n{{}}")).await;
    let (head, _) = client.response().await;
    assert_eq!(status(&head), 200);
    assert!(has(&head, "access-control-allow-origin: https://desk.example"), "{head}");
}

#[tokio::test]
async fn a_body_over_the_limit_is_413_and_the_connection_lives() {
    let mut world = World::new().await;
    let mut client = world.client().await;
    // Announced: refused before any of it was sent.
    client.send("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1001\r\n\r\n").await;
    assert_eq!(client.status().await, 413);
    client.send("x".repeat(1_001)).await;
    // In chunks: refused when the limit is passed.
    let chunk = format!("258\r\n{}\r\n", "x".repeat(600));
    client
        .send(format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n{chunk}{chunk}"))
        .await;
    assert_eq!(client.status().await, 413);
    client.send("0\r\n\r\n").await;
    assert!(world.log.try_recv().is_err(), "nothing was handled");
    // As large as the limit.
    client.post(&"x".repeat(1_000)).await;
    assert_eq!(client.response().await.1.len(), 1_000);
}

#[tokio::test]
async fn a_client_that_sends_everything_first_reads_the_413() {
    let world = World::new().await;
    let mut client = world.client().await;
    client.post(&"x".repeat(16 << 20)).await;
    assert_eq!(client.status().await, 413);
    client.post("hello").await;
    assert_eq!(client.status().await, 200);
}

#[tokio::test]
async fn a_client_that_waits_to_be_asked_for_its_body_is_asked_unless_it_is_too_large() {
    let world = World::new().await;
    let expecting = |length| {
        format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: {length}\r\n\r\n")
    };
    let mut client = world.client().await;
    client.send(expecting(5)).await;
    assert_eq!(status(&client.until("\r\n\r\n").await), 100);
    client.send("hello").await;
    assert_eq!(client.response().await.1, "hello");
    client.send(expecting(5_000)).await;
    assert_eq!(client.status().await, 413);
    client.closed().await;
}

// --- the end ----------------------------------------------------------------------------------------------------------------

#[tokio::test]
async fn shutdown_answers_what_is_open_and_closes_what_is_idle() {
    let mut world = World::new().await;
    let (mut waiting, mut idle, fresh) = (world.client().await, world.client().await, world.client().await);
    idle.post("hello").await;
    assert_eq!(idle.status().await, 200);
    world.expect("handled hello").await;
    world.expect("written echo").await;
    waiting.post("wait").await;
    world.expect("handled wait").await;
    let addr = world.server.addr();
    timeout(BOUND, world.server.shutdown()).await.expect("an end although the clock stands still");
    assert_eq!(waiting.response().await.1, "stopping");
    waiting.closed().await;
    idle.closed().await;
    drop(fresh);
    assert!(TcpStream::connect(addr).await.is_err(), "the port is closed");
    assert_eq!(world.serving.addr(), None, "another server may start");
}

#[tokio::test]
async fn shutdown_waits_four_seconds_for_a_request_that_does_not_end() {
    let mut world = World::new().await;
    let mut client = world.client().await;
    client.post("stuck").await;
    world.expect("handled stuck").await;
    let (seconds, ()) = World::seconds_until(&world.clock, world.server.shutdown()).await;
    assert!((4..6).contains(&seconds), "{seconds}");
    assert_eq!(world.log.recv().await.unwrap(), "dropped stuck");
    client.closed().await;
}

#[tokio::test]
async fn a_dropped_server_ends_at_once() {
    let mut world = World::new().await;
    let mut client = world.client().await;
    client.post("stuck").await;
    world.expect("handled stuck").await;
    drop(world.server);
    client.closed().await;
    assert_eq!(world.log.recv().await.unwrap(), "dropped stuck");
}

#[tokio::test]
async fn a_failed_start_leaves_the_place_free_and_says_why() {
    let world = World::new().await;
    let taken = world.server.addr();
    let serving = Serving::default();
    let try_start = async |addr: SocketAddr, options: ServeOptions| {
        let occupied = serving.occupy(addr).unwrap();
        start(world.fake.clone(), &world.clock, &Limits::default(), addr, options, occupied).await
    };
    let everywhere = SocketAddr::from(([0, 0, 0, 0], 0));
    let none = ServeOptions::default;
    assert!(matches!(try_start(everywhere, none()).await, Err(ServeError::Unlocked { .. })));
    assert_eq!(serving.addr(), None);
    let error = try_start(taken, none()).await.unwrap_err();
    assert!(matches!(error, ServeError::Bind { .. }) && error.to_string().contains(&taken.to_string()), "{error}");
    let bad = ServeOptions { allow_origins: vec!["desk.example".into()], ..none() };
    assert!(matches!(try_start(local(0), bad).await, Err(ServeError::AllowOrigin(_))));
    assert_eq!(serving.addr(), None);
    for locked in
        [ServeOptions { trust_network: true, ..none() }, ServeOptions { token: Token::new("secret"), ..none() }]
    {
        let server = try_start(everywhere, locked).await.unwrap();
        assert_eq!(serving.addr(), Some(server.addr()), "the real port is known");
        server.shutdown().await;
    }
}

#[tokio::test]
async fn a_host_is_served_at_one_place_at_a_time() {
    let host = Host::builder().build().unwrap();
    let server = serve(&host, local(0)).await.unwrap();
    let error = serve(&host, local(0)).await.unwrap_err();
    assert!(matches!(error, ServeError::Serving { addr } if addr == server.addr()), "{error:?}");
    assert!(error.to_string().contains(&server.url()), "{error}");
    let mut client = Client(TcpStream::connect(server.addr()).await.unwrap());
    client.send("GET /probe HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    assert!(client.response().await.1.contains("\"server\":\"remontoire\""));
    timeout(BOUND, server.shutdown()).await.expect("an end");
    serve(&host, local(0)).await.unwrap().shutdown().await;
}
