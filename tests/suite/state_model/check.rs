//! The comparison after every step: everything a registry shows, and the invariants of the model itself.

use super::model::{Entry, Model, Phase, Registry, Slot, Sure, Verdict, rule, same};
use remontoire::internals::{Counts, EntryFilter, EntryView, Handle, NamedSpace, Owner, SessionRow, SpaceKind, Time};
use remontoire::{EntryId, Refusal, Status};
use std::collections::BTreeSet;
use std::sync::Arc;

impl Model {
    /// Compares everything the registry shows without being changed by the question.
    pub(super) fn compare(&mut self, registry: &Registry, now: Time) -> Verdict {
        self.lapse(now);
        self.settle_open_questions(registry, now);
        for id in (1..=self.newest + 1).map(EntryId) {
            self.compare_entry(registry, id, now)?;
        }
        self.compare_sessions(registry, now)?;
        self.compare_spaces(registry)?;
        self.compare_lives()?;
        same(&registry.counts(now), &self.counts(), "counts")?;
        let holders = self.entries.values().filter(|entry| entry.phase == Phase::Running(Slot::Held)).count();
        same(&registry.working(), &holders, "entries that hold a slot")?;
        same(&registry.capacity(), &self.capacity, "capacity")?;
        same(&registry.effective_capacity(), &self.effective_capacity(), "capacity in force")?;
        same(&registry.kept_bytes(), &self.kept_bytes(), "bytes kept: values, output and code")?;
        let mut sizes: Vec<usize> = self.entries.values().map(Entry::bytes).collect();
        sizes.sort_by_key(|bytes| std::cmp::Reverse(*bytes));
        let largest = registry.largest(3);
        same(
            &largest.iter().map(|(_, bytes)| *bytes).collect(),
            &sizes.into_iter().take(3).collect::<Vec<_>>(),
            "the largest",
        )?;
        for (id, bytes) in largest {
            same(
                &Some(bytes),
                &self.entries.get(&id).map(Entry::bytes),
                format_args!("size of entry {id} among the largest"),
            )?;
        }
        self.check_itself()
    }

    /// Takes over the registry's choices where the contract leaves something open.
    fn settle_open_questions(&mut self, registry: &Registry, now: Time) {
        for id in std::mem::take(&mut self.open_marks) {
            if registry.get(id, now).is_ok_and(|view| view.seen && view.told) && self.entries.contains_key(&id) {
                self.mark(id);
            }
        }
        let rows = registry.sessions(now);
        for session in std::mem::take(&mut self.open_heard) {
            if rows.iter().any(|row| row.session == Some(session) && row.idle.is_zero()) {
                self.heard(session, now);
            }
        }
    }

    pub(super) fn view(&self, id: EntryId, registry: &Registry, now: Time) -> Result<EntryView, Refusal> {
        let got = registry.get(id, now)?;
        let entry = self.entry(id);
        let settled = match entry.phase {
            Phase::Settled(_, at) => Some(at),
            Phase::Queued | Phase::Running(_) => None,
        };
        Ok(EntryView {
            id,
            owner: entry.owner,
            by: entry.by.clone(),
            parent: entry.parent,
            code: Arc::clone(&entry.code),
            status: entry.status(),
            created: entry.created,
            started: entry.started,
            settled,
            ran: entry.started.map(|at| settled.unwrap_or(now).since(at)).unwrap_or_default(),
            stopping: entry.is_stopping(),
            queued_before: self.queue.iter().position(|queued| *queued == id),
            lines: entry.printed.len() as u64,
            bytes: entry.bytes(),
            detached: entry.detached,
            forgotten: entry.forgotten,
            seen: entry.seen,
            told: entry.told,
            followed: entry.is_followed(),
            space: got.space,
            ns: got.ns,
        })
    }

    fn compare_entry(&self, registry: &Registry, id: EntryId, now: Time) -> Verdict {
        let got = registry.get(id, now);
        if let Some(missing) = self.missing(id) {
            let missing = Err(missing);
            same(&got.map(|view| view.id), &missing, "an entry that is not there")?;
            same(&registry.status(id).map(|_| id), &missing, "its status")?;
            same(&registry.value(id).map(|_| id), &missing, "its value")?;
            same(&registry.log(id).map(|_| id), &missing, "its log")?;
            return Ok(());
        }
        let entry = self.entry(id);
        same(&got, &self.view(id, registry, now), format_args!("entry {id} as it stands"))?;
        same(&registry.status(id), &Ok(entry.status()), "its status")?;
        same(
            &registry.queued_before(id),
            &self.queue.iter().position(|queued| *queued == id),
            "its place in the queue",
        )?;
        let children = self.ids(|_, e| e.parent == Some(id) && e.is_live() && !e.detached);
        same(&registry.live_children(id), &children, "its live children")?;
        same(
            &Arc::downgrade(&registry.log(id).map_err(|no| no.to_string())?).as_ptr(),
            &entry.log.as_ptr(),
            "its log",
        )?;
        let want = match &entry.value {
            _ if entry.forgotten => Err(Refusal::Forgotten(id)),
            None => Ok(None),
            Some(kept) => Ok(Some(kept.value.as_ptr())),
        };
        same(
            &registry.value(id).map(|value| value.as_ref().map(Arc::as_ptr)),
            &want,
            format_args!("the value of entry {id}"),
        )?;
        let holders = entry.value.as_ref().map_or(1, |kept| kept.value.strong_count());
        same(&holders, &1, format_args!("how often the value of entry {id} is held"))?;
        same(&entry.log.strong_count(), &1, format_args!("how often the log of entry {id} is held"))
    }

