//! A client nobody here wrote, against a served host over real sockets: all its ways to open, calls, progress, tasks, and a
//! server that was started anew behind its back.

use crate::fixtures::{self, Gates};
use remontoire::{Host, Limits, Server};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, ClientCapabilities, ClientConfig,
    ExtensionCapabilities, GetTaskParams, GetTaskResult, Implementation, JsonObject, ProgressNotificationParam,
    ProtocolVersion, TaskPayload, TaskStatus,
};
use rmcp::service::{NotificationContext, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, Peer, RoleClient};
use serde_json::{Value, json};
use std::future::Future;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

/// Longer than anything takes, also on a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long a request that follows tasks is held here: short, and longer than a small eval takes on a busy machine.
const GRACE: Duration = Duration::from_secs(1);

/// Gives a step of a test so long and no longer.
async fn soon<T>(what: &str, step: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, step).await.unwrap_or_else(|_| panic!("{what} takes too long"))
}

/// A served host on the machine's clock, with everything that a client waits for made short.
async fn serve() -> (Server, Host, Gates) {
    let limits = Limits {
        grace: GRACE,
        stream_after: Duration::from_millis(20),
        heartbeat: Duration::from_millis(20),
        // Hundreds of threads at a time need no large stacks for what they do here.
        eval_bytes: 16 << 20,
        ..Limits::default()
    };
    let gates = Gates::default();
    let host = Host::builder()
        .describe("orders service, staging")
        .limits(limits)
        .module("gate", fixtures::gate_module(&gates))
        .build()
        .expect("the host can be built");
    let server = remontoire::serve(&host, "127.0.0.1:0".parse().unwrap()).await.expect("a free port");
    (server, host, gates)
}

/// What the client is told between its answers.
#[derive(Debug)]
enum Heard {
    Progress(ProgressNotificationParam),
    ToolsChanged,
}

/// The client's side of a connection: it passes on what it hears.
struct Listener {
    tasks: bool,
    heard: mpsc::UnboundedSender<Heard>,
}

impl ClientHandler for Listener {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        if self.tasks {
            let mut extensions = ExtensionCapabilities::new();
            extensions.insert("io.modelcontextprotocol/tasks".into(), JsonObject::new());
            capabilities.extensions = Some(extensions);
        }
        ClientConfig::new(capabilities, Implementation::new("a-real-client", "1"))
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.heard.send(Heard::Progress(progress)).ok();
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.heard.send(Heard::ToolsChanged).ok();
    }
}

/// An open connection of the client.
struct Connection {
    service: RunningService<RoleClient, Listener>,
    heard: mpsc::UnboundedReceiver<Heard>,
}

/// Connects a client that follows tasks.
async fn connect(url: String, mode: ClientLifecycleMode) -> Connection {
    connect_as(url, mode, true).await
}

async fn connect_as(url: String, mode: ClientLifecycleMode, tasks: bool) -> Connection {
    let (sender, heard) = mpsc::unbounded_channel();
    let transport = StreamableHttpClientTransport::from_uri(url);
    let opening = Listener { tasks, heard: sender }.serve_with_lifecycle(transport, mode);
    let service = soon("opening", opening).await.expect("the client can open");
    Connection { service, heard }
}

fn discover() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
}

fn auto() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto { preferred_versions: vec![ProtocolVersion::V_2026_07_28], legacy_version: None }
}

impl Connection {
    fn revision(&self) -> String {
        self.service.peer_info().expect("the server has introduced itself").protocol_version.to_string()
    }

    async fn tools(&self) -> Vec<String> {
        let tools = soon("listing", self.service.list_all_tools()).await.expect("the tools are listed");
        tools.into_iter().map(|tool| tool.name.into_owned()).collect()
    }

    async fn call(&self, tool: &'static str, arguments: Value) -> CallToolResponse {
        call(self.service.peer(), tool, arguments).await
    }

    /// Opens a session of the wire that needs one.
    async fn session(&self) -> String {
        let answer = text(&complete(self.call("create-session", json!({})).await));
        answer.lines().next().unwrap().strip_prefix("session ").expect("a handle").to_owned()
    }

    /// The next thing the client was told that this takes.
    async fn told<T>(&mut self, take: impl Fn(Heard) -> Option<T>) -> T {
        let told = async {
            loop {
                if let Some(taken) = take(self.heard.recv().await.expect("the connection is open")) {
                    return taken;
                }
            }
        };
        soon("a word of the server", told).await
    }

