//! The way of an entry's output into its log.

use crate::base::Clock;
use crate::engine::Sink;
use crate::registry::OutputLog;
use std::sync::Arc;
use tokio::sync::Notify;

/// The output of one entry goes to its log, stamped with the host's time.
pub(in crate::host) struct LogSink {
    pub(in crate::host) log: Arc<OutputLog>,
    pub(in crate::host) clock: Clock,
    /// Told of every line.
    pub(in crate::host) changed: Arc<Notify>,
}

impl Sink for LogSink {
    fn line(&self, source: &str, text: &str) {
        let now = self.clock.now();
        match source {
            "print" => self.log.push(now, "print", text),
            "debug" => self.log.push(now, "debug", text),
            other => self.log.push(now, other.to_owned(), text),
        }
        self.changed.notify_waiters();
    }
}
