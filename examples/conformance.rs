//! A server for the protocol's conformance suite: `cargo run --example conformance`, or `just conformance` for the whole run.
//!
//! It is the program's own server, with the tools that the suite calls beside the built-in ones. Those that take time are evals of
//! one session, and what outlasts [`GRACE`] is followed as a task, so the suite need not wait ten seconds for each.

#![allow(clippy::print_stdout, reason = "whoever starts it reads the address")]

use remontoire::internals::{
    Answered, ClientInfo, Dispatcher, HostApi, Owner, Tool, ToolCall, ToolFault, ToolFuture, serve_dispatcher, until,
};
use remontoire::{Clock, CountingAllocator, EvalRequest, Host, Limits, ServeOptions};
use serde_json::{Map, Value, json};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// How long a request that follows tasks is held here.
const GRACE: Duration = Duration::from_millis(20);

/// The pause between the steps of a tool that reports progress.
const STEP: Duration = Duration::from_millis(50);

/// One red pixel, as PNG in base64.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";

/// One sample of silence, as WAV in base64.
const SILENCE: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQEAAACAAA==";

/// One tool of the suite.
struct Fixture {
    name: &'static str,
    description: &'static str,
    schema: Value,
    behaviour: Behaviour,
    stage: Stage,
}

/// Where fixtures play: the host, and the session their evals belong to.
#[derive(Clone)]
struct Stage {
    host: HostApi,
    caller: Owner,
}

