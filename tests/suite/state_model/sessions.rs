//! The model of sessions: who is there, when they end, what ends with them; and of the names of spaces.

use super::model::{Entry, Model, Phase, Session, Sure, Verdict, rule, same};
use remontoire::internals::{
    Adoption, ClientInfo, Created, EndedSession, FOLLOWED_FOR, HeaderKey, Opened, Owner, SessionId, SpaceId, SpaceKind,
    TargetSpace, Time,
};
use remontoire::{EntryId, Refusal, Status};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A session that was opened, as the driver knows it.
pub(super) struct Newcomer {
    pub(super) client: ClientInfo,
    pub(super) peer: Option<Arc<str>>,
    pub(super) note: Option<Arc<str>>,
    /// Its scratch, where the registry puts it first.
    pub(super) scratch: (Arc<str>, SpaceId),
}

impl Session {
    /// A session that has just begun, without a key and a handle.
    fn of(newcomer: Newcomer, label: Arc<str>, now: Time) -> Self {
        let Newcomer { client, peer, note, scratch: (scratch_name, scratch) } = newcomer;
        Self {
            key: None,
            handle: None,
            label,
            client,
            peer,
            note,
            scratch,
            ns: Arc::clone(&scratch_name),
            scratch_name,
            heard: now,
            holds: 0,
            reminders: 3,
            tools_stale: false,
            notice: None,
            evictions: BTreeMap::new(),
        }
    }
}

impl Model {
    pub(super) fn session_of(&self, key: &HeaderKey) -> Option<SessionId> {
        self.sessions.iter().find(|(_, s)| s.key.as_ref() == Some(key)).map(|(id, _)| *id)
    }

    fn live_entries_of(&self, session: SessionId) -> Vec<EntryId> {
        self.ids(|_, e| e.owner == Owner::Session(session) && e.is_live())
    }

    /// An open stream, or a running entry that somebody awaits.
    fn is_held(&self, id: SessionId) -> bool {
        self.sessions[&id].holds > 0
            || self.entries.values().any(|e| e.owner == Owner::Session(id) && e.is_running() && e.awaited > 0)
    }

    /// Nothing of it is at work and no answer to it is being written.
    fn is_idle(&self, id: SessionId) -> bool {
        !self.is_held(id)
            && self.live_entries_of(id).is_empty()
            && !self.open.values().any(|claim| claim.to == Some(Owner::Session(id)))
    }

    /// A session was opened. `adopted`: under an id that this process did not mint.
    pub(super) fn opened(
        &mut self,
        key: Option<HeaderKey>,
        adopted: bool,
        got: Result<&Opened, &Refusal>,
        newcomer: Option<Newcomer>,
        now: Time,
    ) -> Verdict {
        let full = self.sessions.len() >= self.limits.sessions;
        let opened = match got {
            Ok(opened) => opened,
            Err(refusal) => return self.no_room(full, refusal),
        };
        same(&opened.adopted, &adopted, "only an unknown id is adopted")?;
        self.room(full, opened.ended.as_ref(), now)?;
        let newcomer = newcomer.ok_or("a new session is somewhere")?;
        let (scratch_name, scratch) = newcomer.scratch.clone();
        let seen = key.as_ref().is_some_and(|key| !self.keys.insert(key.clone()));
        let notice = adopted.then_some(if seen { Adoption::Expired } else { Adoption::Unknown });
        let label: Arc<str> = key.as_ref().ok_or("a header session has a key")?.short().into();
        let legal: String = label_letters(key.as_ref());
        let usual = format!("s-{legal}");
        rule!(
            *scratch_name == *usual && !legal.is_empty()
                || is_hashed(&scratch_name) && (legal.is_empty() || self.is_taken(&usual)),
            "a header session's scratch is `{usual}`, or `s-` and a hash when that cannot be; got `{scratch_name}`"
        );
        self.insert(opened.session, scratch, &scratch_name)?;
        self.sessions
            .insert(opened.session, Session { key, tools_stale: adopted, notice, ..Session::of(newcomer, label, now) });
        Ok(())
    }

