//! Sizes, promises and snapshots of the texts that teach.

use super::manual::reference;
use super::*;
use crate::base::Limits;
use expect_test::expect;
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
    let manuals = variants.into_iter().map(|variant| manual(&instance("", limits, &[], &[]), variant));
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
        ("default 10, at most 86400;", "default 3, at most 7200;"),
        ("outcome: 10 by default", "outcome: 3 by default"),
        ("(10 unless you say otherwise)", "(3 unless you say otherwise)"),
        ("`running · id 12 · 10.0 s so far`", "`running · id 12 · 3.0 s so far`"),
        ("24 hours of silence", "2 hours of silence"),
        ("default 25, at most 86400;", "default 25, at most 7200;"),
        ("after 2 seconds and", "after 1.5 seconds and"),
    ];
    for (before, after) in marks {
        assert!(usual.contains(before) && !usual.contains(after), "{before}");
        assert!(set.contains(after) && !set.contains(before), "{after}");
    }
    for text in [&usual, &set] {
        assert!(
            !["{EVAL", "{AWAIT", "{GRACE}", "{SILENCE}", "{LONGEST}", "{CANCEL"]
                .iter()
                .any(|place| text.contains(place))
        );
    }
    // No wait is longer than the longest.
    let short = texts(&Limits { silence: Duration::from_secs(5), ..Limits::default() }).join("\n");
    assert!(short.contains("default 5, at most 5;") && !short.contains("default 25"), "{short}");
}

#[test]
fn the_functions_of_the_language_that_the_manual_names_exist() {
    let text = plain(Variant::Await);
    let (_, list) = text.split_once("\n- Lists: ").unwrap();
    let (list, _) = list.split_once("\n\n").unwrap();
    let language =
        crate::engine::Runtime::new(Limits::default(), crate::engine::stdlib(), rhai::Module::new(), Vec::new());
    let names: Vec<_> = list.split('`').skip(1).step_by(2).flat_map(str::split_whitespace).collect();
    assert!(names.len() > 50, "{names:?}");
    for name in names {
        assert!(name == "type_of" || language.functions().iter().any(|facts| facts.name == name), "{name}");
    }
}

fn instance<'a>(
    describe: &'a str,
    limits: &'a Limits,
    functions: &'a [FunctionDoc],
    modules: &'a [String],
) -> Instance<'a> {
    Instance { describe, limits, functions, modules, along: &[] }
}

/// The manual of an instance without a description or modules.
fn plain(variant: Variant) -> String {
    manual(&instance("", &Limits::default(), &[], &[]), variant)
}

#[test]
fn the_manual_is_short_and_of_one_variant() {
    let (awaits, tasks) = (plain(Variant::Await), plain(Variant::Tasks));
    assert!(awaits.contains("tool `await`") && !awaits.contains("background: true"));
    assert!(tasks.contains("`background: true`") && !tasks.contains("tool `await`"));
    for text in [&awaits, &tasks] {
        assert!(text.len() <= 6_500, "{} bytes", text.len());
    }
    let limits = Limits { grace: Duration::from_secs(3), ..Limits::default() };
    let quick = manual(&instance("", &limits, &[], &[]), Variant::Tasks);
    assert!(quick.contains("longer than 3 seconds"), "{quick}");
    let modules = ["orders".to_owned()];
    let full = manual(&instance("orders service, staging", &Limits::default(), &functions(), &modules), Variant::Await);
    assert!(full.starts_with("# Remontoire\n\nThis instance: orders service, staging.\n\nYou evaluate"));
    assert!(full.contains("\n- This program's own modules, called without an import: `orders::`\n\n## Pages\n"));
    expect_test::expect_file!["manual/manual.snapshot"].assert_eq(&awaits);
}

