//! The longer steps of the driver: sessions at the door, entries from admission to their end, waits, stops and answers.

use super::driver::{Answer, Driver};
use super::model::{Entry, Phase, Slot, Verdict, rule, same};
use super::op::{By, Op};
use super::sessions::Newcomer;
use remontoire::internals::{CancelBy, ClaimId, ClientInfo, HeaderKey, NewEntry, Owner, SessionId, Settlement};
use remontoire::{EntryId, Status};
use std::sync::Arc;

impl Driver {
    // The door.

    pub(super) fn apply_to_door(&mut self, op: &Op) -> Verdict {
        let client =
            ClientInfo { name: "client".into(), tasks: self.known.len().is_multiple_of(2), ..ClientInfo::default() };
        let address: Arc<str> = format!("127.0.0.1:{}", 4_000 + self.known.len()).into();
        let peer = Some(Arc::clone(&address));
        let key = |n: u8| self.keys[usize::from(n) % self.keys.len()].clone();
        match op {
            Op::Knock(n) => {
                let key = key(*n);
                let got = self.registry.find_or_adopt(&key, peer.clone(), self.now);
                self.note(format!("a request with header {key}: {got:?}"));
                let opened = got.as_ref().ok().filter(|opened| !self.known.contains(&opened.session));
                let newcomer = match opened.map(|opened| opened.session) {
                    Some(session) => Some(self.newcomer(session, ClientInfo::default(), peer, None)?),
                    None => None,
                };
                self.model.knocked(&key, &address, &got, newcomer, self.now)
            }
            Op::Delete(n) => {
                let key = key(*n);
                let got = self.registry.end_by_key(&key, self.now);
                self.note(format!("DELETE {key}: {got:?}"));
                self.model.deleted(&key, &got, self.now)
            }
            Op::Create { random } => {
                let mut next = u64::from(*random);
                let mut draw = || {
                    next += 1;
                    next - 1
                };
                let note: Option<Arc<str>> = (*random == 0).then(|| "a purpose".into());
                let got =
                    self.registry.create_with_handle(&mut draw, note.clone(), client.clone(), peer.clone(), self.now);
                self.note(format!("create-session: {got:?}"));
                let newcomer = match got.as_ref().map(|created| created.session) {
                    Ok(session) => Some(self.newcomer(session, client, peer, note)?),
                    Err(_) => None,
                };
                self.model.created(got.as_ref(), newcomer, self.now)
            }
            _ => {
                let key: HeaderKey = format!("{:08x}-minted", self.keys.len()).parse()?;
                self.keys.push(key.clone());
                let got = self.registry.initialize(key.clone(), client.clone(), peer.clone(), self.now);
                self.note(format!("initialize {key}: {got:?}"));
                let newcomer = match got.as_ref().map(|opened| opened.session) {
                    Ok(session) => Some(self.newcomer(session, client, peer, None)?),
                    Err(_) => None,
                };
                self.model.opened(Some(key), false, got.as_ref(), newcomer, self.now)
            }
        }
    }

    fn newcomer(
        &mut self,
        session: SessionId,
        client: ClientInfo,
        peer: Option<Arc<str>>,
        note: Option<Arc<str>>,
    ) -> Verdict<Newcomer> {
        self.known.push(session);
        let name =
            self.registry.current(Owner::Session(session)).map_err(|no| format!("a new session is nowhere: {no}"))?;
        let space = self.registry.find_space(&name).map_err(|no| format!("a new session's scratch: {no}"))?;
        Ok(Newcomer { client, peer, note, scratch: (name, space) })
    }

    // Entries.

