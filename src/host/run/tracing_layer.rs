//! The second rail of attribution: `tracing` events that host functions emit while they serve an entry are kept in its log.
//!
//! Which entry a thread serves is known by the thread alone; events of threads that nobody owns belong to no entry.

use crate::engine::Task;
use std::cell::RefCell;
use std::fmt::{self, Write};
use std::sync::Arc;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

thread_local! {
    static SERVED: RefCell<Option<Arc<Task>>> = const { RefCell::new(None) };
}

/// While this lives, the thread serves an entry.
pub(in crate::host) struct Served(Option<Arc<Task>>);

impl Served {
    pub(in crate::host) fn begin(task: &Arc<Task>) -> Self {
        Self(SERVED.with_borrow_mut(|served| served.replace(Arc::clone(task))))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let ended = SERVED.with_borrow_mut(|served| std::mem::replace(served, self.0.take()));
        drop(ended);
    }
}

/// A layer for the program's `tracing` subscriber: events emitted while a thread serves an entry are kept in the output of
/// that entry, with their level and target as the source.
#[derive(Clone, Copy, Debug, Default)]
pub struct EntryLayer(());

/// The layer that keeps events of host functions with the entries they serve. Add it to the program's subscriber.
pub fn tracing_layer() -> EntryLayer {
    EntryLayer(())
}

impl<S: Subscriber> Layer<S> for EntryLayer {
    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        // The record of what was reached is the operator's.
        if event.metadata().target() == "remontoire::audit" {
            return;
        }
        let Some(task) = SERVED.with_borrow(Clone::clone) else { return };
        let mut line = Line::default();
        event.record(&mut line);
        let metadata = event.metadata();
        task.print(&format!("{} {}", metadata.level(), metadata.target()), &line.finish());
    }
}

/// An event as one line: the message, then the fields.
#[derive(Default)]
struct Line {
    message: String,
    fields: String,
}

impl Line {
    fn finish(self) -> String {
        match (self.message.is_empty(), self.fields.is_empty()) {
            (_, true) => self.message,
            (true, false) => self.fields.trim_start().to_owned(),
            (false, false) => format!("{}{}", self.message, self.fields),
        }
    }
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a String cannot fail.
        let written = if field.name() == "message" {
            write!(self.message, "{value:?}")
        } else {
            write!(self.fields, " {}={value:?}", field.name())
        };
        written.ok();
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            self.message.push_str(value);
        } else {
            self.record_debug(field, &value);
        }
    }
}
