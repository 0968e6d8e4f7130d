//! Functions see a variable of their space as of their call, however it was written and wherever the call stands.

use super::harness::Harness;

#[test]
fn a_function_sees_a_variable_as_of_its_call() {
    for (code, expected) in [
        ("let l = []; fn n() { l.len() } let s = []; for i in 0..3 { s.push(n()); l.push(i); } s", "[0, 1, 2]"),
        (
            "let q = [1, 2, 3]; fn left() { q.len() } let s = []; while q.len() > 0 { let j = q.pop(); s.push(left()); } s",
            "[2, 1, 0]",
        ),
        ("let l = [7]; fn r() { l.len() } for i in 0..1 { l.push(2); l.pop(); } [r(), l.len()]", "[1, 1]"),
        ("let l = [7]; fn r() { l.len() } [{ l.push(1); r() }, { l.pop(); r() }, r()]", "[2, 1, 1]"),
        ("let l = [7]; fn r() { l.len() } [l.pop(), r()]", "[7, 0]"),
        (
            "let total = 0; fn report() { total } let s = []; for i in 0..3 { total += i; s += report(); } s",
            "[0, 1, 3]",
        ),
        ("let x = 1; fn r() { x } let s = []; loop { if x > 3 { break; } x += 1; s += r(); } s", "[2, 3, 4]"),
        (
            "let x = 1; fn r() { x } let s = []; for i in 0..4 { if i % 2 == 0 { x = i; continue; } s += r(); } s",
            "[0, 2]",
        ),
        (
            "let x = 1; fn r() { x } let s = []; for i in 0..3 { try { x = i; throw 1; } catch { } s += r(); } s",
            "[0, 1, 2]",
        ),
        ("let x = 1; fn r() { x } { x = 2; let y = x == 2 && r() == 2; [y, r()] }", "[true, 2]"),
        ("let x = 1; fn r() { x } { x = 2; let no = false && r() == 2; [no, r()] }", "[false, 2]"),
        ("let x = 1; fn r() { x } let f = |v| { r() + v }; { x = 5; f.call(1) }", "6"),
        ("let x = 1; fn r() { x } { x = 5; [1, 2].map(|v| v + r()) }", "[6, 7]"),
        (
            "let m = #{}; fn look(k) { m[k] } let s = []; for k in [\"a\", \"b\"] { m[k] = 1; s += look(k); } s",
            "[1, 1]",
        ),
        ("let x = 1; fn r() { x } fn s() { r() } { x = 3; s() }", "3"),
        ("let x = 1; fn r() { x } let z = switch x { 1 => { x = 9; r() } _ => 0 }; [z, r()]", "[9, 9]"),
        ("let x = 1; fn r() { x } do { x += 1; } while r() < 4; x", "4"),
        ("let x = 1; fn r() { x } while r() < 4 { x += 1; } x", "4"),
        ("let l = []; fn r() { l.len() } let f = || { l.push(1); r() }; [f.call(), f.call()]", "[1, 2]"),
        ("let l = []; fn r() { l.len() } [1, 2].map(|x| { l.push(x); r() })", "[1, 2]"),
        ("let x = 1; fn r() { x } { let x = 9; r() }", "1"),
        ("let x = 1; fn r() { x } { x = 4; `${r()}` }", "4"),
        ("let x = 1; fn r(n) { x } { x = 4; r(r(1)) }", "4"),
        ("let a = [0]; fn at() { a.len() - 1 } { a.push(5); a[at()] = 6; a }", "[0, 6]"),
    ] {
        let process = Harness::new();
        process.session().is(code, expected);
    }
}

#[test]
fn functions_of_earlier_evals_see_it_as_well() {
    let s = Harness::new().session();
    s.run("let l = []; fn n() { l.len() }");
    s.is("let s = []; for i in 0..3 { s.push(n()); l.push(i); } s", "[0, 1, 2]");
    s.is("for i in 0..1 { l.push(2); l.pop(); } [n(), l.len()]", "[3, 3]");
}

#[test]
fn a_function_of_a_module_that_changes_its_first_argument_changes_the_variable() {
    let process = Harness::new();
    process.write("shop", "fn add(list, item) { list.push(item); list }");
    let s = process.session();
    s.run("import \"shop\" as shop; let l = [1]; let m = shop::add(l, 2);");
    s.is("m", "[1, 2]");
}
