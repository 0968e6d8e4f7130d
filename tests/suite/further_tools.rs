//! Tools that an embedding program serves beside the built-in ones.

use crate::fixtures;
use http::{HeaderMap, HeaderValue, Method};
use remontoire::internals::{
    Answered, Body, Dispatcher, HostApi, Incoming, Owner, Reply, Tool, ToolCall, ToolFault, ToolFuture,
};
use remontoire::{Clock, EvalRequest};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// Answers by itself, reporting progress first.
struct Counting;

impl Tool for Counting {
    fn name(&self) -> &str {
        "counting"
    }

    fn declaration(&self) -> Value {
        json!({"name": "counting", "description": "Counts to a hundred", "inputSchema": {"type": "object"}})
    }

    fn call(&self, call: ToolCall) -> ToolFuture {
        Box::pin(async move {
            for step in [0.0, 50.0, 100.0] {
                call.progress(step, 100.0);
            }
            let result = json!({"content": [{"type": "text", "text": "counted"}]});
            Ok(Answered::Result(result.as_object().cloned().unwrap_or_default()))
        })
    }
}

/// Always a task: starts an eval of a session of its own.
struct Slow {
    host: HostApi,
    caller: Owner,
}

impl Tool for Slow {
    fn name(&self) -> &str {
        "slow"
    }

    fn declaration(&self) -> Value {
        json!({"name": "slow", "description": "Takes long", "inputSchema": {"type": "object"}})
    }

    fn call(&self, call: ToolCall) -> ToolFuture {
        let (host, caller) = (self.host.clone(), self.caller);
        Box::pin(async move {
            if !call.tasks {
                return Err(ToolFault::needs_tasks());
            }
            let job = EvalRequest { code: "while !gate::opened(\"slow\") {} 42".into(), ns: None };
            let submitted = host.submit(caller, &job).expect("there is room for an eval");
            Ok(Answered::Work { caller, submitted, grace: Duration::ZERO })
        })
    }
}

fn dispatcher() -> (Dispatcher, fixtures::Gates) {
    let (host, gates) = fixtures::host(&Clock::manual());
    let client = remontoire::internals::ClientInfo::default();
    let api = HostApi::of(&host).clone();
    let (_, caller) = api.create_session(None, client, None).expect("there is room for a session");
    let slow = Slow { host: api, caller };
    (Dispatcher::with_tools(&host, vec![Arc::new(Counting), Arc::new(slow)]), gates)
}

async fn send(dispatcher: &Dispatcher, method: &'static str, tasks: bool, mut params: Value) -> Reply {
    let capabilities = if tasks { json!({"extensions": {"io.modelcontextprotocol/tasks": {}}}) } else { json!({}) };
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
        "progressToken": "p",
    });
    let mut headers = HeaderMap::new();
    headers.insert("content-type", HeaderValue::from_static("application/json"));
    headers.insert("mcp-protocol-version", HeaderValue::from_static("2026-07-28"));
    headers.insert("mcp-method", HeaderValue::from_static(method));
    if let Some(name) = params.get("name").or(params.get("taskId")).and_then(Value::as_str) {
        headers.insert("mcp-name", HeaderValue::from_str(name).unwrap());
    }
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    dispatcher.handle(Incoming { method: Method::POST, headers, body: body.into(), peer: None }).await
}

