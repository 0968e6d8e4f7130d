//! The work of one entry on its thread, from its first slot to the moment the registry is told how it ended.

use super::inner::Inner;
use super::kept::{End, Face, Kept, Values};
use super::live::{Live, Notes, Work};
use super::tracing_layer::Served;
use crate::base::{EntryId, Failure, Status, StopCause, Time};
use crate::engine::{self, Ended, Unfinished};
use crate::registry::CancelBy;
use crate::render::{self, Budget};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

impl Inner {
    /// Runs an entry to its end. On its own thread, with a slot.
    pub(super) fn work(self: &Arc<Self>, live: &Arc<Live>) {
        // Taken by whoever cancelled it while it was queued.
        let Some(work) = live.take_work() else { return };
        let serving = Served::begin(&live.task);
        let ran = catch_unwind(AssertUnwindSafe(|| {
            let ended = match work {
                Work::Script(code) => self.evaluate(live, &code),
                Work::Child(callable) => engine::call(&self.language, &live.task, *callable),
            };
            self.finish(live, ended);
        }));
        // What scripts do is caught by the engine; this is for the drop of a value of the embedding program, and the like.
        if let Err(payload) = ran {
            let text = payload.downcast_ref::<&str>().copied().map(str::to_owned);
            let text = text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default();
            self.settle_failed(live, Failure::new("Panic", format!("native code panicked: {text}")));
        }
        drop(serving);
    }

    /// Evaluates a script. Inside a module, the module's space is brought in step with it first.
    fn evaluate(self: &Arc<Self>, live: &Live, code: &str) -> Ended {
        if let Some(module) = &live.module
            && let Err(error) = module.follow(&self.language, &live.task)
        {
            let (failure, _thrown) = engine::describe(&error, &live.task);
            return Ended::failed(failure);
        }
        engine::evaluate(&self.language, &live.task, code)
    }

    fn finish(self: &Arc<Self>, live: &Arc<Live>, ended: Ended) {
        let cancelled_children = self.end_children(live, &ended);
        let (status, end, values) = match ended.result {
            Ok(value) => {
                let rendered = self.render_value(live, &value);
                (Status::Ok, End::Value(rendered), Values { value, thrown: None, lost: ended.lost })
            }
            Err(Unfinished::Failed { failure, thrown }) => (
                Status::Failed,
                End::Failed(Arc::new(*failure)),
                Values { thrown, lost: ended.lost, ..Values::default() },
            ),
            Err(Unfinished::Stopped(cause)) => {
                (Status::Cancelled, End::Cancelled(cause), Values { lost: ended.lost, ..Values::default() })
            }
        };
        let Notes { move_to, new_space } = std::mem::take(&mut *live.notes());
        let conflicts = ended.conflicts;
        let face = Face { end, published: ended.published, conflicts, cancelled_children, new_space, move_to };
        let kept = Kept { face: Arc::new(face), values: Arc::new(values) };
        // Idle before anyone learns that the entry settled: whoever waited for it finds this thread warm.
        self.threads.offer();
        self.settle(live, status, kept, ended.bytes);
    }

    /// Cancels the children that nothing keeps, and waits for them, but not for ever.
    fn end_children(self: &Arc<Self>, live: &Arc<Live>, ended: &Ended) -> Vec<EntryId> {
        let children = self.state().live_children(live.id);
        let doomed: Vec<_> = children.into_iter().filter(|child| !ended.kept.contains(child)).collect();
        if doomed.is_empty() {
            return doomed;
        }
        let waiting: Vec<_> = doomed.iter().filter_map(|child| self.live(*child)).collect();
        for child in &doomed {
            // A child that settled or was evicted meanwhile needs no cancelling.
            drop(self.cancel(*child, CancelBy::Parent, &StopCause::Cancelled));
        }
        let granted = self.state().give_back(live.id, self.clock.now());
        self.granted(granted);
        let until = self.clock.now() + self.limits.cancel_wait;
        self.wait_for_all(live, &waiting, until);
        let mut state = self.state();
        state.take_back(live.id, true);
        // Some may have come to their own end first.
        doomed.into_iter().filter(|child| !matches!(state.status(*child), Ok(Status::Ok | Status::Failed))).collect()
    }

    /// Blocks this entry's thread until others have settled, also when it was stopped itself.
    fn wait_for_all(&self, live: &Live, others: &[Arc<Live>], until: Time) {
        let wake = live.task.wake();
        for other in others {
            other.tell_thread(wake);
        }
        loop {
            let seen = wake.generation();
            if self.clock.now() >= until || others.iter().all(|other| other.is_settled()) {
                return;
            }
            wake.wait(seen, &self.clock, Some(until));
        }
    }

    fn render_value(self: &Arc<Self>, live: &Live, value: &rhai::Dynamic) -> render::Rendered {
        let hook = |shown: &rhai::Dynamic| self.show(shown, Some(live.id));
        render::value::value(value, &Budget::ANSWER, &hook, &|| live.task.stopped().is_some())
    }
}
