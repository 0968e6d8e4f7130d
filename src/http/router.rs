//! From a request to a response: the paths, and the checks in their order. The protocol is behind [`Service`].

use super::access::{Access, Denied};
use super::body::{self, ResponseBody, Unread};
use super::refused::Refused;
use super::socket::PendingDeliveries;
use crate::base::Clock;
use crate::host::Delivery;
use crate::mcp::{Body, Dispatcher, Incoming, Reply};
use axum::Router;
use axum::body::Body as RequestBody;
use axum::extract::Request;
use axum::handler::Handler;
use bytes::Bytes;
use http::header;
use http::request::Parts;
use http::{HeaderValue, Method, Response, StatusCode};
use std::net::SocketAddr;
use std::sync::Arc;

/// Answers requests that were let in.
pub(super) trait Service: Clone + Send + Sync + 'static {
    /// Answers one request to `/mcp`. The future is dropped when the client has gone.
    fn handle(&self, incoming: Incoming) -> impl Future<Output = Reply> + Send;

    /// The JSON body of `GET /probe`.
    fn probe(&self) -> Bytes;

    /// Makes every open request answer soon: the process is ending.
    fn shut_down(&self);
}

impl Service for Dispatcher {
    fn handle(&self, incoming: Incoming) -> impl Future<Output = Reply> + Send {
        Self::handle(self, incoming)
    }

    fn probe(&self) -> Bytes {
        Self::probe(self)
    }

    fn shut_down(&self) {
        Self::shut_down(self);
    }
}

/// The parts that all connections of one server share.
#[derive(Debug)]
pub(super) struct Routes<S> {
    pub(super) service: S,
    pub(super) access: Access,
    pub(super) clock: Clock,
    /// Largest request body, in bytes.
    pub(super) body_bytes: usize,
}

/// The connection a request came on, found among the request's extensions.
#[derive(Clone, Debug, Default)]
pub(super) struct Connection {
    /// The other end.
    pub(super) peer: Option<SocketAddr>,
    /// The deliveries of its responses. A connection that nobody watches has its own, which are never written.
    pub(super) pending: Arc<PendingDeliveries>,
}

/// An endpoint of the server.
#[derive(Clone, Copy, Debug)]
enum Endpoint {
    Mcp,
    Probe,
    /// Every other path.
    Unknown,
}

impl<S: Service> Routes<S> {
    /// The routes, to be called with requests that carry their [`Connection`].
    pub(super) fn router(self: &Arc<Self>) -> Router {
        let answer = |endpoint| {
            let routes = Arc::clone(self);
            let handler = move |request: Request| async move { routes.answer(endpoint, request).await };
            handler.with_state(())
        };
        // Services and not methods of a path: axum would add `Allow` and `Content-Length` to their replies, and answer HEAD.
        Router::new()
            .route_service("/mcp", answer(Endpoint::Mcp))
            .route_service("/mcp/", answer(Endpoint::Mcp))
            .route_service("/probe", answer(Endpoint::Probe))
            .fallback_service(answer(Endpoint::Unknown))
    }

    /// Answers one request. The checks come before the endpoint, also before the one that says that there is none.
    async fn answer(&self, endpoint: Endpoint, request: Request) -> Response<ResponseBody> {
        let (mut parts, body) = request.into_parts();
        let Connection { peer, pending } = parts.extensions.remove().unwrap_or_default();
        let holds_back = parts.headers.contains_key(header::EXPECT);
        let (reply, page) = match self.access.names(&parts) {
            Err(denied) => (Err((Refused::Denied(denied), Some(body))), None),
            // A browser asks beforehand, and then never sends a token.
            Ok(Some(page)) if is_preflight(&parts) => (Ok(preflight(&parts)), Some(page)),
            Ok(None) if is_preflight(&parts) && parts.headers.contains_key(header::ORIGIN) => {
                (Err((Refused::Denied(Denied::reading(&parts)), Some(body))), None)
            }
            Ok(page) => (self.serve(endpoint, parts, body, peer).await, page),
        };
        let reply = reply.unwrap_or_else(|(refused, rest)| {
            let peer = peer.map(tracing::field::display);
            tracing::debug!(peer, status = refused.status().as_u16(), "{refused}");
            // Reading the body of a client that waits to be asked for it would be to ask for it.
            if let Some(rest) = rest.filter(|_| !holds_back) {
                body::swallow(rest, self.clock.clone());
            }
            refused.into()
        });
        respond(reply, page, pending)
    }

