//! The figures of this build: `cargo bench --bench figures`, or only some of them by a part of their names:
//! `cargo bench --bench figures -- http publish`.
//!
//! Absolute times depend on the machine and on what else runs on it, so what matters is measured against something else in the same
//! run, and shown as a ratio. Where there is a target the line says whether it is met.

#![allow(clippy::print_stdout, reason = "figures are for reading")]
#![allow(clippy::unwrap_used, reason = "a bench that unwraps fails where it should")]

mod evals; // what an eval costs, in process
mod growth; // what stays the same however long the process runs
mod handing; // what it costs to show functions the variables they read, and atoms
mod library; // the native modules beside scripts that do the same
mod resident; // what the system shows beside what is held
mod sleepers; // entries that wait
mod speed; // how fast scripts run, against plain Rhai
mod wire; // what an eval costs over HTTP, against a bare route

use remontoire::Clock;
use std::time::Duration;

/// Memory is part of the figures.
#[global_allocator]
static ALLOCATOR: remontoire::CountingAllocator = remontoire::CountingAllocator;

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let bench = Bench { clock: Clock::real(), wanted };
    if resident::ran_again(&bench) {
        return;
    }
    println!("{:<62} {:>12}", "figure", "value");
    evals::run(&bench);
    speed::run(&bench);
    handing::run(&bench);
    library::run(&bench);
    growth::run(&bench);
    sleepers::run(&bench);
    wire::run(&bench);
    resident::run(&bench);
}

/// What is wanted, and a clock to measure with.
struct Bench {
    clock: Clock,
    wanted: Vec<String>,
}

impl Bench {
    /// Whether a group of figures is wanted.
    fn wants(&self, group: &str) -> bool {
        self.wanted.is_empty() || self.wanted.iter().any(|wanted| group.contains(wanted.as_str()))
    }

    /// How long `work` takes.
    fn time<T>(&self, work: impl FnOnce() -> T) -> (Duration, T) {
        let begun = self.clock.now();
        let done = work();
        (self.clock.now().since(begun), done)
    }
}

/// A figure on a line.
fn show(figure: &str, value: impl std::fmt::Display) {
    println!("{figure:<62} {value:>12}");
}

/// A time as people read it.
fn duration(time: Duration) -> String {
    match time.as_nanos() {
        n if n < 10_000 => format!("{n} ns"),
        n if n < 10_000_000 => format!("{} µs", n / 1_000),
        n => format!("{} ms", n / 1_000_000),
    }
}

/// How many times `a` is `b`.
fn ratio(a: Duration, b: Duration) -> f64 {
    a.as_secs_f64() / b.as_secs_f64().max(1e-9)
}

/// A ratio, and whether it is within its target.
fn judged(ratio: f64, most: f64) -> String {
    format!("{ratio:.2} {}", if ratio <= most { "✓" } else { "✗" })
}

/// The time that so many of a hundred samples do not exceed.
fn percentile(samples: &mut [Duration], percent: usize) -> Duration {
    samples.sort_unstable();
    samples[(samples.len() - 1) * percent / 100]
}
