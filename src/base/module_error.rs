//! Problems of script modules: the refusals of a request about one, and the notices an eval gets about one that it
//! uses. `Display` is the sentence; scripts can catch the errors, and the notices go into the output of an eval.

use super::limits::{MIB, thousands};
use std::fmt;

/// The reasons why a module cannot be had. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ModuleError {
    /// Not a name that a module can have.
    BadName {
        /// The text given.
        name: String,
    },
    /// No file has this name.
    NotFound {
        /// The name.
        name: String,
        /// Near names, best first.
        near: Vec<String>,
    },
    /// The file is a link that leads out of the folder of modules.
    Outside {
        /// The name.
        name: String,
    },
    /// The file is too long.
    TooBig {
        /// The name.
        name: String,
        /// Its length in bytes.
        bytes: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The file is not UTF-8 text.
    NotText {
        /// The name.
        name: String,
    },
    /// The file cannot be read.
    Unreadable {
        /// The name.
        name: String,
        /// The reason in the words of the system.
        reason: String,
    },
    /// Modules import each other.
    Circular {
        /// The circle, its first name repeated at the end.
        path: Vec<String>,
    },
    /// Modules import each other too many deep.
    TooDeep {
        /// The limit.
        limit: usize,
    },
    /// The module has no such function.
    NoFunction {
        /// The module.
        module: String,
        /// The function.
        function: String,
        /// Near names, best first.
        near: Vec<String>,
    },
    /// The file does not compile.
    Syntax {
        /// The file, such as `stats.rhai`.
        file: String,
        /// Line, from 1; 0 when unknown.
        line: usize,
        /// Column in characters, from 1; 0 when unknown.
        column: usize,
        /// The message of the compiler.
        message: String,
    },
    /// More functions than a module can have.
    TooManyFunctions {
        /// The module.
        module: String,
        /// The limit.
        limit: usize,
    },
    /// The module belongs to the program that embeds this one: it has no file.
    Native {
        /// The name.
        name: String,
    },
}

impl ModuleError {
    /// The kind a script sees when it catches this.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::BadName { .. } => "BadModuleName",
            Self::NotFound { .. } | Self::Outside { .. } => "ModuleNotFound",
            Self::TooBig { .. } | Self::NotText { .. } | Self::Unreadable { .. } => "ModuleUnreadable",
            Self::Circular { .. } => "CircularImport",
            Self::TooDeep { .. } => "ModuleLimit",
            Self::NoFunction { .. } => "NoFunction",
            Self::Syntax { .. } => "Parsing",
            Self::TooManyFunctions { .. } => "FunctionLimit",
            Self::Native { .. } => "NativeModule",
        }
    }
}

impl fmt::Display for ModuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadName { name } => write!(
                f,
                "`{name:.80}` cannot name a module: letters, digits, `_`, `-` and `/` between them, without `.rhai`"
            ),
            Self::NotFound { name, near } => {
                write!(f, "no module `{name:.80}`")?;
                did_you_mean(f, near)
            }
            Self::Outside { name } => {
                write!(f, "no module `{name:.80}`: its file leads out of the folder of modules")
            }
            Self::TooBig { name, bytes, limit } => write!(
                f,
                "{name:.80}.rhai has {} bytes and the limit of a module is {} MiB",
                thousands(usize::try_from(*bytes).unwrap_or(usize::MAX)),
                limit / MIB as u64
            ),
            Self::NotText { name } => write!(f, "{name:.80}.rhai is not UTF-8 text"),
            Self::Unreadable { name, reason } => write!(f, "{name:.80}.rhai cannot be read: {reason}"),
            Self::Circular { path } => write!(f, "circular import: {}", path.join(" → ")),
            Self::TooDeep { limit } => {
                write!(f, "modules import each other more than {limit} deep, which is the limit")
            }
            Self::NoFunction { module, function, near } => {
                write!(f, "no function `{function:.80}` in {module}")?;
                did_you_mean(f, near)
            }
            Self::Syntax { file, line, column, message } => write!(f, "{}: {message}", place(file, *line, *column)),
            Self::TooManyFunctions { module, limit } => write!(
                f,
                "{module} would have more than {} functions, which is the limit of a space or module",
                thousands(*limit)
            ),
            Self::Native { name } => write!(
                f,
                "{name} is part of the program itself: it has no script, and {name}::… is called without an import"
            ),
        }
    }
}

impl std::error::Error for ModuleError {}

/// A place as editors and terminals can follow it: `stats.rhai:3:7`, without what is unknown (0).
fn place(file: &str, line: usize, column: usize) -> String {
    match (line, column) {
        (0, _) => file.to_owned(),
        (line, 0) => format!("{file}:{line}"),
        (line, column) => format!("{file}:{line}:{column}"),
    }
}

