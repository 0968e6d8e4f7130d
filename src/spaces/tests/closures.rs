//! Closures: what they capture, what they see, and that they work anywhere.

use super::harness::Harness;

#[test]
fn closures_persist() {
    let s = Harness::new().session();
    s.is("let k = 3; let f = |x| x + k; f.call(1)", "4");
    s.is("f.call(2)", "5");
    s.is("k = 20; f.call(2)", "22");
    s.is("f.call(2)", "22");
    s.is("let n = 0; let inc = || { n += 1; n }; inc.call()", "1");
    s.is("inc.call(); inc.call()", "3");
    s.is("n", "3");
    s.is("n = 10; inc.call()", "11");
    s.is("fn h(x) { x * 2 } let q = |x| h(x) + 1; q.call(5)", "11");
    s.is("q.call(5)", "11");
    s.is("fn h(x) { x * 3 } q.call(5)", "16");
    s.is("let fs = [|x| x + 1, |x| h(x)]; fs.map(|f| f.call(10))", "[11, 30]");
    s.is("fs.map(|f| f.call(1))", "[2, 3]");
    s.is("let mm = #{a: |x| x - 1, b: [|x| x * x]}; mm.b[0].call(4)", "16");
    s.is("mm.b[0].call(5) + mm.a.call(1)", "25");
    s.is("mm.a(3)", "2");
    s.is("let add = |a| |b| a + b; add.call(1).call(2)", "3");
    s.is("let add5 = add.call(5); add5.call(1)", "6");
    s.is("add5.call(2)", "7");
    s.is("let comp = |g, u| |x| g.call(u.call(x)); let c2 = comp.call(|x| x + 1, |x| x * 2); c2.call(5)", "11");
    s.is("c2.call(6)", "13");
    s.is("let cc = |x| c2.call(x) + add5.call(x); cc.call(1)", "9");
    s.is("cc.call(2)", "12");
    s.is("let cur = (|a, b| a * b).curry(6); cur.call(7)", "42");
    s.is("cur.call(8)", "48");
    s.is("let l = [3,1,2]; l.sort(|a, b| a - b); l", "[1, 2, 3]");
    s.is("let so = |a, b| b - a; let l = [3,1,2]; l.sort(so); l", "[3, 2, 1]");
    s.is("l.sort(so); l", "[3, 2, 1]");
    s.is("[1,2,3].reduce(|s, x| s + x, 0)", "6");
    s.is("let r2 = |s, x| s + x; [1,2,3].reduce(r2, 0)", "6");
    s.has("[1,2,3].reduce(r2)", "FunctionNotFound");
    s.is("let ix = |x, i| x * i; [5,6].map(ix)", "[0, 6]");
    s.is("[5,6].map(ix)", "[0, 6]");
    s.is("[5,6].filter(|x, i| i > 0)", "[6]");
    s.is("let fl = |x| x > 5; [5,6].filter(fl)", "[6]");
    s.is("[5,6].some(fl)", "true");
    s.has("f.call(1, 2, 3)", "takes 1 argument and was given 3");
    s.is("#{a: 1}.filter(|k, v| v > 0).len()", "1");
    s.has("let self_ = #{}; self_.v = 7; self_.f = || self_.v; self_.f.call()", "!DataRace: 'self_' is in use");
    s.is("call(self_.f)", "7");
    s.is("type_of(self_.f)", "Fn");
    s.is("let rec = (); rec = |n| if n < 2 { 1 } else { n * call(rec, n - 1) }; call(rec, 5)", "120");
    s.is("call(rec, 6)", "720");
    s.has("let rr = (); rr = |n| if n < 2 { 1 } else { n * rr.call(n - 1) }; rr.call(5)", "DataRace");
    s.is("let z = 1; { let z = 2; let w = |x| x + z; w.call(1) }", "3");
    s.is("z", "1");
    s.is("let keep = (); if true { let loc = 5; keep = || { loc += 1; loc }; } keep.call()", "6");
    s.is("keep.call()", "7");
    s.has("loc", "VariableNotFound");
    s.is("let gl = []; for i in 0..3 { gl.push(|| i * 10) } gl.map(|g| g.call())", "[20, 20, 20]");
    s.is("let gl = []; for i in 0..3 { let j = i; gl.push(|| j * 10) } gl.map(|g| g.call())", "[0, 10, 20]");
    s.is("gl.map(|g| g.call())", "[0, 10, 20]");
    s.is("is_shared(k)", "true");
    s.is("[1,2].map(|x| [10].map(|y| x + y)[0])", "[11, 12]");
    s.has("let er = |x| x.nosuch(); er.call(1)", "nosuch");
    s.is("try { er.call(1) } catch (e) { e.error }; 5", "5");
    s.has("(|x| throw x).call(#{a: 1})", "a");
}

#[test]
fn closures_of_functions_and_growth() {
    let s = Harness::new().session();
    s.is("let base = 100; fn mkr() { |x| x + base } let r3 = mkr(); r3.call(1)", "101");
    s.is("base = 200; [r3.call(1), mkr().call(1)]", "[101, 201]");
    s.is("fn twice(f) { |x| f.call(f.call(x)) } let tw = twice(|x| x + 1); tw.call(1)", "3");
    s.is("tw.call(5)", "7");
    s.is("let ar = [2, 1]; fn srt(a) { a.sort(|x, y| x - y); a } srt(ar)", "[1, 2]");
    s.is("fn h2(x) { x } let bare = |a| a.map(h2); bare.call([1])", "[1]");
    s.run("let nn = |a| |b| a + b;");
    s.run("fn mkc() { |q| |r| q + r }");
    for i in 0..100 {
        s.run(&format!("let tmp = |a| |b| a + b + {i}; tmp.call(1).call(2)"));
        s.run(&format!("fn mkc() {{ |q| |r| q + r + {i} }} let tmp2 = mkc(); tmp2.call(1).call(1)"));
    }
    let alive = s.harness.runtime().code_units_alive();
    assert!(alive < 10, "{alive} pieces of code are alive: closures hold themselves");
    s.is("mkc().call(1).call(2)", "102");
    s.is("tmp.call(1).call(2)", "102");
    s.is("let inner = tmp.call(1); tmp = (); inner.call(2)", "102");
    s.is("inner.call(2)", "102");
    s.is("const FC = |x| x + 1; FC.call(1)", "2");
    s.is("fn usefc(x) { FC.call(x) } usefc(4)", "5");
    assert_eq!(s.space.function_count(), 6, "closures leave no functions behind");
}
