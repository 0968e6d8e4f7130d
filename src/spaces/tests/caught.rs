//! Errors as `catch` gives them: the same members whoever raised the error.

use super::harness::{Harness, lines};
use crate::base::{Clock, Limits};

/// Errors of Rhai and of the host, of each kind that scripts meet.
const ERRORS: [&str; 24] = [
    "nosuch(1, \"a\")",
    "[1].nosuch()",
    "nosuch",
    "no_module::f()",
    "import \"nowhere\" as n;",
    "1 / 0",
    "9223372036854775807 + 1",
    "[1][5]",
    "\"ab\"[7]",
    "let n = 1; n[70]",
    "let x = 5; x.nosuch",
    "let x = (); x[0]",
    "const L = [1]; L.push(2)",
    "const M = #{x: 1}; M.x = 2",
    "let n = 5; for i in n { }",
    "let n = 5; if n { }",
    "let f = Fn(\"nosuch\"); f.call(1)",
    "let m = #{ v: 7 }; m.f = || m.v; m.f.call()",
    "[1].map(|x| x.nosuch())",
    "\"a\" - 1",
    "sleep(-1)",
    "parse_json(\"{\")",
    "blob(9223372036854775807)",
    "import \"round\" as r;",
];

#[test]
fn a_caught_error_has_the_kind_and_message_of_its_failure() {
    let harness = Harness::new();
    harness.write("round", "import \"round\" as r;");
    let s = harness.session();
    for code in ERRORS {
        let failure = s.fails(code);
        let expected = format!("{}: {}", failure.kind, failure.message);
        let told = "t = `${e.kind}: ${e.message}`;";
        for caught in [
            format!("let t = \"\"; try {{ {code}; }} catch (e) {{ {told} }} t"),
            format!(
                "let t = \"\"; for once in 0..1 {{ try {{ let f = || {{ {code}; }}; f.call(); }} catch (e) {{ {told} }} }} t"
            ),
            format!("fn a_() {{ {code}; }} fn b_() {{ a_() }} let t = \"\"; try {{ b_() }} catch (e) {{ {told} }} t"),
            format!("fn c_() {{ let t = \"\"; try {{ {code}; }} catch (e) {{ {told} }} t }} c_()"),
            // A closure captures by name, before it runs.
            format!("let g = || {{ let t = \"\"; try {{ {code}; }} catch (e) {{ {told} }} t }}; g.call()"),
        ] {
            if code == "nosuch" && caught.contains("let g") {
                continue;
            }
            s.is(&caught, &expected);
        }
    }
}

#[test]
fn an_error_inside_a_module_is_caught_alike() {
    let harness = Harness::new();
    harness.write("deep", "fn f(x) {\n  x.nosuch()\n}\nfn safe(x) { try { f(x) } catch (e) { return e.kind; } }");
    harness.write("torn", "let x = ;");
    let s = harness.session();
    s.is(
        "import \"deep\" as d; let t = (); try { d::f(1) } catch (e) { t = e; } t.kind + \": \" + t.message",
        "FunctionNotFound: no function 'nosuch' for (int)",
    );
    s.is("import \"deep\" as d; d::safe(1)", "FunctionNotFound");
    s.is(
        "let t = (); try { import \"torn\" as t; } catch (e) { t = `${e.kind}: ${e.message}`; } t",
        "Parsing: syntax error: Unexpected ';'",
    );
}

