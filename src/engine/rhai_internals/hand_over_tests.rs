//! Which markers stand where in a script: what is handed over to which call.

use super::calls::{Native, Natives, Overload};
use super::function_body::FunctionDef;
use super::markers::NestingCheck;
use super::rewrite::{Kind, rewrite};
use super::walk::{Closures, Use};
use rhai::{AST, ASTNode, Dynamic, Engine, Expr, ImmutableString, Module, OptimizationLevel, Shared};
use std::cell::RefCell;
use std::collections::BTreeSet;

/// Native functions of a few names.
#[derive(Default)]
struct Few {
    functions: BTreeSet<String>,
    own: RefCell<BTreeSet<String>>,
}

impl Natives for Few {
    fn gives_in_place(&self, _: &str) -> bool {
        false
    }

    fn native(&self, name: &str) -> Native {
        match name {
            "len" | "push" | "print" | "pop" | "to_string" => Native::Quiet,
            "map" | "reduce" => Native::Calling { of_functions: false },
            "run" => Native::Calling { of_functions: true },
            _ => Native::Missing,
        }
    }

    fn is_of_scripts(&self, name: &str) -> bool {
        self.functions.contains(name)
    }

    fn only_reads(&self, name: &str) -> bool {
        name == "len"
    }

    fn of_space(&self, _: &str) -> &[Overload] {
        &[]
    }

    fn may_be_own(&self, name: &str) -> bool {
        self.own.borrow().contains(name)
    }

    fn note_own(&self, name: Option<&str>) {
        self.own.borrow_mut().insert(name.unwrap_or("any").to_owned());
    }
}

struct NoClosures;

impl Closures for NoClosures {
    fn source(&self) -> &str {
        "test"
    }

    fn found(&mut self, _: &Shared<FunctionDef>) {}

    fn make_portable(&mut self, _: &mut Dynamic, _: usize) -> usize {
        0
    }

    fn name_for(&mut self, name: &ImmutableString, _: Use) -> ImmutableString {
        name.clone()
    }
}

/// The markers of the top level that hand something over, in the order of the text, without the space they begin with.
fn markers(code: &str) -> Vec<String> {
    let mut engine = Engine::new();
    engine.set_optimization_level(OptimizationLevel::None);
    let ast = engine.compile(code).unwrap();
    let functions = ast.iter_functions().map(|function| function.name.to_owned()).collect();
    let natives = Few { functions, ..Few::default() };
    let kind = Kind::Eval { readings: &Default::default(), captured: &BTreeSet::new() };
    let rewritten = rewrite(&ast, &mut NoClosures, &natives, kind, &NestingCheck::new());
    let mut found = Vec::new();
    AST::new(rewritten.statements, Module::new()).walk(&mut |path| {
        if let Some(ASTNode::Expr(Expr::Variable(variable, ..))) = path.last()
            && let Some(marker) = variable.1.strip_prefix(' ')
            && marker.starts_with(['s', 'n', 'h', 'q', 'o'])
        {
            found.push(marker.to_owned());
        }
        true
    });
    found
}

#[test]
fn a_call_is_handed_what_it_reads_and_nothing_else() {
    for (code, expected) in [
        ("fn r() { x } fn k(i) { i } { let x = 1; } { x = 2; k(1); }", &[][..]),
        ("fn r() { x } fn k(i) { i } { x = 2; k(1); r(); }", &["sx"]),
        ("fn r() { x } fn k() { r() } { x = 2; k(); }", &["sx"]),
        ("fn r() { x } fn e(n) { if n > 0 { o(n - 1) } } fn o(n) { e(n - 1) } { x = 2; e(9); }", &[]),
        ("fn r() { x } fn e(n) { if n > 0 { o(n - 1) } } fn o(n) { r() + e(n) } { x = 2; e(9); }", &["sx"]),
        ("fn r() { x } fn s() { y } { x = 2; y = 3; s(); r(); }", &["sy", "sx"]),
        ("fn r() { x } { x = 2; [1].map(|v| v); }", &[]),
        ("fn r() { x } { x = 2; [1].map(|v| r()); }", &["sx"]),
        ("fn r() { x } { x = 2; [1].map(|v| [v].map(|w| r())); }", &["sx"]),
        ("fn r() { x } { x = 2; [1].map(f); }", &["sx"]),
        ("fn r() { x } { x = 2; [1].map(\"r\"); }", &["sx"]),
        ("fn r() { x } { x = 2; [1].map(Fn(\"r\")); }", &["sx"]),
        ("fn r() { x } { x = 2; f.run(); }", &["sx"]),
        ("fn r() { x } { x = 2; f.call(); }", &["sx"]),
        ("fn r() { x } fn c(f) { f.call() } { x = 2; c(|| 1); }", &["sx"]),
        ("fn r() { x } { x = 2; nowhere(1); }", &["sx"]),
        ("fn r() { x } { x = 2; t::pad(1); }", &["qt::pad|x"]),
        ("fn r() { x } fn k() { t::pad(1) } { x = 2; k(); r(); }", &["qt::pad|x", "sx"]),
    ] {
        assert_eq!(markers(code), expected, "{code}");
    }
}

