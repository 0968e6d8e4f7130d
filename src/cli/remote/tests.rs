//! The client against canned answers on a real socket.

use super::client::{Remote, RemoteError, ToolAnswer};
use crate::base::Refusal;
use crate::http::Token;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

const SESSION: &str =
    r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"session bfw\n\nuse it"}]}}"#;

/// Answers one connection after the other with these responses; brings the requests back.
async fn canned(responses: Vec<String>) -> (String, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let answering = tokio::spawn(async move {
        let mut requests = Vec::new();
        for response in responses {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = Vec::new();
            // All requests of this client end with the brace of their JSON.
            while !request.ends_with(b"}}}") {
                let mut part = [0; 4096];
                let n = stream.read(&mut part).await.unwrap();
                assert!(n > 0, "the client went away in the middle of {:?}", String::from_utf8_lossy(&request));
                request.extend_from_slice(&part[..n]);
            }
            requests.push(String::from_utf8(request).unwrap());
            stream.write_all(response.as_bytes()).await.unwrap();
        }
        requests
    });
    (url, answering)
}

fn response(status: &str, kind: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

fn json(body: &str) -> String {
    response("200 OK", "application/json", body)
}

#[tokio::test]
async fn a_session_is_opened_and_rides_every_call() {
    let reply = r#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"42"}],"isError":false}}"#;
    let (url, answering) = canned(vec![json(SESSION), json(reply)]).await;
    let token = Token::new("secret").unwrap();
    let remote = Remote::connect(&url, Some(&token), "a test").await.unwrap();
    assert_eq!(remote.session(), "bfw");
    let answer = remote.call("eval", json!({ "code": "6 * 7" }), |_| ()).await.unwrap();
    assert_eq!(answer, ToolAnswer { text: "42".into(), is_error: false });
    let requests = answering.await.unwrap();
    assert!(!requests[0].contains("\"session\""), "{}", requests[0]);
    for (request, name) in requests.iter().zip(["create-session", "eval"]) {
        let head = request.to_ascii_lowercase();
        for field in ["mcp-protocol-version: 2026-07-28", "mcp-method: tools/call", "authorization: bearer secret"] {
            assert!(head.contains(field), "{field} in {request}");
        }
        assert!(head.contains(&format!("mcp-name: {name}")), "{request}");
    }
    assert!(requests[1].contains(r#""arguments":{"code":"6 * 7","session":"bfw"}"#), "{}", requests[1]);
}

#[tokio::test]
async fn a_streamed_answer_is_the_one_to_our_request() {
    let stream = [
        ": beat",
        r#"data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1,"message":"half way"}}"#,
        r#"data: {"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"bad"}],"isError":true}}"#,
    ];
    let body = stream.map(|event| format!("{event}\n\n")).concat();
    let (url, answering) = canned(vec![json(SESSION), response("200 OK", "text/event-stream", &body)]).await;
    let remote = Remote::connect(&url, None, "a test").await.unwrap();
    let mut lines = Vec::new();
    let answer = remote.call("eval", json!({ "code": "" }), |line| lines.push(line.to_owned())).await.unwrap();
    assert_eq!(answer, ToolAnswer { text: "bad".into(), is_error: true });
    assert_eq!(lines, ["half way"]);
    drop(answering);
}

#[tokio::test]
async fn a_session_that_the_instance_does_not_know_is_over() {
    let text = Refusal::UnknownSession { given: "bfw".into(), up: std::time::Duration::from_secs(3) }.to_string();
    let result = json!({"content": [{"type": "text", "text": text}], "isError": true});
    let refused = json!({"jsonrpc": "2.0", "id": 2, "result": result}).to_string();
    let (url, _answering) = canned(vec![json(SESSION), json(&refused)]).await;
    let remote = Remote::connect(&url, None, "a test").await.unwrap();
    let error = remote.call("eval", json!({ "code": "1" }), |_| ()).await.unwrap_err();
    assert!(error.to_string().starts_with("session bfw is over: the instance was restarted"), "{error}");
}

#[tokio::test]
async fn what_goes_wrong_is_told_apart() {
    let refused = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no such tool"}}"#;
    let streamed = response("200 OK", "text/event-stream", ": beat\n\n");
    type IsWanted = fn(&RemoteError) -> bool;
    let cases: [(String, IsWanted); 5] = [
        (response("401 Unauthorized", "text/plain", "no"), |error| matches!(error, RemoteError::Token)),
        (response("404 Not Found", "text/html", "<html>"), |error| matches!(error, RemoteError::Foreign(_))),
        (json(refused), |error| matches!(error, RemoteError::Refused(why) if why == "no such tool")),
        (streamed, |error| matches!(error, RemoteError::Broken(_))),
        (String::new(), |error| matches!(error, RemoteError::Broken(_))),
    ];
    for (response, is_wanted) in cases {
        let (url, _answering) = canned(vec![response.clone()]).await;
        let error = Remote::connect(&url, None, "a test").await.unwrap_err();
        assert!(is_wanted(&error), "{error:?} for {response:?}");
    }
    for url in ["", "ftp://localhost", "https://localhost", "localhost:7766", "not a url"] {
        assert!(matches!(Remote::connect(url, None, "a test").await, Err(RemoteError::Url(_))), "{url}");
    }
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let error = Remote::connect(&format!("http://{free}/"), None, "a test").await.unwrap_err();
    assert!(matches!(error, RemoteError::Connect(..)), "{error:?}");
}
