//! The reference model: what the contract says a registry holds, in the plainest form.
//!
//! A method of the model is told what the registry answered. It says which rule the answer breaks, or takes the answer over and
//! moves on. Where the contract leaves a choice (which of two entries of the same age goes, say), any answer within it is taken.

use remontoire::internals::{
    Adoption, ClaimId, ClientInfo, FOLLOWED_FOR, Handle, HeaderKey, OutputLog, Owner, SessionId, SpaceId, Time, Wants,
};
use remontoire::{EntryId, Limits, Refusal, Status};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Debug, Display};
use std::sync::{Arc, Weak};

/// The registry under test.
pub(super) type Registry = remontoire::internals::Registry<Arc<u64>>;

/// `Err`: the rule that was broken, and how.
pub(super) type Verdict<T = ()> = Result<T, String>;

/// Breaks off with a sentence unless a rule holds.
macro_rules! rule {
    ($holds:expr, $($sentence:tt)+) => {
        if !$holds {
            return Err(format!($($sentence)+));
        }
    };
}
pub(super) use rule;

/// Breaks off unless the registry answered what the rule demands.
pub(super) fn same<T: PartialEq + Debug>(got: &T, want: &T, rule: impl Display) -> Verdict {
    if got == want {
        return Ok(());
    }
    // Of two long values of one shape only the lines that differ are shown.
    let (long_got, long_want) = (format!("{got:#?}"), format!("{want:#?}"));
    if long_got.lines().count() > 6 && long_got.lines().count() == long_want.lines().count() {
        let lines = long_want.lines().zip(long_got.lines()).filter(|(want, got)| want != got);
        let shown: Vec<_> = lines.map(|(want, got)| format!("expected {}, got {}", want.trim(), got.trim())).collect();
        return Err(format!("{rule}: {}", shown.join("; ")));
    }
    Err(format!("{rule}: expected {want:?}, got {got:?}"))
}

/// Certainty: the contract demands something, or leaves it open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sure {
    Maybe,
    Yes,
}

/// The time an entry was last touched: not before the first tick, not after the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Touch {
    pub(super) first: u64,
    pub(super) last: u64,
}

impl Touch {
    pub(super) fn is_before(self, other: Self) -> bool {
        self.last < other.first
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    Held,
    /// Given back: the entry waits.
    Lent,
    /// Asked for again.
    InLine,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Queued,
    Running(Slot),
    Settled(Status, Time),
}

/// The news value of the end of an entry that was asked to stop, to its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The owner knows: its own doing, or a child's parent ended.
    Known,
    /// News.
    News,
    /// Somebody else asked first, then the owner did: the contract does not say.
    Open,
}

/// A value that is kept. The model holds it weakly: whether it lives is up to the registry alone.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) value: Weak<u64>,
    pub(super) bytes: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) owner: Owner,
    pub(super) by: Option<Arc<str>>,
    pub(super) parent: Option<EntryId>,
    pub(super) code: Arc<str>,
    pub(super) created: Time,
    pub(super) started: Option<Time>,
    pub(super) phase: Phase,
    pub(super) stop: Option<Stop>,
    pub(super) seen: bool,
    pub(super) told: bool,
    pub(super) followed: bool,
    /// Task answers for it are on their way.
    pub(super) following: usize,
    pub(super) detached: bool,
    pub(super) forgotten: bool,
    pub(super) value: Option<Kept>,
    pub(super) log: Weak<OutputLog>,
    pub(super) printed: Vec<String>,
    /// Somebody waits for it, so many times.
    pub(super) awaited: usize,
    /// Calls of its owner are open that will render it.
    pub(super) expected: usize,
    pub(super) wait: Option<(BTreeSet<EntryId>, Wants)>,
    /// The entries its script read: marked when an answer with its own outcome is written.
    pub(super) reads: BTreeMap<EntryId, Sure>,
    /// An answer that carried a reading of it was written while it ran: marked when it settles.
    pub(super) read_ahead: Option<Sure>,
    pub(super) touch: Touch,
}

