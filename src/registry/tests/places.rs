//! Names of spaces.

use super::bench::{Bench, key};
use crate::base::{ClientInfo, Limits, Owner, Refusal};
use crate::registry::SpaceKind;

#[test]
fn everybody_starts_in_a_scratch_of_its_own() {
    let mut bench = Bench::new();
    let (a, b) = (bench.owner("A"), bench.owner("B"));
    let places = [Owner::Local, a, b].map(|owner| bench.state.place(owner, None).unwrap());
    let names: Vec<_> = places.iter().map(|place| &*place.name).collect();
    assert_eq!(names, ["scratch", "s-sessionA", "s-sessionB"]);
    assert!(places[0].space != places[1].space && places[1].space != places[2].space);
    assert!(places.iter().all(|place| !place.created));
}

#[test]
fn scratches_of_header_sessions_are_named_by_what_is_legal_in_their_id() {
    let mut bench = Bench::new();
    let mut name = |id: &str| {
        let session = bench.state.find_or_adopt(&id.parse().unwrap(), None, bench.now).unwrap().session;
        bench.state.current(Owner::Session(session)).unwrap().to_string()
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
    let mut bench = Bench::new();
    let (a, b) = (bench.owner("A"), bench.owner("B"));
    let made = bench.state.place(a, Some("team/lab_1-x")).unwrap();
    let met = bench.state.place(b, Some("team/lab_1-x")).unwrap();
    assert_eq!((made.created, met.created), (true, false));
    assert_eq!(made.space, met.space);
}

#[test]
fn names_that_are_none_are_refused() {
    let mut bench = Bench::new();
    let long = "x".repeat(81);
    for bad in ["", "a b", "/a", "a/", "a//b", "ä", "a.b", "@a", &long] {
        let expected = Refusal::BadName { name: bad.to_owned() };
        assert_eq!(bench.state.place(Owner::Local, Some(bad)), Err(expected.clone()));
        assert_eq!(bench.state.may_enter(Owner::Local, bad), Err(expected));
    }
    assert!(bench.state.place(Owner::Local, Some(&"x".repeat(80))).is_ok());
}

#[test]
fn a_scratch_is_for_its_session_only() {
    let mut bench = Bench::new();
    let (a, b) = (bench.owner("A"), bench.owner("B"));
    let of_a = bench.state.place(a, Some("s-sessionA")).unwrap();
    assert!(!of_a.created);
    for other in [b, Owner::Local] {
        let refusal = Refusal::ForeignScratch { name: "s-sessionA".to_owned() };
        assert_eq!(bench.state.place(other, Some("s-sessionA")), Err(refusal));
    }
    assert_eq!(
        bench.state.place(a, Some("scratch")),
        Err(Refusal::ForeignScratch { name: "scratch".to_owned() }),
        "the nil caller's"
    );
    assert_eq!(bench.state.find_space("s-sessionA"), Ok(of_a.space), "but everybody may read it");
}

#[test]
fn names_of_scratches_are_not_made_by_hand() {
    let mut bench = Bench::new();
    bench.run("A opens\nA ends");
    for name in ["s-sessionA", "s-bfw"] {
        let refusal = Refusal::NoSuchSpace { name: name.to_owned() };
        assert_eq!(bench.state.place(Owner::Local, Some(name)), Err(refusal.clone()));
        assert_eq!(bench.state.find_space(name), Err(refusal));
    }
}

#[test]
fn a_session_that_moved_stays_there() {
    let mut bench = Bench::new();
    let (a, b) = (bench.owner("A"), bench.owner("B"));
    bench.state.move_session(a, "workshop");
    let place = bench.state.place(a, None).unwrap();
    assert_eq!((&*place.name, place.created), ("workshop", true));
    assert!(!bench.state.place(a, None).unwrap().created);
    assert_ne!(bench.state.current(b).unwrap(), place.name);
    let dropped = bench.state.drop_shared("workshop").unwrap();
    assert_eq!(dropped, place.space);
    let again = bench.state.place(a, None).unwrap();
    assert_eq!((&*again.name, again.created), ("workshop", true), "announced, and not the old one");
    assert_ne!(again.space, dropped);
}

#[test]
fn moves_of_ended_sessions_do_nothing() {
    let mut bench = Bench::new();
    let a = bench.owner("A");
    bench.run("A ends");
    bench.state.move_session(a, "workshop");
    assert_eq!(bench.state.place(a, None), Err(Refusal::SessionEnded));
    assert!(bench.state.find_space("workshop").is_err());
}

#[test]
fn only_shared_spaces_are_dropped() {
    let mut bench = Bench::new();
    bench.run("A opens");
    for name in ["scratch", "s-sessionA"] {
        assert_eq!(bench.state.drop_shared(name), Err(Refusal::ScratchStays { name: name.to_owned() }));
    }
    assert_eq!(bench.state.drop_shared("lab"), Err(Refusal::NoSuchSpace { name: "lab".to_owned() }));
}

#[test]
fn shared_spaces_are_limited_in_number() {
    let mut bench = Bench::with(Limits { spaces: 2, ..Limits::default() });
    for name in ["a", "b", "a"] {
        bench.state.place(Owner::Local, Some(name)).unwrap();
    }
    assert_eq!(bench.state.place(Owner::Local, Some("c")), Err(Refusal::TooManySpaces { limit: 2 }));
    bench.state.drop_shared("a").unwrap();
    assert!(bench.state.place(Owner::Local, Some("c")).unwrap().created);
}

#[test]
fn a_session_takes_its_scratch_with_it() {
    let mut bench = Bench::new();
    let a = bench.owner("A");
    let scratch = bench.state.place(a, None).unwrap();
    let ended = bench.state.end_by_key(&key("A"), bench.now).unwrap().unwrap();
    assert_eq!((ended.scratch, ended.scratch_name), (scratch.space, scratch.name));
    // A namesake gets a space of its own.
    let opened = bench.state.initialize(key("A"), ClientInfo::default(), None, bench.now).unwrap();
    let again = bench.state.place(Owner::Session(opened.session), None).unwrap();
    assert_eq!(&*again.name, "s-sessionA");
    assert_ne!(again.space, scratch.space);
}

#[test]
fn rows_say_whose_a_space_is_and_who_is_there() {
    let mut bench = Bench::new();
    let a = bench.owner("A");
    bench.state.place(a, Some("lab")).unwrap();
    bench.state.move_session(a, "lab");
    bench.state.move_session(Owner::Local, "lab");
    let rows = bench.state.spaces();
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
