//! Evals side by side in one space: snapshots, commit points, conflicts, captured variables, atoms, output.

use super::harness::{Harness, Job, Session, lines};
use std::sync::Arc;

fn join_all(jobs: &[Arc<Job>]) {
    assert!(jobs.iter().all(|job| job.join()), "all end");
}

/// Runs `code`, which stops at gate `g`, then `meanwhile`, then lets it go on.
fn beside(s: &Session, gate: &str, code: &str, meanwhile: &str) -> (Arc<Job>, Arc<Job>) {
    let job = s.start(code);
    s.harness.arrived(gate, 1);
    let other = s.run(meanwhile);
    s.harness.open(gate);
    assert!(job.join());
    (job, other)
}

#[test]
fn the_last_write_wins_and_is_announced() {
    let s = Harness::new().session();
    s.run("let x = 1;");
    let (job, other) = beside(&s, "a", "x; gate(\"a\"); x = 2; x", "x = 50; x");
    assert_eq!((job.show().as_str(), other.show().as_str()), ("2", "50"));
    assert_eq!(job.conflicts(), [format!("x {}", other.id)]);
    assert!(other.conflicts().is_empty());
    s.is("x", "2");
    assert_eq!(job.ended().lost["x"].as_int(), Ok(50));
    s.is(&format!("res({}).lost.x", job.id), "50");
}

#[test]
fn a_variable_that_was_set_before_the_eval_began_is_no_conflict() {
    let s = Harness::new().session();
    s.run("let v = 1; fn reads() { v }");
    assert!(s.run("let v = 2;").conflicts().is_empty());
    assert!(s.run("if true { let v = 3; } let v = 4; { v = 5; reads(); } v += 1;").conflicts().is_empty());
    let (job, other) = beside(&s, "a", "gate(\"a\"); let v = 2; let fresh = 1;", "v = 50; let fresh = 2;");
    assert_eq!(job.conflicts(), [format!("v {}", other.id), format!("fresh {}", other.id)]);
}

#[test]
fn what_was_not_written_is_not_committed() {
    let s = Harness::new().session();
    s.run("let x = 1; let y = 1; let w = [1];");
    let code = "let r = x; gate(\"a\"); let c = r > 999; if c { y = 9 } if !c { let y = 3; y += 1; } w.len(); y";
    let (job, _) = beside(&s, "a", code, "y = 77; w.push(2)");
    assert!(job.conflicts().is_empty());
    s.is("[y, w]", "[77, [1, 2]]");
}

#[test]
fn a_value_that_was_written_back_unchanged_is_no_conflict() {
    let s = Harness::new().session();
    s.run("let n = 1; fn reads() { n }");
    let (job, _) = beside(&s, "a", "for i in 0..2 { n = n; reads(); } gate(\"a\"); for i in 0..2 { n = n; }", "n = 5;");
    assert!(job.conflicts().is_empty());
    s.is("n", "5");
}

#[test]
fn a_statement_is_committed_when_it_ends() {
    let s = Harness::new().session();
    let job = s.start("let q = 0; for i in 0..30 { q = i; if i == 7 { gate(\"a\"); } } q");
    s.harness.arrived("a", 1);
    s.is("q", "0");
    s.harness.open("a");
    assert!(job.join());
    s.is("q", "29");
    let (job, early) = beside(&s, "b", "let early = 1; gate(\"b\"); early = 2;", "early");
    assert_eq!(early.show(), "1");
    assert_eq!(job.committed(), ["early"]);
    s.is("early", "2");
}

#[test]
fn running_evals_keep_their_functions() {
    let s = Harness::new().session();
    s.run("fn ver() { 1 }");
    let (job, other) = beside(&s, "a", "let a1 = ver(); gate(\"a\"); [a1, ver()]", "fn ver() { 2 } ver()");
    assert_eq!((job.show().as_str(), other.show().as_str()), ("[1, 1]", "2"));
    s.run("let sc = || ver();");
    let (job, _) = beside(&s, "b", "let a1 = sc.call(); gate(\"b\"); [a1, sc.call()]", "fn ver() { 3 }");
    assert_eq!(job.show(), "[2, 2]");
    s.is("sc.call()", "3");
}