fn did_you_mean(f: &mut fmt::Formatter<'_>, near: &[String]) -> fmt::Result {
    if near.is_empty() { Ok(()) } else { write!(f, "; did you mean {}", near.join(", ")) }
}

/// News for an eval about a module that it imports or changes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ModuleNotice {
    /// The file as it is now does not load, and the last version that did is used.
    Broken {
        /// The module.
        module: String,
        /// The file with the error: the module's own, or that of one it imports.
        file: String,
        /// Line of the error, from 1; 0 when unknown.
        line: usize,
        /// Column in characters, from 1; 0 when unknown.
        column: usize,
        /// The error.
        message: String,
    },
    /// Functions were defined inside the module, for all who import it.
    Defined {
        /// The module.
        module: String,
        /// Signatures such as `number()`.
        functions: Vec<String>,
    },
    /// The file was edited, so functions that were defined inside the module are gone.
    Undefined {
        /// The module.
        module: String,
        /// Signatures such as `number()`.
        functions: Vec<String>,
    },
    /// The module was loaded anew from its file, at somebody's request.
    Reloaded {
        /// The module.
        module: String,
        /// Modules that import it and were loaded anew for that reason.
        importers: Vec<String>,
        /// Signatures of the functions that had been defined inside it and are gone.
        undefined: Vec<String>,
    },
}

impl fmt::Display for ModuleNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broken { module, file, line, column, message } => {
                let place = place(file, *line, *column);
                write!(f, "{place}: {message} · {module} stays at its last good version")
            }
            Self::Defined { module, functions } => write!(
                f,
                "defined inside {module}: {} · for all who import it, until its file changes or reload(\"{module}\")",
                functions.join(", ")
            ),
            Self::Undefined { module, functions } => {
                write!(f, "{module}.rhai changed · what was defined inside {module} is gone: {}", functions.join(", "))
            }
            Self::Reloaded { module, importers, undefined } => {
                write!(f, "reloaded {module}")?;
                if !importers.is_empty() {
                    write!(f, " · and {}, which import it", importers.join(", "))?;
                }
                if !undefined.is_empty() {
                    write!(f, " · what was defined inside it is gone: {}", undefined.join(", "))?;
                }
                Ok(())
            }
        }
    }
}

/// The weight of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Severity {
    /// The module cannot be loaded.
    Error,
    /// It works, but a reader would want it otherwise.
    Warning,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
        })
    }
}

/// Something that is wrong with a file in a folder of modules. `Display` is one line that begins `file:line:column`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ModuleProblem {
    /// The file, relative to the folder.
    pub file: String,
    /// Line, from 1; 0 for the file as a whole.
    pub line: usize,
    /// Column in characters, from 1; 0 when unknown.
    pub column: usize,
    /// The kind of problem.
    pub what: ProblemKind,
}

/// The kinds of problems a file in a folder of modules can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ProblemKind {
    /// It does not compile; what the compiler says.
    Syntax(String),
    /// It cannot be read as a module.
    Unreadable(ModuleError),
    /// Modules import each other: the circle, its first name repeated at the end.
    Circular(Vec<String>),
    /// It imports a module that is not there, when it is loaded.
    Missing(String),
    /// One of its functions imports a module that is not there now.
    MissingLater(String),
    /// A public function has no doc comment; its signature.
    Undocumented(String),
    /// Its path cannot be a module's name.
    Misnamed,
}

impl ModuleProblem {
    /// The place, as editors can follow it: `stats.rhai:2:7`.
    pub(crate) fn place(&self) -> String {
        place(&self.file, self.line, self.column)
    }

    /// The weight of it.
    pub(crate) fn severity(&self) -> Severity {
        match self.what {
            ProblemKind::Syntax(_)
            | ProblemKind::Unreadable(_)
            | ProblemKind::Circular(_)
            | ProblemKind::Missing(_) => Severity::Error,
            ProblemKind::MissingLater(_) | ProblemKind::Undocumented(_) | ProblemKind::Misnamed => Severity::Warning,
        }
    }
}

impl fmt::Display for ProblemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(message) => f.write_str(message),
            Self::Unreadable(error) => write!(f, "{error}"),
            Self::Circular(path) => write!(f, "circular import: {}", path.join(" → ")),
            Self::Missing(name) | Self::MissingLater(name) => write!(f, "no module `{name:.80}` to import"),
            Self::Undocumented(signature) => write!(f, "{signature} has no doc comment"),
            Self::Misnamed => f.write_str(
                "this file cannot be imported: names of modules have letters, digits, `_`, `-` and `/` between them",
            ),
        }
    }
}

