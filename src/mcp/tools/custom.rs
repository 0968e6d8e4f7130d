//! Tools beside the built-in ones, for servers that are examined by a conformance suite. They may answer by themselves, or
//! start an eval and have it followed as `eval` would.

use crate::base::Owner;
use crate::host::Submitted;
use crate::mcp::rpc::message::Object;
use crate::mcp::rpc::notifier::Notifier;
use crate::mcp::rpc::revision::TASKS;
use serde_json::{Value, json};
use std::pin::Pin;
use std::time::Duration;

/// A tool that is served beside the built-in ones, in both eras.
pub trait Tool: Send + Sync {
    /// Its name.
    fn name(&self) -> &str;

    /// Its entry in the list of tools: an object with `name`, `description` and `inputSchema`.
    fn declaration(&self) -> Value;

    /// Answers one call. Dropping the future says that nobody waits for it any more.
    fn call(&self, call: ToolCall) -> ToolFuture;
}

/// The answer of a [`Tool`], on its way.
pub type ToolFuture = Pin<Box<dyn Future<Output = Result<Answered, ToolFault>> + Send>>;

/// One call of a [`Tool`].
#[derive(Debug)]
pub struct ToolCall {
    /// The arguments, as sent; nothing was checked.
    pub arguments: Object,
    /// The capabilities of the client that the request declared; empty in the legacy era.
    pub capabilities: Object,
    /// Says that the request declared that it follows tasks.
    pub tasks: bool,
    token: Option<Value>,
    notifier: Notifier,
}

impl ToolCall {
    pub(crate) fn new(
        arguments: Object,
        capabilities: Object,
        token: Option<Value>,
        tasks: bool,
        notifier: Notifier,
    ) -> Self {
        Self { arguments, capabilities, tasks, token, notifier }
    }

    /// Reports progress, when the request asked for it. The numbers must grow.
    pub fn progress(&self, progress: f64, total: f64) {
        let Some(token) = &self.token else { return };
        let params = json!({"progressToken": token, "progress": progress, "total": total});
        self.notifier.notify("notifications/progress", params.as_object().cloned());
    }
}

/// The answer of a [`Tool`].
#[derive(Debug)]
pub enum Answered {
    /// A result: `content`, and what else the protocol allows.
    Result(Object),
    /// An eval it started: waited for, or after `grace` followed as a task by a request that declared them.
    Work {
        /// The session or prompt that the eval belongs to.
        caller: Owner,
        /// The eval.
        submitted: Submitted,
        /// How long a request that follows tasks is held.
        grace: Duration,
    },
}

/// Why a [`Tool`] gives no result.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolFault {
    /// The request did not declare these client capabilities.
    NeedsCapability(Value),
}

impl ToolFault {
    /// The request would have to declare that it follows tasks.
    pub fn needs_tasks() -> Self {
        Self::NeedsCapability(json!({"extensions": {TASKS: {}}}))
    }
}
