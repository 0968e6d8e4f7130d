//! Hints for what is brought along from other languages: each row of the table, and errors that must get none.

use super::harness::{Harness, Session};
use std::fmt::Write;

const TABLE: &str = include_str!("../../engine/run/hints.txt");

/// A row: hint, wrong code, right code and its value.
#[derive(Default)]
struct Row {
    hint: String,
    wrong: Vec<String>,
    right: String,
    gives: String,
}

fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for block in TABLE.split("\n\n") {
        let mut row = Row::default();
        for line in block.lines().filter(|line| !line.starts_with('#')) {
            let (word, rest) = line.split_once(' ').unwrap();
            let code = rest.replace('⏎', "\n");
            match word {
                "hint" => row.hint = code,
                "wrong" => row.wrong.push(code),
                "right" => row.right = code,
                "gives" => row.gives = code,
                "parse" | "call" | "name" | "property" | "module" | "says" | "of" | "args" => {}
                _ => panic!("a line of no kind: {line}"),
            }
        }
        if !row.hint.is_empty() {
            rows.push(row);
        }
    }
    rows
}

fn fresh(harness: &Harness) -> Session {
    harness.session()
}

#[test]
fn each_row_has_wrong_code_that_gets_its_hint_and_right_code_that_runs() {
    let harness = Harness::new();
    let rows = rows();
    assert!(rows.len() >= 60, "{}", rows.len());
    let mut faults = String::new();
    for row in &rows {
        assert!(!row.wrong.is_empty() && !row.right.is_empty(), "{}", row.hint);
        for code in &row.wrong {
            let job = fresh(&harness).run(code);
            let Some(failure) = job.failure() else {
                writeln!(faults, "runs: {code}\n    → {}", job.show()).unwrap();
                continue;
            };
            let hint = failure.hint.unwrap_or_default();
            let (before, after) = row.hint.split_once("{name}").unwrap_or((&row.hint, ""));
            let fits = hint.starts_with(before) && hint.ends_with(after.rsplit('}').next().unwrap_or_default());
            if !fits || hint.contains("{name}") || hint.contains('\n') {
                writeln!(
                    faults,
                    "{code}\n    {}: {} {}:{}\n    → {hint}\n    not {}",
                    failure.kind, failure.message, failure.line, failure.column, row.hint
                )
                .unwrap();
            }
        }
        let shown = fresh(&harness).shown(&row.right);
        if shown != row.gives {
            writeln!(faults, "{}\n    gives {shown}\n    not {}", row.right, row.gives).unwrap();
        }
    }
    assert!(faults.is_empty(), "\n{faults}");
}

/// Code that is Rhai and goes wrong for reasons of its own. Names, texts and comments have the words of other languages.
#[test]
fn errors_of_rhai_itself_get_no_hint() {
    let harness = Harness::new();
    harness.session();
    let codes = [
        "let function = 1; function + nosuch",
        "let none = (); // None of null === => x++\nnone_such",
        "let m = #{None: 1, length: 2}; m.None + nosuch_name",
        "let t = \"x => y, a ? b : c, console.log(x), f'..'\"; t + nosuch_name",
        "let t = `if a == None: pass ${nosuch_name} elif`; t",
        "/* for (let i = 0; i < 3; i++) */ throw \"def f(x):\"",
        "throw \"x is undefined\"",
        "1 / 0",
        "[1][5]",
        "let f = |x| x; f.call(1, 2)",
        "fn size(a, b) { a } size(1)",
        "fn list(a) { a } list()",
        "fn map(a) { 1 } map(1, 2, 3)",
        "let x = ;",
        "let list = [1, 2",
        "fn f(a, b",
        "if true { 1",
        "let x = (1 + 2",
        "let m = #{a: 1, b: 2",
        "nosuch_function(1)",
        "[1].nosuch_method()",
        "const A = 1; A = 2;",
        "import \"nowhere\" as n;",
        "let x = 5 +;",
        "res(987654)",
        "\"a\".sub_string([1])",
        "parse_json(\"{\")",
        "fn f() { g() } fn g() { nosuch_name } f()",
        "let x = nosuch_name == 5;",
        "if nosuch_name == 5 { 1 }",
        "let y = 1; y = nosuch_name",
        "switch nosuch_name { 1 => 2, _ => 3 }",
        "[1].map(|x| x => 2)",
    ];
    let mut faults = String::new();
    for code in &codes[..codes.len() - 1] {
        let failure = harness.session().fails(code);
        if let Some(hint) = failure.hint {
            writeln!(faults, "{code}\n    {}: {}\n    → {hint}", failure.kind, failure.message).unwrap();
        }
    }
    assert!(faults.is_empty(), "\n{faults}");
    assert!(harness.session().fails(codes[codes.len() - 1]).hint.is_some());
}

#[test]
fn a_hint_stands_in_one_line_and_catch_knows_none() {
    let s = Harness::new().session();
    let failure = s.fails("let x = [1];\nx.length");
    assert_eq!(failure.message, "no property 'length' for array");
    assert_eq!(failure.hint.as_deref(), Some("the number of items is .len()"));
    s.is(
        "let e = (); try { [1].length } catch (err) { e = err; } [e.kind, e.message, \"hint\" in e]",
        r#"["DotExpr", "no property 'length' for array", false]"#,
    );
}

/// Code of another eval, and of a module: only the line is known.
#[test]
fn code_of_others_gets_its_hints_too() {
    let s = Harness::new().session();
    s.run("fn big(list) {\n  list.length > 3\n}");
    assert_eq!(s.fails("big([1])").hint.as_deref(), Some("the number of items is .len()"));
    s.harness.write("arrows", "fn f(l) {\n  l.map(x => x)\n}");
    let failure = s.fails("import \"arrows\" as a; a::f([1])");
    assert!(failure.hint.unwrap_or_default().starts_with("closures are written"), "{}", failure.message);
}
