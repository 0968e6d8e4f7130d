//! The model of entries: admission, slots, the end; what is kept and what goes.

use super::model::{Entry, Kept, Model, Phase, Slot, Sure, Touch, Verdict, rule, same};
use remontoire::internals::{Admission, Forgotten, NewEntry, Owner, Refused, Remains, Settled, Time};
use remontoire::{EntryId, Refusal, Status};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Weak};

impl Model {
    // Slots.

    pub(super) fn holders(&self) -> usize {
        self.entries.values().filter(|e| e.phase == Phase::Running(Slot::Held)).count()
    }

    fn holders_of(&self, owner: Owner) -> usize {
        self.entries.values().filter(|e| e.owner == owner && e.phase == Phase::Running(Slot::Held)).count()
    }

    /// True when this owner may have one more slot now.
    pub(super) fn has_slot_for(&self, owner: Owner) -> bool {
        self.holders() < self.limits.running && self.holders_of(owner) < self.limits.slots_per_session()
    }

    /// Hands out the free slots: to those that resume, then to the queue, in order, passing over owners at their cap.
    pub(super) fn granted(&mut self, got: &[EntryId], now: Time) -> Verdict {
        let mut want = Vec::new();
        while let Some(id) =
            self.line.iter().chain(&self.queue).copied().find(|id| self.has_slot_for(self.entry(*id).owner))
        {
            self.line.retain(|waiting| *waiting != id);
            self.queue.retain(|queued| *queued != id);
            let entry = self.entry_mut(id);
            entry.phase = Phase::Running(Slot::Held);
            entry.started.get_or_insert(now);
            want.push(id);
        }
        same(&got, &&*want, "free slots go to those that resume, then to the queue, in order")
    }

    pub(super) fn gave_back(&mut self, id: EntryId, got: &[EntryId], now: Time) -> Verdict {
        if let Some(entry) = self.entries.get_mut(&id)
            && entry.phase == Phase::Running(Slot::Held)
        {
            entry.phase = Phase::Running(Slot::Lent);
        }
        self.granted(got, now)
    }

    pub(super) fn took_back(&mut self, id: EntryId, force: bool, got: bool) -> Verdict {
        // Only a running entry can have a slot. What another one is told is open.
        let Some(Phase::Running(slot)) = self.entries.get(&id).map(|e| e.phase) else { return Ok(()) };
        let has = slot == Slot::Held || force || self.has_slot_for(self.entry(id).owner);
        same(&got, &has, "asking for a slot again")?;
        self.line.retain(|waiting| *waiting != id || !has);
        if !has && slot == Slot::Lent {
            self.line.push(id);
        }
        self.entry_mut(id).phase = Phase::Running(if has { Slot::Held } else { Slot::InLine });
        Ok(())
    }

    // Admission.

    pub(super) fn admitted(
        &mut self,
        new: &NewEntry,
        elsewhere: usize,
        got: &Result<Admission<Arc<u64>>, Refused>,
        now: Time,
    ) -> Verdict {
        let owner = new.parent.map_or(new.owner, |parent| self.entry(parent).owner);
        let expired = got.as_ref().map_or_else(|refused| &refused.expired, |admission| &admission.expired);
        self.expired(expired, Some(owner), now)?;
        let live = self.ids(|_, e| e.is_live()).len();
        let has_slot = self.has_slot_for(owner);
        let mut reasons = Vec::new();
        if self.closing {
            reasons.push("ShuttingDown");
        }
        if live >= self.limits.live_entries {
            reasons.push("TooManyLive");
        }
        if !has_slot && self.queue.len() >= self.limits.queued {
            reasons.push("QueueFull");
        }
        let mut must_refuse = !reasons.is_empty();
        if !self.is_alive(owner) {
            // A child of an entry that runs on without its session: open.
            must_refuse |= new.parent.is_none();
            reasons.push("SessionEnded");
        }
        let admission = match got {
            Ok(admission) => admission,
            Err(refused) => {
                let kind = refused.refusal.kind();
                rule!(reasons.contains(&kind), "refused with {kind}, which does not hold; {reasons:?} do");
                return match refused.refusal {
                    Refusal::QueueFull { queued, .. } => same(&queued, &self.queue.len(), "entries in the queue"),
                    Refusal::TooManyLive { limit } => {
                        same(&limit, &self.limits.live_entries, "the limit of live entries")
                    }
                    _ => Ok(()),
                };
            }
        };
        rule!(!must_refuse, "let in, though {reasons:?} hold");
        let id = admission.id;
        same(&id, &EntryId(self.newest + 1), "ids grow by one")?;
        same(&admission.queued_before, &(!has_slot).then_some(self.queue.len()), "its place in the queue")?;
        self.newest = id.0;
        let phase = if has_slot { Phase::Running(Slot::Held) } else { Phase::Queued };
        if phase == Phase::Queued {
            self.queue.push(id);
        }
        let entry = Entry {
            owner,
            by: self.label(owner).or_else(|| new.parent.and_then(|parent| self.entry(parent).by.clone())),
            parent: new.parent,
            code: Arc::clone(&new.code),
            created: now,
            started: has_slot.then_some(now),
            phase,
            stop: None,
            seen: false,
            told: false,
            followed: false,
            following: 0,
            detached: false,
            forgotten: false,
            value: None,
            log: Arc::downgrade(&admission.log),
            printed: Vec::new(),
            awaited: 0,
            expected: 0,
            wait: None,
            reads: BTreeMap::new(),
            read_ahead: None,
            touch: Touch { first: self.tick, last: self.tick },
        };
        self.all_logs.push(Weak::clone(&entry.log));
        self.entries.insert(id, entry);
        self.parents.extend(new.parent.map(|parent| (id, parent)));
        self.may_hear(owner);
        self.evictions(&admission.evicted, self.overflow(), elsewhere)
    }

