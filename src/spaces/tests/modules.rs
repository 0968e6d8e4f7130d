//! Script modules, from inside an eval.

use super::harness::Harness;
use crate::engine::compile_module;
use std::sync::Arc;

/// The modules that the tests below import.
fn folder() -> Harness {
    let harness = Harness::new();
    for (name, text) in [
        (
            "pr",
            "fn helper(x) { x + 100 }\nfn mk(n) { |x| helper(x) + n }\nfn apply(f) { f.call(1) }\n\
             fn nest(n) { |a| |b| helper(a) + b + n }\nprivate fn hid(x) { x * 7 }\nfn mkp() { |x| hid(x) }\n\
             fn list() { [|x| helper(x), #{f: |x| helper(x) + 1}] }",
        ),
        (
            "cap",
            "const K = 5;\nexport const P = 6;\nfn k() { global::K }\nfn bare() { K }\nfn mk() { |x| x + global::K }\n\
             fn leak() { secretvar }\nfn each(a, f) { a.map(f) }",
        ),
        ("boom", "fn gox(x) {\n  x.nosuch()\n}\nfn top() {\n  gox(5)\n}\nfn mk() { |x| x.nosuch2() }"),
        ("var", "let n = 10;\nexport let shr = #{n: 1};\nfn bump() { shr.n += 1; shr.n }\nfn getn() { n }"),
        ("a1", "import \"b1\" as b; fn x() { b::y() } fn mk() { b::mkb(1) }"),
        ("b1", "fn y() { 77 } fn help(x) { x * 2 } fn mkb(n) { |x| help(x) + n }"),
        ("ca", "import \"cb\" as b; fn x() { 1 }"),
        ("cb", "import \"ca\" as a; fn x() { 1 }"),
        ("bad", "fn ok() { 1 }\nlet x = ;\n"),
        ("hot", "fn v() { 1 } fn mk() { || v() }"),
        ("topfail", "fn f() { 1 }\nthrow \"init\";"),
        ("loopm", "gate(\"loading\"); loop {}"),
        ("prints", "print(\"loading\"); fn f() { print(\"called\") }"),
        ("same1", "fn helper(x) { x * 1000 }\nfn mk() { |x| helper(x) }"),
        ("same2", "fn helper(x) { x * 2000 }\nfn mk() { |x| helper(x) }"),
        ("sub/m", "fn s() { 3 }"),
    ] {
        harness.write(name, text);
    }
    harness
}

