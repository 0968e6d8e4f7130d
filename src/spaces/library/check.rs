//! Checking a folder of modules without running anything: does every file compile, can its imports work, is it documented.

use super::built_in::BUILT_IN;
use super::folder::{Folder, Found};
use super::name::ModuleName;
use crate::base::{Limits, ModuleError, ModuleProblem, ProblemKind};
use crate::engine::{ModuleImport, Parsed, module_text};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

/// The result of a check of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Checked {
    /// How many modules the folder has, broken ones included.
    pub modules: usize,
    /// Their problems, by file and line.
    pub problems: Vec<ModuleProblem>,
}

/// Looks at every module in the folder `root`.
///
/// # Errors
///
/// The folder cannot be read, or does not exist.
pub(crate) fn check(root: &Path, limits: &Limits) -> io::Result<Checked> {
    // A listing takes a folder that does not exist for an empty one. Who asks to check it wants to know.
    root.read_dir()?;
    let folder = Folder::new(root);
    let mut problems = Vec::new();
    let mut modules = BTreeMap::new();
    for found in folder.list()? {
        match found {
            Found::Misnamed(path) => {
                let file = path.to_string_lossy().into_owned();
                problems.push(ModuleProblem { file, line: 0, column: 0, what: ProblemKind::Misnamed });
            }
            Found::Module(name) => {
                match folder.read(&name).and_then(|text| module_text::parse(name.as_str(), &text, limits)) {
                    Ok(parsed) => {
                        problems.extend(undocumented(&name, &parsed));
                        modules.insert(name.to_string(), Some(parsed.imports));
                    }
                    Err(error) => {
                        problems.push(broken(&name, error));
                        modules.insert(name.to_string(), None);
                    }
                }
            }
        }
    }
    let checked = modules.len();
    for (name, text) in BUILT_IN {
        // Not a word about them, but they are there to be imported.
        let parsed = || module_text::parse(name, text, limits).ok().map(|parsed| parsed.imports);
        modules.entry((*name).to_owned()).or_insert_with(parsed);
    }
    problems.extend(missing(&modules));
    problems.extend(circular(&modules));
    problems.sort_by(|a, b| (&a.file, a.line, a.column).cmp(&(&b.file, b.line, b.column)));
    Ok(Checked { modules: checked, problems })
}

/// The imports of each module, by name; `None` for one that does not compile.
type Modules = BTreeMap<String, Option<Vec<ModuleImport>>>;

fn broken(name: &ModuleName, error: ModuleError) -> ModuleProblem {
    match error {
        ModuleError::Syntax { file, line, column, message } => {
            ModuleProblem { file, line, column, what: ProblemKind::Syntax(message) }
        }
        other => ModuleProblem { file: name.file(), line: 0, column: 0, what: ProblemKind::Unreadable(other) },
    }
}

fn undocumented(name: &ModuleName, parsed: &Parsed) -> Vec<ModuleProblem> {
    let bare = parsed.outline.public().filter(|f| f.doc.is_empty());
    bare.map(|f| ModuleProblem {
        file: name.file(),
        line: f.line,
        column: 1,
        what: ProblemKind::Undocumented(f.signature.clone()),
    })
    .collect()
}

fn problem(module: &str, import: &ModuleImport, what: ProblemKind) -> ModuleProblem {
    ModuleProblem { file: format!("{module}.rhai"), line: import.line, column: import.column, what }
}

fn missing(modules: &Modules) -> Vec<ModuleProblem> {
    let mut problems = Vec::new();
    for (module, imports) in modules {
        for import in imports.iter().flatten() {
            // Another space is there or not when the time comes.
            if import.name.starts_with('@') || modules.contains_key(&import.name) {
                continue;
            }
            let name = import.name.clone();
            let what = if import.in_function { ProblemKind::MissingLater(name) } else { ProblemKind::Missing(name) };
            problems.push(problem(module, import, what));
        }
    }
    problems
}

/// Each circle once, at the import that leaves its first module. An import in a function closes no circle: it is met when
/// the module is loaded already.
fn circular(modules: &Modules) -> Vec<ModuleProblem> {
    let mut problems = Vec::new();
    let mut reported = BTreeSet::new();
    let mut done = BTreeSet::new();
    for start in modules.keys() {
        let mut path: Vec<(&str, usize)> = vec![(start, 0)];
        while let Some((module, next)) = path.last_mut() {
            let import = modules.get(*module).into_iter().flatten().flatten().filter(|i| !i.in_function).nth(*next);
            let Some(import) = import.filter(|_| !done.contains(*module)) else {
                done.insert((*module).to_owned());
                path.pop();
                continue;
            };
            *next += 1;
            let Some(at) = path.iter().position(|(open, _)| *open == import.name) else {
                path.push((&import.name, 0));
                continue;
            };
            let circle: Vec<_> = path[at..].iter().map(|(name, _)| (*name).to_owned()).collect();
            if reported.insert(circle.iter().cloned().collect::<BTreeSet<_>>()) {
                problems.extend(report(modules, circle));
            }
        }
    }
    problems
}

