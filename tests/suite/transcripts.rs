//! Conversations with the protocol, each in a file of `transcripts/`: every reply whole, with its keys sorted. No socket.
//! `UPDATE_EXPECT=1` rewrites what the replies are; read the difference before keeping it.
//!
//! A line of a transcript begins with what it is:
//!
//! ```text
//! #  a remark
//! :  a header of the next request, `: Mcp-Name: eval`; without a value it is left out
//! >  a request: `> METHOD {params}`, `> tools/call TOOL {arguments}`, `> notify METHOD {params}`, `> raw BODY`, or a bare
//!    HTTP method. `id=7` before the method gives its id; `+tasks` and `+progress=TOKEN` at the end declare and ask for things
//! <  the reply to the oldest request whose reply was not shown yet, awaited
//! !  the world moves: `open GATE`, `advance 5s`, `settled ID`, `reached GATE` (a script waits there), `disconnect` (the oldest request's client
//!    goes away), `session ID` and `revision DATE` (what later requests of a header session say), `close` (the host), `stop` (the server)
//! ```
//!
//! The folder says which era the requests are dressed for. Random names are shown as stand-ins (`AAA`, `BBB`, … for handles,
//! `session-1` for header sessions) and may be used as such. Scripts wait with `while !gate::opened("a") {}`.

use crate::fixtures::{self, Gates};
use expect_test::expect_file;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use remontoire::internals::{Body, Dispatcher, HostApi, Incoming, Reply};
use remontoire::{Clock, EntryId, Host};
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::task::JoinHandle;

/// Longer than anything takes; a transcript that gets here hangs.
const PATIENCE: Duration = Duration::from_secs(20);

const MODERN: &str = "2026-07-28";
/// Stand-ins for handles: none of them can be one.
const HANDLES: [&str; 4] = ["AAA", "BBB", "CCC", "DDD"];

#[test]
fn legacy() {
    run_folder(Era::Legacy);
}

#[test]
fn modern() {
    run_folder(Era::Modern);
}

/// The document names its evidence, and all of it.
#[test]
fn the_document_names_every_transcript_and_no_other() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let document = std::fs::read_to_string(root.join("doc/protocol.md")).unwrap();
    let mut named: Vec<String> = document
        .split('`')
        .filter(|word| word.starts_with("legacy/") || word.starts_with("modern/"))
        .map(|word| format!("{word}.txt"))
        .collect();
    named.sort();
    named.dedup();
    let mut there = Vec::new();
    for era in ["legacy", "modern"] {
        for entry in std::fs::read_dir(root.join("tests/transcripts").join(era)).unwrap() {
            there.push(format!("{era}/{}", entry.unwrap().file_name().to_string_lossy()));
        }
    }
    there.sort();
    assert_eq!(named, there);
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Era {
    Legacy,
    Modern,
}

fn run_folder(era: Era) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts").join(match era {
        Era::Legacy => "legacy",
        Era::Modern => "modern",
    });
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    let only = std::env::var("TRANSCRIPT").ok();
    for file in files.iter().filter(|file| only.as_ref().is_none_or(|only| file.to_string_lossy().contains(only))) {
        let script = std::fs::read_to_string(file).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let shown = runtime.block_on(async {
            let run = Conversation::new(era).run(&script);
            tokio::time::timeout(PATIENCE, run).await.unwrap_or_else(|_| panic!("{} hangs", file.display()))
        });
        expect_file![file].assert_eq(&shown);
    }
}

/// One run of one file.
struct Conversation {
    era: Era,
    host: Host,
    clock: Clock,
    gates: Gates,
    dispatcher: Dispatcher,
    open: VecDeque<JoinHandle<String>>,
    headers: Vec<(String, Option<String>)>,
    session: Option<String>,
    revision: String,
    next_id: u64,
    names: Names,
}

/// Random names and what stands for them.
#[derive(Default)]
struct Names {
    handles: usize,
    sessions: usize,
    pairs: Vec<(String, String)>,
}