/// What a fixture does with its arguments.
#[derive(Clone, Copy)]
enum Behaviour {
    /// Answers with these blocks of content.
    Content(fn(&Map<String, Value>) -> Value),
    /// Answers that it failed, with this text.
    Fails(&'static str),
    /// Answers with this text to a client that declared this capability.
    Needs(&'static str, &'static str),
    /// Reports progress in three steps, then answers.
    Steps,
    /// Evaluates a script.
    Evaluates(fn(&Map<String, Value>) -> String),
    /// Evaluates a script for clients that follow tasks, and for no others.
    TaskOnly(&'static str),
}

impl Tool for Fixture {
    fn name(&self) -> &str {
        self.name
    }

    fn declaration(&self) -> Value {
        json!({"name": self.name, "description": self.description, "inputSchema": self.schema})
    }

    fn call(&self, call: ToolCall) -> ToolFuture {
        let (stage, behaviour) = (self.stage.clone(), self.behaviour);
        Box::pin(async move {
            match behaviour {
                Behaviour::Content(make) => Ok(answer(make(&call.arguments), false)),
                Behaviour::Fails(why) => Ok(answer(text(why), true)),
                Behaviour::Needs(capability, thanks) => {
                    if !call.capabilities.contains_key(capability) {
                        return Err(ToolFault::NeedsCapability(json!({capability: {}})));
                    }
                    Ok(answer(text(thanks), false))
                }
                Behaviour::Steps => {
                    for progress in [0.0, 50.0, 100.0] {
                        call.progress(progress, 100.0);
                        pause(stage.host.clock()).await;
                    }
                    Ok(answer(text("It took three steps."), false))
                }
                Behaviour::Evaluates(script) => Ok(stage.start(script(&call.arguments))),
                Behaviour::TaskOnly(_) if !call.tasks => Err(ToolFault::needs_tasks()),
                Behaviour::TaskOnly(script) => Ok(stage.start(script.to_owned())),
            }
        })
    }
}

impl Stage {
    /// Starts an eval that the call waits for or follows.
    fn start(&self, code: String) -> Answered {
        match self.host.submit(self.caller, &EvalRequest { code, ns: None }) {
            Ok(submitted) => Answered::Work { caller: self.caller, submitted, grace: GRACE },
            Err(refusal) => answer(text(&refusal.to_string()), true),
        }
    }
}

/// Waits one step, on the host's clock.
async fn pause(clock: &Clock) {
    until(clock, clock.now() + STEP).await;
}

fn answer(content: Value, is_error: bool) -> Answered {
    let mut result = Map::from_iter([("content".to_owned(), content)]);
    if is_error {
        result.insert("isError".to_owned(), Value::Bool(true));
    }
    Answered::Result(result)
}

fn text(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

/// A script that takes so long and then has the label as its value.
fn slow_script(arguments: &Map<String, Value>) -> String {
    let seconds = arguments.get("seconds").and_then(Value::as_f64).unwrap_or_default();
    let label = arguments.get("label").and_then(Value::as_str).unwrap_or_default();
    // What JSON writes for text is text to a script too.
    format!("sleep({seconds:?}); {}", Value::from(label))
}

fn greeting(arguments: &Map<String, Value>) -> Value {
    let name = arguments.get("name").and_then(Value::as_str).unwrap_or("stranger");
    text(&format!("Hello, {name}!"))
}

fn resource(uri: &str, media_type: &str, content: &str) -> Value {
    json!({"type": "resource", "resource": {"uri": uri, "mimeType": media_type, "text": content}})
}

/// The tools the suite calls, with the content it expects of them.
fn fixtures(stage: &Stage) -> Vec<Arc<dyn Tool>> {
    let nothing = || json!({"type": "object", "additionalProperties": false});
    let with = |properties: Value| json!({"type": "object", "properties": properties});
    let image = |_: &Map<String, Value>| json!([{"type": "image", "data": PIXEL, "mimeType": "image/png"}]);
    let audio = |_: &Map<String, Value>| json!([{"type": "audio", "data": SILENCE, "mimeType": "audio/wav"}]);
    let embedded = |_: &Map<String, Value>| {
        json!([resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")])
    };
    let mixed = |_: &Map<String, Value>| {
        json!([
            {"type": "text", "text": "Multiple content types test:"},
            {"type": "image", "data": PIXEL, "mimeType": "image/png"},
            resource("test://mixed-content-resource", "application/json", "{\"test\":\"data\",\"value\":123}"),
        ])
    };
    let rows: Vec<(&'static str, &'static str, Value, Behaviour)> = vec![
        (
            "test_simple_text",
            "Answers with text",
            nothing(),
            Behaviour::Content(|_| text("This is a simple text response for testing.")),
        ),
        ("test_image_content", "Answers with an image", nothing(), Behaviour::Content(image)),
        ("test_audio_content", "Answers with a sound", nothing(), Behaviour::Content(audio)),
        ("test_embedded_resource", "Answers with a resource", nothing(), Behaviour::Content(embedded)),
        ("test_multiple_content_types", "Answers with several kinds of content", nothing(), Behaviour::Content(mixed)),
        (
            "test_error_handling",
            "Fails",
            nothing(),
            Behaviour::Fails("This tool intentionally returns an error for testing"),
        ),
        ("test_tool_with_progress", "Reports progress", nothing(), Behaviour::Steps),
        (
            "json_schema_2020_12_tool",
            "Shows a schema with much in it",
            rich_schema(),
            Behaviour::Content(|_| text("The schema was read.")),
        ),
        (
            "test_missing_capability",
            "Needs a client that samples",
            nothing(),
            Behaviour::Needs("sampling", "The client could sample."),
        ),
        (
            "test_streaming_elicitation",
            "Asks nothing of the client",
            nothing(),
            Behaviour::Content(|_| text("Nothing was asked.")),
        ),
        ("test_logging_tool", "Logs nothing", nothing(), Behaviour::Content(|_| text("Nothing was logged."))),
        ("greet", "Greets", with(json!({"name": {"type": "string"}})), Behaviour::Content(greeting)),
        (
            "slow_compute",
            "Takes its time",
            with(json!({"seconds": {"type": "number"}, "label": {"type": "string"}})),
            Behaviour::Evaluates(slow_script),
        ),
        (
            "failing_job",
            "Fails after a second, as a task",
            nothing(),
            Behaviour::TaskOnly("sleep(1); throw \"the job failed\""),
        ),
        (
            "confirm_delete",
            "Would ask the client before it deletes",
            with(json!({"filename": {"type": "string"}})),
            Behaviour::Fails("this server asks nothing of a client in the middle of a call"),
        ),
    ];
    let fixture = |(name, description, schema, behaviour)| -> Arc<dyn Tool> {
        Arc::new(Fixture { name, description, schema, behaviour, stage: stage.clone() })
    };
    rows.into_iter().map(fixture).collect()
}

/// A schema whose every keyword must come through a listing.
fn rich_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            },
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    })
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let port = std::env::args().nth(1).map_or(Ok(0), |port| port.parse::<u16>())?;
    let limits = Limits { grace: GRACE, ..Limits::default() };
    let host = Host::builder().describe("fixtures of the conformance suite").limits(limits).build()?;
    let api = HostApi::of(&host).clone();
    let (_, caller) = api.create_session(Some("fixtures".into()), ClientInfo::default(), None)?;
    let tools = fixtures(&Stage { host: api, caller });
    let dispatcher = Dispatcher::with_tools(&host, tools);
    let server = serve_dispatcher(dispatcher, ([127, 0, 0, 1], port).into(), ServeOptions::default()).await?;
    println!("{}", server.url());
    tokio::signal::ctrl_c().await?;
    server.shutdown().await;
    Ok(())
}
