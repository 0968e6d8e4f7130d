//! An eval over HTTP against a bare route of the same HTTP library, on one machine in one run, by one client over one connection.

use crate::{Bench, duration, judged, percentile, ratio, show};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use remontoire::Host;
use remontoire::internals::{ClientInfo, HostApi};
use std::convert::Infallible;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::runtime::Builder;

/// How often each route has its turn, and how many requests a turn has.
const ROUNDS: usize = 100;
const REQUESTS: usize = 50;

pub(crate) fn run(bench: &Bench) {
    if !bench.wants("http") {
        return;
    }
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let host = Host::builder().build().unwrap();
    let api = HostApi::of(&host);
    let (key, _) = api.initialize(ClientInfo::default(), None).unwrap();
    let (handle, _) = api.create_session(None, ClientInfo::default(), None).unwrap();
    let server = runtime.block_on(remontoire::serve(&host, "127.0.0.1:0".parse().unwrap())).unwrap();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let bare = listener.local_addr().unwrap();
    runtime.spawn(serve_bare(listener));

    let body = |arguments: &str, meta: &str| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":\"eval\",\"arguments\":{arguments}{meta}}}}}"
        )
    };
    let legacy = request(&format!("Mcp-Session-Id: {key}\r\n"), &body("{\"code\":\"40 + 2\"}", ""));
    let meta = ",\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\"io.modelcontextprotocol/clientCapabilities\":{}}";
    let modern = request(
        "Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: eval\r\n",
        &body(&format!("{{\"code\":\"40 + 2\",\"session\":\"{handle}\"}}"), meta),
    );
    let mut routes = [
        Route::new("a bare route over HTTP", bare, legacy.clone()),
        Route::new("an eval, handshake wire", server.addr(), legacy),
        Route::new("an eval, modern wire", server.addr(), modern),
    ];
    // In turns: the machine's pace changes from one second to the next, and a ratio is only worth something within one pace.
    for _ in 0..ROUNDS {
        for route in &mut routes {
            route.round(bench);
        }
    }
    let base = routes[0].report();
    for route in &mut routes[1..] {
        let p50 = route.report();
        show("… p50, times the bare route (at most 3)", judged(ratio(p50, base), 3.0));
    }
    runtime.block_on(server.shutdown());
}

fn request(headers: &str, body: &str) -> Vec<u8> {
    format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         {headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// Answers everything with a body like that of an eval.
async fn serve_bare(listener: TcpListener) {
    const ANSWER: &str = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"42\\n;; id 1 · session bfw · ns s-bfw · ok · 0 ms\"}],\"isError\":false}}";
    async fn answer(request: Request<hyper::body::Incoming>) -> Result<Response<Full<Bytes>>, hyper::Error> {
        let body = request.into_body().collect().await?.to_bytes();
        std::hint::black_box(body);
        Ok(Response::new(Full::new(Bytes::from_static(ANSWER.as_bytes()))))
    }
    while let Ok((stream, _)) = listener.accept().await {
        stream.set_nodelay(true).ok();
        tokio::spawn(async move {
            // The client's leaving is the end of it.
            http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(answer)).await.ok();
            Ok::<_, Infallible>(())
        });
    }
}

/// A request that is sent again and again over one connection.
struct Route {
    figure: &'static str,
    stream: TcpStream,
    request: Vec<u8>,
    samples: Vec<Duration>,
}

impl Route {
    fn new(figure: &'static str, addr: SocketAddr, request: Vec<u8>) -> Self {
        let mut stream = TcpStream::connect(addr).unwrap();
        stream.set_nodelay(true).unwrap();
        for _ in 0..500 {
            exchange(&mut stream, &request);
        }
        Self { figure, stream, request, samples: Vec::with_capacity(ROUNDS * REQUESTS) }
    }

    fn round(&mut self, bench: &Bench) {
        for _ in 0..REQUESTS {
            let (taken, ()) = bench.time(|| exchange(&mut self.stream, &self.request));
            self.samples.push(taken);
        }
    }

    /// Shows what was measured; returns the median.
    fn report(&mut self) -> Duration {
        let all: Duration = self.samples.iter().sum();
        let p50 = percentile(&mut self.samples, 50);
        show(&format!("{}, p50", self.figure), duration(p50));
        show("… p99", duration(percentile(&mut self.samples, 99)));
        #[expect(clippy::cast_precision_loss, reason = "a rate for reading")]
        let rate = self.samples.len() as f64 / all.as_secs_f64();
        show("… requests a second, one after the other", format!("{rate:.0}"));
        p50
    }
}

/// One request and its whole reply.
fn exchange(stream: &mut TcpStream, request: &[u8]) {
    stream.write_all(request).unwrap();
    let mut reply = [0; 4096];
    let mut filled = 0;
    loop {
        let n = stream.read(&mut reply[filled..]).unwrap();
        assert!(n > 0, "the connection ended");
        filled += n;
        let text = std::str::from_utf8(&reply[..filled]).unwrap_or_default();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        assert!(head.starts_with("HTTP/1.1 200"), "{text}");
        let lower = head.to_ascii_lowercase();
        let length = lower.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        if body.len() >= length.parse().unwrap() {
            return;
        }
    }
}