impl Names {
    fn learn(&mut self, real: &str, shown: String) {
        self.pairs.push((real.to_owned(), shown));
    }

    fn hide(&mut self, text: &str) -> String {
        let mut text = text.to_owned();
        for (real, shown) in &self.pairs {
            text = replace_word(&text, real, shown);
        }
        // The adoption notice tells the local time of day.
        if let Some(at) = text.find("this process started ") {
            let at = at + "this process started ".len();
            text.replace_range(at..at + 5, "hh:mm");
        }
        text
    }

    fn unhide(&self, text: &str) -> String {
        self.pairs.iter().fold(text.to_owned(), |text, (real, shown)| replace_word(&text, shown, real))
    }
}

/// Replaces a name where it stands as a word of its own.
fn replace_word(text: &str, from: &str, to: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(from) {
        let (before, after) = (&rest[..at], &rest[at + from.len()..]);
        let joined = before.chars().next_back().or_else(|| out.chars().next_back()).is_some_and(char::is_alphanumeric)
            || after.chars().next().is_some_and(char::is_alphanumeric);
        out.push_str(before);
        out.push_str(if joined { from } else { to });
        rest = after;
    }
    out + rest
}

impl Conversation {
    fn new(era: Era) -> Self {
        let clock = Clock::manual();
        let (host, gates) = fixtures::host(&clock);
        let dispatcher = Dispatcher::new(&host);
        Self {
            era,
            host,
            clock,
            gates,
            dispatcher,
            open: VecDeque::new(),
            headers: Vec::new(),
            session: None,
            revision: if era == Era::Legacy { "2025-11-25" } else { MODERN }.to_owned(),
            next_id: 1,
            names: Names::default(),
        }
    }

    async fn run(mut self, script: &str) -> String {
        let mut shown = String::new();
        let mut in_reply = false;
        for line in script.lines() {
            let was_in_reply = std::mem::replace(&mut in_reply, line.starts_with('<'));
            if in_reply {
                if !was_in_reply {
                    shown.push_str(&self.reply().await);
                }
                continue;
            }
            shown.push_str(line);
            shown.push('\n');
            match line.split_at_checked(2) {
                Some((": ", header)) => self.header(header),
                Some(("> ", request)) => self.request(request).await,
                Some(("! ", act)) => self.act(act).await,
                Some(("# ", _)) | None => {}
                Some(_) => panic!("what is `{line}`?"),
            }
        }
        shown
    }

    fn header(&mut self, line: &str) {
        let (name, value) = line.split_once(':').unwrap();
        let value = Some(value.strip_prefix(' ').unwrap_or(value)).filter(|value| !value.is_empty());
        self.headers.push((name.to_owned(), value.map(str::to_owned)));
    }

    async fn request(&mut self, line: &str) {
        let line = self.names.unhide(line);
        let parsed = Line::parse(&line);
        let method = match parsed.method {
            "GET" | "PUT" | "DELETE" | "PATCH" => Method::from_bytes(parsed.method.as_bytes()).unwrap(),
            _ => Method::POST,
        };
        let mut headers: Vec<(String, String)> = vec![
            ("content-type".into(), "application/json".into()),
            ("accept".into(), "application/json, text/event-stream".into()),
            ("mcp-protocol-version".into(), self.revision.clone()),
        ];
        let mut body = String::new();
        if parsed.method == "raw" {
            body = parsed.rest.to_owned();
        } else if method == Method::POST {
            let message = self.message(&parsed);
            if self.era == Era::Modern {
                headers.push(("mcp-method".into(), message["method"].as_str().unwrap().into()));
                let name = message["params"].get("name").or_else(|| message["params"].get("taskId"));
                if let Some(name) = name.and_then(Value::as_str) {
                    headers.push(("mcp-name".into(), name.into()));
                }
            }
            body = message.to_string();
        }
        if self.era == Era::Legacy
            && parsed.method != "initialize"
            && let Some(session) = &self.session
        {
            headers.push(("mcp-session-id".into(), session.clone()));
        }
        for (name, value) in std::mem::take(&mut self.headers) {
            let name = name.to_lowercase();
            headers.retain(|(known, _)| *known != name);
            headers.extend(value.map(|value| (name, value)));
        }
        let incoming = Incoming {
            method,
            headers: headers
                .into_iter()
                .map(|(name, value)| {
                    (HeaderName::from_bytes(name.as_bytes()).unwrap(), HeaderValue::from_str(&value).unwrap())
                })
                .collect::<HeaderMap>(),
            body: body.into(),
            peer: Some(([127, 0, 0, 1], 5000).into()),
        };
        let dispatcher = self.dispatcher.clone();
        self.open.push_back(tokio::spawn(async move { read(dispatcher.handle(incoming).await).await }));
        settle().await;
    }

