//! Which era a request belongs to, decided once. A request that describes itself in `_meta` is modern; `initialize` without
//! that opens a header session; everything else belongs to one.

use super::error::Fault;
use super::headers;
use super::wire::{Message, Object, Posted, Rejected, Request};
use http::HeaderMap;

/// The revision whose requests describe themselves.
pub(super) const MODERN: &str = "2026-07-28";

/// The `_meta` key whose presence makes a request modern.
pub(super) const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

/// The `_meta` key with what the client can do.
pub(super) const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";

/// A revision of the handshake wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Revision {
    /// 2024-11-05
    November2024,
    /// 2025-03-26
    March2025,
    /// 2025-06-18
    June2025,
    /// 2025-11-25
    November2025,
}

impl Revision {
    /// The newest: what a client is answered that asks for one nobody knows.
    pub(super) const NEWEST: Self = Self::November2025;

    /// What holds when neither the header nor the session says.
    pub(super) const ASSUMED: Self = Self::March2025;

    /// The date that names it.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::November2024 => "2024-11-05",
            Self::March2025 => "2025-03-26",
            Self::June2025 => "2025-06-18",
            Self::November2025 => "2025-11-25",
        }
    }

    /// The revision with this name.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        [Self::November2024, Self::March2025, Self::June2025, Self::November2025]
            .into_iter()
            .find(|r| r.as_str() == name)
    }

    /// Whether one POST may carry several messages. Only one revision ever said so.
    pub(super) fn has_batches(self) -> bool {
        self == Self::March2025
    }
}

/// What one POST is.
#[derive(Debug, PartialEq)]
pub(super) enum Turn {
    /// `initialize`: opens a header session.
    Handshake(Request),
    /// One message of a header session, and the revision its header names.
    Session(Message, Option<Revision>),
    /// Several messages of a header session; never empty.
    Batch(Vec<Result<Message, Rejected>>, Option<Revision>),
    /// A request that describes itself, or should.
    Modern(Request),
    /// A notification on the modern wire: accepted, and nothing comes of it.
    ModernNotification,
}

/// Decides what a POST is.
pub(super) fn decide(headers: &HeaderMap, posted: Posted) -> Result<Turn, Rejected> {
    match posted {
        Posted::Batch(items) => batch(headers, items),
        Posted::Single(Message::Request(request)) => {
            if describes_itself(request.meta()) {
                return Ok(Turn::Modern(request));
            }
            let modern_header = has_modern_header(headers);
            if request.method == "initialize" {
                return if modern_header {
                    let fault = Fault::HeaderMismatch(format!(
                        "MCP-Protocol-Version names {MODERN} or later, and initialize belongs to earlier revisions"
                    ));
                    Err(Rejected { id: Some(request.id), fault })
                } else {
                    Ok(Turn::Handshake(request))
                };
            }
            // `server/discover` exists on the modern wire only: whoever sends it bare wants to hear what it lacks.
            if modern_header || request.method == "server/discover" {
                return Ok(Turn::Modern(request));
            }
            match headers::legacy_revision(headers) {
                Ok(revision) => Ok(Turn::Session(Message::Request(request), revision)),
                Err(fault) => Err(Rejected { id: Some(request.id), fault }),
            }
        }
        Posted::Single(Message::Notification(notification)) => {
            if describes_itself(notification.meta()) || has_modern_header(headers) {
                return Ok(Turn::ModernNotification);
            }
            let revision = headers::legacy_revision(headers).map_err(Rejected::nameless)?;
            Ok(Turn::Session(Message::Notification(notification), revision))
        }
        Posted::Single(Message::Response) => {
            let revision = headers::legacy_revision(headers).map_err(Rejected::nameless)?;
            Ok(Turn::Session(Message::Response, revision))
        }
    }
}

fn batch(headers: &HeaderMap, items: Vec<Result<Message, Rejected>>) -> Result<Turn, Rejected> {
    let refuse = |why| Err(Rejected::nameless(Fault::BadBatch(why)));
    for item in items.iter().flatten() {
        let (method, meta) = match item {
            Message::Request(request) => (request.method.as_str(), request.meta()),
            Message::Notification(notification) => (notification.method.as_str(), notification.meta()),
            Message::Response => continue,
        };
        if describes_itself(meta) {
            return refuse("a request that describes itself travels alone");
        }
        if method == "initialize" {
            return refuse("initialize travels alone");
        }
    }
    let revision = headers::legacy_revision(headers).map_err(Rejected::nameless)?;
    Ok(Turn::Batch(items, revision))
}