    fn compare_sessions(&self, registry: &Registry, now: Time) -> Verdict {
        let want: Vec<_> = self
            .sessions
            .iter()
            .map(|(id, s)| SessionRow {
                session: Some(*id),
                label: Arc::clone(&s.label),
                note: s.note.clone(),
                client: s.client.clone(),
                peer: s.peer.clone(),
                idle: now.since(s.heard),
                entries: self.ids(|_, e| e.owner == Owner::Session(*id)).len(),
                running: self.ids(|_, e| e.owner == Owner::Session(*id) && e.is_live()).len(),
                ns: Arc::clone(&s.ns),
            })
            .collect();
        same(&registry.sessions(now), &want, "the roster")?;
        for id in self.ended.iter().chain(self.sessions.keys()) {
            let owner = Owner::Session(*id);
            let session = self.sessions.get(id);
            same(&registry.is_alive(owner), &session.is_some(), format_args!("whether {id:?} is alive"))?;
            same(&registry.label(owner), &self.label(owner), format_args!("the label of {id:?}"))?;
            same(
                &registry.handle_of(*id),
                &session.and_then(|s| s.handle.clone()),
                format_args!("the handle of {id:?}"),
            )?;
            same(&registry.client_of(*id), &session.map(|s| s.client.clone()), format_args!("the client of {id:?}"))?;
            same(
                &registry.tools_stale(*id),
                &session.is_some_and(|s| s.tools_stale),
                format_args!("the tools of {id:?}"),
            )?;
        }
        rule!(registry.is_alive(Owner::Local), "the nil caller is there");
        for owner in self.sessions.keys().map(|id| Owner::Session(*id)).chain([Owner::Local]) {
            let newest = self.ids(|_, e| e.owner == owner && e.status() == Status::Ok).pop();
            same(&registry.last_ok(owner), &newest, format_args!("the newest entry of {owner:?} that ended ok"))?;
        }
        Ok(())
    }

    fn compare_spaces(&self, registry: &Registry) -> Verdict {
        let here = |name: &str| {
            self.sessions.values().map(|s| &s.ns).chain([&self.nil_ns]).filter(|ns| ***ns == *name).count()
        };
        let scratches =
            self.scratches().into_iter().map(|(name, space, owner)| (name, space, SpaceKind::Scratch(owner)));
        let shared = self.shared.iter().map(|(name, space)| (name.as_str().into(), *space, SpaceKind::Shared));
        let mut want: Vec<_> = scratches
            .chain(shared)
            .map(|(name, space, kind)| NamedSpace { here: here(&name), name, space, kind })
            .collect();
        want.sort_by(|a, b| a.name.cmp(&b.name));
        same(&registry.spaces(), &want, "spaces, by name")?;
        for name in ["lab", "scratch", "nowhere"] {
            same(&registry.here(name), &here(name), format_args!("how many are in {name}"))?;
        }
        for owner in self.sessions.keys().chain(&self.ended).map(|id| Owner::Session(*id)).chain([Owner::Local]) {
            same(&registry.current(owner), &self.current(owner), format_args!("where {owner:?} is"))?;
        }
        Ok(())
    }

    fn counts(&self) -> Counts {
        let count = |fits: &dyn Fn(&Entry) -> bool| self.entries.values().filter(|entry| fits(entry)).count();
        Counts {
            sessions: self.sessions.len(),
            running: count(&Entry::is_running),
            queued: self.queue.len(),
            unread: count(&|e| e.is_unread() && !e.is_followed()),
            followed: count(&|e| e.is_settled() && e.is_followed()),
            pool: count(&|e| e.is_in_pool()),
            spaces: self.shared.len(),
            newest: self.newest,
        }
    }

