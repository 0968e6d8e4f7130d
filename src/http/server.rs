//! The server: starting, accepting connections, ending.

use super::access::{Access, HostName, PageOrigin, Token, authority};
use super::router::{Connection, Routes, Service};
use super::socket::{HttpTimer, PendingDeliveries, Socket};
use crate::base::{Clock, Limits};
use crate::host::{Host, Occupied, wait};
use crate::mcp::Dispatcher;
use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

/// How long a connection may be idle, and how long a client may take for the head of a request. Longer than the pools of
/// usual clients keep idle connections (90 s), so that it is the client that closes first and no request meets a connection that is closing.
const IDLE: Duration = Duration::from_secs(120);
/// How long open responses may take at the end of the server. With what comes before and after, the end takes less than 5 s.
const DRAIN_TIME: Duration = Duration::from_secs(4);
/// The pause after a connection could not be accepted, which is usually for want of file descriptors.
const ACCEPT_BACKOFF: Duration = Duration::from_millis(50);

/// The callers that are let in beside programs of this machine.
#[derive(Clone, Debug, Default)]
pub struct ServeOptions {
    /// The bearer token that every request must carry.
    pub token: Option<Token>,
    /// Serves an address that other machines reach although there is no token: the network is the lock.
    pub trust_network: bool,
    /// Names that `Host` may carry beside the loopback ones, with any port.
    pub allow_hosts: Vec<String>,
    /// Origins (`https://desk.example`) whose pages may call and read the answers, beside pages of this machine, which may
    /// call only.
    pub allow_origins: Vec<String>,
}

/// The reason why serving could not start. Nothing was changed.
#[derive(Debug)]
pub enum ServeError {
    /// The host is being served already.
    Serving {
        /// The running address.
        addr: SocketAddr,
    },
    /// Other machines reach the address, and nothing locks it.
    Unlocked {
        /// The address.
        addr: SocketAddr,
    },
    /// Not a host name.
    AllowHost(String),
    /// Not an origin.
    AllowOrigin(String),
    /// The address could not be bound.
    Bind {
        /// The address.
        addr: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Serving { addr } => write!(f, "this host is served at {} already", url(*addr)),
            Self::Unlocked { addr } => write!(
                f,
                "other machines reach {addr}, and whoever reaches it can run code: choose a --token, or say --trust-network"
            ),
            Self::AllowHost(given) => write!(f, "`{given:.100}` is not a host name"),
            Self::AllowOrigin(given) => {
                write!(f, "`{given:.100}` is not an origin; one looks like https://desk.example")
            }
            Self::Bind { addr, source } if source.kind() == io::ErrorKind::AddrInUse => {
                write!(f, "{addr} is in use by another program; choose another --port, or 0 for any")
            }
            Self::Bind { addr, source } => write!(f, "cannot listen at {addr}: {source}"),
        }
    }
}

impl std::error::Error for ServeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Bind { source, .. } => Some(source),
            Self::Serving { .. } | Self::Unlocked { .. } | Self::AllowHost(_) | Self::AllowOrigin(_) => None,
        }
    }
}

/// Serves a host to programs of this machine. Needs a tokio runtime. Port 0 takes any free one.
///
/// # Errors
/// The host is served already, other machines reach the address, or it cannot be listened at. The host is as it was.
pub async fn serve(host: &Host, addr: SocketAddr) -> Result<Server, ServeError> {
    serve_with(host, addr, ServeOptions::default()).await
}

/// Serves a host. Needs a tokio runtime. Port 0 takes any free one. The port is bound last, when everything is ready.
///
/// # Errors
/// As [`serve`], or an option is not usable. The host is as it was.
pub async fn serve_with(host: &Host, addr: SocketAddr, options: ServeOptions) -> Result<Server, ServeError> {
    serve_dispatcher(Dispatcher::new(host), addr, options).await
}

/// Serves the host of a dispatcher that was made for the purpose, such as one with further tools. Otherwise as [`serve_with`].
pub async fn serve_dispatcher(
    dispatcher: Dispatcher,
    addr: SocketAddr,
    options: ServeOptions,
) -> Result<Server, ServeError> {
    let host = dispatcher.host().clone();
    let occupied = host.serving().occupy(addr).map_err(|addr| ServeError::Serving { addr })?;
    start(dispatcher, host.clock(), host.limits(), addr, options, occupied).await
}

/// Serves anything that answers.
pub(super) async fn start<S: Service>(
    service: S,
    clock: &Clock,
    limits: &Limits,
    addr: SocketAddr,
    options: ServeOptions,
    occupied: Occupied,
) -> Result<Server, ServeError> {
    if !addr.ip().to_canonical().is_loopback() && options.token.is_none() && !options.trust_network {
        return Err(ServeError::Unlocked { addr });
    }
    let access = access(addr, options)?;
    let routes = Arc::new(Routes { service, access, clock: clock.clone(), body_bytes: limits.body_bytes });
    let bind = async { TcpListener::bind(addr).await.and_then(|listener| Ok((listener.local_addr()?, listener))) };
    let (addr, listener) = bind.await.map_err(|source| ServeError::Bind { addr, source })?;
    occupied.at(addr);
    let (stop, stopped) = watch::channel(false);
    let write_stall = limits.write_stall;
    let accepting = tokio::spawn(async move {
        accept(routes, listener, stopped, write_stall).await;
        drop(occupied);
    });
    Ok(Server { addr, stop, accepting })
}

