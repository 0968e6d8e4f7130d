//! [`Capability`]: one call of a function that reaches outside: who calls, and through which gate.

use super::audit::Row;
use super::gate::{Gate, Pass};
use super::paths::Place;
use crate::base::tool_errors::ToolError;
use crate::base::{Ask, PermissionKind, Time};
use crate::engine::{Fallible, Task, fail, fail_with, terminated};
use rhai::{EvalAltResult, NativeCallContext};
use std::cell::Cell;
use std::sync::Arc;

/// The most bytes that become one value.
const MOST_BYTES: usize = 64 << 20;

/// A call.
pub(in crate::toolkit) struct Capability {
    pub(in crate::toolkit) task: Arc<Task>,
    gate: Arc<Gate>,
    /// The function, as scripts write it.
    pub(in crate::toolkit) call: &'static str,
}

impl Capability {
    /// The call that Rhai makes just now.
    pub(in crate::toolkit) fn of(context: &NativeCallContext<'_>, call: &'static str) -> Fallible<Self> {
        let task = Task::of(context);
        let gate = task.tools::<Gate>().ok_or_else(terminated)?;
        Ok(Self { task, gate, call })
    }

    /// Asks for a permission. The call is on record from now on, with what it takes until the result is dropped.
    ///
    /// # Errors
    /// `NotAllowed`, with `needs` and `what`.
    pub(in crate::toolkit) fn ask(&self, kind: PermissionKind, what: &str) -> Fallible<Granted<'_>> {
        let ask = Ask { kind, what: what.to_owned(), entry: self.task.id() };
        let pass = self.gate.ask(&ask);
        let is_allowed = pass.is_some();
        let place = match pass {
            Some(Pass::Place(place)) => Some(place),
            Some(Pass::Name) | None => None,
        };
        let granted = Granted {
            of: self,
            kind,
            what: ask.what,
            at: self.task.clock().now(),
            allowed: Cell::new(is_allowed),
            bytes: Cell::new(0),
            place,
        };
        if is_allowed {
            return Ok(granted);
        }
        Err(granted.refuse(ToolError::NotAllowed { call: self.call, kind, what: what.to_owned() }))
    }

    /// The variables of the environment that may be read.
    pub(in crate::toolkit) fn visible(&self, names: impl Iterator<Item = String>) -> Vec<String> {
        self.gate.visible(names)
    }

    /// The bytes that may become one value now: 64 MiB, and a third of the memory that the eval has left.
    pub(in crate::toolkit) fn room(&self) -> usize {
        MOST_BYTES.min(self.task.memory_left() / 3)
    }

    /// For loops: an error once the entry was stopped or a deadline has passed.
    pub(in crate::toolkit) fn check(&self) -> Fallible<()> {
        self.task.check()
    }

    /// The error of a script.
    pub(in crate::toolkit) fn error(&self, error: ToolError) -> Box<EvalAltResult> {
        match error.refused() {
            Some((kind, what)) => {
                let facts = [("needs", kind.as_str().into()), ("what", what.to_owned().into())];
                fail_with(error.kind(), error.to_string(), facts)
            }
            None => fail(error.kind(), error.to_string()),
        }
    }
}

/// A permission that was given. It is a row of the record when it is dropped.
pub(in crate::toolkit) struct Granted<'c> {
    of: &'c Capability,
    kind: PermissionKind,
    what: String,
    at: Time,
    allowed: Cell<bool>,
    bytes: Cell<u64>,
    place: Option<Place>,
}

impl Granted<'_> {
    /// The place that a file permission leads to.
    pub(in crate::toolkit) fn place(&self) -> Fallible<&Place> {
        self.place.as_ref().ok_or_else(terminated)
    }

    /// The call, for errors and checks.
    pub(in crate::toolkit) fn capability(&self) -> &Capability {
        self.of
    }

    /// What the script named.
    pub(in crate::toolkit) fn what(&self) -> &str {
        &self.what
    }

    /// So many bytes more were read or written.
    pub(in crate::toolkit) fn moved(&self, bytes: usize) {
        self.bytes.set(self.bytes.get() + bytes as u64);
    }

    /// It turned out that it leads where it may not.
    pub(in crate::toolkit) fn refuse(&self, error: ToolError) -> Box<EvalAltResult> {
        self.allowed.set(false);
        self.of.error(error)
    }

    /// The same, for a reason.
    pub(in crate::toolkit) fn shut(&self, why: &'static str) -> Box<EvalAltResult> {
        self.refuse(ToolError::Shut { call: self.of.call, kind: self.kind, what: self.what.clone(), why })
    }
}

impl Drop for Granted<'_> {
    fn drop(&mut self) {
        let took = self.of.task.clock().now().since(self.at);
        self.of.gate.audit.keep(Row {
            entry: self.of.task.id(),
            at: self.at,
            kind: self.kind,
            what: std::mem::take(&mut self.what),
            allowed: self.allowed.get(),
            bytes: self.bytes.get(),
            took,
        });
    }
}