    fn message(&mut self, line: &Line<'_>) -> Value {
        let mut method = line.method;
        let mut rest = line.rest;
        let notification = method == "notify";
        if notification {
            (method, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        }
        let mut params = Map::new();
        if method == "tools/call" {
            let (name, arguments) = rest.split_once(' ').unwrap_or((rest, "{}"));
            params.insert("name".into(), json!(name));
            params.insert("arguments".into(), serde_json::from_str(arguments).unwrap());
        } else if !rest.is_empty() {
            params = serde_json::from_str(rest).unwrap();
        }
        if method == "initialize" && !params.contains_key("protocolVersion") {
            params.insert("protocolVersion".into(), json!(self.revision));
            params.insert("capabilities".into(), json!({}));
            params.insert("clientInfo".into(), json!({"name": "transcript", "version": "1"}));
        }
        let mut meta = match params.remove("_meta") {
            Some(Value::Object(meta)) => meta,
            _ if self.era == Era::Legacy => Map::new(),
            _ => {
                let capabilities = match line.tasks {
                    true => json!({"extensions": {"io.modelcontextprotocol/tasks": {}}}),
                    false => json!({}),
                };
                let mut meta = Map::new();
                meta.insert("io.modelcontextprotocol/protocolVersion".into(), json!(MODERN));
                meta.insert("io.modelcontextprotocol/clientCapabilities".into(), capabilities);
                meta
            }
        };
        meta.extend(line.token.clone().map(|token| ("progressToken".to_owned(), token)));
        if !meta.is_empty() {
            params.insert("_meta".into(), Value::Object(meta));
        }
        if notification {
            return json!({"jsonrpc": "2.0", "method": method, "params": params});
        }
        let id = line.id.clone().unwrap_or_else(|| json!(self.next_id));
        self.next_id += 1;
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
    }

    async fn reply(&mut self) -> String {
        let reply = self.open.pop_front().expect("a request for this reply").await.unwrap();
        self.learn(&reply);
        self.names.hide(&reply)
    }

    /// Finds the random names a reply gives out.
    fn learn(&mut self, reply: &str) {
        if let Some(at) = reply.find("mcp-session-id: ") {
            let id = reply[at + 16..].lines().next().unwrap().to_owned();
            self.names.sessions += 1;
            let n = self.names.sessions;
            self.names.learn(&id, format!("session-{n}"));
            self.names.learn(&id[..8], format!("sessio-{n}"));
            self.session = Some(id);
        }
        if let Some(at) = reply.find("\"text\": \"session ") {
            let rest = &reply[at + 17..];
            let handle: String = rest.chars().take_while(char::is_ascii_lowercase).collect();
            self.names.learn(&handle, HANDLES[self.names.handles].to_owned());
            self.names.handles += 1;
        }
    }

    async fn act(&mut self, act: &str) {
        let (verb, rest) = act.split_once(' ').unwrap_or((act, ""));
        match verb {
            "open" => self.gates.open(rest),
            "advance" => {
                let seconds: f64 = rest.strip_suffix('s').unwrap().parse().unwrap();
                self.clock.advance(Duration::from_secs_f64(seconds));
            }
            "settled" => {
                let id = EntryId(rest.parse().unwrap());
                assert!(HostApi::of(&self.host).settled(&[id], &[], None).await);
            }
            "reached" => self.gates.reached(rest).await,
            "disconnect" => {
                let gone = self.open.pop_front().expect("a request whose client can go away");
                gone.abort();
                assert!(gone.await.unwrap_err().is_cancelled());
            }
            "session" => self.session = Some(self.names.unhide(rest)).filter(|id| !id.is_empty()),
            "revision" => self.revision = rest.to_owned(),
            "close" => self.host.close(),
            "stop" => self.dispatcher.shut_down(),
            other => panic!("nobody knows how to {other}"),
        }
        settle().await;
    }
}

/// Lets every task run until it waits for something.
async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

/// A `>` line taken apart.
struct Line<'a> {
    id: Option<Value>,
    method: &'a str,
    rest: &'a str,
    tasks: bool,
    token: Option<Value>,
}