    pub(super) fn created(
        &mut self,
        got: Result<&Created, &Refusal>,
        newcomer: Option<Newcomer>,
        now: Time,
    ) -> Verdict {
        let full = self.sessions.len() >= self.limits.sessions;
        let created = match got {
            Ok(created) => created,
            Err(refusal) => return self.no_room(full, refusal),
        };
        self.room(full, created.ended.as_ref(), now)?;
        rule!(self.handles.insert(created.handle.clone()), "handle {} was given out before", created.handle);
        let newcomer = newcomer.ok_or("a new session is somewhere")?;
        let (scratch_name, scratch) = newcomer.scratch.clone();
        same(&scratch_name.to_string(), &format!("s-{}", created.handle), "the scratch is named after the handle")?;
        self.insert(created.session, scratch, &scratch_name)?;
        self.sessions.insert(
            created.session,
            Session {
                handle: Some(created.handle.clone()),
                ..Session::of(newcomer, created.handle.as_str().into(), now)
            },
        );
        Ok(())
    }

    fn insert(&mut self, session: SessionId, scratch: SpaceId, name: &str) -> Verdict {
        rule!(
            !self.sessions.contains_key(&session) && !self.ended.contains(&session),
            "session id {session:?} was used before"
        );
        rule!(self.space_ids.insert(scratch), "space id {scratch:?} was used before");
        rule!(!self.is_taken(name), "two spaces are called `{name}`");
        Ok(())
    }

    fn is_taken(&self, name: &str) -> bool {
        name == "scratch"
            || self.shared.contains_key(name)
            || self.sessions.values().any(|other| *other.scratch_name == *name)
    }

    fn no_room(&self, full: bool, refusal: &Refusal) -> Verdict {
        same(
            refusal,
            &Refusal::TooManySessions { limit: self.limits.sessions },
            "a session is refused for want of room",
        )?;
        rule!(full, "a session was refused though there is room");
        match self.sessions.keys().find(|id| self.is_idle(**id)) {
            Some(idle) => Err(format!("a session was refused though {idle:?} is idle and can make room")),
            None => Ok(()),
        }
    }

    /// Certainty that it has something to read: for sure, or perhaps (at the moment of a lapse, and while a task answer is written).
    fn has_to_read(&self, id: SessionId, now: Time) -> Option<Sure> {
        let of_entry = |e: &Entry| match e.phase {
            Phase::Settled(_, at) if e.is_unread() || e.followed && now < at + FOLLOWED_FOR => Some(Sure::Yes),
            Phase::Settled(_, at) if e.followed && now == at + FOLLOWED_FOR || e.following > 0 => Some(Sure::Maybe),
            _ => None,
        };
        self.entries.values().filter(|e| e.owner == Owner::Session(id)).filter_map(of_entry).max()
    }

    /// At the limit the longest silent idle session ends, one that has something to read last; below it nobody does.
    fn room(&mut self, full: bool, ended: Option<&EndedSession>, now: Time) -> Verdict {
        let Some(ended) = ended else {
            rule!(!full, "a session was opened beyond the limit of {}", self.limits.sessions);
            return Ok(());
        };
        rule!(full, "{:?} was ended though there is room", ended.session);
        let Some(victim) = self.sessions.get(&ended.session) else {
            return Err(format!("{:?} was ended and is not alive", ended.session));
        };
        rule!(!self.is_held(ended.session), "{:?} was ended and has an open stream or an awaited entry", ended.session);
        let to_read = self.has_to_read(ended.session, now);
        for (id, other) in self.sessions.iter().filter(|(id, _)| self.is_idle(**id)) {
            let (others, victims) = (self.has_to_read(*id, now), to_read);
            rule!(
                !(others.is_none() && victims == Some(Sure::Yes)),
                "{:?} was ended to make room and has something to read, but {id:?} is idle and has nothing",
                ended.session
            );
            rule!(
                !(other.heard < victim.heard && (others.is_none() || victims == Some(Sure::Yes))),
                "{:?} was ended to make room, but {id:?} is idle and silent for longer",
                ended.session
            );
        }
        self.ended(ended, now)
    }

