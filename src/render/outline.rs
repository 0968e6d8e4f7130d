//! Modules as text: the outline of one, and the report of a check.

use super::style::Style;

/// A module, as its text alone tells.
#[derive(Clone, Debug, Default)]
pub struct Module {
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
pub struct Function {
    /// Its signature, such as `hello(name)`.
    pub signature: String,
    /// Its `///` comment without the marks.
    pub doc: String,
    /// The line it starts on, from 1.
    pub line: usize,
    /// Whether only the module itself may call it.
    pub private: bool,
}

/// Signatures and docs of a module.
pub fn text(module: &Module, style: Style) -> String {
    let _ = (module, style);
    todo!()
}

/// Something that a check found.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The file, as the user may open it.
    pub file: String,
    /// From 1; 0 when unknown.
    pub line: usize,
    /// In characters, from 1; 0 when unknown.
    pub column: usize,
    /// One sentence.
    pub message: String,
    /// Whether the module cannot be used.
    pub error: bool,
}

/// The report of a check of `modules` modules: a line for each problem and a summary.
pub fn check(problems: &[Problem], modules: usize, style: Style) -> String {
    let _ = (problems, modules, style);
    todo!()
}
