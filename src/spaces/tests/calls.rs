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
fn a_closure_in_a_function_reads_the_variable_of_the_space_that_its_call_is_made_on() {
    let s = Harness::new().session();
    s.run("let l = [1, 2]; const L = [1, 2]; let m = #{a: [1]}; let cell = [5]; let c = || cell.len();");
    for (code, expected) in [
        ("fn f1() { l.map(|x| l.len() + x) } f1()", "[3, 4]"),
        ("fn f2() { l.filter(|x| l.contains(x)) } f2()", "[1, 2]"),
        ("fn f3() { L.map(|x| L.len() + x) } f3()", "[3, 4]"),
        ("fn f4() { m.a.map(|x| m.a.len() + x) } f4()", "[2]"),
        ("fn f5() { m.filter(|k, v| m.len() == 1) } f5()", "#{\"a\": [1]}"),
        ("fn f6() { cell.map(|x| cell.len() + x) } f6()", "[6]"),
        ("fn f7() { cell.map(|x| c.call() + x) } f7()", "[6]"),
        ("fn f8() { l.reduce(|a, x| a + l.map(|y| y * l.len()).len() + x, 0) } f8()", "7"),
        ("fn f9() { let f = || l.len(); l.map(|x| f.call() + x) } f9()", "[3, 4]"),
        ("fn f10() { [1].map(|y| l.map(|x| l.len() + x)) } f10()", "[[3, 4]]"),
        ("l", "[1, 2]"),
    ] {
        s.is(code, expected);
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
        ("let m = #{rows: [1, 2, 3]}; m.rows[0..2]", "[1, 2]"),
        ("let m = #{rows: [1, 2, 3]}; m[\"rows\"][1..=2].len()", "2"),
        ("let l = [1, [4, 5, 6]]; l[1][0..=1]", "[4, 5]"),
        ("let l = [1, [4, 5, 6]]; let i = 0; l[i + 1][0..=i]", "[4]"),
        ("fn f() { [1, 2, 3] } f()[0..2]", "[1, 2]"),
        ("let m = #{l: [1, 2, 3, 4]}; m.get(\"l\")[1..][0..2].map(|x| x * 2)", "[4, 6]"),
        ("let o = #{l: [1, 2, 3], f: || this.l[0..2]}; o.f()", "[1, 2]"),
        ("fn g() { this[0..2] } let l = [1, 2, 3]; l.g()", "[1, 2]"),
        ("let b = blob(5, 1); b[0..2].len()", "2"),
        ("[3, 1, 2].order()[0..2][1]", "2"),
        ("fn f() { \"abcd\" } [f()[1..3], #{t: \"abc\"}.t[0..1], \"abc\".to_upper()[1..]]", "[\"bc\", \"a\", \"BC\"]"),
        ("fn n() { 6 } [n()[0..2], #{n: 7}.n[0..=1]]", "[2, 3]"),
        ("let m = #{t: \"abc\"}; m.t[0..1] = \"xx\"; m.t", "xxbc"),
        ("let l = [[1, 2, 3]]; [l].map(|x| { let k = 1; x[0][0..k + 1] })", "[[1, 2]]"),
        ("let m = #{rows: [1, 2, 3]}; let f = || m.rows[0..2]; f.call()", "[1, 2]"),
    ] {
        Harness::new().session().is(code, expected);
    }
    for code in
        ["let m = #{a: [1, 2]}; m.a[0..1] = []", "let l = [1, 2]; l[0..1] = [5]", "let m = #{a: [1]}; m?.a[0..1]"]
    {
        let failure = Harness::new().session().fails(code);
        assert!(failure.hint.unwrap().contains("list.extract(range)"), "{code}");
    }
}

#[test]
fn questions_about_variables_by_name_are_answered_from_the_space() {
    let s = Harness::new().session();
    s.run("let zz = 1; const K = 2; fn f(n) { is_def_var(n) } fn g() { is_def_var(\"zz\") } let inner = 0;");
    for (code, expected) in [
        ("let n = \"zz\"; is_def_var(n)", "true"),
        ("is_def_var(\"z\" + \"z\")", "true"),
        ("f(\"zz\")", "true"),
        ("f(\"nope\")", "false"),
        ("f(\"f\")", "false"),
        ("f(\"n\")", "true"),
        ("g()", "true"),
        ("[\"zz\", \"nope\", \"K\"].map(|n| is_def_var(n))", "[true, false, true]"),
        ("let name = \"zz\"; if !is_def_var(name) { zz = 0; } zz", "1"),
        ("{ let here = 1; is_def_var(\"here\") }", "true"),
        ("{ let here = 1; } is_def_var(\"here\")", "false"),
        ("let at = 3; let x = [is_def_var(\"a\" + \"t\"), at]; x", "[true, 3]"),
        ("bg(|| is_def_var(\"zz\")).value()", "true"),
        ("is_def_var(\"\")", "false"),
        ("fn idf(x) { x } let n = \"idf\"; [is_def_fn(n, 1), is_def_fn(n, 2)]", "[true, false]"),
        ("fn sh1() { [is_shared(zz), zz.is_shared()] } sh1()", "[false, false]"),
        ("let cell = 1; let c = || cell; fn sh2() { [is_shared(cell), cell.is_shared()] } sh2()", "[true, true]"),
    ] {
        s.is(code, expected);
    }
    s.has("is_def_var(5)", "!MismatchDataType");
}

#[test]
fn a_function_in_a_map_gets_the_map_as_this_and_never_as_an_argument() {
    let s = Harness::new().session();
    s.run("fn named(a) { a } fn told(a) { [this.x, a] }");
    s.run("let c = 3; let o = #{f: |a| a, g: |a, b| [a, b], h: |a| [a, c], n: named, t: told, x: 7};");
    for (code, text) in [
        ("o.f()", "takes 1 argument and was given 0"),
        ("o.f(1, 2)", "takes 1 argument and was given 2"),
        ("o.g(5)", "takes 2 arguments and was given 1"),
        ("o.h()", "takes 1 argument and was given 0"),
        ("o.n()", "named"),
        ("#{f: |a| a}.f()", "takes 1 argument and was given 0"),
    ] {
        s.has(code, "!FunctionNotFound");
        s.has(code, text);
    }
    for (code, expected) in [
        ("[o.f(4), o.g(5, 6), o.h(1), o.n(2), o.t(8), o.f.call(9)]", "[4, [5, 6], [1, 3], 2, [7, 8], 9]"),
        ("[o].map(o.f)[0].x", "7"),
        ("[[o]].map(|l| l[0].f(1))", "[1]"),
        ("o.f.call(o).x", "7"),
        ("let own = #{x: 1}; own.f = |a| own.x + a; let f = own.f; [f.call(2), [3].map(f)]", "[3, [4]]"),
    ] {
        s.is(code, expected);
    }
}
