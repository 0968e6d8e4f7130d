//! Random histories of the registry against a model of it.
//!
//! The model is written from what the registry promises, not from how it keeps it. After every step everything the registry
//! shows is compared with the model, and every claim, grant, eviction and refusal on the way is judged. A history that fails is
//! shrunk and shown as a trace: one line a step, with the answers of the registry.
//!
//! `PROPTEST_CASES` raises the number of histories.

mod cancel;
mod check;
mod delivery;
mod driver;
mod entries;
mod model;
mod op;
mod sessions;
mod steps;

use driver::Driver;
use op::{By, History, Jump, Name, Op, Pick, Tiny, Who};
use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};
use remontoire::internals::{ClientInfo, Registry, Time};
use remontoire::{Limits, Status};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Longest history, in steps.
const LONGEST: usize = 120;

/// Runs a history to its end. `Err`: the rule that was broken, and the trace up to there.
fn run(history: &History) -> Result<(), String> {
    let mut driver = Driver::new(history)?;
    let mut last = None;
    // A panic of the registry is a failure like another, with its trace.
    let played = catch_unwind(AssertUnwindSafe(|| {
        for op in &history.ops {
            last = Some(op);
            driver.step(op)?;
        }
        last = None;
        driver.tell_everybody()
    }));
    let broken = match played {
        Ok(Ok(())) => return driver.finish(),
        Ok(Err(broken)) => broken,
        Err(_) => format!("the registry panicked in {}", last.map_or("the end".to_owned(), |op| format!("{op:?}"))),
    };
    Err(plain(format!("{broken}\n\n{}\n", driver.trace.join("\n"))))
}

/// Ids as people write them: `3` for `EntryId(3)`.
fn plain(text: String) -> String {
    let wrappers = [("EntryId(", ""), ("SessionId(", ""), ("SpaceId(", ""), ("ClaimId(", "answer ")];
    wrappers.into_iter().fold(text, |text, (wrapper, word)| {
        let mut parts = text.split(wrapper);
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |text, part| format!("{text}{word}{}", part.replacen(')', "", 1)))
    })
}

#[test]
fn histories_agree_with_the_model() {
    let mut runner = TestRunner::new(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() });
    let tested = runner.run(&op::histories(LONGEST), |history| run(&history).map_err(TestCaseError::fail));
    if let Err(failure) = tested {
        panic!("{failure}");
    }
}

/// Histories that disagreed once, after shrinking.
#[test]
fn old_disagreements_are_settled() {
    let settle = |status| Op::Settle { entry: Pick::Fit(0), status, bytes: 0 };
    let nil = Op::Admit { who: Who::Live(0), elsewhere: 0 };
    let first = Op::Admit { who: Who::Live(1), elsewhere: 0 };
    let create = Op::Create { random: 0 };
    let told: [(&str, Vec<Op>); 5] = [
        ("a task answer for an id that is given out only later", vec![Op::Follow(Pick::Any(0)), nil]),
        (
            "an ended session may enter nothing",
            vec![Op::Initialize, Op::Delete(5), Op::Target(Who::Any(1), Some(Name::Lab))],
        ),
        (
            "a followed entry whose time is over, before anybody asks for news",
            vec![
                create.clone(),
                first.clone(),
                Op::Follow(Pick::Fit(0)),
                Op::Written(0),
                settle(Status::Ok),
                Op::Wait(Jump::Hours(2)),
            ],
        ),
        (
            "a child stopped by cancelling its parent, which has ended, is news",
            vec![
                create,
                first,
                Op::Child(Pick::Fit(0)),
                settle(Status::Ok),
                Op::Cancel(Pick::Any(0), By::Request),
                settle(Status::Cancelled),
            ],
        ),
        (
            "a child of a child that is gone hangs on whose child that was",
            vec![
                Op::Admit { who: Who::Live(0), elsewhere: 0 },
                Op::Child(Pick::Fit(0)),
                Op::Child(Pick::Fit(1)),
                Op::Settle { entry: Pick::Fit(1), status: Status::Ok, bytes: 0 },
                Op::Deliver(Pick::Any(1)),
                Op::Child(Pick::Fit(0)),
                Op::Release { who: Who::Live(0), cancel: true, speaking: Some(0) },
            ],
        ),
    ];
    for (what, ops) in told {
        if let Err(broken) = run(&History { limits: Tiny::TWO, ops }) {
            panic!("{what}: {broken}");
        }
    }
}

/// A handle is never given out twice, also when its session is long gone, and gets a fourth letter when half of those with three
/// are used.
#[test]
fn handles_are_never_reused() {
    let mut registry: Registry<Arc<u64>> = Registry::new(Limits { sessions: 2, ..Limits::default() });
    let mut seed = 1_u64;
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        seed >> 33
    };
    let mut given = BTreeSet::new();
    for n in 0..4_500 {
        let created = registry.create_with_handle(&mut random, None, ClientInfo::default(), None, Time::START);
        let handle = created.expect("the idle one makes room").handle;
        assert_eq!(handle.as_str().len(), if n < 4_000 { 3 } else { 4 }, "letters of handle {n}: {handle}");
        assert!(check::is_handle(&handle), "{handle} is well formed");
        assert!(given.insert(handle.clone()), "{handle} was given out twice");
    }
}
