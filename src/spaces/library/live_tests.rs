//! The library under real evals: what they see of modules, what they are told, and evaluating inside one.

use super::super::OutlineOptions;
use super::super::describe::{ModuleRow, ModuleStatus};
use super::super::testing::Harness;
use crate::engine::Sources;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Sources that count how often they are asked.
struct Counted<'a> {
    sources: &'a dyn Sources,
    asked: AtomicUsize,
}

impl Sources for Counted<'_> {
    fn text(&self, source: &str) -> Option<Arc<str>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.sources.text(source)
    }

    fn line(&self, source: &str, line: usize) -> Option<String> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.sources.line(source, line)
    }
}

#[test]
fn edits_are_live_also_below() {
    let harness = Harness::new(&[
        ("inner.rhai", "fn v() { 1 }"),
        ("outer.rhai", "import \"inner\" as i;\nfn v() { i::v() + 100 }"),
    ]);
    let code = "import \"outer\" as o; o::v()";
    assert_eq!(harness.eval(code).value(), 101);
    harness.write("inner.rhai", "fn v() { 2 }");
    assert_eq!(harness.eval(code).value(), 102);
}

#[test]
fn private_functions_and_errors_stay_where_they_are() {
    let harness = Harness::new(&[(
        "m.rhai",
        "private fn secret() { 13 }\nfn open() { secret() }\nfn boom(x) {\n  x.nosuch()\n}",
    )]);
    assert_eq!(harness.eval("import \"m\" as m; m::open()").value(), 13);
    assert!(harness.eval("import \"m\" as m; m::secret()").failure().contains("FunctionNotFound"));
    let failure = harness.eval("import \"m\" as m;\nm::boom(1)").failure();
    assert!(failure.starts_with("m.rhai:4 · FunctionNotFound"), "{failure}");
}

#[test]
fn what_cannot_be_imported_says_why() {
    let harness = Harness::new(&[
        ("stats.rhai", ""),
        ("round.rhai", "import \"trip\" as t;"),
        ("trip.rhai", "import \"round\" as r;"),
        ("cracked.rhai", "fn a() { 1 }\nfn b( {\n"),
    ]);
    for (name, said) in [
        ("stat", "ModuleNotFound: no module `stat`; did you mean stats"),
        ("../secret", "BadModuleName: `../secret` cannot name a module"),
        ("round", "CircularImport: circular import: round → trip → round"),
        ("cracked", "cracked.rhai:2 · Parsing"),
        ("@nowhere", "NoSuchSpace"),
    ] {
        let failure = harness.eval(&format!("import \"{name}\" as x;")).failure();
        assert!(failure.contains(said), "{name}: {failure}");
    }
}

#[test]
fn a_broken_edit_is_told_to_the_eval_that_meets_it() {
    let harness = Harness::new(&[("frail.rhai", "fn v() { 1 }")]);
    let code = "import \"frail\" as f; f::v()";
    assert_eq!(harness.eval(code).value(), 1);
    harness.write("frail.rhai", "fn v() { 2 }\nfn broken( {\n");
    let answer = harness.eval(code);
    assert_eq!(answer.value(), 1);
    assert_eq!(answer.output.len(), 1, "{:?}", answer.output);
    assert!(answer.output[0].starts_with("module: frail.rhai:2:12: "), "{:?}", answer.output);
    harness.write("frail.rhai", "fn v() { 3 }");
    let answer = harness.eval(code);
    assert_eq!((answer.value(), answer.output), (3, vec![]));
}

#[test]
fn another_space_is_read_as_it_is_now_also_by_modules() {
    let harness = Harness::new(&[("m.rhai", "import \"@count\" as c;\nfn read() { c::BEFORE }")]);
    assert_eq!(harness.eval("import \"@count\" as c; c::BEFORE").value(), 0);
    let code = "import \"m\" as m; m::read()";
    assert_eq!((harness.eval(code).value(), harness.eval(code).value()), (1, 2));

    let lab = harness.space("lab");
    assert!(harness.eval_in(&lab, "let x = 4; fn twice() { x * 2 }").ended.result.is_ok());
    let code = "import \"@lab\" as lab; lab::x * 100 + lab::twice()";
    assert_eq!(harness.eval(code).value(), 408);
    assert!(harness.eval_in(&lab, "x = 5;").ended.result.is_ok());
    assert_eq!(harness.eval(code).value(), 510);
}

