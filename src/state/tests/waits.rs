//! Deadlocks are found at once, and only deadlocks.

use super::bench::Bench;

#[test]
fn a_circle_is_refused_and_changes_nothing() {
    Bench::play(
        "A runs 1
         A runs 2
         A runs 3
         1 waits-for 2
         2 waits-for 3
         3 cannot-wait-for 1 in 3 → 1 → 2 → 3
         1 waits-no-more
         3 waits-for 1",
    );
}

#[test]
fn nobody_waits_for_itself() {
    Bench::play(
        "A runs 1
         A runs 2
         1 cannot-wait-for 1 in 1 → 1
         1 cannot-wait-for 2 1 in 1 → 1
         1 waits-for-any 2 1",
    );
}

#[test]
fn one_way_out_is_enough_for_any() {
    Bench::play(
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
    Bench::play(
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
    Bench::play(
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
    Bench::play(
        "A runs 1
         A runs 2
         1 waits-for 2
         A cancels 1
         2 waits-for 1",
    );
}

#[test]
fn long_chains_are_walked_without_recursion() {
    let mut bench = Bench::new();
    for id in 1..=4_000 {
        bench.run(&format!("nil {} {id}", if id <= 224 { "runs" } else { "queues" }));
        if id > 224 {
            // Everybody waits, so everybody gets a turn.
            bench.run(&format!("{} gives back", id - 224));
        }
    }
    for id in 1..4_000 {
        bench.run(&format!("{id} waits-for {}", id + 1));
    }
    let end = bench.state.add_wait(crate::words::EntryId(4_000), &[crate::words::EntryId(1)], crate::state::Wants::All);
    assert_eq!(end.unwrap_err().kind(), "Deadlock");
}