#[test]
fn a_caught_error_has_the_place_of_its_failure() {
    let harness = Harness::new();
    harness.write("deep", "fn f(x) {\n  x.nosuch()\n}\nfn g(x) { f(x) }");
    harness.write("torn", "1;\nlet x = ;");
    harness.write("outer", "import \"torn\" as t;");
    let s = harness.session();
    s.run("fn old(x) {\n\n  x.nosuch()\n}");
    for code in [
        "old(1)",
        "fn a_() {\n  1 / 0\n}\nfn b_() { a_() }\nb_()",
        "[1].map(|x| x.nosuch())",
        "let f = |x| {\n  x.nosuch() };\nf.call(2)",
        "import \"deep\" as d; d::g(1)",
        "import \"torn\" as t;",
        "import \"outer\" as t;",
        "nosuch",
    ] {
        let failure = s.fails(code);
        let own = failure.source.starts_with("eval") && failure.source != "eval 1";
        let source = if own { format!("eval {}", s.harness.newest() + 1) } else { failure.source.clone() };
        let (functions, call) = match code.rsplit_once('\n') {
            Some((functions, call)) => (format!("{functions}\n"), call),
            None => (String::new(), code),
        };
        // The call stays where it was, and everything before it too.
        let caught = format!(
            "{functions}try {{ {call}; }} catch (e) {{ caught.set(e); }} let e = caught.get(); [e.source, e.line, e.column]"
        );
        let moved = if functions.is_empty() && own { "try { ".len() } else { 0 };
        let set = format!("[\"{source}\", {}, {}]", failure.line, failure.column + moved);
        s.run("let caught = atom(());");
        let source_now = format!("eval {}", s.harness.newest() + 1);
        s.is(&caught, &set.replace(&source, if own { &source_now } else { &source }));
    }
}

#[test]
fn a_module_with_too_many_variables_is_caught_as_such() {
    let harness = Harness::with(Limits { variables: 50, ..Limits::default() }, Clock::real());
    harness.write("many", &lines(60, |n| format!("let v{n} = 1;")));
    let s = harness.session();
    let failure = s.fails("import \"many\" as m;");
    assert_eq!(failure.kind, "VariableLimit");
    s.is(
        "let t = (); try { import \"many\" as m; } catch (e) { t = `${e.kind}: ${e.message}`; } t",
        &format!("{}: {}", failure.kind, failure.message),
    );
}

#[test]
fn a_caught_error_keeps_the_members_of_the_runtime() {
    let s = Harness::new().session();
    s.is(
        "let t = ();\ntry { nosuch(1) } catch (e) { t = e; } [t.error, t.function, t.line, t.position, t.column]",
        "[\"ErrorFunctionNotFound\", \"nosuch (int)\", 2, 7, 7]",
    );
}

#[test]
fn a_caught_error_that_is_thrown_again_is_the_same_error() {
    let s = Harness::new().session();
    for again in ["throw e;", "throw;", "let f = e; throw f;"] {
        let failure = s.fails(&format!("fn f() {{ nosuch(1) }} try {{ f() }} catch (e) {{ {again} }}"));
        assert_eq!(
            (failure.kind.as_str(), failure.message.as_str()),
            ("FunctionNotFound", "no function 'nosuch' for (int)")
        );
    }
}

#[test]
fn thrown_values_are_caught_untouched() {
    let s = Harness::new().session();
    for value in [
        "5",
        "\"text\"",
        "[1, 2]",
        "#{\"code\": 404}",
        "#{\"error\": \"mine\", \"message\": \"m\"}",
        "#{\"error\": \"ErrorMine\", \"message\": \"m\"}",
        // Nearly what Rhai makes of its own errors.
        "#{\"error\": \"ErrorFor\", \"message\": \"For loop expects iterable type\"}",
        "#{\"error\": \"ErrorFor\", \"line\": 1, \"message\": \"my own\", \"position\": 2, \"source\": \"mine\"}",
        "#{\"error\": \"ErrorArithmetic\", \"kind\": \"Mine\", \"message\": \"m\", \"source\": \"mine\"}",
        "#{\"error\": \"ErrorInFunctionCall\", \"message\": \"Function not found: f\\nin call to function 'x'\", \"thrown\": 1}",
    ] {
        s.is(&format!("let t = 0; try {{ throw {value}; }} catch (e) {{ t = e; }} t"), value.trim_matches('"'));
        s.is(
            &format!("fn f() {{ throw {value}; }} let t = 0; try {{ f() }} catch (e) {{ t = e; }} t"),
            value.trim_matches('"'),
        );
    }
    s.is("let t = 0; try { throw; } catch (e) { t = e; } t", "");
    // Without a variable, and with nothing inside.
    s.is("let t = 1; try { nosuch() } catch { t = 2; } try { nosuch() } catch (e) { } t", "2");
    s.is("let e = 7; try { nosuch() } catch (e) { let e = 8; } e", "7");
}
