//! The reasons why a request is answered with an error of the protocol, and the JSON-RPC code of each. What goes wrong inside
//! a tool is a result with `isError`, not one of these. Some reasons are found in the headers of a transport; those are read in
//! `http`, and so is the status of a reason given there.

use super::revision::{MODERN, TASKS};
use crate::base::Refusal;
use serde_json::{Value, json};
use std::fmt;

/// The reason why a request got no result.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RpcError {
    /// The body is not JSON, or nested beyond reason: where, and what was wrong.
    NotJson(String),
    /// The body is JSON and no message.
    NotAMessage(&'static str),
    /// The body is of another type than `application/json`: this one, if any was given.
    NotJsonType(Option<String>),
    /// The body is compressed, or encoded in another way that is not read here.
    Encoded(String),
    /// A batch where none may be, or with something in it that may not be.
    BadBatch(&'static str),
    /// A header session is needed and the header is absent, empty, doubled or no session id.
    BadSessionHeader(String),
    /// `MCP-Protocol-Version` in the legacy era is doubled, unreadable or names no revision of it.
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
        /// The revision that was asked for.
        requested: String,
    },
    /// The request needs a capability its client did not declare.
    MissingCapability {
        /// The client capabilities it would take.
        required: Value,
    },
    /// No such method in this era.
    UnknownMethod {
        /// The method that was asked for.
        given: String,
        /// The methods there are.
        known: &'static [&'static str],
    },
    /// No such tool.
    UnknownTool {
        /// The tool that was asked for.
        given: String,
        /// The tools there are.
        known: Vec<String>,
    },
    /// No such task, or not any more.
    UnknownTask {
        /// The task id that was asked for.
        given: String,
        /// Why it is unknown, when there is more to say.
        why: Option<Refusal>,
    },
    /// The parameters of the method are wrong.
    BadParams(String),
    /// The host declined.
    Refused(Refusal),
}

impl RpcError {
    /// The request would have to declare that it follows tasks.
    pub(crate) fn needs_tasks() -> Self {
        Self::MissingCapability { required: json!({"extensions": {TASKS: {}}}) }
    }

    /// The JSON-RPC code.
    pub(crate) fn code(&self) -> i64 {
        match self {
            Self::NotJson(_) => -32_700,
            Self::NotAMessage(_)
            | Self::NotJsonType(_)
            | Self::Encoded(_)
            | Self::BadBatch(_)
            | Self::BadSessionHeader(_)
            | Self::BadVersionHeader(_)
            | Self::Refused(Refusal::SessionEnded) => -32_600,
            Self::UnknownMethod { .. } => -32_601,
            Self::BadMeta { .. } | Self::UnknownTool { .. } | Self::UnknownTask { .. } | Self::BadParams(_) => -32_602,
            Self::Refused(_) => -32_603,
            Self::HeaderMismatch(_) => -32_020,
            Self::MissingCapability { .. } => -32_021,
            Self::UnsupportedVersion { .. } => -32_022,
        }
    }

    /// The `data` member: what a program can read out of the error.
    pub(crate) fn data(&self) -> Option<Value> {
        match self {
            Self::UnsupportedVersion { requested } => Some(json!({"supported": [MODERN], "requested": requested})),
            Self::MissingCapability { required } => Some(json!({"requiredCapabilities": required})),
            _ => None,
        }
    }
}

impl fmt::Display for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotJson(why) => write!(f, "the body cannot be read as JSON: {why:.200}"),
            Self::NotAMessage(what) => write!(f, "not a JSON-RPC message: {what}"),
            Self::NotJsonType(None) => f.write_str("Content-Type is missing; it must be application/json"),
            Self::NotJsonType(Some(given)) => write!(f, "Content-Type must be application/json, not `{given:.60}`"),
            Self::Encoded(coding) => {
                write!(
                    f,
                    "Content-Encoding `{coding:.40}` is not read here: send the body as it is, without the header"
                )
            }
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
            Self::UnknownMethod { given, known } => {
                write!(f, "no method `{given:.80}` here; there are {}", known.join(", "))
            }
            Self::UnknownTool { given, known } => {
                write!(f, "no tool `{given:.80}` here; there are {}", known.join(", "))
            }
            Self::UnknownTask { given, why: None } => write!(f, "no task `{given:.60}` here"),
            Self::UnknownTask { given, why: Some(why) } => write!(f, "no task `{given:.60}` here: {why}"),
            Self::BadParams(what) => f.write_str(what),
            Self::Refused(refusal) => refusal.fmt(f),
        }
    }
}
