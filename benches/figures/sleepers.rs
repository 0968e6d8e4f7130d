//! Entries that wait: what a thousand of them cost, and how soon a cancel bites.

use crate::{Bench, duration, percentile, show};
use remontoire::internals::{HostApi, Owner, process_bytes};
use remontoire::{EvalRequest, Host, Status};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

const CHILDREN: usize = 1_000;

pub(crate) fn run(bench: &Bench) {
    if bench.wants("sleepers") {
        children(bench);
    }
    if bench.wants("cancel") {
        cancelling(bench);
    }
}

fn host() -> (Host, Runtime) {
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    (Host::builder().build().unwrap(), runtime)
}

/// What the process holds in memory, in bytes, where the system tells.
pub(crate) fn resident() -> Option<usize> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(statm.split(' ').nth(1)?.parse::<usize>().ok()? * 4096)
}

fn children(bench: &Bench) {
    let (host, runtime) = host();
    let eval = |code: &str| runtime.block_on(host.eval(code)).unwrap();
    eval("bg(|| 1).value()");
    let (counted, before) = (process_bytes(), resident());
    let (started, _) =
        bench.time(|| eval(&format!("let all = []; for n in 0..{CHILDREN} {{ all.push(bg(|| sleep(3600))); }}")));
    show("1,000 background children that sleep: to start them", duration(started));
    // All of them are asleep when one more eval has got a slot behind them.
    let (beside, _) = bench.time(|| eval("1"));
    show("… an eval beside them", duration(beside));
    show("… memory of each, counted", format!("{} KiB", (process_bytes().saturating_sub(counted) / CHILDREN) >> 10));
    if let (Some(before), Some(after)) = (before, resident()) {
        show("… memory of each, resident", format!("{} KiB", (after.saturating_sub(before) / CHILDREN) >> 10));
    }
    let (stopped, _) = bench.time(|| eval("for e in all { e.cancel(); } await_all(all).len()"));
    show("… to cancel all of them and see them end", duration(stopped));
}

fn cancelling(bench: &Bench) {
    let (host, runtime) = host();
    let api = HostApi::of(&host);
    for (figure, code) in [("a sleeping entry", "sleep(3600)"), ("a loop", "loop { }")] {
        let mut samples: Vec<Duration> = (0..500)
            .map(|_| {
                let submitted = api.submit(Owner::Local, &EvalRequest::new(code)).unwrap();
                let id = submitted.id();
                runtime.block_on(host.eval("sleep(0.001)")).unwrap();
                let (bitten, ()) = bench.time(|| {
                    host.cancel(id).unwrap();
                    runtime.block_on(api.settled(&[id], &[], None));
                });
                assert_eq!(api.entry(id).unwrap().status, Status::Cancelled);
                bitten
            })
            .collect();
        show(&format!("a cancel of {figure}, until it has ended, p50"), duration(percentile(&mut samples, 50)));
        show("… p99", duration(percentile(&mut samples, 99)));
    }
}
