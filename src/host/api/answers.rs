//! Answers to callers: composed from the registry's views, and claimed in the same step.

use super::host::{HostApi, Submitted};
use crate::base::{EntryId, Owner, Refusal, Status, Time};
use crate::host::core::host_core::HostCore;
use crate::host::core::settled::SettledEntry;
use crate::host::delivery::{Delivery, Receipt};
use crate::host::types::Answer;
use crate::registry::{Adoption, Claim, ClaimId, HeadTail, Registry};
use crate::render::{Block, EndText, News, Style, Tail, answer, output};
use std::sync::Arc;
use std::time::Duration;

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

/// What one answer tells beside its entries.
struct Owed {
    /// What it delivers.
    claim: ClaimId,
    settled: Vec<News>,
    evicted: Vec<EntryId>,
    adopted: Option<Adoption>,
    /// The session is to be reminded of the manual.
    manual: bool,
}

impl Owed {
    /// The news of a claim. Under the lock: a failure that is told may be gone later.
    fn of(registry: &Registry<SettledEntry>, claim: Claim) -> Self {
        let settled = claim.settled.iter().map(|(id, status)| News {
            id: *id,
            status: *status,
            failure: match registry.value(*id).ok().flatten().map(|kept| kept.summary.end.clone()) {
                Some(EndText::Failed(failure)) => Some(failure),
                _ => None,
            },
        });
        let settled = settled.collect();
        Self { claim: claim.id, settled, evicted: claim.evicted, adopted: claim.adopted, manual: false }
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
        let (block, owed) = {
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
            let manual = block.is_ok() && registry.remind_of_manual(owner);
            (block, Owed { manual, ..Owed::of(&registry, claim) })
        };
        drop(submitted);
        let block = match block {
            Ok(block) => block,
            Err(refusal) => return self.compose(owner, Vec::new(), &[refusal.to_string()], owed),
        };
        let is_error = matches!(block.entry.status, Status::Failed | Status::Cancelled);
        Answer { is_error, ..self.compose(owner, vec![block], &[], owed) }
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
        let owed = {
            let now = self.core.clock.now();
            let mut registry = self.core.registry();
            for id in ids {
                match self.core.block(&registry, EntryId(*id), now) {
                    Ok(block) => blocks.push(block),
                    Err(refusal) => refused.push(refusal.to_string()),
                }
            }
            let shown: Vec<_> = blocks.iter().map(|block: &Block| block.entry.id).collect();
            let claim = registry.claim(owner, &shown, true, now);
            Owed::of(&registry, claim)
        };
        let alone = ids.len() == 1;
        let is_error = blocks.is_empty() || blocks.iter().all(|block| bad(block, alone));
        Answer { is_error, ..self.compose(owner, blocks, &refused, owed) }
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
        let owed = {
            let mut registry = self.core.registry();
            let claim = registry.claim(caller, &[], true, self.core.clock.now());
            Owed::of(&registry, claim)
        };
        let delivery = self.claimed(owed.claim);
        Answer { text: answer::text(text, &self.tail(&owed), Style::Agent), is_error, delivery }
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

    fn tail<'a>(&'a self, owed: &'a Owed) -> Tail<'a> {
        let started = self.core.started.get().map_or("", String::as_str);
        let Owed { settled, evicted, adopted, manual, .. } = owed;
        Tail { settled, evicted, adopted: *adopted, started, manual_unread: *manual }
    }

    fn compose(&self, owner: Owner, mut blocks: Vec<Block>, refused: &[String], owed: Owed) -> Answer {
        let delivery = self.claimed(owed.claim);
        let tail = self.tail(&owed);
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
        let room = summary.as_ref().map_or(output::ROOM, |summary| summary.end.output_room());
        let stopping_since = self.active(id).filter(|_| entry.stopping).and_then(|active| active.task.stopped_at());
        Ok(Block {
            session: entry.by.clone(),
            entry,
            summary,
            printed: log.head_tail(room),
            dropped: log.dropped_lines(),
            held_up: stopping_since.map(|at| now.since(at)).filter(|asked| *asked >= HELD_UP),
            moved: None,
        })
    }
}
