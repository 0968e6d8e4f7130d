//! What must stay flat while a process runs: the time and the memory of evals that each define something new.

use crate::evals::Lane;
use crate::{Bench, duration, judged, ratio, show};
use remontoire::internals::process_bytes;
use std::time::Duration;

const ROUND: usize = 1_000;
const ROUNDS: usize = 10;

pub(crate) fn run(bench: &Bench) {
    if !bench.wants("growth") {
        return;
    }
    let lane = Lane::new();
    let code = |n: usize| format!("let f = |x| x + {n}; fn g(y) {{ y * {n} }} let t = `{n}`; f.call(1) + g(2)");
    let mut times = Vec::new();
    let mut memory = Vec::new();
    for round in 0..ROUNDS {
        times.push(lane.back_to_back(bench, ROUND, |n| code(round * ROUND + n)));
        memory.push(process_bytes());
    }
    // The first rounds fill what is kept: entries up to the capacity. Of three rounds the fastest: the machine's pace changes.
    let fastest = |rounds: &[Duration]| *rounds.iter().min().unwrap();
    let (early, late) = (fastest(&times[2..5]), fastest(&times[ROUNDS - 3..]));
    show("a new closure, function and variable, the 3,000th to 5,000th", duration(early));
    show("… the 8,000th to 10,000th", duration(late));
    show("… times the early ones (at most 1.5)", judged(ratio(late, early), 1.5));
    show("memory after 3,000 of them", format!("{} KiB", memory[2] >> 10));
    show("… after 10,000", format!("{} KiB", memory[ROUNDS - 1] >> 10));
    #[expect(clippy::cast_precision_loss, reason = "a ratio for reading")]
    let grown = memory[ROUNDS - 1] as f64 / memory[2] as f64;
    show("… times that after 3,000 (at most 1.1)", judged(grown, 1.1));
}
