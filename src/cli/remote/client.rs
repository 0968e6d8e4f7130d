//! A client of a running instance.
//!
//! It speaks the stateless revision of the protocol: one request, one connection. Dropping a call closes its connection, which
//! is how that revision cancels.

use super::events::Events;
use crate::base::Refusal;
use crate::http::Token;
use bytes::Bytes;
use http::header::{self, HeaderValue};
use http::{Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::net::TcpStream;

/// The revision this client speaks.
const REVISION: &str = "2026-07-28";
/// The longest answer that is read. Answers of an instance are a few KiB; this bounds what a stranger can make us keep.
const LONGEST: usize = 16 << 20;

/// Why a running instance could not be asked.
#[derive(Debug)]
pub(super) enum RemoteError {
    /// Not a URL this client can reach.
    Url(String),
    /// Nobody listens there.
    Connect(String, std::io::Error),
    /// The connection broke.
    Broken(String),
    /// It has not answered for so long.
    Silent(Duration),
    /// It wants a token, or another one.
    Token,
    /// It answered something else than the protocol.
    Foreign(String),
    /// It refused, in its own words.
    Refused(String),
    /// It does not know our session any more.
    Over(String),
}

impl fmt::Display for RemoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url(given) => {
                write!(f, "`{given:.100}` is not a URL to attach to; one looks like http://127.0.0.1:7766/mcp")
            }
            Self::Connect(place, error) => write!(f, "nothing is running at {place}: {error}"),
            Self::Broken(why) => write!(f, "the connection broke: {why}"),
            Self::Silent(time) => write!(f, "the instance has not answered for {} s", time.as_secs()),
            Self::Token => f.write_str("the instance wants its bearer token: give it with --token or REMONTOIRE_TOKEN"),
            Self::Foreign(what) => write!(f, "this does not look like an instance of remontoire: {what:.200}"),
            Self::Refused(why) => f.write_str(why),
            Self::Over(session) => write!(
                f,
                "session {session} is over: the instance was restarted, or it was silent for too long; leave with :quit and attach again"
            ),
        }
    }
}

impl std::error::Error for RemoteError {}

/// The answer of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ToolAnswer {
    /// Its text.
    pub(super) text: String,
    /// It says that something failed.
    pub(super) is_error: bool,
}

/// A session on a running instance.
#[derive(Debug)]
pub(super) struct Remote {
    /// Host and port, for the connection and the `Host` header.
    place: String,
    path: String,
    bearer: Option<HeaderValue>,
    session: Option<String>,
    next_id: AtomicU64,
}

impl Remote {
    /// Opens a session there, with a note on what it is for.
    pub(super) async fn connect(url: &str, token: Option<&Token>, note: &str) -> Result<Self, RemoteError> {
        let wrong = || RemoteError::Url(url.to_owned());
        let uri: Uri = url.parse().map_err(|_| wrong())?;
        if uri.scheme_str() != Some("http") {
            return Err(wrong());
        }
        let authority = uri.authority().ok_or_else(wrong)?;
        let place = format!("{}:{}", authority.host(), authority.port_u16().unwrap_or(80));
        let path = if uri.path() == "/" { "/mcp" } else { uri.path() };
        let mut remote = Self {
            place,
            path: path.to_owned(),
            bearer: token.map(Token::bearer),
            session: None,
            next_id: AtomicU64::new(1),
        };
        let answer = remote.call("create-session", json!({ "note": note }), |_| ()).await?;
        let session = answer.text.lines().next().and_then(|line| line.strip_prefix("session "));
        let session = session.ok_or_else(|| RemoteError::Foreign(answer.text.clone()))?;
        remote.session = Some(session.trim().to_owned());
        Ok(remote)
    }

    /// The handle of the session.
    pub(super) fn session(&self) -> &str {
        self.session.as_deref().unwrap_or_default()
    }