#[test]
fn what_is_defined_inside_is_live_until_reload() {
    let harness = Harness::new(&[(
        "live.rhai",
        "const BASE = 1;\nfn number() { BASE }\nfn twice() { number() * 2 }\nprivate fn hidden() { 5 }\n",
    )]);
    let code = "import \"live\" as l; l::twice()";
    assert_eq!(harness.eval(code).value(), 2);
    let inside = harness.inside("live");
    assert_eq!(harness.eval_inside(&inside, "let kept = hidden(); kept + twice()").value(), 7);
    let answer = harness.eval_inside(&inside, "/// Better.\nfn number() { 21 }\nfn fresh(a, b) { a + b }");
    assert!(answer.ended.result.is_ok());
    assert_eq!(answer.output.len(), 1, "{:?}", answer.output);
    assert!(answer.output[0].starts_with("module: defined inside live: "), "{:?}", answer.output);
    assert_eq!(harness.eval(code).value(), 42);
    assert_eq!(harness.eval("import \"live\" as l; l::fresh(1, 2)").value(), 3);
    assert_eq!(harness.eval_inside(&inside, "kept + twice() + hidden()").value(), 52, "variables stay");

    let library = harness.modules.library();
    let rows = library.outline("live", &*harness.texts).unwrap().rows(&OutlineOptions { docs: true, like: None });
    let shown: Vec<_> = rows.iter().map(|r| (r.name.as_str(), r.doc.as_str(), r.defined_by.is_some())).collect();
    assert_eq!(shown, [("number", "Better.", true), ("twice", "", false), ("fresh", "", true)]);
    let source = |function: &str| library.function_source("live", function, &*harness.texts).unwrap();
    assert_eq!(source("number"), "/// Better.\nfn number() { 21 }");
    assert_eq!(source("twice"), "fn twice() { number() * 2 }");
    assert_eq!(library.modules("live")[0].defined.len(), 2);

    assert!(harness.reload("live").starts_with("reloaded live"), "{}", harness.reload("live"));
    assert_eq!(harness.eval(code).value(), 2);
    assert_eq!(harness.eval_inside(&inside, "twice()").value(), 2);
}

#[test]
fn the_code_of_an_eval_is_asked_for_once_however_long_it_is() {
    let harness = Harness::new(&[("live.rhai", "fn number() { 1 }")]);
    let code = format!("{}/// Late.\nfn number() {{ 2 }}", "// a line\n".repeat(3_000));
    assert!(harness.eval_inside(&harness.inside("live"), &code).ended.result.is_ok());
    let sources = Counted { sources: &*harness.texts, asked: AtomicUsize::new(0) };
    let outline = harness.modules.library().outline("live", &sources).unwrap();
    assert_eq!((outline.functions[0].doc.as_str(), outline.functions[0].line), ("Late.", 3_002));
    assert_eq!(sources.asked.swap(0, Ordering::Relaxed), 1, "for the outline");
    let text = harness.modules.library().function_source("live", "number", &sources).unwrap();
    assert!(text.ends_with("/// Late.\nfn number() { 2 }"), "{text}");
    assert_eq!(sources.asked.into_inner(), 2, "for the outline and for the text");
}

