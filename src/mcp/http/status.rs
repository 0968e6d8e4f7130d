//! The HTTP status of a reply that is one error of the protocol.

use crate::base::Refusal;
use crate::mcp::rpc::fault::RpcError;
use crate::mcp::rpc::revision::Era;
use http::StatusCode;

/// The status of a reply that is this error alone.
pub(super) fn status(error: &RpcError, era: Era) -> StatusCode {
    match error {
        RpcError::NotJson(_)
        | RpcError::NotAMessage(_)
        | RpcError::BadBatch(_)
        | RpcError::BadSessionHeader(_)
        | RpcError::BadVersionHeader(_)
        | RpcError::HeaderMismatch(_)
        | RpcError::MissingCapability { .. }
        | RpcError::UnsupportedVersion { .. }
        | RpcError::BadMeta { .. } => StatusCode::BAD_REQUEST,
        RpcError::NotJsonType(_) | RpcError::Encoded(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        RpcError::UnknownMethod { .. } => match era {
            Era::Legacy => StatusCode::OK,
            Era::Modern => StatusCode::NOT_FOUND,
        },
        RpcError::Refused(Refusal::SessionEnded) => StatusCode::NOT_FOUND,
        // In band: a 400 would read as a failure of the transport.
        RpcError::UnknownTool { .. } | RpcError::UnknownTask { .. } | RpcError::BadParams(_) | RpcError::Refused(_) => {
            StatusCode::OK
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
            RpcError::NotJson("trailing comma at line 1 column 39".into()),
            RpcError::NotAMessage("an empty batch"),
            RpcError::NotJsonType(None),
            RpcError::NotJsonType(Some("text/plain".into())),
            RpcError::Encoded("gzip".into()),
            RpcError::BadBatch("initialize stands alone"),
            RpcError::BadSessionHeader("it is absent".into()),
            RpcError::BadVersionHeader("MCP-Protocol-Version stands twice".into()),
            RpcError::HeaderMismatch("Mcp-Method is missing".into()),
            RpcError::BadMeta { keys: vec!["a", "b"] },
            RpcError::UnsupportedVersion { requested: "2099-01-01".into() },
            RpcError::needs_tasks(),
            RpcError::UnknownMethod { given: "foo/bar".into(), known: &["ping", "tools/list"] },
            RpcError::UnknownTool { given: "nope".into(), known: vec!["eval".into(), "await".into()] },
            RpcError::UnknownTask { given: "bfw-9".into(), why: Some(Refusal::NoEntry { id: 9, newest: 3 }) },
            RpcError::UnknownTask { given: "nonsense".into(), why: None },
            RpcError::BadParams("`name` is missing".into()),
            RpcError::Refused(Refusal::SessionEnded),
            RpcError::Refused(Refusal::TooManySessions { limit: 5 }),
        ];
        let rows: Vec<_> = all
            .iter()
            .map(|fault| {
                let (old, new) = (status(fault, Era::Legacy).as_u16(), status(fault, Era::Modern).as_u16());
                let data = fault.data().map(|data| format!(" {data}")).unwrap_or_default();
                format!("{} {old} {new} {fault}{data}", fault.code())
            })
            .collect();
        expect![[r#"
            -32700 400 400 the body cannot be read as JSON: trailing comma at line 1 column 39
            -32600 400 400 not a JSON-RPC message: an empty batch
            -32600 415 415 Content-Type is missing; it must be application/json
            -32600 415 415 Content-Type must be application/json, not `text/plain`
            -32600 415 415 Content-Encoding `gzip` is not read here: send the body as it is, without the header
            -32600 400 400 this batch cannot be answered: initialize stands alone
            -32600 400 400 this request needs the Mcp-Session-Id header that initialize answered with: it is absent
            -32600 400 400 MCP-Protocol-Version stands twice
            -32020 400 400 header mismatch: Mcp-Method is missing
            -32602 400 400 params._meta must carry a and b; a request of revision 2026-07-28 describes itself
            -32022 400 400 revision `2099-01-01` is not supported; 2026-07-28 is {"supported":["2026-07-28"],"requested":"2099-01-01"}
            -32021 400 400 the request must declare a client capability it did not declare {"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}
            -32601 200 404 no method `foo/bar` here; there are ping, tools/list
            -32602 200 200 no tool `nope` here; there are eval, await
            -32602 200 200 no task `bfw-9` here: no entry 9; the newest is 3
            -32602 200 200 no task `nonsense` here
            -32602 200 200 `name` is missing
            -32600 404 404 this session was ended; initialize opens a new one
            -32603 200 200 5 sessions are at work, which is the limit; end one first"#]].assert_eq(&rows.join("\n"));
    }
}
