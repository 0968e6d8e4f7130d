//! Background children: values, environment, lifetime, circles of waiting.

use super::harness::Harness;
use crate::base::{Clock, Limits};
use std::time::Duration;

#[test]
fn children_have_what_their_parent_has() {
    let s = Harness::new().session();
    s.is("let e = bg(|| 21 * 2); e.value()", "42");
    s.is("fn wk(n) { n + 1 } bg(|| wk(1)).value()", "2");
    s.is("let k = 5; let e = bg(|| { k += 1; k }); [e.value(), k]", "[6, 6]");
    s.has("bg(|| throw #{code: 7}).value()", "7");
    s.is("bg(wk.curry(4)).value()", "5");
    s.is("bg(wk.curry(9)).value()", "10");
    s.is("bg(|| bg(|| whoami()).value()).value() > 0", "true");
    s.is("bg(|| { exit(7); 8 }).value()", "7");
    s.is("let seen = 3; fn sees() { seen } bg(|| sees()).value()", "3");
    s.is("await_all([bg(|| 1), bg(|| 2)]).map(|e| e.value())", "[1, 2]");
    s.is("let l = [bg(|| 1), bg(|| sleep(60))]; let d = await_any(l); d.len()", "1");
    s.is("let fails = bg(|| 1/0); try { fails.value() } catch (e) { print(e.kind) } 3", "3");
    s.is(
        "let e = bg(|| 5); e.value(); [e.status, e.parent == whoami(), e.id == e.id, e == e]",
        "[\"ok\", true, true, true]",
    );
}

#[test]
fn what_a_child_wrote_while_its_parent_ran_stays() {
    let s = Harness::new().session();
    s.run("let n = 1; let list = []; let read = 7;");
    let child = "let gone = atom(false); let e = bg(|| { while !gone.get() {} n += read; list.push(2); });";
    s.is(&format!("{child} gone.set(true); e.value(); [n, list]"), "[8, [2]]");
    s.is("[n, list]", "[8, [2]]");
    // Also when the parent fails.
    s.has(&format!("{child} gone.set(true); e.value(); throw 1;"), "1");
    s.is("[n, list, read]", "[15, [2, 2], 7]");
    // What was only captured meanwhile belongs to whoever wrote it last.
    s.run("let when = timestamp(); let span = 1..5; let from = \"ab\".chars();");
    let reading = s.start("[1].map(|x| [when.elapsed, span.contains(x), type_of(from)]); gate(\"r\"); 1");
    s.harness.arrived("r", 1);
    s.run("when = 1; span = 2; from = 3;");
    s.harness.open("r");
    assert!(reading.join());
    s.is("[when, span, from]", "[1, 2, 3]");
}

#[test]
fn children_live_as_long_as_someone_holds_them() {
    let s = Harness::new().session();
    let parent = s.is("bg(|| { sleep(60.0); 1 }); 5", "5");
    assert_eq!(parent.newest_child().show(), "cancelled", "nobody held it");
    let parent = s.run("bg(|| { gate(\"a\"); 9 })");
    let child = parent.newest_child();
    assert_eq!(child.show(), "running", "it is the result");
    s.harness.open("a");
    assert!(child.join());
    assert_eq!(child.show(), "9");
    let parent = s.run("let e = bg(|| { gate(\"b\"); 9 }); e.detach(); e = (); 1");
    let child = parent.newest_child();
    assert_eq!(child.show(), "running", "it is detached");
    s.harness.open("b");
    assert!(child.join());
    let parent = s.is("let e = bg(|| sleep(60)); e = (); 1", "1");
    assert_eq!(parent.newest_child().show(), "cancelled", "the variable no longer holds it");
    s.run("let kept = [bg(|| { gate(\"c\"); 8 })];");
    s.harness.open("c");
    s.is("kept[0].value()", "8");
    s.run("let cell = atom(()); ");
    let parent = s.run("cell.set(bg(|| { gate(\"d\"); 7 })); 1");
    assert_eq!(parent.newest_child().show(), "running", "an atom holds it");
    s.harness.open("d");
    s.is("cell.get().value()", "7");
}

#[test]
fn cancelling_a_parent_cancels_its_children() {
    let s = Harness::new().session();
    let parent = s.start("let e = bg(|| { gate(\"a\"); loop {} }); e.value()");
    s.harness.arrived("a", 1);
    parent.cancel();
    assert!(parent.join());
    assert_eq!(parent.show(), "cancelled");
    let child = parent.newest_child();
    assert!(child.join());
    assert_eq!(child.show(), "cancelled");
}

#[test]
fn output_of_a_child_is_its_own() {
    let s = Harness::new().session();
    let parent = s.run("let e = bg(|| { print(`child ${whoami()}`); 1 }); e.value(); e");
    let child = parent.newest_child();
    assert!(parent.output().is_empty());
    assert_eq!(child.output(), [format!("child {}", child.id)]);
}

#[test]
fn waiting_in_a_circle_is_an_error_at_once() {
    let harness = Harness::new();
    let s = harness.session();
    let me = harness.newest() + 1;
    s.has(&format!("res({me}).value()"), &format!("deadlock: {me} → {me}"));
    s.has("let me = whoami(); bg(|| res(me).value()).value()", "deadlock");
    let first = harness.newest() + 1;
    let one = s.start(&format!("gate(\"a\"); res({}).value()", first + 1));
    let two = s.start(&format!("gate(\"a\"); res({first}).value()"));
    harness.arrived("a", 2);
    harness.open("a");
    assert!(one.join() && two.join());
    assert!(one.show().contains("deadlock") || two.show().contains("deadlock"));
}

#[test]
fn waiting_evals_give_their_slots_back() {
    let harness = Harness::with(Limits { running: 2, ..Limits::default() }, Clock::real());
    let s = harness.session();
    let jobs: Vec<_> = (0..10).map(|_| s.start("bg(|| bg(|| { sleep(0.01); 1 }).value()).value()")).collect();
    for job in &jobs {
        assert!(job.join_for(Duration::from_secs(30)));
        assert_eq!(job.show(), "1");
    }
    let sleepers: Vec<_> = (0..40).map(|_| s.start("gate(\"a\")")).collect();
    harness.arrived("a", 40);
    harness.open("a");
    assert!(sleepers.iter().all(|job| job.join()));
}
