//! The driver: applies each op to the registry and to the model, and keeps the trace.

use super::model::{Entry, Model, Registry, Verdict, same};
use super::op::{Flag, History, Name, Op, Pick, Who};
use remontoire::EntryId;
use remontoire::internals::{ClaimId, EntryFilter, HeaderKey, Owner, SessionId, SpaceKind, Time};
use std::collections::BTreeSet;
use std::time::Duration;

/// Keys that clients chose. Some make the same scratch, or none; one makes that of a handle.
const KEYS: [&str; 5] = ["alpha-1", "same-same-a", "same-same-b", "!!!", "bbd"];

pub(super) struct Driver {
    pub(super) registry: Registry,
    pub(super) model: Model,
    pub(super) now: Time,
    /// One line a step.
    pub(super) trace: Vec<String>,
    /// All sessions that were ever opened.
    pub(super) known: Vec<SessionId>,
    pub(super) keys: Vec<HeaderKey>,
    pub(super) values: u64,
    /// The news told by answers that were written: counted here once more, apart from the model.
    pub(super) told: BTreeSet<EntryId>,
    pub(super) told_evicted: BTreeSet<EntryId>,
    pub(super) open: Vec<Answer>,
}

/// An answer on its way.
pub(super) struct Answer {
    pub(super) claim: ClaimId,
    pub(super) news: Vec<EntryId>,
    pub(super) evictions: Vec<EntryId>,
}

impl Driver {
    pub(super) fn new(history: &History) -> Verdict<Self> {
        let limits = history.limits.limits();
        let registry = Registry::new(limits.clone());
        let model = Model::new(limits, &registry)?;
        let keys = KEYS.iter().filter_map(|key| key.parse().ok()).collect();
        Ok(Self {
            registry,
            model,
            now: Time::START,
            trace: Vec::new(),
            known: Vec::new(),
            keys,
            values: 0,
            told: BTreeSet::new(),
            told_evicted: BTreeSet::new(),
            open: Vec::new(),
        })
    }

    /// One step, and the comparison after it.
    pub(super) fn step(&mut self, op: &Op) -> Verdict {
        self.model.tick += 1;
        self.apply(op)?;
        self.model.compare(&self.registry, self.now)
    }

    pub(super) fn note(&mut self, line: String) {
        let secs = self.now.since_start().as_secs_f64();
        self.trace.push(format!("{:>4} {secs:>12.3} s  {line}", self.trace.len() + 1));
    }

    pub(super) fn owner(&self, who: Who) -> Owner {
        let one_past = self.known.iter().map(|id| id.0 + 1).max().unwrap_or(1);
        let (n, all): (u8, Vec<SessionId>) = match who {
            Who::Live(n) => (n, self.model.sessions.keys().copied().collect()),
            Who::Any(n) => (n, self.known.iter().copied().chain([SessionId(one_past)]).collect()),
        };
        match usize::from(n) % (all.len() + 1) {
            0 => Owner::Local,
            n => Owner::Session(all[n - 1]),
        }
    }

    /// The session meant, one past the end for the nil caller.
    pub(super) fn session(&self, who: Who) -> SessionId {
        match self.owner(who) {
            Owner::Session(session) => session,
            Owner::Local => SessionId(u64::MAX),
        }
    }

    pub(super) fn pick(&self, pick: Pick, fits: impl Fn(EntryId, &Entry) -> bool) -> EntryId {
        let any = |n: u8| EntryId(u64::from(n) % (self.model.newest + 1) + 1);
        match pick {
            Pick::Any(n) => any(n),
            Pick::Fit(n) => {
                let fitting = self.model.ids(fits);
                if fitting.is_empty() { any(n) } else { fitting[usize::from(n) % fitting.len()] }
            }
        }
    }

    pub(super) fn is_running(&self, id: EntryId) -> bool {
        self.model.entries.get(&id).is_some_and(Entry::is_running)
    }

    fn name(&self, name: Name) -> String {
        match name {
            Name::Lab => "lab".to_owned(),
            Name::Den => "den/two".to_owned(),
            Name::Bad => "two words".to_owned(),
            Name::NilScratch => "scratch".to_owned(),
            Name::NobodysScratch => "s-nobody".to_owned(),
            Name::ScratchOf(who) => match self.owner(who) {
                Owner::Session(id) if self.model.is_alive(Owner::Session(id)) => {
                    self.model.sessions[&id].scratch_name.to_string()
                }
                _ => "scratch".to_owned(),
            },
        }
    }

