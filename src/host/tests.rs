//! The host from inside: steps that only meet in a race, and how long a call spins.

use super::{EvalRequest, Host, HostApi};
use crate::base::{ClientInfo, Owner};
use crate::engine::SpaceView;
use std::time::Duration;

#[test]
fn a_look_ends_with_the_eval_or_soon() {
    let host = HostApi::of(&Host::builder().build().unwrap()).clone();
    let submit = |code: &str| host.submit(Owner::Local, &EvalRequest::new(code)).unwrap();
    let long = submit("loop { sleep(60) }");
    let before = host.clock().now();
    assert!(!host.settles_at_once(long.id()));
    assert!(host.clock().now().since(before) < Duration::from_secs(5), "it looks for a moment only");
    let short = submit("1");
    while !host.settles_at_once(short.id()) {
        assert!(host.clock().now().since(before) < Duration::from_secs(20), "a short eval is over soon");
    }
    host.close();
}

#[test]
fn a_space_that_ended_is_not_made_again() {
    let host = HostApi::of(&Host::builder().build().unwrap()).clone();
    let core = &host.core;
    let (_, caller) = host.create_session(None, ClientInfo::default(), None).unwrap();
    // Between the moment an eval knows its place and the moment it asks for the space, its session or the space ends.
    let scratch = core.registry().target_space(caller, None).unwrap();
    let shared = core.registry().target_space(Owner::Local, Some("workshop")).unwrap();
    let ended = {
        let mut registry = core.registry();
        let now = core.clock.now() + core.limits.silence;
        registry.expire(now)
    };
    assert_eq!(ended.len(), 1);
    core.sessions_ended(ended);
    let dropped = core.registry().drop_shared("workshop").unwrap();
    core.drop_space(dropped);
    // One of the same name is another.
    let again = core.registry().target_space(Owner::Local, Some("workshop")).unwrap();
    for place in [scratch, shared] {
        let space = core.space(place.space, &place.name);
        assert!(space.environment().is_none(), "{} has ended", place.name);
        assert!(core.known_space(place.space).is_none(), "{} is kept by nobody", place.name);
    }
    let space = core.space(again.space, &again.name);
    assert!(space.environment().is_some() && core.known_space(again.space).is_some());
}
