//! Requests that are let in, and requests that are refused.

use super::*;

#[tokio::test]
async fn every_refusal_has_its_status_and_reaches_no_service() {
    let token = Token::new("secret-one");
    let options = ServeOptions { token, allow_origins: vec!["https://desk.example".into()], ..ServeOptions::default() };
    let mut fixture = Fixture::with(options).await;
    let key = "Authorization: Bearer secret-one\r\n";
    let cases: &[(&str, &str, &str, u16, &str)] = &[
        ("POST", "/mcp", "Host: evil.example\r\n", 403, ""),
        ("GET", "/probe", "Host: evil.example\r\n", 403, ""),
        ("DELETE", "/mcp", "Host: localhost\r\nOrigin: null\r\n", 403, ""),
        ("GET", "/nope", "Host: localhost\r\nOrigin: http://evil.example\r\n", 403, ""),
        ("POST", "/mcp", "", 400, ""),
        ("POST", "/mcp", "Host: localhost\r\n", 401, "www-authenticate: Bearer realm=\"remontoire\""),
        ("GET", "/probe", "Host: localhost\r\nAuthorization: Bearer wrong\r\n", 401, ""),
        ("GET", "/nope", "Host: localhost\r\nKEY", 404, ""),
        ("POST", "/nope", "Host: localhost\r\nKEY", 404, "content-type: application/json"),
        ("POST", "/probe", "Host: localhost\r\nKEY", 405, "allow: GET, HEAD"),
        ("GET", "/probe", "Host: localhost\r\nKEY", 200, "content-type: application/json"),
        (
            "OPTIONS",
            "/mcp",
            "Host: localhost\r\nOrigin: http://localhost\r\nAccess-Control-Request-Method: POST\r\n",
            403,
            "",
        ),
        ("POST", "/mcp/", "Host: localhost\r\n", 401, "content-type: application/json"),
        ("GET", "/nope", "Host: localhost\r\n", 401, "www-authenticate: Bearer realm=\"remontoire\""),
        (
            "GET",
            "/.well-known/oauth-authorization-server",
            "Host: localhost\r\n",
            404,
            "content-type: application/json",
        ),
        ("GET", "/mcp/.well-known/openid-configuration", "Host: localhost\r\n", 404, ""),
        ("POST", "/register", "Host: localhost\r\n", 404, "content-type: application/json"),
        ("GET", "/.well-known/x", "Host: evil.example\r\n", 403, ""),
    ];
    let mut client = fixture.client().await;
    for (method, path, headers, wanted, field) in cases {
        let headers = headers.replace("KEY", key);
        client.send(format!("{method} {path} HTTP/1.1\r\n{headers}\r\n")).await;
        let (head, _) = client.response().await;
        assert_eq!(status(&head), *wanted, "{method} {path} {headers}");
        assert!(field.is_empty() || has(&head, field), "{field} in {head}");
    }
    client.send(format!("HEAD /probe HTTP/1.1\r\nHost: localhost\r\n{key}\r\n")).await;
    assert_eq!(status(&client.until("\r\n\r\n").await), 200);
    assert!(fixture.log.try_recv().is_err(), "nothing was handled");
}

/// The body that a request is answered with.
async fn body(options: ServeOptions, request: &str) -> String {
    let fixture = Fixture::with(options).await;
    let mut client = fixture.client().await;
    client.send(format!("{request}\r\n\r\n")).await;
    client.response().await.1
}

