//! Cancelling, time limits, `timeout`.

use super::harness::Harness;
use crate::base::{Clock, Limits, StopCause};
use std::time::Duration;

#[test]
fn everything_can_be_cancelled() {
    let s = Harness::new().session();
    let rows = [
        "gate(\"go\"); loop {}",
        "gate(\"go\"); sleep(60)",
        "gate(\"go\"); sleep(1e300)",
        "gate(\"go\"); sleep(9223372036854775807)",
        "gate(\"go\"); loop { try { [1].map(|x| { loop {} }) } catch { } }",
        "gate(\"go\"); try { [1].map(|x| { loop {} }) } catch { } 5",
        "gate(\"go\"); loop { try { sleep(60) } catch { } }",
        "let a = []; for i in 0..3000 { a.push((i * 7919) % 3001) } gate(\"go\"); a.sort(|x, y| { sleep(0.001); x - y })",
        "let a = []; a.pad(200000, 1); gate(\"go\"); a.sort(|x, y| { let n = 0; while n < 100 { n += 1 } 0 })",
        "fn r(n) { if n > 0 { r(n - 1) } } gate(\"go\"); loop { r(20) }",
        "let f = || { loop {} }; gate(\"go\"); f.call()",
        "gate(\"go\"); bg(|| sleep(60)).value()",
        "gate(\"go\"); await_all([bg(|| sleep(60))])",
        "gate(\"go\"); await_any([bg(|| sleep(60))])",
        "let big = []; big.pad(300000, 1); gate(\"go\"); loop { big.push(1); let z = 1; }",
        "gate(\"go\"); timeout(60.0, || { loop {} })",
        "let a = []; for i in 0..1000 { a.push([i, [i]]) } gate(\"go\"); loop { a == a; a.index_of([5000]); a.to_string(); }",
    ];
    let jobs: Vec<_> = rows.iter().map(|code| s.start(code)).collect();
    s.harness.arrived("go", rows.len());
    s.harness.open("go");
    for (job, code) in jobs.iter().zip(rows) {
        job.cancel();
        assert!(job.join_for(Duration::from_secs(10)), "{code} goes on");
        assert_eq!(job.show(), "cancelled", "{code}");
    }
}

#[test]
fn a_cancelled_eval_keeps_and_names_what_it_committed() {
    let s = Harness::new().session();
    let job = s.start("let before = 1; print(\"line\"); gate(\"a\"); let after = 2;");
    s.harness.arrived("a", 1);
    job.cancel();
    assert!(job.join());
    assert_eq!(
        (job.show().as_str(), job.committed(), job.output()),
        ("cancelled", vec!["before".into()], vec!["line".into()])
    );
    assert!(job.ended().kept.is_empty());
    s.is("before", "1");
    s.has("after", "VariableNotFound");
}

#[test]
fn a_statement_that_breaks_off_commits_nothing() {
    let s = Harness::new().session();
    let failed =
        s.has("let n = 0; let m = #{}; for i in 0..5 { n += 1; m.k = n; if i == 3 { throw \"stop\" } }", "stop");
    assert_eq!(failed.committed(), ["n", "m"]);
    s.is("[n, m]", "[0, #{}]");
    assert!(s.has("n = 7; n += 1 / 0; n = 9;", "division by zero").committed() == ["n"]);
    s.is("n", "7");
    let job = s.start("for i in 0..9 { n += 1; gate(\"a\") }");
    s.harness.arrived("a", 1);
    job.cancel();
    assert!(job.join());
    assert_eq!((job.show().as_str(), job.committed()), ("cancelled", vec![]));
    s.is("n", "7");
    s.is("if n == 7 { n = 8; return n; } 0", "8");
    s.is("n", "8");
    s.is("for i in 0..9 { n += 1; if i == 1 { exit(n) } }", "10");
    s.is("n", "10");
}

#[test]
fn native_code_ends_late_but_the_cancel_decides() {
    let s = Harness::new().session();
    let job = s.start("block_native(\"n\"); 5");
    s.harness.arrived("n", 1);
    job.cancel();
    assert!(!job.join_for(Duration::from_millis(50)));
    assert!(job.task.stopped_at().is_some());
    s.harness.open("n");
    assert!(job.join());
    assert_eq!(job.show(), "cancelled");
}

#[test]
fn the_first_cause_decides() {
    let s = Harness::new().session();
    let job = s.start("gate(\"a\"); 1");
    s.harness.arrived("a", 1);
    assert!(job.task.stop(StopCause::Shutdown));
    assert!(!job.task.stop(StopCause::Cancelled));
    assert!(job.join());
    assert_eq!(job.show(), "stopped Shutdown");
}

#[test]
fn timeouts_end_what_takes_too_long_and_nothing_else() {
    let s = Harness::new().session();
    let timed_out =
        |call: &str| format!("let k = (); try {{ {call} }} catch (e) {{ k = e.kind + \": \" + e.message; }} k");
    s.is(&timed_out("timeout(0.05, || { loop {} })"), "Timeout: timed out after 0.05 s");
    s.is("timeout(60.0, || 42)", "42");
    s.is(&timed_out("timeout(0.05, || { try { sleep(60.0) } catch { } loop { } })"), "Timeout: timed out after 0.05 s");
    s.is(&timed_out("timeout(60.0, || timeout(0.05, || sleep(60.0)))"), "Timeout: timed out after 0.05 s");
    s.is(&timed_out("timeout(0.05, || timeout(60.0, || sleep(60.0)))"), "Timeout: timed out after 0.05 s");
    s.has("timeout(60.0, || throw 5)", "5");
    s.is(&timed_out("timeout(0.02, || { let a = []; loop { a.push(1) } })"), "Timeout: timed out after 0.02 s");
    s.has("timeout(0.05, || { loop {} })", "Timeout: timed out after 0.05 s");
}

#[test]
fn the_clock_can_be_moved_by_hand() {
    let clock = Clock::manual();
    let limits = Limits { eval_time: Some(Duration::from_secs(100_000)), ..Limits::default() };
    let harness = Harness::with(limits, clock.clone());
    let s = harness.session();
    let sleeper = s.start("let t = 0; gate(\"s\"); sleep(30); t = 1; t");
    let looper = s.start("gate(\"l\"); loop {}");
    let changer = s.start("let t = 1; try { timeout(90.0, || { t += 1; gate(\"c\"); loop {} }) } catch { } t");
    let swallower = s.start("gate(\"w\"); loop { try { [1].map(|x| { loop {} }) } catch {} }");
    for gate in ["s", "l", "c", "w"] {
        harness.arrived(gate, 1);
        harness.open(gate);
    }
    while !sleeper.join_for(Duration::from_millis(20)) {
        clock.advance(Duration::from_secs(1));
    }
    assert_eq!(sleeper.show(), "1");
    assert!(!looper.is_done());
    clock.advance(Duration::from_secs(90));
    assert!(changer.join());
    assert_eq!(changer.show(), "2", "what it did until then stays done");
    clock.advance(Duration::from_secs(100_000));
    for job in [looper, swallower] {
        assert!(job.join());
        assert_eq!(job.show(), "!TimeLimit: the eval ran into its time limit of 100000 seconds");
    }
}