impl fmt::Display for ModuleProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.place(), self.severity(), self.what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn every_problem_is_one_line_with_its_place() {
        let kinds = [
            ProblemKind::Syntax("expecting ')'".into()),
            ProblemKind::Unreadable(ModuleError::NotText { name: "a".into() }),
            ProblemKind::Circular(vec!["a".into(), "a".into()]),
            ProblemKind::Missing("b".into()),
            ProblemKind::MissingLater("b".into()),
            ProblemKind::Undocumented("f(x)".into()),
            ProblemKind::Misnamed,
        ];
        let shown: Vec<_> = kinds
            .into_iter()
            .enumerate()
            .map(|(line, what)| ModuleProblem { file: "a.rhai".into(), line, column: 7, what }.to_string())
            .collect();
        expect![[r#"
            a.rhai: error: expecting ')'
            a.rhai:1:7: error: a.rhai is not UTF-8 text
            a.rhai:2:7: error: circular import: a → a
            a.rhai:3:7: error: no module `b` to import
            a.rhai:4:7: warning: no module `b` to import
            a.rhai:5:7: warning: f(x) has no doc comment
            a.rhai:6:7: warning: this file cannot be imported: names of modules have letters, digits, `_`, `-` and `/` between them"#]].assert_eq(&shown.join("\n"));
    }

    #[test]
    fn every_error_says_what_happened() {
        let all = [
            ModuleError::BadName { name: "../secret".into() },
            ModuleError::NotFound { name: "stat".into(), near: vec!["stats".into()] },
            ModuleError::NotFound { name: "nowhere".into(), near: vec![] },
            ModuleError::Outside { name: "link".into() },
            ModuleError::TooBig { name: "big".into(), bytes: 2_000_000, limit: MIB as u64 },
            ModuleError::NotText { name: "pic".into() },
            ModuleError::Unreadable { name: "locked".into(), reason: "permission denied".into() },
            ModuleError::Circular { path: vec!["round".into(), "trip".into(), "round".into()] },
            ModuleError::TooDeep { limit: 200 },
            ModuleError::NoFunction { module: "stats".into(), function: "men".into(), near: vec!["mean".into()] },
            ModuleError::Syntax { file: "a.rhai".into(), line: 2, column: 7, message: "unexpected end".into() },
            ModuleError::TooManyFunctions { module: "stats".into(), limit: 5_000 },
            ModuleError::Native { name: "orders".into() },
        ];
        let shown: Vec<_> = all.iter().map(|e| format!("{}: {e}", e.kind())).collect();
        expect![[r#"
            BadModuleName: `../secret` cannot name a module: letters, digits, `_`, `-` and `/` between them, without `.rhai`
            ModuleNotFound: no module `stat`; did you mean stats
            ModuleNotFound: no module `nowhere`
            ModuleNotFound: no module `link`: its file leads out of the folder of modules
            ModuleUnreadable: big.rhai has 2,000,000 bytes and the limit of a module is 1 MiB
            ModuleUnreadable: pic.rhai is not UTF-8 text
            ModuleUnreadable: locked.rhai cannot be read: permission denied
            CircularImport: circular import: round → trip → round
            ModuleLimit: modules import each other more than 200 deep, which is the limit
            NoFunction: no function `men` in stats; did you mean mean
            Parsing: a.rhai:2:7: unexpected end
            FunctionLimit: stats would have more than 5,000 functions, which is the limit of a space or module
            NativeModule: orders is part of the program itself: it has no script, and orders::… is called without an import"#]].assert_eq(&shown.join("\n"));
    }

    #[test]
    fn every_notice_says_what_holds_now() {
        let broken = |line| ModuleNotice::Broken {
            module: "outer".into(),
            file: "inner.rhai".into(),
            line,
            column: 9,
            message: "expecting ')'".into(),
        };
        let names = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
        let all = [
            broken(2),
            broken(0),
            ModuleNotice::Defined { module: "live".into(), functions: names(&["number()", "twice(n)"]) },
            ModuleNotice::Undefined { module: "live".into(), functions: names(&["number()"]) },
            ModuleNotice::Reloaded { module: "live".into(), importers: vec![], undefined: vec![] },
            ModuleNotice::Reloaded {
                module: "live".into(),
                importers: names(&["a", "b"]),
                undefined: names(&["number()"]),
            },
        ];
        let shown: Vec<_> = all.iter().map(ToString::to_string).collect();
        expect![[r#"
            inner.rhai:2:9: expecting ')' · outer stays at its last good version
            inner.rhai: expecting ')' · outer stays at its last good version
            defined inside live: number(), twice(n) · for all who import it, until its file changes or reload("live")
            live.rhai changed · what was defined inside live is gone: number()
            reloaded live
            reloaded live · and a, b, which import it · what was defined inside it is gone: number()"#]]
        .assert_eq(&shown.join("\n"));
    }
}
