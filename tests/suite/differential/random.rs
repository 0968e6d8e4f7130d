//! Random programs: all ways agree.

use super::grammar;
use super::runs::{Bench, Outcome};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use std::cell::RefCell;

/// Programs of a normal run; `PROPTEST_CASES` asks for more.
const CASES: u32 = 200;

/// A run is the same each time: `PROGRAM_SEED` is for another one.
fn runner() -> TestRunner {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u32>().ok());
    let mut seed = [0; 32];
    seed[..4].copy_from_slice(&number("PROGRAM_SEED").unwrap_or(1).to_le_bytes());
    let config = Config {
        cases: number("PROPTEST_CASES").unwrap_or(CASES),
        failure_persistence: None,
        max_shrink_iters: 500,
        ..Config::default()
    };
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &seed))
}

fn agree(bench: &mut Bench, pair: &grammar::Pair, failures: &mut u32) -> Result<(), TestCaseError> {
    let plain = bench.plainly(&pair.plain);
    let whole = bench.whole(&pair.ours);
    *failures += u32::from(plain.end.is_err());
    // What a failed program leaves is not what plain Rhai leaves, but it is the same in all ways.
    let meant = Outcome { variables: plain.variables.clone().or_else(|| whole.variables.clone()), ..plain };
    let parts = bench.in_parts(&pair.ours).map_err(TestCaseError::fail)?;
    for (way, outcome) in [("whole", whole), ("watched", bench.watched(&pair.ours)), ("in parts", parts)] {
        if let Some(difference) = outcome.against(&meant) {
            return Err(TestCaseError::fail(format!("{way}: {difference}\n{}", pair.ours)));
        }
    }
    Ok(())
}

#[test]
fn random_programs_mean_the_same_each_way() {
    let work = || {
        let bench = RefCell::new(Bench::new());
        let failures = RefCell::new(0);
        let mut runner = runner();
        let result =
            runner.run(&grammar::program(), |pair| agree(&mut bench.borrow_mut(), &pair, &mut failures.borrow_mut()));
        if let Err(error) = result {
            panic!("{error}");
        }
        // Most of them go through to their end, or they show little.
        let (failed, all) = (failures.into_inner(), runner.config().cases);
        assert!(failed * 4 < all, "{failed} of {all} programs fail");
    };
    std::thread::Builder::new().stack_size(super::runs::STACK).spawn(work).unwrap().join().unwrap();
}
