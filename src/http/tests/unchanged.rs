//! Replies as they are on the wire, byte for byte but for the date. The routes are matched by a library with ideas of its own
//! about HEAD, `Allow`, lengths and paths: none of them may show.

use super::*;
use expect_test::expect_file;

const LOCAL: &str = "Host: localhost\r\n";
const ASKS: &str = "Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: content-type\r\n";
const PAGE: &str = "Origin: https://desk.example\r\n";
const JSON: &str = "Content-Type: application/json\r\n";

/// Requests by their request line, their headers (`KEY` stands for the token) and their body.
fn requests() -> Vec<(&'static str, String, &'static str)> {
    let mut requests = Vec::new();
    for target in ["/mcp", "/probe", "/", "/nope", "*"] {
        for method in ["GET", "HEAD", "PUT", "PATCH", "OPTIONS", "TRACE", "FOO"] {
            let line: &str = Box::leak(format!("{method} {target}").into_boxed_str());
            requests.push((line, format!("{LOCAL}KEY"), ""));
        }
    }
    let paths = ["/mcp/", "/%6dcp", "/mcp%2f", "//mcp", "/MCP", "/mcp/x", "/mcp?x=1", "/mcp?", "/probe/", "/probe?x"];
    for target in paths.into_iter().chain(["/%ff", "/{x}", "http://localhost/mcp", "http://localhost"]) {
        let line: &str = Box::leak(format!("GET {target}").into_boxed_str());
        requests.push((line, format!("{LOCAL}KEY"), ""));
    }
    let with = |line, headers: &[&str], body| (line, headers.concat(), body);
    requests.extend([
        with("CONNECT localhost:1", &[LOCAL, "KEY"], ""),
        with("POST /probe", &[LOCAL, "KEY"], "{}"),
        with("POST /nope", &[LOCAL, "KEY"], "{}"),
        with("OPTIONS /mcp", &[LOCAL, PAGE, ASKS], ""),
        with("OPTIONS /nope", &[LOCAL, PAGE, ASKS], ""),
        with("OPTIONS /mcp", &[LOCAL, PAGE], ""),
        with("OPTIONS /mcp", &[LOCAL, "Origin: http://localhost\r\n", ASKS], ""),
        with("GET /mcp", &[LOCAL, PAGE, "KEY"], ""),
        with("GET /nope", &[LOCAL, PAGE, "KEY"], ""),
        with("HEAD /probe", &[LOCAL, PAGE, "KEY"], ""),
        with("GET /nope", &[LOCAL], ""),
        with("HEAD /nope", &[LOCAL], ""),
        with("GET /nope", &["KEY"], ""),
        with("GET /nope", &["Host: evil.example\r\nKEY"], ""),
        with("GET /nope", &[LOCAL, "KEY", "Origin: null\r\n"], ""),
        with("POST /mcp", &[LOCAL, "KEY"], "{}"),
        with("POST /mcp", &[LOCAL, "KEY", JSON], "{"),
        with("POST /mcp", &[LOCAL, PAGE, "KEY", JSON], "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"),
        with(
            "POST /mcp",
            &[LOCAL, "KEY", JSON, "MCP-Protocol-Version: 2026-07-28\r\n"],
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}",
        ),
        with("POST /mcp", &[LOCAL, "KEY", JSON], "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\"}"),
        with("DELETE /mcp", &[LOCAL, "KEY"], ""),
        with("DELETE /mcp", &[LOCAL, "KEY", "Mcp-Session-Id: a-session\r\n"], ""),
        with("DELETE /mcp", &[LOCAL, "KEY", PAGE, "Mcp-Session-Id: a-session\r\n"], ""),
    ]);
    requests
}

#[tokio::test]
async fn every_reply_is_the_same_on_the_wire() {
    let host = Host::builder().clock(Clock::manual()).build().unwrap();
    let options = ServeOptions {
        token: Token::new("secret"),
        allow_origins: vec!["https://desk.example".into()],
        ..ServeOptions::default()
    };
    let server = serve_with(&host, local(0), options).await.unwrap();
    let mut shown = String::new();
    for (line, headers, body) in requests() {
        for (version, end) in [("1.1", "Connection: close\r\n"), ("1.0", "")] {
            if version == "1.0" && !line.starts_with("HEAD /") && line != "GET /mcp" {
                continue;
            }
            let mut client = Client(TcpStream::connect(server.addr()).await.unwrap());
            let key = headers.replace("KEY", "Authorization: Bearer secret\r\n");
            let length = if body.is_empty() { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
            client.send(format!("{line} HTTP/{version}\r\n{key}{length}{end}\r\n{body}")).await;
            let mut reply = Vec::new();
            timeout(BOUND, client.0.read_to_end(&mut reply)).await.expect("an end").unwrap();
            let reply = String::from_utf8(reply).unwrap().replace(env!("CARGO_PKG_VERSION"), "0.0.0");
            let reply: Vec<_> = reply.split("\r\n").filter(|line| !line.starts_with("date: ")).collect();
            let asked = headers.replace("\r\n", " | ");
            shown.push_str(&format!("> {line} HTTP/{version} | {asked}{body}\n{}\n\n", reply.join("\n").trim_end()));
        }
    }
    server.shutdown().await;
    expect_file!["unchanged.txt"].assert_eq(&shown);
}
