//! Deadlocks are found at once, and only deadlocks.

use super::harness::Harness;
use crate::base::{EntryId, Owner, Refusal};
use crate::registry::Wants;

#[test]
fn a_circle_is_refused_and_changes_nothing() {
    Harness::play(
        "A runs 1
         A runs 2
         A runs 3
         1 waits-for 2
         2 waits-for 3
         3 cannot-wait-for 1 in 3 → 1 → 2 → 3
         A runs 4
         4 waits-for 3           # which waits for nothing
         1 waits-no-more
         3 waits-for 1",
    );
}

#[test]
fn nobody_waits_for_itself() {
    Harness::play(
        "A runs 1
         A runs 2
         1 cannot-wait-for 1 in 1 → 1
         1 cannot-wait-for 2 1 in 1 → 1
         1 waits-for-any 2 1",
    );
}

#[test]
fn one_way_out_is_enough_for_any() {
    Harness::play(
        "A runs 1
         A runs 2
         A runs 3
         1 waits-for-any 2 3
         2 waits-for 1
         3 cannot-wait-for 1 in 3 → 1 → 3
         2 waits-no-more
         3 waits-for 1
         2 cannot-wait-for-any 1 3 in 2 → 1 → 2",
    );
}

#[test]
fn settled_targets_count_as_reached() {
    Harness::play(
        "A runs 1
         A runs 2
         A runs 3
         3 settles ok
         1 waits-for 2 3
         2 waits-for-any 1 3
         2 waits-for 3
         2 cannot-wait-for 1 in 2 → 1 → 2
         1 settles ok
         2 waits-for 1",
    );
}

#[test]
fn a_refused_wait_leaves_the_one_before() {
    Harness::play(
        "A runs 1
         A runs 2
         A runs 3
         1 waits-for 2
         2 waits-for 3
         2 cannot-wait-for 1 in 2 → 1 → 2
         3 cannot-wait-for 2 in 3 → 2 → 3",
    );
}

#[test]
fn who_was_asked_to_stop_waits_for_nothing() {
    Harness::play(
        "A runs 1
         A runs 2
         1 waits-for 2
         A cancels 1
         2 waits-for 1",
    );
}

#[test]
fn long_chains_are_walked_without_recursion() {
    const LENGTH: u64 = 4_000;
    let mut harness = Harness::new();
    for id in 1..=LENGTH {
        harness.admit(Owner::Local, None).unwrap();
        // Everybody waits, so everybody gets a turn.
        drop(harness.state.give_back(EntryId(id), harness.now));
    }
    let wait = |harness: &mut Harness, id, target| harness.state.add_wait(EntryId(id), &[EntryId(target)], Wants::All);
    for id in 1..LENGTH {
        wait(&mut harness, id, id + 1).unwrap();
    }
    let Err(Refusal::Deadlock { path }) = wait(&mut harness, LENGTH, 1) else { panic!("nobody could go on") };
    assert_eq!(path.len() as u64, LENGTH + 1);
}

#[test]
fn a_wait_that_comes_too_late_holds_nobody_up() {
    Harness::play(
        "A runs 1
         A runs 2
         1 settles ok
         1 waits-for 2
         2 waits-for 1",
    );
}