/// The shortest circle of imports that leads from a module back to it, its name repeated at the end, with the import that leaves
/// the module. `imports`: those of a module, in order.
pub(super) fn circle_of<'m>(
    name: &str,
    imports: impl Fn(&str) -> &'m [ModuleImport],
) -> Option<(&'m ModuleImport, Vec<String>)> {
    let met_on_loading = |name: &str| imports(name).iter().filter(|import| !import.in_function);
    // Each import that was come to, with the place of the one before it.
    let mut reached: Vec<(&ModuleImport, Option<usize>)> = met_on_loading(name).map(|import| (import, None)).collect();
    let mut seen = BTreeSet::new();
    let mut next = 0;
    while let Some((import, _)) = reached.get(next).copied() {
        if import.name == name {
            let mut path = vec![import.name.clone()];
            let mut at = next;
            while let Some(before) = reached[at].1 {
                at = before;
                path.push(reached[at].0.name.clone());
            }
            path.push(name.to_owned());
            path.reverse();
            return Some((reached[at].0, path));
        }
        if seen.insert(&import.name) {
            reached.extend(met_on_loading(&import.name).map(|further| (further, Some(next))));
        }
        next += 1;
    }
    None
}

fn report(modules: &Modules, mut circle: Vec<String>) -> Option<ModuleProblem> {
    let first = circle.iter().enumerate().min_by_key(|(_, name)| *name).map(|(at, _)| at)?;
    circle.rotate_left(first);
    circle.push(circle.first()?.clone());
    let import = modules.get(&circle[0])?.iter().flatten().find(|i| i.name == circle[1] && !i.in_function)?;
    Some(problem(&circle[0], import, ProblemKind::Circular(circle.clone())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Severity;
    use expect_test::expect;
    use std::fs;

    fn checked(files: &[(&str, &str)]) -> String {
        let dir = tempfile::tempdir().unwrap();
        for (file, text) in files {
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let problems = check(dir.path(), &Limits::default()).unwrap().problems;
        problems.iter().map(|p| format!("{p}\n")).collect()
    }

    #[test]
    fn a_good_folder_has_no_problems() {
        let files = [
            ("a.rhai", "import \"sub/b\" as b;\n/// A.\nfn a() { b::b() }\nprivate fn p() {}\n"),
            ("sub/b.rhai", "/// B.\nfn b() { import \"a\" as a; import \"@lab\" as l; 1 }\n"),
            ("notes.txt", "fn ( {"),
        ];
        assert_eq!(checked(&files), "");
    }

    #[test]
    fn built_in_modules_are_there_to_be_imported() {
        let files =
            [("a.rhai", "import \"stats\" as s;\nimport \"patterns/hand_over\" as h;\nimport \"statz\" as z;\n")];
        assert_eq!(checked(&files), "a.rhai:3:1: error: no module `statz` to import\n");
        // A file that takes the place of one is looked at as any other.
        let files = [("stats.rhai", "import \"a\" as a;\n"), ("a.rhai", "import \"stats\" as s;\n")];
        assert_eq!(checked(&files), "a.rhai:1:1: error: circular import: a → stats → a\n");
    }

    #[test]
    fn every_problem_is_named_with_its_place() {
        let files = [
            ("broken.rhai", "fn a() { 1 }\nfn b( {\n"),
            ("own.rhai", "import \"own\" as o;\n"),
            ("round.rhai", "let x = 1;\nimport \"trip\" as t;\nfn go_on() { t::go_on() }\n"),
            (
                "side.rhai",
                "import \"round\" as r;\nimport \"broken\" as b;\nimport \"gone\" as g;\n/// F.\nfn f() { import \"away\" as a; }",
            ),
            ("trip.rhai", "import \"round\" as r;\n"),
            ("not me.rhai", ""),
        ];
        expect![[r#"
            broken.rhai:2:7: error: Expecting ')' to close the parameters list of function 'b'
            not me.rhai: warning: this file cannot be imported: names of modules have letters, digits, `_`, `-` and `/` between them
            own.rhai:1:1: error: circular import: own → own
            round.rhai:2:1: error: circular import: round → trip → round
            round.rhai:3:1: warning: go_on() has no doc comment
            side.rhai:3:1: error: no module `gone` to import
            side.rhai:5:10: warning: no module `away` to import
        "#]].assert_eq(&checked(&files));
    }

    #[test]
    fn many_circles_end() {
        let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
        let imports: String = names.iter().map(|n| format!("import \"{n}\" as {n}_;\n")).collect();
        let files: Vec<_> = names.iter().map(|n| (format!("{n}.rhai"), imports.clone())).collect();
        let files: Vec<_> = files.iter().map(|(file, text)| (file.as_str(), text.as_str())).collect();
        assert!(checked(&files).contains("circular import: a → a"));
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        assert!(check(&dir.path().join("nowhere"), &Limits::default()).is_err());
    }

    #[test]
    fn only_what_keeps_a_module_from_loading_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a.rhai"), "fn f() { import \"away\" as a; }").unwrap();
        let problems = check(dir.path(), &Limits::default()).unwrap().problems;
        assert_eq!(problems.iter().map(ModuleProblem::severity).collect::<Vec<_>>(), [Severity::Warning; 2]);
    }
}
