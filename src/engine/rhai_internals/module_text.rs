//! The text of a module as Rhai's compiler sees it, without running it: its functions with the exact places of their texts, its
//! exports, and the modules it imports. Reads positions and nodes of the syntax tree that change between versions of Rhai;
//! the tests here notice. Knows no folder and no version of a module.

use super::module_outline::{ConstantOutline, FunctionOutline, ModuleImport, ModuleOutline, Parsed};
use crate::base::{Limits, ModuleError};
use crate::engine::error::column;
use crate::engine::source_text::{parse_problem, readable};
use rhai::{
    AST, ASTFlags, ASTNode, Engine, Expr, FnAccess, Module, OptimizationLevel, ParseError, Position, ScriptFuncDef,
    Stmt,
};
use std::collections::BTreeSet;

/// Compiles the text of the module `name` and takes it apart.
pub(crate) fn parse(name: &str, text: &str, limits: &Limits) -> Result<Parsed, ModuleError> {
    let ast = compile(text, limits).map_err(|error| syntax_error(name, &error))?;
    let map = Map::new(text);
    let mut functions: Vec<_> =
        ast.shared_lib().iter_script_fn_info().filter_map(|(.., def)| function(&map, def)).collect();
    functions.sort_by_key(|f| f.source_range.start);
    let outline =
        ModuleOutline { name: name.to_owned(), doc: plain_doc(ast.doc()), functions, constants: constants(&map, &ast) };
    let imports = imports(&map, &ast, &outline.functions);
    Ok(Parsed { outline, imports })
}

/// Compiles as evals do, but without folding constants: that would move positions.
fn compile(text: &str, limits: &Limits) -> Result<AST, ParseError> {
    let mut engine = Engine::new_raw();
    engine.set_optimization_level(OptimizationLevel::None);
    engine.set_max_expr_depths(limits.expression_depth, limits.function_expression_depth);
    engine.set_max_functions(limits.functions);
    engine.disable_symbol("eval");
    engine.compile(readable(text))
}

fn syntax_error(name: &str, error: &ParseError) -> ModuleError {
    let at = error.position();
    ModuleError::Syntax {
        file: format!("{name}.rhai"),
        line: at.line().unwrap_or(0),
        column: column(at),
        message: parse_problem(error.err_type()),
    }
}

/// One function, with its place in the text.
fn function(map: &Map<'_>, def: &ScriptFuncDef) -> Option<FunctionOutline> {
    let placeless = placeless_function(def)?;
    let end = map.offset(def.body.end_position())? + 1;
    let body = map.offset(def.body.start_position())?;
    let keyword = map.keyword_before(body, def).unwrap_or(body);
    let start = if def.comments.is_empty() { keyword } else { map.comment_before(keyword) };
    Some(FunctionOutline { line: map.line(keyword), source_range: start..end, ..placeless })
}

/// The script functions of a compiled module or a space, without their places: their texts may lie anywhere.
pub(crate) fn functions_of(module: &Module) -> Vec<FunctionOutline> {
    module.iter_script_fn_info().filter_map(|(.., def)| placeless_function(def)).collect()
}

/// One function, wherever its text is; `None` for a closure, which is a function to the compiler and not to the reader.
fn placeless_function(def: &ScriptFuncDef) -> Option<FunctionOutline> {
    if def.name.starts_with("anon$") {
        return None;
    }
    let params: Vec<_> = def.params.iter().map(ToString::to_string).collect();
    let this = def.this_type.as_ref().map(|this| format!("{}.", friendly_type(this))).unwrap_or_default();
    let docs: Vec<_> = def.comments.iter().map(|c| plain_doc(c)).collect();
    Some(FunctionOutline {
        name: def.name.to_string(),
        signature: format!("{this}{}({})", def.name, params.join(", ")),
        params,
        doc: docs.join("\n"),
        private: def.access == FnAccess::Private,
        ..FunctionOutline::default()
    })
}