#[test]
fn a_loop_whose_calls_read_nothing_it_writes_has_no_markers() {
    for code in [
        "let m = #{}; fn have(k) { k in m } fn key(i) { i } for i in 0..9 { let k = key(i); m[k] = i; }",
        "let l = []; fn r() { l.len() } for i in 0..9 { l.push(i); [1].map(|x| x); }",
        "let l = []; fn r() { l.len() } fn key(i) { i } for i in 0..9 { switch i { 1 => l.push(i), _ => key(1) } }",
        "let l = []; let n = 0; fn r() { n } for i in 0..9 { l.push(i); r(); }",
        "let l = []; fn r() { l.len() } while l.len() < 9 { if l.len() > 3 { l.push(1) } else { l.push(2) } }",
    ] {
        assert_eq!(markers(code), [""; 0], "{code}");
    }
}

#[test]
fn a_loop_that_writes_and_reads_notes_its_writes_while_it_runs() {
    for (code, expected) in [
        ("let l = []; fn r() { l.len() } for i in 0..9 { r(); l.push(i); }", &["hl", "nl"][..]),
        ("let l = []; fn r() { l.len() } for i in 0..9 { l.push(i); r(); }", &["sl", "hl"]),
        ("let l = []; fn r() { l.len() } for i in 0..9 { switch i { 1 => l.push(i), _ => () } r(); }", &["nl", "hl"]),
        ("let l = []; fn r() { l.len() } for i in 0..9 { let z = if i > 3 { l.push(i) }; r(); }", &["nl", "hl"]),
        ("let l = []; fn r() { l.len() } for i in 0..9 { i > 3 && l.pop() > 1; r(); }", &["nl", "hl"]),
        (
            "let l = []; let o = []; fn r() { l.len() } fn s() { o } for i in 0..9 { o.push(1); l.push(i); r(); } s();",
            &["sl", "hl"],
        ),
        (
            "let l = []; let o = []; fn r() { l.len() } fn s() { o } { for i in 0..9 { o.push(1); l.push(i); r(); } s(); }",
            &["sl", "hl", "so", "ho"],
        ),
        ("let l = []; fn r() { l.len() } for i in 0..9 { l.push(i); t::pad(i); }", &["qt::pad|l", "nl"]),
    ] {
        assert_eq!(markers(code), expected, "{code}");
    }
}

#[test]
fn a_method_that_a_map_may_have_as_a_function_of_its_own_is_looked_at() {
    for (code, expected) in [
        ("fn r() { x } { x = 2; m.len(); }", &[][..]),
        ("fn r() { x } let m = #{len: || r()}; { x = 2; m.len(); }", &["om len|x"]),
        ("fn r() { x } let m = #{}; m.len = || r(); { x = 2; m.len(); }", &["om len|x"]),
        ("fn r() { x } let m = #{}; m[\"len\"] = || r(); { x = 2; m.len(); }", &["om len|x"]),
        ("fn r() { x } let m = #{len: || r()}; { x = 2; a.m.len(); }", &["sx"]),
        ("fn r() { x } let m = #{len: || r()}; fn n(o) { o.len() } { x = 2; n(m); }", &["sx"]),
        ("fn r() { x } let m = #{len: 1}; fn n(o) { o.len() } { x = 2; n(m); }", &[]),
        ("fn r() { x } fn n() { 1 } { x = 2; m.n(); }", &["om n|x"]),
    ] {
        assert_eq!(markers(code), expected, "{code}");
    }
}
