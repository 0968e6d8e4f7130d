//! The modules that come with the program: they check without a word, and every example in their docs is true.

use super::{ModuleOutline, check};
use crate::words::Limits;
use rhai::{Engine, Module, Scope, Shared};
use std::fs;
use std::path::PathBuf;

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
    let problems: Vec<_> = check(&folder(), &Limits::default()).unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(problems, Vec::<String>::new());
}

#[test]
fn every_example_of_the_plain_modules_is_true() {
    for name in ["stats", "text", "table"] {
        let mut engine = engine();
        let (outline, module) = load(&engine, name);
        engine.register_static_module(name, module);
        for function in outline.public() {
            let examples = examples(&function.doc);
            assert!(!examples.is_empty(), "{name}::{} has no example", function.signature);
            for (code, value) in examples {
                let same = engine.eval::<bool>(&format!("let a = {code}; let b = {value}; type_of(a) == type_of(b) && a == b"));
                let got = engine.eval::<rhai::Dynamic>(code).map(|value| format!("{value:?}"));
                assert!(same.is_ok_and(|same| same), "{code} is {got:?}, not {value}");
            }
        }
    }
}

#[test]
fn what_has_no_answer_says_so() {
    let mut engine = engine();
    let (_, module) = load(&engine, "stats");
    engine.register_static_module("stats", module);
    for (code, message) in [
        ("stats::mean([])", "mean of an empty list"),
        ("stats::median([])", "percentile of an empty list"),
        ("stats::percentile([1], 101)", "percentile 101 is not between 0 and 100"),
        ("stats::histogram([1], 0)", "histogram needs at least one bin, not 0"),
        ("stats::correlation([1], [1, 2])", "correlation of lists of 1 and 2 values"),
        ("stats::correlation([1, 1], [1, 2])", "correlation of values that are all equal"),
    ] {
        let error = engine.eval::<rhai::Dynamic>(code).unwrap_err().to_string();
        assert!(error.contains(message), "{code}: {error}");
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