/// The name that scripts use for a type which the compiler has replaced by its own.
fn friendly_type(name: &str) -> &str {
    match name {
        "i64" => "int",
        "f64" => "float",
        other => other,
    }
}

/// What the top level exports.
fn constants(map: &Map<'_>, ast: &AST) -> Vec<ConstantOutline> {
    let mut made: Vec<(String, Option<String>)> = Vec::new();
    let mut exported = Vec::new();
    for statement in ast.statements() {
        match statement {
            Stmt::Var(parts, flags, at) => {
                let (name, value) = (parts.0.name.to_string(), map.initial_value(*at));
                if flags.intersects(ASTFlags::EXPORTED) {
                    exported.push(ConstantOutline {
                        name: name.clone(),
                        value: value.clone(),
                        line: at.line().unwrap_or(0),
                    });
                }
                made.push((name, value));
            }
            Stmt::Export(names, at) => {
                let (name, alias) = (names.0.name.as_str(), names.1.name.as_str());
                let value = made.iter().rev().find(|(made, _)| made == name).and_then(|(_, value)| value.clone());
                let name = if alias.is_empty() { name } else { alias };
                exported.push(ConstantOutline { name: name.to_owned(), value, line: at.line().unwrap_or(0) });
            }
            _ => {}
        }
    }
    exported
}

fn imports(map: &Map<'_>, ast: &AST, functions: &[FunctionOutline]) -> Vec<ModuleImport> {
    let mut found = Vec::new();
    ast.walk(&mut |path: &[ASTNode<'_>]| {
        if let Some(ASTNode::Stmt(Stmt::Import(parts, at))) = path.last()
            && let Expr::StringConstant(name, _) = &parts.0
        {
            let offset = map.offset(*at).unwrap_or(0);
            found.push(ModuleImport {
                name: name.to_string(),
                line: at.line().unwrap_or(0),
                column: column(*at),
                in_function: functions.iter().any(|f| f.source_range.contains(&offset)),
            });
        }
        true
    });
    found
}

/// The names that a script gives to what it imports, anywhere in it.
pub(crate) fn import_aliases(ast: &AST) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    ast.walk(&mut |path: &[ASTNode<'_>]| {
        if let Some(ASTNode::Stmt(Stmt::Import(parts, _))) = path.last() {
            found.insert(parts.1.name.to_string());
        }
        true
    });
    found
}

/// A doc comment without its marks. The compiler joins the lines of neighbouring comments.
fn plain_doc(comment: &str) -> String {
    let mut lines = Vec::new();
    let mut rest = comment.trim_end();
    while !rest.is_empty() {
        if let Some(block) = rest.strip_prefix("/**").or_else(|| rest.strip_prefix("/*!")) {
            let (inside, after) = block.split_once("*/").unwrap_or((block, ""));
            let star =
                |l: &'_ str| l.trim_start().strip_prefix('*').map_or(l.to_owned(), |l| l.trim_start().to_owned());
            lines.extend(inside.trim().lines().map(|l| star(l).trim_end().to_owned()));
            rest = after.trim_start_matches(['\r', '\n']);
        } else {
            let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
            let line = line.trim_start();
            let text = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")).unwrap_or(line);
            lines.push(text.strip_prefix(' ').unwrap_or(text).trim_end().to_owned());
            rest = after;
        }
    }
    lines.join("\n").trim().to_owned()
}

