//! Delivery through real sockets: what was not written whole is owed as before, what was written keeps its session alive.

use crate::harness::{Harness, Speaker, within};
use remontoire::internals::{ClientInfo, HeaderKey, Time};
use remontoire::{Clock, EntryId, EvalRequest, Limits, Server, Status, serve};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

/// Entries whose answers together are larger than what the system keeps for a connection.
const MANY: usize = 300;

/// A served host, and a header session on it that speaks over sockets and in process.
struct Scene {
    harness: Harness,
    server: Server,
    key: HeaderKey,
    session: Speaker,
}

impl Scene {
    async fn new(clock: Clock, limits: Limits) -> Self {
        let harness = Harness::with(clock, limits);
        let server = serve(&harness.host, "127.0.0.1:0".parse().unwrap()).await.unwrap();
        let (key, caller) = harness.api.initialize(ClientInfo::default(), None).unwrap();
        let session = Speaker { host: harness.api.clone(), caller, name: String::new() };
        Self { harness, server, key, session }
    }

    fn addr(&self) -> SocketAddr {
        self.server.addr()
    }

    /// Settled work that nobody has read, a good deal of text each.
    async fn unread(&self) -> Vec<EntryId> {
        let code = "let text = \"\"; text.pad(8000, 'v'); for n in 0..80 { print(\"a line of output that takes its room, and a little more than that, so that it counts\"); } text";
        let mut ids = Vec::new();
        for _ in 0..MANY {
            let submitted = self.session.host.submit(self.session.caller, &EvalRequest::new(code)).unwrap();
            ids.push(submitted.id());
        }
        for id in &ids {
            assert_eq!(self.session.settled(*id).await, Status::Ok);
        }
        ids
    }

    /// A call of a tool as bytes of a request.
    fn call(&self, tool: &str, arguments: &Value) -> Vec<u8> {
        let headers = format!("Mcp-Session-Id: {}\r\n", self.key);
        let params = json!({"name": tool, "arguments": arguments});
        request(&headers, &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}))
    }

    fn await_all(&self, ids: &[EntryId]) -> Vec<u8> {
        let ids: Vec<u64> = ids.iter().map(|id| id.0).collect();
        self.call("await", &json!({"all": ids}))
    }

    /// Asks for the session's news until there is some.
    async fn news(&self) -> String {
        within("news", async {
            loop {
                let answer = self.session.host.answer_text(Some(self.session.caller), "asked", false);
                let text = answer.text.clone();
                answer.delivery.written();
                if text.contains("settled news") {
                    return text;
                }
                tokio::task::yield_now().await;
            }
        })
        .await
    }

    fn seen(&self, ids: &[EntryId]) -> usize {
        ids.iter().filter(|id| self.harness.api.entry(**id).unwrap().seen).count()
    }
}

