//! The model of stopping: who is asked, and whose end is news. And of waiting: which waits can never end.

use super::model::{Entry, Model, Phase, Stop, Verdict, rule, same};
use remontoire::internals::{Asked, CancelBy, CancelState, Owner, Released, ShutDown, Time, Wants};
use remontoire::{EntryId, Refusal, Status};
use std::collections::BTreeSet;

type Ids = BTreeSet<EntryId>;

impl Model {
    /// Takes over who was stopped and dequeued, between what must and what may be.
    fn stopped(
        &mut self,
        stop: &[EntryId],
        dequeued: &[EntryId],
        must: &Ids,
        may: &Ids,
        how: impl Fn(EntryId) -> Stop,
        now: Time,
    ) -> Verdict {
        let got: Ids = stop.iter().chain(dequeued).copied().collect();
        same(&got.len(), &(stop.len() + dequeued.len()), "each entry is stopped or dequeued once")?;
        let missing: Vec<_> = must.difference(&got).collect();
        rule!(missing.is_empty(), "{missing:?} are to be stopped too; got {stop:?} and {dequeued:?}");
        let surplus: Vec<_> = got.difference(may).collect();
        rule!(surplus.is_empty(), "{surplus:?} are not to be stopped");
        for id in stop {
            rule!(self.entry(*id).is_running(), "entry {id} is to be stopped and does not run");
            self.ask(*id, how(*id));
        }
        for id in dequeued {
            same(&self.entry(*id).phase, &Phase::Queued, format_args!("entry {id} is dequeued"))?;
            self.ask(*id, how(*id));
            self.end(*id, Status::Cancelled, now);
        }
        Ok(())
    }

    /// The first who asks decides what the end is to the owner.
    fn ask(&mut self, id: EntryId, stop: Stop) {
        let entry = self.entry_mut(id);
        entry.stop = Some(match (entry.stop, stop) {
            (None, first) => first,
            (Some(Stop::News), Stop::Known) => Stop::Open,
            (Some(first), _) => first,
        });
    }

    pub(super) fn cancelled(&mut self, id: EntryId, by: CancelBy, got: &Result<Asked, Refusal>, now: Time) -> Verdict {
        if let Some(missing) = self.missing(id) {
            return same(got, &Err(missing), "cancelling what is not there");
        }
        let asked = got.as_ref().map_err(|no| format!("entry {id} is there and was refused: {no}"))?;
        let entry = self.entry(id);
        let state = match entry.phase {
            Phase::Queued => CancelState::Dequeued,
            Phase::Running(_) if entry.stop.is_some() => CancelState::AlreadyAsked,
            Phase::Running(_) => CancelState::Asked,
            Phase::Settled(status, _) => CancelState::Settled(status),
        };
        same(&asked.state, &state, "what became of asking")?;
        let known = match by {
            CancelBy::Owner(caller) => caller == entry.owner,
            CancelBy::Task => entry.is_followed(),
            CancelBy::Parent => true,
            CancelBy::Script | CancelBy::Request | CancelBy::Shutdown => false,
        };
        // Children that are not detached go along. Through those that settled before: open.
        let mut may: Ids = self.below(id, |child| !child.detached).into_iter().collect();
        let mut must: Ids = self.below(id, |child| !child.detached && child.is_live()).into_iter().collect();
        may.insert(id);
        must.insert(id);
        may.retain(|one| self.entry(*one).is_live());
        must.retain(|one| self.entry(*one).is_live() && self.entry(*one).stop.is_none());
        if !matches!(state, CancelState::Asked | CancelState::Dequeued) {
            must.clear();
        }
        let own = if known { Stop::Known } else { Stop::News };
        if state == CancelState::AlreadyAsked {
            self.ask(id, own);
        }
        // The end of a parent tells of its children; one that ended long ago tells nothing any more.
        let along = if matches!(state, CancelState::Settled(_)) { own } else { Stop::Known };
        for asked_before in may.iter().filter(|one| **one != id) {
            if self.entry(*asked_before).stop.is_some() {
                self.ask(*asked_before, along);
            }
        }
        self.may_touch(id);
        self.stopped(&asked.stop, &asked.dequeued, &must, &may, |one| if one == id { own } else { along }, now)
    }

