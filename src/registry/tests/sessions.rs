//! Sessions: opening, silence, ending, handles.

use super::harness::{Harness, key};
use crate::base::{ClientInfo, Handle, Limits, Owner, Refusal, SessionId};
use crate::registry::{Adoption, Registry};
use std::collections::HashSet;
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3_600);

/// Mints a session with a handle from a sequence of "random" numbers.
fn create(state: &mut Registry<&'static str>, seed: &mut u64) -> (SessionId, Handle) {
    let mut random = || {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *seed >> 33
    };
    let created =
        state.create_with_handle(&mut random, None, ClientInfo::default(), None, crate::base::Time::START).unwrap();
    (created.session, created.handle)
}

#[test]
fn a_never_seen_id_is_adopted_once() {
    let mut harness = Harness::new();
    let first = harness.state.find_or_adopt(&key("old"), Some("10.0.0.1".into()), harness.now).unwrap();
    let second = harness.state.find_or_adopt(&key("old"), None, harness.now).unwrap();
    assert_eq!((first.adopted, second.adopted, first.session), (true, false, second.session));
    assert!(harness.state.tools_stale(first.session));
    harness.state.tools_fetched(first.session);
    assert!(!harness.state.tools_stale(first.session));
    let minted = harness.state.initialize(key("new"), ClientInfo::default(), None, harness.now).unwrap();
    assert!(!minted.adopted && !harness.state.tools_stale(minted.session));
    assert_eq!(harness.state.find_or_adopt(&key("new"), None, harness.now).unwrap(), minted);
}

#[test]
fn an_id_that_was_ended_stays_ended() {
    let mut harness = Harness::new();
    harness.run("A opens\nA ends\nA gone");
    assert_eq!(harness.state.find_or_adopt(&key("A"), None, harness.now), Err(Refusal::SessionEnded));
    assert_eq!(harness.state.end_by_key(&key("A"), harness.now), Err(Refusal::SessionEnded));
    harness.advance(48 * HOUR);
    harness.state.expire(harness.now);
    assert_eq!(harness.state.find_or_adopt(&key("A"), None, harness.now), Err(Refusal::SessionEnded));
    assert_eq!(harness.state.end_by_key(&key("never-seen"), harness.now).err(), None);
}

#[test]
fn silence_ends_a_session_and_a_sign_of_life_saves_it() {
    let mut harness = Harness::new();
    harness.run("A opens\nB opens");
    harness.advance(24 * HOUR - Duration::from_nanos(1));
    harness.run("B heard");
    assert_eq!(harness.state.expire(harness.now), []);
    harness.advance(Duration::from_nanos(1));
    let ended = harness.state.expire(harness.now);
    let labels: Vec<_> = ended.iter().map(|session| &*session.label).collect();
    assert_eq!(labels, ["session-"]);
    harness.run("A gone\nB alive");
}

#[test]
fn nobody_expires_before_a_whole_silence_has_passed() {
    // The clock starts at zero: "silent since before the start" must not be confused with "silent for long".
    let mut harness = Harness::new();
    harness.run("A opens");
    harness.advance(HOUR);
    assert_eq!(harness.state.expire(harness.now), []);
}

#[test]
fn an_id_that_expired_is_adopted_afresh_with_the_notice() {
    let mut harness = Harness::new();
    let first = harness.owner("A");
    harness.run("24 hours pass\nnil runs 1");
    let again = harness.state.find_or_adopt(&key("A"), None, harness.now).unwrap();
    assert!(again.adopted && Owner::Session(again.session) != first);
    assert_eq!(harness.state.claim_news(Owner::Session(again.session), harness.now).adopted, Some(Adoption::Expired));
    let unknown = harness.state.find_or_adopt(&key("B"), None, harness.now).unwrap();
    assert_eq!(harness.state.claim_news(Owner::Session(unknown.session), harness.now).adopted, Some(Adoption::Unknown));
}

