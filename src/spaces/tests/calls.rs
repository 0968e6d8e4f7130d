//! Calls by pointers: what becomes of the variable a method is called on, of `this`, and of a number of arguments that is wrong.

use super::harness::Harness;

#[test]
fn a_variable_that_a_pointer_is_called_on_is_never_lost() {
    let s = Harness::new().session();
    s.run("let f = |a| a; let x = [1]; let m = #{a: [1], f: |v| v}; fn same(v) { v } let n = Fn(\"same\");");
    s.run("x.call(f)");
    s.is("x", "[1]");
    s.run("m.a.call(f, 3)");
    s.is("m.a", "[1]");
    s.run("x.call(n)");
    s.is("x", "[1]");
    s.run("let t = \"keep\"; t.call(f); [1].map(f);");
    s.is("t", "keep");
}

#[test]
fn a_function_kept_in_a_map_finds_its_object_in_later_evals() {
    let s = Harness::new().session();
    s.run("fn area() { this.w * this.h } fn grow(by) { this.w += by; } let r = #{w: 2, h: 3, area: area, grow: grow};");
    s.is("r.area()", "6");
    s.is("r.grow(2); r.w", "4");
    s.is("r.area()", "12");
}

#[test]
fn a_wrong_number_of_arguments_is_refused() {
    let s = Harness::new().session();
    s.has("let f = |a| a; f.call(1, 2)", "FunctionNotFound");
    s.has("let f = || 1; f.call(1)", "FunctionNotFound");
    s.is("let g = |a| this + a; let x = 1; x.call(g, 2)", "3");
    s.is("let m = #{f: |a| a * 2}; m.f(4)", "8");
    s.is("[1, 2].map(|v, i| v + i)", "[1, 3]");
}

#[test]
fn capturing_publishes_nothing() {
    let s = Harness::new().session();
    s.run("let x = 1;");
    let job = s.start("let f = { gate(\"a\"); || x };");
    s.harness.arrived("a", 1);
    s.run("x = 11;");
    s.harness.open("a");
    assert!(job.join());
    assert!(job.conflicts().is_empty());
    s.is("x", "11");
    s.is("f.call()", "1");
}

#[test]
fn a_closure_that_cannot_be_made_leaves_variables_alone() {
    let s = Harness::new().session();
    s.is("let x = [1]; try { let f = || nosuch1 + nosuch2; } catch { } push(x, 2); x", "[1, 2]");
}

#[test]
fn a_captured_variable_in_use_elsewhere_is_named() {
    let s = Harness::new().session();
    s.run("let a = [1, 2, 3]; let f = || a.len();");
    let job = s.start("a.for_each(|| { gate(\"b\"); })");
    s.harness.arrived("b", 1);
    s.has("let g = || a; 1", "DataRace: 'a' is in use by another call or eval");
    s.harness.open("b");
    assert!(job.join());
}

#[test]
fn curry_works_wherever_the_pointer_comes_from() {
    let s = Harness::new().session();
    s.run("let m = #{f: |a, b| a - b}; let f = |a, b, c| a + b + c; fn mk() { |a, b| a * b }");
    s.is("m.f.curry(10).call(3)", "7");
    s.is("let g = f.curry(1).curry(2); g.call(3)", "6");
    s.is("let o = #{mk: |x| |a, b| a * b + x}; o.mk(1).curry(2).call(3)", "7");
    s.is("[f][0].curry(1).call(2, 3)", "6");
}

#[test]
fn tags_of_values_are_kept() {
    let s = Harness::new().session();
    s.run("let x = 5; x.tag = 9;");
    s.is("x.tag", "9");
    s.run("let t = \"a\";");
    s.run("t.tag = 3;");
    s.is("t.tag", "3");
}

#[test]
fn a_closure_reads_what_its_own_eval_holds() {
    for (code, expected) in [
        ("let m = #{a: 1, b: 5}; m.keys().reduce(|best, k| if best == () || m[k] > m[best] { k } else { best })", "b"),
        ("let was = #{a: 1, b: 5}; let now = #{a: 1, b: 6}; now.keys().filter(|k| now[k] != was[k])", "[\"b\"]"),
        ("let q = [1, 2, 3]; q.map(|x| x * q.len())", "[3, 6, 9]"),
        ("let m = #{rows: [1, 2], min: 2}; m.rows.filter(|r| r >= m.min)", "[2]"),
        ("let m = #{a: #{b: [3, 4]}, k: 10}; m.a[\"b\"].map(|x| x + m.k).len()", "2"),
        ("let q = [3, 1, 2]; q.order(|a, b| a - b + q.len() - q.len())", "[1, 2, 3]"),
        ("{ let q = [1, 2]; q.some(|x| x == q.len()) }", "true"),
        ("fn f(q) { q.map(|x| x + q[0]) } f([1, 2])", "[2, 3]"),
        ("let q = [1, 2]; q.map(|x| q.map(|y| x * y + q.len()))", "[[3, 4], [4, 6]]"),
    ] {
        Harness::new().session().is(code, expected);
    }
}

#[test]
fn a_part_of_a_list_is_taken_by_a_range_as_of_a_text() {
    for (code, expected) in [
        ("[1, 2, 3][0..2]", "[1, 2]"),
        ("let l = [1, 2, 3]; l[1..]", "[2, 3]"),
        ("let l = [1, 2, 3]; l[0..=1].len()", "2"),
        ("let l = [[1, 2], [3]]; l[0..1][0][1]", "2"),
        ("let t = \"abcd\"; t[1..3]", "bc"),
        ("let n = 6; n[0..2]", "2"),
        ("let l = [1, 2, 3]; fn f() { l[0..2] } f()", "[1, 2]"),
        ("let l = [1, 2, 3]; let f = || l[1..2]; f.call()", "[2]"),
        ("fn f(l) { l[0..1] } f([7, 8])", "[7]"),
        ("let l = [1, 2, 3]; fn n() { l.len() } { l.push(4); l[0..n()].len() }", "4"),
    ] {
        Harness::new().session().is(code, expected);
    }
}
