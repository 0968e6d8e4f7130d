//! Sizes, promises and snapshots of the texts that teach.

use super::texts::reference;
use super::*;
use crate::base::Limits;
use crate::render::value::{Budget, value};
use expect_test::expect;
use rhai::{Dynamic, Engine, Scope};
use std::time::Duration;

fn functions() -> Vec<FunctionDoc> {
    vec![
        FunctionDoc {
            name: "out".into(),
            signatures: vec!["out(id)".into(), "out(id, from, n)".into()],
            doc: "Lines that an entry printed,\nas `[seconds, source, text]`.\n\n```rhai\nout(1)\n```".into(),
        },
        FunctionDoc { name: "last".into(), ..FunctionDoc::default() },
    ]
}

#[test]
fn instructions_are_short_and_say_what_to_do() {
    expect![[r#"
        Remontoire is a live Rhai runtime: a long-lived process in which you evaluate scripts and keep state between calls. Variables, functions, imports and results by id stay until the process ends.

        Before the first real eval, evaluate `manual()` and read it."#]].assert_eq(&instructions("", false));
    expect![[r#"
        Remontoire is a live Rhai runtime: a long-lived process in which you evaluate scripts and keep state between calls. Variables, functions, imports and results by id stay until the process ends. This one: orders service, staging.

        Call create-session once and pass the handle it answers as `session` with every call. Then, before the first real eval, evaluate `manual()` and read it."#]].assert_eq(&instructions("orders service,\n  staging", true));
    let longest = instructions(&"words ".repeat(500), true);
    assert!(longest.chars().count() < 1_000 && longest.contains("…\n"), "{}", longest.len());
}

#[test]
fn tools_are_described_briefly() {
    for tool in Tool::ALL {
        for variant in [Variant::Await, Variant::Tasks] {
            let text = tool_description(tool, variant, false, &Limits::default());
            let (chars, eval) = (text.chars().count(), tool == Tool::Eval);
            assert!((100..2_000).contains(&chars), "{tool:?} has {chars} characters");
            assert_eq!(text.contains("`background`"), eval && variant == Variant::Tasks, "{tool:?} {variant:?}");
            assert_eq!(text.contains("`await`"), eval && variant == Variant::Await, "{tool:?} {variant:?}");
        }
        assert!(!tool_title(tool).is_empty());
    }
}

/// What clients and scripts read, in every variant.
fn texts(limits: &Limits) -> Vec<String> {
    let variants = [Variant::Await, Variant::Tasks];
    let tools = variants.into_iter().flat_map(|variant| {
        let described = move |own| move |tool| tool_description(tool, variant, own, limits);
        Tool::ALL.into_iter().map(described(false)).chain(Tool::ALL.into_iter().map(described(true)))
    });
    let manuals = variants.into_iter().map(|variant| manual("", variant, &[], &[], limits));
    tools.chain(manuals).chain([eval_wait(limits), await_wait(limits)]).collect()
}

#[test]
fn texts_say_the_limits_that_are_set() {
    let set = Limits {
        grace: Duration::from_secs(3),
        silence: Duration::from_secs(7_200),
        cancel_wait: Duration::from_millis(1_500),
        ..Limits::default()
    };
    let (usual, set) = (texts(&Limits::default()).join("\n"), texts(&set).join("\n"));
    let marks = [
        ("longer than 10 seconds", "longer than 3 seconds"),
        ("24 hours of silence", "2 hours of silence"),
        ("at most 86400;", "at most 7200;"),
        ("after 2 seconds and", "after 1.5 seconds and"),
    ];
    for (before, after) in marks {
        assert!(usual.contains(before) && !usual.contains(after), "{before}");
        assert!(set.contains(after) && !set.contains(before), "{after}");
    }
    for text in [&usual, &set] {
        assert!(!text.contains("_WAIT}") && !text.contains("{GRACE}") && !text.contains("{SILENCE}"));
    }
    // No wait is longer than the longest.
    let short = texts(&Limits { silence: Duration::from_secs(5), ..Limits::default() }).join("\n");
    assert!(short.contains("default 5, at most 5;") && !short.contains("25"), "{short}");
}

#[test]
fn the_functions_that_the_manual_names_exist() {
    let text = manual("", Variant::Await, &[], &[], &Limits::default());
    let (_, list) = text.split_once("## Functions of the language, the most used").unwrap();
    let (list, _) = list.split_once("`doc(").unwrap();
    let language = crate::engine::Runtime::new(
        crate::base::Limits::default(),
        crate::engine::stdlib(),
        rhai::Module::new(),
        Vec::new(),
    );
    let names = list.split('`').skip(1).step_by(2).flat_map(str::split_whitespace);
    let names: Vec<_> = names.map(|name| name.split('(').next().unwrap()).filter(|name| !name.ends_with(')')).collect();
    assert!(names.len() > 50, "{names:?}");
    for name in names {
        assert!(language.functions().iter().any(|facts| facts.name == name), "{name}");
    }
}

#[test]
fn the_manual_is_of_one_variant_and_has_room_for_the_reference() {
    let plain = manual("", Variant::Await, &[], &[], &Limits::default());
    let tasks = manual("", Variant::Tasks, &[], &[], &Limits::default());
    assert!(plain.contains("tool `await`") && !plain.contains("background: true"));
    assert!(tasks.contains("`background: true`") && !tasks.contains("tool `await`"));
    for text in [&plain, &tasks] {
        assert!(text.len() < 15 << 10, "{} bytes leave too little for the reference", text.len());
    }
    let full = manual("orders service, staging", Variant::Await, &functions(), &["orders".into()], &Limits::default());
    assert!(full.starts_with("# Remontoire\n\nThis instance: orders service, staging.\n\nYou evaluate"));
    let (_, end) = full.split_once("## This program").unwrap();
    expect![[r#"
        's own modules

        Call them without an import: `orders::`.

        ## Reference

        `doc("name")` shows all there is to say about a function.

        - `out(id)`, `out(id, from, n)`: Lines that an entry printed, as `[seconds, source, text]`.
        - `last`
    "#]]
    .assert_eq(end);
}

#[test]
fn a_function_with_all_there_is_to_say() {
    expect![[r#"
        out(id)
        out(id, from, n)

        Lines that an entry printed,
        as `[seconds, source, text]`.

        ```rhai
        out(1)
        ```"#]]
    .assert_eq(&doc(&functions()[0]));
    expect!["last"].assert_eq(&doc(&functions()[1]));
    expect![[r#"
        nothing is called `lats`; did you mean: last
        nothing is called `\x1b`; manual() lists every function"#]]
    .assert_eq(&format!("{}\n{}", no_doc("lats", &["last".into()]), no_doc("\u{1b}", &[])));
    let long = FunctionDoc { name: "f".into(), doc: "é".repeat(1_000), ..FunctionDoc::default() };
    assert!(reference(&long).chars().count() < 280 && reference(&long).ends_with("é…"));
}

/// Examples that need no host run here; all of them compile.
#[test]
fn examples_of_the_manual_hold() {
    let mut engine = Engine::new();
    engine.set_max_expr_depths(64, 32);
    let text = manual("", Variant::Await, &[], &[], &Limits::default());
    let all = examples(&text);
    assert!(all.len() >= 6, "{} examples", all.len());
    let mut ran = 0;
    for example in &all {
        let mut scope = Scope::new();
        for step in &example.steps {
            let ast =
                engine.compile(&step.code).unwrap_or_else(|e| panic!("line {}: {e}\n{}", example.line, step.code));
            let hosted =
                ["bg(", "atom(", "res(", "out(", "timeout(", "fn "].iter().any(|call| step.code.contains(call));
            if hosted || example.compile_only {
                break;
            }
            let Some(promised) = &step.value else {
                engine.run_ast_with_scope(&mut scope, &ast).unwrap();
                continue;
            };
            let got: Dynamic = engine.eval_ast_with_scope(&mut scope, &ast).unwrap();
            assert_eq!(&value(&got, &Budget::ANSWER, &|_| None, &|| false).text, promised, "line {}", example.line);
            ran += 1;
        }
    }
    assert!(ran >= 2, "{ran} promises were checked");
}
