//! Modules as text: the outline of one, and the report of a check.

use super::plain::{count, one_line};
use super::style::{Role, Style};
use crate::base::{ModuleProblem, Severity};

/// A module, as its text alone tells.
#[derive(Clone, Debug, Default)]
pub(crate) struct Module {
    /// Its name, such as `sub/deep`.
    pub name: String,
    /// Its `//!` comment without the marks.
    pub doc: String,
    /// Its constants, as written: `const RATE = 3`.
    pub constants: Vec<String>,
    /// Its functions in source order.
    pub functions: Vec<Function>,
}

/// A function of a module.
#[derive(Clone, Debug, Default)]
pub(crate) struct Function {
    /// Its signature, such as `hello(name)`.
    pub signature: String,
    /// Its `///` comment without the marks.
    pub doc: String,
    /// The line it starts on, from 1.
    pub line: usize,
    /// Only the module itself may call it.
    pub private: bool,
}

/// Signatures and docs of a module.
pub(crate) fn text(module: &Module, style: Style) -> String {
    let mut lines = vec![style.paint(Role::Name, &format!("module {}", one_line(&module.name)))];
    indented(&module.doc, "  ", &mut lines);
    if !module.constants.is_empty() {
        lines.push(String::new());
        lines.extend(module.constants.iter().map(|constant| one_line(constant)));
    }
    for function in &module.functions {
        lines.push(String::new());
        let private = if function.private { "private " } else { "" };
        let place = if function.line == 0 { String::new() } else { format!("  · line {}", function.line) };
        let signature = format!("{private}fn {}", one_line(&function.signature));
        lines.push(format!("{}{}", style.paint(Role::Name, &signature), style.paint(Role::Quiet, &place)));
        indented(&function.doc, "    ", &mut lines);
    }
    if module.functions.is_empty() && module.constants.is_empty() {
        lines.push("  nothing to call".to_owned());
    }
    lines.join("\n")
}

/// A comment, indented; empty lines stay empty.
fn indented(doc: &str, indent: &str, lines: &mut Vec<String>) {
    for line in doc.trim_end().lines() {
        lines.push(format!("{indent}{}", one_line(line)).trim_end().to_owned());
    }
}

/// The report of a check of `modules` modules: a line for each problem and a summary.
pub(crate) fn check(problems: &[ModuleProblem], modules: usize, style: Style) -> String {
    let mut lines: Vec<_> = problems.iter().map(|problem| line(problem, style)).collect();
    let errors = problems.iter().filter(|problem| problem.severity() == Severity::Error).count();
    let warnings = problems.len() - errors;
    let mut summary = count(modules, "module");
    if errors > 0 {
        summary.push_str(&format!(" · {}", style.paint(Role::Bad, &count(errors, "error"))));
    } else {
        summary.push_str(&format!(" · {}", style.paint(Role::Good, "fine")));
    }
    if warnings > 0 {
        summary.push_str(&format!(" · {}", count(warnings, "warning")));
    }
    lines.push(summary);
    lines.join("\n")
}

/// The result of a check when nobody named a folder and the usual one is not there.
pub(crate) fn no_folder(place: &str) -> String {
    format!(
        "0 modules beside the built-in ones · there is no folder {} · check another with: remontoire check DIR",
        one_line(place)
    )
}

/// The result of a check of a folder without modules.
pub(crate) fn no_modules(place: &str) -> String {
    format!("0 modules · no file in {} ends in .rhai", one_line(place))
}

/// The problem's own sentence, safe for a terminal and with its severity in colour.
fn line(problem: &ModuleProblem, style: Style) -> String {
    let severity = problem.severity();
    let role = match severity {
        Severity::Error => Role::Bad,
        Severity::Warning => Role::Busy,
    };
    let word = style.paint(role, &severity.to_string());
    format!("{}: {word}: {}", one_line(&problem.place()), one_line(&problem.what.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::ProblemKind;
    use crate::render::style::visible;
    use expect_test::expect;

    #[test]
    fn a_module_with_its_docs() {
        let module = Module {
            name: "greet".into(),
            doc: "Greetings for the kit.\n\nMore of them.".into(),
            constants: vec!["const LOUD = true".into()],
            functions: vec![
                Function {
                    signature: "hello(name)".into(),
                    doc: "Says hello to somebody.\n\n```rhai\nhello(\"you\") //=> \"hello you\"\n```".into(),
                    line: 4,
                    private: false,
                },
                Function { signature: "secret()".into(), doc: String::new(), line: 12, private: true },
            ],
        };
        expect![[r#"
            module greet
              Greetings for the kit.

              More of them.

            const LOUD = true

            fn hello(name)  · line 4
                Says hello to somebody.

                ```rhai
                hello("you") //=> "hello you"
                ```

            private fn secret()  · line 12"#]]
        .assert_eq(&text(&module, Style::Terminal { colour: false }));
        expect![[r#"
            ␛[36mmodule greet␛[0m

            const LOUD = true

            ␛[36mfn hello(name)␛[0m␛[2m  · line 4␛[0m
                Says hello to somebody.

                ```rhai
                hello("you") //=> "hello you"
                ```

            ␛[36mprivate fn secret()␛[0m␛[2m  · line 12␛[0m"#]]
        .assert_eq(&visible(&text(&Module { doc: String::new(), ..module }, Style::Terminal { colour: true })));
        expect![[r#"
            module empty
              nothing to call"#]]
        .assert_eq(&text(&Module { name: "empty".into(), ..Module::default() }, Style::Agent));
    }

    #[test]
    fn what_a_check_reports() {
        let problem =
            |line, column, what| ModuleProblem { file: "scripts/sub/cracked.rhai".into(), line, column, what };
        let problems = [
            problem(2, 7, ProblemKind::Syntax("expecting a parameter name\u{1b}".into())),
            problem(0, 0, ProblemKind::Circular(["round", "trip", "round"].map(String::from).into())),
            problem(9, 1, ProblemKind::Undocumented("a()".into())),
        ];
        expect![[r#"
            scripts/sub/cracked.rhai:2:7: error: expecting a parameter name\x1b
            scripts/sub/cracked.rhai: error: circular import: round → trip → round
            scripts/sub/cracked.rhai:9:1: warning: a() has no doc comment
            3 modules · 2 errors · 1 warning"#]]
        .assert_eq(&check(&problems, 3, Style::Agent));
        // Without colour a line is what scripts read too.
        assert_eq!(line(&problems[1], Style::Agent), problems[1].to_string());
        expect![[r#"
            scripts/sub/cracked.rhai:9:1: ␛[33mwarning␛[0m: a() has no doc comment
            1 module · ␛[32mfine␛[0m · 1 warning"#]]
        .assert_eq(&visible(&check(&problems[2..], 1, Style::Terminal { colour: true })));
        expect!["0 modules beside the built-in ones · there is no folder /kit/scripts · check another with: remontoire check DIR"]
            .assert_eq(&no_folder("/kit/scripts"));
        expect!["0 modules · no file in /kit/scripts ends in .rhai"].assert_eq(&no_modules("/kit/scripts"));
        expect!["3 modules · fine"].assert_eq(&check(&[], 3, Style::Agent));
    }
}
