//! The modules that come with the program: they check without a word, and every example in their docs is true.

use super::testing::Harness;
use super::{ModuleOutline, check};
use crate::base::Limits;
use rhai::{Array, Dynamic, Engine, EvalAltResult, FnPtr, Module, NativeCallContext, Scope, Shared};
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("scripts")
}

fn engine() -> Engine {
    let mut engine = Engine::new();
    engine.set_max_expr_depths(64, 32);
    engine.set_max_call_levels(64);
    engine
}

fn load(engine: &Engine, name: &str) -> (ModuleOutline, Shared<Module>) {
    let text = fs::read_to_string(folder().join(format!("{name}.rhai"))).unwrap();
    let outline = ModuleOutline::of_text(name, &text, &Limits::default()).unwrap();
    let ast = engine.compile(&text).unwrap();
    (outline, Module::eval_ast_as_new(Scope::new(), &ast, engine).unwrap().into())
}

/// The lines `expression // value` of the examples in a doc.
fn examples(doc: &str) -> Vec<(&str, &str)> {
    let code = doc.split("```rhai\n").skip(1).filter_map(|rest| rest.split("```").next());
    code.flat_map(str::lines).filter_map(|line| line.rsplit_once(" // ")).collect()
}

#[test]
fn every_module_checks_without_a_word() {
    let checked = check(&folder(), &Limits::default()).unwrap();
    let problems: Vec<_> = checked.problems.iter().map(ToString::to_string).collect();
    assert_eq!(problems, Vec::<String>::new());
}

#[test]
fn every_example_of_the_plain_modules_is_true() {
    // `stats` calls native modules, which plain Rhai has not: its examples are evaluated below.
    for name in ["text", "table"] {
        let mut engine = engine();
        let (outline, module) = load(&engine, name);
        engine.register_static_module(name, module);
        for function in outline.public() {
            let examples = examples(&function.doc);
            assert!(!examples.is_empty(), "{name}::{} has no example", function.signature);
            for (code, value) in examples {
                let same = engine
                    .eval::<bool>(&format!("let a = {code}; let b = {value}; type_of(a) == type_of(b) && a == b"));
                let got = engine.eval::<rhai::Dynamic>(code).map(|value| format!("{value:?}"));
                assert!(same.is_ok_and(|same| same), "{code} is {got:?}, not {value}");
            }
        }
    }
}

#[test]
fn examples_are_true_in_real_evals_too() {
    let harness = Harness::over(&folder());
    for name in ["stats", "text", "table"] {
        let outline = harness.modules.library().outline(name, &*harness.texts).unwrap();
        let mut code = format!("import \"{name}\" as {name};\nlet wrong = [];\n");
        for (example, value) in outline.public().flat_map(|f| examples(&f.doc)) {
            writeln!(code, "if {example} != {value} {{ wrong.push({example}); }}").unwrap();
        }
        code += "wrong.len()";
        assert_eq!(harness.eval(&code).value(), 0, "{code}");
    }
}

#[test]
fn patterns_load_in_real_evals() {
    let harness = Harness::over(&folder());
    let rows = harness.modules.library().modules("patterns/");
    assert!(rows.len() >= 6);
    for row in rows {
        assert!(!row.doc.is_empty() && row.functions > 0, "{row:?}");
        assert_eq!(harness.eval(&format!("import \"{}\" as p; 1", row.name)).value(), 1);
    }
}

#[test]
fn what_has_no_answer_says_so() {
    let harness = Harness::over(&folder());
    for (code, message) in [
        ("stats::mean([])", "mean of an empty list"),
        ("stats::median([])", "percentile of an empty list"),
        ("stats::percentile([1], 101)", "percentile 101 is not between 0 and 100"),
        ("stats::histogram([1], 0)", "histogram needs at least one bin, not 0"),
        ("stats::correlation([1], [1, 2])", "correlation of lists of 1 and 2 values"),
        ("stats::correlation([1, 1], [1, 2])", "correlation of values that are all equal"),
    ] {
        let failure = harness.eval(&format!("import \"stats\" as stats; {code}")).failure();
        assert!(failure.contains(message), "{code}: {failure}");
    }
}

