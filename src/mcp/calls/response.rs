//! The response to one request: its message, the error it is made of, and what it delivers.

use super::open_requests::RequestGuard;
use crate::host::{Answer, Delivery};
use crate::mcp::rpc::fault::RpcError;
use crate::mcp::rpc::message::{self, Id, Object};
use crate::mcp::rpc::revision::Era;
use serde_json::{Value, json};
use std::sync::Arc;

/// The response to one request, ready to be written.
#[derive(Debug)]
pub(crate) struct Response {
    /// The JSON-RPC message.
    pub(crate) message: Value,
    /// The error it tells of, if it is one; a transport may have a status of its own for it.
    pub(crate) fault: Option<RpcError>,
    /// The receipts that are marked once the message was written.
    pub(crate) delivery: Delivery,
}

impl Response {
    /// A result object.
    pub(crate) fn result(era: Era, id: &Id, mut result: Object, delivery: Delivery) -> Self {
        if era == Era::Modern {
            message::envelope(&mut result);
        }
        Self { message: message::result(id, result), fault: None, delivery }
    }

    /// The result of a tool.
    pub(crate) fn answer(era: Era, id: &Id, answer: Answer) -> Self {
        let result = tool_result(&answer);
        Self::result(era, id, result, answer.delivery)
    }

    /// An error of the protocol.
    pub(crate) fn error(id: Option<&Id>, fault: RpcError) -> Self {
        Self { message: message::error(id, &fault), fault: Some(fault), delivery: Delivery::none() }
    }

    /// A result object that delivers nothing, or an error.
    pub(crate) fn plain(era: Era, id: &Id, result: Result<Object, RpcError>) -> Self {
        match result {
            Ok(result) => Self::result(era, id, result, Delivery::none()),
            Err(fault) => Self::error(Some(id), fault),
        }
    }

    /// Keeps the request open until this response was written or given up.
    pub(crate) fn keeping_open(self, guard: Arc<RequestGuard>) -> Self {
        let delivery = self.delivery.and(Delivery::then(move || drop(guard)));
        Self { delivery, ..self }
    }
}

/// The result of a tool: one block of text, and `isError` only when it is true.
pub(crate) fn tool_result(answer: &Answer) -> Object {
    let mut result = Object::new();
    result.insert("content".into(), json!([{"type": "text", "text": answer.text}]));
    if answer.is_error {
        result.insert("isError".into(), Value::Bool(true));
    }
    result
}
