//! Deliveries: what an answer claims, what becomes of it when the answer was written, and what is given back when it was not.

use super::entries::{Entry, Phase};
use super::ledger::{Claim, ClaimId, OpenClaim};
use super::state::Registry;
use crate::base::{EntryId, Owner, Time};

impl<V: Clone> Registry<V> {
    /// Says whether somebody sits at a prompt and is told about the nil caller's work. Without one (the beginning) that work is
    /// seen and told when it settles; switching it off gives up what was owed.
    pub fn set_prompt(&mut self, prompt: bool) {
        if prompt {
            self.ledgers.entry(Owner::Local).or_default();
        } else {
            self.close_ledger(Owner::Local);
        }
    }

    /// Claims what one answer to `to` delivers: the outcomes it renders (ids that have not settled are left out; those of other
    /// owners are only touched), and with `news` everything else that is owed. What is claimed appears in no other answer's news.
    pub fn claim(&mut self, to: Owner, outcomes: &[EntryId], news: bool, now: Time) -> Claim {
        self.lapse(now);
        let mut claim = OpenClaim { to: Some(to), ..OpenClaim::default() };
        for id in outcomes {
            match self.entries.get(*id) {
                Some(entry) if entry.is_live() => {}
                Some(entry) if entry.owner == to => {
                    claim.rendered.insert(*id);
                    claim.read.extend(&entry.reads);
                }
                Some(_) => {
                    claim.looked_at.insert(*id);
                }
                None => {}
            }
        }
        claim.read = &claim.read - &claim.rendered;
        for id in claim.rendered.iter().chain(&claim.read) {
            self.change(*id, |entry| entry.rendering += 1);
        }
        if news && let Some(ledger) = self.ledgers.get_mut(&to) {
            claim.evicted = std::mem::take(&mut ledger.evicted);
            claim.adopted = ledger.adopted.take();
            claim.settled = ledger.news.iter().map(|(id, status)| (*id, *status)).collect();
            for (id, _) in &claim.settled {
                self.change(*id, |entry| entry.telling = true);
            }
        }
        let (settled, evicted, adopted) =
            (claim.settled.clone(), claim.evicted.iter().copied().collect(), claim.adopted);
        Claim { id: self.claims.add(claim), settled, evicted, adopted }
    }

    /// Claims the outcome that a poll of a task shows. Whoever has the id of a task may poll it. Its owner does so when it was
    /// answered with the task and follows it: then the outcome is delivered. Anybody else's poll is a look, and the owner is owed
    /// its news.
    pub fn claim_polled(&mut self, id: EntryId, now: Time) -> ClaimId {
        self.lapse(now);
        match self.followed_by(id) {
            Some(owner) => self.claim(owner, &[id], false, now).id,
            None => {
                let looked_at = self.entries.get(id).map(|_| id).into_iter().collect();
                self.claims.add(OpenClaim { looked_at, ..OpenClaim::default() })
            }
        }
    }

    /// The owner of an entry that it follows as a task, or whose task answer is on its way.
    pub fn followed_by(&self, id: EntryId) -> Option<Owner> {
        self.entries.get(id).filter(|entry| entry.followed || entry.following > 0).map(|entry| entry.owner)
    }

    /// Everything that is owed: [`Registry::claim`] without an outcome. Written to the nil caller, settled news absorbs.
    pub fn claim_news(&mut self, to: Owner, now: Time) -> Claim {
        self.claim(to, &[], true, now)
    }

    /// A call of `by` is open that will render the entry's outcome: until [`Registry::unexpect`] no other answer tells of it. For
    /// entries of others, and those that are not there, nothing happens and the answer is false.
    pub fn expect(&mut self, id: EntryId, by: Owner) -> bool {
        let own = self.entries.get(id).is_some_and(|entry| entry.owner == by);
        if own {
            self.change(id, |entry| entry.expected += 1);
        }
        own
    }

    /// Ends one [`Registry::expect`] of the same owner that answered true. What no answer has claimed meanwhile is owed from now on.
    pub fn unexpect(&mut self, id: EntryId, by: Owner) {
        if self.entries.get(id).is_some_and(|entry| entry.owner == by) {
            self.change(id, |entry| entry.expected = entry.expected.saturating_sub(1));
        }
    }

    /// A task answer for the entry is about to be sent. Written, the entry is followed; dropped, it is an ordinary one again.
    pub fn claim_follow(&mut self, id: EntryId) -> ClaimId {
        // An id that is not there now may be one tomorrow: this claim has nothing to do with that entry.
        let follow = self.entries.get(id).map(|_| id);
        self.change(id, |entry| entry.following += 1);
        self.claims.add(OpenClaim { follow, ..OpenClaim::default() })
    }