    /// A header session was looked for.
    pub(super) fn knocked(
        &mut self,
        key: &HeaderKey,
        peer: &Arc<str>,
        got: &Result<Opened, Refusal>,
        newcomer: Option<Newcomer>,
        now: Time,
    ) -> Verdict {
        if self.tombstones.contains(key) {
            return same(got, &Err(Refusal::SessionEnded), "an id ended by its client stays ended");
        }
        let Some(session) = self.session_of(key) else {
            return self.opened(Some(key.clone()), true, got.as_ref(), newcomer, now);
        };
        same(got, &Ok(Opened { session, adopted: false, ended: None }), "a live id is found")?;
        self.heard(session, now);
        // The roster shows where the caller is now.
        self.sessions.get_mut(&session).into_iter().for_each(|s| s.peer = Some(Arc::clone(peer)));
        Ok(())
    }

    pub(super) fn heard(&mut self, session: SessionId, now: Time) {
        if let Some(session) = self.sessions.get_mut(&session) {
            session.heard = now;
        }
    }

    pub(super) fn deleted(
        &mut self,
        key: &HeaderKey,
        got: &Result<Option<EndedSession>, Refusal>,
        now: Time,
    ) -> Verdict {
        if !self.tombstones.insert(key.clone()) {
            return same(got, &Err(Refusal::SessionEnded), "a second end by the same id");
        }
        match (self.session_of(key), got) {
            (None, Ok(None)) => Ok(()),
            (Some(session), Ok(Some(ended))) if ended.session == session => self.ended(ended, now),
            (live, _) => Err(format!("the end of {live:?} by its key answered {got:?}")),
        }
    }

    /// Sessions ended of silence. `speaker` may be spared: its request is a sign of life.
    pub(super) fn expired(&mut self, got: &[EndedSession], speaker: Option<Owner>, now: Time) -> Verdict {
        let silent = |s: &Session| now.since(s.heard) > self.limits.silence;
        let gone: BTreeSet<_> = got.iter().map(|ended| ended.session).collect();
        same(&gone.len(), &got.len(), "a session ends once")?;
        for (id, session) in &self.sessions {
            let awaited = self.entries.values().any(|e| e.owner == Owner::Session(*id) && e.awaited > 0);
            if gone.contains(id) {
                rule!(silent(session), "{id:?} expired though it was heard {:?} ago", now.since(session.heard));
                rule!(!self.is_held(*id), "{id:?} expired though a stream is open or a running entry of it is awaited");
            } else if silent(session) && !self.is_held(*id) && !awaited && speaker != Some(Owner::Session(*id)) {
                return Err(format!("{id:?} did not expire, silent for {:?}", now.since(session.heard)));
            }
        }
        got.iter().try_for_each(|ended| self.ended(ended, now))
    }

    /// A session is over: nothing of it is owed, its queued entries are cancelled, its scratch is retired.
    pub(super) fn ended(&mut self, got: &EndedSession, now: Time) -> Verdict {
        let Some(session) = self.sessions.remove(&got.session) else {
            return Err(format!("{:?} ended and was not alive", got.session));
        };
        self.ended.insert(got.session);
        let owner = Owner::Session(got.session);
        let queued = self.ids(|_, e| e.owner == owner && e.phase == Phase::Queued);
        let want = EndedSession {
            session: got.session,
            label: session.label,
            scratch: session.scratch,
            scratch_name: session.scratch_name,
            dequeued: queued.clone(),
        };
        same(&sorted(got), &want, "what ends with a session")?;
        for id in queued {
            self.end(id, Status::Cancelled, now);
        }
        for id in self.ids(|_, e| e.owner == owner) {
            if self.entry(id).is_settled() {
                self.mark(id);
                self.may_touch(id);
            }
        }
        Ok(())
    }

    pub(super) fn set_prompt(&mut self, prompt: bool) {
        self.prompt = prompt;
        if !prompt {
            for id in self.ids(|_, e| e.owner == Owner::Local && e.is_settled()) {
                self.mark(id);
                self.may_touch(id);
            }
            self.nil_evictions.values_mut().for_each(|sure| *sure = Sure::Maybe);
        }
    }

