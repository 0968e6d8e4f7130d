//! Captured variables that several entries change at once: what would be lost without a word is noted, and nothing else is.

use super::harness::Harness;
use crate::base::Note;

fn contested(names: &[&str]) -> Vec<Note> {
    names.iter().map(|name| Note::Contested((*name).to_owned())).collect()
}

/// What is noted on a parent one of whose children does `first`, lets the other do `other` from beginning to end, and then does
/// `last`.
fn noted(before: &str, first: &str, other: &str, last: &str) -> Vec<Note> {
    let s = Harness::new().session();
    let job = s.start(&format!(
        "{before} let a = bg(|| {{ {first} gate(\"a\"); {last} }}); let b = bg(|| {{ gate(\"b\"); {other} }}); \
         b.value(); gate(\"p\"); a.value(); 1"
    ));
    s.harness.arrived("a", 1);
    s.harness.open("b");
    s.harness.arrived("p", 1);
    s.harness.open("a");
    s.harness.open("p");
    assert!(job.join());
    assert_eq!(job.show(), "1");
    job.ended().notes
}

#[test]
fn a_write_that_rests_on_what_another_child_has_changed_meanwhile_is_noted() {
    for (before, first, other, last) in [
        ("let hits = 0;", "let h = hits;", "hits = hits + 1;", "hits = h + 1;"),
        ("let hits = 0;", "let h = hits;", "hits += 1;", "hits = h + 1;"),
        ("let hits = [];", "let h = hits;", "hits.push(1);", "hits = h + [2];"),
        ("let hits = [1];", "let h = hits[0];", "hits[0] += 1;", "hits[0] = h + 1;"),
        ("let hits = #{n: 1};", "let h = hits.n;", "hits.n = hits.n + 1;", "hits.n = h + 1;"),
        ("let hits = #{n: #{m: 1}};", "let h = hits.n.m;", "hits.n.m = 5;", "hits.n.m = h + 1;"),
        ("let hits = 0;", "let h = `${hits}`;", "let f = || hits = 7; f.call();", "hits = h.len();"),
        ("let hits = 0;", "let f = || hits; let h = f.call();", "hits = 7;", "let g = |v| hits = v; g.call(h);"),
        ("let hits = 0;", "let f = || hits; let h = f.call();", "hits = 7;", "hits = h;"),
        ("let hits = 0;", "let h = hits;", "hits = 7;", "let g = || hits = h; g.call();"),
        ("let hits = 0; let f = || hits;", "let h = f.call();", "hits = 7;", "hits = h + 1;"),
        ("let hits = [0];", "let h = hits.len();", "hits.push(7);", "[1].for_each(|| hits = [h]);"),
        ("let hits = [0];", "let h = 0; for x in hits { h += x; }", "hits.clear();", "if h == 0 { hits = [h]; }"),
        ("let hits = 0; fn look() { hits }", "let h = look();", "hits = 7;", "hits = h;"),
        ("let hits = 0;", "let h = 1; if hits == 0 { h = 2; }", "bg(|| hits = 7).value();", "hits = h;"),
        ("let hits = 0;", "let h = bg(|| hits).value(); h = hits;", "hits = 7;", "{ let i = h; hits = i; }"),
    ] {
        assert_eq!(noted(before, first, other, last), contested(&["hits"]), "{first} {other} {last}");
    }
}

#[test]
fn where_nothing_is_lost_nothing_is_noted() {
    for (before, first, other, last) in [
        // Nobody else wrote in between.
        ("let hits = 0;", "let h = hits;", "hits;", "hits = h + 1;"),
        ("let hits = 0; let more = 0;", "let h = hits;", "more = more + 1;", "hits = h + 1;"),
        ("let hits = 0;", "let h = hits; hits = h + 1;", "hits = hits + 1;", "hits;"),
        ("let hits = 0;", "hits;", "hits = 1;", "let h = hits; hits = h + 1;"),
        ("let hits = [1];", "let h = hits;", "hits.len() + hits.map(|x| x + 1).len();", "hits = h;"),
        ("let hits = [1];", "let h = hits;", "let g = hits; g.push(1);", "hits = h;"),
        ("let hits = 1;", "let h = hits;", "let hits = 2; hits = 3;", "hits = h;"),
        // Read and written in one step.
        ("let hits = 0;", "hits += 1;", "hits += 1;", "hits += 1;"),
        ("let hits = 0;", "let h = hits;", "hits += 1;", "hits += 1;"),
        ("let hits = [];", "hits.len();", "hits.push(1);", "hits.push(1);"),
        ("let hits = #{n: 0};", "hits.n;", "hits.n += 1;", "hits.n += 1;"),
        ("let hits = [1];", "hits[0];", "hits[0] += 1;", "hits[0] -= 1;"),
        // Written without a look.
        ("let hits = 0;", "hits = 1;", "hits = 2;", "hits = 3;"),
        ("let hits = [0, 0];", "", "hits[0] = 1;", "hits[1] = 1;"),
        // Each has its own.
        ("let hits = atom(0);", "let h = hits.get();", "hits.set(1);", "hits.set(h);"),
    ] {
        assert_eq!(noted(before, first, other, last), [], "{first} {other} {last}");
    }
}

