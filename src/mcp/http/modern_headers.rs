//! The headers of a request of the modern era, compared with what the request says about itself.

use super::headers::{self, Absent};
use crate::mcp::eras::modern::Envelope;
use crate::mcp::rpc::fault::RpcError;
use crate::mcp::rpc::message::Request;
use http::HeaderMap;
use serde_json::Value;

/// Checks what a request says about itself against its headers: what is missing first, then what disagrees, then the revision.
pub(super) fn check(headers: &HeaderMap, request: &Request) -> Result<Envelope, RpcError> {
    let envelope = Envelope::read(request)?;
    headers::check_version(headers, &envelope.version)?;
    envelope.check_revision()?;
    headers::check_method(headers, &request.method)?;
    let (member, absent) = match request.method.as_str() {
        "tools/call" | "prompts/get" => ("name", Absent::Refused),
        "resources/read" => ("uri", Absent::Refused),
        // Clients in wide use leave it out.
        "tasks/get" | "tasks/update" | "tasks/cancel" => ("taskId", Absent::Tolerated),
        _ => return Ok(envelope),
    };
    if let Some(name) = request.params.get(member).and_then(Value::as_str) {
        // A header has no blanks around its value.
        headers::check_name(headers, if member == "taskId" { name.trim() } else { name }, absent)?;
    }
    Ok(envelope)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::rpc::message::{Id, object};
    use crate::mcp::rpc::revision::{CAPABILITIES_KEY, MODERN, VERSION_KEY};
    use http::{HeaderName, HeaderValue};
    use serde_json::json;

    fn request(method: &str, params: Value) -> Request {
        Request { id: Id::Number(1.into()), method: method.into(), params: object(params) }
    }

    fn meta() -> Value {
        json!({VERSION_KEY: MODERN, CAPABILITIES_KEY: {}})
    }

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let pairs = pairs.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        pairs.collect()
    }

    fn checked(pairs: &[(&'static str, &'static str)], method: &str, params: Value) -> Result<Envelope, RpcError> {
        check(&headers(pairs), &request(method, params))
    }

    const LIST: [(&str, &str); 2] = [("mcp-protocol-version", MODERN), ("mcp-method", "tools/list")];

    #[test]
    fn what_a_request_must_say_is_named() {
        let keys = |meta: Value| match checked(&LIST, "tools/list", json!({"_meta": meta})) {
            Err(RpcError::BadMeta { keys }) => keys,
            other => panic!("{other:?}"),
        };
        assert_eq!(keys(json!({})), [VERSION_KEY, CAPABILITIES_KEY]);
        assert_eq!(keys(json!(7)), [VERSION_KEY, CAPABILITIES_KEY]);
        assert_eq!(keys(json!({VERSION_KEY: MODERN})), [CAPABILITIES_KEY]);
        assert_eq!(keys(json!({VERSION_KEY: 7, CAPABILITIES_KEY: {}})), [VERSION_KEY]);
        assert_eq!(keys(json!({VERSION_KEY: MODERN, CAPABILITIES_KEY: []})), [CAPABILITIES_KEY]);
    }

    #[test]
    fn disagreement_comes_before_an_unsupported_revision() {
        let odd = || json!({"_meta": {VERSION_KEY: "2099-01-01", CAPABILITIES_KEY: {}}});
        assert!(matches!(checked(&LIST, "tools/list", odd()), Err(RpcError::HeaderMismatch(_))));
        let both = [("mcp-protocol-version", "2099-01-01")];
        assert_eq!(
            checked(&both, "tools/list", odd()),
            Err(RpcError::UnsupportedVersion { requested: "2099-01-01".into() })
        );
        assert!(matches!(checked(&[], "tools/list", json!({"_meta": meta()})), Err(RpcError::HeaderMismatch(_))));
        assert!(matches!(
            checked(&LIST[..1], "tools/list", json!({"_meta": meta()})),
            Err(RpcError::HeaderMismatch(_))
        ));
        assert!(checked(&LIST, "tools/list", json!({"_meta": meta()})).is_ok());
    }

    #[test]
    fn the_name_of_a_tool_must_be_in_the_header_that_of_a_task_may() {
        let call = [("mcp-protocol-version", MODERN), ("mcp-method", "tools/call")];
        let params = || json!({"name": "eval", "_meta": meta()});
        assert!(checked(&call, "tools/call", params()).is_err());
        let named = |name| [call[0], call[1], ("mcp-name", name)];
        assert!(checked(&named("await"), "tools/call", params()).is_err());
        assert!(checked(&named("eval"), "tools/call", params()).is_ok());

        let get = [("mcp-protocol-version", MODERN), ("mcp-method", "tasks/get")];
        let params = || json!({"taskId": "bfw-1", "_meta": meta()});
        assert!(checked(&get, "tasks/get", params()).is_ok());
        assert!(checked(&[get[0], get[1], ("mcp-name", "bfw-2")], "tasks/get", params()).is_err());
    }
}
