//! Control flow at the top level.

use super::harness::Harness;

#[test]
fn control_flow_at_the_top_level() {
    let s = Harness::new().session();
    s.is("let a = 1; if a == 1 { return a + 41; } let b = 2; b", "42");
    s.has("b", "VariableNotFound");
    s.is("a", "1");
    s.is("return 5; 6", "5");
    s.is(r#"let s = switch a { 1 => "one", 2 => "two", _ => "?" }; s"#, "one");
    s.is("switch a { 1 => { let inner = 3; inner } _ => 0 }", "3");
    s.has("inner", "VariableNotFound");
    s.is("export let ex = 5; ex", "5");
    s.is("ex", "5");
    s.is("let e2 = 1; export e2 as e3; e2", "1");
    s.is("e2", "1");
    s.has("e3", "VariableNotFound");
    s.is("if true { let inif = 1; } 5", "5");
    s.has("inif", "VariableNotFound");
    s.is("let sh = 1; { let sh = 2; sh += 1; } sh", "1");
    s.is("sh", "1");
    s.is("{ sh = 7; } sh", "7");
    s.is("for i in 0..3 { sh += i } sh", "10");
    s.has("throw #{code: 404}", "404");
    assert!(s.run("throw #{code: 404}").thrown().is_some());
    s.is("try { throw 1 } catch (e) { a = e + 10; } a", "11");
    s.is("a", "11");
    s.has("break", "Parsing");
    s.is("exit(7); 8", "7");
    s.is("fn leave() { exit(8) } leave(); 1", "8");
    s.is("[1].map(|x| exit(x + 8)); 1", "9");
    s.is("loop { break 5; }", "5");
    s.is("let v = if false { 1 }; v", "");
    s.is("let m1 = 1; let m1 = m1 + 1; let m1 = m1 * 10; m1", "20");
    s.is("m1", "20");
    s.has(r#"eval("1")"#, "Parsing");
    s.is("let `x` = 1", "!Parsing: syntax error: Expecting name of a variable");
    s.is("//c\n\n", "");
    s.is("", "");
    s.is("let u;", "");
    s.is("u", "");
    s.is(r#"is_def_var("a")"#, "true");
    s.is(r#"is_def_var("nope")"#, "false");
    s.is(r#"is_def_fn("nope", 1)"#, "false");
    s.is(r#"fn idf(q) { q } is_def_fn("idf", 1)"#, "true");
}
