//! Entries asked to stop, one by one or all at once, and outcomes given up.

use super::entries::{Entry, Kept, Phase, Stop};
use super::state::Registry;
use crate::base::{EntryId, Owner, Refusal, Status, Time};
use std::collections::BTreeSet;

/// The one that asks an entry to stop: decides whether its end is news.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelBy {
    /// A session or the nil caller. Of its owner: seen and told when it bites. Of another: owed as news.
    Owner(Owner),
    /// A script. It has read that by `Registry::read_by_script`, so delivery is up to its own outcome: owed as news until then.
    Script,
    /// Somebody who has the id of its task: its owner when that follows it, and then as [`CancelBy::Owner`]; else owed as news.
    Task,
    /// The request it belonged to was cancelled or its stream closed: owed as news.
    Request,
    /// Its parent settles or is cancelled: seen and told when it bites.
    Parent,
    /// The process is shutting down: owed as news.
    Shutdown,
}

/// The result of asking one entry to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelState {
    /// It was queued and is cancelled now.
    Dequeued,
    /// It was asked to stop.
    Asked,
    /// It had been asked before.
    AlreadyAsked,
    /// It had settled before.
    Settled(Status),
}

/// The result of asking an entry and its descendants to stop.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "the entries named here must be stopped"]
pub struct Asked {
    /// The result for the entry itself.
    pub state: CancelState,
    /// Entries whose threads must be stopped: the entry and its descendants.
    pub stop: Vec<EntryId>,
    /// Entries that were queued and are cancelled now.
    pub dequeued: Vec<EntryId>,
}

/// The entries `release` gave up or asked to stop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use = "the entries named here must be stopped"]
pub struct Released {
    /// Settled entries that are no longer owed, by id.
    pub released: Vec<EntryId>,
    /// Entries that were asked to stop or taken from the queue, by id.
    pub cancelled: Vec<EntryId>,
    /// Those of `cancelled` (and of their children) whose threads must be stopped.
    pub stop: Vec<EntryId>,
    /// Those that were queued and are cancelled now.
    pub dequeued: Vec<EntryId>,
}

/// The entries to be stopped when the process ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use = "the entries named here must be stopped"]
pub struct ShutDown {
    /// Entries whose threads must be stopped.
    pub stop: Vec<EntryId>,
    /// Entries that were queued and are cancelled now.
    pub dequeued: Vec<EntryId>,
}

impl<V: Clone> Registry<V> {
    /// Asks an entry to stop, and with it its children that are not detached. `NoEntry` or `Evicted` when there is none.
    pub fn request_cancel(&mut self, id: EntryId, by: CancelBy, now: Time) -> Result<Asked, Refusal> {
        let owner = self.entries.find(id)?.owner;
        let quiet = match by {
            CancelBy::Owner(caller) => caller == owner,
            CancelBy::Task => self.followed_by(id).is_some(),
            CancelBy::Parent => true,
            CancelBy::Script | CancelBy::Request | CancelBy::Shutdown => false,
        };
        let mut asked = Asked { state: self.ask(id, quiet, now), stop: Vec::new(), dequeued: Vec::new() };
        asked.note(id, asked.state);
        // The end of a parent tells of its children; one that has ended before tells nothing any more.
        let parent_ended = matches!(asked.state, CancelState::Settled(_));
        let mut open = self.entries.live_children(id);
        while let Some(child) = open.pop() {
            let state = self.ask(child, quiet || !parent_ended, now);
            asked.note(child, state);
            open.extend(self.entries.live_children(child));
        }
        Ok(asked)
    }

    /// Marks the owner's settled unread entries seen and told. With `cancel` its others are asked to stop, except the entry that
    /// speaks, its ancestors and its descendants.
    pub fn release(&mut self, owner: Owner, speaking: Option<EntryId>, cancel: bool, now: Time) -> Released {
        let unread = self.ledgers.get(&owner).map(|ledger| ledger.unread.clone()).unwrap_or_default();
        for id in &unread {
            self.change(*id, Entry::absorb);
        }
        let mut released = Released { released: unread.into_iter().collect(), ..Released::default() };
        if !cancel {
            return released;
        }
        let mut spared: BTreeSet<EntryId> = BTreeSet::new();
        if let Some(speaking) = speaking {
            spared = self.entries.descendants(speaking);
            spared.insert(speaking);
            spared.extend(self.entries.ancestors(speaking));
        }
        let is_meant =
            |(id, entry): &(EntryId, &Entry<V>)| entry.owner == owner && entry.is_live() && !spared.contains(id);
        released.cancelled = self.entries.iter().filter(is_meant).map(|(id, _)| id).collect();
        for id in &released.cancelled {
            match self.ask(*id, true, now) {
                CancelState::Asked => released.stop.push(*id),
                CancelState::Dequeued => released.dequeued.push(*id),
                CancelState::AlreadyAsked | CancelState::Settled(_) => {}
            }
        }
        released
    }

    /// Lets nobody in any more, and asks everything to stop.
    pub fn shut_down(&mut self, now: Time) -> ShutDown {
        self.closing = true;
        let live: Vec<_> = self.entries.iter().filter(|(_, entry)| entry.is_live()).map(|(id, _)| id).collect();
        let mut all = ShutDown::default();
        for id in live {
            match self.ask(id, false, now) {
                CancelState::Asked => all.stop.push(id),
                CancelState::Dequeued => all.dequeued.push(id),
                CancelState::AlreadyAsked | CancelState::Settled(_) => {}
            }
        }
        all
    }

    /// Asks one entry to stop. `quiet`: its owner knows, so being cancelled is no news.
    fn ask(&mut self, id: EntryId, quiet: bool, now: Time) -> CancelState {
        let Some(entry) = self.entries.get_mut(id) else { return CancelState::Settled(Status::Cancelled) };
        match &mut entry.phase {
            Phase::Settled { status, .. } => CancelState::Settled(*status),
            Phase::Queued => {
                self.dequeue(id, quiet, now);
                CancelState::Dequeued
            }
            Phase::Running { stop: Some(stop) } => {
                // It is enough that the owner is among those who asked.
                stop.quiet |= quiet;
                CancelState::AlreadyAsked
            }
            Phase::Running { stop } => {
                *stop = Some(Stop { quiet });
                // Nobody has to wait for an entry that will not go on waiting.
                self.wait_graph.remove(id);
                CancelState::Asked
            }
        }
    }

    /// A queued entry is cancelled at once.
    pub(super) fn dequeue(&mut self, id: EntryId, quiet: bool, now: Time) {
        self.run_queue.leave(id);
        self.end(id, Status::Cancelled, Kept::Nothing, quiet, now);
    }
}

impl Asked {
    fn note(&mut self, id: EntryId, state: CancelState) {
        match state {
            CancelState::Asked => self.stop.push(id),
            CancelState::Dequeued => self.dequeued.push(id),
            CancelState::AlreadyAsked | CancelState::Settled(_) => {}
        }
    }
}