impl<'a> Line<'a> {
    fn parse(line: &'a str) -> Self {
        let (mut line, mut tasks, mut token) = (line.trim_end(), false, None);
        while let Some((head, flag)) = line.rsplit_once(" +") {
            match flag.split_once('=') {
                None if flag == "tasks" => tasks = true,
                Some(("progress", text)) => token = Some(serde_json::from_str(text).unwrap()),
                _ => break,
            }
            line = head;
        }
        let mut id = None;
        if let Some(rest) = line.strip_prefix("id=") {
            let (text, rest) = rest.split_once(' ').unwrap();
            id = Some(serde_json::from_str(text).unwrap());
            line = rest;
        }
        let (method, rest) = line.split_once(' ').unwrap_or((line, ""));
        Self { id, method, rest, tasks, token }
    }
}

/// Reads a reply to its end, as a client that takes everything.
async fn read(reply: Reply) -> String {
    let mut shown = format!("< {}", reply.status.as_u16());
    for (name, value) in &reply.headers {
        let value = value.to_str().unwrap();
        if value != "application/json" {
            shown.push_str(&format!("\n< {name}: {value}"));
        }
    }
    match reply.body {
        Body::Empty => {}
        Body::Whole(bytes, delivery) => {
            delivery.written();
            match serde_json::from_slice(&bytes) {
                Ok(json) => shown.push_str(&pretty(&json)),
                Err(_) => shown.push_str(&format!("\n< {}", String::from_utf8_lossy(&bytes).trim_end())),
            }
        }
        Body::Events(mut events) => {
            while let Some(frame) = events.next().await {
                let text = String::from_utf8(frame.bytes.to_vec()).unwrap();
                frame.delivery.written();
                assert!(text.ends_with("\n\n"), "a frame ends with an empty line: {text:?}");
                for event in text.trim_end().split("\n\n") {
                    match event.strip_prefix("event: message\ndata: ") {
                        Some(data) => {
                            shown.push_str("\n< event");
                            shown.push_str(&pretty(&serde_json::from_str(data).unwrap()));
                        }
                        None => shown.push_str(&format!("\n< comment {event}")),
                    }
                }
            }
            shown.push_str("\n< end");
        }
    }
    shown.push('\n');
    shown
}

/// JSON over several lines, with its keys sorted.
fn pretty(value: &Value) -> String {
    let text = serde_json::to_string_pretty(&sorted(value)).unwrap();
    text.lines().map(|line| format!("\n< {line}")).collect()
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(object) => {
            let mut pairs: Vec<_> = object.iter().collect();
            pairs.sort_by_key(|(key, _)| key.as_str());
            pairs.into_iter().map(|(key, value)| (key.clone(), sorted(value))).collect::<Map<_, _>>().into()
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}
