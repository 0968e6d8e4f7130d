//! Running slots.

use super::harness::Harness;
use crate::base::{EntryId, Limits};
use std::time::Duration;

fn harness(running: usize, reserved_slots: usize) -> Harness {
    Harness::with(Limits { running, reserved_slots, queued: 3, live_entries: 6, ..Limits::default() })
}

#[test]
fn first_come_first_served() {
    harness(1, 0).run(
        "A runs 1
         A queues 2
         B queues 3
         1 settles ok
         grants 2
         2 is running
         3 is queued
         2 settles ok
         grants 3",
    );
}

#[test]
fn a_session_at_its_cap_is_passed_over() {
    harness(3, 1).run(
        "A runs 1
         A runs 2
         A queues 3          # two of three slots is A's share
         B runs 4
         B queues 5
         4 settles ok
         grants 5            # not 3, which came first
         2 settles ok
         grants 3",
    );
}

#[test]
fn the_nil_caller_has_a_share_like_a_session() {
    harness(2, 1).run(
        "nil runs 1
         nil queues 2
         A runs 3
         3 settles ok
         grants nothing",
    );
}

#[test]
fn who_waits_gives_its_slot_back_and_goes_on_before_the_queue() {
    harness(1, 0).run(
        "A runs 1
         B queues 2
         B queues 3
         1 gives back
         grants 2
         1 is running
         1 takes back in line
         1 takes back in line
         2 settles ok
         grants 1
         1 settles ok
         grants 3",
    );
}

#[test]
fn a_slot_taken_back_begins_nothing_anew() {
    let mut harness = harness(1, 0);
    harness.run(
        "A runs 1
         A queues 2
         2 seconds pass
         1 gives back
         1 takes back in line
         A cancels 1
         2 settles ok
         grants 1
         1 is running stopping
         1 settles cancelled
         1 is cancelled seen told",
    );
    assert_eq!(harness.state.get(EntryId(1), harness.now).unwrap().started, Some(crate::base::Time::START));
}

#[test]
fn a_free_slot_is_taken_back_at_once() {
    harness(1, 0).run(
        "A runs 1
         1 gives back
         1 takes back
         1 takes back
         A queues 2",
    );
}

#[test]
fn a_stopped_entry_goes_on_by_force() {
    let mut harness = harness(1, 0);
    harness.run(
        "A runs 1
         B queues 2
         B queues 3
         1 gives back
         grants 2
         1 takes back in line
         1 takes back by force
         2 settles ok
         grants nothing      # 1 is one too many
         1 settles cancelled
         grants 3",
    );
    assert_eq!(harness.state.working(), 1);
}

#[test]
fn an_entry_that_settles_in_line_leaves_it() {
    harness(1, 0).run(
        "A runs 1
         A queues 2
         1 gives back
         grants 2
         1 takes back in line
         1 settles cancelled
         2 settles ok
         grants nothing",
    );
}

#[test]
fn queued_entries_know_how_many_are_before_them() {
    let mut harness = harness(1, 0);
    harness.run("A runs 1\nA queues 2\nA queues 3\nB queues 4");
    let before = |harness: &Harness| [1, 2, 3, 4].map(|id| harness.state.queued_before(EntryId(id)));
    assert_eq!(before(&harness), [None, Some(0), Some(1), Some(2)]);
    harness.run("A cancels 2");
    assert_eq!(before(&harness), [None, None, Some(0), Some(1)]);
}

#[test]
fn a_full_queue_refuses_with_the_numbers() {
    let mut harness = harness(1, 0);
    harness.run("A runs 1\nA queues 2\nA queues 3\nA queues 4\nB is refused QueueFull");
    let b = harness.owner("B");
    let refused = harness.admit(b, None).unwrap_err();
    assert_eq!(
        refused.refusal.to_string(),
        "1 evals are running and 3 are queued, which is the limit; wait for some or cancel them"
    );
    harness.run("1 settles ok\nB queues 5");
}

#[test]
fn too_many_entries_that_have_not_settled_are_refused() {
    harness(6, 0).run(
        "A runs 1\nA runs 2\nA runs 3\nA runs 4\nA runs 5\nA runs 6
         1 gives back
         B is refused TooManyLive
         2 settles ok
         B runs 7",
    );
}

#[test]
fn time_in_the_queue_is_not_running_time() {
    let mut harness = harness(1, 0);
    harness.run("A runs 1\nA queues 2\n5 seconds pass\n1 settles ok\ngrants 2\n2 seconds pass");
    let view = harness.state.get(EntryId(2), harness.now).unwrap();
    assert_eq!(view.ran, Duration::from_secs(2));
    assert_eq!(view.started.unwrap().since(view.created), Duration::from_secs(5));
    let log = harness.state.log(EntryId(2)).unwrap();
    log.push(harness.now, "print", "here");
    assert_eq!(log.last_line().unwrap().after, Duration::from_secs(2));
}

#[test]
fn a_full_queue_keeps_out_only_who_would_have_to_queue() {
    harness(3, 1).run(
        "A runs 1
         A runs 2
         A queues 3
         A queues 4
         A queues 5
         A is refused QueueFull
         B runs 6",
    );
}