#[tokio::test]
async fn a_refusal_says_what_leads_on() {
    let locked = || ServeOptions { token: Token::new("secret-one"), ..ServeOptions::default() };
    let page = "OPTIONS /mcp HTTP/1.1\r\nHost: localhost\r\nAccess-Control-Request-Method: POST\r\nOrigin:";
    let bodies = [
        body(ServeOptions::default(), "POST / HTTP/1.1\r\nHost: localhost").await,
        body(ServeOptions::default(), "GET / HTTP/1.1\r\nHost: localhost").await,
        body(ServeOptions::default(), &format!("{page} http://localhost:6274")).await,
        body(locked(), &format!("{page} http://localhost:6274")).await,
        body(ServeOptions::default(), &format!("{page} https://desk.example")).await,
        body(ServeOptions::default(), "POST /register HTTP/1.1\r\nHost: localhost").await,
        body(locked(), "POST /register HTTP/1.1\r\nHost: localhost").await,
        body(locked(), "POST /mcp HTTP/1.1\r\nHost: localhost").await,
        body(locked(), "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: secret-one").await,
    ];
    expect_test::expect![[r#"
        {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"nothing is served at `/`; MCP is spoken at the path /mcp"}}
        nothing is served here; the paths are /mcp and /probe
        pages of `http://localhost:6274` may not read the answers; the operator can allow it with --allow-origin http://localhost:6274
        pages of `http://localhost:6274` may not read the answers; the operator can allow it with --allow-origin http://localhost:6274
        pages of `https://desk.example` may not call; the operator can add the origin with --allow-origin
        {"error":"not_found","error_description":"there is nothing to sign in to: no token is needed here"}
        {"error":"not_found","error_description":"there is nothing to sign in to: send the token that the operator chose with --token as `Authorization: Bearer …`"}
        {"error":"invalid_token","error_description":"this needs the token that the operator chose with --token: send it as `Authorization: Bearer …`"}
        {"error":"invalid_token","error_description":"what `Authorization` says is not `Bearer` and the token that the operator chose with --token"}"#]].assert_eq(&bodies.map(|body| body.trim_end().to_owned()).join("\n"));
}

#[tokio::test]
async fn a_slash_behind_the_path_changes_nothing() {
    let fixture = Fixture::new().await;
    let mut client = fixture.client().await;
    client.send("POST /mcp/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello").await;
    assert_eq!(client.response().await.1, "hello");
}

#[tokio::test]
async fn pages_of_an_allowed_origin_may_ask_and_read() {
    let origins = vec!["https://desk.example".into()];
    let fixture =
        Fixture::with(ServeOptions { token: Token::new("t"), allow_origins: origins, ..ServeOptions::default() }).await;
    let mut client = fixture.client().await;
    let page = "Host: localhost\r\nOrigin: https://desk.example\r\n";
    let asks = "Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: content-type\r\n";
    client.send(format!("OPTIONS /mcp HTTP/1.1\r\n{page}{asks}\r\n")).await;
    let head = client.until("\r\n\r\n").await;
    assert_eq!(status(&head), 204);
    for field in ["origin: https://desk.example", "headers: content-type", "methods: GET, POST, DELETE"] {
        assert!(has(&head, &format!("access-control-allow-{field}")), "{head}");
    }
    client.send(format!("POST /mcp HTTP/1.1\r\n{page}Authorization: Bearer t\r\nContent-Length: 2\r\n\r\n{{}}")).await;
    let (head, _) = client.response().await;
    assert_eq!(status(&head), 200);
    assert!(has(&head, "access-control-allow-origin: https://desk.example"), "{head}");
}

#[tokio::test]
async fn a_body_over_the_limit_is_413_and_the_connection_lives() {
    let mut fixture = Fixture::new().await;
    let mut client = fixture.client().await;
    // Announced: refused before any of it was sent.
    client.send("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1001\r\n\r\n").await;
    assert_eq!(client.status().await, 413);
    client.send("x".repeat(1_001)).await;
    // In chunks: refused when the limit is passed.
    let chunk = format!("258\r\n{}\r\n", "x".repeat(600));
    client
        .send(format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n{chunk}{chunk}"))
        .await;
    assert_eq!(client.status().await, 413);
    client.send("0\r\n\r\n").await;
    assert!(fixture.log.try_recv().is_err(), "nothing was handled");
    // As large as the limit.
    client.post(&"x".repeat(1_000)).await;
    assert_eq!(client.response().await.1.len(), 1_000);
}

#[tokio::test]
async fn a_client_that_sends_everything_first_reads_the_413() {
    let fixture = Fixture::new().await;
    let mut client = fixture.client().await;
    client.post(&"x".repeat(16 << 20)).await;
    assert_eq!(client.status().await, 413);
    client.post("hello").await;
    assert_eq!(client.status().await, 200);
}

#[tokio::test]
async fn a_client_that_waits_to_be_asked_for_its_body_is_asked_unless_it_is_too_large() {
    let fixture = Fixture::new().await;
    let expecting = |length| {
        format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: {length}\r\n\r\n")
    };
    let mut client = fixture.client().await;
    client.send(expecting(5)).await;
    assert_eq!(status(&client.until("\r\n\r\n").await), 100);
    client.send("hello").await;
    assert_eq!(client.response().await.1, "hello");
    client.send(expecting(5_000)).await;
    assert_eq!(client.status().await, 413);
    client.closed().await;
}
