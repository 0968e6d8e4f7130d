//! A program as its top-level statements, each a text that can be evaluated alone.

use remontoire::{rhai::AST, rhai::Engine, rhai::Stmt};

/// Cuts a program before each top-level statement and each function. The parts together are the program, letter by letter.
/// A program that does not parse is one part.
///
/// A cut is tried after every `;` and `}`: it holds when what lies before is one statement or one function, and what lies behind
/// is a program that has all the others.
pub(super) fn statements(engine: &Engine, program: &str) -> Result<Vec<String>, String> {
    let Ok(whole) = engine.compile(program) else { return Ok(vec![program.to_owned()]) };
    let mut parts = Vec::new();
    let (mut rest, mut left) = (program, count(&whole));
    while left > 1 {
        let cut = rest
            .match_indices([';', '}'])
            .map(|(at, end)| past_semicolon(rest, at + end.len()))
            .find(|cut| {
                let (first, others) = rest.split_at(*cut);
                let pieces = |code: &str| engine.compile(code).map_or(0, |ast| count(&ast));
                pieces(first) == 1 && pieces(others) == left - 1
            })
            .ok_or_else(|| format!("no place to cut in\n{rest}"))?;
        parts.push(rest[..cut].to_owned());
        rest = &rest[cut..];
        left -= 1;
    }
    parts.push(rest.to_owned());
    Ok(parts)
}

/// Whether a part defines a function and does nothing.
pub(super) fn is_function(engine: &Engine, part: &str) -> bool {
    engine.compile(part).is_ok_and(|ast| ast.statements().is_empty())
}

/// The variables and constants that a program declares at its top level, each once.
pub(super) fn variables(engine: &Engine, program: &str) -> Vec<String> {
    let Ok(ast) = engine.compile(program) else { return Vec::new() };
    let mut names: Vec<_> = ast
        .statements()
        .iter()
        .filter_map(|statement| match statement {
            Stmt::Var(parts, ..) => Some(parts.0.name.to_string()),
            _ => None,
        })
        .collect();
    names.sort();
    names.dedup();
    names
}

/// Statements, and functions that are not closures.
fn count(ast: &AST) -> usize {
    ast.statements().len() + ast.iter_functions().filter(|function| !function.name.starts_with("anon$")).count()
}

/// A statement that ends in a block may be followed by a semicolon of its own.
fn past_semicolon(code: &str, end: usize) -> usize {
    let behind = &code[end..];
    let blank = behind.len() - behind.trim_start().len();
    if behind[blank..].starts_with(';') { end + blank + 1 } else { end }
}

#[test]
fn a_program_is_cut_where_its_statements_end() {
    let mut engine = Engine::new();
    engine.set_optimization_level(remontoire::rhai::OptimizationLevel::None);
    for (program, parts) in [
        ("1", vec!["1"]),
        ("let a = 1; a", vec!["let a = 1;", " a"]),
        ("fn f(x) { x; x } f(1); f(2)", vec!["fn f(x) { x; x }", " f(1);", " f(2)"]),
        ("if a { 1; } else { 2 } (b + 1) * 2;", vec!["if a { 1; } else { 2 }", " (b + 1) * 2;"]),
        ("let t = \"a;}\"; let u = `${t + \";\"};`;\nu", vec!["let t = \"a;}\";", " let u = `${t + \";\"};`;", "\nu"]),
        ("let s = switch 1 { 1 => { 2 } _ => 3 }; s", vec!["let s = switch 1 { 1 => { 2 } _ => 3 };", " s"]),
        ("let m = #{a: [1]}[\"a\"]; { m; } || m;", vec!["let m = #{a: [1]}[\"a\"];", " { m; }", " || m;"]),
        (
            "try { 1; } catch (e) { 2; } do { 3; } while false; 4",
            vec!["try { 1; } catch (e) { 2; }", " do { 3; } while false;", " 4"],
        ),
        ("let x = ; 1", vec!["let x = ; 1"]),
    ] {
        assert_eq!(statements(&engine, program).unwrap(), parts, "{program}");
    }
}