#[test]
fn tables_survive_a_trip_through_csv() {
    let mut engine = engine();
    let (_, module) = load(&engine, "table");
    engine.register_static_module("table", module);
    let trip = r#"
        let rows = [#{a: "1", b: "x,y"}, #{a: "say \"hi\"", b: "two\nlines"}, #{a: "", b: "\"\""}];
        table::from_csv(table::to_csv(rows)) == rows && table::from_csv("") == [] && table::from_csv("a\r\n1\r\n\r\n") == [#{a: "1"}]
    "#;
    assert!(engine.eval::<bool>(trip).unwrap());
}

/// A child that ran at once, on the spot.
#[derive(Clone, Debug)]
struct Child {
    id: i64,
    ended: Result<Dynamic, Dynamic>,
    status: Arc<Mutex<&'static str>>,
}

#[derive(Clone, Debug)]
struct Cell(Arc<Mutex<Dynamic>>);

type Fallible = Result<Dynamic, Box<EvalAltResult>>;

fn thrown(error: &EvalAltResult) -> Dynamic {
    match error {
        EvalAltResult::ErrorInFunctionCall(_, _, inner, _) | EvalAltResult::ErrorInModule(_, inner, _) => thrown(inner),
        EvalAltResult::ErrorRuntime(value, _) => value.clone(),
        other => other.to_string().into(),
    }
}

/// An engine whose host functions do their work at once: enough to see that the patterns do what they say, not when. A child
/// that throws `"never"` stands for one that is still at work.
fn host(modules: &[&str]) -> Engine {
    let mut engine = engine();
    let slept = Arc::new(Mutex::new(Array::new()));
    let sleeps = slept.clone();
    let sleep = move |seconds: f64| {
        let mut slept = slept.lock().unwrap();
        assert!(slept.len() < 1_000, "waits for ever");
        slept.push(seconds.into());
    };
    engine.register_fn("slept", move || sleeps.lock().unwrap().clone());
    let asleep = sleep.clone();
    engine.register_fn("sleep", move |seconds: i64| asleep(f64::from(i32::try_from(seconds).unwrap())));
    engine.register_fn("sleep", sleep);
    let next = Mutex::new(0);
    engine.register_fn("bg", move |context: NativeCallContext, f: FnPtr| {
        let id = {
            *next.lock().unwrap() += 1;
            *next.lock().unwrap()
        };
        let ended = f.call_within_context::<Dynamic>(&context, ()).map_err(|e| thrown(&e));
        let status = match &ended {
            Ok(_) => "ok",
            Err(value) if value.clone().into_string().is_ok_and(|v| v == "never") => "running",
            Err(_) => "failed",
        };
        Child { id, ended, status: Arc::new(Mutex::new(status)) }
    });
    engine.register_get("id", |child: &mut Child| child.id);
    engine.register_get("status", |child: &mut Child| child.status.lock().unwrap().to_owned());
    engine.register_fn("value", |child: &mut Child| -> Fallible {
        child.ended.clone().map_err(|value| EvalAltResult::ErrorRuntime(value, rhai::Position::NONE).into())
    });
    engine.register_fn("cancel", |child: &mut Child| *child.status.lock().unwrap() = "cancelled");
    engine.register_fn("await_all", |entries: Array| entries);
    engine.register_fn("await_all", |_: Array, _: i64| -> Fallible { Err("timed out".into()) });
    engine.register_fn("await_any", |entries: Array| entries);
    engine.register_fn("timeout", |context: NativeCallContext, _: i64, f: FnPtr| -> Fallible {
        f.call_within_context(&context, ())
    });
    engine.register_fn("atom", |value: Dynamic| Cell(Arc::new(Mutex::new(value))));
    engine.register_fn("get", |cell: &mut Cell| cell.0.lock().unwrap().clone());
    engine.register_fn("set", |cell: &mut Cell, value: Dynamic| *cell.0.lock().unwrap() = value);
    engine.register_fn("swap", |context: NativeCallContext, cell: &mut Cell, f: FnPtr| -> Fallible {
        let before = cell.0.lock().unwrap().clone();
        let after: Dynamic = f.call_within_context(&context, (before,))?;
        *cell.0.lock().unwrap() = after.clone();
        Ok(after)
    });
    engine.register_fn("out", |_: i64, from: i64, n: i64| -> Array {
        let line = |n: i64| Dynamic::from_array(vec![0.5.into(), "print".into(), format!("line {n}").into(), n.into()]);
        (from..3.min(from + n)).map(line).collect()
    });
    for name in modules {
        let (_, module) = load(&engine, &format!("patterns/{name}"));
        engine.register_static_module(*name, module);
    }
    engine
}

#[test]
fn every_walk_through_compiles() {
    let engine = engine();
    let mut seen = 0;
    for file in fs::read_dir(folder().join("patterns")).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        let outline = ModuleOutline::of_text("m", &text, &Limits::default()).unwrap();
        let walk = outline.doc.split("```rhai\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
        // One eval for each block of lines.
        for eval in walk.split("\n\n") {
            engine.compile(eval).unwrap_or_else(|e| panic!("{eval}\n{e}"));
            seen += 1;
        }
    }
    assert!(seen > 20, "{seen}");
}

#[test]
fn patterns_do_what_they_say() {
    let names = [
        "poll_and_read",
        "fan_out_and_gather",
        "first_of_several",
        "hand_over",
        "watch_and_cancel",
        "retry_with_backoff",
    ];
    for (code, expected) in [
        ("fan_out_and_gather::each([1, 2, 3], |n| n * n)", "[1, 4, 9]"),
        ("fan_out_and_gather::each([], |n| n)", "[]"),
        ("fan_out_and_gather::each_of([1, 2, 3], 1, |n| n + 1)", "[2, 3, 4]"),
        (
            "try { fan_out_and_gather::each_of([1], 0, |n| n) } catch (e) { return e; }",
            "\"a width of 0 leaves nobody to do the work\"",
        ),
        ("try { fan_out_and_gather::each([1], |n| { throw \"broke\" }) } catch (e) { return e; }", "\"broke\""),
        (
            "fan_out_and_gather::rows([1, 0], |n| if n == 0 { throw \"zero\" } else { n })",
            "[#{item: 1, ok: true, value: 1}, #{item: 0, ok: false, error: \"zero\"}]",
        ),
        ("first_of_several::good([|| { throw \"never\" }, || { throw \"down\" }, || 7])", "7"),
        ("first_of_several::good_within(5, [|| 1, || 2])", "1"),
        (
            "try { first_of_several::good([|| { throw \"a\" }, || { throw \"b\" }]) } catch (e) { return e.errors; }",
            "[\"a\", \"b\"]",
        ),
        (
            "let q = hand_over::queue(2); [hand_over::offer(q, 1), hand_over::offer(q, 2), hand_over::offer(q, 3), hand_over::waiting(q)]",
            "[true, true, false, 2]",
        ),
        (
            "let q = hand_over::queue(2); hand_over::put(q, 1); hand_over::put(q, 2); hand_over::close(q);
             [hand_over::take(q), hand_over::take(q), hand_over::take(q), hand_over::waiting(q)]",
            "[1, 2, (), 0]",
        ),
        (
            "let q = hand_over::queue(2); hand_over::close(q); try { hand_over::put(q, 1) } catch (e) { return e; }",
            "\"the queue is closed\"",
        ),
        (
            "poll_and_read::news(bg(|| 1), 1)",
            "#{lines: [\"line 1\", \"line 2\"], next: 3, status: \"ok\", settled: true}",
        ),
        (
            "let n = atom(0); poll_and_read::wait_for(10, 0.5, || { n.set(n.get() + 1); if n.get() > 2 { n.get() } else { false } })",
            "3",
        ),
        ("watch_and_cancel::stop_when(bg(|| 1), 0.5, || true)", "#{status: \"ok\", stopped: false, reason: ()}"),
        (
            "let n = atom(0); watch_and_cancel::stop_when(bg(|| { throw \"never\" }), 0.5, || { n.set(n.get() + 1); n.get() > 2 })",
            "#{status: \"cancelled\", stopped: true, reason: true}",
        ),
        ("watch_and_cancel::at_most(bg(|| { throw \"never\" }), 2).reason", "\"still at work after 2 s\""),
        ("watch_and_cancel::stop_when_silent(bg(|| { throw \"never\" }), 2).reason", "\"silent for 2 s\""),
        (
            "let n = atom(0); let v = retry_with_backoff::times(5, 0.1, || { n.set(n.get() + 1); if n.get() < 4 { throw \"no\" } n.get() }); [v, slept()]",
            "[4, [0.1, 0.2, 0.4]]",
        ),
        (
            "try { retry_with_backoff::times(2, 50, || { throw \"no\" }) } catch (e) { return [e, slept()]; }",
            "[\"no\", [50.0]]",
        ),
        (
            "try { retry_with_backoff::times_if(5, 1, |e| e != \"no\", || { throw \"no\" }) } catch (e) { return [e, slept()]; }",
            "[\"no\", []]",
        ),
        ("retry_with_backoff::pauses(9, 1)", "[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0]"),
    ] {
        let engine = host(&names);
        let got: Dynamic = engine.eval(code).unwrap_or_else(|e| panic!("{code}: {e}"));
        let same = engine.eval_with_scope::<bool>(Scope::new().push("got", got.clone()), &format!("got == {expected}"));
        assert!(same.is_ok_and(|same| same), "{code} is {got:?}, not {expected}");
    }
}