/// The presence of the key decides, whatever its value: a wrong value is then told to a client that speaks this revision.
fn describes_itself(meta: Option<&Object>) -> bool {
    meta.is_some_and(|meta| meta.contains_key(VERSION_KEY))
}

/// Whether the version header names something newer than header sessions. Versions are dates, which sort as text.
pub(super) fn has_modern_header(headers: &HeaderMap) -> bool {
    matches!(headers::single(headers, "mcp-protocol-version"), Ok(Some(version)) if version >= MODERN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::wire;
    use http::HeaderValue;

    fn turn(version: Option<&'static str>, body: &str) -> Result<Turn, Rejected> {
        let mut headers = HeaderMap::new();
        if let Some(version) = version {
            headers.insert("mcp-protocol-version", HeaderValue::from_static(version));
        }
        decide(&headers, wire::parse(body.as_bytes()).expect("a message"))
    }

    fn request(method: &str, modern: bool) -> String {
        let meta = if modern { r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":null}}"# } else { "{}" };
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{meta}}}"#)
    }

    #[test]
    fn the_key_in_meta_decides_before_the_method_and_the_header() {
        for version in [None, Some("2025-11-25"), Some(MODERN)] {
            for method in ["initialize", "tools/list", "server/discover"] {
                assert!(matches!(turn(version, &request(method, true)), Ok(Turn::Modern(_))), "{version:?} {method}");
            }
        }
    }

    #[test]
    fn without_the_key_the_header_and_the_method_decide() {
        assert!(matches!(turn(None, &request("initialize", false)), Ok(Turn::Handshake(_))));
        assert!(matches!(turn(Some("2025-11-25"), &request("initialize", false)), Ok(Turn::Handshake(_))));
        assert!(matches!(turn(Some("1999-01-01"), &request("initialize", false)), Ok(Turn::Handshake(_))));
        assert!(matches!(
            turn(Some(MODERN), &request("initialize", false)),
            Err(Rejected { id: Some(_), fault: Fault::HeaderMismatch(_) })
        ));
        assert!(matches!(turn(Some(MODERN), &request("tools/list", false)), Ok(Turn::Modern(_))));
        assert!(matches!(turn(Some("banana"), &request("tools/list", false)), Ok(Turn::Modern(_))));
        assert!(matches!(turn(None, &request("server/discover", false)), Ok(Turn::Modern(_))));
        assert!(matches!(turn(None, &request("ping", false)), Ok(Turn::Session(_, None))));
        assert!(matches!(
            turn(Some("2025-06-18"), &request("ping", false)),
            Ok(Turn::Session(_, Some(Revision::June2025)))
        ));
        assert!(matches!(
            turn(Some("1999-01-01"), &request("ping", false)),
            Err(Rejected { fault: Fault::BadVersionHeader(_), .. })
        ));
    }

    #[test]
    fn notifications_follow_the_same_marks() {
        let bare = r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#;
        let marked =
            r#"{"jsonrpc":"2.0","method":"x","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"y"}}}"#;
        assert!(matches!(turn(None, bare), Ok(Turn::Session(Message::Notification(_), None))));
        assert_eq!(turn(Some(MODERN), bare), Ok(Turn::ModernNotification));
        assert_eq!(turn(None, marked), Ok(Turn::ModernNotification));
    }

    #[test]
    fn batches_hold_neither_a_handshake_nor_a_modern_request() {
        let ping = request("ping", false);
        assert!(matches!(turn(None, &format!("[{ping}]")), Ok(Turn::Batch(_, None))));
        for other in [request("initialize", false), request("ping", true)] {
            let body = format!("[{ping},{other}]");
            assert!(matches!(turn(None, &body), Err(Rejected { id: None, fault: Fault::BadBatch(_) })), "{body}");
        }
        assert!(turn(Some(MODERN), &format!("[{ping}]")).is_err());
    }
}