    async fn close(self) {
        soon("closing", self.service.cancel()).await.expect("the client ends well");
    }
}

async fn call(peer: &Peer<RoleClient>, tool: &'static str, arguments: Value) -> CallToolResponse {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    let call = peer.call_tool_once(CallToolRequestParams::new(tool).with_arguments(arguments));
    soon(tool, call).await.expect("the call is answered")
}

async fn task(peer: &Peer<RoleClient>, id: &str) -> GetTaskResult {
    soon("a look at a task", peer.get_task(GetTaskParams::new(id))).await.expect("the task is there")
}

/// Follows a task to its end.
async fn follow(peer: &Peer<RoleClient>, id: &str) -> TaskPayload {
    let end = async {
        loop {
            let task = task(peer, id).await.task;
            assert_eq!(task.task.task_id, id, "an answer about another task");
            if task.status().is_terminal() {
                return task.payload;
            }
            tokio::task::yield_now().await;
        }
    };
    soon("a task", end).await
}

fn complete(response: CallToolResponse) -> CallToolResult {
    match response {
        CallToolResponse::Complete(result) => result,
        other => panic!("a result was expected: {other:?}"),
    }
}

fn task_id(response: CallToolResponse) -> String {
    match response {
        CallToolResponse::Task(created) => created.task.task_id,
        other => panic!("a task was expected: {other:?}"),
    }
}

fn text(result: &CallToolResult) -> String {
    match result.content.as_slice() {
        [block] => block.as_text().expect("a block of text").text.clone(),
        other => panic!("one block was expected: {other:?}"),
    }
}

