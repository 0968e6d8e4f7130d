//! Rows and views.

use super::harness::Harness;
use crate::base::{ClientInfo, EntryId, Owner, Status};
use crate::registry::EntryFilter;
use std::time::Duration;

#[test]
fn entries_are_listed_oldest_first_and_filtered() {
    let mut harness = Harness::new();
    harness.run("A runs 1\nB runs 2\nA runs 3\nnil runs 4\n3 settles failed\n1 settles ok");
    let a = harness.owner("A");
    let now = harness.now;
    let mut ids = |status, owner| -> Vec<u64> {
        harness.state.entries(EntryFilter { status, owner }, now).iter().map(|view| view.id.0).collect()
    };
    assert_eq!(ids(None, None), [1, 2, 3, 4]);
    assert_eq!(ids(Some(Status::Failed), None), [3]);
    assert_eq!(ids(Some(Status::Running), Some(a)), [0; 0]);
    assert_eq!(ids(None, Some(a)), [1, 3]);
}

#[test]
fn a_view_tells_what_a_script_may_ask() {
    let mut harness = Harness::new();
    harness.run("A runs 1\n1 starts 2\n3 seconds pass\n2 settles ok 100\n2 detached\n9 seconds pass");
    harness.state.log(EntryId(2)).unwrap().push(harness.now, "print", "a\nb");
    let view = harness.state.get(EntryId(2), harness.now).unwrap();
    assert_eq!((view.owner, view.by.as_deref()), (harness.owner("A"), Some("session-")));
    assert_eq!((view.parent, view.status, view.detached), (Some(EntryId(1)), Status::Ok, true));
    assert_eq!((view.ran, view.lines), (Duration::from_secs(3), 2));
    assert!(view.bytes > 102 && view.seen != view.status.is_settled());
    assert_eq!((&*view.ns, &*view.code), ("lab", "40 + 2"));
    let parent = harness.state.get(EntryId(1), harness.now).unwrap();
    assert_eq!((parent.ran, parent.settled), (Duration::from_secs(12), None));
    // The name stays when the session goes; the nil caller has none.
    harness.run("A ends\nnil runs 3");
    assert_eq!(harness.state.get(EntryId(1), harness.now).unwrap().by.as_deref(), Some("session-"));
    assert_eq!(harness.state.get(EntryId(3), harness.now).unwrap().by, None);
}

#[test]
fn last_is_the_newest_that_ended_ok() {
    let mut harness = Harness::new();
    let a = harness.owner("A");
    assert_eq!(harness.state.last_ok(a), None);
    harness.run(
        "A runs 1\nA runs 2\nA runs 3\nA runs 4\nB runs 5\n2 settles ok\n1 settles ok\n3 settles failed\n5 settles ok",
    );
    assert_eq!(harness.state.last_ok(a), Some(EntryId(2)));
}

#[test]
fn the_roster_counts_and_tells_silence() {
    let mut harness = Harness::new();
    let client = ClientInfo { name: "probe".into(), ..ClientInfo::default() };
    let created = harness.state.create_with_handle(
        &mut || 0,
        Some("first".into()),
        client.clone(),
        Some("::1".into()),
        harness.now,
    );
    let owner = Owner::Session(created.unwrap().session);
    harness.admit(owner, None).unwrap();
    harness.admit(owner, None).unwrap();
    harness.run("1 settles ok\n4 seconds pass\nA opens");
    harness.state.introduce(owner, "second".into());
    let rows = harness.state.sessions(harness.now);
    assert_eq!(rows.len(), 2);
    assert_eq!((&*rows[0].label, rows[0].note.as_deref(), &rows[0].client), ("bbb", Some("second"), &client));
    assert_eq!((rows[0].entries, rows[0].running, rows[0].idle), (2, 1, Duration::from_secs(4)));
    assert_eq!((rows[0].peer.as_deref(), &*rows[0].ns), (Some("::1"), "s-bbb"));
    assert_eq!((rows[1].entries, rows[1].idle), (0, Duration::ZERO));
    assert_eq!(harness.state.client_of(rows[0].session.unwrap()), Some(client));
}

#[test]
fn a_session_is_reminded_of_the_manual_three_times_or_until_it_has_read_it() {
    let mut harness = Harness::new();
    let [a, b] = ["A", "B"].map(|name| harness.owner(name));
    let five = |harness: &mut Harness, owner| [(); 5].map(|()| harness.state.remind_of_manual(owner));
    assert_eq!(five(&mut harness, a), [true, true, true, false, false]);
    assert_eq!(five(&mut harness, Owner::Local), [false; 5]);
    assert!(harness.state.remind_of_manual(b));
    harness.state.manual_read(b);
    assert_eq!(five(&mut harness, b), [false; 5]);
}

#[test]
fn counts_divide_the_settled_into_unread_followed_and_pool() {
    let limits = crate::base::Limits { running: 2, reserved_slots: 0, ..Default::default() };
    let mut harness = Harness::with(limits);
    harness.run(
        "A delivered 1
         A runs 2
         2 settles ok
         A runs 3
         task t of 3
         t written
         3 settles ok
         A runs 4
         A runs 5
         A queues 6
         4 gives back",
    );
    let counts = harness.state.counts(harness.now);
    assert_eq!((counts.sessions, counts.running, counts.queued, counts.newest), (1, 3, 0, 6));
    assert_eq!((counts.unread, counts.followed, counts.pool), (1, 1, 1));
    harness.run("1 hours pass");
    let counts = harness.state.counts(harness.now);
    assert_eq!((counts.unread, counts.followed, counts.pool), (2, 0, 1));
}

#[test]
fn settling_twice_gives_the_second_value_back() {
    let mut harness = Harness::new();
    harness.run("A runs 1\n1 settles ok");
    let again = crate::registry::Settlement { status: Status::Failed, value: "late", bytes: 4 };
    assert_eq!(harness.state.settle(EntryId(1), again, harness.now).unkept, Some("late"));
    harness.run("1 is ok unread owed");
    assert_eq!(harness.state.value(EntryId(1)), Ok(Some("value")));
}
