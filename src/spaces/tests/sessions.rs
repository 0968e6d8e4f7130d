//! Values that go from one space to another, and spaces that end.

use super::harness::Harness;

#[test]
fn closures_work_in_other_sessions_with_what_their_own_has() {
    let harness = Harness::new();
    harness.write("pr", "fn helper(x) { x + 100 }");
    let (a, b) = (harness.session(), harness.session());
    a.run("fn hlp(x) { x * 2 } let kk = 3;");
    let job = a.run("let f = |x| hlp(x) + kk; [f, #{g: |x| f.call(x) + 1, n: Fn(\"hlp\")}]");
    b.is(&format!("let p = res({}).value(); p[0].call(5)", job.id), "13");
    b.is("p[1].g.call(5)", "14");
    b.is("p[1].n.call(5)", "10");
    b.is("[1,2].map(p[0])", "[5, 7]");
    b.is("fn hlp(x) { x * 1000 } [p[0].call(1), p[1].n.call(1)]", "[5, 2]");
    a.run("fn hlp(x) { x * 4 }");
    b.is("p[0].call(1)", "7");
    a.run("kk = 100;");
    b.is("p[0].call(1)", "104");
    a.run("let av = 55; fn rav() { av }");
    let job = a.run("|| rav()");
    b.is(&format!("res({}).value().call()", job.id), "55");
    a.run("import \"pr\" as apr;");
    let job = a.run("|x| apr::helper(x)");
    b.is(&format!("let am = res({}).value(); am.call(1)", job.id), "101");
    b.is("am.call(2)", "102");
    a.run("const CK = 8;");
    let job = a.run("fn ck() { global::CK + CK } || ck()");
    b.is(&format!("res({}).value().call()", job.id), "16");
    let caller = b.run(&format!("let pc = res({}).value(); pc.call(); print(pc.call())", job.id));
    assert_eq!(caller.output(), ["16"], "output belongs to the caller");
    a.space.close();
    b.is("p[0].call(1)", "104");
    b.is("am.call(1)", "101");
    b.is("pc.call()", "16");
    a.has("1", "NoSuchSpace: no such space: s-1");
}

#[test]
fn another_space_is_read_by_import() {
    let harness = Harness::new();
    let (lab, s) = (harness.space("lab"), harness.session());
    lab.run("let size = 4; const UNIT = 10; fn scaled(n) { n * size } fn twice(n) { n * 2 } private fn hidden() { 1 }");
    s.is("import \"@lab\" as lab; [lab::size, lab::UNIT, lab::scaled(2), lab::twice(3)]", "[4, 10, 8, 6]");
    lab.run("size = 5; fn twice(n) { n * 200 }");
    s.is("[lab::size, lab::scaled(2), lab::twice(1)]", "[5, 10, 200]");
    s.has("lab::size = 1", "onstant");
    s.has("lab::hidden()", "FunctionNotFound");
    s.has("import \"@nowhere\" as n;", "ModuleNotFound");
    let failure = s.fails("lab::twice(\"a\")");
    assert_eq!(failure.source, "eval 3", "the eval that wrote the function is named: {failure:?}");
}

#[test]
fn a_view_shows_what_was_there_at_the_import() {
    let harness = Harness::new();
    let (lab, s) = (harness.space("lab"), harness.session());
    lab.run("let size = 4; let list = [1, 2]; let text = \"ab\"; let m = #{a: #{b: [1, 2]}}; let none = ();");
    s.is(
        "import \"@lab\" as lab; [lab::size, lab::list, lab::text, lab::m.a.b[1], lab::none]",
        "[4, [1, 2], \"ab\", 2, ()]",
    );
    // What runs keeps what it has; the next eval that names the view has it anew, and so has a function of the space.
    let job = s.start("let was = lab::list; gate(\"a\"); [was, lab::size, lab::list, lab::m.a.b.len()]");
    harness.arrived("a", 1);
    lab.run("size = 5; list.push(3); m = (); let newer = 1;");
    harness.open("a");
    assert!(job.join());
    assert_eq!(job.show(), "[[1, 2], 4, [1, 2], 2]");
    s.is("fn seen() { lab::list } [lab::size, seen(), lab::newer, lab::m]", "[5, [1, 2, 3], 1, ()]");
    lab.run("list.push(4);");
    s.is("seen()", "[1, 2, 3, 4]");
    s.is("[lab::list.filter(|x| x > 2), lab::list.map(|x| x + lab::list.len())]", "[[3, 4], [5, 6, 7, 8]]");
    s.is("let sum = 0; for x in lab::list { sum += x } sum", "10");
    s.is("lab::list[1..3]", "[2, 3]");
    s.is("let mine = lab::list; mine.push(9); [mine.len(), lab::list.len()]", "[5, 4]");
    s.is("switch lab::size { 5 => lab::text, _ => 0 }", "ab");
    s.is("`${lab::text}${lab::list}`", "ab[1, 2, 3, 4]");
    // It is the eval that calls a closure which sees.
    s.run("let f = || lab::list.len();");
    lab.run("list = [];");
    s.is("f.call()", "0");
}

