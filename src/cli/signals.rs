//! The signals that ask the process to end.

use std::io;

/// SIGINT and SIGTERM, which no longer end the process from the moment this was made. SIGHUP too, but only when it was asked for:
/// what serves without a terminal of its own is left to the system, `nohup` included.
#[derive(Debug)]
pub(super) struct Signals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    hangup: Option<tokio::signal::unix::Signal>,
}

/// A signal that ends a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// SIGTERM.
    Terminate,
    /// SIGHUP: the terminal is gone.
    Hangup,
}

impl Signals {
    /// Starts listening. Needs a tokio runtime.
    #[cfg(unix)]
    pub(super) fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let (interrupt, terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        Ok(Self { interrupt, terminate, hangup: None })
    }

    /// Starts listening, to the end of the terminal as well. Needs a tokio runtime.
    #[cfg(unix)]
    pub(super) fn listen_at_a_terminal() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { hangup: Some(signal(SignalKind::hangup())?), ..Self::listen()? })
    }

    /// Waits for the next one.
    #[cfg(unix)]
    pub(super) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }

    /// Waits for the next SIGTERM, or SIGHUP where that is listened to, whatever SIGINT does.
    #[cfg(unix)]
    pub(super) async fn terminated(&mut self) -> Ending {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.terminate.recv() => Ending::Terminate,
            _ = hangup => Ending::Hangup,
        }
    }

    /// Starts listening. Needs a tokio runtime.
    #[cfg(not(unix))]
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self {})
    }

    /// Starts listening. Needs a tokio runtime.
    #[cfg(not(unix))]
    pub(super) fn listen_at_a_terminal() -> io::Result<Self> {
        Self::listen()
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
    pub(super) async fn terminated(&mut self) -> Ending {
        std::future::pending().await
    }
}
