//! Why a request is answered with an error of the protocol: every reason as one enum, and the one match that gives each its
//! JSON-RPC code and HTTP status. What goes wrong inside a tool is a result with `isError`, not one of these.

use super::TASKS;
use super::era::MODERN;
use crate::base::Refusal;
use http::StatusCode;
use serde_json::{Value, json};
use std::fmt;

/// Which of the two wires a message came on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wire {
    /// A header session: 2024-11-05 to 2025-11-25.
    Legacy,
    /// Requests that describe themselves: 2026-07-28.
    Modern,
}

/// Why a request got no result.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Fault {
    /// The body is not JSON, or nested beyond reason.
    NotJson,
    /// The body is JSON and no message.
    NotAMessage(&'static str),
    /// The body is of another type than `application/json`.
    NotJsonType,
    /// A batch where none may be, or with something in it that may not be.
    BadBatch(&'static str),
    /// A header session is needed and the header is absent, empty, doubled or no session id.
    BadSessionHeader(String),
    /// `MCP-Protocol-Version` on the handshake wire is doubled, unreadable or names no revision of it.
    BadVersionHeader(String),
    /// A header is missing, doubled, unreadable or disagrees with the body.
    HeaderMismatch(String),
    /// `_meta` lacks what every request must say, or says it in the wrong type.
    BadMeta {
        /// The keys.
        keys: Vec<&'static str>,
    },
    /// A revision that is not spoken here.
    UnsupportedVersion {
        /// What was asked for.
        requested: String,
    },
    /// The request needs a capability its client did not declare.
    MissingCapability {
        /// The client capabilities it would take.
        required: Value,
    },
    /// No such method on this wire.
    UnknownMethod(String),
    /// No such tool.
    UnknownTool(String),
    /// No such task, or not any more.
    UnknownTask {
        /// What was asked for.
        given: String,
        /// Why it is unknown, when there is more to say.
        why: Option<Refusal>,
    },
    /// The parameters of the method are wrong.
    BadParams(String),
    /// The host declined.
    Refused(Refusal),
}

impl Fault {
    /// The request would have to declare that it follows tasks.
    pub(super) fn needs_tasks() -> Self {
        Self::MissingCapability { required: json!({"extensions": {TASKS: {}}}) }
    }

    /// The JSON-RPC code and the HTTP status.
    fn verdict(&self, wire: Wire) -> (i64, StatusCode) {
        match self {
            Self::NotJson => (-32_700, StatusCode::BAD_REQUEST),
            Self::NotAMessage(_) | Self::BadBatch(_) | Self::BadSessionHeader(_) | Self::BadVersionHeader(_) => {
                (-32_600, StatusCode::BAD_REQUEST)
            }
            Self::NotJsonType => (-32_600, StatusCode::UNSUPPORTED_MEDIA_TYPE),
            Self::HeaderMismatch(_) => (-32_020, StatusCode::BAD_REQUEST),
            Self::MissingCapability { .. } => (-32_021, StatusCode::BAD_REQUEST),
            Self::UnsupportedVersion { .. } => (-32_022, StatusCode::BAD_REQUEST),
            Self::BadMeta { .. } => (-32_602, StatusCode::BAD_REQUEST),
            Self::UnknownMethod(_) => match wire {
                Wire::Legacy => (-32_601, StatusCode::OK),
                Wire::Modern => (-32_601, StatusCode::NOT_FOUND),
            },
            // In band: a 400 would read as a failure of the transport.
            Self::UnknownTool(_) | Self::UnknownTask { .. } | Self::BadParams(_) => (-32_602, StatusCode::OK),
            Self::Refused(Refusal::SessionEnded) => (-32_600, StatusCode::NOT_FOUND),
            Self::Refused(_) => (-32_603, StatusCode::OK),
        }
    }

    /// The JSON-RPC code.
    pub(super) fn code(&self, wire: Wire) -> i64 {
        self.verdict(wire).0
    }

    /// The HTTP status of a reply that is this error alone.
    pub(super) fn status(&self, wire: Wire) -> StatusCode {
        self.verdict(wire).1
    }

    /// What a program can read out of the error.
    pub(super) fn data(&self) -> Option<Value> {
        match self {
            Self::UnsupportedVersion { requested } => Some(json!({"supported": [MODERN], "requested": requested})),
            Self::MissingCapability { required } => Some(json!({"requiredCapabilities": required})),
            _ => None,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotJson => f.write_str("the body is not JSON, or is nested too deeply"),
            Self::NotAMessage(what) => write!(f, "not a JSON-RPC message: {what}"),
            Self::NotJsonType => f.write_str("Content-Type must be application/json"),
            Self::BadBatch(what) => write!(f, "this batch cannot be answered: {what}"),
            Self::BadSessionHeader(what) => {
                write!(f, "this request needs the Mcp-Session-Id header that initialize answered with: {what}")
            }
            Self::BadVersionHeader(what) => f.write_str(what),
            Self::HeaderMismatch(what) => write!(f, "header mismatch: {what}"),
            Self::BadMeta { keys } => write!(
                f,
                "params._meta must carry {}; a request of revision {MODERN} describes itself",
                keys.join(" and ")
            ),
            Self::UnsupportedVersion { requested } => {
                write!(f, "revision `{requested:.40}` is not supported; {MODERN} is")
            }
            Self::MissingCapability { .. } => {
                f.write_str("the request must declare a client capability it did not declare")
            }
            Self::UnknownMethod(method) => write!(f, "no method `{method:.80}` here"),
            Self::UnknownTool(name) => write!(f, "no tool `{name:.80}` here"),
            Self::UnknownTask { given, why: None } => write!(f, "no task `{given:.60}` here"),
            Self::UnknownTask { given, why: Some(why) } => write!(f, "no task `{given:.60}` here: {why}"),
            Self::BadParams(what) => f.write_str(what),
            Self::Refused(refusal) => refusal.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn each_reason_has_its_code_and_status() {
        let all = [
            Fault::NotJson,
            Fault::NotAMessage("an empty batch"),
            Fault::NotJsonType,
            Fault::BadBatch("initialize stands alone"),
            Fault::BadSessionHeader("it is absent".into()),
            Fault::BadVersionHeader("MCP-Protocol-Version stands twice".into()),
            Fault::HeaderMismatch("Mcp-Method is missing".into()),
            Fault::BadMeta { keys: vec!["a", "b"] },
            Fault::UnsupportedVersion { requested: "2099-01-01".into() },
            Fault::needs_tasks(),
            Fault::UnknownMethod("foo/bar".into()),
            Fault::UnknownTool("nope".into()),
            Fault::UnknownTask { given: "bfw-9".into(), why: Some(Refusal::NoEntry { id: 9, newest: 3 }) },
            Fault::UnknownTask { given: "nonsense".into(), why: None },
            Fault::BadParams("`name` is missing".into()),
            Fault::Refused(Refusal::SessionEnded),
            Fault::Refused(Refusal::TooManySessions { limit: 5 }),
        ];
        let rows: Vec<_> = all
            .iter()
            .map(|fault| {
                let (old, new) = (fault.status(Wire::Legacy).as_u16(), fault.status(Wire::Modern).as_u16());
                let data = fault.data().map(|data| format!(" {data}")).unwrap_or_default();
                format!("{} {old} {new} {fault}{data}", fault.code(Wire::Modern))
            })
            .collect();
        expect![[r#"
            -32700 400 400 the body is not JSON, or is nested too deeply
            -32600 400 400 not a JSON-RPC message: an empty batch
            -32600 415 415 Content-Type must be application/json
            -32600 400 400 this batch cannot be answered: initialize stands alone
            -32600 400 400 this request needs the Mcp-Session-Id header that initialize answered with: it is absent
            -32600 400 400 MCP-Protocol-Version stands twice
            -32020 400 400 header mismatch: Mcp-Method is missing
            -32602 400 400 params._meta must carry a and b; a request of revision 2026-07-28 describes itself
            -32022 400 400 revision `2099-01-01` is not supported; 2026-07-28 is {"supported":["2026-07-28"],"requested":"2099-01-01"}
            -32021 400 400 the request must declare a client capability it did not declare {"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}
            -32601 200 404 no method `foo/bar` here
            -32602 200 200 no tool `nope` here
            -32602 200 200 no task `bfw-9` here: no entry 9; the newest is 3
            -32602 200 200 no task `nonsense` here
            -32602 200 200 `name` is missing
            -32600 404 404 this session was ended; initialize opens a new one
            -32603 200 200 5 sessions are at work, which is the limit; end one first"#]].assert_eq(&rows.join("\n"));
    }
}
