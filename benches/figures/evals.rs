//! Evals in process: on a warm thread, with the hand-off to it, and what publishing costs as a space grows.

use crate::{Bench, duration, judged, percentile, ratio, show};
use remontoire::internals::{HostApi, Owner};
use remontoire::{EntryId, EvalRequest, Host, Limits};
use rhai::{FuncRegistration, Module};
use std::fmt::Write as _;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// What a trivial eval may take on a warm thread.
const TARGET: Duration = Duration::from_micros(15);

/// One host whose evals run one after the other on one thread, and a latch that holds them back.
pub(crate) struct Lane {
    host: Host,
    runtime: Runtime,
    latch: Arc<(Mutex<bool>, Condvar)>,
}

impl Lane {
    pub(crate) fn new() -> Self {
        let latch: Arc<(Mutex<bool>, Condvar)> = Arc::default();
        let held = Arc::clone(&latch);
        let mut module = Module::new();
        FuncRegistration::new("hold").set_into_module(&mut module, move || {
            let open = held.0.lock().unwrap();
            drop(held.1.wait_while(open, |open| !*open).unwrap());
        });
        let limits =
            Limits { running: 1, reserved_slots: 0, queued: 100_000, live_entries: 200_000, ..Limits::default() };
        let host = Host::builder().limits(limits).module("latch", module).build().unwrap();
        Self { host, runtime: Builder::new_current_thread().enable_time().build().unwrap(), latch }
    }

    pub(crate) fn eval(&self, code: &str) {
        self.runtime.block_on(self.host.eval(code)).unwrap_or_else(|error| panic!("{code}: {error}"));
    }

    /// What one of `count` evals takes when the next is there before it has ended: without any hand-off between threads.
    pub(crate) fn back_to_back(&self, bench: &Bench, count: usize, code: impl Fn(usize) -> String) -> Duration {
        *self.latch.0.lock().unwrap() = false;
        let submit = |code: String| {
            let submitted = HostApi::of(&self.host).submit(Owner::Local, &EvalRequest::new(code)).unwrap();
            submitted.id()
        };
        submit("latch::hold()".to_owned());
        let ids: Vec<EntryId> = (0..count).map(|n| submit(code(n))).collect();
        let (taken, ()) = bench.time(|| {
            *self.latch.0.lock().unwrap() = true;
            self.latch.1.notify_all();
            self.runtime.block_on(HostApi::of(&self.host).settled(&ids[count - 1..], &[], None));
        });
        taken / u32::try_from(count).unwrap()
    }
}

pub(crate) fn run(bench: &Bench) {
    if bench.wants("eval") {
        trivial(bench);
        loops(bench);
    }
    if bench.wants("publish") {
        publishing(bench);
        watched(bench);
    }
}

/// Writing a variable must not cost more because a function reads it.
fn watched(bench: &Bench) {
    let time = |functions: &str| {
        let lane = Lane::new();
        let code = format!("let m = #{{}}; {functions} for i in 0..20000 {{ m[`k${{i}}`] = i; }} m.len()");
        let mut samples: Vec<_> = (0..7).map(|_| bench.time(|| lane.eval(&code)).0).collect();
        percentile(&mut samples, 50)
    };
    let (free, read) = (time(""), time("fn look(k) { m[k] }"));
    show("20,000 writes of a variable that no function reads", duration(free));
    show("… that a function reads, times that (at most 1.5)", judged(ratio(read, free), 1.5));
}

fn trivial(bench: &Bench) {
    let lane = Lane::new();
    lane.back_to_back(bench, 1_000, |_| "40 + 2".to_owned());
    let warm = lane.back_to_back(bench, 10_000, |_| "40 + 2".to_owned());
    let met = if warm <= TARGET { "✓" } else { "✗" };
    show("`40 + 2` on a warm thread (at most 15 µs)", format!("{} {met}", duration(warm)));

    let mut samples: Vec<_> = (0..5_000).map(|_| bench.time(|| lane.eval("40 + 2")).0).collect();
    let p50 = percentile(&mut samples, 50);
    show("the same with the hand-off to it and back, p50", duration(p50));
    show("… p99", duration(percentile(&mut samples, 99)));
    show("… p50, times the warm one", format!("{:.2}", ratio(p50, warm)));
}

fn loops(bench: &Bench) {
    let lane = Lane::new();
    let code = "let n = 0; while n < 1000000 { n += 1; } n";
    let plain = rhai::Engine::new();
    let mut samples: Vec<_> = (0..5).map(|_| bench.time(|| plain.run(code).unwrap()).0).collect();
    let base = percentile(&mut samples, 50);
    let mut samples: Vec<_> = (0..5).map(|_| bench.time(|| lane.eval(code)).0).collect();
    let steps = percentile(&mut samples, 50);
    show("a million steps of a loop", duration(steps));
    show("… times plain Rhai", format!("{:.2}", ratio(steps, base)));
    lane.eval("let list = []; for n in 0..1000000 { list.push(n); }");
    for (figure, code) in [
        ("a list of a million elements, not named by the eval", "1"),
        ("… read by it", "list.len()"),
        ("… changed by it", "list[0] += 1;"),
    ] {
        let mut samples: Vec<_> = (0..10).map(|_| bench.time(|| lane.eval(code)).0).collect();
        show(figure, duration(percentile(&mut samples, 50)));
    }
}

/// Writing one variable must not depend on how many others there are.
fn publishing(bench: &Bench) {
    let mut first = None;
    for variables in [10, 1_600, 9_999] {
        let lane = Lane::new();
        for chunk in (1..variables).collect::<Vec<usize>>().chunks(500) {
            let code = chunk.iter().fold(String::new(), |mut code, n| {
                write!(code, "let v{n} = {n};").unwrap();
                code
            });
            lane.eval(&code);
        }
        lane.eval("let x = 0;");
        lane.back_to_back(bench, 500, |_| "x += 1;".to_owned());
        let each = lane.back_to_back(bench, 5_000, |_| "x += 1;".to_owned());
        show(&format!("`x += 1` in a space of {variables} variables"), duration(each));
        match first {
            None => first = Some(each),
            Some(first) => show("… times that in a space of 10 (at most 2)", judged(ratio(each, first), 2.0)),
        }
    }
}
