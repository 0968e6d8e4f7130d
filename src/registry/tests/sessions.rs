//! Sessions: opening, silence, ending, handles.

use super::bench::{Bench, key};
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
    let mut bench = Bench::new();
    let first = bench.state.find_or_adopt(&key("old"), Some("10.0.0.1".into()), bench.now).unwrap();
    let second = bench.state.find_or_adopt(&key("old"), None, bench.now).unwrap();
    assert_eq!((first.adopted, second.adopted, first.session), (true, false, second.session));
    assert!(bench.state.tools_stale(first.session));
    bench.state.tools_fetched(first.session);
    assert!(!bench.state.tools_stale(first.session));
    let minted = bench.state.initialize(key("new"), ClientInfo::default(), None, bench.now).unwrap();
    assert!(!minted.adopted && !bench.state.tools_stale(minted.session));
    assert_eq!(bench.state.find_or_adopt(&key("new"), None, bench.now).unwrap(), minted);
}

#[test]
fn an_id_that_was_ended_stays_ended() {
    let mut bench = Bench::new();
    bench.run("A opens\nA ends\nA gone");
    assert_eq!(bench.state.find_or_adopt(&key("A"), None, bench.now), Err(Refusal::SessionEnded));
    assert_eq!(bench.state.end_by_key(&key("A"), bench.now), Err(Refusal::SessionEnded));
    bench.advance(48 * HOUR);
    bench.state.expire(bench.now);
    assert_eq!(bench.state.find_or_adopt(&key("A"), None, bench.now), Err(Refusal::SessionEnded));
    assert_eq!(bench.state.end_by_key(&key("never-seen"), bench.now).err(), None);
}

#[test]
fn silence_ends_a_session_and_a_sign_of_life_saves_it() {
    let mut bench = Bench::new();
    bench.run("A opens\nB opens");
    bench.advance(24 * HOUR - Duration::from_nanos(1));
    bench.run("B heard");
    assert_eq!(bench.state.expire(bench.now), []);
    bench.advance(Duration::from_nanos(1));
    let ended = bench.state.expire(bench.now);
    let labels: Vec<_> = ended.iter().map(|session| &*session.label).collect();
    assert_eq!(labels, ["session-"]);
    bench.run("A gone\nB alive");
}

#[test]
fn nobody_expires_before_a_whole_silence_has_passed() {
    // The clock starts at zero: "silent since before the start" must not be confused with "silent for long".
    let mut bench = Bench::new();
    bench.run("A opens");
    bench.advance(HOUR);
    assert_eq!(bench.state.expire(bench.now), []);
}

#[test]
fn an_id_that_expired_is_adopted_afresh_with_the_notice() {
    let mut bench = Bench::new();
    let first = bench.owner("A");
    bench.run("24 hours pass\nnil runs 1");
    let again = bench.state.find_or_adopt(&key("A"), None, bench.now).unwrap();
    assert!(again.adopted && Owner::Session(again.session) != first);
    assert_eq!(bench.state.claim_news(Owner::Session(again.session), bench.now).adopted, Some(Adoption::Expired));
    let unknown = bench.state.find_or_adopt(&key("B"), None, bench.now).unwrap();
    assert_eq!(bench.state.claim_news(Owner::Session(unknown.session), bench.now).adopted, Some(Adoption::Unknown));
}

#[test]
fn a_request_saves_a_session_that_nobody_has_ended_yet() {
    let mut bench = Bench::new();
    let a = bench.owner("A");
    bench.run("30 hours pass");
    let found = bench.state.find_or_adopt(&key("A"), None, bench.now).unwrap();
    assert_eq!((Owner::Session(found.session), found.adopted), (a, false));
    bench.run("nil runs 1\nA alive");
}

#[test]
fn an_open_stream_keeps_a_session_and_silence_counts_from_its_end() {
    let mut bench = Bench::new();
    let Owner::Session(a) = bench.owner("A") else { panic!() };
    bench.state.hold(a);
    bench.state.hold(a);
    bench.run("30 hours pass\nnil runs 1\nA alive");
    bench.state.unhold(a, bench.now);
    bench.run("30 hours pass\nnil runs 2\nA alive");
    bench.state.unhold(a, bench.now);
    bench.run("23 hours pass\nnil runs 3\nA alive\n1 hours pass\nnil runs 4\nA gone");
    bench.state.unhold(a, bench.now);
    bench.state.hold(a);
    bench.state.heard(a, bench.now);
    bench.run("A gone");
}