/// From the compiler's lines and columns to places in the text.
struct Map<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Map<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, starts: std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect() }
    }

    /// The byte at a position.
    fn offset(&self, at: Position) -> Option<usize> {
        let start = *self.starts.get(at.line()?.checked_sub(1)?)?;
        let column = at.position()?.checked_sub(1)?;
        let (within, _) = self.text.get(start..)?.char_indices().nth(column)?;
        Some(start + within)
    }

    /// The line of a byte, from 1.
    fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset)
    }

    /// Where the `fn` (or `private`) begins whose body opens at `body`. The word alone would not do: a comment among the
    /// parameters may have it too, so what follows must be exactly this function's head.
    fn keyword_before(&self, body: usize, def: &ScriptFuncDef) -> Option<usize> {
        let head = self.text.get(..body)?;
        let signature = format!("{}({})", def.name, def.params.join(","));
        let keyword = head.rmatch_indices("fn").take(16).map(|(at, _)| at).find(|at| {
            let bare = without_comments(&head[at + 2..]).replace(",)", ")");
            bare.strip_suffix(&signature).is_some_and(|this| this.is_empty() || this.ends_with('.'))
                && !head[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '_')
        })?;
        let before = head[..keyword].trim_end();
        let private = before.strip_suffix("private").filter(|_| def.access == FnAccess::Private);
        Some(private.map_or(keyword, str::len))
    }

    /// Where the comments begin that stand right before `keyword`.
    fn comment_before(&self, keyword: usize) -> usize {
        let mut start = keyword;
        loop {
            let before = self.text[..start].trim_end();
            if before.ends_with("*/") {
                let Some(open) = before.rfind("/*") else { return start };
                start = open;
            } else {
                let line = before.rfind('\n').map_or(0, |at| at + 1);
                let comment = &before[line..];
                if !comment.trim_start().starts_with("//") || comment.trim_start().starts_with("//!") {
                    return start;
                }
                start = line + (comment.len() - comment.trim_start().len());
            }
        }
    }

    /// The expression after the `=` of a declaration, when the declaration is one short line.
    fn initial_value(&self, at: Position) -> Option<String> {
        let line = self.text[self.offset(at)?..].lines().next()?;
        let value = line.split_once('=')?.1.trim().strip_suffix(';')?.trim();
        (value.chars().count() <= 80).then(|| value.to_owned())
    }
}

/// The head of a function without comments and spaces.
fn without_comments(head: &str) -> String {
    let mut bare = String::new();
    let mut rest = head;
    while let Some(c) = rest.chars().next() {
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            block_length(rest)
        } else {
            if !c.is_whitespace() {
                bare.push(c);
            }
            c.len_utf8()
        };
        rest = &rest[skipped..];
    }
    bare
}

