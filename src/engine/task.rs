//! [`Task`]: the context of one running entry. It carries the entry's output, stop, deadlines and waits, and is found again
//! by every native function through [`Task::of`], on whatever thread, so that nothing is ever attributed by luck.

use super::failure::Fallible;
use super::hooks::{Hooks, Sink};
use super::view::SpaceView;
use crate::words::{Clock, EntryId, StopCause, Time, Wake};
use rhai::{Dynamic, NativeCallContext};
use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

/// The context of one running entry.
#[derive(Debug)]
pub struct Task {}

impl Task {
    /// The context of entry `id`, which evaluates in `space`.
    pub fn new(
        id: EntryId,
        parent: Option<EntryId>,
        space: Arc<dyn SpaceView>,
        sink: Arc<dyn Sink>,
        hooks: Hooks,
    ) -> Arc<Self> {
        let _ = (id, parent, space, sink, hooks);
        todo!()
    }

    /// The task that a native function is called by.
    pub fn of(context: &NativeCallContext<'_>) -> Arc<Self> {
        let _ = context;
        todo!()
    }

    /// The entry.
    pub fn id(&self) -> EntryId {
        todo!()
    }

    /// The entry that started it, for a background child.
    pub fn parent(&self) -> Option<EntryId> {
        todo!()
    }

    /// The space it evaluates in.
    pub fn space(&self) -> &Arc<dyn SpaceView> {
        todo!()
    }

    /// The hooks it was made with.
    pub fn hooks(&self) -> &Hooks {
        todo!()
    }

    /// The clock it asks.
    pub fn clock(&self) -> &Clock {
        todo!()
    }

    /// The host's own context, when it is a `T`.
    pub fn services<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        todo!()
    }

    /// Keeps output of the entry.
    pub fn print(&self, source: &str, text: &str) {
        let _ = (source, text);
        todo!()
    }

    /// Makes the entry stop: the next operation of its script ends it, and every wait returns. The first cause decides;
    /// returns whether this was the first.
    pub fn stop(&self, cause: StopCause) -> bool {
        let _ = cause;
        todo!()
    }

    /// Why it was made to stop, if it was.
    pub fn stopped(&self) -> Option<StopCause> {
        todo!()
    }

    /// When it was made to stop, if it was.
    pub fn stopped_at(&self) -> Option<Time> {
        todo!()
    }

    /// What its thread waits on. Notify it when something it may wait for has changed.
    pub fn wake(&self) -> &Wake {
        todo!()
    }

    /// For loops of native functions: an error once the entry was stopped or a deadline has passed.
    pub fn check(&self) -> Fallible<()> {
        todo!()
    }

    /// Blocks until `ready` says so (`true`), or until `until` has come (`false`). `ready` is asked again whenever
    /// [`Task::wake`] is notified. The slot is given back meanwhile.
    ///
    /// # Errors
    /// When the entry was stopped, or an outer `timeout` has run out.
    pub fn wait(&self, until: Option<Time>, ready: impl FnMut() -> bool) -> Fallible<bool> {
        let _ = (until, ready);
        todo!()
    }

    /// Runs `f` with a deadline: the script it calls is ended when `limit` has passed, and every wait in it.
    ///
    /// # Errors
    /// `Refusal::TimedOut` as a catchable error when the time ran out; what `f` raises otherwise.
    pub fn within(&self, limit: Duration, f: impl FnOnce() -> Fallible<Dynamic>) -> Fallible<Dynamic> {
        let _ = (limit, f);
        todo!()
    }
}