#[test]
fn a_request_saves_a_session_that_nobody_has_ended_yet() {
    let mut harness = Harness::new();
    let a = harness.owner("A");
    harness.run("30 hours pass");
    let found = harness.state.find_or_adopt(&key("A"), None, harness.now).unwrap();
    assert_eq!((Owner::Session(found.session), found.adopted), (a, false));
    harness.run("nil runs 1\nA alive");
}

#[test]
fn an_open_stream_keeps_a_session_and_silence_counts_from_its_end() {
    let mut harness = Harness::new();
    let Owner::Session(a) = harness.owner("A") else { panic!() };
    harness.state.hold(a);
    harness.state.hold(a);
    harness.run("30 hours pass\nnil runs 1\nA alive");
    harness.state.unhold(a, harness.now);
    harness.run("30 hours pass\nnil runs 2\nA alive");
    harness.state.unhold(a, harness.now);
    harness.run("23 hours pass\nnil runs 3\nA alive\n1 hours pass\nnil runs 4\nA gone");
    harness.state.unhold(a, harness.now);
    harness.state.hold(a);
    harness.state.heard(a, harness.now);
    harness.run("A gone");
}

#[test]
fn a_running_awaited_entry_keeps_its_session() {
    Harness::play(
        "A runs 1
         1 awaited
         1 awaited
         30 hours pass
         nil runs 2
         1 unawaited
         30 hours pass
         nil runs 3
         A alive
         1 settles ok
         23 hours pass
         nil runs 4
         A alive
         1 hours pass
         nil runs 5
         A gone
         1 unawaited",
    );
    Harness::play(
        "A runs 1
         1 awaited
         30 hours pass
         1 unawaited
         23 hours pass
         nil runs 2
         A alive
         1 hours pass
         nil runs 3
         A gone",
    );
}

#[test]
fn what_arrives_late_for_an_ended_session_does_nothing() {
    let mut harness = Harness::new();
    let a = harness.owner("A");
    harness.run("A runs 1\nA ends");
    let Owner::Session(session) = a else { panic!() };
    harness.state.introduce(a, "late".into());
    harness.state.manual_read(a);
    harness.state.tools_fetched(session);
    harness.state.move_session(a, "lab");
    harness.state.heard(session, harness.now);
    assert_eq!(harness.state.sessions(harness.now), []);
    assert!(!harness.state.remind_of_manual(a));
    // Its running entry may still start children; a new eval is refused.
    harness.run("1 starts 2\n2 settles ok\n2 is ok seen told\nA is refused SessionEnded");
}

#[test]
fn at_the_limit_the_longest_silent_idle_session_ends() {
    let mut harness = Harness::with(Limits { sessions: 3, ..Limits::default() });
    harness.run("A runs 1\n1 seconds pass\nB opens\n1 seconds pass\nC opens\n1 seconds pass\nB heard");
    // A has work, C is idle and silent for longer than B.
    let opened = harness.state.find_or_adopt(&key("D"), None, harness.now).unwrap();
    assert_eq!(opened.ended.unwrap().session, SessionId(3));
    harness.run("A alive\nB alive\nC gone");
    let Owner::Session(b) = harness.owner("B") else { panic!() };
    harness.state.hold(b);
    harness.state.hold(opened.session);
    let full = Refusal::TooManySessions { limit: 3 };
    assert_eq!(harness.state.initialize(key("E"), ClientInfo::default(), None, harness.now), Err(full.clone()));
    assert_eq!(harness.state.find_or_adopt(&key("E"), None, harness.now), Err(full.clone()));
    let created = harness.state.create_with_handle(&mut || 0, None, ClientInfo::default(), None, harness.now);
    assert_eq!(created, Err(full));
    assert!(harness.state.find_or_adopt(&key("A"), None, harness.now).is_ok(), "who is there is found");
    harness.run("1 settles ok");
    assert!(harness.state.find_or_adopt(&key("E"), None, harness.now).is_ok());
    harness.run("A gone");
}

