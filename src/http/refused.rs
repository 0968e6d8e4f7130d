//! Requests that do not get as far as the protocol: why, the status, and a body for whoever reads it. Programs read JSON where they
//! look for it: an error of the protocol where a message was posted, one of OAuth where a client asks how to sign in. Knows no
//! socket and no route.

use super::access::Denied;
use super::body;
use crate::host::Delivery;
use crate::mcp::{Body, Reply};
use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use serde_json::json;
use std::fmt;

/// A request that does not get as far as the protocol.
#[derive(Debug)]
pub(super) enum Refused {
    Denied(Denied),
    /// Nothing is at this path.
    NotFound,
    /// A message was posted to this path, where the protocol is not spoken.
    Misplaced(String),
    /// A client looks for a server that gives out tokens. There is none; `token` says that one is needed all the same.
    NoSignIn {
        token: bool,
    },
    /// With the methods that are allowed.
    Method(&'static str),
    TooLarge(usize),
    Slow,
    Broken,
}

impl Refused {
    pub(super) fn status(&self) -> StatusCode {
        match self {
            Self::Denied(Denied::NoHost) | Self::Broken => StatusCode::BAD_REQUEST,
            Self::Denied(Denied::Host(_) | Denied::Origin(_) | Denied::Reading(_)) => StatusCode::FORBIDDEN,
            Self::Denied(Denied::Token { .. }) => StatusCode::UNAUTHORIZED,
            Self::NotFound | Self::Misplaced(_) | Self::NoSignIn { .. } => StatusCode::NOT_FOUND,
            Self::Method(_) => StatusCode::METHOD_NOT_ALLOWED,
            Self::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Slow => StatusCode::REQUEST_TIMEOUT,
        }
    }

    /// The body, when it is JSON.
    fn json(&self) -> Option<serde_json::Value> {
        let oauth = |error: &str| Some(json!({"error": error, "error_description": self.to_string()}));
        match self {
            Self::Denied(Denied::Token { .. }) => oauth("invalid_token"),
            Self::NoSignIn { .. } => oauth("not_found"),
            Self::Misplaced(_) => {
                Some(json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32_600, "message": self.to_string()}}))
            }
            _ => None,
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Denied(denied) => denied.fmt(f),
            Self::NotFound => f.write_str("nothing is served here; the paths are /mcp and /probe"),
            Self::Misplaced(path) => write!(f, "nothing is served at `{path:.80}`; MCP is spoken at the path /mcp"),
            Self::NoSignIn { token: true } => f.write_str(
                "there is nothing to sign in to: send the token that the operator chose with --token as `Authorization: Bearer …`",
            ),
            Self::NoSignIn { token: false } => f.write_str("there is nothing to sign in to: no token is needed here"),
            Self::Method(allowed) => write!(f, "the methods of this path are {allowed}"),
            Self::TooLarge(limit) => write!(f, "the body is larger than the limit of {limit} bytes"),
            Self::Slow => write!(f, "the body paused for {} seconds", body::PAUSE.as_secs()),
            Self::Broken => f.write_str("the body broke off"),
        }
    }
}

impl From<Refused> for Reply {
    fn from(refused: Refused) -> Self {
        let (kind, text) = match refused.json() {
            Some(json) => ("application/json", json.to_string()),
            None => ("text/plain; charset=utf-8", format!("{refused}\n")),
        };
        let mut headers = vec![(header::CONTENT_TYPE, HeaderValue::from_static(kind))];
        match refused {
            // A request without a token has made no mistake that could be named.
            Refused::Denied(Denied::Token { given }) => {
                let challenge = "Bearer realm=\"remontoire\"";
                let wrong = "Bearer realm=\"remontoire\", error=\"invalid_token\"";
                headers
                    .push((header::WWW_AUTHENTICATE, HeaderValue::from_static(if given { wrong } else { challenge })));
            }
            Refused::Method(allowed) => headers.push((header::ALLOW, HeaderValue::from_static(allowed))),
            // The rest of the body is not waited for.
            Refused::Slow | Refused::Broken => headers.push((header::CONNECTION, HeaderValue::from_static("close"))),
            Refused::Denied(_)
            | Refused::NotFound
            | Refused::Misplaced(_)
            | Refused::NoSignIn { .. }
            | Refused::TooLarge(_) => {}
        }
        Self { status: refused.status(), headers, body: Body::Whole(Bytes::from(text), Delivery::none()) }
    }
}