    pub(super) fn admit(
        &mut self,
        owner: Owner,
        parent: Option<EntryId>,
        elsewhere: usize,
    ) -> Verdict<Option<EntryId>> {
        let code: Arc<str> = format!("let x = {:03};", self.model.newest % 1_000).into();
        let space = self.model.nil_scratch;
        let new = NewEntry { owner, parent, space, ns: "scratch".into(), code };
        let got = self.registry.admit(new.clone(), elsewhere, self.now);
        let child = parent.map(|parent| format!("a child of {parent}, ")).unwrap_or_default();
        let rest = if elsewhere > 0 { format!(" ({elsewhere} bytes elsewhere)") } else { String::new() };
        self.note(match &got {
            Ok(a) => format!(
                "{child}an entry of {owner:?}{rest}: {} {}, evicts {:?}, ends {:?}",
                a.id,
                a.queued_before.map_or("runs".to_owned(), |n| format!("is queued after {n}")),
                a.evicted.ids.iter().map(|id| id.0).collect::<Vec<_>>(),
                a.expired.iter().map(|ended| ended.session.0).collect::<Vec<_>>(),
            ),
            Err(refused) => format!("{child}an entry of {owner:?}{rest}: {refused:?}"),
        });
        self.model.admitted(&new, elsewhere, &got, self.now)?;
        let Ok(admission) = got else { return Ok(None) };
        let view = self.registry.get(admission.id, self.now).map_err(|no| no.to_string())?;
        same(&(view.space, view.ns), &(space, new.ns), "where it evaluates")?;
        Ok(Some(admission.id))
    }

    /// An entry that is admitted, settles and is delivered.
    pub(super) fn quick(&mut self, owner: Owner) -> Verdict {
        let Some(id) = self.admit(owner, None, 0)? else { return Ok(()) };
        self.model.compare(&self.registry, self.now)?;
        self.model.tick += 1;
        if !self.is_running(id) {
            return Ok(());
        }
        self.settle(id, Status::Ok, 10)?;
        self.model.compare(&self.registry, self.now)?;
        self.model.tick += 1;
        let claim = self.claim(owner, &[id], true)?;
        self.written(claim)
    }

    pub(super) fn settle(&mut self, id: EntryId, status: Status, bytes: usize) -> Verdict {
        if self.model.entries.get(&id).is_some_and(|e| e.phase == Phase::Queued) {
            return Ok(());
        }
        self.values += 1;
        let value = Arc::new(self.values);
        let kept = Arc::downgrade(&value);
        let got = self.registry.settle(id, Settlement { status, value, bytes }, self.now);
        self.note(format!("{id} settles {status} with {bytes} bytes: {got:?}"));
        self.model.settled(id, status, &kept, bytes, &got, self.now)
    }

    pub(super) fn print(&mut self, id: EntryId, length: usize) -> Verdict {
        let Some(entry) = self.model.entries.get_mut(&id) else { return Ok(()) };
        let log = self.registry.log(id).map_err(|no| format!("entry {id} has a log: {no}"))?;
        let text = format!("{:-<length$}", entry.printed.len());
        log.push(self.now, "print", &text);
        entry.printed.push(text);
        let printed = &entry.printed;
        let page = log.page(0, usize::MAX);
        let kept: Vec<&str> = page.lines.iter().map(|line| line.text.as_str()).collect();
        let first = printed.len() - kept.len().min(printed.len());
        same(&log.total_lines(), &(printed.len() as u64), "lines ever printed")?;
        same(&page.total, &(printed.len() as u64), "lines ever printed, on a page")?;
        same(&page.skipped, &(first as u64), "lines that were dropped, on a page")?;
        let bytes: usize = kept.iter().map(|text| text.len()).sum();
        rule!(bytes <= self.model.limits.output_bytes, "{bytes} bytes of output are kept");
        rule!(bytes <= log.kept_bytes(), "{bytes} bytes of output are counted as {}", log.kept_bytes());
        for (line, text) in page.lines.iter().zip(&printed[first..]) {
            rule!(
                text.starts_with(&line.text) && line.text.len() + line.cut == text.len(),
                "printed {text:?}, kept {line:?}"
            );
        }
        self.note(format!("{id} prints {length} characters"));
        Ok(())
    }

    // Waiting.

