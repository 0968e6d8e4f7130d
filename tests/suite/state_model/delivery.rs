//! The model of delivery: what an answer claims, and what becomes of that.

use super::model::{Claim, Model, Sure, Verdict, rule, same};
use remontoire::EntryId;
use remontoire::internals::{Claim as RegistryClaim, ClaimId, Owner};
use std::collections::{BTreeMap, BTreeSet};

impl Model {
    /// True when the entry is in an answer on its way, or in one that is expected.
    pub(super) fn claimed(&self, id: EntryId) -> Option<Sure> {
        if self.entries.get(&id).is_some_and(|e| e.expected > 0) {
            return Some(Sure::Yes);
        }
        let of_one = |claim: &Claim| {
            let surely = claim.outcomes.contains_key(&id) || claim.news.contains(&id) || claim.follow == Some(id);
            if surely { Some(Sure::Yes) } else { claim.riders.get(&id).copied() }
        };
        self.open.values().filter_map(of_one).max()
    }

    /// True when the entry's outcome, or the news of it, is owed to its owner.
    pub(super) fn is_owed(&self, id: EntryId) -> bool {
        let entry = self.entry(id);
        entry.is_settled() && !entry.told && !entry.is_followed() && self.is_told(entry.owner)
    }

    pub(super) fn claimed_for(&mut self, to: Owner, outcomes: &[EntryId], news: bool, got: &RegistryClaim) -> Verdict {
        rule!(
            !self.open.contains_key(&got.id) && !self.closed.contains(&got.id),
            "{:?} is the name of another claim",
            got.id
        );
        let mut claim = Claim { to: Some(to), tick: self.tick, notice: got.adopted.is_some(), ..Claim::default() };
        for id in outcomes {
            match self.entries.get(id) {
                Some(entry) if entry.owner != to && entry.is_settled() => {
                    claim.foreign.insert(*id);
                    self.may_touch(*id);
                }
                Some(entry) if entry.is_settled() => {
                    claim.outcomes.insert(*id, entry.reads.clone());
                    for (read, sure) in &entry.reads {
                        // What settles only after this claim may be told elsewhere meanwhile.
                        let sure =
                            if self.entries.get(read).is_some_and(|e| e.is_settled()) { *sure } else { Sure::Maybe };
                        let rider = claim.riders.entry(*read).or_insert(sure);
                        *rider = (*rider).max(sure);
                    }
                }
                Some(_) => self.may_touch(*id),
                None => {}
            }
        }
        let told: Vec<EntryId> = got.settled.iter().map(|(id, _)| *id).collect();
        let elsewhere = |id: EntryId| {
            let here = if claim.outcomes.contains_key(&id) { Some(Sure::Yes) } else { claim.riders.get(&id).copied() };
            here.max(self.claimed(id))
        };
        let owed = self.ids(|id, e| news && e.owner == to && self.is_owed(id));
        let must = owed.iter().copied().filter(|id| elsewhere(*id).is_none()).collect();
        let may = owed.iter().copied().filter(|id| elsewhere(*id) != Some(Sure::Yes)).collect();
        within(&told, &must, &may, "settled news")?;
        for (id, status) in &got.settled {
            same(status, &self.entry(*id).status(), format_args!("settled news of entry {id}"))?;
        }
        let busy: BTreeSet<EntryId> = self.open.values().flat_map(|open| open.evictions.iter().copied()).collect();
        let owed = if news { self.evictions_of(to).cloned().unwrap_or_default() } else { BTreeMap::new() };
        let may = owed.keys().copied().filter(|id| !busy.contains(id)).collect();
        let must =
            owed.iter().filter(|(id, sure)| **sure == Sure::Yes && !busy.contains(id)).map(|(id, _)| *id).collect();
        within(&got.evicted, &must, &may, "eviction news")?;
        let pending = match to {
            Owner::Session(session) => self.sessions.get(&session).and_then(|s| s.notice),
            Owner::Local => None,
        };
        let busy = self.open.values().any(|open| open.to == Some(to) && open.notice);
        same(&got.adopted, &pending.filter(|_| news && !busy), "the notice of an adopted session")?;
        claim.news.extend(told);
        claim.evictions.extend(&got.evicted);
        self.open.insert(got.id, claim);
        self.may_hear(to);
        Ok(())
    }

