//! Answers to callers: composed from the registry's views, and claimed in the same step.

use super::host::{HostApi, Submitted};
use crate::base::{EntryId, Owner, Refusal, Status, StopCause, Time};
use crate::host::core::host_core::HostCore;
use crate::host::core::settled::{EndText, SettledEntry, Summary};
use crate::host::delivery::{Delivery, Receipt};
use crate::host::types::Answer;
use crate::registry::{Adoption, Claim, ClaimId, EntryView, HeadTail, Registry};
use crate::render::{Adopted, Block, Output, Stage, Style, Tail, answer};
use std::sync::Arc;
use std::time::Duration;

/// Bytes of output that an answer shows: as many as its block can hold.
const OUTPUT_BYTES: usize = crate::render::output::ROOM;

/// After this long without having bitten a cancellation is reported as held up in native code.
const HELD_UP: Duration = Duration::from_millis(500);

/// A claim that ends with its delivery.
struct Claimed {
    host: Arc<HostCore>,
    claim: Option<ClaimId>,
}

impl Receipt for Claimed {
    fn written(mut self: Box<Self>) {
        if let Some(claim) = self.claim.take() {
            let now = self.host.clock.now();
            self.host.registry().written(claim, now);
        }
    }
}

impl Drop for Claimed {
    fn drop(&mut self) {
        if let Some(claim) = self.claim.take() {
            self.host.registry().dropped(claim);
        }
    }
}

/// How much an answer to an eval shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shows {
    /// Everything.
    All,
    /// All but the output: it was shown while it was printed.
    NoOutput,
}

/// Copies of one entry, taken under the lock, of which its block is made.
struct Facts {
    view: EntryView,
    /// `None` while it has not settled, and after `forget`.
    summary: Option<Arc<Summary>>,
    printed: HeadTail,
    dropped_lines: u64,
    stopping_since: Option<Time>,
    /// From where to where this answer moves the caller, when it does.
    moved: Option<(Arc<str>, Arc<str>)>,
}

impl HostApi {
    /// The answer to an eval call: the entry's block as it stands now, and the caller's news. A session whose eval ended `ok`
    /// inside its call goes where the eval said.
    pub fn answer_eval(&self, caller: Owner, submitted: Submitted) -> Answer {
        self.answer_submitted(caller, submitted, Shows::All)
    }

    pub(super) fn answer_submitted(&self, caller: Owner, submitted: Submitted, shows: Shows) -> Answer {
        let id = submitted.id();
        let owner = caller;
        let (facts, claim, unread) = {
            let now = self.core.clock.now();
            let mut registry = self.core.registry();
            let mut facts = self.core.facts(&registry, id, now);
            if let (Ok(facts), Shows::NoOutput) = (&mut facts, shows) {
                facts.printed = HeadTail::default();
                facts.dropped_lines = 0;
            }
            if let Ok(facts) = &mut facts
                && facts.view.status == Status::Ok
                && let Some(name) = facts.summary.as_ref().and_then(|summary| summary.move_to.as_deref())
            {
                facts.moved =
                    registry.current(owner).ok().filter(|from| **from != *name).map(|from| (from, name.into()));
                registry.move_session(owner, name);
            }
            let claim = registry.claim(owner, &[id], true, now);
            (facts, claim, registry.manual_unread(owner))
        };
        drop(submitted);
        let facts = match facts {
            Ok(facts) => facts,
            Err(refusal) => return self.compose(owner, &[], &[refusal.to_string()], claim, false),
        };
        let mut answer = self.compose(owner, std::slice::from_ref(&facts), &[], claim, unread);
        answer.is_error = facts.view.status == Status::Failed || facts.view.status == Status::Cancelled;
        answer
    }

    /// The answer to `await`: a block for each id (those that are not there are named), and one tail of news.
    pub fn answer_await(&self, caller: Owner, ids: &[u64]) -> Answer {
        self.answer_several(caller, ids, |facts, alone| alone && facts.view.status == Status::Failed)
    }

