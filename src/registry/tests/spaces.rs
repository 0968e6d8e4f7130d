//! Names of spaces.

use super::harness::{Harness, key};
use crate::base::{ClientInfo, Limits, Owner, Refusal};
use crate::registry::SpaceKind;

#[test]
fn everybody_starts_in_a_scratch_of_its_own() {
    let mut harness = Harness::new();
    let (a, b) = (harness.owner("A"), harness.owner("B"));
    let targets = [Owner::Local, a, b].map(|owner| harness.state.target_space(owner, None).unwrap());
    let names: Vec<_> = targets.iter().map(|target| &*target.name).collect();
    assert_eq!(names, ["scratch", "s-sessionA", "s-sessionB"]);
    assert!(targets[0].space != targets[1].space && targets[1].space != targets[2].space);
    assert!(targets.iter().all(|target| !target.created));
}

#[test]
fn scratches_of_header_sessions_are_named_by_what_is_legal_in_their_id() {
    let mut harness = Harness::new();
    let mut name = |id: &str| {
        let session = harness.state.find_or_adopt(&id.parse().unwrap(), None, harness.now).unwrap().session;
        harness.state.current(Owner::Session(session)).unwrap().to_string()
    };
    assert_eq!(name("1a2b3c4d-5e6f"), "s-1a2b3c4d");
    assert_eq!(name("a!b?c"), "s-abc");
    let hashed = [name("1a2b3c4d-9999"), name("!!!"), name("???")];
    for hashed in &hashed {
        assert!(hashed.len() == 10 && hashed[2..].bytes().all(|b| b.is_ascii_hexdigit()), "{hashed}");
    }
    assert!(hashed[0] != "s-1a2b3c4d" && hashed[0] != hashed[1] && hashed[1] != hashed[2]);
}

#[test]
fn a_new_name_makes_a_shared_space_once() {
    let mut harness = Harness::new();
    let (a, b) = (harness.owner("A"), harness.owner("B"));
    let made = harness.state.target_space(a, Some("team/lab_1-x")).unwrap();
    let met = harness.state.target_space(b, Some("team/lab_1-x")).unwrap();
    assert_eq!((made.created, met.created), (true, false));
    assert_eq!(made.space, met.space);
}

#[test]
fn names_that_are_none_are_refused() {
    let mut harness = Harness::new();
    let long = "x".repeat(81);
    for bad in ["", "a b", "/a", "a/", "a//b", "ä", "a.b", "@a", &long] {
        let expected = Refusal::BadName { name: bad.to_owned() };
        assert_eq!(harness.state.target_space(Owner::Local, Some(bad)), Err(expected.clone()));
        assert_eq!(harness.state.may_enter(Owner::Local, bad), Err(expected));
    }
    assert!(harness.state.target_space(Owner::Local, Some(&"x".repeat(80))).is_ok());
}

#[test]
fn a_scratch_is_for_its_session_only() {
    let mut harness = Harness::new();
    let (a, b) = (harness.owner("A"), harness.owner("B"));
    let of_a = harness.state.target_space(a, Some("s-sessionA")).unwrap();
    assert!(!of_a.created);
    for other in [b, Owner::Local] {
        let refusal = Refusal::ForeignScratch { name: "s-sessionA".to_owned() };
        assert_eq!(harness.state.target_space(other, Some("s-sessionA")), Err(refusal));
    }
    assert_eq!(
        harness.state.target_space(a, Some("scratch")),
        Err(Refusal::ForeignScratch { name: "scratch".to_owned() }),
        "the nil caller's"
    );
    assert_eq!(harness.state.find_space("s-sessionA"), Ok(of_a.space), "but everybody may read it");
}

#[test]
fn names_of_scratches_are_not_made_by_hand() {
    let mut harness = Harness::new();
    harness.run("A opens\nA ends");
    for name in ["s-sessionA", "s-bfw"] {
        let refusal = Refusal::NoSuchSpace { name: name.to_owned() };
        assert_eq!(harness.state.target_space(Owner::Local, Some(name)), Err(refusal.clone()));
        assert_eq!(harness.state.find_space(name), Err(refusal));
    }
}

#[test]
fn a_session_that_moved_stays_there() {
    let mut harness = Harness::new();
    let (a, b) = (harness.owner("A"), harness.owner("B"));
    harness.state.move_session(a, "workshop");
    let place = harness.state.target_space(a, None).unwrap();
    assert_eq!((&*place.name, place.created), ("workshop", true));
    assert!(!harness.state.target_space(a, None).unwrap().created);
    assert_ne!(harness.state.current(b).unwrap(), place.name);
    let dropped = harness.state.drop_shared("workshop").unwrap();
    assert_eq!(dropped, place.space);
    let again = harness.state.target_space(a, None).unwrap();
    assert_eq!((&*again.name, again.created), ("workshop", true), "announced, and not the old one");
    assert_ne!(again.space, dropped);
}

#[test]
fn moves_of_ended_sessions_do_nothing() {
    let mut harness = Harness::new();
    let a = harness.owner("A");
    harness.run("A ends");
    harness.state.move_session(a, "workshop");
    assert_eq!(harness.state.target_space(a, None), Err(Refusal::SessionEnded));
    assert!(harness.state.find_space("workshop").is_err());
}

#[test]
fn only_shared_spaces_are_dropped() {
    let mut harness = Harness::new();
    harness.run("A opens");
    for name in ["scratch", "s-sessionA"] {
        assert_eq!(harness.state.drop_shared(name), Err(Refusal::ScratchStays { name: name.to_owned() }));
    }
    assert_eq!(harness.state.drop_shared("lab"), Err(Refusal::NoSuchSpace { name: "lab".to_owned() }));
}

#[test]
fn shared_spaces_are_limited_in_number() {
    let mut harness = Harness::with(Limits { spaces: 2, ..Limits::default() });
    for name in ["a", "b", "a"] {
        harness.state.target_space(Owner::Local, Some(name)).unwrap();
    }
    assert_eq!(harness.state.target_space(Owner::Local, Some("c")), Err(Refusal::TooManySpaces { limit: 2 }));
    harness.state.drop_shared("a").unwrap();
    assert!(harness.state.target_space(Owner::Local, Some("c")).unwrap().created);
}

#[test]
fn a_session_takes_its_scratch_with_it() {
    let mut harness = Harness::new();
    let a = harness.owner("A");
    let scratch = harness.state.target_space(a, None).unwrap();
    let ended = harness.state.end_by_key(&key("A"), harness.now).unwrap().unwrap();
    assert_eq!((ended.scratch, ended.scratch_name), (scratch.space, scratch.name));
    // A namesake gets a space of its own.
    let opened = harness.state.initialize(key("A"), ClientInfo::default(), None, harness.now).unwrap();
    let again = harness.state.target_space(Owner::Session(opened.session), None).unwrap();
    assert_eq!(&*again.name, "s-sessionA");
    assert_ne!(again.space, scratch.space);
}

#[test]
fn rows_say_whose_a_space_is_and_who_is_there() {
    let mut harness = Harness::new();
    let a = harness.owner("A");
    harness.state.target_space(a, Some("lab")).unwrap();
    harness.state.move_session(a, "lab");
    harness.state.move_session(Owner::Local, "lab");
    let rows = harness.state.spaces();
    let shown: Vec<_> = rows.iter().map(|row| (&*row.name, row.kind, row.here)).collect();
    assert_eq!(
        shown,
        [
            ("lab", SpaceKind::Shared, 2),
            ("s-sessionA", SpaceKind::Scratch(a), 0),
            ("scratch", SpaceKind::Scratch(Owner::Local), 0)
        ]
    );
}
