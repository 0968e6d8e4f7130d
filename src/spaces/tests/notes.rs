//! Remarks beside an answer: what an ended eval carries of them.

use super::harness::Harness;
use crate::base::Note;

fn in_place(name: &str) -> Note {
    Note::InPlace(name.to_owned())
}

#[test]
fn a_unit_that_a_function_gave_which_works_in_place_is_noted_where_it_is_used() {
    let s = Harness::new().session();
    s.run("let l = [3, 1, 2]; let m = #{l: [2, 1]};");
    for (code, name) in [
        ("let x = l.sort(); x", "sort"),
        ("let x = [3, 1].sort_by(|a, b| a - b); x", "sort_by"),
        ("let x = 1; x = m.l.reverse(); x", "reverse"),
        ("let x = m[\"l\"].push(1); x", "push"),
        ("print(l.dedup())", "dedup"),
        ("[1, l.clear()]", "clear"),
        ("#{a: [1].insert(0, 2)}", "insert"),
        ("[[2, 1], [4, 3]].map(|part| part.sort())", "sort"),
        ("let more = [1]; [[2, 1], [4, 3]].map(|part| part.append(more))", "append"),
        ("fn f(list) { let x = list.sort(); x } f([2, 1])", "sort"),
        ("let x = #{a: 1}.mixin(#{b: 2}); x", "mixin"),
        ("for i in 0..3 { let x = [i].push(i); }", "push"),
        ("let x = push(l, 1); x", "push"),
        ("let x = if true { l.sort() } else { 2 }; x", "sort"),
        ("let x = { l.push(5); l.sort() }; x", "sort"),
        ("let x = switch 1 { 1 => l.sort(), _ => 2 }; x", "sort"),
        ("let x = switch 1 { 1 => { l.len(); l.reverse() } _ => 2 }; x", "reverse"),
        ("let x = if true { if l.len() > 0 { l.sort() } }; [x]", "sort"),
        ("`${[2, 1].sort()}`", "sort"),
        ("fn id(x) { x } id(l.sort())", "sort"),
        ("fn srt(list) { return list.sort(); } let x = srt([2, 1]); x", "sort"),
        ("fn srt(list) { if list.len() > 1 { list.sort() } } let x = srt([2, 1]); x", "sort"),
        ("fn put(list) { push(list, 1) } print(put([2]))", "push"),
        ("fn put(list) { list.len(); list.dedup() } [1, put([2])]", "dedup"),
        ("fn deep(list) { fn_of(list) } fn fn_of(list) { list.sort() } let x = fn_of([1]); x", "sort"),
        ("fn keep(list) { let y = 1; list.sort() } let x = #{a: keep([1])}; x", "sort"),
        // What was done to a value that nobody holds is lost.
        ("[3, 1].sort()", "sort"),
        ("l.map(|x| x).dedup()", "dedup"),
        ("fn mk() { [2, 1] } mk().sort()", "sort"),
        ("#{b: 1}.mixin(#{a: 2})", "mixin"),
        ("push([1], 2)", "push"),
        ("if true { [2, 1].sort() }", "sort"),
        ("return [2, 1].sort();", "sort"),
    ] {
        assert_eq!(s.run(code).ended().notes, [in_place(name)], "{code}");
    }
    assert_eq!(
        s.run("let x = [l.push(1), l.sort(), l.push(2)]; x").ended().notes,
        [in_place("push"), in_place("sort")]
    );
    s.run("fn ends(list) { list.sort() } fn returns(list) { return list.reverse(); }");
    assert_eq!(
        s.run("let x = [ends([1]), returns([2]), ends([3])]; x").ended().notes,
        [in_place("sort"), in_place("reverse")]
    );
    assert_eq!(s.run("ends([1]); returns([1])").ended().notes, []);
    s.is("let x = ends([1]); [x.tag, x == ()]", "[0, true]");
    // What is defined stays marked, and the eval that calls it is told.
    s.run("fn later(list) { let x = list.sort(); x }");
    assert_eq!(s.run("later([2, 1])").ended().notes, [in_place("sort")]);
    s.fails("let x = l.sort(); x.nosuch()");
    for code in [
        "l.sort(); l",
        "l.push(1)",
        "let out = []; l.for_each(|x| out.push(x)); out",
        "let out = []; for x in l { out.push(x) } out",
        "let t = \" a \".trim(); t",
        "let x = l.pop(); let y = l.order(); [x, y]",
        "let x = [1, 2, 3].drain(|x| x > 1); x",
        "let x = if false { l.sort() } else { 1 }; x",
        "fn push(x) { () } let x = l.push(1); x",
        "fn set_up(list) { list.sort() } set_up([2, 1])",
        "l.sort()",
        "let i = 0; let n = [[2, 1], [3]]; n[i + 1].sort()",
        "m.l.sort()",
        "push(m[\"l\"], 3)",
        "if true { l.sort() }",
        "l.for_each(|x| [x].push(x))",
        "fn quiet(list) { list.sort(); list } let x = quiet([2, 1]); x",
        "fn either(list) { if list.len() > 5 { list.sort() } else { 7 } } let x = either([2, 1]); x",
        "return l.sort();",
        "let f = |x| l.push(x); f.call(3)",
    ] {
        assert_eq!(s.run(code).ended().notes, [], "{code}");
    }
}

#[test]
fn forms_that_mean_something_else_elsewhere_are_noted() {
    let s = Harness::new().session();
    for code in
        ["for (i, x) in [1] { }", "fn f() { for (index, x) in [1] { } } 1", "for (i, x) in [1] {} for (i, x) in [1] {}"]
    {
        assert_eq!(s.run(code).ended().notes, [Note::ItemFirst], "{code}");
    }
    for code in ["let x = 7; x // 2", "let q = 7 // 2;", "let q = (7 // 2)\n); q", "let q = 7 // 2;\n + 1; q"] {
        assert_eq!(s.run(code).ended().notes, [Note::SlashesComment], "{code}");
    }
    for code in [
        "for (x, i) in [1] { }",
        "for i in [1] { }",
        "let x = 5; // 2",
        "let q = 7\n// 2\n; q",
        "let x = \"7 // 2\"; x",
        "let l = [1, // 1\n2]; l",
    ] {
        assert_eq!(s.run(code).ended().notes, [], "{code}");
    }
    for code in ["let q = 7 // 2;\nlet r = 3;", "print(7 // 2)", "print(7 // 2);\n\nlet r = 1;"] {
        let hint = s.fails(code).hint.unwrap_or_default();
        assert!(hint.starts_with("// begins a comment in Rhai"), "{code}\n→ {hint}");
    }
}