#[test]
fn a_view_is_constant_and_says_what_is_wrong() {
    let harness = Harness::new();
    let (lab, s) = (harness.space("lab"), harness.session());
    lab.run("let size = 4; let list = [1, 2]; let m = #{a: 1}; fn f() { 1 }");
    s.run("import \"@lab\" as lab;");
    s.has("lab::size = 1", "cannot change constant 'lab::size'");
    s.has("lab::size += 1", "cannot change constant 'lab::size'");
    s.has("lab::list[0] = 1", "constant");
    s.has("lab::m.a = 2", "constant");
    s.has("lab::list.push(3)", "constant");
    s.is(
        "let said = \"\"; try { lab::size = 1; } catch (e) { said = e.message; } said",
        "cannot change constant 'lab::size'",
    );
    s.has("lab::nothing", "no variable 'lab::nothing'");
    s.has("other::size", "odule");
    s.is("[lab::size, lab::list, lab::m]", "[4, [1, 2], #{\"a\": 1}]");
    lab.space.close();
    s.has("lab::size", "lab");
}

#[test]
fn a_view_is_seen_by_children_functions_modules_and_views() {
    let harness = Harness::new();
    harness.write("reads", "import \"@lab\" as l; fn size() { l::list.len() } fn first(v) { v[0] + l::list[0] } export const AT_LOAD = l::list;");
    let (lab, second, s) = (harness.space("lab"), harness.space("second"), harness.session());
    lab.run("let list = [1, 2, 3]; fn total() { let sum = 0; for x in list { sum += x } sum } fn has(x) { list.contains(x) }");
    second.run("import \"@lab\" as lab; let own = 10; fn both() { own + lab::list.len() }");
    s.is("import \"@lab\" as lab; import \"@second\" as second; second::both()", "13");
    s.is("[lab::total(), lab::has(2), lab::list.filter(|x| lab::has(x + 1))]", "[6, true, [1, 2]]");
    s.is("let f = bg(|| { gate(\"child\"); [lab::list.len(), second::both(), lab::total()] }); lab::list.len()", "3");
    harness.arrived("child", 1);
    lab.run("list = [5];");
    harness.open("child");
    // What the parent named is as the parent saw it; functions see their own space as it is when they are called.
    s.is("f.value()", "[3, 11, 5]");
    s.is("second::both() + lab::list.len()", "12");
    s.is("import \"reads\" as r; [r::size(), r::first([1]), r::AT_LOAD]", "[1, 6, [5]]");
}

#[test]
fn unknown_entries_and_failures_of_others() {
    let harness = Harness::new();
    let s = harness.session();
    s.has("res(999999)", "no entry 999999");
    s.has(&format!("res({}).value()", harness.newest() + 1), "deadlock");
    let job = s.run("throw #{code: 3}");
    s.is(&format!("try {{ res({}).value() }} catch (e) {{ print(e.thrown.code) }} 1", job.id), "1");
    s.has(&format!("res({}).value()", job.id), &format!("Runtime: in entry {}: #{{\"code\": 3}}", job.id));
    let job = s.run("1 / 0");
    s.has(&format!("res({}).value()", job.id), &format!("Arithmetic: in entry {}: division by zero", job.id));
}

#[test]
fn a_space_that_ends_fails_its_evals_loudly() {
    let s = Harness::new().session();
    let job = s.start("let a = 1; gate(\"a\"); let b = 2; 3");
    s.harness.arrived("a", 1);
    s.space.close();
    s.harness.open("a");
    assert!(job.join());
    assert_eq!(job.show(), "!NoSuchSpace: no such space: s-1");
    assert_eq!(job.committed(), ["a"]);
}
