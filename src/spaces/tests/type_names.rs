//! Types have the names that scripts know in whatever a script or a person reads.

use super::harness::Harness;
use std::fmt::Write;

/// Code that fails, by what goes wrong.
const FAILING: &[&str] = &[
    "(1).nosuch(2, 2.5, \"a\", 'c', true, (), [1], #{}, 0..3, 0..=3, |x| x, timestamp(), blob(1))",
    "nosuch(\"a\".chars(), range(0, 10, 2), 5.bits(), atom(1))",
    "res(1).nosuch()",
    "1 - \"a\"",
    "[1] + 1",
    "!5",
    "-\"a\"",
    "let a = 5; a.b",
    "let a = 5; a.b = 1",
    "let a = \"x\"; a.b = 1",
    "[1].b",
    "#{a: 1}.b.c",
    "timestamp().b",
    "(|x| x).b",
    "(0..3).b",
    "let a = true; a[0]",
    "let a = (); a[\"x\"] = 1",
    "[1][\"a\"]",
    "[1, 2][0.5]",
    "\"abc\"[\"a\"]",
    "#{a: 1}[1]",
    "#{a: 1}[0..2]",
    "let r = 0..1; [1, 2][r]",
    "blob(3)[\"a\"]",
    "blob(3)[0] = \"a\"",
    "\"abc\"[0] = 5",
    "let s = \"abc\"; s[0] = 5;",
    "let x = 5; x[\"a\"]",
    "let x = 1.5; if x { 1 }",
    "let x = \"a\"; while x { }",
    "let x = 1; x && true",
    "let x = []; x || true",
    "for i in 5.5 { }",
    "let x = true; for i in x { }",
    "[1].map(5)",
    "[1].filter(\"a\")",
    "[1, 2].reduce(1)",
    "[1].sort(5)",
    "[1, 2].sort(|a, b| \"x\")",
    "[1, 2].order_by(|a| [])",
    "[|x| x, |y| y].sort()",
    "[timestamp(), timestamp()].order()",
    "[1].filter(|x| 5)",
    "[1].some(|x| \"a\")",
    "[1].extract(\"a\")",
    "\"a\".sub_string([1])",
    "\"x\".to_int()",
    "\"x\".to_float()",
    "parse_int(5)",
    "parse_json(5)",
    "blob(\"a\")",
    "sleep(\"a\")",
    "atom(1).swap(5)",
    "let a = atom(1); a.get().x",
    "let f = |a| a; f.call(1, 2)",
    "Fn(5)",
    "Fn(\"nosuch\").call(1)",
    "call(5)",
    "throw 5",
    "throw timestamp()",
    "const L = [1]; L.push(2)",
    "const S = \"a\"; S.b = 1",
    "switch 5 { 1 => 2 }.x",
    "fn f() { this.x } f()",
    "fn f() { this + 1 } let s = \"a\"; s.f(1, 2)",
    "import 5 as x;",
    "let x = 5; import x as y;",
    "1 << -1.5",
    "9223372036854775807 + 1",
    "1 / 0",
    "2 ** \"a\"",
    "5.get_bit(100)",
    "let x = 5; x[100] = true;",
    "range(1)",
    "range(0, 1, \"a\")",
    "max([1])",
    "abs(\"a\")",
    "round(1.5, 2)",
    "print(1, 2)",
    "len(5)",
    "orders::nosuch(1)",
    "1 in 5",
    "\"a\" in 5",
    "5 in \"abc\"",
];

/// The words of types that only the program knows, in `text`.
fn foreign(text: &str) -> Vec<&str> {
    const WORDS: [&str; 20] = [
        "i64",
        "f64",
        "INT",
        "FLOAT",
        "Dynamic",
        "ImmutableString",
        "getter",
        "setter",
        "FnPtr",
        "&mut",
        "&str",
        "Range<",
        "rhai::",
        "core::",
        "alloc::",
        "std::",
        "remontoire::",
        "i128",
        "usize",
        "u64",
    ];
    WORDS.into_iter().filter(|word| text.contains(word)).collect()
}

#[test]
fn errors_name_types_as_scripts_do_shown_and_caught() {
    let harness = Harness::new();
    super::harness::quiet();
    let mut faults = String::new();
    for code in FAILING {
        let job = harness.session().run(code);
        let Some(failure) = job.failure() else {
            writeln!(faults, "runs: {code} → {}", job.show()).unwrap();
            continue;
        };
        let shown = format!("{}: {} {:?} {:?}", failure.kind, failure.message, failure.suggestions, failure.hint);
        let caught =
            harness.session().shown(&format!("let e = (); try {{ {code} }} catch (err) {{ e = err; }} `${{e}}`"));
        for text in [&shown, &caught] {
            if !foreign(text).is_empty() {
                writeln!(faults, "{code}\n    {text}").unwrap();
            }
        }
    }
    assert!(faults.is_empty(), "\n{faults}");
}

#[test]
fn near_names_take_what_was_given() {
    let s = Harness::new().session();
    s.run("fn lend(a) { a } fn lent() { 1 } let total = 1; let m = #{name: 1, size: 2};");
    for (code, near) in [
        ("[1].lenn()", vec!["len()", "lend()"]),
        ("[1].fliter(|x| true)", vec!["filter()"]),
        ("\"a\".to_uper()", vec!["to_upper()"]),
        ("\"a\".joim()", vec![]),
        ("[1].sin()", vec!["sin(x: float)"]),
        ("lentt()", vec!["lent()"]),
        ("[1].lenn", vec!["len()"]),
        ("m.nmae.x", vec!["m.name"]),
        ("totl", vec!["total"]),
        ("xq", vec![]),
    ] {
        assert_eq!(s.fails(code).suggestions, near, "{code}");
    }
    s.harness.write("kit", "fn twice(n) { n * 2 }");
    let failure = s.fails("import \"kit\" as kit; 5.twice()");
    assert_eq!(failure.suggestions, ["kit::twice()"]);
}