#[test]
fn functions_defined_by_two_evals_at_once_are_announced_to_both() {
    let s = Harness::new().session();
    s.run("fn f() { 0 }");
    let (job, other) = beside(&s, "a", "fn f() { 1 } gate(\"a\"); f()", "fn f() { 2 } f()");
    assert_eq!((job.show().as_str(), other.show().as_str()), ("1", "2"));
    assert_eq!(job.conflicts(), [format!("fn f {}", other.id)]);
    assert_eq!(other.conflicts(), [format!("fn f {}", job.id)]);
    assert!(s.run("fn f() { 3 }").conflicts().is_empty(), "one after the other is no conflict");
    s.is("f()", "3");
}

#[test]
fn a_captured_counter_loses_no_step() {
    let s = Harness::new().session();
    s.run("let cnt = 0; let bump = || { cnt += 1; };");
    let jobs: Vec<_> = (0..8).map(|_| s.start("for i in 0..200 { bump.call() }")).collect();
    join_all(&jobs);
    jobs.iter().for_each(|job| assert_eq!(job.show(), ""));
    s.is("cnt", "1600");
}

#[test]
fn a_captured_variable_that_is_held_fails_by_name_and_recovers() {
    let s = Harness::new().session();
    s.run("let held = [1, 2, 3]; let peek = || held.len();");
    let (job, peek) = beside(&s, "a", "held.map(|v| { gate(\"a\"); v })", "peek.call()");
    assert!(peek.show().contains("DataRace: 'held' is in use"), "{}", peek.show());
    assert_eq!(job.show(), "[1, 2, 3]");
    s.is("held.push(4); held.len()", "4");
    super::harness::quiet();
    s.run("let pz = [1]; let pc = || pz.len();");
    s.has("pz.map(|v| boom())", "panicked");
    s.is("pz.len()", "1");
    s.is("let pz = [2]; pz.len()", "1");
}

#[test]
fn capturing_is_a_read() {
    let s = Harness::new().session();
    s.run("let x = 1; let arr = [1];");
    let (job, _) = beside(&s, "a", "let r = [1,2].map(|v| v + x); gate(\"a\"); r", "x = 50;");
    assert!(job.conflicts().is_empty());
    assert_eq!(job.show(), "[2, 3]");
    s.is("x", "50");
    s.is("is_shared(x)", "false");
    s.is("let r = 0; [1,2].for_each(|| r += this); r", "3");
    s.is("r", "3");
    s.is("is_shared(r)", "false");
    s.is("let st = |v| v + x; is_shared(x)", "true");
    s.is("x = 7; st.call(1)", "8");
    s.is("st.call(1)", "8");
    // A write to a captured variable goes straight to its cell: it cannot be announced.
    let (job, _) = beside(&s, "b", "x; gate(\"b\"); x = 2; x", "x = 60;");
    assert!(job.conflicts().is_empty());
    s.is("x", "2");
}

#[test]
fn functions_see_what_their_own_statement_has_done() {
    let s = Harness::new().session();
    s.is("let l = []; for i in 0..3 { l.push(i) } for i in l { if i == 1 { return i * 100; } }", "100");
    s.is("let total = 0; fn rep() { total } let r = if true { total = 5; rep() } else { 0 }; r", "5");
    s.is("let r = switch 1 { 1 => { total = 6; rep() } _ => 0 }; r", "6");
    s.is("let r = { total = 7; total + rep() }; r", "14");
    s.is("try { total = 8; throw rep() } catch (e) { total = e + 1; print(rep()) } rep()", "9");
    s.is("[1,2].map(|v| { total += v; rep() })", "[10, 12]");
    s.is("[total, rep()]", "[12, 12]");
    s.is("total = 0; while total < 3 { total += 1; if rep() != total { throw \"stale\" } } total", "3");
    s.is("do { total -= 1; if rep() != total { throw \"stale\" } } while total > 0; total", "0");
}

#[test]
fn five_hundred_evals_in_one_space() {
    let s = Harness::new().session();
    let jobs: Vec<_> = (0..500).map(|i| s.start(&format!("let v{i} = {i}; gate(\"all\"); v{i} + 1"))).collect();
    s.harness.arrived("all", 500);
    s.harness.open("all");
    join_all(&jobs);
    for (i, job) in jobs.iter().enumerate() {
        assert_eq!(job.show(), (i + 1).to_string());
    }
    assert_eq!(s.space.variable_count(), 500);
}