    pub(super) fn claimed_follow(&mut self, id: EntryId, got: ClaimId) -> Verdict {
        rule!(!self.open.contains_key(&got) && !self.closed.contains(&got), "{got:?} is the name of another claim");
        let to = self.entries.get(&id).map(|e| e.owner);
        let follow = Some(id).filter(|id| self.entries.contains_key(id));
        let claim = Claim { to, tick: self.tick, follow, ..Claim::default() };
        self.open.insert(got, claim);
        self.entries.get_mut(&id).into_iter().for_each(|e| e.following += 1);
        Ok(())
    }

    /// Claims become marks.
    pub(super) fn written(&mut self, claim: ClaimId) {
        let Some(claim) = self.close(claim) else { return };
        for (id, reads) in claim.outcomes {
            if let Some(entry) = self.entries.get(&id) {
                let reads = entry.reads.clone();
                self.mark(id);
                self.touch(id);
                self.readings_written(reads);
            } else {
                // Delivered before, and evicted since: what it read is delivered now all the same.
                self.readings_written(reads);
            }
        }
        for id in claim.foreign {
            self.touch_since(id, claim.tick);
        }
        for id in claim.news {
            if let Some(entry) = self.entries.get_mut(&id) {
                entry.told = true;
                // The prompt absorbs what it is told.
                entry.seen |= entry.owner == Owner::Local;
                self.may_touch(id);
            }
        }
        if let Some(to) = claim.to {
            if let Some(owed) = self.evictions_of(to) {
                owed.retain(|id, _| !claim.evictions.contains(id));
            }
            if let Owner::Session(session) = to
                && let Some(session) = self.sessions.get_mut(&session)
            {
                session.notice = session.notice.filter(|_| !claim.notice);
            }
            self.may_hear(to);
        }
        if let Some(id) = claim.follow.filter(|id| self.entries.contains_key(id)) {
            // Also when its session has ended: the client holds the id of its task.
            self.entry_mut(id).followed = true;
        }
    }

    /// Marks the entries that an entry's script read along with it; those that have not settled are marked when they do.
    fn readings_written(&mut self, reads: BTreeMap<EntryId, Sure>) {
        for (read, sure) in reads {
            let Some(target) = self.entries.get_mut(&read) else { continue };
            if !target.is_settled() {
                target.read_ahead = target.read_ahead.max(Some(sure));
                continue;
            }
            if target.seen {
                self.may_touch(read);
                continue;
            }
            // Whether what was read in turn counts as delivered too is open.
            let in_turn: Vec<EntryId> = target.reads.keys().copied().collect();
            for further in in_turn {
                match self.entries.get_mut(&further) {
                    Some(entry) if entry.is_unread() => {
                        self.open_marks.insert(further);
                    }
                    Some(entry) => entry.read_ahead = entry.read_ahead.max(Some(Sure::Maybe)),
                    None => {}
                }
            }
            match sure {
                Sure::Yes => self.mark(read),
                Sure::Maybe => {
                    self.open_marks.insert(read);
                }
            }
            self.may_touch(read);
        }
    }

    /// Makes claimed news owed again.
    pub(super) fn dropped(&mut self, claim: ClaimId) {
        self.close(claim);
    }

    fn close(&mut self, claim: ClaimId) -> Option<Claim> {
        let open = self.open.remove(&claim)?;
        self.closed.push(claim);
        let entry = open.follow.and_then(|id| self.entries.get_mut(&id));
        entry.into_iter().for_each(|e| e.following -= 1);
        Some(open)
    }

    /// A script read an outcome, or waits for it.
    pub(super) fn read(&mut self, reader: EntryId, target: EntryId) {
        let Some(owner) = self.entries.get(&target).map(|e| e.owner) else { return };
        let Some(entry) = self.entries.get_mut(&reader) else { return };
        if entry.owner == owner {
            entry.reads.insert(target, Sure::Yes);
            self.may_touch(target);
        } else {
            self.touch(target);
        }
    }
}

/// Every id that must be there is, none that may not, each once and in order.
fn within(got: &[EntryId], must: &BTreeSet<EntryId>, may: &BTreeSet<EntryId>, what: &str) -> Verdict {
    let distinct: BTreeSet<EntryId> = got.iter().copied().collect();
    rule!(got.is_sorted() && distinct.len() == got.len(), "{what} names each entry once, by id: {got:?}");
    let missing: Vec<_> = must.difference(&distinct).collect();
    rule!(missing.is_empty(), "{what} lacks {missing:?}, got {got:?}");
    let surplus: Vec<_> = distinct.difference(may).collect();
    rule!(surplus.is_empty(), "{what} has {surplus:?}, which is not owed, was told, or is in another answer");
    Ok(())
}
