//! Entries as data: the record of each, and the two orders they are filed in once they have settled.
//!
//! Owns the record and its filing. Who is owed what follows from the marks of a record; the steps that change marks stand above.

use super::log::OutputLog;
use crate::base::{EntryId, Owner, Refusal, SpaceId, Status, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// The time for which a settled entry stays readable for a client that follows it as a task. The `ttlMs` of a task is
/// (settled, or now) − created, plus this.
pub const FOLLOWED_FOR: Duration = Duration::from_millis(3_600_000);

/// An entry to be admitted.
#[derive(Clone, Debug)]
pub struct NewEntry {
    /// Whose it is. Ignored for a child: it belongs to its parent's owner.
    pub owner: Owner,
    /// The running entry that started it.
    pub parent: Option<EntryId>,
    /// The space it evaluates in.
    pub space: SpaceId,
    /// The name of that space or module.
    pub ns: Arc<str>,
    /// The script.
    pub code: Arc<str>,
}

/// The record of one entry.
pub(super) struct Entry<V> {
    pub(super) owner: Owner,
    pub(super) by: Option<Arc<str>>,
    pub(super) parent: Option<EntryId>,
    /// The nearest ancestor that is still kept: lines of descent survive evictions.
    pub(super) above: Option<EntryId>,
    /// The entries whose `above` this is.
    pub(super) below: BTreeSet<EntryId>,
    pub(super) space: SpaceId,
    pub(super) ns: Arc<str>,
    pub(super) code: Arc<str>,
    pub(super) created: Time,
    pub(super) started: Option<Time>,
    pub(super) phase: Phase<V>,
    pub(super) log: Arc<OutputLog>,
    pub(super) detached: bool,
    /// The number of those that wait for it.
    pub(super) awaited: u32,
    /// Its place in the order of age: greater is younger.
    pub(super) touched: u64,
    /// Its outcome reached its owner, or the owner gave it up.
    pub(super) seen: bool,
    /// Its owner was told that it settled.
    pub(super) told: bool,
    /// A client follows it as a task.
    pub(super) followed: bool,
    /// Its owner read it in advance, and that was delivered: seen and told as soon as it settles.
    pub(super) read_ahead: bool,
    /// The number of answers on their way that render its outcome.
    pub(super) rendering: u32,
    /// Open calls of its owner that will render it.
    pub(super) expected: u32,
    /// An answer on its way lists it as settled news.
    pub(super) telling: bool,
    /// The number of task answers on their way that make it followed.
    pub(super) following: u32,
    /// Those of its owner's entries that its script read: delivered with its own outcome.
    pub(super) reads: BTreeSet<EntryId>,
    /// Its keys in the pool and among the lapses, while it is filed there.
    filed: (Option<u64>, Option<Time>),
}

/// The stages of an entry's life.
pub(super) enum Phase<V> {
    /// Waits for its first slot.
    Queued,
    /// Its thread is at work, waiting or asleep.
    Running {
        /// The request to stop, once there was one.
        stop: Option<Stop>,
    },
    /// It has ended.
    Settled {
        /// The way it ended.
        status: Status,
        /// The time it ended.
        at: Time,
        /// Its value or failure, as far as it is kept.
        kept: Kept<V>,
    },
}

/// A request to stop that the entry has not followed yet.
#[derive(Clone, Copy)]
pub(super) struct Stop {
    /// The owner knows, so being cancelled is no news.
    pub(super) quiet: bool,
}

/// The outcome a settled entry keeps.
pub(super) enum Kept<V> {
    /// Its value or failure, and the size of that in bytes.
    Value(V, usize),
    /// It never ran.
    Nothing,
    /// Dropped by `forget`.
    Forgotten,
}

impl<V> Entry<V> {
    pub(super) fn status(&self) -> Status {
        match self.phase {
            Phase::Queued => Status::Queued,
            Phase::Running { .. } => Status::Running,
            Phase::Settled { status, .. } => status,
        }
    }

    pub(super) fn is_live(&self) -> bool {
        !matches!(self.phase, Phase::Settled { .. })
    }

    pub(super) fn settled_at(&self) -> Option<Time> {
        match self.phase {
            Phase::Settled { at, .. } => Some(at),
            Phase::Queued | Phase::Running { .. } => None,
        }
    }

    pub(super) fn is_stopping(&self) -> bool {
        matches!(self.phase, Phase::Running { stop: Some(_) })
    }

    pub(super) fn is_forgotten(&self) -> bool {
        matches!(self.phase, Phase::Settled { kept: Kept::Forgotten, .. })
    }

    /// Followed, or about to be.
    pub(super) fn is_followed(&self) -> bool {
        self.followed || self.following > 0
    }

    /// The same at this moment: a mark may have lapsed that nobody has taken away yet.
    pub(super) fn is_followed_at(&self, now: Time) -> bool {
        self.following > 0 || self.followed && self.settled_at().is_none_or(|at| now < at + FOLLOWED_FOR)
    }

    /// Settled, and its outcome still owed to its owner.
    pub(super) fn is_unread(&self) -> bool {
        !self.is_live() && !self.seen
    }

    /// Belongs into the next settled news.
    pub(super) fn is_news(&self) -> bool {
        !self.is_live()
            && !self.told
            && self.rendering == 0
            && self.expected == 0
            && !self.telling
            && !self.is_followed()
    }

    /// Counted by the capacity, and may be evicted.
    pub(super) fn is_pooled(&self) -> bool {
        !self.is_live() && self.seen && !self.is_followed() && self.awaited == 0
    }

    /// Marks it delivered or given up.
    pub(super) fn absorb(&mut self) {
        self.seen = true;
        self.told = true;
    }

    pub(super) fn value_bytes(&self) -> usize {
        match self.phase {
            Phase::Settled { kept: Kept::Value(_, bytes), .. } => bytes,
            _ => 0,
        }
    }

    /// The size of value and output, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.value_bytes().saturating_add(self.log.kept_bytes())
    }
}

