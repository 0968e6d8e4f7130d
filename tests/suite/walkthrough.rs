//! `doc/walkthrough.md` is what happens: every line typed in it is sent, by two agents over the protocol and by somebody at the
//! prompt of the same process, and the answers are compared. `UPDATE_EXPECT=1` rewrites them; read the difference.
//!
//! In its `text` fences a line `WHO> code` is an eval. More may stand before the `>`: `ann, in shop>` names a space, `ann, await 0>`
//! does not wait, `ann, await> 7` and `ann, cancel> 7` are the tools, and `you, news>` asks for what the prompt would print.

use crate::harness::{Harness, within};
use expect_test::expect_file;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use remontoire::internals::{Body, Dispatcher, Incoming, Owner, PromptSession, Style};
use remontoire::{Clock, EntryId, EvalRequest, Limits};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

const MODERN: &str = "2026-07-28";

/// An agent: how its requests are dressed.
enum Agent {
    /// Says in every request who it is.
    Modern { handle: String },
    /// Has a header session.
    Legacy { key: String },
}

struct Walk {
    harness: Harness,
    dispatcher: Dispatcher,
    ann: Agent,
    ben: Agent,
    seat: PromptSession,
}

#[tokio::test]
async fn the_walk_is_what_happens() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("doc/walkthrough.md");
    let text = fs::read_to_string(&file).unwrap();
    let walk = Walk::begin(&text).await;
    let mut shown = String::new();
    let (mut fenced, mut asked) = (false, 0);
    for line in text.lines() {
        if line.starts_with("```") {
            fenced = !fenced && line == "```text";
        } else if fenced {
            // Everything else in the fence is an answer, and made anew.
            if let Some((who, said)) = line.split_once('>').filter(|(who, _)| is_speaker(who)) {
                let answer = within(line, walk.answer(who, said.trim())).await;
                shown.push_str(&format!("{line}\n{}\n", walk.disguise(answer.trim_end())));
                asked += 1;
            }
            continue;
        }
        shown.push_str(line);
        shown.push('\n');
    }
    assert!(asked > 20, "the walk has {asked} steps");
    expect_file![file].assert_eq(&shown);
}

fn is_speaker(who: &str) -> bool {
    ["ann", "ben", "you"].contains(&who.split(',').next().unwrap_or_default())
}

impl Walk {
    /// The three of them have arrived. Blocks of the text that begin with `// scripts/NAME` are files.
    async fn begin(text: &str) -> Self {
        // Time stands still, so that no answer depends on it.
        let harness = Harness::with(Clock::manual(), Limits::default());
        for block in text.split("```rhai\n// scripts/").skip(1) {
            let (name, rest) = block.split_once('\n').unwrap();
            harness.script(name, rest.split("```").next().unwrap());
        }
        let dispatcher = Dispatcher::new(&harness.host);
        let seat = harness.api.open_prompt(Style::Agent);
        let nobody = || Agent::Modern { handle: String::new() };
        let mut walk = Self { harness, dispatcher, ann: nobody(), ben: nobody(), seat };
        let (answer, _) = walk.call(&walk.ann, "tools/call", json!({"name": "create-session", "arguments": {}})).await;
        let handle: String = text_of(&answer).split_whitespace().nth(1).unwrap().to_owned();
        walk.ann = Agent::Modern { handle };
        let hello =
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "ben", "version": "1"}});
        let (_, key) = walk.call(&Agent::Legacy { key: String::new() }, "initialize", hello).await;
        walk.ben = Agent::Legacy { key: key.expect("initialize opens a session") };
        walk
    }

    /// What `who`, with all that stands before the `>`, is answered.
    async fn answer(&self, who: &str, said: &str) -> String {
        let (name, how) = who.split_once(", ").unwrap_or((who, ""));
        let agent = match name {
            "ann" => &self.ann,
            "ben" => &self.ben,
            _ => return self.answer_prompt(how, said).await,
        };
        let id = || vec![said.parse::<u64>().unwrap()];
        let (tool, mut arguments) = match how.split_once(' ').unwrap_or((how, "")) {
            ("", "") => ("eval", json!({"code": said})),
            ("in", ns) => ("eval", json!({"code": said, "ns": ns})),
            ("await", "0") => ("eval", json!({"code": said, "await": 0})),
            ("await", "") => ("await", json!({"all": id()})),
            ("cancel", "") => ("cancel", json!({"ids": id()})),
            other => panic!("nobody knows how to {other:?}"),
        };
        if let Agent::Modern { handle } = agent {
            arguments["session"] = json!(handle);
        }
        let (answer, _) = self.call(agent, "tools/call", json!({"name": tool, "arguments": arguments})).await;
        text_of(&answer).to_owned()
    }

    async fn answer_prompt(&self, how: &str, said: &str) -> String {
        let host = &self.harness.api;
        let answer = match how {
            "news" => self.seat.news().expect("there is news"),
            "cancel" => host.answer_cancel(Owner::Local, &[said.parse().unwrap()]).await,
            _ => {
                let submitted = host.submit(Owner::Local, &EvalRequest::new(said)).unwrap();
                if how != "await 0" {
                    let id: EntryId = submitted.id();
                    host.settled(&[id], &[], None).await;
                }
                self.seat.answer(submitted, false)
            }
        };
        answer.delivery.written();
        answer.text
    }

    /// One request: the result, and the session id that came with it.
    async fn call(&self, agent: &Agent, method: &str, mut params: Value) -> (Value, Option<String>) {
        let mut headers = HeaderMap::new();
        let mut set = |name: &'static str, value: &str| {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
        };
        set("content-type", "application/json");
        set("accept", "application/json, text/event-stream");
        match agent {
            Agent::Modern { .. } => {
                params["_meta"] = json!({
                    "io.modelcontextprotocol/protocolVersion": MODERN,
                    "io.modelcontextprotocol/clientCapabilities": {},
                });
                set("mcp-protocol-version", MODERN);
                set("mcp-method", method);
                set("mcp-name", params["name"].as_str().unwrap());
            }
            Agent::Legacy { key } if key.is_empty() => {}
            Agent::Legacy { key } => set("mcp-session-id", key),
        }
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        let incoming = Incoming { method: Method::POST, headers, body: body.into(), peer: None };
        let reply = self.dispatcher.handle(incoming).await;
        let session = reply.headers.iter().find(|(name, _)| name.as_str() == "mcp-session-id");
        let session = session.map(|(_, value)| value.to_str().unwrap().to_owned());
        let Body::Whole(bytes, delivery) = reply.body else { panic!("time stands still: no stream begins") };
        delivery.written();
        (serde_json::from_slice(&bytes).unwrap(), session)
    }

    /// The text with its random names replaced.
    fn disguise(&self, text: &str) -> String {
        let mut text = text.to_owned();
        if let Agent::Modern { handle } = &self.ann {
            for (before, after) in [("session ", ""), ("s-", ""), ("\"", "\"")] {
                text = text.replace(&format!("{before}{handle}{after}"), &format!("{before}bfw{after}"));
            }
        }
        if let Agent::Legacy { key } = &self.ben {
            text = text.replace(&key[..8], "1a2b3c4d");
        }
        text
    }
}

fn text_of(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}
