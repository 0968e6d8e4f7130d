//! JSON-RPC messages: bytes to typed values and back. Knows no transport and no method.
//!
//! Exactly the members that are used are read; everything else a client sends is tolerated. Request ids come back as they
//! were sent, with their JSON type.

use super::fault::RpcError;
use super::revision::{SERVER_KEY, server_info};
use serde_json::{Map, Number, Value, json};

/// A JSON object.
pub(crate) type Object = Map<String, Value>;

/// The object in a value that was built as one.
pub(crate) fn object(value: Value) -> Object {
    match value {
        Value::Object(object) => object,
        _ => Object::new(),
    }
}

/// A request id: a whole number or a string, echoed as it came.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Id {
    /// A whole number.
    Number(Number),
    /// A string, possibly empty.
    Text(String),
}

impl Id {
    /// The id in a JSON value; `None` when it is null, fractional or no id at all.
    pub(crate) fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Number(number) if is_whole(number) => Some(Self::Number(number.clone())),
            Value::String(text) => Some(Self::Text(text.clone())),
            _ => None,
        }
    }

    /// The id as it was sent.
    pub(crate) fn to_value(&self) -> Value {
        match self {
            Self::Number(number) => Value::Number(number.clone()),
            Self::Text(text) => Value::String(text.clone()),
        }
    }
}

/// A message that wants an answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Request {
    /// Its id.
    pub(crate) id: Id,
    /// The method that is asked for.
    pub(crate) method: String,
    /// The parameters; empty when there were none.
    pub(crate) params: Object,
}

impl Request {
    /// The request's `_meta`, when it is an object.
    pub(crate) fn meta(&self) -> Option<&Object> {
        meta(&self.params)
    }

    /// The progress token in `_meta`: a string or a whole number, as sent.
    pub(crate) fn progress_token(&self) -> Option<Value> {
        let token = self.meta()?.get("progressToken")?;
        (token.is_string() || token.as_number().is_some_and(is_whole)).then(|| token.clone())
    }
}

/// A message that wants none.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Notification {
    /// The event it tells of.
    pub(crate) method: String,
    /// The parameters; empty when there were none.
    pub(crate) params: Object,
}

impl Notification {
    /// The notification's `_meta`, when it is an object.
    pub(crate) fn meta(&self) -> Option<&Object> {
        meta(&self.params)
    }
}

/// Tells whether a number is a whole one, as `3.0` is.
fn is_whole(number: &Number) -> bool {
    let is_exact = |float: f64| float.fract() == 0.0 && float.abs() <= EXACT;
    number.is_i64() || number.is_u64() || number.as_f64().is_some_and(is_exact)
}

/// 2^53: up to here a float stands for one whole number.
pub(crate) const EXACT: f64 = 9_007_199_254_740_992.0;

fn meta(params: &Object) -> Option<&Object> {
    params.get("_meta").and_then(Value::as_object)
}

/// One message of a client.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Message {
    /// It wants an answer.
    Request(Request),
    /// It wants none.
    Notification(Notification),
    /// An answer to something this server never asks.
    Response,
}

/// A message that could not be understood, with its id when there was one.
#[derive(Debug, PartialEq)]
pub(crate) struct Rejected {
    /// The id of the message, if it was readable.
    pub(crate) id: Option<Id>,
    /// The reason.
    pub(crate) fault: RpcError,
}

impl Rejected {
    /// A message without a readable id.
    pub(crate) fn nameless(fault: RpcError) -> Self {
        Self { id: None, fault }
    }
}

/// The body of one POST.
#[derive(Debug, PartialEq)]
pub(crate) enum Posted {
    /// One message.
    Single(Message),
    /// An array of messages; each may be malformed on its own.
    Batch(Vec<Result<Message, Rejected>>),
}

