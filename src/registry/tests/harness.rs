//! A registry with a clock moved by hand, driven by lines such as `A runs 1` and questions such as `1 is ok unread owed`.
//!
//! `A`, `B`, `C`… are header sessions, opened at their first mention; `nil` is the nil caller. Answers have names of their own.

use super::invariants;
use crate::base::{ClientInfo, EntryId, HeaderKey, Limits, Owner, Refusal, SessionId, Status, Time};
use crate::registry::{
    Admission, CancelBy, Claim, ClaimId, EntryFilter, NewEntry, Refused, Registry, Settlement, Wants,
};
use std::collections::BTreeMap;
use std::time::Duration;

pub(super) struct Harness {
    pub(super) state: Registry<&'static str>,
    pub(super) now: Time,
    sessions: BTreeMap<String, SessionId>,
    answers: BTreeMap<String, (ClaimId, Option<Claim>)>,
    /// The bytes held outside of the registry.
    pub(super) elsewhere: usize,
    /// The entries granted a slot by the latest line.
    granted: Vec<EntryId>,
    /// The entries to be stopped, and those taken from the queue, by the latest line.
    stopped: Vec<EntryId>,
    dequeued: Vec<EntryId>,
}

pub(super) fn key(name: &str) -> HeaderKey {
    format!("session-{name}").parse().unwrap()
}

/// Numbers as people write them: `1 2 3`.
fn list(ids: impl IntoIterator<Item = EntryId>) -> String {
    let ids: Vec<_> = ids.into_iter().map(|id| id.to_string()).collect();
    if ids.is_empty() { "nothing".to_owned() } else { ids.join(" ") }
}

fn entry(word: &str) -> EntryId {
    word.parse().unwrap()
}

fn ids(words: &[&str]) -> Vec<EntryId> {
    words.iter().map(|word| entry(word)).collect()
}

impl Harness {
    pub(super) fn new() -> Self {
        Self::with(Limits::default())
    }

    pub(super) fn with(limits: Limits) -> Self {
        Self {
            state: Registry::new(limits),
            now: Time::START,
            sessions: BTreeMap::new(),
            answers: BTreeMap::new(),
            elsewhere: 0,
            granted: Vec::new(),
            stopped: Vec::new(),
            dequeued: Vec::new(),
        }
    }

    /// Runs lines on a fresh registry.
    #[track_caller]
    pub(super) fn play(script: &str) {
        Self::new().run(script);
    }

    pub(super) fn owner(&mut self, name: &str) -> Owner {
        if name == "nil" {
            return Owner::Local;
        }
        if let Some(session) = self.sessions.get(name) {
            return Owner::Session(*session);
        }
        let opened = self.state.initialize(key(name), ClientInfo::default(), None, self.now).unwrap();
        self.sessions.insert(name.to_owned(), opened.session);
        Owner::Session(opened.session)
    }

    pub(super) fn advance(&mut self, by: Duration) {
        self.now = self.now + by;
    }