#[test]
fn atoms_are_safe_between_evals() {
    let s = Harness::new().session();
    s.run("let at = atom(0);");
    let jobs: Vec<_> = (0..8).map(|_| s.start("for i in 0..100 { at.swap(|v| v + 1) }")).collect();
    join_all(&jobs);
    for job in &jobs {
        assert_eq!(job.show(), "");
        assert!(job.conflicts().is_empty());
    }
    s.is("at.get()", "800");
    s.is("at.set(|x| x + 1); at.get().call(4)", "5");
    s.is("at.get().call(5)", "6");
    s.is("fn wr() { at.set(7); at.get() } wr()", "7");
    s.has("at.swap(|v| { at.set(1); v })", "NestedSwap");
    s.is("at.swap(|v| at.get() + 1)", "8");
    s.is("at == at && at != atom(8)", "true");
}

#[test]
fn atoms_in_closures_are_safe_between_children() {
    let s = Harness::new().session();
    let code = "let hits = atom(0); let kids = []; \
                for i in 0..4 { kids.push(bg(|| { for j in 0..50 { hits.swap(|n| n + 1) } })) } \
                for kid in kids { kid.value(); } hits.get()";
    s.is(code, "200");
    s.run("let hits = atom(0); let bump = || { hits.swap(|n| n + 1); };");
    let jobs: Vec<_> = (0..4).map(|_| s.start("for i in 0..50 { bump.call() }")).collect();
    join_all(&jobs);
    jobs.iter().for_each(|job| assert_eq!(job.show(), ""));
    s.is("hits.get()", "200");
}

#[test]
fn a_swap_owns_its_atom_and_others_wait_cancellably() {
    let s = Harness::new().session();
    s.run("let at = atom(1);");
    let owner = s.start("at.swap(|v| { gate(\"a\"); v + 1 })");
    s.harness.arrived("a", 1);
    s.is("at.get()", "1");
    let cancelled = s.start("at.swap(|v| 100)");
    let waiting = s.start("at.set(50)");
    assert!(!waiting.is_done());
    cancelled.cancel();
    assert!(cancelled.join());
    assert_eq!(cancelled.show(), "cancelled");
    s.harness.open("a");
    assert!(owner.join() && waiting.join());
    assert_eq!((owner.show().as_str(), waiting.show().as_str()), ("2", ""));
    s.is("at.get()", "50");
    // The child waits for the atom that its parent owns while the parent waits for the child.
    let parent = s.has("at.swap(|v| bg(|| at.set(1)).value())", "deadlock");
    // Whichever of the two was refused, the child may still have come to its set.
    assert!(parent.newest_child().join());
    s.run("at.set(50)");
    s.has("at.swap(|v| throw 1)", "1");
    s.is("at.swap(|v| v + 1)", "51");
}

#[test]
fn change_works_on_the_value_where_it_is_and_read_only_looks() {
    let s = Harness::new().session();
    s.run("let at = atom([1, 2, [3]]);");
    s.is("at.change(|| this.push(4))", "");
    s.is("at.change(|| this.pop()) + at.get().len()", "7");
    s.is("let add = 10; at.change(|| { this[0] += add; this.len() })", "3");
    s.is("at.get()", "[11, 2, [3]]");
    // What was done before an error stays.
    s.has("at.change(|| { this[1] = 5; throw \"late\" })", "late");
    s.is("at.get()", "[11, 5, [3]]");
    s.is("at.read(|| this[2][0])", "3");
    s.is("let inner = at.read(|| this[2]); inner.push(4); [inner, at.get()]", "[[3, 4], [11, 5, [3]]]");
    for write in ["this.push(1)", "this[0] = 1", "this[2][0] = 1", "this[2].push(1)", "this = 1"] {
        s.has(&format!("at.read(|| {{ {write}; 0 }})"), "onstant");
    }
    s.is("at.get()", "[11, 5, [3]]");
    // After a look it can be changed again, in all its parts.
    s.is("at.change(|| { this[2].push(7); this[2][0] = 6; this.push(1) }); at.get()", "[11, 5, [6, 7], 1]");
    s.is("const L = [1]; let of = atom(L); of.change(|| this.push(2)); of.get()", "[1, 2]");
    s.is("let n = atom(1); n.change(|| this += 1); n.change(|| { this = [this] }); n.get()", "[2]");
    s.is(
        "fn grow() { this.push(0) } let l = atom([]); l.change(grow); l.change(Fn(\"grow\")); l.read(|| this.len())",
        "2",
    );
    s.has("at.change(|x| x)", "the value of the atom is `this`");
    s.has("at.read(|x| x)", "the value of the atom is `this`");
}

