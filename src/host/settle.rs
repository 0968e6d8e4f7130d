//! The work of one entry on its thread, from its first slot to the moment the registry is told how it ended.

use super::inner::Inner;
use super::kept::{End, Face, Kept, Values};
use super::live::{Live, Notes, Work};
use super::tracing_layer::Serving;
use crate::engine::{self, Ended, Unfinished};
use crate::render::{self, Budget, Conflict};
use crate::state::CancelBy;
use crate::words::{EntryId, Status, StopCause, Time};
use std::sync::Arc;

impl Inner {
    /// Runs an entry to its end. On its own thread, with a slot.
    pub(super) fn work(self: &Arc<Self>, live: &Arc<Live>) {
        // Taken by whoever cancelled it while it was queued.
        let Some(work) = live.take_work() else { return };
        let serving = Serving::begin(&live.task);
        let ended = match work {
            Work::Script(code) => self.evaluate(live, &code),
            Work::Child(callable) => engine::call(&self.language, &live.task, callable),
        };
        self.finish(live, ended);
        drop(serving);
    }

    /// Evaluates a script. Inside a module, the module's space is brought in step with it first.
    fn evaluate(self: &Arc<Self>, live: &Live, code: &str) -> Ended {
        if let Some(module) = &live.module
            && let Err(error) = module.follow(&self.language, &live.task)
        {
            let failure = engine::failure::describe(&error, &format!("eval {}", live.id));
            return crate::engine::outside::failed(failure);
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
            Err(Unfinished::Stopped(StopCause::Dependency(id))) => self.failed_with(id, ended.lost),
            Err(Unfinished::Stopped(cause)) => {
                (Status::Cancelled, End::Cancelled(cause), Values { lost: ended.lost, ..Values::default() })
            }
        };
        let Notes { move_to, new_space } = std::mem::take(&mut *live.notes());
        let conflicts = ended
            .conflicts
            .into_iter()
            .map(|c| Conflict { name: c.name, other: c.other, function: c.function })
            .collect();
        let face = Face { end, published: ended.published, conflicts, cancelled_children, new_space, move_to };
        let kept = Kept { face: Arc::new(face), values: Arc::new(values) };
        // Idle before anyone learns that the entry settled: whoever waited for it finds this thread warm.
        self.threads.offer();
        self.settle(live, status, kept, ended.bytes);
    }

    /// An entry that was stopped because another one failed reports that failure.
    fn failed_with(&self, id: EntryId, lost: rhai::Map) -> (Status, End, Values) {
        let other = self.state().value(id).ok().flatten();
        match other.map(|kept| (Arc::clone(&kept.face), kept.values)) {
            Some((face, theirs)) if matches!(face.end, End::Failed(_)) => {
                let values = Values { thrown: theirs.thrown.clone(), lost, ..Values::default() };
                (Status::Failed, face.end.clone(), values)
            }
            _ => (Status::Cancelled, End::Cancelled(StopCause::Dependency(id)), Values { lost, ..Values::default() }),
        }
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
        self.state().take_back(live.id, true);
        doomed
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