impl Entry {
    pub(super) fn status(&self) -> Status {
        match self.phase {
            Phase::Queued => Status::Queued,
            Phase::Running(_) => Status::Running,
            Phase::Settled(status, _) => status,
        }
    }

    pub(super) fn is_live(&self) -> bool {
        !self.is_settled()
    }

    pub(super) fn is_settled(&self) -> bool {
        matches!(self.phase, Phase::Settled(..))
    }

    pub(super) fn is_running(&self) -> bool {
        matches!(self.phase, Phase::Running(_))
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.stop.is_some() && self.is_live()
    }

    pub(super) fn is_unread(&self) -> bool {
        self.is_settled() && !self.seen
    }

    /// True when it has the mark, or is about to.
    pub(super) fn is_followed(&self) -> bool {
        self.followed || self.following > 0
    }

    /// True when the mark is to lapse: an hour after the end.
    pub(super) fn is_lapsing(&self, now: Time) -> bool {
        self.followed && matches!(self.phase, Phase::Settled(_, at) if now > at + FOLLOWED_FOR)
    }

    pub(super) fn is_in_pool(&self) -> bool {
        self.is_settled() && self.seen && !self.is_followed()
    }

    pub(super) fn log_bytes(&self) -> usize {
        self.log.upgrade().map_or(0, |log| log.kept_bytes())
    }

    /// Value and output.
    pub(super) fn bytes(&self) -> usize {
        self.value.as_ref().map_or(0, |kept| kept.bytes) + self.log_bytes()
    }
}

#[derive(Clone, Debug)]
pub(super) struct Session {
    pub(super) key: Option<HeaderKey>,
    pub(super) handle: Option<Handle>,
    pub(super) label: Arc<str>,
    pub(super) client: ClientInfo,
    pub(super) peer: Option<Arc<str>>,
    pub(super) note: Option<Arc<str>>,
    pub(super) scratch: SpaceId,
    pub(super) scratch_name: Arc<str>,
    /// The name of where it is.
    pub(super) ns: Arc<str>,
    pub(super) heard: Time,
    pub(super) holds: usize,
    pub(super) reminders: u8,
    pub(super) tools_stale: bool,
    /// It is to be told that it is new under an old id.
    pub(super) notice: Option<Adoption>,
    /// Evictions it is to be told of.
    pub(super) evictions: BTreeMap<EntryId, Sure>,
}

/// The claim of an answer that is being written.
#[derive(Clone, Debug, Default)]
pub(super) struct Claim {
    pub(super) to: Option<Owner>,
    /// The time it was made.
    pub(super) tick: u64,
    /// Own settled entries it renders, and what their scripts had read by then.
    pub(super) outcomes: BTreeMap<EntryId, BTreeMap<EntryId, Sure>>,
    /// Entries of others it renders.
    pub(super) foreign: BTreeSet<EntryId>,
    /// Settled entries that were read by the entries it renders, and ride along.
    pub(super) riders: BTreeMap<EntryId, Sure>,
    pub(super) news: BTreeSet<EntryId>,
    pub(super) evictions: BTreeSet<EntryId>,
    pub(super) notice: bool,
    pub(super) follow: Option<EntryId>,
}