    pub(super) fn apply_to_waits(&mut self, op: &Op) -> Verdict {
        match op {
            Op::GiveBack(entry) => {
                let id = self.pick(*entry, |_, e| e.phase == Phase::Running(Slot::Held));
                if self.model.entries.get(&id).is_some_and(|e| e.phase == Phase::Running(Slot::InLine)) {
                    return Ok(());
                }
                let got = self.registry.give_back(id, self.now);
                self.note(format!("{id} gives its slot back: {got:?}"));
                self.model.gave_back(id, &got, self.now)
            }
            Op::TakeBack { entry, force } => {
                let id = self.pick(*entry, |_, e| matches!(e.phase, Phase::Running(Slot::Lent | Slot::InLine)));
                if *force && !self.is_running(id) {
                    return Ok(());
                }
                let got = self.registry.take_back(id, *force);
                self.note(format!("{id} asks for a slot again{}: {got}", if *force { ", by force" } else { "" }));
                self.model.took_back(id, *force, got)
            }
            Op::Await(entry) => {
                let id = self.pick(*entry, |_, e| e.is_live());
                self.registry.awaited(id);
                self.model.entries.get_mut(&id).into_iter().for_each(|e| e.awaited += 1);
                self.note(format!("somebody awaits {id}"));
                Ok(())
            }
            Op::Unawait(entry) => {
                let id = self.pick(*entry, |_, e| e.awaited > 0);
                if let Some(entry) = self.model.entries.get_mut(&id) {
                    if entry.awaited == 0 {
                        return Ok(());
                    }
                    entry.awaited -= 1;
                    let owner = entry.owner;
                    self.model.may_hear(owner);
                }
                self.registry.unawait(id, self.now);
                self.model.may_touch(id);
                self.note(format!("somebody no longer awaits {id}"));
                Ok(())
            }
            Op::WaitFor(waiter, targets, wants) => {
                let waiter = self.pick(*waiter, |_, e| e.is_running());
                if !self.is_running(waiter) {
                    return Ok(());
                }
                let targets: Vec<_> = targets.iter().map(|target| self.pick(*target, |_, e| e.is_live())).collect();
                let got = self.registry.add_wait(waiter, &targets, *wants);
                self.note(format!("{waiter} waits for {wants:?} of {targets:?}: {got:?}"));
                self.model.waits(waiter, &targets, *wants, &got)
            }
            Op::Read { reader, target } => {
                let reader = self.pick(*reader, |_, e| e.is_running());
                if !self.is_running(reader) {
                    return Ok(());
                }
                let owner = self.model.entry(reader).owner;
                let target = self.pick(*target, |id, e| id != reader && e.owner == owner && !e.seen);
                if target == reader {
                    return Ok(());
                }
                self.registry.read_by_script(reader, target);
                self.model.read(reader, target);
                self.note(format!("{reader} reads {target}"));
                Ok(())
            }
            Op::Expect(entry) => {
                let id = self.pick(*entry, |_, e| !e.seen);
                let by = self.model.entries.get(&id).map_or(Owner::Local, |e| e.owner);
                let got = self.registry.expect(id, by);
                self.note(format!("a call of {by:?} will render {id}: {got}"));
                self.model.entries.get_mut(&id).into_iter().for_each(|e| e.expected += 1);
                same(&got, &self.model.entries.contains_key(&id), "whether the call can expect the outcome")
            }
            Op::ExpectForeign(who, entry) => {
                let by = self.owner(*who);
                let id = self.pick(*entry, |_, e| e.owner != by);
                if self.model.entries.get(&id).is_some_and(|e| e.owner == by) {
                    return Ok(());
                }
                let got = self.registry.expect(id, by);
                self.note(format!("a call of {by:?} will render {id}: {got}"));
                same(&got, &false, "whether the call can expect the outcome")
            }
            Op::Unexpect(entry) => {
                let id = self.pick(*entry, |_, e| e.expected > 0);
                self.unexpect(id);
                Ok(())
            }
            Op::WaitOver(entry) => {
                let id = self.pick(*entry, |_, e| e.wait.is_some());
                self.registry.remove_wait(id);
                self.model.entries.get_mut(&id).into_iter().for_each(|e| e.wait = None);
                self.note(format!("the wait of {id} is over"));
                Ok(())
            }
            other => Err(format!("{other:?} is no wait")),
        }
    }