#[test]
fn a_running_awaited_entry_keeps_its_session() {
    Bench::play(
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
    Bench::play(
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
    let mut bench = Bench::new();
    let a = bench.owner("A");
    bench.run("A runs 1\nA ends");
    let Owner::Session(session) = a else { panic!() };
    bench.state.introduce(a, "late".into());
    bench.state.manual_read(a);
    bench.state.tools_fetched(session);
    bench.state.move_session(a, "lab");
    bench.state.heard(session, bench.now);
    assert_eq!(bench.state.sessions(bench.now), []);
    assert!(!bench.state.manual_unread(a));
    // Its running entry may still start children; a new eval is refused.
    bench.run("1 starts 2\n2 settles ok\n2 is ok seen told\nA is refused SessionEnded");
}

#[test]
fn at_the_limit_the_longest_silent_idle_session_ends() {
    let mut bench = Bench::with(Limits { sessions: 3, ..Limits::default() });
    bench.run("A runs 1\n1 seconds pass\nB opens\n1 seconds pass\nC opens\n1 seconds pass\nB heard");
    // A has work, C is idle and silent for longer than B.
    let opened = bench.state.find_or_adopt(&key("D"), None, bench.now).unwrap();
    assert_eq!(opened.ended.unwrap().session, SessionId(3));
    bench.run("A alive\nB alive\nC gone");
    let Owner::Session(b) = bench.owner("B") else { panic!() };
    bench.state.hold(b);
    bench.state.hold(opened.session);
    let full = Refusal::TooManySessions { limit: 3 };
    assert_eq!(bench.state.initialize(key("E"), ClientInfo::default(), None, bench.now), Err(full.clone()));
    assert_eq!(bench.state.find_or_adopt(&key("E"), None, bench.now), Err(full.clone()));
    let created = bench.state.create_with_handle(&mut || 0, None, ClientInfo::default(), None, bench.now);
    assert_eq!(created, Err(full));
    assert!(bench.state.find_or_adopt(&key("A"), None, bench.now).is_ok(), "who is there is found");
    bench.run("1 settles ok");
    assert!(bench.state.find_or_adopt(&key("E"), None, bench.now).is_ok());
    bench.run("A gone");
}

#[test]
fn a_session_with_something_to_read_makes_room_only_when_there_is_no_other() {
    let mut bench = Bench::with(Limits { sessions: 3, ..Limits::default() });
    bench.run("A runs 1\n1 settles ok\nB runs 2\ntask t of 2\nt written\n2 settles ok\nblock r to B : 2\nr written");
    bench.run("2 is ok seen told followed\n1 seconds pass\nC opens");
    let adopt = |bench: &mut Bench, name| {
        bench.run("1 seconds pass");
        bench.state.find_or_adopt(&key(name), None, bench.now).unwrap();
    };
    adopt(&mut bench, "D");
    bench.run("A alive\nB alive\nC gone");
    // Followed no more, it is as good as any.
    bench.run("3600 seconds pass");
    adopt(&mut bench, "E");
    bench.run("A alive\nB gone");
    // Everybody has something to read: the longest silent goes.
    bench.run("D runs 3\n3 settles ok\nE runs 4\n4 settles ok");
    adopt(&mut bench, "F");
    bench.run("A gone\nD alive\nE alive");
}

#[test]
fn handles_are_found_and_unknown_ones_mint_nothing() {
    let mut bench = Bench::new();
    let note = Some("reads the log".into());
    let created = bench.state.create_with_handle(&mut || 0, note, ClientInfo::default(), None, bench.now).unwrap();
    assert_eq!(created.handle.as_str(), "bbb");
    assert_eq!(bench.state.by_handle("bbb", bench.now), Ok(created.session));
    assert_eq!(bench.state.handle_of(created.session), Some(created.handle));
    for unknown in ["bbc", "nonsense", ""] {
        let refusal = Refusal::UnknownSession { given: unknown.to_owned() };
        assert_eq!(bench.state.by_handle(unknown, bench.now), Err(refusal));
    }
    assert_eq!(bench.state.counts(bench.now).sessions, 1);
    // Asking is a sign of life.
    bench.run("23 hours pass");
    bench.state.by_handle("bbb", bench.now).unwrap();
    bench.run("23 hours pass\nnil runs 1");
    assert!(bench.state.by_handle("bbb", bench.now).is_ok());
    bench.run("24 hours pass\nnil runs 2");
    assert_eq!(bench.state.by_handle("bbb", bench.now).unwrap_err().kind(), "UnknownSession");
}

#[test]
fn handles_are_never_given_out_twice_and_grow_when_half_are_used() {
    let mut bench = Bench::with(Limits { sessions: 10, ..Limits::default() });
    let mut seed = 7;
    let handles: Vec<_> = (0..4_100).map(|_| create(&mut bench.state, &mut seed).1).collect();
    let lengths: Vec<_> = handles.iter().map(|handle| handle.as_str().len()).collect();
    assert!(lengths[..4_000].iter().all(|n| *n == 3) && lengths[4_000..].iter().all(|n| *n == 4));
    assert_eq!(handles.iter().collect::<HashSet<_>>().len(), handles.len(), "also those of ended sessions");
}

#[test]
fn handles_do_not_need_chance_to_differ() {
    let mut bench = Bench::new();
    let mut handles = HashSet::new();
    for _ in 0..10 {
        let created = bench.state.create_with_handle(&mut || 7_999, None, ClientInfo::default(), None, bench.now);
        assert!(handles.insert(created.unwrap().handle));
    }
}

#[test]
fn a_handle_whose_scratch_would_be_somebody_elses_is_passed_over() {
    let mut bench = Bench::new();
    bench.state.find_or_adopt(&"bbb".parse().unwrap(), None, bench.now).unwrap();
    let created = bench.state.create_with_handle(&mut || 0, None, ClientInfo::default(), None, bench.now).unwrap();
    assert_eq!(created.handle.as_str(), "bbc");
    assert_eq!(&*bench.state.current(Owner::Session(created.session)).unwrap(), "s-bbc");
}