    /// Serves a request whose names are good at its endpoint. Gives back what was not read of a refused one.
    async fn serve(
        &self,
        endpoint: Endpoint,
        parts: Parts,
        body: RequestBody,
        peer: Option<SocketAddr>,
    ) -> Result<Reply, (Refused, Option<RequestBody>)> {
        if matches!(endpoint, Endpoint::Unknown) && is_sign_in(parts.uri.path()) {
            // A client that was refused looks here for a way to get a token. Told that one is needed, it would go round in circles.
            return Err((Refused::NoSignIn { token: self.access.needs_token() }, Some(body)));
        }
        if let Err(denied) = self.access.token(&parts) {
            return Err((Refused::Denied(denied), Some(body)));
        }
        match endpoint {
            Endpoint::Mcp => {
                let body = body::read(body, self.body_bytes, &self.clock).await.map_err(|unread| match unread {
                    Unread::TooLarge(rest) => (Refused::TooLarge(self.body_bytes), Some(rest)),
                    Unread::Slow => (Refused::Slow, None),
                    Unread::Broken => (Refused::Broken, None),
                })?;
                let Parts { method, headers, .. } = parts;
                Ok(self.service.handle(Incoming { method, headers, body, peer }).await)
            }
            Endpoint::Probe if matches!(parts.method, Method::GET | Method::HEAD) => Ok(Reply {
                status: StatusCode::OK,
                headers: vec![
                    (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
                    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
                ],
                body: Body::Whole(self.service.probe(), Delivery::none()),
            }),
            Endpoint::Probe => Err((Refused::Method("GET, HEAD"), Some(body))),
            Endpoint::Unknown if parts.method == Method::POST => {
                Err((Refused::Misplaced(parts.uri.path().to_owned()), Some(body)))
            }
            Endpoint::Unknown => Err((Refused::NotFound, Some(body))),
        }
    }
}

/// Tells whether a path is one where clients look for a server that gives out tokens.
fn is_sign_in(path: &str) -> bool {
    path == "/register" || path.contains("/.well-known/")
}

fn is_preflight(parts: &Parts) -> bool {
    parts.method == Method::OPTIONS && parts.headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

/// Lets a page whose origin was allowed by name send what it asks for.
fn preflight(parts: &Parts) -> Reply {
    let mut headers = vec![
        (header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, DELETE")),
        (header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600")),
    ];
    if let Some(asked) = parts.headers.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.push((header::ACCESS_CONTROL_ALLOW_HEADERS, asked.clone()));
    }
    Reply { status: StatusCode::NO_CONTENT, headers, body: Body::Empty }
}

/// Puts a reply on its way; `page` is the origin whose pages may read it.
fn respond(reply: Reply, page: Option<HeaderValue>, pending: Arc<PendingDeliveries>) -> Response<ResponseBody> {
    let Reply { status, headers, body } = reply;
    let mut response = Response::new(ResponseBody::new(body, pending));
    *response.status_mut() = status;
    let fields = response.headers_mut();
    for (name, value) in headers {
        fields.append(name, value);
    }
    if let Some(page) = page {
        fields.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, page);
        fields.insert(
            header::ACCESS_CONTROL_EXPOSE_HEADERS,
            HeaderValue::from_static("Mcp-Session-Id, WWW-Authenticate"),
        );
        fields.append(header::VARY, HeaderValue::from_static("Origin"));
    }
    response
}