    /// Calls a tool, with the session beside `arguments`. `progress` is told the latest line of output from time to time.
    pub(super) async fn call(
        &self,
        tool: &str,
        mut arguments: Value,
        mut progress: impl FnMut(&str),
    ) -> Result<ToolAnswer, RemoteError> {
        if let (Some(session), Some(arguments)) = (&self.session, arguments.as_object_mut()) {
            arguments.insert("session".to_owned(), Value::from(session.as_str()));
        }
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let message = json!({
            "jsonrpc": "2.0",
            "id": id,
            "method": "tools/call",
            "params": {
                "name": tool,
                "arguments": arguments,
                "_meta": {
                    "io.modelcontextprotocol/protocolVersion": REVISION,
                    "io.modelcontextprotocol/clientInfo": { "name": "remontoire", "version": env!("CARGO_PKG_VERSION") },
                    "io.modelcontextprotocol/clientCapabilities": {},
                    "progressToken": id,
                },
            },
        });
        let reply = self.exchange(tool, &message, id, &mut progress).await?;
        let answer = understand(&reply)?;
        // What it says then is meant for agents, who can open another session in the middle of a conversation.
        match &self.session {
            Some(session) if answer.is_error && answer.text.starts_with(&Refusal::no_session(session)) => {
                Err(RemoteError::Over(session.clone()))
            }
            _ => Ok(answer),
        }
    }

    /// Sends one message on a connection of its own and answers the reply to it.
    async fn exchange(
        &self,
        tool: &str,
        message: &Value,
        id: u64,
        progress: &mut impl FnMut(&str),
    ) -> Result<Value, RemoteError> {
        let stream =
            TcpStream::connect(&self.place).await.map_err(|error| RemoteError::Connect(self.place.clone(), error))?;
        let broken = |error: hyper::Error| RemoteError::Broken(error.to_string());
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(broken)?;
        let request = self.request(tool, message).map_err(|error| RemoteError::Broken(error.to_string()))?;
        let answer = async {
            let response = sender.send_request(request).await.map_err(broken)?;
            read(response, id, progress).await
        };
        // The connection is driven only while the answer is waited for, so that dropping this future closes it.
        let drive = async {
            drop(connection.await);
            std::future::pending().await
        };
        tokio::select! {
            biased;
            answer = answer => answer,
            never = drive => never,
        }
    }

    fn request(&self, tool: &str, message: &Value) -> http::Result<Request<Full<Bytes>>> {
        let mut request = Request::post(&self.path)
            .header(header::HOST, &self.place)
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, "application/json, text/event-stream")
            .header("MCP-Protocol-Version", REVISION)
            .header("Mcp-Method", "tools/call")
            .header("Mcp-Name", tool);
        if let Some(bearer) = &self.bearer {
            request = request.header(header::AUTHORIZATION, bearer);
        }
        request.body(Full::new(Bytes::from(message.to_string())))
    }
}

/// Reads a response up to the reply to request `id`.
async fn read(
    mut response: Response<Incoming>,
    id: u64,
    progress: &mut impl FnMut(&str),
) -> Result<Value, RemoteError> {
    let status = response.status();
    if status == StatusCode::UNAUTHORIZED {
        return Err(RemoteError::Token);
    }
    let kind = response.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    let streamed = kind.starts_with("text/event-stream");
    let (mut events, mut text) = (Events::default(), Vec::new());
    while let Some(frame) = response.frame().await {
        let frame = frame.map_err(|error| RemoteError::Broken(error.to_string()))?;
        let Ok(data) = frame.into_data() else { continue };
        if streamed {
            for event in events.take(&data) {
                let message: Value = serde_json::from_str(&event)
                    .map_err(|_| RemoteError::Foreign(format!("an event with `{event}`")))?;
                if message["id"] == id {
                    return Ok(message);
                }
                if let Some(line) = message["params"]["message"].as_str() {
                    progress(line);
                }
            }
        } else {
            text.extend_from_slice(&data);
        }
        if text.len() + events.pending() > LONGEST {
            return Err(RemoteError::Foreign("an endless answer".to_owned()));
        }
    }
    if streamed {
        return Err(RemoteError::Broken("the stream ended without an answer".to_owned()));
    }
    serde_json::from_slice(&text)
        .map_err(|_| RemoteError::Foreign(format!("{status} with `{}`", String::from_utf8_lossy(&text).trim())))
}

/// The answer of the tool in a reply.
fn understand(reply: &Value) -> Result<ToolAnswer, RemoteError> {
    if let Some(error) = reply.get("error") {
        return Err(RemoteError::Refused(error["message"].as_str().unwrap_or("an error without a message").to_owned()));
    }
    let result = &reply["result"];
    let content = result["content"].as_array().ok_or_else(|| RemoteError::Foreign(reply.to_string()))?;
    let text: Vec<&str> = content.iter().filter_map(|block| block["text"].as_str()).collect();
    Ok(ToolAnswer { text: text.join("\n"), is_error: result["isError"] == true })
}
