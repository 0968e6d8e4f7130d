//! The waits-for graph as data: finds waits that could never end before they begin.

use crate::base::EntryId;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

/// The number of its targets that a wait needs: all, or one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wants {
    /// Every target.
    All,
    /// One target.
    Any,
}

/// The wait of one entry.
#[derive(Clone)]
pub(super) struct Wait {
    pub(super) targets: Vec<EntryId>,
    pub(super) wants: Wants,
}

/// The waits without a limit of time, by the entry that waits.
#[derive(Default)]
pub(super) struct WaitGraph(HashMap<EntryId, Wait>);

impl WaitGraph {
    pub(super) fn remove(&mut self, waiter: EntryId) {
        self.0.remove(&waiter);
    }

    /// Registers a wait, unless it could never end: then the error is the circle.
    pub(super) fn add(&mut self, waiter: EntryId, wait: Wait) -> Result<(), Vec<EntryId>> {
        let before = self.0.insert(waiter, wait);
        let Some(path) = self.circle(waiter) else { return Ok(()) };
        match before {
            Some(before) => self.0.insert(waiter, before),
            None => self.0.remove(&waiter),
        };
        Err(path)
    }

    /// The shortest circle through `waiter` among entries that can never go on, if it is one of these.
    ///
    /// An entry can go on when it waits for nothing (as settled ones do), or when its targets, all or one of them, can go on:
    /// the least set with that property. Before `waiter` waits everybody can, so whoever cannot afterwards depends on `waiter`.
    fn circle(&self, waiter: EntryId) -> Option<Vec<EntryId>> {
        // The entries reachable from the waiter: how many more of its targets each needs, and which entries each holds up.
        let mut needs: HashMap<EntryId, usize> = HashMap::new();
        let mut holds_up: HashMap<EntryId, Vec<EntryId>> = HashMap::new();
        let mut go_on = Vec::new();
        let mut open = vec![waiter];
        while let Some(id) = open.pop() {
            if needs.contains_key(&id) {
                continue;
            }
            let targets = self.targets(id);
            let needed = match self.0.get(&id).map(|wait| wait.wants) {
                Some(Wants::All) => targets.len(),
                Some(Wants::Any) => targets.len().min(1),
                None => 0,
            };
            needs.insert(id, needed);
            if needed == 0 {
                go_on.push(id);
                continue;
            }
            for target in targets {
                holds_up.entry(*target).or_default().push(id);
                open.push(*target);
            }
        }
        let mut free: HashSet<EntryId> = HashSet::new();
        while let Some(id) = go_on.pop() {
            if !free.insert(id) {
                continue;
            }
            for held in holds_up.get(&id).into_iter().flatten() {
                if let Some(needed) = needs.get_mut(held) {
                    *needed = needed.saturating_sub(1);
                    if *needed == 0 {
                        go_on.push(*held);
                    }
                }
            }
        }
        if free.contains(&waiter) {
            return None;
        }
        let mut came_from: BTreeMap<EntryId, EntryId> = BTreeMap::new();
        let mut open = VecDeque::from([waiter]);
        while let Some(id) = open.pop_front() {
            for target in self.targets(id) {
                if !free.contains(target) && !came_from.contains_key(target) {
                    came_from.insert(*target, id);
                    open.push_back(*target);
                }
            }
        }
        let mut path = vec![waiter];
        let mut at = waiter;
        while let Some(previous) = came_from.get(&at) {
            path.push(*previous);
            at = *previous;
            if at == waiter {
                break;
            }
        }
        path.reverse();
        Some(path)
    }

    fn targets(&self, id: EntryId) -> &[EntryId] {
        self.0.get(&id).map(|wait| wait.targets.as_slice()).unwrap_or_default()
    }
}