#[test]
fn an_atom_that_is_lent_is_waited_for_and_nothing_of_it_is_touched_by_its_owner() {
    let s = Harness::new().session();
    s.run("let at = atom([1]);");
    for (outer, kind) in [("change", "NestedChange"), ("read", "NestedRead")] {
        for inner in ["at.get()", "at.set(1)", "at.swap(|v| v)", "at.change(|| 1)", "at.read(|| 1)"] {
            s.has(&format!("at.{outer}(|| {inner})"), kind);
        }
    }
    s.has("at.swap(|v| at.read(|| 1))", "NestedSwap");
    s.is("at.get()", "[1]");
    for (name, f) in [("a", "change(|| { gate(\"a\"); this.push(2) })"), ("b", "read(|| { gate(\"b\"); this.len() })")]
    {
        let owner = s.start(&format!("at.{f}"));
        s.harness.arrived(name, 1);
        let waiting =
            ["at.get().len()", "at.read(|| this.len())", "at.change(|| this.len())"].map(|code| s.start(code));
        let cancelled = s.start("at.get()");
        assert!(waiting.iter().all(|job| !job.is_done()));
        cancelled.cancel();
        assert!(cancelled.join());
        assert_eq!(cancelled.show(), "cancelled");
        s.harness.open(name);
        assert!(owner.join());
        for job in &waiting {
            assert!(job.join());
            assert_eq!(job.show(), "2");
        }
    }
    let parent = s.has("at.change(|| bg(|| at.get()).value())", "deadlock");
    assert!(parent.newest_child().join());
    // A stop in the middle gives the value back.
    let stopped = s.start("at.change(|| { this.push(3); gate(\"c\"); })");
    s.harness.arrived("c", 1);
    stopped.cancel();
    s.harness.open("c");
    assert!(stopped.join());
    s.is("at.get()", "[1, 2, 3]");
    s.has("at.change(|| { this.push(4); boom() })", "panicked");
    s.is("at.get()", "[1, 2, 3, 4]");
}

#[test]
fn what_an_atom_must_not_hold_is_taken_out_of_a_changed_value() {
    let s = Harness::new().session();
    s.run("let at = atom([1]);");
    s.has("at.change(|| this.push(at))", "AtomCycle");
    s.is("at.get()", "[1, ()]");
    s.has("at.change(|| { this[0] = #{other: atom(at)}; })", "AtomCycle");
    s.is("at.get()", "[#{\"other\": ()}, ()]");
    s.has("at.change(|| { for i in 0..2000 { this = [this]; } })", "1,000");
    s.is("let n = 0; let v = at.get(); while type_of(v) == \"array\" { n += 1; v = v[0]; } [n, v]", "[999, ()]");
    s.is("at.set(1); at.change(|| { this = || 5; }); at.get().call()", "5");
    s.is("at.get().call() + 1", "6");
}

#[test]
fn every_line_of_output_belongs_to_who_printed_it() {
    let harness = Harness::new();
    let sessions = [harness.session(), harness.session()];
    for s in &sessions {
        s.run("fn say(n, text) { for i in 0..n { print(`${whoami()}:${text}:${i}`) } } let teller = |n| say(n, \"told\");");
    }
    let per_eval = 1_000;
    let code = format!(
        "let kid = bg(|| say({per_eval}, \"child\")); say({per_eval} / 2, \"own\"); \
         [1].for_each(|| say({per_eval} / 2, \"inner\")); kid.value(); teller.call({per_eval} / 2)"
    );
    let jobs: Vec<_> = (0..32).map(|i| sessions[i % 2].start(&code)).collect();
    join_all(&jobs);
    let mut total = 0;
    for job in jobs.iter().flat_map(|job| [Arc::clone(job), job.newest_child()]) {
        let output = job.output();
        let own = format!("{}:", job.id);
        assert!(output.iter().all(|line| line.starts_with(&own)), "entry {} holds lines of others", job.id);
        for (label, count) in
            [("child", per_eval), ("own", per_eval / 2), ("inner", per_eval / 2), ("told", per_eval / 2)]
        {
            let of_label: Vec<_> = output.iter().filter(|line| line.contains(label)).collect();
            assert!(of_label.is_empty() || of_label.len() == count, "{label}: {}", of_label.len());
            for (i, line) in of_label.iter().enumerate() {
                assert!(line.ends_with(&format!(":{i}")), "{line} is not line {i}");
            }
        }
        total += output.len();
    }
    assert_eq!(total, 32 * per_eval * 5 / 2);
}

#[test]
fn a_long_script_of_declarations() {
    let s = Harness::new().session();
    s.run(&lines(1_600, |i| format!("let v{i} = {i};")));
    assert_eq!(s.space.variable_count(), 1_600);
    s.is("v0 + v1599", "1599");
}
