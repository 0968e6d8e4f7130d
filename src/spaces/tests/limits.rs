//! Limits: each ends one eval, names itself and its value, and nothing else happens.

use super::harness::{Harness, Session, lines, quiet};
use crate::base::{Clock, Limits};
use std::sync::atomic::Ordering;

fn with(limits: Limits) -> Session {
    Harness::with(limits, Clock::real()).session()
}

#[test]
fn memory_ends_what_grows_for_ever() {
    let s = with(Limits { eval_bytes: 8 << 20, ..Limits::default() });
    for code in [
        "let s = \"x\"; loop { s += s }",
        "let a = [1]; loop { a += a }",
        "let a = [0]; loop { a = [a, a] }",
        "let m = #{}; let i = 0; loop { m[`k${i}`] = i; i += 1 }",
        "let f = || 0; loop { let g = f; f = || g.call(); }",
        "let f = || 0; loop { let g = f; f = || g; }",
        "let m = #{f: || { let a = []; loop { a.push(\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\" + a.len()) } }}; [1].map(|x| m.f.call())",
        "try { [1].map(|x| { let a = [1]; loop { a += a } }) } catch { } 5",
        "let b = blob(1000); loop { b += b; }",
        "let f = |x| x; loop { f = curry(f, f) }",
        "let s = \"a,\"; s.pad(1000000, ','); s.split(',').len()",
        "let s = \"a\"; s.pad(1000000, 'a'); s.replace(\"a\", s); 1",
    ] {
        s.has(code, "memory limit of 8 MiB");
    }
    s.is("1 + 1", "2");
}

#[test]
fn values_nested_too_deeply_are_not_kept() {
    let s = Harness::new().session();
    for code in [
        "let d = []; for i in 0..3000 { d = [d] } 1",
        "let a = []; loop { a = [a] }",
        "let a = #{}; loop { a = #{x: [a]} }",
        "let d = #{}; for i in 0..1100 { d = #{x: d} } d",
        "let ff = || 0; for i in 0..2000 { let g = ff; ff = || g.call(); } 1",
        "let s = 0; let c = #{d: []}; let w2 = || { for i in 0..2000 { c.d = [c.d] } }; w2.call();",
        "let f = Fn(\"x\"); loop { f = (|g| g).curry(f) }",
        "let f = |x| x; loop { let g = f; f = Fn(\"h\").curry(g); } fn h(a, b) { 1 }",
        "let f = |x| x; loop { f = f.curry(1) }",
        "let d = []; for i in 0..3000 { d = [d] } atom(d)",
        "let d = []; for i in 0..3000 { d = [d] } throw d",
    ] {
        s.has(code, "nested deeper than 1,000");
    }
    s.is("let d = []; for i in 0..900 { d = [d] } let n = 0; while d.len() > 0 { d = d[0]; n += 1 } n", "900");
    s.is("let cy = #{}; let fy = || cy; cy.f = fy; 1", "1");
    s.is("3", "3");
}

#[test]
fn closures_that_share_what_they_captured_are_surveyed_once() {
    let s = Harness::new().session();
    s.is("let f = || 1; for i in 0..40 { let g = f; let h = f; f = || [g, h]; } 1", "1");
    s.is("type_of(f.call())", "array");
}

#[test]
fn calls_and_scripts_are_bounded() {
    let s = Harness::new().session();
    for code in [
        "fn f(n) { f(n + 1) } f(0)",
        "fn a(n) { b(n + 1) } fn b(n) { a(n + 1) } a(0)",
        "fn m(n) { [n].map(|x| m(x + 1)) } m(0)",
        "fn m(n) { [n, n].sort(|x, y| m(x + 1)) } m(0)",
    ] {
        s.has(code, "calls nested deeper than 64 levels");
    }
    s.is("fn deep(n) { if n == 0 { 0 } else { 1 + deep(n - 1) } } deep(60)", "60");
    s.has(&format!("// {}\n1", "x".repeat(300 * 1024)), "256 KiB");
    s.has(&lines(5_100, |i| format!("fn f{i}() {{}}")), "5,000 functions");
    for (open, close) in [("(", ")"), ("[", "]"), ("#{a:", "}"), ("{", "}")] {
        s.has(&format!("{}1{}", open.repeat(20_000), close.repeat(20_000)), "Parsing");
    }
    s.is("1 + 1", "2");
}

#[test]
fn a_script_of_many_short_statements_compiles_quickly() {
    let s = Harness::new().session();
    s.is(&format!("{} 7", "1;".repeat(100_000)), "7");
    s.is(&lines(9_000, |i| format!("let v{i} = {i};")), "");
}