    fn unexpect(&mut self, id: EntryId) {
        let Some(entry) = self.model.entries.get_mut(&id).filter(|e| e.expected > 0) else { return };
        entry.expected -= 1;
        let by = entry.owner;
        self.registry.unexpect(id, by);
        self.model.may_touch(id);
        self.note(format!("the call of {by:?} no longer renders {id}"));
    }

    // Stopping.

    pub(super) fn apply_to_stops(&mut self, op: &Op) -> Verdict {
        match op {
            Op::Cancel(entry, by) => {
                let has_live_child = |id| self.model.entries.values().any(|e| e.parent == Some(id) && e.is_live());
                let id = self.pick(*entry, |id, e| e.is_live() || has_live_child(id));
                let owner = self.model.entries.get(&id).map_or(Owner::Local, |e| e.owner);
                let by = match by {
                    By::Owner => CancelBy::Owner(owner),
                    By::Other(who) => CancelBy::Owner(self.owner(*who)),
                    By::Task => CancelBy::Task,
                    By::Request => CancelBy::Request,
                    By::Parent => CancelBy::Parent,
                };
                let got = self.registry.request_cancel(id, by, self.now);
                self.note(format!("{by:?} cancels {id}: {got:?}"));
                self.model.cancelled(id, by, &got, self.now)
            }
            Op::Release { who, cancel, speaking } => {
                let owner = self.owner(*who);
                if !self.model.is_alive(owner) {
                    return Ok(());
                }
                let own = self.model.ids(|_, e| e.owner == owner && e.is_running());
                let speaking = speaking.filter(|_| !own.is_empty()).map(|n| own[usize::from(n) % own.len()]);
                let got = self.registry.release(owner, speaking, *cancel, self.now);
                self.note(format!("{owner:?}: release({cancel}) spoken by {speaking:?}: {got:?}"));
                self.model.released(owner, speaking, *cancel, &got, self.now)
            }
            Op::ShutDown => {
                let got = self.registry.shut_down(self.now);
                self.note(format!("shut down: {got:?}"));
                self.model.shut_down(&got, self.now)
            }
            other => Err(format!("{other:?} stops nothing")),
        }
    }

    // Answers.

    pub(super) fn apply_to_answers(&mut self, op: &Op) -> Verdict {
        match op {
            Op::Claim { to, outcomes, news } => {
                let to = self.owner(*to);
                let outcomes: Vec<_> =
                    outcomes.iter().map(|pick| self.pick(*pick, |_, e| e.owner == to && e.is_settled())).collect();
                self.claim(to, &outcomes, *news).map(|_| ())
            }
            Op::Deliver(entry) => {
                let id = self.pick(*entry, |_, e| e.is_unread());
                let to = self.model.entries.get(&id).map_or(Owner::Local, |e| e.owner);
                let claim = self.claim(to, &[id], false)?;
                self.written(claim)
            }
            Op::Follow(entry) => {
                let id = self.pick(*entry, |_, e| e.owner != Owner::Local && e.is_live());
                if self.model.entries.get(&id).is_some_and(|e| e.owner == Owner::Local) {
                    return Ok(());
                }
                let claim = self.registry.claim_follow(id);
                self.note(format!("a task answer for {id} is on its way: {claim:?}"));
                self.open.push(Answer { claim, news: Vec::new(), evictions: Vec::new() });
                self.model.claimed_follow(id, claim)
            }
            Op::Written(n) | Op::Dropped(n) => {
                if self.open.is_empty() {
                    return Ok(());
                }
                let claim = self.open[usize::from(*n) % self.open.len()].claim;
                if matches!(op, Op::Written(_)) { self.written(claim) } else { self.dropped(claim) }
            }
            Op::EndAgain { claim, written } => {
                let closed = &self.model.closed;
                if closed.is_empty() {
                    return Ok(());
                }
                let claim = closed[usize::from(*claim) % closed.len()];
                if *written {
                    self.registry.written(claim, self.now);
                } else {
                    self.registry.dropped(claim);
                }
                self.note(format!("{claim:?} ends again"));
                Ok(())
            }
            other => Err(format!("{other:?} is no answer")),
        }
    }