    /// The answer was accepted by the socket as a whole.
    pub fn written(&mut self, claim: ClaimId, now: Time) {
        let Some(claim) = self.claims.remove(claim) else { return };
        for id in &claim.rendered {
            self.entries.touch(*id);
            self.change(*id, |entry| {
                entry.rendering -= 1;
                entry.absorb();
                entry.reads.clear();
            });
        }
        for id in &claim.read {
            self.entries.touch(*id);
            self.change(*id, |entry| {
                entry.rendering -= 1;
                if entry.is_live() {
                    entry.read_ahead = true;
                } else {
                    entry.absorb();
                }
            });
        }
        for id in &claim.looked_at {
            self.look(*id);
        }
        for (id, _) in &claim.settled {
            self.change(*id, |entry| {
                entry.telling = false;
                entry.told = true;
                // At the prompt there is no second answer to come back for.
                entry.seen |= claim.to == Some(Owner::Local);
            });
        }
        if let Some(id) = claim.follow {
            // Also when the owner's session has ended: the client holds the id of its task.
            self.change(id, |entry| {
                entry.following -= 1;
                entry.followed = true;
            });
        }
        self.lapse(now);
    }

    /// The answer was not written: what it claimed is owed again.
    pub fn dropped(&mut self, claim: ClaimId) {
        let Some(mut claim) = self.claims.remove(claim) else { return };
        for id in claim.rendered.iter().chain(&claim.read) {
            self.change(*id, |entry| entry.rendering -= 1);
        }
        for (id, _) in &claim.settled {
            self.change(*id, |entry| entry.telling = false);
        }
        if let Some(id) = claim.follow {
            self.change(id, |entry| entry.following -= 1);
        }
        if let Some(ledger) = claim.to.and_then(|to| self.ledgers.get_mut(&to)) {
            ledger.evicted.append(&mut claim.evicted);
            ledger.adopted = ledger.adopted.or(claim.adopted);
        }
    }

    /// Changes marks of an entry, if it is still there, and files it where they say: the only way marks change.
    pub(super) fn change(&mut self, id: EntryId, change: impl FnOnce(&mut Entry<V>)) {
        let Some(entry) = self.entries.get_mut(id) else { return };
        change(entry);
        let (owner, status, is_unread, is_news) = (entry.owner, entry.status(), entry.is_unread(), entry.is_news());
        self.entries.file(id);
        if let Some(ledger) = self.ledgers.get_mut(&owner) {
            if is_unread {
                ledger.unread.insert(id);
            } else {
                ledger.unread.remove(&id);
            }
            if is_news {
                ledger.news.insert(id, status);
            } else {
                ledger.news.remove(&id);
            }
        }
    }

    /// Marks an entry that has just settled. `quiet`: its owner knows how it ended.
    pub(super) fn mark_settled(&mut self, id: EntryId, quiet: bool) {
        let Some(entry) = self.entries.get(id) else { return };
        let absorbed = quiet || entry.read_ahead || !self.ledgers.contains_key(&entry.owner);
        if entry.read_ahead {
            self.entries.touch(id);
        }
        if absorbed {
            self.change(id, Entry::absorb);
        } else {
            self.change(id, |_| ());
        }
    }

    /// Entries whose time as followed ones is over are ordinary ones again: in the pool when they were read, owed otherwise.
    pub(super) fn lapse(&mut self, now: Time) {
        let due: Vec<_> = self.entries.lapses().take_while(|(at, _)| *at <= now).map(|(_, id)| id).collect();
        for id in due {
            self.change(id, |entry| entry.followed = false);
        }
    }

    /// Nobody is there any more to be owed anything by this name: settled entries are given up, running ones will be.
    /// Followed ones stay followed until that lapses: whoever has the id of a task may ask for it by that alone.
    pub(super) fn close_ledger(&mut self, owner: Owner) {
        let Some(ledger) = self.ledgers.remove(&owner) else { return };
        for id in ledger.unread {
            self.change(id, Entry::absorb);
        }
    }

    /// A script of `reader` has the outcome of `target`, or cancelled it. Of its own owner: goes on the reader's list and is
    /// delivered with the reader's outcome, also when it settles later. Of another: touched. A wait that ran out read nothing.
    pub fn read_by_script(&mut self, reader: EntryId, target: EntryId) {
        self.look(target);
        let Some(of_target) = self.entries.get(target) else { return };
        let (owner, is_seen) = (of_target.owner, of_target.seen);
        if !is_seen
            && reader != target
            && let Some(entry) = self.entries.get_mut(reader)
            && entry.owner == owner
            && matches!(entry.phase, Phase::Running { .. })
        {
            entry.reads.insert(target);
        }
    }

    /// Somebody looked (paged its output, read it from another session): touched, nothing else.
    pub fn look(&mut self, id: EntryId) {
        self.entries.touch(id);
        self.entries.file(id);
    }
}
