//! Handing variables to functions: what a write costs when functions read the variable, and a call that does not read it.

use crate::evals::Lane;
use crate::{Bench, duration, judged, percentile, ratio, show};
use std::time::Duration;

/// How often each program has its turn.
const ROUNDS: usize = 9;

pub(crate) fn run(bench: &Bench) {
    if bench.wants("publish") {
        writes(bench);
    }
    if bench.wants("atoms") {
        atoms(bench);
    }
}

/// The median times of programs, run in turns in sessions of their own. `%` in a program is a number that is not used twice.
fn in_turns<const N: usize>(bench: &Bench, programs: [&str; N]) -> [Duration; N] {
    let lane = Lane::new();
    let mut samples: [Vec<Duration>; N] = std::array::from_fn(|_| Vec::new());
    for round in 0..ROUNDS {
        for (index, program) in programs.iter().enumerate() {
            let code = program.replace('%', &format!("{index}_{round}"));
            samples[index].push(bench.time(|| lane.eval(&code)).0);
        }
    }
    samples.each_mut().map(|samples| percentile(samples, 50))
}

fn writes(bench: &Bench) {
    let key = "fn key_%(i) { `k${i}` }";
    let have = "fn have_%(k) { k in m_% }";
    let writing = "let m_% = #{}; for i in 0..20000 { let k = key_%(i); m_%[k] = i; }";
    let [free, read] = in_turns(bench, [&format!("{key} {writing}"), &format!("{key} {have} {writing}")]);
    show("20,000 writes beside a call, no function reads the variable", duration(free));
    show("… another function reads it, times that (at most 1.5)", judged(ratio(read, free), 1.5));

    let pushing = "let l_% = []; for i in 0..20000 { l_%.push(i); let z = 0; }";
    let reader = "fn r_%() { l_%.len() }";
    let [free, read] = in_turns(bench, [pushing, &format!("{reader} {pushing}")]);
    show("20,000 pushes to a list that no function reads", duration(free));
    show("… that a function reads, times that (at most 1.5)", judged(ratio(read, free), 1.5));

    let mapping = "let l_% = []; for i in 0..20000 { l_%.push(i); [1].map(|x| x); }";
    let [free, read] = in_turns(bench, [mapping, &format!("{reader} {mapping}")]);
    show("20,000 pushes beside a closure, no function reads the list", duration(free));
    show("… a function reads it, times that (at most 1.5)", judged(ratio(read, free), 1.5));

    let [one, two] = in_turns(bench, [1_000, 2_000].map(reading).each_ref().map(String::as_str));
    show("1,000 pushes and calls of a function that reads 20,000 items", duration(one));
    show("… 2,000, times that (at most 2.5: a copy a call)", judged(ratio(two, one), 2.5));

    let keys = "let sold_% = #{}; for i in 0..2000 { sold_%[`k${i}`] = i; } let o_% = sold_%;";
    let best = |map: &str| {
        format!(
            "{keys} for n in 0..20 {{ {map}.keys().reduce(|best, k| if sold_%[k] > 5 {{ k }} else {{ best }}, \"\"); }}"
        )
    };
    let [other, same] = in_turns(bench, [&best("o_%"), &best("sold_%")]);
    show("20 × reduce over the 2,000 keys of another map", duration(other));
    show("… of the map that the closure captured, times that (at most 1.5)", judged(ratio(same, other), 1.5));
}

fn reading(calls: usize) -> String {
    format!("let l_% = []; l_%.pad(20000, 0); fn r_%() {{ l_%.len() }} for i in 0..{calls} {{ l_%.push(i); r_%(); }}")
}

/// An atom of a million elements: changed as a whole, in place, and read.
fn atoms(bench: &Bench) {
    let lane = Lane::new();
    lane.eval("let a = atom([]); a.change(|| this.pad(1000000, 0));");
    let time = |code: &str| {
        let mut samples: Vec<_> = (0..5).map(|_| bench.time(|| lane.eval(code)).0).collect();
        percentile(&mut samples, 50)
    };
    let swap = time("for i in 0..20 { a.swap(|l| { l.push(1); l }); }");
    let change = time("for i in 0..20 { a.change(|| this.push(1)); }");
    let read = time("for i in 0..20 { a.read(|| this[5]); }");
    show("an atom of 1,000,000 elements, 20 × swap", duration(swap));
    show("… 20 × change", duration(change));
    show("… 20 × read", duration(read));
    show("… change, times swap (at most 0.1)", judged(ratio(change, swap), 0.1));
}