/// Reads a body. The parser refuses nesting deeper than 128 levels before it builds anything, so neither this nor dropping
/// the result recurses far.
pub(crate) fn parse(body: &[u8]) -> Result<Posted, Rejected> {
    // Some languages write a mark of the byte order before the text.
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    match serde_json::from_slice::<Value>(body) {
        Err(_) if body.trim_ascii().is_empty() => Err(Rejected::nameless(RpcError::NotJson("it is empty".to_owned()))),
        Err(why) => Err(Rejected::nameless(RpcError::NotJson(why.to_string()))),
        Ok(Value::Array(items)) if items.is_empty() => Err(Rejected::nameless(RpcError::NotAMessage("an empty batch"))),
        Ok(Value::Array(items)) => Ok(Posted::Batch(items.into_iter().map(message).collect())),
        Ok(value) => message(value).map(Posted::Single),
    }
}

fn message(value: Value) -> Result<Message, Rejected> {
    let Value::Object(mut object) = value else {
        return Err(Rejected::nameless(RpcError::NotAMessage("a message is one JSON object")));
    };
    let sent_id = object.remove("id");
    let id = sent_id.as_ref().and_then(Id::from_value);
    let reject = |id, what| Err(Rejected { id, fault: RpcError::NotAMessage(what) });
    if object.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return reject(id, "`jsonrpc` must be \"2.0\"");
    }
    let method = match object.remove("method") {
        Some(Value::String(method)) => method,
        None if object.contains_key("result") || object.contains_key("error") => return Ok(Message::Response),
        _ => return reject(id, "`method` must be a string"),
    };
    if sent_id.is_some() && id.is_none() {
        return reject(None, "`id` must be a string or a whole number");
    }
    let params = match object.remove("params") {
        None | Some(Value::Null) => Object::new(),
        Some(Value::Object(params)) => params,
        Some(_) => return reject(id, "`params` must be an object"),
    };
    Ok(match id {
        Some(id) => Message::Request(Request { id, method, params }),
        None => Message::Notification(Notification { method, params }),
    })
}

/// The message that answers a request with a result.
pub(crate) fn result(id: &Id, result: Object) -> Value {
    json!({"jsonrpc": "2.0", "id": id.to_value(), "result": result})
}

/// Completes a result of the modern era, which says its type and who answers.
pub(crate) fn envelope(result: &mut Object) {
    result.entry("resultType").or_insert_with(|| json!("complete"));
    if let Some(meta) = result.entry("_meta").or_insert_with(|| json!({})).as_object_mut() {
        meta.insert(SERVER_KEY.into(), server_info());
    }
}

/// The message that answers a request with an error; the id is null when it was unreadable.
pub(crate) fn error(id: Option<&Id>, fault: &RpcError) -> Value {
    let mut error = json!({"code": fault.code(), "message": fault.to_string()});
    if let Some(data) = fault.data() {
        error["data"] = data;
    }
    json!({"jsonrpc": "2.0", "id": id.map_or(Value::Null, Id::to_value), "error": error})
}