    /// The contract does not say whether this is a sign of life.
    pub(super) fn may_hear(&mut self, owner: Owner) {
        if let Owner::Session(session) = owner {
            self.open_heard.insert(session);
        }
    }

    // What is kept.

    pub(super) fn effective_capacity(&self) -> usize {
        self.capacity + 10 * self.sessions.len().saturating_sub(1)
    }

    pub(super) fn kept_bytes(&self) -> usize {
        self.entries.values().map(|e| e.bytes() + e.code.len()).sum()
    }

    /// True when nothing shields the entry: it is settled, seen, neither followed nor about to be, and nobody waits for it. An
    /// answer on its way that renders once more what was delivered has it already.
    fn may_go(&self, id: EntryId) -> bool {
        let entry = self.entry(id);
        entry.is_in_pool() && entry.awaited == 0
    }

    /// The number of entries the pool has too many. Whether entries that somebody waits for take room in it is open.
    fn overflow(&self) -> (usize, usize) {
        let candidates = self.ids(|id, _| self.may_go(id)).len();
        let pool = self.ids(|_, e| e.is_in_pool()).len();
        let beyond = |n: usize| n.saturating_sub(self.effective_capacity());
        (beyond(candidates), beyond(pool).min(candidates))
    }

    /// Room was asked for: the largest go, if that is enough.
    pub(super) fn room_made(&mut self, got: &Remains<Arc<u64>>, fits: bool, more: usize, elsewhere: usize) -> Verdict {
        let evictable: usize = self.ids(|id, _| self.may_go(id)).iter().map(|id| self.size(*id)).sum();
        let needed = elsewhere + more + self.kept_bytes();
        same(&fits, &(needed <= self.limits.total_bytes + evictable), "whether there can be room")?;
        if !fits {
            return same(&got.ids.len(), &0, "entries evicted in vain");
        }
        self.evictions(got, (0, 0), elsewhere + more)
    }

    fn size(&self, id: EntryId) -> usize {
        let entry = self.entry(id);
        entry.bytes() + entry.code.len()
    }

