//! Notifications that a call sends before its answer.

use super::message::{self, Object};
use serde_json::Value;
use tokio::sync::mpsc;

/// The sending side: where a call may say something before its answer.
#[derive(Clone, Debug)]
pub(crate) struct Notifier(mpsc::UnboundedSender<Value>);

/// The receiving side: the notifications on their way out.
pub(crate) type Notifications = mpsc::UnboundedReceiver<Value>;

impl Notifier {
    /// Both sides, for the calls of one POST.
    pub(crate) fn new() -> (Self, Notifications) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self(sender), receiver)
    }

    /// Sends a notification. After the end of the exchange it goes nowhere.
    pub(crate) fn notify(&self, method: &str, params: Option<Object>) {
        // An error means that the exchange has ended, which is not the sender's concern.
        drop(self.0.send(message::notification(method, params.map(Value::Object))));
    }
}