    pub(super) fn current(&self, owner: Owner) -> Result<Arc<str>, Refusal> {
        match owner {
            Owner::Local => Ok(Arc::clone(&self.nil_ns)),
            Owner::Session(session) => {
                self.sessions.get(&session).map(|s| Arc::clone(&s.ns)).ok_or(Refusal::SessionEnded)
            }
        }
    }

    /// The scratches: name, id, owner.
    pub(super) fn scratches(&self) -> Vec<(Arc<str>, SpaceId, Owner)> {
        let own = self.sessions.iter().map(|(id, s)| (Arc::clone(&s.scratch_name), s.scratch, Owner::Session(*id)));
        own.chain([("scratch".into(), self.nil_scratch, Owner::Local)]).collect()
    }

    pub(super) fn find_space(&self, name: &str) -> Option<(SpaceId, SpaceKind)> {
        let scratch = self.scratches().into_iter().find(|(known, ..)| **known == *name);
        scratch
            .map(|(_, id, owner)| (id, SpaceKind::Scratch(owner)))
            .or_else(|| self.shared.get(name).map(|id| (*id, SpaceKind::Shared)))
    }

    /// An eval asked for the space it takes place in.
    pub(super) fn targeted(&mut self, owner: Owner, name: Option<&str>, got: &Result<TargetSpace, Refusal>) -> Verdict {
        let Ok(current) = self.current(owner) else {
            rule!(got.is_err(), "an ended session was given a space: {got:?}");
            return if name.is_none() { same(got, &Err(Refusal::SessionEnded), "an ended session") } else { Ok(()) };
        };
        let name: &str = name.unwrap_or(&current);
        let refuse = |refusal| same(got, &Err(refusal), "the name of a space");
        if name.split('/').any(|part| part.is_empty() || !part.bytes().all(is_letter_of_names)) || name.len() > 80 {
            return refuse(Refusal::BadName { name: name.to_owned() });
        }
        let known = match self.find_space(name) {
            Some((_, SpaceKind::Scratch(other))) if other != owner => {
                return refuse(Refusal::ForeignScratch { name: name.to_owned() });
            }
            None if name.starts_with("s-") => return refuse(Refusal::NoSuchSpace { name: name.to_owned() }),
            known => known,
        };
        if let Some((space, _)) = known {
            return same(got, &Ok(TargetSpace { space, name: name.into(), created: false }), "a known space");
        }
        let (limit, shared) = (self.limits.spaces, self.shared.len());
        match got {
            // Whether scratches count fully is open, as there may be more sessions than spaces.
            Err(Refusal::TooManySpaces { limit: told }) => {
                rule!(
                    *told == limit && shared + self.scratches().len() >= limit,
                    "refused with room for another space"
                );
            }
            Ok(target) => {
                rule!(shared < limit, "a space was made beyond the limit of {limit}");
                rule!(target.created && *target.name == *name, "a new name makes a space of that name: {target:?}");
                rule!(self.space_ids.insert(target.space), "space id {:?} was used before", target.space);
                self.shared.insert(name.to_owned(), target.space);
            }
            Err(other) => return Err(format!("`{name}` was refused: {other}")),
        }
        Ok(())
    }

    pub(super) fn space_dropped(&mut self, name: &str, got: &Result<SpaceId, Refusal>) -> Verdict {
        let want = match self.find_space(name) {
            Some((id, SpaceKind::Shared)) => Ok(id),
            Some((_, SpaceKind::Scratch(_))) => Err(Refusal::ScratchStays { name: name.to_owned() }),
            None => Err(Refusal::NoSuchSpace { name: name.to_owned() }),
        };
        same(got, &want, "dropping a space")?;
        self.shared.remove(name);
        Ok(())
    }
}

fn sorted(ended: &EndedSession) -> EndedSession {
    let mut ended = ended.clone();
    ended.dequeued.sort();
    ended
}

fn is_letter_of_names(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'
}

/// The first eight letters and digits of a header key.
fn label_letters(key: Option<&HeaderKey>) -> String {
    key.map_or("", HeaderKey::as_str).chars().filter(char::is_ascii_alphanumeric).take(8).collect()
}

fn is_hashed(name: &str) -> bool {
    name.strip_prefix("s-").is_some_and(|hash| hash.len() == 8 && hash.bytes().all(|b| b.is_ascii_hexdigit()))
}
