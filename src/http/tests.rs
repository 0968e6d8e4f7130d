//! Real sockets on 127.0.0.1, a service that does what it is told, a clock moved by hand.

mod admission;
mod connections;
mod delivery;
mod ending;
mod unchanged;

use super::router::Service;
use super::server::start;
use super::*;
use crate::base::{Clock, Limits};
use crate::host::{Delivery, Host, Receipt, Serving};
use crate::mcp::{Body, Frame, Frames, Incoming, Reply};
use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
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
        let body = Body::Whole(text.into(), self.delivery(what));
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
                let frames = FakeFrames {
                    fake: self.clone(),
                    size,
                    next: 1,
                    pass: None,
                    _presence: Presence("events", self.log.clone()),
                };
                Reply { status: StatusCode::OK, headers: Vec::new(), body: Body::Events(Box::new(frames)) }
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
    pass: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    _presence: Presence,
}

impl Frames for FakeFrames {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Frame>> {
        if self.next > 3 {
            return Poll::Ready(None);
        }
        let fake = self.fake.clone();
        let pass = self.pass.get_or_insert_with(|| Box::pin(async move { fake.pass().await }));
        ready!(pass.as_mut().poll(cx));
        self.pass = None;
        let n = self.next;
        self.next += 1;
        Poll::Ready(Some(Frame {
            bytes: format!("data: {}{n}\n\n", " ".repeat(self.size)).into(),
            delivery: self.fake.delivery(format!("frame {n}")),
        }))
    }
}

/// A server on a free port and everything around it.
struct Fixture {
    server: Server,
    fake: Fake,
    log: mpsc::UnboundedReceiver<String>,
    clock: Clock,
    serving: Serving,
}

impl Fixture {
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
            // On this one thread, so that no second is lost while the machine is busy with other things.
            let work_that_is_ready = async {
                for _ in 0..100 {
                    tokio::task::yield_now().await;
                }
            };
            tokio::select! {
                biased;
                outcome = event.as_mut() => return (seconds, outcome),
                () = work_that_is_ready => {}
            }
            // Bytes on their way through the system take a moment of their own.
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
