//! Reading the corpus: files of `tests/corpus`, programs with a name each.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// One program.
#[derive(Clone, Debug)]
pub(super) struct Program {
    /// Its name, which no other program has.
    pub(super) name: String,
    /// What is run.
    pub(super) code: String,
    /// What plain Rhai runs in its stead, where the two are meant to differ.
    pub(super) counterpart: Option<String>,
}

/// Where the corpus lies.
pub(super) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

/// Every program, by file and in order.
pub(super) fn all() -> Vec<Program> {
    let mut files: Vec<_> = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|ext| ext == "txt"));
    files.sort();
    let programs: Vec<_> = files.iter().flat_map(|file| parsed(&fs::read_to_string(file).unwrap())).collect();
    let mut names = BTreeSet::new();
    for program in &programs {
        assert!(names.insert(&program.name), "two programs have the name `{}`", program.name);
    }
    programs
}

/// The programs of one file: `== name`, the program, and where it has one `-- plain` and its counterpart. What stands before the
/// first name is a remark.
fn parsed(text: &str) -> Vec<Program> {
    let mut programs: Vec<Program> = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("== ") {
            programs.push(Program { name: name.trim().to_owned(), code: String::new(), counterpart: None });
            continue;
        }
        let Some(program) = programs.last_mut() else { continue };
        if line == "-- plain" {
            assert!(program.counterpart.is_none(), "`{}` has two counterparts", program.name);
            program.counterpart = Some(String::new());
            continue;
        }
        let text = program.counterpart.as_mut().unwrap_or(&mut program.code);
        text.push_str(line);
        text.push('\n');
    }
    for program in &mut programs {
        program.code.truncate(program.code.trim_end().len());
    }
    programs
}

#[test]
fn a_file_is_programs_with_names() {
    let found = parsed("a remark\n== one\nlet a = 1;\n\na\n\n== two\nf()\n-- plain\n2\n");
    let shown: Vec<_> = found.iter().map(|p| (p.name.as_str(), p.code.as_str(), p.counterpart.as_deref())).collect();
    assert_eq!(shown, [("one", "let a = 1;\n\na", None), ("two", "f()", Some("2\n"))]);
}