fn json_of(reply: Reply) -> Value {
    match reply.body {
        Body::Whole(bytes, delivery) => {
            delivery.written();
            serde_json::from_slice(&bytes).unwrap()
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn they_are_listed_after_the_built_in_ones() {
    let (dispatcher, _gates) = dispatcher();
    let listed = json_of(send(&dispatcher, "tools/list", false, json!({})).await);
    let names: Vec<_> = listed["result"]["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["create-session", "eval", "await", "cancel", "counting", "slow"]);
}

#[tokio::test]
async fn what_a_tool_says_on_the_way_makes_a_stream_with_the_answer_last() {
    let (dispatcher, _gates) = dispatcher();
    let reply = send(&dispatcher, "tools/call", false, json!({"name": "counting"})).await;
    let Body::Events(mut events) = reply.body else { panic!("{reply:?}") };
    let mut data = Vec::new();
    while let Some(frame) = events.next().await {
        let text = String::from_utf8(frame.bytes.to_vec()).unwrap();
        data.push(serde_json::from_str::<Value>(text.trim_end().rsplit_once("data: ").unwrap().1).unwrap());
    }
    let steps: Vec<_> = data[..3].iter().map(|event| event["params"]["progress"].as_f64().unwrap()).collect();
    assert_eq!(steps, [0.0, 50.0, 100.0]);
    assert_eq!(data[0]["params"]["progressToken"], "p");
    assert_eq!(data[3]["result"]["content"][0]["text"], "counted");
    assert_eq!(data.len(), 4);
}

#[tokio::test]
async fn a_missing_capability_is_a_400_and_work_becomes_a_task() {
    let (dispatcher, gates) = dispatcher();
    let reply = send(&dispatcher, "tools/call", false, json!({"name": "slow"})).await;
    assert_eq!(reply.status, 400);
    assert_eq!(json_of(reply)["error"]["code"], -32_021);

    let task = json_of(send(&dispatcher, "tools/call", true, json!({"name": "slow"})).await);
    assert_eq!(task["result"]["resultType"], "task");
    gates.open("slow");
    let id = task["result"]["taskId"].clone();
    let end = async {
        loop {
            let end = json_of(send(&dispatcher, "tasks/get", true, json!({"taskId": id})).await);
            if end["result"]["status"] != "working" {
                return end;
            }
            tokio::task::yield_now().await;
        }
    };
    let end = tokio::time::timeout(Duration::from_secs(20), end).await.expect("the task ends");
    assert_eq!(end["result"]["status"], "completed");
    assert!(end["result"]["result"]["content"][0]["text"].as_str().unwrap().starts_with("42"));
}

#[tokio::test]
async fn a_task_can_be_read_for_its_time_also_when_its_session_has_ended() {
    let clock = Clock::manual();
    let (host, gates) = fixtures::host(&clock);
    let api = HostApi::of(&host).clone();
    let session =
        || api.create_session(None, remontoire::internals::ClientInfo::default(), None).expect("there is room");
    let (handle, caller) = session();
    let slow = Slow { host: api.clone(), caller };
    let dispatcher = Dispatcher::with_tools(&host, vec![Arc::new(slow)]);
    let task = json_of(send(&dispatcher, "tools/call", true, json!({"name": "slow"})).await);
    let id = task["result"]["taskId"].clone();
    let get = async || json_of(send(&dispatcher, "tasks/get", true, json!({"taskId": id})).await);
    // Work that has not begun when its session ends fails: its space is gone.
    tokio::time::timeout(Duration::from_secs(20), gates.reached("slow")).await.expect("the work has begun");
    // A day without a word: the session ends at the next eval of somebody else, its work goes on.
    let another_eval = || {
        let job = EvalRequest { code: "1".into(), ns: None };
        api.submit(session().1, &job).map(drop).expect("there is room for an eval");
    };
    clock.advance(Duration::from_secs(25 * 3_600));
    another_eval();
    assert_eq!(api.handle_of(caller), None, "the session has ended");
    assert_eq!(get().await["result"]["status"], "working");

    gates.open("slow");
    let entry = remontoire::EntryId(id.as_str().unwrap().rsplit_once('-').unwrap().1.parse().unwrap());
    tokio::time::timeout(Duration::from_secs(20), api.settled(&[entry], &[], None)).await.expect("it settles");
    for _ in 0..2 {
        let end = get().await;
        assert_eq!(end["result"]["status"], "completed");
        let text = end["result"]["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.starts_with("42\n") && text.contains(&format!(" · session {handle} · ")), "{text}");
    }
    clock.advance(Duration::from_secs(3_600));
    another_eval();
    assert!(get().await.get("error").is_some(), "its time is over");
}

#[tokio::test]
async fn whoever_polls_or_cancels_a_task_the_news_is_its_owners() {
    let (host, _gates) = fixtures::host(&Clock::real());
    let dispatcher = Dispatcher::new(&host);
    let call = async |tasks: bool, tool: &str, arguments: Value| -> Value {
        json_of(send(&dispatcher, "tools/call", tasks, json!({"name": tool, "arguments": arguments})).await)
    };
    let text = |answer: &Value| answer["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned();
    let session = text(&call(false, "create-session", json!({})).await)
        .lines()
        .next()
        .and_then(|line| line.strip_prefix("session "))
        .expect("a session")
        .to_owned();
    let eval = async |arguments: Value| {
        let mut arguments = arguments;
        arguments["session"] = json!(session);
        text(&call(false, "eval", arguments).await)
    };
    // Any client that declares tasks may ask for the entry of another: it is no task that anybody follows.
    let ended = async |id: &str| loop {
        let end = json_of(send(&dispatcher, "tasks/get", true, json!({"taskId": id})).await);
        if end["result"]["status"] != "working" {
            return end["result"]["status"].clone();
        }
        tokio::task::yield_now().await;
    };
    for (code, stop, status) in [("sleep(0.05); 43", false, "completed"), ("sleep(3600)", true, "cancelled")] {
        let running = eval(json!({"code": code, "await": 0})).await;
        let id = running.split(" · ").nth(1).and_then(|id| id.strip_prefix("id ")).expect("an id").to_owned();
        let task = format!("{session}-{id}");
        if stop {
            send(&dispatcher, "tasks/cancel", true, json!({"taskId": task})).await;
        }
        let end = tokio::time::timeout(Duration::from_secs(20), ended(&task)).await.expect("it ends");
        assert_eq!(end, status);
        let next = eval(json!({"code": "1"})).await;
        let said = if stop { "cancelled" } else { "ok" };
        assert!(next.contains(";; settled news: ") && next.contains(&format!("{id} {said}")), "{next}");
    }
    // Who follows a task has its end by polling it, and is not told again.
    let task = call(true, "eval", json!({"code": "sleep(0.05); 44", "background": true, "session": session})).await;
    let task = task["result"]["taskId"].as_str().expect("a task").to_owned();
    let end = tokio::time::timeout(Duration::from_secs(20), ended(&task)).await.expect("it ends");
    assert_eq!(end, "completed");
    let next = eval(json!({"code": "1"})).await;
    assert!(!next.contains("settled news"), "{next}");
}