pub(super) struct Model {
    pub(super) limits: Limits,
    pub(super) capacity: usize,
    pub(super) prompt: bool,
    pub(super) closing: bool,
    pub(super) newest: u64,
    pub(super) entries: BTreeMap<EntryId, Entry>,
    pub(super) evicted: BTreeSet<EntryId>,
    /// The parent of each entry that ever had one.
    pub(super) parents: BTreeMap<EntryId, EntryId>,
    /// Every value and log there ever was, held weakly.
    pub(super) all_values: Vec<Weak<u64>>,
    pub(super) all_logs: Vec<Weak<OutputLog>>,
    /// Entries that wait for their first slot.
    pub(super) queue: Vec<EntryId>,
    /// Entries that waited and want to go on.
    pub(super) line: Vec<EntryId>,
    pub(super) sessions: BTreeMap<SessionId, Session>,
    pub(super) ended: BTreeSet<SessionId>,
    /// Every header id there ever was a session under.
    pub(super) keys: BTreeSet<HeaderKey>,
    pub(super) tombstones: BTreeSet<HeaderKey>,
    pub(super) handles: BTreeSet<Handle>,
    pub(super) shared: BTreeMap<String, SpaceId>,
    pub(super) space_ids: BTreeSet<SpaceId>,
    pub(super) nil_scratch: SpaceId,
    pub(super) nil_ns: Arc<str>,
    pub(super) nil_evictions: BTreeMap<EntryId, Sure>,
    pub(super) open: BTreeMap<ClaimId, Claim>,
    pub(super) closed: Vec<ClaimId>,
    /// Counts ops: the age of touches.
    pub(super) tick: u64,
    /// Entries of which the contract leaves open whether the last op marked them.
    pub(super) open_marks: BTreeSet<EntryId>,
    /// Sessions of which the contract leaves open whether the last op was a sign of life.
    pub(super) open_heard: BTreeSet<SessionId>,
}

impl Model {
    pub(super) fn new(limits: Limits, registry: &Registry) -> Verdict<Self> {
        let nil_scratch = registry.find_space("scratch").map_err(|no| format!("the nil caller has a scratch: {no}"))?;
        Ok(Self {
            capacity: limits.capacity,
            limits,
            prompt: false,
            closing: false,
            newest: 0,
            entries: BTreeMap::new(),
            evicted: BTreeSet::new(),
            parents: BTreeMap::new(),
            all_values: Vec::new(),
            all_logs: Vec::new(),
            queue: Vec::new(),
            line: Vec::new(),
            sessions: BTreeMap::new(),
            ended: BTreeSet::new(),
            keys: BTreeSet::new(),
            tombstones: BTreeSet::new(),
            handles: BTreeSet::new(),
            shared: BTreeMap::new(),
            space_ids: BTreeSet::from([nil_scratch]),
            nil_scratch,
            nil_ns: "scratch".into(),
            nil_evictions: BTreeMap::new(),
            open: BTreeMap::new(),
            closed: Vec::new(),
            tick: 0,
            open_marks: BTreeSet::new(),
            open_heard: BTreeSet::new(),
        })
    }

    pub(super) fn entry(&self, id: EntryId) -> &Entry {
        &self.entries[&id]
    }

    pub(super) fn entry_mut(&mut self, id: EntryId) -> &mut Entry {
        self.entries.get_mut(&id).expect("asked for an entry the model holds")
    }

    /// The refusal an id deserves that names no entry.
    pub(super) fn missing(&self, id: EntryId) -> Option<Refusal> {
        match id {
            id if self.entries.contains_key(&id) => None,
            id if self.evicted.contains(&id) => Some(Refusal::Evicted(id)),
            id => Some(Refusal::NoEntry { id: id.0, newest: self.newest }),
        }
    }

    pub(super) fn is_alive(&self, owner: Owner) -> bool {
        match owner {
            Owner::Local => true,
            Owner::Session(session) => self.sessions.contains_key(&session),
        }
    }

    /// True when there is somebody to be told about this owner's work.
    pub(super) fn is_told(&self, owner: Owner) -> bool {
        match owner {
            Owner::Local => self.prompt,
            Owner::Session(session) => self.sessions.contains_key(&session),
        }
    }

    pub(super) fn label(&self, owner: Owner) -> Option<Arc<str>> {
        match owner {
            Owner::Local => None,
            Owner::Session(session) => self.sessions.get(&session).map(|s| Arc::clone(&s.label)),
        }
    }

