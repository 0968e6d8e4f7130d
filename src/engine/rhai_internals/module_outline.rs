//! What the text of a module says, as plain data: its functions, exported constants and docs, and the modules it imports.
//! `module_text` reads it from Rhai's syntax tree; whoever lists and shows modules works on it. Knows nothing of Rhai itself.

use std::ops::Range;

/// A module as its readers see it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ModuleOutline {
    /// The name it is imported by.
    pub name: String,
    /// Its `//!` comment, without comment marks.
    pub doc: String,
    /// Its functions in the order of the text, private ones too.
    pub functions: Vec<FunctionOutline>,
    /// What it exports beside functions, in the order of the text.
    pub constants: Vec<ConstantOutline>,
}

/// One function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FunctionOutline {
    /// Its name.
    pub name: String,
    /// Its parameters, with types where they are known (`secs: float`).
    pub params: Vec<String>,
    /// How it is called: `mean(values)`, `int.double()`; with types where they are known.
    pub signature: String,
    /// Its doc comment, without comment marks.
    pub doc: String,
    /// The line of its `fn`, from 1; 0 for a native function, and for one of a space.
    pub line: usize,
    /// True when only its own module can call it.
    pub private: bool,
    /// Its text with the doc comment, as bytes of the text it is in; empty for a native function.
    pub source_range: Range<usize>,
    /// The eval that defined it inside the module (`eval 12`), when it is not the file's. Then `line` and `source_range` are
    /// of that eval's code.
    pub defined_by: Option<String>,
}

/// One exported constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConstantOutline {
    /// The name importers use.
    pub name: String,
    /// The expression it is made by, when that is short.
    pub value: Option<String>,
    /// Its line, from 1; 0 for a variable of a space.
    pub line: usize,
}

/// The text of a module that compiles, taken apart.
#[derive(Debug)]
pub(crate) struct Parsed {
    /// Its functions, constants and docs.
    pub outline: ModuleOutline,
    /// Its imports of modules whose names are written out.
    pub imports: Vec<ModuleImport>,
}

/// One `import` of a module whose name is written out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ModuleImport {
    /// The name of the imported module.
    pub name: String,
    /// Its line, from 1.
    pub line: usize,
    /// Its column in characters, from 1.
    pub column: usize,
    /// True inside a function: then it is met when the function is called, not when the module is loaded.
    pub in_function: bool,
}