#[test]
fn each_variable_is_noted_once() {
    let (first, last) = ("let h = [x, y, z];", "x = h[0]; x = h[0]; y = h[1];");
    assert_eq!(
        noted("let x = 0; let y = 0; let z = 0;", first, "x = 1; y = 1; z = 1; x = 2;", last),
        contested(&["x", "y"])
    );
}

#[test]
fn a_parent_that_overwrites_what_its_child_wrote_is_told() {
    let s = Harness::new().session();
    let code = "let n = 0; let e = bg(|| { gate(\"c\"); n = 5; }); let h = n; e.value(); n = h + 1; n";
    let job = s.start(code);
    s.harness.arrived("c", 1);
    s.harness.open("c");
    assert!(job.join());
    assert_eq!(job.ended().notes, contested(&["n"]));
    for code in [
        "let n = 0; let e = bg(|| { n += 1; }); e.value(); n = n + 1; n",
        "let n = 0; let e = bg(|| { n += 1; }); e.value(); n = 9; n",
        "fn work() { let n = 0; let e = bg(|| n += 1); e.value(); n = n + 1; n } work()",
    ] {
        assert_eq!(s.run(code).ended().notes, [], "{code}");
    }
    let code = "fn work() { let n = 0; let e = bg(|| n += 1); let h = n; e.value(); n = h + 1; n } work()";
    // The child may have come first: then nothing is lost.
    let job = s.run(code);
    assert_eq!(job.ended().notes.is_empty(), job.show() == "2", "{}", job.show());
}

#[test]
fn a_child_of_a_child_is_told_of_on_every_answer_above() {
    let s = Harness::new().session();
    let job = s.start(
        "let n = 0; let e = bg(|| { let inner = bg(|| { let h = n; gate(\"i\"); n = h + 1; }); inner.value(); }); \
         gate(\"p\"); n += 1; gate(\"q\"); e.value(); n",
    );
    s.harness.arrived("i", 1);
    s.harness.open("p");
    s.harness.arrived("q", 1);
    s.harness.open("i");
    s.harness.open("q");
    assert!(job.join());
    assert_eq!((job.show(), job.ended().notes), ("1".to_owned(), contested(&["n"])));
    assert_eq!(job.newest_child().ended().notes, contested(&["n"]));
}

#[test]
fn evals_of_several_sessions_are_told_of_a_variable_of_their_space() {
    let process = Harness::new();
    let s = process.session();
    s.run("let n = 0; let step = || { let h = n; gate(\"s\"); n = h + 1; }; let get = || n;");
    // By name, and through a stored closure: whoever comes late is told.
    for late in ["step.call()", "let h = n; gate(\"s\"); n = h + 1;", "let h = get.call(); gate(\"s\"); n = h + 1;"] {
        for quick in ["n = n + 1;", "n += 1;"] {
            let process = Harness::new();
            let s = process.session();
            s.run("let n = 0; let step = || { let h = n; gate(\"s\"); n = h + 1; }; let get = || n;");
            let job = s.start(late);
            process.arrived("s", 1);
            assert_eq!(s.run(quick).ended().notes, []);
            process.open("s");
            assert!(job.join());
            assert_eq!(job.ended().notes, contested(&["n"]), "{late} {quick}");
        }
    }
    process.open("s");
    // One after the other is no contest.
    for code in ["step.call(); n", "let h = n; n = h + 1; n", "n = get.call() + 1; n"] {
        assert_eq!(s.run(code).ended().notes, [], "{code}");
    }
}

#[test]
fn a_closure_in_an_atom_shares_its_variable_with_whoever_calls_it() {
    let process = Harness::new();
    let s = process.session();
    s.run("let box_ = atom(());");
    let job = s.start("let n = 0; box_.set(|| n += 1); let h = n; gate(\"a\"); n = h + 1; n");
    process.arrived("a", 1);
    assert_eq!(s.run("box_.get().call()").ended().notes, []);
    process.open("a");
    assert!(job.join());
    assert_eq!(job.ended().notes, contested(&["n"]));
}