    pub(super) fn ids(&self, fits: impl Fn(EntryId, &Entry) -> bool) -> Vec<EntryId> {
        self.entries.iter().filter(|(id, entry)| fits(**id, entry)).map(|(id, _)| *id).collect()
    }

    /// Entries that hang on this one by parentage, near ones first; `through` says whose children count too.
    pub(super) fn below(&self, id: EntryId, through: impl Fn(&Entry) -> bool + Copy) -> Vec<EntryId> {
        let mut found = Vec::new();
        let mut next = vec![id];
        while let Some(parent) = next.pop() {
            for child in self.ids(|_, e| e.parent == Some(parent) && through(e)) {
                found.push(child);
                next.push(child);
            }
        }
        found
    }

    /// The entries this one hangs on, the nearest first, those that are gone too.
    pub(super) fn above(&self, id: EntryId) -> Vec<EntryId> {
        std::iter::successors(self.parents.get(&id), |above| self.parents.get(above)).copied().collect()
    }

    pub(super) fn touch(&mut self, id: EntryId) {
        let tick = self.tick;
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.touch = Touch { first: tick, last: tick };
        }
    }

    /// The contract does not say whether this touches.
    pub(super) fn may_touch(&mut self, id: EntryId) {
        let tick = self.tick;
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.touch.last = tick;
        }
    }

    /// Touched at some moment since then.
    pub(super) fn touch_since(&mut self, id: EntryId, tick: u64) {
        self.may_touch(id);
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.touch.first = entry.touch.first.max(tick);
        }
    }

    /// The owner has the outcome, or gave it up.
    pub(super) fn mark(&mut self, id: EntryId) {
        let entry = self.entry_mut(id);
        entry.seen = true;
        entry.told = true;
    }

    /// Marks lapse as time goes by.
    pub(super) fn lapse(&mut self, now: Time) {
        for entry in self.entries.values_mut().filter(|entry| entry.is_lapsing(now)) {
            entry.followed = false;
        }
    }

    /// The entry is over: what that is to its owner, and where its reading list goes.
    pub(super) fn end(&mut self, id: EntryId, status: Status, at: Time) {
        let entry = self.entry_mut(id);
        entry.phase = Phase::Settled(status, at);
        entry.wait = None;
        let (owner, stop, ahead) = (entry.owner, entry.stop, entry.read_ahead);
        if entry.awaited > 0 {
            self.may_hear(owner);
        }
        let stopped = if status == Status::Cancelled { stop } else { None };
        self.queue.retain(|queued| *queued != id);
        self.line.retain(|waiting| *waiting != id);
        self.may_touch(id);
        if !self.is_told(owner) || stopped == Some(Stop::Known) || ahead == Some(Sure::Yes) {
            self.mark(id);
        } else if stopped == Some(Stop::Open) || ahead == Some(Sure::Maybe) {
            self.open_marks.insert(id);
        }
        self.hand_over(id);
    }

    /// A child hands its list to its parent, unless the parent's outcome went out before: then it goes with the child's own.
    /// Whether the child also keeps a copy is open; and with a parent that has ended and was not delivered, which of the two
    /// outcomes carries the list.
    fn hand_over(&mut self, id: EntryId) {
        let Some(parent) = self.entry(id).parent.filter(|parent| self.entries.contains_key(parent)) else { return };
        let (at_child, at_parent) = match self.entry(parent) {
            parent if parent.is_live() => (Sure::Maybe, Sure::Yes),
            parent if parent.seen => (Sure::Yes, Sure::Maybe),
            _ => (Sure::Maybe, Sure::Maybe),
        };
        for (target, was) in std::mem::take(&mut self.entry_mut(id).reads) {
            self.entry_mut(id).reads.insert(target, was.min(at_child));
            let kept = self.entry_mut(parent).reads.entry(target).or_insert(Sure::Maybe);
            *kept = (*kept).max(was.min(at_parent));
        }
    }
}
