//! One connection's socket: notes when the kernel has taken everything written so far, and gives up on a peer that takes
//! nothing. Knows no HTTP.
//!
//! The HTTP library calls `poll_flush` of its socket only after its own buffers are empty, and it buffers a frame in the same
//! step in which it asks the body for it. So whatever a body has put on the [`Ledger`] by the time a flush succeeds has been
//! accepted by the kernel. That the peer has read it cannot be known.

use crate::host::{Delivery, wait};
use crate::words::{Clock, Time};
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// What has been handed to one connection for writing and is not known to be written.
#[derive(Debug, Default)]
pub(super) struct Ledger(Mutex<Vec<Delivery>>);

impl Ledger {
    /// The bytes that carry this delivery are about to be written.
    pub(super) fn owe(&self, delivery: Delivery) {
        if !delivery.is_empty() {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(delivery);
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
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

type Sleeping = Pin<Box<dyn Future<Output = ()> + Send + Sync>>;

fn sleep_until(clock: &Clock, at: Time) -> Sleeping {
    let clock = clock.clone();
    Box::pin(async move { wait::until(&clock, at).await })
}

/// A socket whose successful flushes are entered in a [`Ledger`] and whose writes must make progress.
pub(super) struct Socket<T> {
    inner: T,
    ledger: Arc<Ledger>,
    clock: Clock,
    patience: Duration,
    /// Runs while the kernel takes nothing.
    stall: Option<Sleeping>,
}

impl<T> Socket<T> {
    /// A write that makes no progress for `patience` fails and ends the connection.
    pub(super) fn new(inner: T, ledger: Arc<Ledger>, clock: Clock, patience: Duration) -> Self {
        Self { inner, ledger, clock, patience, stall: None }
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
            self.ledger.lost();
        }
        Poll::Ready(outcome)
    }
}

impl<T> Drop for Socket<T> {
    fn drop(&mut self) {
        self.ledger.lost();
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Socket<T> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_read(cx, buffer)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Socket<T> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let outcome = Pin::new(&mut this.inner).poll_write(cx, bytes);
        this.watch(cx, outcome)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let outcome = Pin::new(&mut this.inner).poll_write_vectored(cx, slices);
        this.watch(cx, outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let outcome = Pin::new(&mut this.inner).poll_flush(cx);
        let outcome = ready!(this.watch(cx, outcome));
        if outcome.is_ok() {
            this.ledger.written();
        }
        Poll::Ready(outcome)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_shutdown(cx)
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
