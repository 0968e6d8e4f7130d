//! Failures as data: kind, place, source, frames, near names, hints.

use super::harness::{Harness, Session};
use crate::base::{Cut, Failure};
use expect_test::{Expect, expect};

fn check(s: &Session, code: &str, expected: Expect) {
    expected.assert_eq(&shown(&s.fails(code)));
}

fn shown(failure: &Failure) -> String {
    let mut text =
        format!("{}: {}\n{} {}:{}", failure.kind, failure.message, failure.source, failure.line, failure.column);
    if let Some(excerpt) = &failure.excerpt {
        text += &format!("\n  | {excerpt}");
    }
    for frame in &failure.frames {
        text += &format!("\nin {} called at {} {}:{}", frame.function, frame.source, frame.line, frame.column);
    }
    if !failure.suggestions.is_empty() {
        text += &format!("\ndid you mean: {}", failure.suggestions.join(", "));
    }
    if let Some(hint) = &failure.hint {
        text += &format!("\n{hint}");
    }
    text
}

#[test]
fn places_and_frames_name_the_code_that_wrote_them() {
    let harness = Harness::new();
    harness.write("boom", "fn gox(x) {\n  x.nosuch()\n}\nfn top() {\n  gox(5)\n}\nfn mk() { |x| x.nosuch2() }");
    let s = harness.session();
    s.run("fn inner_(n) {\n  n.nosuch()\n}");
    s.run("fn outer_(n) { inner_(n) }");
    check(
        &s,
        "let q = 1;\n\nouter_(q)",
        expect![[r#"
            FunctionNotFound: no function 'nosuch' for (int)
            eval 1 2:5
            in outer_ called at eval 3 3:1
            in inner_ called at eval 2 1:16"#]],
    );
    check(
        &s,
        "let a = 1;\nlet b = 2;\n  a.nosuch(b)",
        expect![[r#"
            FunctionNotFound: no function 'nosuch' for (int, int)
            eval 4 3:5
              |   a.nosuch(b)"#]],
    );
    check(
        &s,
        "import \"boom\" as boom; boom::top()",
        expect![[r#"
            FunctionNotFound: no function 'nosuch' for (int)
            boom.rhai 2:5
              |   x.nosuch()
            in top called at eval 5 1:30
            in gox called at boom.rhai 5:3"#]],
    );
    check(
        &s,
        "import \"boom\" as boom; let c = boom::mk();\nc.call(1)",
        expect![[r#"
            FunctionNotFound: no function 'nosuch2' for (int)
            boom.rhai 7:17
              | fn mk() { |x| x.nosuch2() }
            in closure called at eval 6 2:3"#]],
    );
    check(
        &s,
        "let er = |x| {\n x.nosuch() };\ner.call(1)",
        expect![[r#"
            FunctionNotFound: no function 'nosuch' for (int)
            eval 7 2:4
              |  x.nosuch() };
            in closure called at eval 7 3:4"#]],
    );
    check(
        &s,
        "er.call(2)",
        expect![[r#"
            FunctionNotFound: no function 'nosuch' for (int)
            eval 7 2:4
            in closure called at eval 8 1:4"#]],
    );
    check(
        &s,
        "[1].map(|x| x.nosuch())",
        expect![[r#"
            FunctionNotFound: no function 'nosuch' for (int)
            eval 9 1:15
              | [1].map(|x| x.nosuch())
            in map called at eval 9 1:5
            in closure called at eval 9 1:5"#]],
    );
}

#[test]
fn functions_of_one_name_are_told_apart() {
    let s = Harness::new().session();
    s.run("fn ar(a) { a.nosuch() }");
    s.run("fn ar(a, b) { 1 }");
    s.run("fn wrap(a) { [ar(a)] }");
    check(
        &s,
        "wrap(1)",
        expect![[r#"
            FunctionNotFound: no function 'nosuch' for (int)
            eval 1 1:14
            in wrap called at eval 4 1:1
            in ar called at eval 3 1:15"#]],
    );
}

#[test]
fn debug_output_has_its_place() {
    let s = Harness::new().session();
    let job = s.run("debug(1);\nlet a = 1;\ndebug(a)");
    assert_eq!(job.lines(), [("debug".into(), "eval 1 · 1:1 · 1".into()), ("debug".into(), "eval 1 · 3:1 · 1".into())]);
}

#[test]
fn typing_errors_are_answered_with_near_names() {
    let s = Harness::new().session();
    s.run("let total = 5; fn work(list, n) { 1 }");
    check(
        &s,
        "let list = [1, 2];\nlist.lenn()",
        expect![[r#"
            FunctionNotFound: no function 'lenn' for (array)
            eval 2 2:6
              | list.lenn()
            did you mean: len()"#]],
    );
    check(
        &s,
        "\n\n  totl + 1",
        expect![[r#"
        VariableNotFound: no variable 'totl'
        eval 3 3:3
          |   totl + 1
        did you mean: total"#]],
    );
    check(
        &s,
        "work(1)",
        expect![[r#"
            FunctionNotFound: no function 'work' for (int)
            eval 4 1:1
              | work(1)
            did you mean: work(list, n)"#]],
    );
    s.harness.write("kit", "fn twice(n) { n * 2 }");
    check(
        &s,
        "import \"kit\" as kit; kit::twise(1)",
        expect![[r#"
            FunctionNotFound: no function 'kit::twise' for (int)
            eval 5 1:27
              | import "kit" as kit; kit::twise(1)
            did you mean: kit::twice"#]],
    );
    check(
        &s,
        "kitt::twice(1)",
        expect![[r#"
        ModuleNotFound: no module 'kitt'
        eval 6 1:1
          | kitt::twice(1)
        did you mean: kit"#]],
    );
    check(
        &s,
        "nosuch()",
        expect![[r#"
        FunctionNotFound: no function 'nosuch' without arguments
        eval 7 1:1
          | nosuch()"#]],
    );
}

#[test]
fn errors_say_what_to_do() {
    let s = Harness::new().session();
    check(
        &s,
        "let x = 1;\\nlet y = 2;\\nx + y",
        expect![[r#"
        Parsing: syntax error: Unexpected '\'
        eval 1 1:11
          | let x = 1;\nlet y = 2;\nx + y
        the code has \n where a line break was meant: its newlines were escaped twice; send real line breaks"#]],
    );
    s.run("let rate = 3;");
    check(
        &s,
        "fn poke() { rate = 99; } poke()",
        expect![[r#"
        AssignmentToConstant: cannot change constant 'rate'
        eval 3 1:13
          | fn poke() { rate = 99; } poke()
        in poke called at eval 3 1:26
        functions read the variables of their space and cannot change them: return the value, or keep it in an atom"#]],
    );
    check(
        &s,
        "let m = #{ v: 7 }; m.f = || m.v; m.f.call()",
        expect![[r#"
        DataRace: 'm' is in use by another call or eval
        eval 4 1:38
          | let m = #{ v: 7 }; m.f = || m.v; m.f.call()
        in closure called at eval 4 1:38
        a variable that a closure captured is shared: keep what several evals change in an atom, call a closure that is kept in a captured map as call(m.f), and if a native function broke off in it, `let m = ..` makes it anew"#]],
    );
}

#[test]
fn kinds_and_messages_of_common_errors() {
    let s = Harness::new().session();
    let rows = [
        "let = 1",
        "1 / 0",
        "throw \"x\"",
        "throw 5",
        "throw ()",
        "throw #{code: 404}",
        "import \"nowhere\" as n;",
        "[1][5]",
        "\"a\" - 1",
        "let s = ; ",
        "fn inf(n) { inf(n + 1) } inf(0)",
        "boom()",
        "res(987654)",
        "x.y",
        "\"abc",
        "(1 + ",
        "const A = #{x: 1}; A.x = 2",
        "let a = 5; a.nosuch",
        "sleep(-1)",
        "blob(9223372036854775807)",
        "eval(\"1\")",
    ];
    super::harness::quiet();
    let shown: Vec<_> = rows.iter().map(|code| format!("{code} → {}", s.shown(code))).collect();
    expect![[r#"
        let = 1 → !Parsing: syntax error: Expecting name of a variable
        1 / 0 → !Arithmetic: division by zero: 1 / 0
        throw "x" → !Runtime: x
        throw 5 → !Runtime: 5
        throw () → !Runtime: something was thrown without a value
        throw #{code: 404} → !Runtime: #{"code": 404}
        import "nowhere" as n; → !ModuleNotFound: no module 'nowhere'
        [1][5] → !ArrayBounds: array index 5 out of bounds: only 1 element in array
        "a" - 1 → !FunctionNotFound: no function '-' for (string, int)
        let s = ;  → !Parsing: syntax error: Unexpected ';'
        fn inf(n) { inf(n + 1) } inf(0) → !StackOverflow: calls nested deeper than 64 levels, which is the limit
        boom() → !Panic: a native function panicked: host function panicked
        res(987654) → !NoEntry: no entry 987654; the newest is 13
        x.y → !VariableNotFound: no variable 'x'
        "abc → !Parsing: syntax error: Open string is not terminated
        (1 +  → !Parsing: syntax error: Script is incomplete
        const A = #{x: 1}; A.x = 2 → !AssignmentToConstant: cannot change constant 'A'
        let a = 5; a.nosuch → !DotExpr: no property 'nosuch' for int
        sleep(-1) → !BadArgument: seconds are 0 or more, not -1
        blob(9223372036854775807) → !ArgumentLimit: blob was asked for 9223372036854775807 bytes and the limit is 134,217,728
        eval("1") → !Parsing: syntax error: reserved keyword 'eval' is disabled"#]].assert_eq(&shown.join("\n"));
}

#[test]
fn lines_and_columns_count_as_people_do() {
    let s = Harness::new().session();
    s.is("\u{feff}let x = 1;\r\nlet y = 41;\r\nx + y\r\n", "42");
    let failure = s.fails("\u{feff}let x = 1;\r\nx.nosuch()\r\n");
    assert_eq!((failure.line, failure.column, failure.excerpt.as_deref()), (2, 3, Some("x.nosuch()")));
    let failure = s.fails("let s = \"😀😀\"; s.nosuch()");
    assert_eq!((failure.line, failure.column), (1, 17));
}

#[test]
fn columns_that_rhai_cannot_count_are_unknown() {
    let s = Harness::new().session();
    let far = " ".repeat(70_000);
    let failure = s.fails(&format!("1;\n{far}nosuch()"));
    assert_eq!((failure.line, failure.column), (2, 0));
    let failure = s.fails(&format!("fn f() {{ nosuch() }} {far} f()"));
    assert_eq!((failure.line, failure.column, failure.frames[0].line, failure.frames[0].column), (1, 10, 1, 0));
    let near = " ".repeat(65_000);
    assert_eq!(s.fails(&format!("{near}nosuch()")).column, 65_001);
}

#[test]
fn what_a_message_leaves_out_of_a_thrown_value_is_counted() {
    let s = Harness::new().session();
    let cut = |code: &str| {
        let failure = s.fails(code);
        assert!(failure.thrown);
        let Cut { characters, lines, elements } = failure.cut;
        (failure.message.chars().count(), characters, lines, elements)
    };
    assert_eq!(cut("let t = \"\"; t.pad(100000, 'x'); throw t"), (4_001, 96_000, 0, 0));
    assert_eq!(cut("let t = \"\"; t.pad(100000, 'é'); throw t"), (2_001, 98_000, 0, 0));
    assert_eq!(cut("let t = \"\"; for i in 0..1000 { t += \"12345678\\n\" } throw t"), (4_001, 4, 555, 0));
    for (code, others) in [("throw t", 0), ("throw [1, #{a: t, b: 2}, 3]", 2)] {
        let failure = s.fails(&format!("let t = []; t.pad(5000, 12); {code}"));
        let shown = failure.message.matches("12").count();
        assert!(shown > 100 && failure.message.ends_with("]…"), "{}", failure.message);
        assert_eq!(failure.cut, Cut { elements: 5_000 - shown + others, ..Cut::default() });
    }
    assert_eq!(cut("throw blob(1000)"), (903, 0, 0, 550));
    assert_eq!(cut("let t = \"\"; t.pad(5000, 'x'); throw [t, 2]").1, 4_101);
    assert_eq!(cut("throw \"short\""), (5, 0, 0, 0));
    // Another entry's failure is told as fully.
    let job = s.run("let t = \"\"; t.pad(100000, 'x'); throw t");
    let failure = s.fails(&format!("res({}).value()", job.id));
    assert_eq!(failure.cut.characters, 96_000);
}

#[test]
fn a_module_that_exists_is_imported_by_the_hint() {
    let s = Harness::new().session();
    s.harness.write("stats", "fn mean(l) { 1 }");
    let failure = s.fails("stats::mean([1])");
    assert_eq!(failure.hint.as_deref(), Some("the module is not imported here: import \"stats\" as stats;"));
    s.is("import \"stats\" as stats; stats::mean([1])", "1");
    let s = s.harness.session();
    assert_eq!(s.fails("stat::mean([1])").suggestions, ["stats"]);
    assert_eq!(s.fails("unlike::mean([1])").hint, None);
}

#[test]
fn functions_that_change_a_variable_are_told_how() {
    let s = Harness::new().session();
    s.run("let v = [1];");
    for code in ["fn f() { v.push(1) } f()", "fn f() { v += 1; } f()", "fn f() { v[0] = 1; } f()"] {
        let failure = s.fails(code);
        let hint = failure.hint.unwrap_or_default();
        assert!(
            hint.starts_with("functions read the variables of their space"),
            "{code}: {failure:?}",
            failure = failure.kind
        );
    }
    assert_eq!(s.fails("const L = []; L.push(1)").hint, None);
}

#[test]
fn zeros_keep_their_sign() {
    let s = Harness::new().session();
    let job = s.run("print(-0.0); print([-0.0]); print(`${-0.0} ${0.0}`); print((-0.0).to_string()); print(1e300)");
    assert_eq!(job.output(), ["-0.0", "[-0.0]", "-0.0 0.0", "-0.0", "1e300"]);
}

#[test]
fn a_thrown_value_stays_alive() {
    let s = Harness::new().session();
    let job = s.run("fn helper(x) { x * 2 } throw #{code: 404, retry: |x| helper(x)}");
    let map = job.thrown().unwrap();
    assert_eq!(map.as_map_ref().unwrap()["code"].as_int(), Ok(404));
    assert!(s.run("1").thrown().is_none());
    s.is(
        &format!("let e = (); try {{ res({}).value() }} catch (err) {{ e = err; }} e.thrown.retry.call(21)", job.id),
        "42",
    );
}

#[test]
fn what_stops_an_eval_has_a_place_and_its_line() {
    let s =
        Harness::with(crate::base::Limits { eval_bytes: 8 << 20, ..Default::default() }, crate::base::Clock::real())
            .session();
    check(
        &s,
        "let a = [1];\nloop { a += a }",
        expect![[r#"
        MemoryLimit: the eval reached its memory limit of 8 MiB; work in smaller parts
        eval 1 2:8
          | loop { a += a }"#]],
    );
    check(
        &s,
        "let d = [];\nfor i in 0..1200 { d = [d] }\n1",
        expect![[r#"
            NestingLimit: a value nested deeper than 1,000 levels cannot be kept
            eval 2 2:25
              | for i in 0..1200 { d = [d] }"#]],
    );
    check(
        &s,
        "1;\nlet d = atom(0);\nfor i in 0..1200 { d = atom(d) }",
        expect![[r#"
        NestingLimit: a value nested deeper than 1,000 levels cannot be kept
        eval 3 3:24
          | for i in 0..1200 { d = atom(d) }"#]],
    );
    check(
        &s,
        "let d = [];\nfn deep(d) {\n  for i in 0..1200 { d = [d] }\n  atom(d)\n}\ndeep(d)",
        expect![[r#"
        NestingLimit: a value nested deeper than 1,000 levels cannot be kept
        eval 4 6:1
          | deep(d)"#]],
    );
}

#[test]
fn what_is_found_only_when_a_value_is_kept_has_the_place_that_made_it() {
    let harness = Harness::new();
    let s = harness.session();
    check(
        &s,
        "let d = [];\nlet n = 0;\n[1].map(|x| { let d = []; for i in 0..1200 { let e = d; d = [e]; } d })",
        expect![[r#"
        NestingLimit: a value nested deeper than 1,000 levels cannot be kept
        eval 1 3:1
          | [1].map(|x| { let d = []; for i in 0..1200 { let e = d; d = [e]; } d })"#]],
    );
    check(
        &s,
        "fn deep() { let d = []; for i in 0..1200 { let e = d; d = [e]; } d }\n1;\nreturn deep();\n2",
        expect![[r#"
        NestingLimit: a value nested deeper than 1,000 levels cannot be kept
        eval 2 3:1
          | return deep();"#]],
    );
    check(
        &s,
        "fn deep() { let d = []; for i in 0..1200 { let e = d; d = [e]; } d }\n1;\n  exit(deep());\n2",
        expect![[r#"
        NestingLimit: a value nested deeper than 1,000 levels cannot be kept
        eval 3 3:3
          |   exit(deep());"#]],
    );
    s.run("let c =\n  bg(|| { let d = []; for i in 0..1200 { let e = d; d = [e]; } d });\ntry { c.value() } catch { }");
    expect![[r#"
        NestingLimit: a value nested deeper than 1,000 levels cannot be kept
        eval 4 2:3"#]]
    .assert_eq(&shown(&s.harness.job(s.harness.newest()).failure().unwrap()));
    let small =
        Harness::with(crate::base::Limits { space_bytes: 1 << 20, ..Default::default() }, crate::base::Clock::real())
            .session();
    check(
        &small,
        "1;\nlet b = blob(2000000);",
        expect![[r#"
        SpaceMemoryLimit: the space would keep more than its memory limit of 1 MiB; assign () to what is no longer needed
        eval 1 2:1
          | let b = blob(2000000);"#]],
    );
    check(
        &small,
        "let list = []; let grow = || list.push(blob(2000000));\ngrow.call();\n1",
        expect![[r#"
        SpaceMemoryLimit: the space would keep more than its memory limit of 1 MiB; assign () to what is no longer needed
        eval 2 2:1
          | grow.call();"#]],
    );
    // A data race, as one that a native function left behind.
    super::harness::quiet();
    s.run("let c = [1, 2]; let peek = || c.len(); peek.call()");
    s.run("c.spoil()");
    check(
        &s,
        "1;\nif true {\n  c.len()\n}",
        expect![[r#"
        DataRace: 'c' is in use by another call or eval
        eval 8 2:1
          | if true {
        a variable that a closure captured is shared: keep what several evals change in an atom, call a closure that is kept in a captured map as call(m.f), and if a native function broke off in it, `let c = ..` makes it anew"#]],
    );
    check(
        &s,
        "1;\n  c += 1;",
        expect![[r#"
        DataRace: 'c' is in use by another call or eval
        eval 9 2:5
          |   c += 1;
        a variable that a closure captured is shared: keep what several evals change in an atom, call a closure that is kept in a captured map as call(m.f), and if a native function broke off in it, `let c = ..` makes it anew"#]],
    );
    // A kept import.
    harness.write("later", "fn one() { 1 }");
    s.run("import \"later\" as later;");
    harness.write("later", "fn one() {\n  1 +");
    check(
        &s,
        "let x = 1;\nx + later::one()",
        expect![[r#"
        Parsing: syntax error: Script is incomplete
        later.rhai 2:6
          |   1 +
        in <import> called at eval 11 2:5"#]],
    );
    harness.remove("later");
    s.is("let x = 1;\nfn f() { later::one() }\nx + f()", "2");
    check(
        &s,
        "let x = 1;\nx + later::one()",
        expect![[r#"
        ModuleNotFound: no module 'later'
        eval 13 2:5
          | x + later::one()"#]],
    );
}

#[test]
fn frames_of_children_say_where_they_were_started() {
    let s = Harness::new().session();
    s.run("let c =\n  bg(|| {\n    let x = 1;\n    x.nosuch()\n  });\ntry { c.value() } catch { }");
    expect![[r#"
        FunctionNotFound: no function 'nosuch' for (int)
        eval 1 4:7
        in closure called at eval 1 2:3"#]]
    .assert_eq(&shown(&s.harness.job(s.harness.newest()).failure().unwrap()));
}

#[test]
fn replacing_replaces_every_occurrence() {
    let s = Harness::new().session();
    s.is("let t = \"aXbXc\"; t.replace(\"X\", \"--\"); t", "a--b--c");
    s.is("let t = \"ab\"; t.replace(\"\", \"-\"); t", "-a-b-");
    s.is("let t = \"éaé\"; t.replace('é', \"\"); t", "a");
}