    /// Admits an entry.
    pub(super) fn admit(&mut self, owner: Owner, parent: Option<EntryId>) -> Result<Admission<&'static str>, Refused> {
        let space = self.state.fresh_space();
        let new = NewEntry { owner, parent, space, ns: "lab".into(), code: "40 + 2".into() };
        self.state.admit(new, self.elsewhere, self.now)
    }

    pub(super) fn settle(&mut self, id: EntryId, status: Status, bytes: usize) {
        let settled = self.state.settle(id, Settlement { status, value: "value", bytes }, self.now);
        assert_eq!(settled.unkept, None, "entry {id} was running");
        self.granted = settled.granted;
    }

    /// The state of an entry, in words.
    fn standing(&self, id: EntryId) -> String {
        let view = match self.state.get(id, self.now) {
            Ok(view) => view,
            Err(Refusal::Evicted(_)) => return "evicted".to_owned(),
            Err(other) => return other.to_string(),
        };
        let mut words = vec![view.status.as_str()];
        if view.status.is_settled() {
            words.push(if view.seen { "seen" } else { "unread" });
            words.push(if view.told { "told" } else { "owed" });
        }
        if view.stopping {
            words.push("stopping");
        }
        if view.followed {
            words.push("followed");
        }
        words.join(" ")
    }

    /// Runs lines; `#` begins a remark.
    #[track_caller]
    pub(super) fn run(&mut self, script: &str) -> &mut Self {
        for line in script.lines() {
            let line = line.split('#').next().unwrap().trim();
            if !line.is_empty() {
                self.line(line);
                invariants::check(&self.state);
            }
        }
        self
    }

    #[track_caller]
    fn line(&mut self, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            // Entries.
            [who, verb @ ("runs" | "queues"), id] => {
                let owner = self.owner(who);
                let admission = self.admit(owner, None).unwrap();
                assert_eq!((admission.id, admission.queued_before.is_some()), (entry(id), *verb == "queues"), "{line}");
            }
            [parent, "starts", id] => {
                let admission = self.admit(Owner::Local, Some(entry(parent))).unwrap();
                assert_eq!(admission.id, entry(id), "{line}");
            }
            [who, "is", "refused", ..] => {
                let owner = self.owner(who);
                let refused = self.admit(owner, None).expect_err(line);
                assert_eq!(refused.refusal.kind(), words[3], "{line}");
            }
            [id, "settles", status] => self.settle(entry(id), Status::from_word(status).unwrap(), 5),
            [id, "settles", status, bytes] => {
                self.settle(entry(id), Status::from_word(status).unwrap(), bytes.parse().unwrap());
            }
            [id, "detached"] => self.state.detach(entry(id)).unwrap(),
            [id, "reads", target] => self.state.read_by_script(entry(id), entry(target)),
            ["look", id] => self.state.look(entry(id)),
            ["list"] => drop(self.state.entries(EntryFilter::default(), self.now)),
            ["list", status] => {
                let filter = EntryFilter { status: Status::from_word(status), owner: None };
                drop(self.state.entries(filter, self.now));
            }
            [id, "awaited"] => self.state.awaited(entry(id)),
            [id, "unawaited"] => self.state.unawait(entry(id), self.now),
            [who, "expects", id] => {
                let owner = self.owner(who);
                self.state.expect(entry(id), owner);
            }
            [who, "expects", id, "no", "more"] => {
                let owner = self.owner(who);
                self.state.unexpect(entry(id), owner);
            }
            [who, "delivered", rest @ ..] => {
                // The whole life of a quick eval: admitted, settled, answered.
                for id in rest {
                    self.run(&format!("{who} runs {id}\n{id} settles ok\nanswer x to {who} : {id}\nx written"));
                }
            }
            // Answers.
            ["answer", name, "to", who] => self.claim(name, who, &[], true),
            ["answer", name, "to", who, ":", rest @ ..] => self.claim(name, who, &ids(rest), true),
            ["block", name, "to", who, ":", rest @ ..] => self.claim(name, who, &ids(rest), false),
            ["task", name, "of", id] => {
                let claim = self.state.claim_follow(entry(id));
                self.answers.insert((*name).to_owned(), (claim, None));
            }
            [name, "written"] => {
                let (claim, _) = self.answers.get(*name).expect(line);
                self.state.written(*claim, self.now);
            }
            [name, "dropped"] => {
                let (claim, _) = self.answers.get(*name).expect(line);
                self.state.dropped(*claim);
            }
            [name, "tells", rest @ ..] => {
                let (_, claim) = self.answers.get(*name).expect(line);
                let settled = claim.as_ref().unwrap().settled.iter().map(|(id, status)| format!("{id} {status}"));
                let told = settled.collect::<Vec<_>>().join(" ");
                assert_eq!(if told.is_empty() { "nothing" } else { &told }, rest.join(" "), "{line}");
            }
            [name, "evicts", rest @ ..] => {
                let (_, claim) = self.answers.get(*name).expect(line);
                assert_eq!(list(claim.as_ref().unwrap().evicted.clone()), rest.join(" "), "{line}");
            }
            // Cancelling.
            [who, "cancels", id] => {
                let by = match *who {
                    "request" => CancelBy::Request,
                    "parent" => CancelBy::Parent,
                    "shutdown" => CancelBy::Shutdown,
                    who => CancelBy::Owner(self.owner(who)),
                };
                let asked = self.state.request_cancel(entry(id), by, self.now).unwrap();
                (self.stopped, self.dequeued) = (asked.stop, asked.dequeued);
            }
            [who, "releases", rest @ ..] => {
                let (all, speaking) = match rest {
                    ["all", "from", id] => (true, Some(entry(id))),
                    ["all"] => (true, None),
                    ["from", id] => (false, Some(entry(id))),
                    _ => (false, None),
                };
                let owner = self.owner(who);
                let released = self.state.release(owner, speaking, all, self.now);
                (self.stopped, self.dequeued) = (released.stop, released.dequeued);
            }
            ["stops", rest @ ..] => assert_eq!(list(self.stopped.clone()), rest.join(" "), "{line}"),
            ["dequeues", rest @ ..] => assert_eq!(list(self.dequeued.clone()), rest.join(" "), "{line}"),
            // Slots.
            [id, "gives", "back"] => self.granted = self.state.give_back(entry(id), self.now),
            [id, "takes", "back"] => assert!(self.state.take_back(entry(id), false), "{line}"),
            [id, "takes", "back", "in", "line"] => assert!(!self.state.take_back(entry(id), false), "{line}"),
            [id, "takes", "back", "by", "force"] => assert!(self.state.take_back(entry(id), true), "{line}"),
            ["grants", rest @ ..] => assert_eq!(list(self.granted.clone()), rest.join(" "), "{line}"),
            // Waits.
            [id, verb @ ("waits-for" | "waits-for-any"), rest @ ..] => {
                let wants = if *verb == "waits-for" { Wants::All } else { Wants::Any };
                if let Err(refusal) = self.state.add_wait(entry(id), &ids(rest), wants) {
                    panic!("{line}: {refusal}");
                }
            }
            [id, verb @ ("cannot-wait-for" | "cannot-wait-for-any"), rest @ ..] => {
                let wants = if *verb == "cannot-wait-for" { Wants::All } else { Wants::Any };
                let at = rest.iter().position(|word| *word == "in").expect("… in 1 → 2 → 1");
                let refusal = self.state.add_wait(entry(id), &ids(&rest[..at]), wants).expect_err(line);
                assert_eq!(refusal.to_string(), format!("deadlock: {}", rest[at + 1..].join(" ")), "{line}");
            }
            [id, "waits-no-more"] => self.state.remove_wait(entry(id)),
            // Sessions and the rest.
            [who, "opens"] => drop(self.owner(who)),
            [who, "ends"] => {
                let ended = self.state.end_by_key(&key(who), self.now).unwrap();
                self.dequeued = ended.expect(line).dequeued;
            }
            [who, "heard"] => {
                let Owner::Session(session) = self.owner(who) else { panic!("{line}") };
                self.state.heard(session, self.now);
            }
            [who, "alive"] => {
                let owner = self.owner(who);
                assert!(self.state.is_alive(owner), "{line}");
            }
            [who, "gone"] => {
                let owner = self.owner(who);
                assert!(!self.state.is_alive(owner), "{line}");
            }
            ["prompt", on] => self.state.set_prompt(*on == "on"),
            ["capacity", n] => self.state.set_capacity(n.parse().unwrap()),
            [n, "hours", "pass"] => self.advance(Duration::from_secs(3600) * n.parse().unwrap()),
            [n, "seconds", "pass"] => self.advance(Duration::from_secs(n.parse().unwrap())),
            [id, "is", rest @ ..] => assert_eq!(self.standing(entry(id)), rest.join(" "), "{line}"),
            _ => panic!("what does this mean: {line}"),
        }
    }

    fn claim(&mut self, name: &str, who: &str, outcomes: &[EntryId], news: bool) {
        let owner = self.owner(who);
        let claim = self.state.claim(owner, outcomes, news, self.now);
        self.answers.insert(name.to_owned(), (claim.id, Some(claim)));
    }
}
