//! The era of a POST, decided once. A request that describes itself in `_meta` is modern; `initialize` without that opens a
//! header session; everything else belongs to one.

use super::headers;
use crate::mcp::rpc::fault::RpcError;
use crate::mcp::rpc::message::{Message, Object, Posted, Rejected, Request};
use crate::mcp::rpc::revision::{MODERN, Revision, VERSION_KEY};
use http::HeaderMap;

/// One POST, taken for what it is.
#[derive(Debug, PartialEq)]
pub(super) enum Routed {
    /// `initialize`: opens a header session.
    Handshake(Request),
    /// One message of a header session, and the revision its header names.
    Session(Message, Option<Revision>),
    /// Several messages of a header session; never empty.
    Batch(Vec<Result<Message, Rejected>>, Option<Revision>),
    /// A request that describes itself, or should.
    Modern(Request),
    /// A notification of the modern era: accepted, and nothing comes of it.
    ModernNotification,
}

/// Decides which era a POST belongs to, and what it asks for.
pub(super) fn decide(headers: &HeaderMap, posted: Posted) -> Result<Routed, Rejected> {
    match posted {
        Posted::Batch(items) => batch(headers, items),
        Posted::Single(Message::Request(request)) => {
            if describes_itself(request.meta()) {
                return Ok(Routed::Modern(request));
            }
            let modern_header = has_modern_header(headers);
            if request.method == "initialize" {
                return if modern_header {
                    let fault = RpcError::HeaderMismatch(format!(
                        "MCP-Protocol-Version names {MODERN} or later, and initialize belongs to earlier revisions"
                    ));
                    Err(Rejected { id: Some(request.id), fault })
                } else {
                    Ok(Routed::Handshake(request))
                };
            }
            // `server/discover` exists in the modern era only: whoever sends it bare wants to hear what it lacks.
            if modern_header || request.method == "server/discover" {
                return Ok(Routed::Modern(request));
            }
            match headers::legacy_revision(headers) {
                Ok(revision) => Ok(Routed::Session(Message::Request(request), revision)),
                Err(fault) => Err(Rejected { id: Some(request.id), fault }),
            }
        }
        Posted::Single(Message::Notification(notification)) => {
            if describes_itself(notification.meta()) || has_modern_header(headers) {
                return Ok(Routed::ModernNotification);
            }
            let revision = headers::legacy_revision(headers).map_err(Rejected::nameless)?;
            Ok(Routed::Session(Message::Notification(notification), revision))
        }
        Posted::Single(Message::Response) => {
            let revision = headers::legacy_revision(headers).map_err(Rejected::nameless)?;
            Ok(Routed::Session(Message::Response, revision))
        }
    }
}

fn batch(headers: &HeaderMap, items: Vec<Result<Message, Rejected>>) -> Result<Routed, Rejected> {
    let refuse = |why| Err(Rejected::nameless(RpcError::BadBatch(why)));
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
    Ok(Routed::Batch(items, revision))
}

/// The presence of the key decides, whatever its value: a wrong value is then told to a client that speaks this revision.
fn describes_itself(meta: Option<&Object>) -> bool {
    meta.is_some_and(|meta| meta.contains_key(VERSION_KEY))
}

/// Tells whether the version header names something newer than header sessions. Versions are dates, which sort as text.
pub(super) fn has_modern_header(headers: &HeaderMap) -> bool {
    matches!(headers::single(headers, "mcp-protocol-version"), Ok(Some(version)) if version >= MODERN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::rpc::message;
    use http::HeaderValue;

    fn routed(version: Option<&'static str>, body: &str) -> Result<Routed, Rejected> {
        let mut headers = HeaderMap::new();
        if let Some(version) = version {
            headers.insert("mcp-protocol-version", HeaderValue::from_static(version));
        }
        decide(&headers, message::parse(body.as_bytes()).expect("a message"))
    }

    fn request(method: &str, modern: bool) -> String {
        let meta = if modern { r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":null}}"# } else { "{}" };
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{meta}}}"#)
    }

    #[test]
    fn the_key_in_meta_decides_before_the_method_and_the_header() {
        for version in [None, Some("2025-11-25"), Some(MODERN)] {
            for method in ["initialize", "tools/list", "server/discover"] {
                assert!(
                    matches!(routed(version, &request(method, true)), Ok(Routed::Modern(_))),
                    "{version:?} {method}"
                );
            }
        }
    }

    #[test]
    fn without_the_key_the_header_and_the_method_decide() {
        assert!(matches!(routed(None, &request("initialize", false)), Ok(Routed::Handshake(_))));
        assert!(matches!(routed(Some("2025-11-25"), &request("initialize", false)), Ok(Routed::Handshake(_))));
        assert!(matches!(routed(Some("1999-01-01"), &request("initialize", false)), Ok(Routed::Handshake(_))));
        assert!(matches!(
            routed(Some(MODERN), &request("initialize", false)),
            Err(Rejected { id: Some(_), fault: RpcError::HeaderMismatch(_) })
        ));
        assert!(matches!(routed(Some(MODERN), &request("tools/list", false)), Ok(Routed::Modern(_))));
        assert!(matches!(routed(Some("banana"), &request("tools/list", false)), Ok(Routed::Modern(_))));
        assert!(matches!(routed(None, &request("server/discover", false)), Ok(Routed::Modern(_))));
        assert!(matches!(routed(None, &request("ping", false)), Ok(Routed::Session(_, None))));
        assert!(matches!(
            routed(Some("2025-06-18"), &request("ping", false)),
            Ok(Routed::Session(_, Some(Revision::June2025)))
        ));
        assert!(matches!(
            routed(Some("1999-01-01"), &request("ping", false)),
            Err(Rejected { fault: RpcError::BadVersionHeader(_), .. })
        ));
    }

    #[test]
    fn notifications_follow_the_same_marks() {
        let bare = r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#;
        let marked =
            r#"{"jsonrpc":"2.0","method":"x","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"y"}}}"#;
        assert!(matches!(routed(None, bare), Ok(Routed::Session(Message::Notification(_), None))));
        assert_eq!(routed(Some(MODERN), bare), Ok(Routed::ModernNotification));
        assert_eq!(routed(None, marked), Ok(Routed::ModernNotification));
    }

    #[test]
    fn batches_hold_neither_a_handshake_nor_a_modern_request() {
        let ping = request("ping", false);
        assert!(matches!(routed(None, &format!("[{ping}]")), Ok(Routed::Batch(_, None))));
        for other in [request("initialize", false), request("ping", true)] {
            let body = format!("[{ping},{other}]");
            assert!(matches!(routed(None, &body), Err(Rejected { id: None, fault: RpcError::BadBatch(_) })), "{body}");
        }
        assert!(routed(Some(MODERN), &format!("[{ping}]")).is_err());
    }
}