/// The text of a task that completed.
fn completed_text(payload: TaskPayload) -> String {
    match payload {
        TaskPayload::Completed { result } => result["content"][0]["text"].as_str().expect("a block of text").to_owned(),
        other => panic!("a completed task was expected: {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_initializes_works_and_ends_its_session() {
    let (server, host, gates) = serve().await;
    let mut client = connect(server.url(), ClientLifecycleMode::Initialize).await;
    assert_eq!(client.revision(), "2025-11-25");
    let instructions = client.service.peer_info().unwrap().instructions.clone().expect("instructions");
    assert!(instructions.contains("orders service, staging"), "{instructions}");
    // It declares tasks, which do not exist on this wire.
    assert_eq!(client.tools().await, ["create-session", "eval", "await", "cancel"]);
    let answer = text(&complete(client.call("eval", json!({"code": "let n = 41; n + 1"})).await));
    assert!(answer.starts_with("42\n"), "{answer}");

    let peer = client.service.peer().clone();
    let code = "print(`${n} steps done`); while !gate::opened(\"a\") {} n";
    let long = tokio::spawn(async move { call(&peer, "eval", json!({"code": code, "await": 3600})).await });
    let first = client.told(|heard| match heard {
        Heard::Progress(progress) if progress.message.as_deref() == Some("41 steps done") => Some(progress),
        Heard::Progress(_) | Heard::ToolsChanged => None,
    });
    let first = first.await;
    let next = client.told(|heard| match heard {
        Heard::Progress(progress) => Some(progress),
        Heard::ToolsChanged => None,
    });
    let next = next.await;
    assert!(next.progress > first.progress && next.progress_token == first.progress_token, "{first:?} {next:?}");
    gates.open("a");
    let answer = text(&complete(soon("the long call", long).await.unwrap()));
    assert!(answer.starts_with("41\n;; out\n41 steps done\n"), "{answer}");

    assert_eq!(host.probe().sessions, 1);
    client.close().await;
    // The client asks for the end of the session when it closes.
    assert_eq!(host.probe().sessions, 0);
    soon("shutdown", server.shutdown()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_discovers_follows_a_long_eval_as_a_task_and_cancels_another_twice() {
    let (server, host, gates) = serve().await;
    let client = connect(server.url(), discover()).await;
    let peer = client.service.peer().clone();
    assert_eq!(client.revision(), "2026-07-28");
    assert_eq!(client.tools().await, ["create-session", "eval"]);
    let session = client.session().await;
    let eval = |code: &str| json!({"code": code, "session": session});
    let answer = text(&complete(client.call("eval", eval("let n = 41; n + 1")).await));
    assert!(answer.starts_with("42\n"), "{answer}");

    let long = client.call("eval", eval("print(\"half way\"); while !gate::opened(\"a\") {} n")).await;
    let id = task_id(long);
    assert!(id.starts_with(&format!("{session}-")), "{id}");
    let standing = task(&peer, &id).await.task;
    assert_eq!(standing.status(), TaskStatus::Working);
    assert!(standing.task.status_message.as_ref().is_some_and(|said| said.ends_with("half way")), "{standing:?}");
    gates.open("a");
    let end = completed_text(follow(&peer, &id).await);
    assert!(end.starts_with("41\n;; out\nhalf way\n"), "{end}");

    let id = task_id(client.call("eval", eval("while !gate::opened(\"never\") {}")).await);
    for _ in 0..2 {
        soon("a cancel", peer.cancel_task(CancelTaskParams::new(&id))).await.expect("a cancel is acknowledged");
    }
    assert_eq!(follow(&peer, &id).await, TaskPayload::Cancelled);
    soon("a cancel", peer.cancel_task(CancelTaskParams::new(&id))).await.expect("also when nothing is left to cancel");
    assert_eq!(follow(&peer, &id).await, TaskPayload::Cancelled);
    assert_eq!(host.probe().running, 0);
    client.close().await;
    soon("shutdown", server.shutdown()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_tries_finds_the_newest_wire() {
    let (server, host, _gates) = serve().await;
    let client = connect(server.url(), auto()).await;
    assert_eq!(client.revision(), "2026-07-28");
    let session = client.session().await;
    let answer = text(&complete(client.call("eval", json!({"code": "6 * 7", "session": session})).await));
    assert!(answer.starts_with("42\n"), "{answer}");
    // A client that does not know its handle any more learns what to do, and nothing is made for it.
    let lost = complete(client.call("eval", json!({"code": "1", "session": "zzz"})).await);
    assert_eq!(lost.is_error, Some(true));
    assert!(text(&lost).contains("create-session"), "{}", text(&lost));
    assert_eq!(host.probe().sessions, 1);
    client.close().await;
    soon("shutdown", server.shutdown()).await;
}

/// Who drops the future of a call takes the request back: by a notification on the one wire, by closing the stream on the
/// other.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_dropped_stops_its_eval() {
    let (server, host, gates) = serve().await;
    for (gate, entry, mode) in [("a", 1, ClientLifecycleMode::Initialize), ("b", 3, discover())] {
        let client = connect_as(server.url(), mode, false).await;
        let session = client.session().await;
        let code = format!("while !gate::opened(\"{gate}\") {{}}");
        let arguments = json!({"code": code, "await": 3600, "session": session});
        let peer = client.service.peer().clone();
        let dropped = tokio::spawn(async move { call(&peer, "eval", arguments).await });
        soon("the eval", gates.reached(gate)).await;
        dropped.abort();
        assert!(dropped.await.unwrap_err().is_cancelled());
        soon("the end of the eval", host.drained(PATIENCE)).await;
        assert_eq!(host.probe().running, 0);
        let news = text(&complete(client.call("eval", json!({"code": "1", "session": session})).await));
        assert!(news.contains(&format!(";; settled news: entry {entry} cancelled")), "{news}");
        client.close().await;
    }
    soon("shutdown", server.shutdown()).await;
}

/// A proxy in front of servers that come and go: what connects to it is taken to the one of the moment.
struct Proxy {
    addr: SocketAddr,
    target: Arc<Mutex<SocketAddr>>,
    open: watch::Receiver<usize>,
}

impl Proxy {
    async fn before(server: &Server) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let target = Arc::new(Mutex::new(server.addr()));
        let behind = Arc::clone(&target);
        let (count, open) = watch::channel(0);
        tokio::spawn(async move {
            let count = Arc::new(count);
            while let Ok((mut near, _)) = listener.accept().await {
                let (addr, count) = (*behind.lock().unwrap(), Arc::clone(&count));
                count.send_modify(|open| *open += 1);
                tokio::spawn(async move {
                    if let Ok(mut far) = TcpStream::connect(addr).await {
                        tokio::io::copy_bidirectional(&mut near, &mut far).await.ok();
                    }
                    drop(near);
                    count.send_modify(|open| *open -= 1);
                });
            }
        });
        Self { addr, target, open }
    }

    fn url(&self) -> String {
        format!("http://{}/mcp", self.addr)
    }

    /// Leads to another server from now on. Waits until nothing leads to the one before, which has ended.
    async fn lead_to(&mut self, server: &Server) {
        *self.target.lock().unwrap() = server.addr();
        soon("the end of old connections", self.open.wait_for(|open| *open == 0)).await.expect("the proxy is there");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_of_an_earlier_process_is_taken_in_and_told_so() {
    let (first, _host, _gates) = serve().await;
    let mut proxy = Proxy::before(&first).await;
    let mut client = connect(proxy.url(), ClientLifecycleMode::Initialize).await;
    complete(client.call("eval", json!({"code": "let kept = 7;"})).await);
    soon("shutdown", first.shutdown()).await;

    let (second, host, _gates) = serve().await;
    proxy.lead_to(&second).await;
    let answer = text(&complete(client.call("eval", json!({"code": "6 * 7"})).await));
    assert!(answer.starts_with("42\n"), "{answer}");
    assert!(answer.contains(";; new session under an old id"), "{answer}");
    client.told(|heard| matches!(heard, Heard::ToolsChanged).then_some(())).await;
    assert_eq!(client.tools().await.len(), 4);
    let answer = text(&complete(client.call("eval", json!({"code": "kept"})).await));
    assert!(
        !answer.contains("new session") && answer.contains("kept"),
        "told once, and what was kept is gone: {answer}"
    );
    assert_eq!(host.probe().sessions, 1);
    client.close().await;
    assert_eq!(host.probe().sessions, 0);
    soon("shutdown", second.shutdown()).await;
}

/// Two hundred tasks of four sessions, at work at the same time and looked at as fast as the client can: each is answered for
/// itself, before and after its end.
#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_tasks_at_a_time_are_never_mixed_up() {
    const TASKS: usize = 200;
    let (server, host, gates) = serve().await;
    let client = connect(server.url(), discover()).await;
    let mut sessions = Vec::new();
    for _ in 0..4 {
        sessions.push(client.session().await);
    }
    let eval = |n: usize, code: String| json!({"code": code, "session": sessions[n % 4], "background": true});
    // All wait for this one.
    let gate = client.call("eval", eval(0, "while !gate::opened(\"all\") {} 1000".to_owned())).await;
    let gate = task_id(gate).rsplit('-').next().unwrap().to_owned();

    let mut starting = JoinSet::new();
    for n in 0..TASKS {
        let peer = client.service.peer().clone();
        let arguments = eval(n, format!("print(\"this is {n}\"); res({gate}).value() * 1000 + {n}"));
        starting.spawn(async move { (n, task_id(call(&peer, "eval", arguments).await)) });
    }
    let ids = soon("starting", starting.join_all()).await;
    for (n, id) in &ids {
        assert!(id.starts_with(&format!("{}-", sessions[n % 4])), "{id} is of session {}", sessions[n % 4]);
    }
    assert_eq!(host.probe().running, TASKS + 1);

    let mut following = JoinSet::new();
    for (n, id) in ids {
        let peer = client.service.peer().clone();
        following.spawn(async move {
            let own = format!("this is {n}");
            let at_work = async {
                loop {
                    let task = task(&peer, &id).await.task;
                    assert_eq!((task.task.task_id.as_str(), task.status()), (id.as_str(), TaskStatus::Working));
                    let said = task.task.status_message.unwrap_or_default();
                    if said.ends_with(&own) {
                        return;
                    }
                    assert!(!said.contains("this is"), "{id} says what another printed: {said}");
                }
            };
            soon("its line", at_work).await;
            (n, id)
        });
    }
    let at_work = soon("a look at each", following.join_all()).await;

    let mut following = JoinSet::new();
    for (n, id) in at_work {
        let peer = client.service.peer().clone();
        following.spawn(async move {
            let end = completed_text(follow(&peer, &id).await);
            let entry = id.rsplit('-').next().unwrap();
            let expected = format!("{}\n;; out\nthis is {n}\n;; id {entry} · ", 1_000_000 + n);
            assert!(end.starts_with(&expected), "{id} of {n} came to {end}");
        });
    }
    gates.open("all");
    assert_eq!(soon("all ends", following.join_all()).await.len(), TASKS);
    client.close().await;
    soon("shutdown", server.shutdown()).await;
}
