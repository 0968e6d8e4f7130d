//! Stopping: who is asked along, who is spared.

use super::harness::Harness;
use crate::base::{EntryId, Limits, Owner, Refusal, Status};
use crate::registry::{CancelBy, CancelState};

#[test]
fn cancelling_says_what_it_did() {
    let mut harness = Harness::with(Limits { running: 1, reserved_slots: 0, ..Limits::default() });
    harness.run("A runs 1\nA queues 2");
    let a = CancelBy::Owner(harness.owner("A"));
    let now = harness.now;
    let mut state = |id| harness.state.request_cancel(EntryId(id), a, now).map(|asked| asked.state);
    assert_eq!(state(2), Ok(CancelState::Dequeued));
    assert_eq!(state(2), Ok(CancelState::Settled(Status::Cancelled)));
    assert_eq!(state(1), Ok(CancelState::Asked));
    assert_eq!(state(1), Ok(CancelState::AlreadyAsked));
    assert_eq!(state(3), Err(Refusal::NoEntry { id: 3, newest: 2 }));
    harness.run("1 settles ok\ncapacity 0\nanswer r to A : 1\nr written\nA runs 3");
    assert_eq!(harness.state.request_cancel(EntryId(1), a, now).unwrap_err(), Refusal::Evicted(EntryId(1)));
}

#[test]
fn children_are_asked_along_unless_detached() {
    Harness::play(
        "A runs 1
         1 starts 2
         2 starts 3
         1 starts 4
         4 detached
         4 starts 5
         request cancels 1
         stops 1 2 3
         4 is running
         5 is running
         2 settles cancelled
         1 settles cancelled
         2 is cancelled seen told      # as a child
         1 is cancelled unread owed    # by its request",
    );
}

#[test]
fn the_owner_among_those_who_asked_knows() {
    Harness::play(
        "A runs 1
         B cancels 1
         A cancels 1
         stops nothing
         1 settles cancelled
         1 is cancelled seen told",
    );
}

#[test]
fn release_spares_the_speaker_its_ancestors_and_its_descendants() {
    Harness::play(
        "A runs 1
         1 starts 2
         2 starts 3
         3 starts 4
         4 detached
         1 starts 5          # a sibling of the ancestors
         A runs 6
         B runs 7
         A releases all from 3
         stops 5 6
         4 is running
         2 is running
         7 is running",
    );
}

#[test]
fn lines_of_descent_survive_eviction() {
    Harness::play(
        "capacity 0
         A runs 1
         1 starts 2
         2 starts 3
         2 settles ok
         answer r to A : 2
         r written
         A runs 4
         2 is evicted
         A releases all from 3
         stops 4
         A releases all from 1
         stops nothing       # 3 still descends from 1
         parent cancels 1
         stops 1             # but it is a child of an entry that settled before
         3 is running",
    );
}

#[test]
fn release_answers_with_what_it_did() {
    let mut harness = Harness::with(Limits { running: 2, reserved_slots: 0, ..Limits::default() });
    harness.run("A runs 1\n1 settles ok\nA runs 2\nA runs 3\nA queues 4");
    let a = harness.owner("A");
    let released = harness.state.release(a, Some(EntryId(3)), true, harness.now);
    assert_eq!(released.released, [EntryId(1)]);
    assert_eq!(released.cancelled, [EntryId(2), EntryId(4)]);
    assert_eq!((released.stop, released.dequeued), (vec![EntryId(2)], vec![EntryId(4)]));
    let again = harness.state.release(a, Some(EntryId(3)), false, harness.now);
    assert_eq!((again.released, again.cancelled), (vec![], vec![]));
}

#[test]
fn shutting_down_stops_all_and_lets_nobody_in() {
    let mut harness = Harness::with(Limits { running: 1, reserved_slots: 0, ..Limits::default() });
    harness.run("A runs 1\n1 starts 2\nnil queues 3");
    let all = harness.state.shut_down(harness.now);
    assert_eq!((all.stop, all.dequeued), (vec![EntryId(1)], vec![EntryId(2), EntryId(3)]));
    assert_eq!(harness.admit(Owner::Local, None).unwrap_err().refusal, Refusal::ShuttingDown);
    harness.run("1 settles cancelled\n1 is cancelled unread owed");
}