#[test]
fn modules_are_used() {
    let s = folder().session();
    s.is(r#"import "pr" as pr; let c = pr::mk(10); c.call(1)"#, "111");
    s.is("c.call(2)", "112");
    s.is("pr::mk(1).call(1)", "102");
    s.is("[1,2].map(pr::mk(0))", "[101, 102]");
    s.is("pr::nest(1).call(2).call(3)", "106");
    s.is("let ne = pr::nest(1); ne.call(2).call(3)", "106");
    s.is("pr::mkp().call(3)", "21");
    s.is("pr::list()[1].f.call(1)", "102");
    s.is("let x = 5; pr::apply(|v| v + x)", "6");
    s.is("fn viafn() { pr::apply(|v| v) } viafn()", "1");
    s.is("viafn()", "1");
    s.is("fn mine(v) { v * 9 } pr::apply(|v| mine(v))", "9");
    s.is("pr::apply(mine)", "9");
    s.is(r#"pr::apply(Fn("mine"))"#, "9");
    s.has("pr::hid(1)", "FunctionNotFound");
    s.is(r#"fn imp() { import "pr" as z; z::mk(1) } let ic = imp(); ic.call(1)"#, "102");
    s.is("ic.call(2)", "103");
    s.has("z::mk(1)", "ModuleNotFound");
    s.is(r#"if true { import "sub/m" as sm; sm::s() }"#, "3");
    s.has("sm::s()", "ModuleNotFound");
    s.is("fn helper(x) { x * 5 }\nlet own = |x| helper(x); import \"same1\" as s1; import \"same2\" as s2; let c1 = s1::mk(); let c2 = s2::mk(); [own.call(1), c1.call(1), c2.call(1)]", "[5, 1000, 2000]");
    s.is("[own.call(1), c1.call(1), c2.call(1)]", "[5, 1000, 2000]");
    s.is(r#"import "a1" as a1; a1::x()"#, "77");
    s.is("a1::mk().call(5)", "11");
    s.is("let ac = a1::mk(); ac.call(5)", "11");
    s.is("ac.call(6)", "13");
    s.is(r#"import "pr" as q1; let fq = || q1::helper(1); import "sub/m" as q2; fq.call()"#, "101");
    s.is("fq.call()", "101");
    s.is(r#"{ import "sub/m" as inner; fq.call() + inner::s() }"#, "104");
    s.is(r#"import "sub/m" as pr; pr::s()"#, "3");
    s.is(r#"import "pr" as pr; pr::helper(1)"#, "101");
    s.is(r#"import "cap" as cap; [cap::k(), cap::P]"#, "[5, 6]");
    s.is("cap::mk().call(1)", "6");
    s.is("let cm = cap::mk(); cm.call(2)", "7");
    s.is("cm.call(3)", "8");
    s.is("cap::bare()", "5");
    s.has("let secretvar = 42; cap::leak()", "VariableNotFound");
    s.is("cap::each([1,2], |v| v + secretvar)", "[43, 44]");
    s.is("fn rs() { secretvar } cap::each([1], |v| rs())", "[42]");
    s.has(r#"import "var" as vm; vm::getn()"#, "VariableNotFound");
    s.has("vm::shr.n = 5", "onstant");
    s.has("vm::bump()", "VariableNotFound");
    s.has(r#"import "ca" as x"#, "circular import: ca → cb → ca");
    s.has(r#"import "../secret" as x"#, "ModuleNotFound");
    s.has(r#"import "/etc/passwd" as x"#, "ModuleNotFound");
    s.has(r#"import "topfail" as x"#, "init");
    s.has(r#"import "nosuch" as x"#, "ModuleNotFound");
    let failure = s.fails(r#"import "bad" as b;"#);
    assert_eq!((failure.source.as_str(), failure.line), ("bad.rhai", 2));
    s.is(r#"import "hot" as hot; let hc = hot::mk(); [hot::v(), hc.call()]"#, "[1, 1]");
    s.harness.write("hot", "fn v() { 22 } fn mk() { || v() } ");
    s.is("[hot::v(), hc.call()]", "[22, 1]");
    s.is(r#"import "hot" as hot; [hot::v(), hc.call(), hot::mk().call()]"#, "[22, 1, 22]");
    let job = s.run(r#"import "prints" as p; p::f()"#);
    assert_eq!(job.output(), ["loading", "called"]);
    let job = s.start(r#"import "loopm" as l;"#);
    s.harness.arrived("loading", 1);
    job.cancel();
    assert!(job.join());
    assert_eq!(job.show(), "cancelled");
    s.is("1", "1");
}

#[test]
fn modules_of_the_embedding_program_need_no_import() {
    let s = Harness::new().session();
    s.is("orders::count()", "3");
    s.is("fn all() { orders::count() + 1 } all()", "4");
    s.is("let f = || orders::count(); f.call()", "3");
    let facts = s.harness.runtime().functions();
    let count = facts.iter().find(|facts| facts.name == "count").unwrap();
    assert_eq!((count.module.as_deref(), count.doc.as_str(), count.standard), (Some("orders"), "How many.", false));
    let sleep: Vec<_> = facts.iter().filter(|facts| facts.name == "sleep" && !facts.standard).collect();
    assert_eq!(sleep.len(), 2);
    assert!(sleep[0].signature.starts_with("sleep(secs"), "{sleep:?}");
}

#[test]
fn kept_imports_are_resolved_again_by_every_eval_that_names_them() {
    let harness = Harness::new();
    harness.write("m", "fn v() { 1 }");
    harness.write("other", "fn w() { 10 }");
    let s = harness.session();
    s.run("import \"m\" as m; import \"other\" as o; fn through() { m::v() } let c = || m::v();");
    harness.write("m", "fn v() { 2 } fn late() { 5 }");
    s.is("m::v() + m::late()", "7");
    s.is("through()", "2");
    s.is("c.call()", "2");
    let running = s.start("gate(\"a\"); m::v()");
    harness.arrived("a", 1);
    harness.write("m", "fn v() { 3 }");
    s.is("m::v()", "3");
    harness.open("a");
    assert!(running.join());
    assert_eq!(running.show(), "2", "a running eval keeps what it began with");
    harness.write("m", "fn v() { ");
    s.is("o::w()", "10");
    s.is("through()", "3");
    let failure = s.fails("m::v()");
    assert_eq!((failure.kind.as_str(), failure.source.as_str()), ("Parsing", "m.rhai"));
}

#[test]
fn a_module_keeps_its_private_functions_constants_and_closures() {
    let harness = Harness::new();
    harness.write("only_closures", "const K = 4;\nexport const SCALE = |x| x * K + global::K;");
    harness.write("makers", "private fn secret(x) { x + 1 }\nfn by_name() { Fn(\"secret\") }\nfn run(f) { f.call(1) }\nfn own() { run(|x| secret(x)) }");
    let s = harness.session();
    s.is("import \"only_closures\" as oc; oc::SCALE.call(2)", "12");
    s.is("let f = oc::SCALE; f.call(3)", "16");
    s.is("f.call(4)", "20");
    s.is("import \"makers\" as mk; mk::own()", "2");
    s.has("mk::secret(1)", "FunctionNotFound");
    s.is("const K = 100; fn secret(x) { 1000 } [mk::own(), oc::SCALE.call(0), mk::run(|x| K + x)]", "[2, 4, 101]");
}

#[test]
fn functions_can_be_laid_over_a_module() {
    let harness = Harness::new();
    let s = harness.session();
    s.run("1");
    let task = Arc::clone(&harness.job(1).task);
    let ast_of = |code: &str| {
        let eval = s.run(code);
        eval.overlay()
    };
    let first = ast_of("fn double(x) { scale(x) * 2 } fn maker(n) { |x| double(x) + n }");
    let second = ast_of("fn scale(x) { x * K }\n\nfn broken(x) { x.nosuch() }");
    assert_eq!((first.source(), first.functions().len(), first.is_empty()), ("eval 2", 2, false));
    let text = "const K = 3;\nfn scale(x) { x }\nfn double(x) { x }\nprivate fn hidden() { 9 }";
    let module = compile_module(&task, "laid", text, &[first, second]).unwrap();
    assert_eq!(module.name(), "laid");
    harness.put(module);
    s.is("import \"laid\" as l; [l::scale(2), l::double(2), l::maker(1).call(2)]", "[6, 12, 13]");
    s.is("let kept = l::maker(0); kept.call(1)", "6");
    s.is("kept.call(2)", "12");
    let failure = s.fails("l::broken(1)");
    assert_eq!((failure.source.as_str(), failure.line), ("eval 3", 3), "the eval that wrote it is named");
}

#[test]
fn code_can_be_evaluated_inside_a_module() {
    let harness = Harness::new();
    let s = harness.session();
    s.run("1");
    let task = Arc::clone(&harness.job(1).task);
    let text =
        "const K = 3;\nprivate fn hidden(x) { x * K }\nfn open(x) { hidden(x) + 1 }\nfn maker() { |x| hidden(x) }";
    let module = compile_module(&task, "inside", text, &[]).unwrap();
    let inside = harness.session();
    inside.space.set_environment(module.environment());
    inside.is("[hidden(1), open(2), K]", "[3, 7, 3]");
    inside.is("fn hidden(x) { x * 1000 } open(2)", "2001");
    inside.is("let f = maker(); f.call(1)", "3");
}