/// All entries, with the two orders derived from them.
pub(super) struct Entries<V> {
    all: BTreeMap<EntryId, Entry<V>>,
    newest: u64,
    touches: u64,
    live: usize,
    /// Values and code, in bytes. Output is counted by the logs.
    bytes: usize,
    /// The entries that may be evicted, oldest touch first.
    pool: BTreeSet<(u64, EntryId)>,
    /// The times at which followed entries that have settled stop being followed.
    lapses: BTreeSet<(Time, EntryId)>,
}

impl<V> Entries<V> {
    pub(super) fn new() -> Self {
        Self {
            all: BTreeMap::new(),
            newest: 0,
            touches: 0,
            live: 0,
            bytes: 0,
            pool: BTreeSet::new(),
            lapses: BTreeSet::new(),
        }
    }

    /// Inserts a fresh entry under the next id. `by`: how people name its owner.
    pub(super) fn insert(
        &mut self,
        new: NewEntry,
        by: Option<Arc<str>>,
        log: Arc<OutputLog>,
        created: Time,
    ) -> EntryId {
        let NewEntry { owner, parent, space, ns, code } = new;
        self.newest += 1;
        let id = EntryId(self.newest);
        self.touches += 1;
        self.live += 1;
        self.bytes += code.len();
        if let Some(parent) = parent.and_then(|parent| self.all.get_mut(&parent)) {
            parent.below.insert(id);
        }
        let entry = Entry {
            owner,
            by,
            parent,
            above: parent,
            below: BTreeSet::new(),
            space,
            ns,
            code,
            created,
            started: None,
            phase: Phase::Queued,
            log,
            detached: false,
            awaited: 0,
            touched: self.touches,
            seen: false,
            told: false,
            followed: false,
            read_ahead: false,
            rendering: 0,
            expected: 0,
            telling: false,
            following: 0,
            reads: BTreeSet::new(),
            filed: (None, None),
        };
        self.all.insert(id, entry);
        id
    }

    /// Removes an entry; its descendants stay descendants of its ancestors.
    pub(super) fn remove(&mut self, id: EntryId) -> Option<Entry<V>> {
        let entry = self.all.remove(&id)?;
        self.bytes = self.bytes.saturating_sub(entry.value_bytes() + entry.code.len());
        if let Some(touched) = entry.filed.0 {
            self.pool.remove(&(touched, id));
        }
        if let Some(at) = entry.filed.1 {
            self.lapses.remove(&(at, id));
        }
        for below in &entry.below {
            if let Some(below) = self.all.get_mut(below) {
                below.above = entry.above;
            }
        }
        if let Some(above) = entry.above.and_then(|above| self.all.get_mut(&above)) {
            above.below.remove(&id);
            above.below.extend(&entry.below);
        }
        Some(entry)
    }

    pub(super) fn get(&self, id: EntryId) -> Option<&Entry<V>> {
        self.all.get(&id)
    }