fn access(addr: SocketAddr, options: ServeOptions) -> Result<Access, ServeError> {
    let mut hosts = Vec::new();
    for host in options.allow_hosts {
        let (name, _) = authority(&host).ok_or(ServeError::AllowHost(host))?;
        hosts.push(name);
    }
    // The address in the printed URL must be a good one. All addresses of the machine (0.0.0.0) are no name to call by.
    if !addr.ip().is_unspecified() {
        hosts.push(HostName::Address(addr.ip()));
    }
    let mut origins = Vec::new();
    for origin in options.allow_origins {
        origins.push(PageOrigin::parse(&origin).ok_or(ServeError::AllowOrigin(origin))?);
    }
    Ok(Access::new(hosts, origins, options.token))
}

/// A running server. Dropping it closes the port and all connections at once; [`Server::shutdown`] lets them end first.
#[derive(Debug)]
#[must_use = "dropping a server ends it"]
pub struct Server {
    addr: SocketAddr,
    stop: watch::Sender<bool>,
    accepting: JoinHandle<()>,
}

impl Server {
    /// The address that is really served.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Where MCP clients connect: `http://127.0.0.1:7766/mcp`.
    pub fn url(&self) -> String {
        url(self.addr)
    }

    /// Closes the port, lets open requests be answered with the reason, and returns when all connections have ended: at once
    /// when nothing is open, within 5 seconds in any case.
    pub async fn shutdown(mut self) {
        self.stop.send_replace(true);
        if let Err(error) = (&mut self.accepting).await {
            tracing::error!(%error, "the server ended badly");
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

fn url(addr: SocketAddr) -> String {
    format!("http://{addr}/mcp")
}

/// Accepts connections until the end, then sees them out.
async fn accept<S: Service>(
    routes: Arc<Routes<S>>,
    listener: TcpListener,
    mut stopped: watch::Receiver<bool>,
    write_stall: Duration,
) {
    let router = routes.router();
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            biased;
            () = end(&mut stopped) => break,
            Some(ended) = connections.join_next() => note(ended),
            accepted = listener.accept() => match accepted {
                Ok((stream, peer)) => {
                    let clock = routes.clock.clone();
                    connections.spawn(connection(router.clone(), clock, stream, peer, stopped.clone(), write_stall));
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    wait::until(&routes.clock, routes.clock.now() + ACCEPT_BACKOFF).await;
                }
            },
        }
    }
    drop(listener);
    routes.service.shut_down();
    let all = async {
        while let Some(ended) = connections.join_next().await {
            note(ended);
        }
    };
    tokio::select! {
        () = all => {}
        () = wait::until(&routes.clock, routes.clock.now() + DRAIN_TIME) => {}
    }
    connections.shutdown().await;
}

/// Waits for the end of the server.
async fn end(stopped: &mut watch::Receiver<bool>) {
    // An error means that nobody can ask for the end any more: then it is the end.
    drop(stopped.wait_for(|stopped| *stopped).await);
}

/// A connection that ended by a panic took only its own requests with it.
fn note(ended: Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!(%error, "a connection ended by a panic");
    }
}

/// Serves one connection until either side ends it. A half-closed connection counts as closed: whoever wants the answer has
/// to keep its side open.
async fn connection(
    router: Router,
    clock: Clock,
    stream: TcpStream,
    peer: SocketAddr,
    mut stopped: watch::Receiver<bool>,
    write_stall: Duration,
) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%peer, %error, "small answers to this client may be late");
    }
    let pending = Arc::new(PendingDeliveries::default());
    let socket = Socket::new(stream, Arc::clone(&pending), clock.clone(), write_stall);
    let hang_up = socket.hang_up();
    let mut http = http1::Builder::new();
    http.timer(HttpTimer::new(&clock)).header_read_timeout(IDLE).half_close(false);
    let (router, connection) = (TowerToHyperService::new(router), Connection { peer: Some(peer), pending });
    let answer = service_fn(|mut request: Request<Incoming>| {
        request.extensions_mut().insert(connection.clone());
        router.call(request)
    });
    let serving = async {
        let mut serving = pin!(http.serve_connection(TokioIo::new(socket), answer));
        tokio::select! {
            ended = serving.as_mut() => ended,
            () = end(&mut stopped) => {
                serving.as_mut().graceful_shutdown();
                serving.await
            }
        }
    };
    tokio::select! {
        // First: what the client sent before it hung up is taken, if it can be.
        biased;
        ended = serving => if let Err(error) = ended {
            tracing::debug!(%peer, %error, "a connection ended early");
        },
        () = hang_up.noticed(&clock) => tracing::debug!(%peer, "a client hung up"),
    }
}