#[test]
fn spaces_are_bounded() {
    let s = with(Limits { variables: 100, functions: 50, space_bytes: 1 << 20, ..Limits::default() });
    for i in 0..100 {
        s.run(&format!("let v{i} = 1;"));
    }
    s.has("let extra = 1;", "limit of 100 variables");
    s.is("v0 = 2; v0", "2");
    for i in 0..50 {
        s.run(&format!("fn f{i}() {{ {i} }}"));
    }
    s.has("fn extra() { 1 }", "50 functions");
    s.is("fn f0() { 7 } f0()", "7");
    let before = s.space.bytes();
    s.has("v1 = \"\"; v1.pad(2000000, 'x');", "memory limit of 1 MiB");
    s.is("v2 = \"\"; v2.pad(500000, 'x'); v2.len()", "500000");
    s.has("v3 = \"\"; v3.pad(600000, 'y');", "memory limit of 1 MiB");
    s.run("v2 = ();");
    s.is("v3 = \"\"; v3.pad(600000, 'y'); v3.len()", "600000");
    s.run("v3 = 1;");
    assert_eq!(s.space.bytes(), before, "what was replaced no longer counts");
}

#[test]
fn what_grows_in_cells_and_atoms_counts_in_its_space() {
    let s = with(Limits { space_bytes: 1 << 20, ..Limits::default() });
    s.run("let a = atom(0); let held = [a]; let list = []; let grow = |n| list.push(blob(n)); fn more(n) { grow.call(n); }");
    let before = s.space.bytes();
    s.run("a.set(blob(100000));");
    assert!(s.space.bytes() >= before + 100_000);
    s.run("a.set(0);");
    assert_eq!(s.space.bytes(), before);
    s.is("grow.call(100000); list.len()", "1");
    assert!(s.space.bytes() >= before + 100_000);
    s.has("more(2000000);", "memory limit of 1 MiB");
    s.has("let other = 1;", "memory limit of 1 MiB");
    s.run("list = (); more = (); grow = ();");
    s.is("let other = 1; other", "1");
    s.has("held[0].set(blob(2000000)); 1", "memory limit of 1 MiB");
    s.has("let b = atom(blob(2000000)); 1", "memory limit of 1 MiB");
    s.is("type_of(atom(1))", "Atom");
}

#[test]
fn what_grew_in_a_value_does_not_count_for_the_one_that_replaced_it() {
    let s = Harness::new().session();
    s.run("let list = []; let grow = || list;");
    let eval = s.start("gate(\"go\"); list.push(1);");
    s.harness.arrived("go", 1);
    s.run("let list = blob(100000);");
    let before = s.space.bytes();
    s.harness.open("go");
    assert!(eval.join());
    assert_eq!((s.space.bytes(), eval.failure()), (before, None));
    s.is("list.len()", "100000");
}

#[test]
fn what_one_name_empties_counts_for_all_that_share_it() {
    let s = with(Limits { space_bytes: 1 << 20, ..Limits::default() });
    s.run("let list = []; let grow = |n| list.push(blob(n)); let before = 1;");
    s.has("grow.call(2000000);", "memory limit of 1 MiB");
    s.has("before = \"longer\";", "memory limit of 1 MiB");
    s.run("list = [];");
    s.is("before = \"longer\"; let other = 2; [before, other]", "[\"longer\", 2]");
    assert!(s.space.bytes() < 10_000);
}

#[test]
fn what_a_child_lets_grow_counts_when_it_ends() {
    let s = with(Limits { space_bytes: 1 << 20, ..Limits::default() });
    s.run("let list = []; let grow = |n| list.push(blob(n)); let a = atom(0);");
    let before = s.space.bytes();
    for (code, gate) in [
        ("bg(|| { gate(\"a\"); list.push(blob(100000)); 1 })", "a"),
        ("bg(|| { gate(\"b\"); grow.call(100000); 1 })", "b"),
        ("bg(|| { gate(\"c\"); a.set(blob(100000)); 1 })", "c"),
        ("fn more() { grow.call(100000); 1 } bg(|| { gate(\"d\"); more() })", "d"),
    ] {
        let before = s.space.bytes();
        let child = s.run(code).newest_child();
        s.harness.open(gate);
        assert!(child.join());
        assert_eq!(child.show(), "1");
        let grown = s.space.bytes() - before;
        assert!((100_000..300_000).contains(&grown), "{code}: {grown}");
    }
    let child =
        s.run("let made = bg(|| {\n  gate(\"e\"); for i in 0..20 { list.push(blob(100000)) } 1 });").newest_child();
    s.harness.open("e");
    assert!(child.join());
    let failure = child.failure().expect("the space is full");
    assert_eq!((failure.kind.as_str(), failure.line), ("SpaceMemoryLimit", 1));
    s.has("let other = 1;", "memory limit of 1 MiB");
    // What shrinks counts as well.
    let child = s.run("bg(|| { gate(\"f\"); list.clear(); a.set(0); 1 })").newest_child();
    s.harness.open("f");
    assert!(child.join());
    assert!(s.space.bytes() < before + 1_000, "{} and {before}", s.space.bytes());
}