fn request(headers: &str, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         {headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// A connection of a client that takes little at a time.
async fn narrow(addr: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    socket.connect(addr).await.unwrap()
}

/// Reads one reply with a length, whole.
async fn read_reply(stream: &mut TcpStream) -> String {
    let mut got = Vec::new();
    within("a whole reply", async {
        loop {
            let text = String::from_utf8_lossy(&got);
            if let Some((head, body)) = text.split_once("\r\n\r\n") {
                let length = head
                    .lines()
                    .find_map(|line| line.to_lowercase().strip_prefix("content-length: ").map(str::to_owned));
                let length: usize = length.expect("a reply with a length").parse().unwrap();
                if body.len() >= length {
                    return text.into_owned();
                }
            }
            let mut chunk = vec![0; 1 << 16];
            let n = stream.read(&mut chunk).await.unwrap();
            assert!(n > 0, "the connection ended in the middle");
            got.extend_from_slice(&chunk[..n]);
        }
    })
    .await
}

/// Reads until the text was seen.
async fn read_until(stream: &mut TcpStream, words: &str) -> String {
    let mut got = String::new();
    within(words, async {
        while !got.contains(words) {
            let mut chunk = vec![0; 4096];
            let n = stream.read(&mut chunk).await.unwrap();
            assert!(n > 0, "the connection ended before `{words}`: {got}");
            got.push_str(&String::from_utf8_lossy(&chunk[..n]));
        }
    })
    .await;
    got
}

#[tokio::test]
async fn what_was_written_whole_is_delivered_and_no_news() {
    let scene = Scene::new(Clock::real(), Limits::default()).await;
    let ids = scene.unread().await;
    let mut stream = TcpStream::connect(scene.addr()).await.unwrap();
    stream.write_all(&scene.await_all(&ids)).await.unwrap();
    let reply = read_reply(&mut stream).await;
    assert!(reply.len() > 4 << 20, "{} bytes are too few for this test", reply.len());
    within("all are marked", async {
        while scene.seen(&ids) < ids.len() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    scene.session.eval("1").await.lacks("settled news");
}

#[tokio::test]
async fn a_client_that_resets_in_the_middle_leaves_everything_owed() {
    let scene = Scene::new(Clock::real(), Limits::default()).await;
    let ids = scene.unread().await;
    let mut stream = narrow(scene.addr()).await;
    stream.write_all(&scene.await_all(&ids)).await.unwrap();
    let mut some = vec![0; 2000];
    within("the reply begins", stream.read_exact(&mut some)).await.unwrap();
    assert!(some.starts_with(b"HTTP/1.1 200 OK"));
    // What the reply claims is nowhere else while it is on its way.
    scene.session.eval("1").await.lacks("settled news");
    stream.set_zero_linger().unwrap();
    drop(stream);
    let news = scene.news().await;
    assert!(news.contains(&format!(";; settled news: entries {}-{} ok", ids[0], ids[MANY - 1])), "{news}");
    assert_eq!(scene.seen(&ids), 0);
    // Told once, and still there to be read.
    scene.session.eval("2").await.lacks("settled news");
    scene.session.wait(&ids[..1]).await.has("vvvv");
    assert_eq!(scene.seen(&ids), 1);
}

#[tokio::test]
async fn a_client_that_never_reads_is_given_up_and_everything_is_owed() {
    let limits = Limits { write_stall: Duration::from_millis(100), ..Limits::default() };
    let scene = Scene::new(Clock::real(), limits).await;
    let ids = scene.unread().await;
    let mut stream = narrow(scene.addr()).await;
    stream.write_all(&scene.await_all(&ids)).await.unwrap();
    let mut some = vec![0; 100];
    within("the reply begins", stream.read_exact(&mut some)).await.unwrap();
    scene.news().await;
    assert_eq!(scene.seen(&ids), 0);
    // The server has closed the connection: whoever goes on speaking is told so, and the reply is not whole.
    let mut rest = Vec::new();
    let ended = within("the end of the connection", async {
        while stream.write_all(b"GET /probe HTTP/1.1\r\n\r\n").await.is_ok() {
            tokio::task::yield_now().await;
        }
        stream.read_to_end(&mut rest).await
    })
    .await;
    assert!(rest.len() < 4 << 20, "{} bytes arrived ({ended:?})", rest.len());
    // Others were served all the while.
    let mut other = TcpStream::connect(scene.addr()).await.unwrap();
    other.write_all(&scene.call("eval", &json!({"code": "6 * 7"}))).await.unwrap();
    assert!(read_reply(&mut other).await.contains("42\\n;; id"));
}

#[tokio::test]
async fn a_request_taken_back_in_its_own_batch_is_not_answered() {
    let scene = Scene::new(Clock::real(), Limits::default()).await;
    let headers = format!("Mcp-Session-Id: {}\r\nMcp-Protocol-Version: 2025-03-26\r\n", scene.key);
    let batch = json!([
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "eval", "arguments": {"code": "1"}}},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
        {"jsonrpc": "2.0", "id": 2, "method": "ping"},
    ]);
    let list = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/list"});
    let mut stream = TcpStream::connect(scene.addr()).await.unwrap();
    stream.write_all(&request(&headers, &list)).await.unwrap();
    read_reply(&mut stream).await;
    // Whether the eval has settled before anybody looks is a matter of luck.
    for _ in 0..30 {
        stream.write_all(&request(&headers, &batch)).await.unwrap();
        let reply = read_reply(&mut stream).await;
        assert!(reply.ends_with(r#"[{"jsonrpc":"2.0","id":2,"result":{}}]"#), "{reply}");
    }
}

#[tokio::test]
async fn closing_a_modern_stream_cancels_its_eval_and_closing_a_legacy_one_does_not() {
    let clock = Clock::manual();
    let scene = Scene::new(clock.clone(), Limits::default()).await;
    let modern = scene.harness.session();
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}});
    let params = json!({"name": "eval", "_meta": meta, "arguments": {
        "code": "gate::opened(\"modern\"); sleep(3600)", "session": modern.name, "await": 3600}});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let headers = "Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: eval\r\n";
    let mut stream = TcpStream::connect(scene.addr()).await.unwrap();
    stream.write_all(&request(headers, &body)).await.unwrap();
    within("the modern eval runs", scene.harness.gates.reached("modern")).await;
    let mut legacy = TcpStream::connect(scene.addr()).await.unwrap();
    let code = "gate::opened(\"legacy\"); while !gate::opened(\"go\") {} 7";
    legacy.write_all(&scene.call("eval", &json!({"code": code, "await": 3600}))).await.unwrap();
    within("the legacy eval runs", scene.harness.gates.reached("legacy")).await;
    // Both are answered by streams by now, and closed by their clients.
    clock.advance(Duration::from_secs(2));
    for stream in [&mut stream, &mut legacy] {
        read_until(stream, "text/event-stream").await;
    }
    drop((stream, legacy));
    assert_eq!(modern.settled(EntryId(1)).await, Status::Cancelled);
    modern.eval("1").await.has(";; settled news: entry 1 cancelled");
    assert_eq!(scene.harness.api.entry(EntryId(2)).unwrap().status, Status::Running);
    scene.harness.gates.open("go");
    assert_eq!(scene.session.settled(EntryId(2)).await, Status::Ok);
    scene.session.eval("1").await.has(";; settled news: entry 2 ok");
}

#[tokio::test]
async fn signs_of_life_that_were_written_keep_a_session_alive() {
    let clock = Clock::manual();
    let limits = Limits { silence: Duration::from_secs(100), ..Limits::default() };
    let scene = Scene::new(clock.clone(), limits).await;
    let silent = scene.harness.session();
    let mut stream = TcpStream::connect(scene.addr()).await.unwrap();
    let code = "gate::opened(\"begun\"); while !gate::opened(\"go\") {} 7";
    stream.write_all(&scene.call("eval", &json!({"code": code, "await": 86400}))).await.unwrap();
    within("the eval runs", scene.harness.gates.reached("begun")).await;
    // Signs of life for a good part of the silence that ends a session.
    let mut signs = 0;
    while signs < 5 || clock.now() < Time::after_start(Duration::from_secs(80)) {
        signs += 1;
        within("a sign of life", async {
            let mut chunk = vec![0; 4096];
            // The server may not have set its alarm yet when the clock is moved.
            while stream.try_read(&mut chunk).unwrap_or(0) == 0 {
                clock.advance(Duration::from_millis(10));
                tokio::task::yield_now().await;
            }
        })
        .await;
    }
    scene.harness.gates.open("go");
    read_until(&mut stream, "7\\n;; id 1").await;
    // More than that silence has passed since the request, and less since the last sign.
    clock.advance(Time::after_start(Duration::from_secs(130)).since(clock.now()));
    // An admission is when sessions that were silent for too long go.
    scene.harness.nil().eval("1").await;
    assert!(scene.harness.api.handle_caller(&silent.name).is_err(), "the silent one is gone");
    assert!(
        !scene.harness.api.header_caller(&scene.key, None, |_| String::new()).unwrap().adopted,
        "the other is as it was"
    );
    scene.session.eval("last()").await.is("7");
}
