//! Variables, functions and constants that stay between evals.

use super::harness::Harness;

#[test]
fn variables_persist() {
    let s = Harness::new().session();
    s.is("40 + 2", "42");
    s.is("let x = 1; let y = [1, 2];", "");
    s.is("x + y.len()", "3");
    s.is("y.push(3); y", "[1, 2, 3]");
    s.is("x = 10; x", "10");
    s.is("x", "10");
    s.is(r#"let x = "s"; x"#, "s");
    s.is("x", "s");
    assert_eq!(s.space.variable_count(), 2, "declaring again replaces");
    s.has("let z = ;", "Parsing");
    s.has("z", "VariableNotFound");
    s.has("fn nope() { 1 } let q = ;", "Parsing");
    s.has("nope()", "FunctionNotFound");
    let failed = s.has(r#"let a = 1; throw "stop"; let b = 2;"#, "stop");
    assert_eq!(failed.committed(), ["a"]);
    s.is("a", "1");
    s.has("b", "VariableNotFound");
    s.is("let m = #{n: 1}; m.n = 5; m.n += 1; m", r#"#{"n": 6}"#);
    s.is("m.n", "6");
    s.is("m.k = [1]; m.k.push(2); m.k[0] = 9; m", r#"#{"k": [9, 2], "n": 6}"#);
    s.is("m", r#"#{"k": [9, 2], "n": 6}"#);
    s.is("let arr = [1,2,3]; push(arr, 4); arr.len()", "4");
    s.is("arr.len()", "4");
    s.is("arr.map(|v| v * 2)", "[2, 4, 6, 8]");
    s.is("let 変 = 3; 変 + 1", "4");
    s.is("変", "3");
}

#[test]
fn functions_persist_and_read_variables() {
    let s = Harness::new().session();
    s.is("fn f(a) { a * 2 } f(2)", "4");
    s.is("f(5)", "10");
    s.is("fn g() { f(1) } g()", "2");
    s.is("fn f(a) { a * 100 } g()", "100");
    s.is("fn f(a, b) { a + b } f(1, 2) + f(1)", "103");
    assert_eq!(s.space.function_count(), 3, "two arities of f, and g");
    s.has(r#"fn later() { 7 } throw "x""#, "x");
    s.is("later()", "7");
    s.is("let cfg = 5; fn rd() { cfg } rd()", "5");
    s.is("cfg = 6; rd()", "6");
    s.is("rd()", "6");
    s.has("fn wr() { cfg = 1 } wr()", "cannot change constant");
    s.is("cfg", "6");
    s.has("let big = [1,2]; fn pu() { big.push(3) } pu()", "onstant");
    s.is("big", "[1, 2]");
    s.has("fn ix() { big[0] = 9; } ix()", "onstant");
    s.is("fn rdx() { big[1] + big.len() } rdx()", "4");
    s.is("fn cp() { let b = big; b.push(3); b } cp()", "[1, 2, 3]");
    s.is("big", "[1, 2]");
    s.is("fn p(cfg) { cfg + 1 } p(100)", "101");
    s.is("fn sh() { let cfg = 1; cfg += 1; cfg } sh()", "2");
    s.is("fn lp() { let s = 0; for cfg in 0..3 { s += cfg } s } lp()", "3");
    s.is("cfg", "6");
    s.is("fn opt(x) { if x { let cfg = 50; cfg } else { cfg } } [opt(true), opt(false)]", "[50, 6]");
    s.is(
        "let total = 0; fn rep() { total } let seen = []; for i in 0..3 { total += i + 1; seen.push(rep()); } seen",
        "[1, 3, 6]",
    );
    s.is(
        "total = 0; let i = 0; while i < 3 { total += 10; i += 1; if rep() > 15 { break; } } [i, total, rep()]",
        "[2, 20, 20]",
    );
    s.is("fn later_var() { defined_later } let defined_later = 3; later_var()", "3");
    s.is("fn fact(n) { if n < 2 { 1 } else { n * fact(n - 1) } } fact(10)", "3628800");
    s.has("fn inf(n) { inf(n + 1) } inf(0)", "StackOverflow");
    s.is(r#"let dbl = Fn("f"); dbl.call(3)"#, "300");
    s.is("dbl.call(4)", "400");
    s.is("[1, 2].map(f)", "[100, 200]");
    s.is("let fp = f; fp.call(1)", "100");
    s.is("fp.call(2)", "200");
    s.is("fn f(a) { a * 7 } [fp.call(1), dbl.call(1), g()]", "[7, 7, 7]");
    s.is("fn add(d) { this.n += d; this.n } let o = #{n: 1}; o.add(4)", "5");
    s.is("o.add(1); o.n", "6");
    s.is("let o2 = #{n: 1, inc: |d| { this.n += d; this.n }}; o2.inc(5)", "6");
    s.is("o2.inc(1); o2.n", "7");
    s.is("fn int.sq() { this * this } 5.sq()", "25");
    s.is("6.sq()", "36");
    s.is("let w = 3; let o3 = #{n: 1, inc: |d| { this.n += d * w; this.n }}; o3.inc(2)", "7");
    s.is("o3.inc(1)", "10");
    s.is("[1,2,3].map(|| this * w)", "[3, 6, 9]");
    s.is("let cl = || this * w; [1,2].map(cl)", "[3, 6]");
    s.is("[1,2].map(cl)", "[3, 6]");
    s.is("let obj = #{n: 4}; obj.call(|k| this.n * k * w, 2)", "24");
}

#[test]
fn constants_persist() {
    let s = Harness::new().session();
    s.is("const K = 9; K", "9");
    s.is("K", "9");
    s.has("K = 1", "onstant");
    s.is("fn kk() { K + global::K } kk()", "18");
    s.is("kk()", "18");
    s.is("const K = 10; K", "10");
    s.is("kk()", "20");
    s.is("let K = 1; K += 1; K", "2");
    s.is("K", "2");
    s.has("fn g2() { global::K } g2()", "VariableNotFound");
    s.is("const M = #{a: 1}; M.a", "1");
    s.has("M.a = 2", "onstant");
    s.is("let c = M; c.a = 3; [c.a, M.a]", "[3, 1]");
    s.is("global::M.a", "1");
}