#[test]
fn pages_are_whole_and_those_made_from_facts_have_them() {
    let limits = Limits { call_depth: 77, ..Limits::default() };
    let (functions, modules) = (functions(), []);
    let of = instance("", &limits, &functions, &modules);
    let page = |name: &str| manual_page(name, &of, Variant::Await).unwrap();
    assert!(
        page("children").starts_with("## Background children\n")
            && page("children").ends_with("those in variables too.\n")
    );
    assert!(page("Waiting").contains("## Calls that last") && page("await").contains("tool `await`"));
    assert!(page("limit").contains("- `call_depth` · 77 · Deepest chain of calls in a script · --call-depth\n"));
    expect![[r#"
        ## Reference

        `doc("name")` shows all there is to say about a function.

        - `out(id)`, `out(id, from, n)`: Lines that an entry printed, as `[seconds, source, text]`.
        - `last`
    "#]]
    .assert_eq(&page("reference"));
    expect!["the manual has no page `childhood`; did you mean: children; its pages are: rhai, entries, variables, functions, lists, children, waiting, sharing, channels, spaces, modules, library, tools, sessions, errors, answers, limits, surprises, reference"]
        .assert_eq(&manual_page("childhood", &of, Variant::Await).unwrap_err());
}

#[test]
fn each_limit_has_its_line() {
    let limits = Limits { eval_time: Some(Duration::from_millis(1_500)), ..Limits::default() };
    let lines = limit_lines(&limits);
    assert_eq!(lines.lines().count(), limit_rows().count());
    for line in [
        "- `eval_seconds` · 1.5 s · Longest time an eval may run · --max-seconds",
        "- `eval_bytes` · 128 MiB · Memory of one eval · --eval-memory",
        "- `live_entries` · 4,096 · Evals that have not settled · --max-live",
    ] {
        assert!(lines.lines().any(|other| other == line), "{line} in\n{lines}");
    }
    assert!(limit_lines(&Limits::default()).contains("`eval_seconds` · none · "));
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
    let long = FunctionDoc { name: "f".into(), doc: "Says much. ".repeat(100), ..FunctionDoc::default() };
    assert!(reference(&long).chars().count() < 220 && reference(&long).ends_with("Says much. …"));
}

#[test]
fn overloads_with_one_doc_stand_together_and_an_example_is_shown_once() {
    let all = [
        ("get(list: array)", "Of a list.\n\n# Example\n\nsame"),
        ("get(map: map)", "Of a map.\n\n# Example\n\nsame"),
        ("get(n: int)", ""),
        ("get(list: array, n: int)", "Of a list.\n\n# Example\n\nsame"),
    ];
    let all = all.map(|(call, doc)| (call.to_owned(), doc.to_owned()));
    expect![[r#"
        get(list: array)
        get(list: array, n: int)

        Of a list.

        # Example

        same

        get(map: map)

        Of a map.

        get(n: int)"#]]
    .assert_eq(&overloads("get", &all));
}

#[test]
fn what_a_search_found_and_what_is_nowhere() {
    let hit = |call: &str, says: &str| Hit { call: call.into(), says: says.into() };
    let hits = [hit("order(list: array)", "A sorted copy."), hit("x()", "")];
    expect![[r#"
        nothing is called `sort a list`; the best 2 of 40 that speak of it:
        - `order(list: array)`: A sorted copy.
        - `x()`
        nothing is called `lats`; did you mean: last; one thing speaks of it:
        - `x()`
        nothing is known about `lats`; did you mean: last
        nothing is known about `\x1b`; manual() names every function, doc("some words") searches"#]]
    .assert_eq(&format!(
        "{}\n{}\n{}\n{}",
        found("sort a list", &[], &hits, 40),
        found("lats", &["last".into()], &hits[1..], 1),
        no_doc("lats", &["last".into()]),
        no_doc("\u{1b}", &[])
    ));
    expect![[r#"
        const rate · int · 16 bytes · in s-bfw · set by entry 12, 3.2 s ago
        42"#]]
    .assert_eq(&variable(&VariableDoc {
        name: "rate".into(),
        constant: true,
        kind: "int".into(),
        bytes: 16,
        space: "s-bfw".into(),
        set_by: "entry 12, 3.2 s ago".into(),
        value: "42".into(),
    }));
}
