//! Ctrl-C, as a count that only goes up: a waiter remembers the count it began with and sees every later press.

use tokio::runtime::Handle;
use tokio::sync::watch;

/// The number of times Ctrl-C was pressed while no line was being typed. Shared by cloning.
#[derive(Clone, Debug)]
pub(crate) struct Interrupts(watch::Sender<u64>);

impl Default for Interrupts {
    fn default() -> Self {
        Self(watch::Sender::new(0))
    }
}

impl Interrupts {
    /// Ctrl-C was pressed.
    pub(crate) fn press(&self) {
        self.0.send_modify(|count| *count += 1);
    }

    /// The number of presses so far.
    pub(crate) fn count(&self) -> u64 {
        *self.0.borrow()
    }

    /// Waits until the count is above `seen`.
    pub(crate) async fn past(&self, seen: u64) {
        // An error means that the sender is gone, which `self` rules out.
        drop(self.0.subscribe().wait_for(|count| *count > seen).await);
    }

    /// Counts the interrupt signals of this process from now on; they no longer end it. The task on `runtime` lives as long as
    /// the runtime.
    ///
    /// # Errors
    /// When the signal cannot be caught.
    #[cfg(unix)]
    pub(crate) fn catch_signals(&self, runtime: &Handle) -> std::io::Result<()> {
        use tokio::signal::unix::{SignalKind, signal};
        let mut signals = {
            let _inside = runtime.enter();
            signal(SignalKind::interrupt())?
        };
        let interrupts = self.clone();
        runtime.spawn(async move {
            while signals.recv().await.is_some() {
                interrupts.press();
            }
        });
        Ok(())
    }

    /// Counts Ctrl-C of this process's console from now on; it no longer ends the process. The task on `runtime` lives as long
    /// as the runtime.
    ///
    /// # Errors
    /// When Ctrl-C cannot be caught.
    #[cfg(windows)]
    pub fn catch_signals(&self, runtime: &Handle) -> std::io::Result<()> {
        let mut signals = {
            let _inside = runtime.enter();
            tokio::signal::windows::ctrl_c()?
        };
        let interrupts = self.clone();
        runtime.spawn(async move {
            while signals.recv().await.is_some() {
                interrupts.press();
            }
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_press_before_and_after_the_wait_began_ends_it() {
        let interrupts = Interrupts::default();
        let seen = interrupts.count();
        interrupts.press();
        interrupts.past(seen).await;
        let seen = interrupts.count();
        let waiting = tokio::spawn({
            let interrupts = interrupts.clone();
            async move { interrupts.past(seen).await }
        });
        interrupts.press();
        waiting.await.unwrap();
        assert_eq!(interrupts.count(), 2);
    }
}