#[test]
fn a_session_with_something_to_read_makes_room_only_when_there_is_no_other() {
    let mut harness = Harness::with(Limits { sessions: 3, ..Limits::default() });
    harness.run("A runs 1\n1 settles ok\nB runs 2\ntask t of 2\nt written\n2 settles ok\nblock r to B : 2\nr written");
    harness.run("2 is ok seen told followed\n1 seconds pass\nC opens");
    let adopt = |harness: &mut Harness, name| {
        harness.run("1 seconds pass");
        harness.state.find_or_adopt(&key(name), None, harness.now).unwrap();
    };
    adopt(&mut harness, "D");
    harness.run("A alive\nB alive\nC gone");
    // Followed no more, it is as good as any.
    harness.run("3600 seconds pass");
    adopt(&mut harness, "E");
    harness.run("A alive\nB gone");
    // Everybody has something to read: the longest silent goes.
    harness.run("D runs 3\n3 settles ok\nE runs 4\n4 settles ok");
    adopt(&mut harness, "F");
    harness.run("A gone\nD alive\nE alive");
}

#[test]
fn handles_are_found_and_unknown_ones_mint_nothing() {
    let mut harness = Harness::new();
    let note = Some("reads the log".into());
    let created = harness.state.create_with_handle(&mut || 0, note, ClientInfo::default(), None, harness.now).unwrap();
    assert_eq!(created.handle.as_str(), "bbb");
    assert_eq!(harness.state.by_handle("bbb", harness.now), Ok(created.session));
    assert_eq!(harness.state.handle_of(created.session), Some(created.handle));
    for unknown in ["bbc", "nonsense", ""] {
        let refusal = Refusal::UnknownSession { given: unknown.to_owned(), up: harness.now.since_start() };
        assert_eq!(harness.state.by_handle(unknown, harness.now), Err(refusal));
    }
    assert_eq!(harness.state.counts(harness.now).sessions, 1);
    // Asking is a sign of life.
    harness.run("23 hours pass");
    harness.state.by_handle("bbb", harness.now).unwrap();
    harness.run("23 hours pass\nnil runs 1");
    assert!(harness.state.by_handle("bbb", harness.now).is_ok());
    harness.run("24 hours pass\nnil runs 2");
    assert_eq!(harness.state.by_handle("bbb", harness.now).unwrap_err().kind(), "UnknownSession");
}

#[test]
fn handles_are_never_given_out_twice_and_grow_when_half_are_used() {
    let mut harness = Harness::with(Limits { sessions: 10, ..Limits::default() });
    let mut seed = 7;
    let handles: Vec<_> = (0..4_100).map(|_| create(&mut harness.state, &mut seed).1).collect();
    let lengths: Vec<_> = handles.iter().map(|handle| handle.as_str().len()).collect();
    assert!(lengths[..4_000].iter().all(|n| *n == 3) && lengths[4_000..].iter().all(|n| *n == 4));
    assert_eq!(handles.iter().collect::<HashSet<_>>().len(), handles.len(), "also those of ended sessions");
}

#[test]
fn handles_do_not_need_chance_to_differ() {
    let mut harness = Harness::new();
    let mut handles = HashSet::new();
    for _ in 0..10 {
        let created = harness.state.create_with_handle(&mut || 7_999, None, ClientInfo::default(), None, harness.now);
        assert!(handles.insert(created.unwrap().handle));
    }
}

#[test]
fn a_handle_whose_scratch_would_be_somebody_elses_is_passed_over() {
    let mut harness = Harness::new();
    harness.state.find_or_adopt(&"bbb".parse().unwrap(), None, harness.now).unwrap();
    let created = harness.state.create_with_handle(&mut || 0, None, ClientInfo::default(), None, harness.now).unwrap();
    assert_eq!(created.handle.as_str(), "bbc");
    assert_eq!(&*harness.state.current(Owner::Session(created.session)).unwrap(), "s-bbc");
}