/// The length of the block comment that `text` begins with; they nest.
fn block_length(text: &str) -> usize {
    let (mut at, mut open) = (0, 0);
    loop {
        let rest = &text[at..];
        if rest.starts_with("/*") {
            (at, open) = (at + 2, open + 1);
        } else if rest.starts_with("*/") {
            (at, open) = (at + 2, open - 1);
        } else {
            match rest.chars().next() {
                Some(c) => at += c.len_utf8(),
                None => return at,
            }
        }
        if open == 0 {
            return at;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use std::fmt::Write as _;

    /// The functions of a text with the texts that were cut out for them.
    fn cut(text: &str) -> String {
        let parsed = parse("m", text, &Limits::default()).unwrap();
        let mut shown = String::new();
        for f in &parsed.outline.functions {
            let private = if f.private { "private " } else { "" };
            writeln!(shown, "{} {private}{} {:?}\n{:?}", f.line, f.signature, f.doc, &text[f.source_range.clone()])
                .unwrap();
        }
        shown
    }

    fn check(text: &str, expected: &Expect) {
        expected.assert_eq(&cut(text));
        // The same with other line ends: only the cut texts may differ.
        let crlf = cut(&text.replace('\n', "\r\n"));
        assert_eq!(crlf.replace("\\r\\n", "\\n"), cut(text));
    }

    #[test]
    fn functions_are_cut_out_with_their_docs() {
        check(
            "//! Doc of m.\n\n/// Says hi.\n///\n/// ```\n/// hi(\"é\")\n/// ```\nfn hi(name) { `é ${name + \"}\"} }` }\nlet x = 1;\n\
             fn bare() { 1 } fn next() { || 2 }\n",
            &expect![[r#"
                8 hi(name) "Says hi.\n\n```\nhi(\"é\")\n```"
                "/// Says hi.\n///\n/// ```\n/// hi(\"é\")\n/// ```\nfn hi(name) { `é ${name + \"}\"} }` }"
                10 bare() ""
                "fn bare() { 1 }"
                10 next() ""
                "fn next() { || 2 }"
            "#]],
        );
    }

    #[test]
    fn odd_heads_are_found_too() {
        check(
            "/** Block\n * of two. */\nprivate\nfn  odd ( a , /* fn odd( */ b )\n{ a }\n/// Doubles.\n// not a doc\n\nfn int.double() \
             { this * 2 }\nfn \"My-Type\".f() {}\nfn fnfn() {}\n",
            &expect![[r#"
                3 private odd(a, b) "Block\nof two."
                "/** Block\n * of two. */\nprivate\nfn  odd ( a , /* fn odd( */ b )\n{ a }"
                9 int.double() "Doubles."
                "/// Doubles.\n// not a doc\n\nfn int.double() { this * 2 }"
                10 My-Type.f() ""
                "fn \"My-Type\".f() {}"
                11 fnfn() ""
                "fn fnfn() {}"
            "#]],
        );
    }

    #[test]
    fn exports_are_listed_as_importers_see_them() {
        let text =
            "export const A = 1 + 1;\nconst HIDDEN = 2;\nlet y = [\n1];\nexport y as LIST;\nexport let b = \"x\";\n";
        let parsed = parse("m", text, &Limits::default()).unwrap();
        let shown: Vec<_> =
            parsed.outline.constants.iter().map(|c| (c.name.as_str(), c.value.as_deref(), c.line)).collect();
        assert_eq!(shown, [("A", Some("1 + 1"), 1), ("LIST", None, 5), ("b", Some("\"x\""), 6)]);
    }

    #[test]
    fn imports_are_found_wherever_they_stand() {
        let text = "import \"a\" as a;\nif true { import \"b\" as b; }\nfn f() {\n  import \"c\" as c;\n}\nlet n = \"d\";\nimport n as d;\n";
        let parsed = parse("m", text, &Limits::default()).unwrap();
        let shown: Vec<_> = parsed.imports.iter().map(|i| (i.name.as_str(), i.line, i.column, i.in_function)).collect();
        assert_eq!(shown, [("a", 1, 1, false), ("b", 2, 11, false), ("c", 4, 3, true)]);
    }

    #[test]
    fn a_text_that_does_not_compile_names_the_place() {
        let limits = Limits::default();
        let error = |text: &str| parse("sub/m", text, &limits).unwrap_err().to_string();
        expect!["sub/m.rhai:2:7: Expecting ')' to close the parameters list of function 'b'"]
            .assert_eq(&error("fn a() { 1 }\nfn b( {\n"));
        expect!["sub/m.rhai:1:1: reserved keyword 'eval' is disabled"].assert_eq(&error("eval(\"1\")"));
    }

    #[test]
    fn the_doc_of_a_module_has_no_marks() {
        let parsed =
            parse("m", "//! One.\n//!\n//!   indented\n//! Two.\r\n\r\nfn f() {}\n", &Limits::default()).unwrap();
        assert_eq!(parsed.outline.doc, "One.\n\n  indented\nTwo.");
    }

    #[test]
    fn a_long_text_is_quick() {
        let mut text = String::new();
        for i in 0..2_000 {
            writeln!(text, "/// Number {i}.\nfn f{i}(a, b) {{ a + b + {i} }}\n").unwrap();
        }
        let parsed = parse("m", &text, &Limits::default()).unwrap();
        assert_eq!(parsed.outline.functions.len(), 2_000);
        assert_eq!(parsed.outline.functions[1_999].line, 2_000 * 3 - 1);
    }
}
