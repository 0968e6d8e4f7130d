//! Answers to callers: composed from the registry's views, and claimed in the same step.

use super::host::{HostApi, Submitted};
use crate::base::{EntryId, Owner, Refusal, Status, Time};
use crate::host::core::host_core::HostCore;
use crate::host::core::settled::SettledEntry;
use crate::host::delivery::{Delivery, Receipt};
use crate::host::types::Answer;
use crate::registry::{Claim, ClaimId, HeadTail, Registry};
use crate::render::{Block, Style, Tail, answer};
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

impl HostApi {
    /// The answer to an eval call: the entry's block as it stands now, and the caller's news. A session whose eval ended `ok`
    /// inside its call goes where the eval said.
    pub fn answer_eval(&self, caller: Owner, submitted: Submitted) -> Answer {
        self.answer_submitted(caller, submitted, Shows::All)
    }

    pub(super) fn answer_submitted(&self, caller: Owner, submitted: Submitted, shows: Shows) -> Answer {
        let id = submitted.id();
        let owner = caller;
        let (block, claim, unread) = {
            let now = self.core.clock.now();
            let mut registry = self.core.registry();
            let mut block = self.core.block(&registry, id, now);
            if let (Ok(block), Shows::NoOutput) = (&mut block, shows) {
                block.printed = HeadTail::default();
                block.dropped = 0;
            }
            if let Ok(block) = &mut block
                && block.entry.status == Status::Ok
                && let Some(name) = block.summary.as_ref().and_then(|summary| summary.move_to.as_deref())
            {
                block.moved =
                    registry.current(owner).ok().filter(|from| **from != *name).map(|from| (from, name.into()));
                registry.move_session(owner, name);
            }
            let claim = registry.claim(owner, &[id], true, now);
            (block, claim, registry.manual_unread(owner))
        };
        drop(submitted);
        let block = match block {
            Ok(block) => block,
            Err(refusal) => return self.compose(owner, Vec::new(), &[refusal.to_string()], claim, false),
        };
        let is_error = matches!(block.entry.status, Status::Failed | Status::Cancelled);
        Answer { is_error, ..self.compose(owner, vec![block], &[], claim, unread) }
    }

    /// The answer to `await`: a block for each id (those that are not there are named), and one tail of news.
    pub fn answer_await(&self, caller: Owner, ids: &[u64]) -> Answer {
        self.answer_several(caller, ids, |block, alone| alone && block.entry.status == Status::Failed)
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
    fn answer_several(&self, caller: Owner, ids: &[u64], bad: impl Fn(&Block, bool) -> bool) -> Answer {
        let owner = caller;
        let mut blocks = Vec::new();
        let mut refused = Vec::new();
        let claim = {
            let now = self.core.clock.now();
            let mut registry = self.core.registry();
            for id in ids {
                match self.core.block(&registry, EntryId(*id), now) {
                    Ok(block) => blocks.push(block),
                    Err(refusal) => refused.push(refusal.to_string()),
                }
            }
            let shown: Vec<_> = blocks.iter().map(|block: &Block| block.entry.id).collect();
            registry.claim(owner, &shown, true, now)
        };
        let alone = ids.len() == 1;
        let is_error = blocks.is_empty() || blocks.iter().all(|block| bad(block, alone));
        Answer { is_error, ..self.compose(owner, blocks, &refused, claim, false) }
    }

    /// The result inside a completed task: the block alone. Claims the entry for its owner, when that follows it.
    pub fn answer_task(&self, id: EntryId) -> Answer {
        let (block, claim) = {
            let now = self.core.clock.now();
            let mut registry = self.core.registry();
            let block = self.core.block(&registry, id, now);
            (block, registry.claim_polled(id, now))
        };
        let delivery = self.claimed(claim);
        match block {
            Ok(block) => {
                let is_error = block.entry.status == Status::Failed;
                Answer { text: answer::block(&block, Style::Agent), is_error, delivery }
            }
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
        Answer { text: answer::text(text, &self.tail(&claim, false), Style::Agent), is_error, delivery }
    }

    /// A task answer for this entry is about to be sent: its client follows it. When the delivery is dropped unwritten, the
    /// entry is an ordinary one again.
    pub fn follow(&self, submitted: Submitted) -> Delivery {
        let claim = self.core.registry().claim_follow(submitted.id());
        drop(submitted);
        self.claimed(claim)
    }

    /// The terminal answer of a task that has no block (a cancelled one) is about to be sent: it delivers the entry to an owner that
    /// follows it.
    pub fn deliver_task(&self, id: EntryId) -> Delivery {
        let claim = self.core.registry().claim_polled(id, self.core.clock.now());
        self.claimed(claim)
    }

    pub(super) fn claimed(&self, claim: ClaimId) -> Delivery {
        Delivery::of(Claimed { host: Arc::clone(&self.core), claim: Some(claim) })
    }

    /// The news of a claim.
    fn tail<'a>(&'a self, claim: &'a Claim, manual_unread: bool) -> Tail<'a> {
        let started = self.core.started.get().map_or("", String::as_str);
        Tail { settled: &claim.settled, evicted: &claim.evicted, adopted: claim.adopted, started, manual_unread }
    }

    fn compose(
        &self,
        owner: Owner,
        mut blocks: Vec<Block>,
        refused: &[String],
        claim: Claim,
        manual_unread: bool,
    ) -> Answer {
        let delivery = self.claimed(claim.id);
        let tail = self.tail(&claim, manual_unread);
        let mut style = Style::Agent;
        if owner == Owner::Local {
            style = self.core.prompt_style();
            // Somebody at the prompt of the process sees no sessions in answers.
            blocks.iter_mut().for_each(|block| block.session = None);
        }
        let text = match &*blocks {
            [one] if refused.is_empty() => answer::one(one, &tail, style),
            blocks => answer::several(refused, blocks, &tail, style),
        };
        Answer { text, is_error: blocks.is_empty(), delivery }
    }
}

impl HostCore {
    /// Copies of an entry. Under the lock: nothing is rendered here, and no live value is touched.
    fn block(&self, registry: &Registry<SettledEntry>, id: EntryId, now: Time) -> Result<Block, Refusal> {
        let entry = registry.get(id, now)?;
        let summary = registry.value(id).ok().flatten().map(|kept| kept.summary);
        let log = registry.log(id)?;
        let stopping_since = self.active(id).filter(|_| entry.stopping).and_then(|active| active.task.stopped_at());
        Ok(Block {
            session: entry.by.clone(),
            entry,
            summary,
            printed: log.head_tail(OUTPUT_BYTES),
            dropped: log.dropped_lines(),
            held_up: stopping_since.map(|at| now.since(at)).filter(|asked| *asked >= HELD_UP),
            moved: None,
        })
    }
}
