//! Capacity, eviction and `forget`.

use super::harness::Harness;
use crate::base::{EntryId, Limits, Owner, Refusal};

#[test]
fn ten_more_for_each_further_live_session() {
    let mut harness = Harness::new();
    assert_eq!(harness.state.effective_capacity(), 50);
    harness.run("A opens");
    assert_eq!(harness.state.effective_capacity(), 50);
    harness.run("B opens\nC opens");
    assert_eq!(harness.state.effective_capacity(), 70);
    harness.run("B ends\ncapacity 3");
    assert_eq!((harness.state.effective_capacity(), harness.state.capacity()), (13, 3));
}

#[test]
fn lowering_the_capacity_acts_at_the_next_admission() {
    Harness::play(
        "capacity 3
         A delivered 1 2 3
         capacity 1
         1 is ok seen told
         capacity 3
         A runs 4
         1 is ok seen told
         capacity 1
         A runs 5
         1 is evicted
         2 is evicted
         3 is ok seen told",
    );
}

#[test]
fn an_awaited_entry_is_there_when_its_waiter_comes() {
    Harness::play(
        "capacity 0
         nil runs 1
         1 awaited
         1 settles ok
         nil runs 2
         1 is ok seen told
         1 unawaited
         nil runs 3
         1 is evicted",
    );
}

#[test]
fn under_memory_pressure_the_largest_delivered_go_first() {
    let mut harness = Harness::with(Limits { total_bytes: 1_000, ..Limits::default() });
    harness.run(
        "A runs 1
         A runs 2
         A runs 3
         A runs 4
         A runs 5
         1 settles ok 100
         2 settles ok 400
         3 settles ok 300
         4 settles ok 400      # not read
         answer r to A : 1 2 3
         r written",
    );
    let admission = {
        let a = harness.owner("A");
        harness.admit(a, None).unwrap()
    };
    assert_eq!(admission.evicted.ids, [EntryId(2)]);
    assert_eq!(admission.evicted.values, ["value"]);
    harness.elsewhere = 5_000;
    let admission = harness.admit(Owner::Local, None).unwrap();
    assert_eq!(admission.evicted.ids, [EntryId(3), EntryId(1)]);
    harness.run("4 is ok unread told\nanswer s to A\ns evicts 1 2 3");
}

#[test]
fn output_counts_until_it_is_dropped() {
    let mut harness = Harness::new();
    harness.run("A runs 1\nA runs 2");
    let before = harness.state.kept_bytes();
    let log = harness.state.log(EntryId(1)).unwrap();
    log.push(harness.now, "print", "a line");
    assert_eq!(harness.state.kept_bytes() - before, log.kept_bytes());
    assert_eq!(harness.state.largest(1), [(EntryId(1), log.kept_bytes())]);
    harness.run("1 settles ok 1000\nanswer r to A : 1\nr written\ncapacity 0");
    drop(harness.admit(Owner::Local, None).unwrap());
    drop(log);
    assert_eq!(harness.state.kept_bytes(), 2 * "40 + 2".len(), "the code of the two that run");
}

#[test]
fn pressure_of_output_evicts_too() {
    let mut harness = Harness::with(Limits { total_bytes: 10_000, ..Limits::default() });
    harness.run("A runs 1\nA runs 2");
    harness.state.log(EntryId(2)).unwrap().push(harness.now, "print", &"x".repeat(20_000));
    harness.run("1 settles ok 10\n2 settles ok 10\nanswer r to A : 1 2\nr written");
    let admission = harness.admit(Owner::Local, None).unwrap();
    assert_eq!(admission.evicted.ids, [EntryId(2)]);
}

#[test]
fn forget_drops_the_value_and_says_so() {
    let mut harness = Harness::new();
    harness.run("A runs 1\n1 settles ok 1000");
    let log = harness.state.log(EntryId(1)).unwrap();
    log.push(harness.now, "print", "a line");
    let (a, b) = (harness.owner("A"), harness.owner("B"));
    assert_eq!(harness.state.forget(EntryId(1), b).unwrap_err(), Refusal::ForeignUnread(EntryId(1)));
    assert_eq!(harness.state.value(EntryId(1)), Ok(Some("value")));
    let size = 1_000 + log.kept_bytes();
    let forgotten = harness.state.forget(EntryId(1), a).unwrap();
    assert_eq!((harness.state.kept_bytes(), forgotten.lines.len()), ("40 + 2".len(), 1));
    assert_eq!((forgotten.value, forgotten.bytes), (Some("value"), size));
    assert_eq!(harness.state.value(EntryId(1)), Err(Refusal::Forgotten(EntryId(1))));
    let view = harness.state.get(EntryId(1), harness.now).unwrap();
    assert!(view.forgotten && view.bytes == 0 && view.lines == 1);
    assert_eq!(harness.state.forget(EntryId(1), a).unwrap().value, None);
    harness.run("1 is ok unread owed\nanswer r to A : 1\nr written");
    assert!(harness.state.forget(EntryId(1), b).is_ok(), "read by its owner");
    assert_eq!(harness.state.forget(EntryId(2), a).unwrap_err(), Refusal::NoEntry { id: 2, newest: 1 });
}

#[test]
fn a_running_entry_forgets_its_output_so_far() {
    let mut harness = Harness::new();
    harness.run("A runs 1");
    let log = harness.state.log(EntryId(1)).unwrap();
    log.push(harness.now, "print", "a line");
    let a = harness.owner("A");
    assert_eq!(harness.state.forget(EntryId(1), a).unwrap().value, None);
    harness.run("1 settles ok");
    assert_eq!((harness.state.value(EntryId(1)), log.kept_bytes()), (Ok(Some("value")), 0));
}

#[test]
fn what_the_capacity_evicts_relieves_the_pressure() {
    let mut harness = Harness::with(Limits { total_bytes: 10_000, capacity: 1, ..Limits::default() });
    harness.run("A runs 1\nA runs 2");
    harness.state.log(EntryId(1)).unwrap().push(harness.now, "print", &"x".repeat(20_000));
    harness.run("1 settles ok\n2 settles ok\nanswer r to A : 1\nr written\nanswer s to A : 2\ns written");
    let admission = harness.admit(Owner::Local, None).unwrap();
    assert_eq!(admission.evicted.ids, [EntryId(1)]);
}
