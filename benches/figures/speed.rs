//! How fast scripts run here beside the same Rhai without anything around it, in turns; and what the hooks cost that are there at
//! all, each by itself.

use crate::evals::Lane;
use crate::{Bench, duration, judged, percentile, ratio, show};
use rhai::{Dynamic, Engine, OptimizationLevel};
use std::time::Duration;

/// How often each program has its turn.
const ROUNDS: usize = 15;

/// Programs of one kind, and how many times plain Rhai they may take.
const KINDS: [(&str, f64, &str); 4] = [
    ("calls", 1.3, "fn fib(n) { if n < 2 { n } else { fib(n - 1) + fib(n - 2) } } fib(21)"),
    ("loops", 1.15, "let s = 0; for i in 0..150000 { s += i * 3 % 7; if s > 1000 { s -= 1000; } } s"),
    (
        "lists",
        1.15,
        "let l = []; for i in 0..60000 { l.push(i * 7919 % 60013); } let s = 0; for i in 0..60000 { s += l[i]; } l.sort(); \
         s + l[0] + l.len()",
    ),
    (
        "texts",
        1.15,
        "let t = \"\"; let n = 0; for i in 0..40000 { t += \"abc\"; if t.len() > 200 { n += t.sub_string(10, 20).len(); \
         t = t[0..50]; } } n",
    ),
];

/// A way to run a program.
struct Way<'a> {
    name: &'static str,
    run: Box<dyn Fn(&str) + 'a>,
    samples: Vec<Duration>,
}

pub(crate) fn run(bench: &Bench) {
    if !bench.wants("speed") {
        return;
    }
    let lane = Lane::new();
    for (kind, most, program) in KINDS {
        let mut ways = [
            Way::new("plain", plain(|_| {})),
            Way::new("a hook of progress", plain(on_progress)),
            Way::new("a hook of variables", plain(on_variables)),
            Way::new("here", |code: &str| lane.eval(code)),
        ];
        for _ in 0..ROUNDS {
            for way in &mut ways {
                let (taken, ()) = bench.time(|| (way.run)(program));
                way.samples.push(taken);
            }
        }
        let [plain, rest @ ..] = &mut ways;
        let base = percentile(&mut plain.samples, 50);
        show(&format!("{kind}, in plain Rhai"), duration(base));
        for way in rest {
            let times = ratio(percentile(&mut way.samples, 50), base);
            if way.name == "here" {
                show(&format!("… here, times that (at most {most})"), judged(times, most));
            } else {
                show(&format!("… with {} that does nothing, times that", way.name), format!("{times:.2}"));
            }
        }
    }
}

impl<'a> Way<'a> {
    fn new(name: &'static str, run: impl Fn(&str) + 'a) -> Self {
        Self { name, run: Box::new(run), samples: Vec::with_capacity(ROUNDS) }
    }
}

/// Rhai as it is, with this added.
fn plain(add: impl Fn(&mut Engine)) -> impl Fn(&str) {
    let mut engine = Engine::new();
    engine.set_optimization_level(OptimizationLevel::None);
    engine.set_max_expr_depths(0, 0);
    engine.set_max_call_levels(64);
    add(&mut engine);
    move |code| drop(engine.eval::<Dynamic>(code).unwrap())
}

fn on_progress(engine: &mut Engine) {
    engine.on_progress(|_| None);
}

#[expect(deprecated, reason = "marked volatile; the version is pinned")]
fn on_variables(engine: &mut Engine) {
    engine.on_var(|_, _, _| Ok(None));
}
