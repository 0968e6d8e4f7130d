//! What breaks a rule, compared with what is allowed to: nothing new may come, and what is gone must leave the list.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Mutex;

/// Files that several tests rewrite at once would lose lines.
static WRITING: Mutex<()> = Mutex::new(());

/// Compares what was found, each with a sentence that shows it, with the list of this name in `allowed.rs`. With `UPDATE_TIDY`
/// set, the list is written anew instead.
pub(super) fn compare(name: &str, allowed: &[&str], found: &BTreeMap<String, String>) {
    if std::env::var_os("UPDATE_TIDY").is_some() {
        return write(name, found);
    }
    let new =
        found.iter().filter(|(key, _)| !allowed.contains(&key.as_str())).map(|(key, shown)| format!("{key}: {shown}"));
    let gone = allowed
        .iter()
        .filter(|key| !found.contains_key(**key))
        .map(|key| format!("{key}: no longer so; take the line off {name} in tests/suite/tidy/allowed.rs"));
    let wrong: Vec<String> = new.chain(gone).collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

fn write(name: &str, found: &BTreeMap<String, String>) {
    let _one_at_a_time = WRITING.lock().unwrap();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/tidy/allowed.rs");
    let text = fs::read_to_string(&file).unwrap();
    let (before, rest) = text.split_once(&format!("const {name}: &[&str] = &[\n")).unwrap();
    let (_, after) = rest.split_once("];").unwrap();
    let lines: String = found.keys().map(|key| format!("    {key:?},\n")).collect();
    fs::write(file, format!("{before}const {name}: &[&str] = &[\n{lines}];{after}")).unwrap();
}
