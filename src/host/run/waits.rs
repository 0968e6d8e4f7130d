//! How one entry waits for others: the waits-for graph, the thread's wake, and what it reads when they have settled.

use crate::base::{EntryId, Failure, Refusal, StopCause, Time};
use crate::engine::{EntryHandle, Fallible, Task, Thrown, fail, raise, refuse, value_type};
use crate::host::core::active::ActiveEntry;
use crate::host::core::handle_facts::HandleFacts;
use crate::host::core::host_core::HostCore;
use crate::registry::{EntryView, Wants};
use crate::render::EndText;
use rhai::Dynamic;
use std::sync::Arc;
use std::time::Duration;

/// Removes an entry's edges from the waits-for graph when its wait is over, however it ended.
struct Edge<'a> {
    host: &'a HostCore,
    waiter: EntryId,
}

impl Drop for Edge<'_> {
    fn drop(&mut self) {
        self.host.registry().remove_wait(self.waiter);
    }
}

impl HostCore {
    /// Blocks `task` until all of `targets` (or one of them) have settled: `true`; or until `until` has come: `false`.
    ///
    /// # Errors
    /// A circle of waits, an id that is not there, or the task was stopped.
    pub(in crate::host) fn wait_in_script(
        self: &Arc<Self>,
        task: &Task,
        targets: &[EntryId],
        wants: Wants,
        until: Option<Time>,
    ) -> Fallible<bool> {
        let mut open: Vec<Arc<ActiveEntry>> = Vec::new();
        for id in targets {
            match self.active(*id) {
                Some(active) => open.push(active),
                // Settled, or never there: ask the registry, which knows the difference.
                None => drop(self.registry().status(*id).map_err(|refusal| refuse(&refusal))?),
            }
        }
        let ready = |open: &[Arc<ActiveEntry>]| match wants {
            Wants::All => open.iter().all(|active| active.is_settled()),
            Wants::Any => {
                open.len() < targets.len() || open.is_empty() || open.iter().any(|active| active.is_settled())
            }
        };
        if ready(&open) {
            return Ok(true);
        }
        // A wait with a limit of its own ends in any case, so it takes no part in the search for circles.
        let edge = match until {
            Some(_) => None,
            None => {
                self.registry().add_wait(task.id(), targets, wants).map_err(|refusal| refuse(&refusal))?;
                Some(Edge { host: self, waiter: task.id() })
            }
        };
        for active in &open {
            active.tell_thread(task.wake());
        }
        let settled = task.wait(until, || ready(&open));
        drop(edge);
        settled
    }

    /// Waits for an entry and hands its value on, or raises its failure.
    pub(in crate::host) fn value_in_script(
        self: &Arc<Self>,
        task: &Task,
        handle: &EntryHandle,
        limit: Option<Duration>,
    ) -> Fallible<Dynamic> {
        let id = handle.id();
        let until = limit.map(|limit| self.clock.now() + limit);
        if !self.wait_in_script(task, &[id], Wants::All, until)? {
            return Err(refuse(&Refusal::TimedOut { after: limit.unwrap_or_default() }));
        }
        self.registry().read_by_script(task.id(), id);
        let kept = self.registry().value(id).map_err(|refusal| refuse(&refusal))?;
        let cancelled = || Failure::new("Cancelled", format!("entry {id} was cancelled"));
        let Some(kept) = kept else { return Err(raise(&Thrown { failure: cancelled(), entry: id, thrown: None })) };
        match &kept.summary.end {
            EndText::Value(_) => Ok(kept.values.value.clone()),
            EndText::Failed(failure) => {
                Err(raise(&Thrown { failure: (**failure).clone(), entry: id, thrown: kept.values.thrown.clone() }))
            }
            EndText::Cancelled(StopCause::Shutdown) => Err(fail("Shutdown", "the process is shutting down")),
            EndText::Cancelled(_) => Err(raise(&Thrown { failure: cancelled(), entry: id, thrown: None })),
        }
    }

    /// An entry as a script names it: a handle, an id, or a task's id such as `bfw-12`.
    pub(in crate::host) fn entry_named(self: &Arc<Self>, value: &Dynamic) -> Fallible<EntryHandle> {
        if let Some(handle) = value.read_lock::<EntryHandle>() {
            // A handle outlives its entry; its facts still answer.
            return Ok(handle.clone());
        }
        let id = match value.as_int() {
            Ok(n) => u64::try_from(n).map_err(|_| no_entry(self, n)).map(EntryId)?,
            Err(_) => match value.clone().into_immutable_string().ok() {
                Some(text) => {
                    let (owner, id) = id_in(&text).ok_or_else(|| {
                        let text = text.as_str();
                        fail("NotAnEntry", format!("`{text:.40}` is not an entry id, such as 12 or \"bfw-12\""))
                    })?;
                    if let Some(owner) = owner {
                        let view = self.registry().get(id, self.clock.now()).map_err(|refusal| refuse(&refusal))?;
                        if view.by.as_deref() != Some(owner) {
                            let text = format!("entry {id} does not belong to session {owner:.40}");
                            return Err(fail("NotAnEntry", text));
                        }
                    }
                    id
                }
                None => {
                    let kind = value_type(value);
                    return Err(fail("NotAnEntry", format!("an entry or its id is needed here, not {kind}")));
                }
            },
        };
        self.handle(id).map_err(|refusal| refuse(&refusal))
    }
}

fn no_entry(host: &HostCore, n: i64) -> Box<rhai::EvalAltResult> {
    let newest = host.registry().counts(host.clock.now()).newest;
    fail("NoEntry", format!("no entry {n}; the newest is {newest}"))
}

/// The entry id in `12`, or the owner's name and the id in `bfw-12` and `1a2b3c4d-12`.
fn id_in(text: &str) -> Option<(Option<&str>, EntryId)> {
    match text.rsplit_once('-') {
        Some((owner, id)) => Some((Some(owner), id.parse().ok()?)),
        None => Some((None, text.parse().ok()?)),
    }
}

/// The facts behind a handle.
pub(in crate::host) fn facts(handle: &EntryHandle) -> Fallible<EntryView> {
    match handle.ops::<HandleFacts>() {
        Some(known) => Ok(known.facts()),
        None => Err(fail("NotAnEntry", "this handle belongs to another host")),
    }
}