    pub(super) fn released(
        &mut self,
        owner: Owner,
        speaking: Option<EntryId>,
        cancel: bool,
        got: &Released,
        now: Time,
    ) -> Verdict {
        let unread = self.ids(|_, e| e.owner == owner && e.is_unread());
        same(&got.released, &unread, "release gives up what is settled and unread")?;
        for id in unread {
            self.mark(id);
            self.may_touch(id);
        }
        if !cancel {
            return same(
                got,
                &Released { released: got.released.clone(), ..Released::default() },
                "a release that cancels nothing",
            );
        }
        let mut spared = Ids::new();
        if let Some(speaker) = speaking {
            spared.insert(speaker);
            spared.extend(self.above(speaker));
            // What hung on it through an entry that is gone still does.
            spared.extend(self.ids(|id, _| self.above(id).contains(&speaker)));
        }
        let may: Ids = self.ids(|id, e| e.owner == owner && e.is_live() && !spared.contains(&id)).into_iter().collect();
        let must: Ids = may.iter().copied().filter(|id| self.entry(*id).stop.is_none()).collect();
        let named: Ids = got.cancelled.iter().copied().collect();
        rule!(got.cancelled.is_sorted() && named.len() == got.cancelled.len(), "{:?} is not by id", got.cancelled);
        rule!(must.is_subset(&named), "release cancelled {named:?} and must cancel {must:?}");
        rule!(named.is_subset(&may), "release cancelled {named:?} and may cancel {may:?} only");
        for id in may.difference(&must) {
            self.ask(*id, Stop::Known);
        }
        self.stopped(&got.stop, &got.dequeued, &must, &may, |_| Stop::Known, now)
    }

    pub(super) fn shut_down(&mut self, got: &ShutDown, now: Time) -> Verdict {
        self.closing = true;
        let may: Ids = self.ids(|_, e| e.is_live()).into_iter().collect();
        let must = may.iter().copied().filter(|id| self.entry(*id).stop.is_none()).collect();
        self.stopped(&got.stop, &got.dequeued, &must, &may, |_| Stop::News, now)
    }

    // Waiting.

    /// The targets of an entry's wait that have not settled; `None` when it waits for nothing or has what it wants.
    fn pending<'a>(&'a self, targets: &'a Ids, wants: Wants) -> Option<Vec<EntryId>> {
        let live: Vec<_> =
            targets.iter().copied().filter(|id| self.entries.get(id).is_some_and(Entry::is_live)).collect();
        let reached = match wants {
            Wants::All => live.is_empty(),
            Wants::Any => live.len() < targets.len(),
        };
        (!reached).then_some(live)
    }

    /// The entries that will come to an end if every wait is kept: the least set closed under "waits for nothing, or for what
    /// will end". `stopping_end`: an entry that was asked to stop ends whatever it waits for.
    fn will_end(&self, extra: Option<(EntryId, &Ids, Wants)>, stopping_end: bool) -> Ids {
        let mut ending = Ids::new();
        loop {
            let more = self.ids(|id, entry| {
                if !entry.is_live() || ending.contains(&id) {
                    return false;
                }
                let wait = match extra {
                    Some((waiter, targets, wants)) if waiter == id => Some((targets, wants)),
                    _ => entry.wait.as_ref().map(|(targets, wants)| (targets, *wants)),
                };
                match wait.and_then(|(targets, wants)| Some((self.pending(targets, wants)?, wants))) {
                    None => true,
                    Some(_) if stopping_end && entry.is_stopping() => true,
                    Some((live, Wants::All)) => live.iter().all(|target| ending.contains(target)),
                    Some((live, Wants::Any)) => live.iter().any(|target| ending.contains(target)),
                }
            });
            if more.is_empty() {
                return ending;
            }
            ending.extend(more);
        }
    }

    pub(super) fn waits(
        &mut self,
        waiter: EntryId,
        targets: &[EntryId],
        wants: Wants,
        got: &Result<(), Refusal>,
    ) -> Verdict {
        let targets: Ids = targets.iter().copied().collect();
        let ends = |stopping_end| self.will_end(Some((waiter, &targets, wants)), stopping_end).contains(&waiter);
        match got {
            Ok(()) => {
                rule!(ends(true), "entry {waiter} waits for {targets:?} ({wants:?}), which can never end");
                self.entry_mut(waiter).wait = Some((targets, wants));
            }
            Err(Refusal::Deadlock { path }) => {
                rule!(!ends(false), "entry {waiter} may wait for {targets:?} ({wants:?}): that ends");
                rule!(path.len() >= 2 && path.first() == path.last(), "{path:?} is no circle");
                for hop in path.windows(2) {
                    let next = match &self.entries.get(&hop[0]) {
                        Some(_) if hop[0] == waiter => self.pending(&targets, wants),
                        Some(entry) => entry.wait.as_ref().and_then(|(targets, wants)| self.pending(targets, *wants)),
                        None => None,
                    };
                    rule!(next.is_some_and(|next| next.contains(&hop[1])), "{} does not wait for {}", hop[0], hop[1]);
                }
            }
            Err(other) => {
                let missing = targets.iter().find_map(|id| self.missing(*id));
                rule!(missing.is_some(), "waiting was refused: {other}");
            }
        }
        Ok(())
    }

    /// Nobody waits for ever, unless it was asked to stop.
    pub(super) fn everybody_ends(&self) -> Verdict {
        let ending = self.will_end(None, true);
        let stuck = self.ids(|id, e| e.is_live() && !ending.contains(&id));
        rule!(stuck.is_empty(), "model: {stuck:?} wait for ever");
        Ok(())
    }
}