    /// For changes that move the entry in neither order; the others go through `Registry::change`.
    pub(super) fn get_mut(&mut self, id: EntryId) -> Option<&mut Entry<V>> {
        self.all.get_mut(&id)
    }

    /// The entry, or why there is none.
    pub(super) fn find(&self, id: EntryId) -> Result<&Entry<V>, Refusal> {
        match self.all.get(&id) {
            Some(entry) => Ok(entry),
            None if (1..=self.newest).contains(&id.0) => Err(Refusal::Evicted(id)),
            None => Err(Refusal::NoEntry { id: id.0, newest: self.newest }),
        }
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (EntryId, &Entry<V>)> {
        self.all.iter().map(|(id, entry)| (*id, entry))
    }

    pub(super) fn newest(&self) -> u64 {
        self.newest
    }

    /// The number of entries that have not settled.
    pub(super) fn live(&self) -> usize {
        self.live
    }

    /// The size of values and code, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The number of entries the capacity counts.
    pub(super) fn pooled(&self) -> usize {
        self.pool.len()
    }

    /// The entries that may be evicted, oldest touch first.
    pub(super) fn pool(&self) -> impl Iterator<Item = EntryId> {
        self.pool.iter().map(|(_, id)| *id)
    }

    /// Followed and settled entries, the first to lapse first.
    pub(super) fn lapses(&self) -> impl Iterator<Item = (Time, EntryId)> {
        self.lapses.iter().copied()
    }

    /// Ends the entry's life. Marks are up to the caller.
    pub(super) fn end(&mut self, id: EntryId, status: Status, at: Time, kept: Kept<V>) {
        if let Some(entry) = self.all.get_mut(&id) {
            entry.phase = Phase::Settled { status, at, kept };
            self.live -= 1;
            self.bytes = self.bytes.saturating_add(entry.value_bytes());
        }
    }

    /// Takes the value of a settled entry and remembers that it was dropped on purpose.
    pub(super) fn forget(&mut self, id: EntryId) -> Option<(V, usize)> {
        let entry = self.all.get_mut(&id)?;
        let Phase::Settled { kept, .. } = &mut entry.phase else { return None };
        let Kept::Value(value, bytes) = std::mem::replace(kept, Kept::Forgotten) else { return None };
        self.bytes = self.bytes.saturating_sub(bytes);
        Some((value, bytes))
    }

    /// Makes an entry the youngest. To be followed by [`Entries::file`].
    pub(super) fn touch(&mut self, id: EntryId) {
        if let Some(entry) = self.all.get_mut(&id) {
            self.touches += 1;
            entry.touched = self.touches;
        }
    }

    /// Files an entry by its marks, after they changed.
    pub(super) fn file(&mut self, id: EntryId) {
        let Some(entry) = self.all.get_mut(&id) else { return };
        let pooled = entry.is_pooled().then_some(entry.touched);
        let lapses = entry.settled_at().filter(|_| entry.followed).map(|at| at + FOLLOWED_FOR);
        let before = std::mem::replace(&mut entry.filed, (pooled, lapses));
        if before.0 != pooled {
            before.0.map(|touched| self.pool.remove(&(touched, id)));
            pooled.map(|touched| self.pool.insert((touched, id)));
        }
        if before.1 != lapses {
            before.1.map(|at| self.lapses.remove(&(at, id)));
            lapses.map(|at| self.lapses.insert((at, id)));
        }
    }

    /// The ancestors of an entry that are still kept, nearest first.
    pub(super) fn ancestors(&self, id: EntryId) -> impl Iterator<Item = EntryId> {
        let above = |id: EntryId| self.all.get(&id).and_then(|entry| entry.above);
        std::iter::successors(above(id), move |id| above(*id))
    }

    /// The descendants of an entry that are still kept.
    pub(super) fn descendants(&self, id: EntryId) -> BTreeSet<EntryId> {
        let mut found = BTreeSet::new();
        let mut open = vec![id];
        while let Some(next) = open.pop() {
            for below in self.all.get(&next).into_iter().flat_map(|entry| &entry.below) {
                if found.insert(*below) {
                    open.push(*below);
                }
            }
        }
        found
    }

    /// The children an entry started, that have not settled and were not detached, oldest first.
    pub(super) fn live_children(&self, id: EntryId) -> Vec<EntryId> {
        let Some(entry) = self.all.get(&id) else { return Vec::new() };
        let is_live_child = |child: &Entry<V>| child.parent == Some(id) && child.is_live() && !child.detached;
        entry.below.iter().copied().filter(|child| self.all.get(child).is_some_and(is_live_child)).collect()
    }
}
