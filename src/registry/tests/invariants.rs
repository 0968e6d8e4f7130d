//! Invariants, checked after every step: each order and count that is kept beside the entries says what the entries say.

use crate::base::Owner;
use crate::registry::entries::Phase;
use crate::registry::{FOLLOWED_FOR, Registry};
use std::collections::{BTreeMap, BTreeSet};

/// Compares everything derived with what it is derived from.
#[track_caller]
pub(super) fn check<V: Clone>(state: &Registry<V>) {
    let mut pool = BTreeSet::new();
    let mut lapses = BTreeSet::new();
    let mut live = 0;
    let mut queued = BTreeSet::new();
    let mut bytes = 0;
    let mut live_of: BTreeMap<Owner, usize> = BTreeMap::new();
    let mut awaited_of: BTreeMap<Owner, usize> = BTreeMap::new();
    for (id, entry) in state.entries.iter() {
        bytes += entry.value_bytes() + entry.code.len();
        assert!(!entry.seen || entry.told, "entry {id}: seen, so told");
        assert!(
            entry.above.is_none_or(|above| state.entries.get(above).unwrap().below.contains(&id)),
            "entry {id}: descent"
        );
        for below in &entry.below {
            assert_eq!(state.entries.get(*below).unwrap().above, Some(id), "entry {below}: descent");
        }
        match entry.phase {
            Phase::Settled { at, .. } => {
                if entry.is_pooled() {
                    pool.insert((entry.touched, id));
                }
                if entry.followed {
                    lapses.insert((at + FOLLOWED_FOR, id));
                }
            }
            Phase::Queued | Phase::Running { .. } => {
                assert!(!entry.seen && !entry.told, "entry {id} has not settled");
                live += 1;
                *live_of.entry(entry.owner).or_default() += 1;
                *awaited_of.entry(entry.owner).or_default() += usize::from(entry.awaited > 0);
                if matches!(entry.phase, Phase::Queued) {
                    queued.insert(id);
                }
            }
        }
    }
    assert_eq!(
        state.entries.pool().collect::<Vec<_>>(),
        pool.into_iter().map(|(_, id)| id).collect::<Vec<_>>(),
        "pool"
    );
    assert_eq!(state.entries.lapses().collect::<Vec<_>>(), lapses.into_iter().collect::<Vec<_>>(), "lapses");
    assert_eq!((state.entries.live(), state.entries.bytes()), (live, bytes), "live entries and their bytes");
    let owners: BTreeSet<Owner> = state.ledgers.keys().copied().collect();
    let sessions: BTreeSet<Owner> = state.sessions.iter().map(|(id, _)| Owner::Session(id)).collect();
    assert!(
        owners.iter().all(|owner| *owner == Owner::Local || sessions.contains(owner)) && sessions.is_subset(&owners)
    );
    for (owner, ledger) in &state.ledgers {
        let of_owner = || state.entries.iter().filter(|(_, entry)| entry.owner == *owner);
        let unread: BTreeSet<_> = of_owner().filter(|(_, entry)| entry.is_unread()).map(|(id, _)| id).collect();
        let news: Vec<_> =
            of_owner().filter(|(_, entry)| entry.is_news()).map(|(id, entry)| (id, entry.status())).collect();
        assert_eq!(ledger.unread, unread, "unread of {owner:?}");
        assert_eq!(
            ledger.news.iter().map(|(id, status)| (*id, *status)).collect::<Vec<_>>(),
            news,
            "news of {owner:?}"
        );
    }
    for (_, entry) in state.entries.iter().filter(|(_, entry)| !owners.contains(&entry.owner)) {
        assert!(entry.is_live() || entry.seen, "nobody is owed this");
    }
    let silent: BTreeSet<_> = state
        .sessions
        .iter()
        .filter(|(_, session)| session.pins == 0)
        .map(|(id, session)| (session.heard, id))
        .collect();
    assert_eq!(state.sessions.silent, silent, "sessions by silence");
    for (id, session) in state.sessions.iter() {
        let owner = Owner::Session(id);
        assert_eq!(session.live_entries, live_of.get(&owner).copied().unwrap_or(0), "live entries of {owner:?}");
        assert!(session.pins >= awaited_of.get(&owner).copied().unwrap_or(0), "awaited entries of {owner:?}");
    }
    state.run_queue.check(&queued);
}