#[test]
fn the_parser_is_ended_by_what_ends_an_eval() {
    let s = with(Limits { eval_bytes: 512 << 10, ..Limits::default() });
    for (open, item, close) in [("let m = #{\n", ": 0,\n", "};"), ("let f = |\n", ",\n", "last| 0;")] {
        let items: String = (0..20_000).map(|i| format!("k{i}{item}")).collect();
        let failure = s.fails(&format!("{open}{items}{close} 1"));
        assert_eq!(failure.kind, "MemoryLimit");
        assert!((2..=20_000).contains(&failure.line), "where the parser had come to: {}", failure.line);
    }
    s.is("1 + 1", "2");
}

#[test]
fn a_full_process_still_runs_but_keeps_little() {
    let s = Harness::new().session();
    s.harness.0.budget.store(0, Ordering::SeqCst);
    s.is("let small = [1, 2, 3]; small.len()", "3");
    s.has("let large = \"\"; large.pad(100000, 'x');", "TotalMemoryLimit");
    s.is("large", "");
    s.has("let big = 1; \"\" + { let t = \"\"; t.pad(100000, 'x'); t }", "TotalMemoryLimit");
    s.has("let t = \"\"; t.pad(100000, 'x'); atom(t)", "TotalMemoryLimit");
    s.harness.0.budget.store(usize::MAX, Ordering::SeqCst);
    s.is("let large = \"\"; large.pad(100000, 'x'); large.len()", "100000");
}

#[test]
fn panics_end_one_entry() {
    quiet();
    let s = Harness::new().session();
    s.has("boom()", "Panic: a native function panicked: host function panicked");
    s.is("1", "1");
    s.is(
        "let t = \"\"; try { boom() } catch (e) { t = e.message; } t",
        "a native function panicked: host function panicked",
    );
    s.has("[1].map(|x| boom())", "panicked");
    s.has("bg(|| boom()).value()", "panicked");
    s.has("let x = 1; orders::crash()", "Panic: a native function panicked: host function panicked");
    s.is("let c = [1, 2]; let peek = || c.len(); peek.call()", "2");
    s.has("c.map(|v| orders::crash())", "panicked");
    s.is("c.len()", "2");
    s.has("c.spoil()", "panicked");
    s.has("c.len()", "DataRace: 'c' is in use");
    s.is("let c = [3]; c.len()", "1");
}

#[test]
fn fresh_closures_leave_nothing_behind() {
    let s = Harness::new().session();
    for i in 0..500 {
        s.run(&format!("let f = |x| x + {i}; f.call(1)"));
    }
    assert_eq!((s.space.function_count(), s.space.variable_count()), (0, 1));
    assert!(s.harness.runtime().code_units_alive() <= 2);
    s.is("f.call(1)", "500");
}

#[test]
fn a_text_that_many_parts_refer_to_counts_once() {
    let limits = Limits { space_bytes: 4 << 20, ..Limits::default() };
    let s = Harness::with(limits, Clock::real()).session();
    s.run("let t = \"x\"; for i in 0..20 { t += t; } let l = []; for i in 0..300 { l.push(t); } 1");
    s.is("l.len()", "300");
    s.is("let m = #{}; for i in 0..300 { m[`k${i}`] = #{text: l[i]}; } m.len()", "300");
    s.has("let copies = []; for i in 0..5 { copies.push(t + i); } 1", "!SpaceMemoryLimit");
}

#[test]
fn what_is_shared_counts_once_a_variable_and_copies_count_each() {
    let s = Harness::new().session();
    let grown = |code: &str| {
        let before = s.space.bytes();
        s.run(code);
        s.space.bytes() - before
    };
    // A million characters.
    let text = grown("let t = \"x\"; for i in 0..20 { t += t; } 1");
    assert!((1_000_000..1_100_000).contains(&text), "{text}");
    let nested = grown("let l = [[t, t], #{a: [t]}, [[t]]]; 1");
    assert!((1_000_000..1_100_000).contains(&nested), "{nested}");
    // Blobs and lists are copied where they are put.
    let blobs = grown("let b = blob(1000000, 1); let bs = [b, [b, b]]; 1");
    assert!((4_000_000..4_100_000).contains(&blobs), "{blobs}");
    let lists = grown("let n = []; n.pad(10000, 1); let ns = [n, n]; 1");
    assert!((480_000..700_000).contains(&lists), "{lists}");
    // Another space that is given the text counts it too: it is there as long as either of them.
    let other = s.harness.session();
    let job = s.run("t");
    other.run(&format!("let mine = res({}).value(); 1", job.id));
    assert!((1_000_000..1_100_000).contains(&other.space.bytes()), "{}", other.space.bytes());
}
