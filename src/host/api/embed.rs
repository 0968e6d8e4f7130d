//! The host as programs embed it: built, evaluated in from Rust as the nil caller, looked at, closed.

use super::host::HostApi;
use super::wait::Awaited;
use crate::base::{Clock, EntryId, Failure, Limits, Owner, Refusal, Status, StopCause};
use crate::host::types::{EvalRequest, Probe};
use crate::registry::CancelBy;
use crate::render::EndText;
use rhai::Dynamic;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// A running Remontoire: one registry, its engine and its spaces. Cheap to clone; it ends when the last clone is gone.
#[derive(Clone)]
pub struct Host {
    pub(super) api: HostApi,
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").field("describe", &self.describe()).finish_non_exhaustive()
    }
}

impl HostApi {
    /// A host as front ends use it.
    pub fn of(host: &Host) -> &Self {
        &host.api
    }
}

/// An eval that ended with a value.
#[derive(Clone, Debug)]
pub struct Evaluated {
    /// Its entry: its output and more can be had by this id while the entry is kept.
    pub id: EntryId,
    /// The live value.
    pub value: Dynamic,
    /// The value as text, within the budget of an answer.
    pub text: String,
    /// Its output, line by line, as far as it is kept.
    pub output: Vec<String>,
}

/// An eval that did not end with a value. Its `Display` is the whole text of the error, as agents see it.
#[derive(Clone, Debug)]
pub enum EvalError {
    /// It was not started.
    Refused(Refusal),
    /// It failed.
    Failed {
        /// The entry.
        id: EntryId,
        /// Why, as data.
        failure: Arc<Failure>,
        /// The live value that was thrown, when one was.
        thrown: Option<Dynamic>,
        /// Its output before that, line by line.
        output: Vec<String>,
    },
    /// It was cancelled.
    Cancelled {
        /// The entry.
        id: EntryId,
        /// Why it stopped.
        cause: StopCause,
        /// Its output before that, line by line.
        output: Vec<String>,
    },
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => refusal.fmt(f),
            Self::Failed { id, failure, .. } => {
                let text = crate::render::failure::text(failure, Some(*id), crate::render::Style::Agent);
                f.write_str(text.trim_end())
            }
            Self::Cancelled { id, .. } => write!(f, "cancelled · id {id}"),
        }
    }
}

impl std::error::Error for EvalError {}

impl From<Refusal> for EvalError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// Cancels the entry unless it is defused, when the future of an eval is dropped.
struct CancelOnDrop<'a> {
    api: &'a HostApi,
    id: EntryId,
    armed: bool,
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        if self.armed {
            // Already settled, or gone: then there is nothing to cancel.
            self.api.cancel(CancelBy::Owner(Owner::Local), self.id).ok();
        }
    }
}

impl Host {
    /// The clock everything asks.
    pub fn clock(&self) -> &Clock {
        self.api.clock()
    }

    /// The limits in force.
    pub fn limits(&self) -> &Limits {
        self.api.limits()
    }

    /// This instance, in the operator's words; may be empty.
    pub fn describe(&self) -> &str {
        self.api.describe()
    }

    /// When the process started.
    pub fn started(&self) -> SystemTime {
        self.api.started()
    }

    /// Counts of sessions and entries. Touches nothing.
    pub fn probe(&self) -> Probe {
        self.api.probe()
    }

    /// Evaluates a script as the nil caller and waits for its end. Dropping the future cancels the eval.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let host = remontoire::Host::builder().build()?;
    /// let answer = host.eval("let x = 40; x + 2").await?;
    /// assert_eq!(answer.value.as_int(), Ok(42));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The eval was refused, failed, or was cancelled by somebody.
    pub async fn eval(&self, code: impl Into<String>) -> Result<Evaluated, EvalError> {
        self.eval_job(&EvalRequest::new(code)).await
    }

    /// Evaluates a script in a space or module of its own choosing; otherwise as [`Host::eval`].
    ///
    /// # Errors
    /// The eval was refused, failed, or was cancelled by somebody.
    pub async fn eval_job(&self, request: &EvalRequest) -> Result<Evaluated, EvalError> {
        let submitted = self.api.submit(Owner::Local, request)?;
        let id = submitted.id();
        // Until its end was read: it is not evicted in between.
        let _awaited = Awaited::begin(&self.api.core, [id]);
        let mut guard = CancelOnDrop { api: &self.api, id, armed: true };
        if !self.api.settles_at_once(id) {
            self.api.settled(&[id], &[], None).await;
        }
        guard.armed = false;
        self.outcome(id)
    }

    /// Asks an entry to stop, and its children with it; returns at once.
    ///
    /// # Errors
    /// `NoEntry`, `Evicted`.
    pub fn cancel(&self, id: EntryId) -> Result<(), Refusal> {
        self.api.cancel(CancelBy::Owner(Owner::Local), id)
    }

    /// Waits until every entry has settled, at most so long.
    pub async fn drained(&self, at_most: Duration) {
        self.api.drained(at_most).await;
    }

    /// Lets nobody in any more and asks every entry to stop.
    pub fn close(&self) {
        self.api.close();
    }

    /// Whether the host lets nobody in any more.
    pub fn is_closing(&self) -> bool {
        self.api.is_closing()
    }

    fn outcome(&self, id: EntryId) -> Result<Evaluated, EvalError> {
        let (status, kept, log) = {
            let registry = self.api.core.registry();
            (registry.status(id)?, registry.value(id)?, registry.log(id)?)
        };
        let output: Vec<String> = log.page(0, usize::MAX).lines.into_iter().map(|line| line.text).collect();
        let cancelled = |cause, output| Err(EvalError::Cancelled { id, cause, output });
        let Some(kept) = kept else { return cancelled(StopCause::Cancelled, output) };
        match &kept.summary.end {
            EndText::Value(rendered) => {
                debug_assert_eq!(status, Status::Ok);
                Ok(Evaluated { id, value: kept.values.value.clone(), text: rendered.text.clone(), output })
            }
            EndText::Failed(failure) => {
                Err(EvalError::Failed { id, failure: Arc::clone(failure), thrown: kept.values.thrown.clone(), output })
            }
            EndText::Cancelled(cause) => cancelled(cause.clone(), output),
        }
    }
}
