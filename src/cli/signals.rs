//! The signals that ask the process to end.

use std::io;

/// SIGINT and SIGTERM, which no longer end the process from the moment this was made.
#[derive(Debug)]
pub(super) struct Signals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

impl Signals {
    /// Starts listening. Needs a tokio runtime.
    #[cfg(unix)]
    pub(super) fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    /// Waits for the next one.
    #[cfg(unix)]
    pub(super) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }

    /// Waits for the next SIGTERM, whatever SIGINT does.
    #[cfg(unix)]
    pub(super) async fn terminated(&mut self) {
        self.terminate.recv().await;
    }

    /// Starts listening. Needs a tokio runtime.
    #[cfg(not(unix))]
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self {})
    }

    /// Waits for the next one.
    #[cfg(not(unix))]
    pub(super) async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }

    /// Waits for ever: there is no such signal here.
    #[cfg(not(unix))]
    pub(super) async fn terminated(&mut self) {
        std::future::pending().await
    }
}