    pub(super) fn claim(&mut self, to: Owner, outcomes: &[EntryId], news: bool) -> Verdict<ClaimId> {
        let got = self.registry.claim(to, outcomes, news, self.now);
        let with = if news { "news and " } else { "" };
        self.note(format!("an answer to {to:?} with {with}{outcomes:?}: {got:?}"));
        for (id, _) in &got.settled {
            let entry = self.model.entries.get(id).filter(|e| e.owner == to);
            rule!(entry.is_some_and(Entry::is_settled), "{to:?} is told that {id} settled");
            rule!(!self.told.contains(id), "{to:?} is told of {id} a second time");
            rule!(!self.open.iter().any(|answer| answer.news.contains(id)), "two answers carry the news of {id}");
        }
        for id in &got.evicted {
            rule!(!self.told_evicted.contains(id), "{to:?} is told that {id} was evicted a second time");
            rule!(
                !self.open.iter().any(|answer| answer.evictions.contains(id)),
                "two answers say that {id} was evicted"
            );
        }
        self.model.claimed_for(to, outcomes, news, &got)?;
        let news = got.settled.iter().map(|(id, _)| *id).collect();
        self.open.push(Answer { claim: got.id, news, evictions: got.evicted });
        Ok(got.id)
    }

    pub(super) fn written(&mut self, claim: ClaimId) -> Verdict {
        self.registry.written(claim, self.now);
        self.note(format!("{claim:?} is written"));
        if let Some(at) = self.open.iter().position(|answer| answer.claim == claim) {
            let answer = self.open.remove(at);
            self.told.extend(answer.news);
            self.told_evicted.extend(answer.evictions);
        }
        self.model.written(claim);
        Ok(())
    }

    fn dropped(&mut self, claim: ClaimId) -> Verdict {
        self.registry.dropped(claim);
        self.note(format!("{claim:?} is dropped"));
        self.open.retain(|answer| answer.claim != claim);
        self.model.dropped(claim);
        Ok(())
    }

    /// The end of a history: answers that hang are lost, calls that are open end, every session asks once more and is told
    /// everything, then nothing.
    pub(super) fn tell_everybody(&mut self) -> Verdict {
        while let Some(claim) = self.open.first().map(|answer| answer.claim) {
            self.model.tick += 1;
            self.dropped(claim)?;
            self.model.compare(&self.registry, self.now)?;
        }
        while let Some(id) = self.model.ids(|_, e| e.expected > 0).first() {
            self.unexpect(*id);
        }
        let owners: Vec<_> = self.model.sessions.keys().map(|id| Owner::Session(*id)).chain([Owner::Local]).collect();
        for owner in owners {
            self.model.tick += 1;
            let claim = self.claim(owner, &[], true)?;
            self.written(claim)?;
            self.model.compare(&self.registry, self.now)?;
            let owed = self.model.ids(|id, e| e.owner == owner && self.model.is_owed(id));
            rule!(owed.is_empty(), "model: {owed:?} are still owed after a full answer");
            self.model.tick += 1;
            let again = self.claim(owner, &[], true)?;
            let empty = self.open.last().is_some_and(|answer| answer.news.is_empty() && answer.evictions.is_empty());
            rule!(empty, "news is told twice: {again:?}");
            self.written(again)?;
        }
        Ok(())
    }

    /// What is left goes with the registry.
    pub(super) fn finish(self) -> Verdict {
        let Self { registry, model, .. } = self;
        drop(registry);
        same(&model.alive(), &(0, 0), "values and logs that outlive the registry")
    }
}
