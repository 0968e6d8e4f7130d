//! The source tree keeps its rules: modules import downwards, crates are named by their owners only, every file says what it
//! is, tests do not sleep, and files do not import each other in a loop.

mod face; // the names that the library exports
mod inside; // rules inside a room
mod loops; // files that import each other in a loop
mod paths; // every path that a file writes
mod reader; // modules, their names, where paths lead
mod reader_tests; // the reader on small trees
mod text; // rules that the plain text shows

use reader::Tree;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// All Rust files below a folder, in order.
fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            found.push(path);
        }
    }
}

/// The text of each file of the crate by its path below `src`.
fn texts() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    rust_files(&root, &mut files);
    let named = |file: PathBuf| {
        let path = file.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
        (path, fs::read_to_string(&file).unwrap())
    };
    files.into_iter().map(named).collect()
}

/// The crate as it stands, without its tests.
fn tree() -> Tree {
    Tree::read(&texts())
}

/// Fails with every breach of a rule, each with what shows it.
fn none(found: &BTreeMap<String, String>) {
    let shown: Vec<_> = found.iter().map(|(key, shown)| format!("{key}: {shown}")).collect();
    assert!(shown.is_empty(), "\n{}", shown.join("\n"));
}

/// The room a file is in: its first folder. Files beside the rooms, such as `lib.rs`, are in none.
fn room_of(file: &str) -> Option<&str> {
    file.split_once('/').map(|(room, _)| room)
}