#[test]
fn what_is_declared_inside_is_none_of_the_importers_business() {
    let harness = Harness::new(&[("live.rhai", "const BASE = 1;\nfn base() { BASE }")]);
    let code = "import \"live\" as l; l::base()";
    let inside = harness.inside("live");
    assert_eq!(harness.eval_inside(&inside, "const BASE = 5; const EXTRA = 2; BASE + EXTRA + base()").value(), 12);
    assert_eq!(
        harness.eval_inside(&inside, "BASE + EXTRA + base()").value(),
        12,
        "functions see the space they are called in"
    );
    assert_eq!(harness.eval(code).value(), 1);
    let failure = harness.eval_inside(&harness.inside("live"), "BASE = 3;").failure();
    assert!(failure.contains("AssignmentToConstant"), "{failure}");
    inside.space().close();
    assert_eq!(harness.eval(code).value(), 1);
}

#[test]
fn a_circle_made_by_an_edit_is_told_once() {
    let harness =
        Harness::new(&[("m.rhai", "fn v() { 1 }"), ("trip.rhai", "import \"m\" as m; fn v() { m::v() + 10 }")]);
    let trip = "import \"trip\" as t; t::v()";
    assert_eq!(harness.eval(trip).value(), 11);
    harness.write("m.rhai", "import \"trip\" as t; fn v() { 2 }");
    // Whichever is imported is where the circle begins and ends.
    for (code, value, said) in [
        ("import \"m\" as m; m::v()", 1, "circular import: m → trip → m · m stays at its last good version"),
        (trip, 11, "circular import: trip → m → trip · trip stays at its last good version"),
    ] {
        let answer = harness.eval(code);
        assert_eq!(answer.value(), value, "{code}");
        assert!(answer.output.len() == 1 && answer.output[0].ends_with(said), "{:?}", answer.output);
    }
}

#[test]
fn a_module_that_a_limit_ended_is_not_well() {
    let harness = Harness::new(&[
        ("hog.rhai", "let all = [1];\nloop { all += all }"),
        ("outer.rhai", "import \"hog\" as h;"),
        ("fine.rhai", "fn f() { 1 }"),
    ]);
    let states = || {
        let rows = harness.modules.library().modules("");
        let state = |row: &ModuleRow| match &row.status {
            ModuleStatus::Broken(problem) => format!("{}: {problem}", row.name),
            _ => format!("{}: ", row.name),
        };
        rows.iter().map(state).collect::<Vec<_>>()
    };
    assert_eq!(states(), ["fine: ", "hog: ", "outer: "]);
    let failure = harness.eval("import \"outer\" as o;").failure();
    assert!(failure.contains("MemoryLimit"), "{failure}");
    let now = states();
    assert_eq!(now[0], "fine: ");
    assert!(
        now[1].starts_with("hog: hog.rhai:")
            && now[1].contains("error: loading it was ended: the eval reached its memory limit"),
        "{now:?}"
    );
    assert!(now[2].contains("loading it was ended: the eval reached its memory limit"), "{now:?}");
    harness.write("hog.rhai", "fn f() { 1 }");
    assert!(harness.eval("import \"outer\" as o;").ended.result.is_ok());
    assert_eq!(states(), ["fine: ", "hog: ", "outer: "]);
}

#[test]
fn an_import_made_inside_a_module_stays_when_the_module_changes() {
    let harness = Harness::new(&[("live.rhai", "fn v() { 1 }"), ("other.rhai", "fn w() { 10 }")]);
    let inside = harness.inside("live");
    harness.eval_inside(&inside, "import \"other\" as o; o::w()").value();
    harness.write("live.rhai", "fn v() { 2 }");
    assert_eq!(harness.eval_inside(&inside, "v() + o::w()").value(), 12);
}

#[test]
fn closures_made_by_a_module_work_after_it_changed() {
    let harness = Harness::new(&[("m.rhai", "fn base() { 1 }\nfn maker(n) { |x| x + n + base() }")]);
    let space = harness.space("scratch");
    assert!(harness.eval_in(&space, "import \"m\" as m; let ten = m::maker(10);").ended.result.is_ok());
    harness.write("m.rhai", "fn base() { 1000 }\nfn maker(n) { |x| 0 }");
    assert_eq!(harness.eval_in(&space, "ten.call(5)").value(), 16);
}