    /// Cancels for the caller, waits (at most `limits().cancel_wait`) for each to bite, and answers as `await` does.
    pub async fn answer_cancel(&self, caller: Owner, ids: &[u64]) -> Answer {
        let mut asked = Vec::new();
        for id in ids {
            if self.cancel(crate::registry::CancelBy::Owner(caller), EntryId(*id)).is_ok() {
                asked.push(EntryId(*id));
            }
        }
        let until = self.core.clock.now() + self.core.limits.cancel_wait;
        self.settled(&asked, &[], Some(until)).await;
        self.answer_several(caller, ids, |_, _| false)
    }

    /// `ids` are distinct: whoever reads them from a request sees to that.
    fn answer_several(&self, caller: Owner, ids: &[u64], bad: impl Fn(&Facts, bool) -> bool) -> Answer {
        let owner = caller;
        let mut blocks: Vec<Facts> = Vec::new();
        let mut refused = Vec::new();
        let claim = {
            let now = self.core.clock.now();
            let mut registry = self.core.registry();
            for id in ids {
                match self.core.facts(&registry, EntryId(*id), now) {
                    Ok(facts) => blocks.push(facts),
                    Err(refusal) => refused.push(refusal.to_string()),
                }
            }
            let shown: Vec<_> = blocks.iter().map(|facts| facts.view.id).collect();
            registry.claim(owner, &shown, true, now)
        };
        let alone = ids.len() == 1;
        let is_error = blocks.is_empty() || blocks.iter().all(|facts| bad(facts, alone));
        let mut answer = self.compose(owner, &blocks, &refused, claim, false);
        answer.is_error = is_error;
        answer
    }

    /// The result inside a completed task: the block alone. Claims the entry for its owner.
    pub fn answer_task(&self, id: EntryId) -> Answer {
        let (facts, claim) = {
            let now = self.core.clock.now();
            let mut registry = self.core.registry();
            let facts = self.core.facts(&registry, id, now);
            let owner = facts.as_ref().map_or(Owner::Local, |facts| facts.view.owner);
            (facts, registry.claim(owner, &[id], false, now))
        };
        let delivery = self.claimed(claim.id);
        match facts {
            Ok(facts) => Answer {
                text: answer::block(&facts.block(facts.view.by.as_deref(), self.core.clock.now()), Style::Agent),
                is_error: facts.view.status == Status::Failed,
                delivery,
            },
            Err(refusal) => Answer { text: refusal.to_string(), is_error: true, delivery },
        }
    }

    /// A plain answer of the tools (a minted session, a refused argument) with the caller's news after it, when there is a
    /// caller.
    pub fn answer_text(&self, caller: Option<Owner>, text: &str, is_error: bool) -> Answer {
        let Some(caller) = caller else {
            return Answer { text: text.to_owned(), is_error, delivery: Delivery::none() };
        };
        let claim = self.core.registry().claim(caller, &[], true, self.core.clock.now());
        let delivery = self.claimed(claim.id);
        let adopted = self.adopted(&claim);
        let tail =
            Tail { settled: &claim.settled, evicted: &claim.evicted, adopted: adopted.as_ref(), manual_unread: false };
        Answer { text: answer::text(text, &tail, Style::Agent), is_error, delivery }
    }

    /// A task answer for this entry is about to be sent: its client follows it. When the delivery is dropped unwritten, the
    /// entry is an ordinary one again.
    pub fn follow(&self, submitted: Submitted) -> Delivery {
        let claim = self.core.registry().claim_follow(submitted.id());
        drop(submitted);
        self.claimed(claim)
    }

    /// The terminal answer of a task that has no block (a cancelled one) is about to be sent: it delivers the entry.
    pub fn deliver_task(&self, id: EntryId) -> Delivery {
        let claim = {
            let now = self.core.clock.now();
            let mut registry = self.core.registry();
            let owner = registry.get(id, now).map_or(Owner::Local, |view| view.owner);
            registry.claim(owner, &[id], false, now)
        };
        self.claimed(claim.id)
    }

    pub(super) fn claimed(&self, claim: ClaimId) -> Delivery {
        Delivery::of(Claimed { host: Arc::clone(&self.core), claim: Some(claim) })
    }