/// A notification of the server.
pub(crate) fn notification(method: &str, params: Option<Value>) -> Value {
    let mut message = json!({"jsonrpc": "2.0", "method": method});
    if let Some(params) = params {
        message["params"] = params;
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn single(body: &str) -> Message {
        match parse(body.as_bytes()) {
            Ok(Posted::Single(message)) => message,
            other => panic!("{body}: {other:?}"),
        }
    }

    fn rejected(body: &[u8]) -> Rejected {
        parse(body).expect_err("rejected")
    }

    #[test]
    fn ids_come_back_with_their_type() {
        for id in ["0", "\"\"", "\"x-1\"", "1099511627776", "-5", "18446744073709551615", "\"0\"", "1.0", "-5.0"] {
            let Message::Request(request) = single(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)) else {
                panic!("{id} is a request id");
            };
            assert_eq!(request.id.to_value().to_string(), id);
        }
    }

    #[test]
    fn tokens_keep_their_type_and_other_values_are_none() {
        let token = |token: &Value| {
            let params = object(json!({"_meta": {"progressToken": token}}));
            Request { id: Id::Text("x".into()), method: "tools/call".into(), params }.progress_token()
        };
        for good in [json!(0), json!(-1), json!(7.0), json!(""), json!("t")] {
            assert_eq!(token(&good), Some(good));
        }
        for bad in [json!(null), json!(1.5), json!({}), json!(true)] {
            assert_eq!(token(&bad), None);
        }
    }

    #[test]
    fn what_is_not_json_is_told_so_without_an_id() {
        let deep = "[".repeat(100_000);
        let closed = format!("{}{}", "[".repeat(4_000), "]".repeat(4_000));
        let objects = format!("{}1{}", "{\"a\":".repeat(4_000), "}".repeat(4_000));
        let bodies: [&[u8]; 6] = [b"{nope", b"", b"\xff\xfe{}", deep.as_bytes(), closed.as_bytes(), objects.as_bytes()];
        for body in bodies {
            let rejected = rejected(body);
            assert!(rejected.id.is_none() && matches!(rejected.fault, RpcError::NotJson(_)), "{rejected:?}");
        }
        let told = [&b" "[..], b"{'a': 1}", b"{\"a\":1,}", b"\x1f\x8b\x08", closed.as_bytes()];
        expect![[r#"
            the body cannot be read as JSON: it is empty
            the body cannot be read as JSON: key must be a string at line 1 column 2
            the body cannot be read as JSON: trailing comma at line 1 column 8
            the body cannot be read as JSON: expected value at line 1 column 1
            the body cannot be read as JSON: recursion limit exceeded at line 1 column 128"#]]
        .assert_eq(&told.map(|body| rejected(body).fault.to_string()).join("\n"));
    }

    #[test]
    fn what_is_no_message_is_told_so_with_its_id_where_it_has_one() {
        let cases = [
            ("5", None),
            ("{}", None),
            ("[]", None),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, None),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, None),
            (r#"{"jsonrpc":"2.0","id":1e300,"method":"ping"}"#, None),
            (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, None),
            (r#"{"jsonrpc":"1.0","id":4,"method":"ping"}"#, Some(4)),
            (r#"{"jsonrpc":"2.0","id":4}"#, Some(4)),
            (r#"{"jsonrpc":"2.0","id":4,"method":7}"#, Some(4)),
            (r#"{"jsonrpc":"2.0","id":4,"method":"ping","params":[1]}"#, Some(4)),
        ];
        for (body, id) in cases {
            let rejected = rejected(body.as_bytes());
            assert!(matches!(rejected.fault, RpcError::NotAMessage(_)), "{body}");
            assert_eq!(rejected.id, id.map(|id: u64| Id::Number(id.into())), "{body}");
        }
    }

    #[test]
    fn a_mark_of_the_byte_order_is_no_part_of_the_message() {
        assert!(matches!(single("\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"), Message::Request(_)));
    }

    #[test]
    fn requests_notifications_and_responses_are_told_apart() {
        assert!(matches!(single(r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":null}"#), Message::Request(_)));
        assert!(matches!(single(r#"{"jsonrpc":"2.0","method":"x"}"#), Message::Notification(_)));
        for body in [r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, r#"{"jsonrpc":"2.0","id":1,"error":{}}"#] {
            assert_eq!(single(body), Message::Response);
        }
    }

    #[test]
    fn one_bad_message_of_a_batch_leaves_the_others() {
        let Ok(Posted::Batch(items)) = parse(br#"[1,{"jsonrpc":"2.0","id":2,"method":"ping"}]"#) else {
            panic!("a batch")
        };
        assert!(items[0].is_err() && items[1].is_ok());
    }
    #[test]
    fn results_say_their_type_and_who_answers() {
        let mut result = object(json!({"resultType": "task"}));
        envelope(&mut result);
        assert_eq!(result["resultType"], "task");
        assert_eq!(result["_meta"][SERVER_KEY]["name"], "remontoire");
        let mut result = Object::new();
        envelope(&mut result);
        assert_eq!(result["resultType"], "complete");
    }
}
