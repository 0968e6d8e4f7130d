//! Bodies: reading a request's within bounds, and writing a response's so that its delivery is noted.

use super::socket::PendingDeliveries;
use crate::base::Clock;
use crate::host::wait;
use crate::mcp::{Body, Frame};
use bytes::{Bytes, BytesMut};
use http_body::SizeHint;
use http_body_util::BodyExt;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

/// How long a client may pause in the middle of a body.
pub(super) const PAUSE: Duration = Duration::from_secs(30);
/// How much of the body of a refused request is read and thrown away. A connection that is closed with unread input is reset,
/// and a reset can overtake the refusal; so the rest is swallowed, but not without end.
const SWALLOWED: usize = 64 << 20;
/// How long this may take in all.
const SWALLOWING: Duration = Duration::from_secs(5);

/// The reason why a body could not be read.
#[derive(Debug)]
pub(super) enum Unread<B> {
    /// It is, or was announced to be, larger than the limit. The rest is still to come.
    TooLarge(B),
    /// The client paused for too long.
    Slow,
    /// It broke off or was malformed.
    Broken,
}

/// Reads a whole body of at most `limit` bytes.
pub(super) async fn read<B>(mut body: B, limit: usize, clock: &Clock) -> Result<Bytes, Unread<B>>
where
    B: http_body::Body<Data = Bytes> + Unpin,
{
    if body.size_hint().lower() > u64::try_from(limit).unwrap_or(u64::MAX) {
        return Err(Unread::TooLarge(body));
    }
    let mut whole = BytesMut::new();
    loop {
        let next = tokio::select! {
            biased;
            next = body.frame() => next,
            () = wait::until(clock, clock.now() + PAUSE) => return Err(Unread::Slow),
        };
        let Some(frame) = next else { return Ok(whole.freeze()) };
        let Ok(frame) = frame else { return Err(Unread::Broken) };
        // Trailers say nothing here.
        let Ok(data) = frame.into_data() else { continue };
        if whole.len() + data.len() > limit {
            return Err(Unread::TooLarge(body));
        }
        whole.extend_from_slice(&data);
    }
}

/// Reads the rest of a refused request's body and throws it away, in the background, so that the client gets to read the
/// refusal and can go on using the connection.
pub(super) fn swallow<B>(mut body: B, clock: Clock)
where
    B: http_body::Body<Data = Bytes, Error: Send> + Unpin + Send + 'static,
{
    if body.is_end_stream() {
        return;
    }
    tokio::spawn(async move {
        let all = async {
            let mut left = SWALLOWED;
            while let Some(Ok(frame)) = body.frame().await
                && let Some(still) = left.checked_sub(frame.data_ref().map_or(0, Bytes::len))
            {
                left = still;
            }
        };
        tokio::select! {
            () = all => {}
            () = wait::until(&clock, clock.now() + SWALLOWING) => {}
        }
    });
}

/// The body of a response on its way to the socket whose [`PendingDeliveries`] it holds.
pub(super) struct ResponseBody {
    pending: Arc<PendingDeliveries>,
    body: Body,
}

impl ResponseBody {
    pub(super) fn new(body: Body, pending: Arc<PendingDeliveries>) -> Self {
        Self { pending, body }
    }
}

impl http_body::Body for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, Infallible>>> {
        let this = self.get_mut();
        let frame = match &mut this.body {
            Body::Events(events) => ready!(events.poll_next(cx)),
            body => match std::mem::replace(body, Body::Empty) {
                Body::Whole(bytes, delivery) => Some(Frame { bytes, delivery }),
                Body::Empty | Body::Events(_) => None,
            },
        };
        let Some(Frame { bytes, delivery }) = frame else {
            this.body = Body::Empty;
            return Poll::Ready(None);
        };
        this.pending.owe(delivery);
        Poll::Ready(Some(Ok(http_body::Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.body, Body::Empty)
    }

    fn size_hint(&self) -> SizeHint {
        match &self.body {
            Body::Empty => SizeHint::with_exact(0),
            Body::Whole(bytes, _) => SizeHint::with_exact(bytes.len() as u64),
            Body::Events(_) => SizeHint::default(),
        }
    }
}
