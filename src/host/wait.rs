//! Waiting for a moment in async code, on a real clock or one moved by hand.

use crate::words::{Clock, Time};
use tokio::sync::oneshot;

/// Waits until `at` has come.
pub async fn until(clock: &Clock, at: Time) {
    if clock.is_manual() {
        let (ring, rung) = oneshot::channel();
        let _alarm = clock.alarm(at, move || {
            ring.send(()).ok();
        });
        // An error means that the alarm is gone, which only happens when this future is.
        drop(rung.await);
    } else if let Some(instant) = clock.instant(at) {
        tokio::time::sleep_until(instant.into()).await;
    } else {
        std::future::pending::<()>().await;
    }
}