    /// The adoption notice, when the claim asks for one.
    fn adopted(&self, claim: &Claim) -> Option<Adopted> {
        Some(match claim.adopted? {
            Adoption::Unknown => Adopted::Unknown { started: crate::render::notice::time_of_day(self.started()) },
            Adoption::Expired => Adopted::Expired,
        })
    }

    fn compose(&self, owner: Owner, blocks: &[Facts], refused: &[String], claim: Claim, manual_unread: bool) -> Answer {
        let delivery = self.claimed(claim.id);
        let adopted = self.adopted(&claim);
        let tail = Tail { settled: &claim.settled, evicted: &claim.evicted, adopted: adopted.as_ref(), manual_unread };
        let style = if owner == Owner::Local { self.core.prompt_style() } else { Style::Agent };
        let now = self.core.clock.now();
        let block = |facts| Facts::block(facts, label(facts, owner), now);
        let text = match blocks {
            [one] if refused.is_empty() => answer::one(&block(one), &tail, style),
            blocks => {
                let blocks: Vec<_> = blocks.iter().map(block).collect();
                answer::several(refused, &blocks, &tail, style)
            }
        };
        Answer { text, is_error: blocks.is_empty(), delivery }
    }
}

/// The owner of an entry, as sessions are told; somebody at the prompt of the process sees no sessions in answers.
fn label(facts: &Facts, reader: Owner) -> Option<&str> {
    match reader {
        Owner::Local => None,
        Owner::Session(_) => facts.view.by.as_deref(),
    }
}

impl Facts {
    fn block<'a>(&'a self, label: Option<&'a str>, now: Time) -> Block<'a> {
        let view = &self.view;
        let summary = self.summary.as_deref();
        Block {
            id: view.id,
            session: label,
            ns: &view.ns,
            stage: self.stage(now),
            output: Some(Output { lines: &self.printed, dropped: self.dropped_lines }),
            conflicts: summary.map_or(&[], |summary| &summary.conflicts),
            committed: summary.map_or(&[], |summary| &summary.committed),
            cancelled_children: summary.map_or(&[], |summary| &summary.cancelled_children),
            new_space: summary.and_then(|summary| summary.new_space.as_deref()),
            moved: self.moved.as_ref().map(|(from, to)| (&**from, &**to)),
        }
    }

    fn stage(&self, now: Time) -> Stage<'_> {
        let view = &self.view;
        match (view.status, self.summary.as_deref().map(|summary| &summary.end)) {
            (Status::Queued, _) => Stage::Queued { before: view.queued_before.unwrap_or(0) },
            (Status::Running, _) => match self.stopping_since.map(|at| now.since(at)) {
                Some(asked) if asked >= HELD_UP => Stage::Cancelling { asked, so_far: view.ran },
                _ => Stage::Running { so_far: view.ran },
            },
            (Status::Ok, Some(EndText::Value(value))) => Stage::Ok { value, took: view.ran },
            (Status::Failed, Some(EndText::Failed(failure))) => Stage::Failed { failure, took: view.ran },
            (Status::Cancelled, end) => Stage::Cancelled {
                after: view.ran,
                cause: match end {
                    Some(EndText::Cancelled(cause)) if *cause != StopCause::Cancelled => Some(cause),
                    _ => None,
                },
            },
            (status, _) => Stage::Forgotten { status, took: view.ran },
        }
    }
}

impl HostCore {
    /// Copies of an entry for its block. Under the lock: nothing is rendered here, and no live value is touched.
    fn facts(&self, registry: &Registry<SettledEntry>, id: EntryId, now: Time) -> Result<Facts, Refusal> {
        let view = registry.get(id, now)?;
        let summary = registry.value(id).ok().flatten().map(|kept| kept.summary);
        let log = registry.log(id)?;
        let stopping_since = self.active(id).filter(|_| view.stopping).and_then(|active| active.task.stopped_at());
        Ok(Facts {
            view,
            summary,
            printed: log.head_tail(OUTPUT_BYTES),
            dropped_lines: log.dropped_lines(),
            stopping_since,
            moved: None,
        })
    }
}
