//! Names that can be typed at a prompt, as plain data: variables, functions, modules, spaces.

use std::fmt;

/// Names that can be typed in one place, for completion and hints.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// Variables and constants of the space.
    pub variables: Vec<String>,
    /// Functions that can be called by their bare name: Rhai's, the host's, the space's.
    pub functions: Vec<Signature>,
    /// Names that stand before `::` (modules of the program, imports of the space), and modules that could be imported.
    pub modules: Vec<ModuleNames>,
    /// Spaces one can move to.
    pub spaces: Vec<String>,
}

/// A module and the names in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModuleNames {
    /// Its name as it is written: `stats`, `patterns/retry`, or the alias of an import.
    pub name: String,
    /// How the name can be used.
    pub kind: ModuleKind,
    /// Its functions.
    pub functions: Vec<Signature>,
    /// Its constants.
    pub constants: Vec<String>,
}

impl ModuleNames {
    /// Whether the name can stand before `::` now, without an import on the same line.
    pub fn is_bound(&self) -> bool {
        self.kind != ModuleKind::Script
    }
}

/// How the name of a module can be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ModuleKind {
    /// A script: its name is imported.
    #[default]
    Script,
    /// Part of the program: its name stands before `::` in any code.
    Embedded,
    /// An import that the space keeps: its alias stands before `::`.
    Import,
}

/// A function's name and parameters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Signature {
    /// The name.
    pub name: String,
    /// The parameters, each as it is shown: `list`, or `list: array`.
    pub parameters: Vec<String>,
}

impl Signature {
    /// Takes a signature apart as it is written, such as `sleep(secs: float)` or `len(list) -> int`. `None` for operators and
    /// properties, which nobody completes.
    pub fn parse(written: &str) -> Option<Self> {
        let (name, rest) = written.split_once('(')?;
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        if name.is_empty() || !name.chars().all(is_name) {
            return None;
        }
        let parameters = rest.rsplit_once(')').map_or(rest, |(inside, _)| inside);
        let parameters = parameters.split(',').map(str::trim).filter(|parameter| !parameter.is_empty());
        Some(Self { name: name.to_owned(), parameters: parameters.map(str::to_owned).collect() })
    }

    /// Signatures, taken apart and sorted; each once.
    pub(super) fn parse_all<'a>(written: impl IntoIterator<Item = &'a String>) -> Vec<Self> {
        let mut all: Vec<_> = written.into_iter().filter_map(|text| Self::parse(text)).collect();
        all.sort();
        all.dedup();
        all
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.name, self.parameters.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_taken_apart() {
        let written = ["sleep(secs: float)", "last()", "out(id, from, n) -> array", "+(a, b)", "get$lost(e)", "last()"];
        let all = Signature::parse_all(&written.map(str::to_owned));
        let shown: Vec<_> = all.iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["last()", "out(id, from, n)", "sleep(secs: float)"]);
    }
}
