//! Random JSON for every argument of every tool, in both eras: it is taken, or refused by one text that names it and starts nothing.

use crate::fixtures;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use remontoire::internals::{Body, ClientInfo, Dispatcher, HostApi, Incoming, Reply};
use remontoire::{Clock, Host};
use serde_json::{Map, Value, json};

/// How a request is dressed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Wire {
    Handshake,
    Modern,
    Tasks,
}

/// Every tool, with the arguments it knows.
const TOOLS: [(&str, &[&str]); 4] = [
    ("create-session", &["note"]),
    ("eval", &["code", "ns", "await", "background", "session"]),
    ("await", &["all", "any", "seconds", "session"]),
    ("cancel", &["ids", "session"]),
];

/// A value as a client might send one: of every kind, and near to what is wanted.
fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0..20_i64).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[0-9a-z\\[\\]\"., +-]{0,8}".prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        prop_oneof!["[1-9]", "zzz-[1-9]", "[1-9], [1-9]", "\\[[1-9]\\]", "true|false|yes|null|none|inf|nan|1e999"]
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[a-z0-9]{0,4}", inner), 0..3)
                .prop_map(|pairs| pairs.into_iter().collect::<Map<_, _>>().into()),
        ]
    })
}

/// A call of a tool: some of its arguments, and now and then one it does not know.
fn call() -> impl Strategy<Value = (&'static str, Map<String, Value>)> {
    let tool = prop::sample::select(&TOOLS[..]);
    tool.prop_flat_map(|(tool, names)| {
        let known = prop::collection::vec(prop::option::weighted(0.6, anything()), names.len());
        let unknown = prop::option::weighted(0.1, ("[a-zA-Z_]{1,9}", anything()));
        (known, unknown).prop_map(move |(values, unknown)| {
            let named = names.iter().map(|name| (*name).to_owned()).zip(values);
            let known = named.filter_map(|(name, value)| Some((name, value?)));
            (tool, known.chain(unknown).collect())
        })
    })
}

struct Server {
    api: HostApi,
    dispatcher: Dispatcher,
    handle: String,
    _host: Host,
}

impl Server {
    fn new() -> Self {
        let (host, _) = fixtures::host(&Clock::manual());
        let api = HostApi::of(&host).clone();
        let (handle, _) = api.create_session(None, ClientInfo::default(), None).unwrap();
        Self { api, dispatcher: Dispatcher::new(&host), handle: handle.to_string(), _host: host }
    }

    async fn call(&self, wire: Wire, tool: &str, arguments: &Map<String, Value>) -> Value {
        let mut headers = HeaderMap::new();
        let mut set = |name: &'static str, value: &str| {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
        };
        set("content-type", "application/json");
        set("accept", "application/json");
        let mut params = json!({"name": tool, "arguments": arguments});
        if wire == Wire::Handshake {
            set("mcp-session-id", "a-session");
        } else {
            set("mcp-protocol-version", "2026-07-28");
            set("mcp-method", "tools/call");
            set("mcp-name", tool);
            let capabilities = match wire {
                Wire::Tasks => json!({"extensions": {"io.modelcontextprotocol/tasks": {}}}),
                _ => json!({}),
            };
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": capabilities,
            });
        }
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
        let reply: Reply =
            self.dispatcher.handle(Incoming { method: Method::POST, headers, body: body.into(), peer: None }).await;
        let Body::Whole(bytes, delivery) = reply.body else { panic!("one text: {:?}", reply.body) };
        delivery.written();
        serde_json::from_slice(&bytes).unwrap()
    }

    /// How many sessions there are, and evals were started.
    fn counts(&self) -> (u64, u64) {
        let evals = self
            .api
            .submit(remontoire::internals::Owner::Local, &remontoire::EvalRequest { code: "1".into(), ns: None });
        let evals = evals.expect("room for an eval").id().0;
        (self.api.probe().sessions as u64, evals)
    }
}

/// What a call answered: taken, or refused by the lines of a text.
fn verdict(answer: &Value) -> Result<bool, TestCaseError> {
    let content = answer["result"]["content"].as_array();
    let Some([block]) = content.map(Vec::as_slice) else {
        return Err(TestCaseError::fail(format!("no block of text: {answer}")));
    };
    let text = block["text"].as_str().unwrap();
    let refused = ["argument `", "unknown argument `", "no session `", "this call needs a session"];
    let is_refused = answer["result"]["isError"] == true && refused.iter().any(|words| text.starts_with(words));
    if is_refused {
        for line in text.lines().filter(|line| !line.starts_with(";;")) {
            prop_assert!(refused.iter().any(|words| line.starts_with(words)), "{line} in {text}");
        }
    }
    Ok(is_refused)
}

#[test]
fn whatever_is_sent_is_taken_or_refused_by_name() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let seed = *b"every argument of every tool!!!!";
    let config = Config { cases: 1_500, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &seed));
    let server = Server::new();
    let wire = prop::sample::select(&[Wire::Handshake, Wire::Modern, Wire::Tasks][..]);
    let strategy = (wire, call(), any::<bool>());
    runner
        .run(&strategy, |(wire, (tool, mut arguments), with_session)| {
            // Most calls belong to a session that exists, so that it is the other arguments that decide.
            if with_session && tool != "create-session" {
                arguments.insert("session".into(), json!(server.handle));
            }
            // A wait on what will never be there is answered; one on what runs would take its time.
            let before = server.counts();
            let answer = runtime.block_on(async {
                let call = server.call(wire, tool, &arguments);
                tokio::time::timeout(std::time::Duration::from_secs(20), call).await.expect("an answer")
            });
            let is_refused = verdict(&answer)?;
            let after = server.counts();
            if is_refused {
                prop_assert!(
                    after.1 == before.1 + 1,
                    "{tool} {arguments:?} was refused and started something: {answer}"
                );
                if tool == "create-session" {
                    prop_assert_eq!(after.0, before.0);
                }
            }
            Ok(())
        })
        .unwrap();
}
