//! Random histories of the registry against a model of it.
//!
//! The model is written from what the registry promises, not from how it keeps it. After every step everything the registry
//! shows is compared with the model, and every claim, grant, eviction and refusal on the way is judged. A history that fails is
//! shrunk and shown as a film strip: one line a step, with the answers of the registry.
//!
//! `PROPTEST_CASES` raises the number of histories.

mod cancel;
mod check;
mod delivery;
mod entries;
mod model;
mod op;
mod sessions;
mod steps;
mod world;

use op::History;
use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};
use remontoire::state::{ClientFacts, State};
use remontoire::words::{Limits, Time};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use world::World;

/// How long histories are at most.
const LONGEST: usize = 120;

fn run(history: &History) -> Result<(), (String, Vec<String>)> {
    let mut world = World::new(history).map_err(|broken| (broken, Vec::new()))?;
    for op in &history.ops {
        // A panic of the registry is a failure like another, with its film.
        let step = catch_unwind(AssertUnwindSafe(|| world.step(op)));
        step.unwrap_or_else(|_| Err(format!("panic in {op:?}"))).map_err(|broken| (broken, world.film.clone()))?;
    }
    world.finish()
}

#[test]
fn histories_agree_with_the_model() {
    let mut runner = TestRunner::new(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() });
    let tested = runner.run(&op::histories(LONGEST), |history| {
        run(&history).map_err(|(broken, film)| TestCaseError::fail(format!("{broken}\n\n{}\n", film.join("\n"))))
    });
    if let Err(failure) = tested {
        panic!("{failure}");
    }
}

/// A handle is never given out twice, also when its session is long gone, and gets a fourth letter when half of those with three
/// are used.
#[test]
fn handles_are_never_reused() {
    let mut registry: State<Arc<u64>> = State::new(Limits { sessions: 2, ..Limits::default() });
    let mut seed = 1_u64;
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        seed >> 33
    };
    let mut given = BTreeSet::new();
    for n in 0..4_500 {
        let created = registry.create_with_handle(&mut random, None, ClientFacts::default(), None, Time::START);
        let handle = created.expect("the idle one makes room").handle;
        assert_eq!(handle.as_str().len(), if n < 4_000 { 3 } else { 4 }, "letters of handle {n}: {handle}");
        assert!(check::is_handle(&handle), "{handle} is well formed");
        assert!(given.insert(handle.clone()), "{handle} was given out twice");
    }
}