    #[expect(clippy::too_many_lines, reason = "one arm an op")]
    fn apply(&mut self, op: &Op) -> Verdict {
        match op {
            Op::Wait(jump) => {
                self.now = self.now + jump.duration();
                while self.model.is_edge(self.now) {
                    self.now = self.now + Duration::from_millis(1);
                }
                self.note(format!("{jump:?} pass"));
                Ok(())
            }
            Op::Initialize | Op::Knock(_) | Op::Delete(_) | Op::Create { .. } => self.apply_to_door(op),
            Op::ByHandle(who) => {
                let session = self.session(*who);
                let handle = self.model.sessions.get(&session).and_then(|s| s.handle.clone());
                let asked = handle.map_or_else(|| "zzzz".to_owned(), |handle| handle.to_string());
                let got = self.registry.by_handle(&asked, self.now);
                self.note(format!("a request of {asked}: {got:?}"));
                if asked == "zzzz" {
                    return same(&got.map_err(|no| no.kind()), &Err("UnknownSession"), "a handle that nobody has");
                }
                same(&got, &Ok(session), "the session with this handle")?;
                self.model.heard(session, self.now);
                Ok(())
            }
            Op::Heard(who) => {
                let session = self.session(*who);
                self.registry.heard(session, self.now);
                self.model.heard(session, self.now);
                self.note(format!("{session:?} is heard"));
                Ok(())
            }
            Op::Hold(who) => {
                let session = self.session(*who);
                self.registry.hold(session);
                if let Some(session) = self.model.sessions.get_mut(&session) {
                    session.holds += 1;
                }
                self.note(format!("{session:?} is held"));
                Ok(())
            }
            Op::Unhold(who) => {
                let session = self.session(*who);
                let held = self.model.sessions.get(&session).is_some_and(|s| s.holds > 0);
                if !held && self.model.sessions.contains_key(&session) {
                    return Ok(());
                }
                self.registry.unhold(session, self.now);
                if let Some(held) = self.model.sessions.get_mut(&session) {
                    (held.holds, held.heard) = (held.holds - 1, self.now);
                }
                self.note(format!("{session:?} is no longer held"));
                Ok(())
            }
            Op::Expire => {
                let got = self.registry.expire(self.now);
                self.note(format!("expiry: {got:?}"));
                self.model.expired(&got, None, self.now)
            }
            Op::Prompt(prompt) => {
                self.registry.set_prompt(*prompt);
                self.model.set_prompt(*prompt);
                self.note(format!("the prompt is {}", if *prompt { "on" } else { "off" }));
                Ok(())
            }
            Op::Mark(who, flag) => {
                let owner = self.owner(*who);
                let session = self.session(*who);
                let known = self.model.sessions.get_mut(&session);
                match flag {
                    Flag::Note => {
                        self.registry.introduce(owner, "a note".into());
                        known.into_iter().for_each(|s| s.note = Some("a note".into()));
                    }
                    Flag::Manual => {
                        self.registry.manual_read(owner);
                        known.into_iter().for_each(|s| s.reminders = 0);
                    }
                    Flag::Reminded => {
                        let due = known.as_ref().is_some_and(|s| s.reminders > 0);
                        known.into_iter().for_each(|s| s.reminders = s.reminders.saturating_sub(1));
                        same(&self.registry.remind_of_manual(owner), &due, "whether it is reminded of the manual")?;
                    }
                    Flag::Tools => {
                        self.registry.tools_fetched(session);
                        known.into_iter().for_each(|s| s.tools_stale = false);
                    }
                }
                self.note(format!("{owner:?}: {flag:?}"));
                Ok(())
            }
            Op::Target(who, name) => {
                let owner = self.owner(*who);
                let name = name.map(|name| self.name(name));
                let may_enter = name.as_deref().map(|name| self.registry.may_enter(owner, name));
                let got = self.registry.target_space(owner, name.as_deref());
                self.note(format!("{owner:?} asks for the space {name:?}: {got:?}"));
                if let Some(may_enter) = may_enter {
                    same(&may_enter, &got.as_ref().map(|_| ()).map_err(Clone::clone), "whether the owner may enter")?;
                }
                self.model.targeted(owner, name.as_deref(), &got)
            }
            Op::Move(who, name) => {
                let owner = self.owner(*who);
                let name = self.name(*name);
                if self.model.is_alive(owner) && self.registry.may_enter(owner, &name).is_err() {
                    return Ok(());
                }
                self.registry.move_session(owner, &name);
                self.note(format!("{owner:?} moves to {name}"));
                match owner {
                    Owner::Local => self.model.nil_ns = name.as_str().into(),
                    Owner::Session(id) => {
                        self.model.sessions.get_mut(&id).into_iter().for_each(|s| s.ns = name.as_str().into());
                    }
                }
                Ok(())
            }
            Op::DropSpace(name) => {
                let name = self.name(*name);
                let found = self.registry.find_space(&name).ok();
                same(
                    &found,
                    &self.model.find_space(&name).map(|(id, _): (_, SpaceKind)| id),
                    "the space with this name",
                )?;
                let got = self.registry.drop_shared(&name);
                self.note(format!("drop_space {name}: {got:?}"));
                self.model.space_dropped(&name, &got)
            }
            Op::Admit { who, elsewhere } => self.admit(self.owner(*who), None, *elsewhere).map(|_| ()),
            Op::Child(parent) => {
                let parent = self.pick(*parent, |_, e| e.is_running());
                if !self.is_running(parent) {
                    return Ok(());
                }
                self.admit(self.model.entry(parent).owner, Some(parent), 0).map(|_| ())
            }
            Op::Quick(who, n) => (0..*n).try_for_each(|_| self.quick(self.owner(*who))),
            Op::Settle { entry, status, bytes } => {
                let id = self.pick(*entry, |_, e| e.is_running());
                self.settle(id, *status, *bytes)
            }
            Op::Print(entry, length) => {
                let id = self.pick(*entry, |_, e| e.is_live());
                self.print(id, usize::from(*length))
            }
            Op::Detach(entry) => {
                let id = self.pick(*entry, |_, e| e.parent.is_some() && !e.detached);
                let got = self.registry.detach(id);
                self.note(format!("detach {id}: {got:?}"));
                same(&got, &self.model.missing(id).map_or(Ok(()), Err), "detaching")?;
                self.model.entries.get_mut(&id).into_iter().for_each(|e| e.detached = true);
                self.model.may_touch(id);
                Ok(())
            }
            Op::Forget(who, entry) => {
                let by = self.owner(*who);
                let id = self.pick(*entry, |_, e| e.is_settled() && !e.forgotten);
                let output = self.model.entries.get(&id).map_or(0, Entry::log_bytes);
                let got = self.registry.forget(id, by);
                self.note(format!("{by:?} forgets {id}: {got:?}"));
                self.model.forgot(id, by, output, &got)
            }
            Op::Look(entry) => {
                let id = self.pick(*entry, |_, e| e.is_settled());
                self.registry.look(id);
                self.model.touch(id);
                self.note(format!("somebody looks at {id}"));
                Ok(())
            }
            Op::List(who, status) => {
                let filter = EntryFilter { status: *status, owner: who.map(|who| self.owner(who)) };
                let got = self.registry.entries(filter, self.now);
                self.note(format!("{filter:?}: {:?}", got.iter().map(|row| row.id.0).collect::<Vec<_>>()));
                self.model.listed(filter, &got, &self.registry, self.now)
            }
            Op::Capacity(n) => {
                self.registry.set_capacity((*n).into());
                self.model.capacity = (*n).into();
                self.note(format!("capacity {n}"));
                Ok(())
            }
            Op::MakeRoom { more, elsewhere } => {
                let (remains, fits) = self.registry.make_room_for(*more, *elsewhere);
                let gone: Vec<_> = remains.ids.iter().map(|id| id.0).collect();
                self.note(format!("room for {more} bytes beside {elsewhere}: evicts {gone:?}, fits: {fits}"));
                self.model.room_made(&remains, fits, *more, *elsewhere)
            }
            Op::GiveBack(_)
            | Op::TakeBack { .. }
            | Op::Await(_)
            | Op::Unawait(_)
            | Op::WaitFor(..)
            | Op::WaitOver(_)
            | Op::Expect(_)
            | Op::ExpectForeign(..)
            | Op::Unexpect(_)
            | Op::Read { .. } => self.apply_to_waits(op),
            Op::Cancel(..) | Op::Release { .. } | Op::ShutDown => self.apply_to_stops(op),
            Op::Claim { .. }
            | Op::Deliver(_)
            | Op::Follow(_)
            | Op::Written(_)
            | Op::Dropped(_)
            | Op::EndAgain { .. } => self.apply_to_answers(op),
        }
    }
}