    /// First those over the capacity go, oldest touch first: so many at least, so many at most. Then the largest, while the
    /// process keeps too much.
    fn evictions(&mut self, got: &Remains<Arc<u64>>, (must, may): (usize, usize), elsewhere: usize) -> Verdict {
        let distinct: BTreeSet<_> = got.ids.iter().collect();
        same(&distinct.len(), &got.ids.len(), "an entry is evicted once")?;
        rule!(got.ids.len() >= must, "{must} are to be evicted for their age, and only {:?} went", got.ids);
        let mut values = BTreeSet::new();
        let mut logs = BTreeSet::new();
        for (n, id) in got.ids.iter().enumerate() {
            rule!(self.entries.contains_key(id), "entry {id} was evicted and is not there");
            rule!(self.may_go(*id), "entry {id} was evicted though it is shielded: {:?}", self.entry(*id));
            let gone = self.entry(*id).clone();
            let others = self.ids(|other, _| other != *id && self.may_go(other));
            let older = others.iter().find(|other| self.entry(**other).touch.is_before(gone.touch));
            let larger = others.iter().find(|other| self.entry(**other).bytes() > gone.bytes());
            let too_much = elsewhere + self.kept_bytes() > self.limits.total_bytes;
            rule!(
                n < may && older.is_none() || n >= must && too_much && larger.is_none(),
                "entry {id} was evicted as number {n} of {must} to {may} for their age; older: {older:?}; \
                 {} bytes kept; larger: {larger:?}",
                elsewhere + self.kept_bytes(),
            );
            values.extend(gone.value.map(|kept| kept.value.as_ptr()));
            logs.insert(gone.log.as_ptr());
            self.entries.remove(id);
            self.evicted.insert(*id);
            self.owe_eviction(*id, gone.owner);
        }
        let remaining: Vec<_> = self.ids(|id, e| self.may_go(id) && e.bytes() > 0);
        rule!(
            elsewhere + self.kept_bytes() <= self.limits.total_bytes || remaining.is_empty(),
            "the process keeps too much, and {remaining:?} could have been evicted"
        );
        let got_values = got.values.iter().map(Arc::as_ptr).collect();
        same(&got_values, &values, "the values of what was evicted come out, to be dropped by the caller")?;
        let got_logs = got.logs.iter().map(Arc::as_ptr).collect();
        same(&got_logs, &logs, "the logs of what was evicted come out")?;
        same(&(got.values.len(), got.logs.len()), &(values.len(), logs.len()), "each comes out once")?;
        Ok(())
    }

    fn owe_eviction(&mut self, id: EntryId, owner: Owner) {
        let sure = if self.is_told(owner) { Sure::Yes } else { Sure::Maybe };
        if let Some(owed) = self.evictions_of(owner) {
            owed.insert(id, sure);
        }
    }

    pub(super) fn evictions_of(&mut self, owner: Owner) -> Option<&mut BTreeMap<EntryId, Sure>> {
        match owner {
            Owner::Local => Some(&mut self.nil_evictions),
            Owner::Session(session) => self.sessions.get_mut(&session).map(|s| &mut s.evictions),
        }
    }

    pub(super) fn forgot(
        &mut self,
        id: EntryId,
        by: Owner,
        before: usize,
        got: &Result<Forgotten<Arc<u64>>, Refusal>,
    ) -> Verdict {
        let kind = got.as_ref().map_err(|no| no.clone()).map(|forgotten| forgotten.bytes);
        if let Some(missing) = self.missing(id) {
            return same(&kind, &Err(missing), "forgetting what is not there");
        }
        let entry = self.entry_mut(id);
        if entry.owner != by && !entry.seen {
            return same(&kind, &Err(Refusal::ForeignUnread(id)), "forgetting what its owner has not read");
        }
        let value = entry.value.take();
        let bytes = before + value.as_ref().map_or(0, |kept| kept.bytes);
        // A running entry goes on: what it prints and keeps from here on is there.
        entry.forgotten |= entry.is_settled();
        same(&kind, &Ok(bytes), "what forgetting frees")?;
        let out = got.as_ref().ok().and_then(|forgotten| forgotten.value.as_ref());
        same(&out.map(Arc::as_ptr), &value.map(|kept| kept.value.as_ptr()), "the value that was kept comes out")?;
        self.may_touch(id);
        Ok(())
    }

    // The end.

    pub(super) fn settled(
        &mut self,
        id: EntryId,
        status: Status,
        value: &Weak<u64>,
        bytes: usize,
        got: &Settled<Arc<u64>>,
        now: Time,
    ) -> Verdict {
        self.all_values.push(Weak::clone(value));
        let Some(entry) = self.entries.get_mut(&id).filter(|e| e.is_running()) else {
            let out = got.unkept.as_ref().map(Arc::as_ptr);
            same(&out, &Some(value.as_ptr()), "a value that nobody keeps comes back")?;
            return self.granted(&got.granted, now);
        };
        rule!(got.unkept.is_none(), "the value of an entry that settles is kept");
        entry.value = Some(Kept { value: Weak::clone(value), bytes });
        self.end(id, status, now);
        self.granted(&got.granted, now)
    }
}
