//! One connection's socket: notes when the kernel has taken everything written so far, gives up on a peer that takes nothing,
//! and notices a peer that has hung up. Knows no HTTP.
//!
//! The HTTP library calls `poll_flush` of its socket only after its own buffers are empty, and it buffers a frame in the same
//! step in which it asks the body for it. So whatever a body has put on the [`PendingDeliveries`] by the time a flush succeeds has been
//! accepted by the kernel. That the peer has read it cannot be known; but a peer that had hung up before the last bytes were
//! handed over will not read them, and what they carry is given back.

use crate::base::{Clock, Time, lock};
use crate::host::{Delivery, wait};
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker, ready};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

/// The pause between two looks at a connection on which something lies unread.
const HANG_UP_POLL: Duration = Duration::from_millis(250);

/// The deliveries of what has been handed to one connection for writing and is not known to be written.
#[derive(Debug, Default)]
pub(super) struct PendingDeliveries(Mutex<Vec<Delivery>>);

impl PendingDeliveries {
    /// The bytes that carry this delivery are about to be written.
    pub(super) fn owe(&self, delivery: Delivery) {
        if !delivery.is_empty() {
            lock(&self.0).push(delivery);
        }
    }

    /// Everything handed over so far was written.
    fn written(&self) {
        for delivery in self.take() {
            delivery.written();
        }
    }

    /// Nothing more can be written: what is left is given back.
    fn lost(&self) {
        drop(self.take());
    }

    fn take(&self) -> Vec<Delivery> {
        std::mem::take(&mut *lock(&self.0))
    }
}

type Sleeping = Pin<Box<dyn Future<Output = ()> + Send + Sync>>;

fn sleep_until(clock: &Clock, at: Time) -> Sleeping {
    let clock = clock.clone();
    Box::pin(async move { wait::until(&clock, at).await })
}

/// Tells whether the peer has closed its side of a connection, fully or half. The HTTP library looks for that only by reading,
/// and it does not read while bytes that it has read already (a second request, a stray line end) wait for the answer before
/// them.
#[derive(Clone, Debug)]
pub(super) struct HangUp(Arc<OwnedReadHalf>);

impl HangUp {
    /// Tells whether the end is known, also when bytes before it are still unread.
    fn is_known(&self) -> bool {
        let mut ready = std::pin::pin!(self.0.ready(Interest::READABLE));
        match ready.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(ready)) => ready.is_read_closed(),
            Poll::Ready(Err(_)) => true,
            Poll::Pending => false,
        }
    }

    /// Waits for the end of the peer's side. What the peer sent before can still be read for a moment: this is over at the
    /// second look that finds the end.
    pub(super) async fn noticed(&self, clock: &Clock) {
        let mut found = false;
        loop {
            let ended = self.0.ready(Interest::READABLE).await.map_or(true, |ready| ready.is_read_closed());
            if ended && found {
                return;
            }
            found = ended;
            // Whatever is unread makes the socket ready again at once.
            wait::until(clock, clock.now() + HANG_UP_POLL).await;
        }
    }
}

/// A socket whose successful flushes are entered in a [`PendingDeliveries`] and whose writes must make progress.
pub(super) struct Socket {
    reader: HangUp,
    writer: OwnedWriteHalf,
    pending: Arc<PendingDeliveries>,
    clock: Clock,
    patience: Duration,
    /// Runs while the kernel takes nothing.
    stall: Option<Sleeping>,
    /// Says that the peer had hung up before the last bytes were handed to the kernel.
    in_vain: bool,
}

impl Socket {
    /// A write that makes no progress for `patience` fails and ends the connection.
    pub(super) fn new(stream: TcpStream, pending: Arc<PendingDeliveries>, clock: Clock, patience: Duration) -> Self {
        let (reader, writer) = stream.into_split();
        Self { reader: HangUp(Arc::new(reader)), writer, pending, clock, patience, stall: None, in_vain: false }
    }

    /// Tells whether the peer has hung up, apart from all reading.
    pub(super) fn hang_up(&self) -> HangUp {
        self.reader.clone()
    }

    /// Passes the outcome of a write on, and turns one that is pending for too long into an error.
    fn watch<R>(&mut self, cx: &mut Context<'_>, outcome: Poll<io::Result<R>>) -> Poll<io::Result<R>> {
        let outcome = match outcome {
            Poll::Pending => {
                let stall =
                    self.stall.get_or_insert_with(|| sleep_until(&self.clock, self.clock.now() + self.patience));
                ready!(stall.as_mut().poll(cx));
                tracing::debug!("a client takes nothing any more; the connection is closed");
                Err(io::Error::new(io::ErrorKind::TimedOut, "the client takes nothing any more"))
            }
            Poll::Ready(outcome) => outcome,
        };
        self.stall = None;
        if outcome.is_err() {
            self.pending.lost();
        }
        Poll::Ready(outcome)
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.pending.lost();
    }
}

impl AsyncRead for Socket {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let stream: &TcpStream = self.reader.0.as_ref().as_ref();
        loop {
            ready!(stream.poll_read_ready(cx))?;
            match stream.try_read_buf(buffer) {
                Ok(_) => return Poll::Ready(Ok(())),
                // The readiness was of an earlier moment.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        this.in_vain = this.reader.is_known();
        let outcome = Pin::new(&mut this.writer).poll_write(cx, bytes);
        this.watch(cx, outcome)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        this.in_vain = this.reader.is_known();
        let outcome = Pin::new(&mut this.writer).poll_write_vectored(cx, slices);
        this.watch(cx, outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.writer.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let outcome = Pin::new(&mut this.writer).poll_flush(cx);
        let outcome = ready!(this.watch(cx, outcome));
        if outcome.is_ok() {
            if this.in_vain {
                this.pending.lost();
            } else {
                this.pending.written();
            }
        }
        Poll::Ready(outcome)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().writer).poll_shutdown(cx)
    }
}

/// The [`Clock`] as the HTTP library wants to be told the time.
#[derive(Debug)]
pub(super) struct HttpTimer {
    clock: Clock,
    /// The instant that stands for the start of the clock; on a clock moved by hand any instant will do.
    start: Instant,
}

impl HttpTimer {
    pub(super) fn new(clock: &Clock) -> Self {
        let start = clock.instant(Time::START).or_else(|| Clock::real().instant(Time::START));
        Self { clock: clock.clone(), start: start.expect("the start of a clock is an instant") }
    }
}

impl hyper::rt::Timer for HttpTimer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn hyper::rt::Sleep>> {
        Box::pin(HttpSleep(sleep_until(&self.clock, self.clock.now() + duration)))
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn hyper::rt::Sleep>> {
        let at = Time::after_start(deadline.saturating_duration_since(self.start));
        Box::pin(HttpSleep(sleep_until(&self.clock, at)))
    }

    fn now(&self) -> Instant {
        self.start + self.clock.now().since_start()
    }
}

struct HttpSleep(Sleeping);

impl Future for HttpSleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.get_mut().0.as_mut().poll(cx)
    }
}

impl hyper::rt::Sleep for HttpSleep {}