    /// A listing: the rows, oldest first. All of them are touched, and keep their order of age.
    pub(super) fn listed(&mut self, filter: EntryFilter, got: &[EntryView], registry: &Registry, now: Time) -> Verdict {
        let listed = self.ids(|_, e| {
            filter.status.is_none_or(|status| e.status() == status) && filter.owner.is_none_or(|owner| e.owner == owner)
        });
        let want: Result<Vec<_>, _> = listed.iter().map(|id| self.view(*id, registry, now)).collect();
        same(&Ok(got.to_vec()), &want, "entries that pass the filter, oldest first")?;
        let moments: BTreeSet<u64> =
            listed.iter().map(|id| self.entry(*id).touch).flat_map(|touch| [touch.first, touch.last]).collect();
        let moved = |moment: u64, tick: u64| tick + moments.iter().position(|m| *m == moment).unwrap_or(0) as u64;
        for id in listed {
            let tick = self.tick;
            let touch = &mut self.entry_mut(id).touch;
            (touch.first, touch.last) = (moved(touch.first, tick), moved(touch.last, tick));
        }
        self.tick += moments.len() as u64;
        Ok(())
    }

    /// True when a lapse or an expiry falls on this very moment: the contract does not say on which side it is.
    pub(super) fn is_edge(&self, now: Time) -> bool {
        let lapses = self.entries.values().any(|entry| match entry.phase {
            Phase::Settled(_, at) => entry.is_followed() && now == at + remontoire::internals::FOLLOWED_FOR,
            Phase::Queued | Phase::Running(_) => false,
        });
        lapses || self.sessions.values().any(|s| now.since(s.heard) == self.limits.silence)
    }

    /// The invariants, whatever the registry says.
    fn check_itself(&self) -> Verdict {
        let queued: BTreeSet<_> = self.ids(|_, e| e.phase == Phase::Queued).into_iter().collect();
        same(&self.queue.iter().copied().collect(), &queued, "model: the queue holds what is queued")?;
        let in_line: BTreeSet<_> = self.ids(|_, e| e.phase == Phase::Running(Slot::InLine)).into_iter().collect();
        same(&self.line.iter().copied().collect(), &in_line, "model: the line holds what resumes")?;
        for id in self.line.iter().chain(&self.queue) {
            rule!(!self.has_slot_for(self.entry(*id).owner), "model: entry {id} starves, a slot is free");
        }
        rule!(self.sessions.len() <= self.limits.sessions, "model: too many sessions");
        rule!(queued.len() <= self.limits.queued, "model: the queue is too long");
        rule!(self.ids(|_, e| e.is_live()).len() <= self.limits.live_entries, "model: too many live entries");
        rule!(self.shared.len() <= self.limits.spaces, "model: too many spaces");
        for (id, entry) in &self.entries {
            rule!(!entry.seen || entry.told, "model: entry {id} is seen and not told");
            rule!(entry.is_settled() || !entry.told, "model: entry {id} is told and has not settled");
            rule!(entry.is_settled() || entry.value.is_none(), "model: entry {id} has a value and has not settled");
            rule!(
                !entry.is_unread() || self.is_told(entry.owner),
                "model: entry {id} is unread, and nobody is there to read it"
            );
            rule!(entry.touch.first <= entry.touch.last, "model: entry {id} was touched backwards");
            rule!(!self.is_owed(*id) || entry.is_unread(), "model: entry {id} is owed and was read");
            rule!(!self.evicted.contains(id), "model: entry {id} is there and was evicted");
        }
        let ids = self.entries.len() + self.evicted.len();
        same(&(ids as u64), &self.newest, "model: every id is there or was evicted")?;
        for session in self.sessions.values() {
            rule!(session.evictions.keys().all(|id| self.evicted.contains(id)), "model: news of what was not evicted");
            rule!(session.evictions.values().all(|sure| *sure == Sure::Yes), "model: doubtful news for a session");
            rule!(session.key.is_some() != session.handle.is_some(), "model: a session has a key or a handle");
        }
        self.everybody_ends()
    }

    /// Compares the numbers of values and logs that are alive: what is dropped is dropped for good, by somebody.
    pub(super) fn alive(&self) -> (usize, usize) {
        let values = self.all_values.iter().filter(|value| value.strong_count() > 0).count();
        (values, self.all_logs.iter().filter(|log| log.strong_count() > 0).count())
    }

    fn compare_lives(&self) -> Verdict {
        let kept = self.entries.values().filter(|e| e.value.is_some()).count();
        same(&self.alive(), &(kept, self.entries.len()), "values and logs that are alive")
    }
}

/// The form of handles.
pub(super) fn is_handle(handle: &Handle) -> bool {
    handle.as_str().parse::<Handle>().is_ok_and(|parsed| parsed == *handle)
}
