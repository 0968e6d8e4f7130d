//! Rules that the plain text of the sources shows, tests included: floors of the rooms, owners of crates, module docs, lengths,
//! unsafe code, no sleeping.

use super::{rust_files, texts};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Which floor each module of the crate stands on. Modules on one floor are strangers.
const FLOORS: [(&str, u32); 12] = [
    ("base", 0),
    ("registry", 1),
    ("engine", 1),
    ("spaces", 2),
    ("render", 2),
    ("toolkit", 2),
    ("host", 3),
    ("mcp", 4),
    ("repl", 4),
    ("http", 5),
    ("config", 6),
    ("cli", 7),
];

/// Which modules may name a crate. Crates that are not listed may be named anywhere.
const OWNERS: [(&str, &[&str]); 25] = [
    ("rhai", &["engine", "spaces", "render", "toolkit", "host", "lib"]),
    ("tokio", &["host", "mcp", "repl", "http", "cli", "main"]),
    ("axum", &["http"]),
    ("hyper", &["http", "cli"]),
    ("hyper_util", &["http", "cli"]),
    ("serde", &["engine", "toolkit", "mcp", "http", "cli"]),
    // The engine has it for Rhai's own `to_json` and for facts about native functions.
    ("serde_json", &["engine", "toolkit", "mcp", "http", "cli"]),
    ("rustyline", &["repl", "cli"]),
    ("clap", &["cli", "config", "main"]),
    ("jiff", &["toolkit", "mcp"]),
    ("rustix", &["toolkit", "cli"]),
    // One number of the allocator below ours.
    ("libc", &["engine"]),
    ("subtle", &["http"]),
    ("cap_std", &["toolkit"]),
    ("globset", &["toolkit"]),
    ("regex_automata", &["toolkit"]),
    ("fastrand", &["toolkit"]),
    ("getrandom", &["toolkit"]),
    ("csv", &["toolkit"]),
    ("toml", &["toolkit"]),
    ("serde_saphyr", &["toolkit"]),
    ("sha2", &["toolkit"]),
    ("hmac", &["toolkit"]),
    ("similar", &["toolkit"]),
    ("url", &["toolkit"]),
];

/// Tests of the scripts that come with the program, which call the native modules that come with it.
const TESTS_OF_SCRIPTS: [&str; 1] = ["spaces/library/testing.rs"];

struct Source {
    /// Path below `src`.
    path: String,
    /// The module of the crate it belongs to: `host` for `host/api.rs`, `lib` and `main` for the roots.
    module: String,
    /// The text without comments and string contents.
    code: String,
    text: String,
}

fn sources() -> Vec<Source> {
    let source = |(path, text): (String, String)| {
        let module = path.split('/').next().unwrap().trim_end_matches(".rs").to_owned();
        Source { path, module, code: without_comments_and_strings(&text), text }
    };
    texts().into_iter().map(source).collect()
}

/// Blanks out comments and the contents of string literals, keeping lines where they are.
fn without_comments_and_strings(text: &str) -> String {
    let bytes: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut i = 0;
    let blank = |c: char| if c == '\n' { '\n' } else { ' ' };
    while i < bytes.len() {
        let next = bytes.get(i + 1).copied();
        match bytes[i] {
            '/' if next == Some('/') => {
                while i < bytes.len() && bytes[i] != '\n' {
                    i += 1;
                }
            }
            '/' if next == Some('*') => {
                let mut depth = 0;
                while i < bytes.len() {
                    match (bytes[i], bytes.get(i + 1)) {
                        ('/', Some('*')) => (depth, i) = (depth + 1, i + 2),
                        ('*', Some('/')) => (depth, i) = (depth - 1, i + 2),
                        (c, _) => {
                            out.push(blank(c));
                            i += 1;
                        }
                    }
                    if depth == 0 {
                        break;
                    }
                }
            }
            'r' if matches!(next, Some('"' | '#')) && !out.ends_with(|c: char| c.is_alphanumeric() || c == '_') => {
                let hashes = bytes[i + 1..].iter().take_while(|c| **c == '#').count();
                if bytes.get(i + 1 + hashes) == Some(&'"') {
                    let close: Vec<char> = std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
                    i += 2 + hashes;
                    while i < bytes.len() && !bytes[i..].starts_with(&close) {
                        out.push(blank(bytes[i]));
                        i += 1;
                    }
                    i += close.len();
                } else {
                    out.push('r');
                    i += 1;
                }
            }
            '"' => {
                i += 1;
                while i < bytes.len() && bytes[i] != '"' {
                    if bytes[i] == '\\' {
                        out.push(' ');
                        i += 1;
                    }
                    out.push(bytes.get(i).copied().map_or(' ', blank));
                    i += 1;
                }
                i += 1;
            }
            '\'' if next == Some('\\') => {
                i += 3;
                while i < bytes.len() && bytes[i] != '\'' {
                    i += 1;
                }
                i += 1;
            }
            '\'' if bytes.get(i + 2) == Some(&'\'') => i += 3,
            c => {
                out.push(c);
                i += 1;
            }
        }
    }
    out
}

fn line_of(code: &str, at: usize) -> usize {
    code[..at].matches('\n').count() + 1
}

/// Every place where `word` stands as a whole word, followed by `::`.
fn paths<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    code.match_indices(word).map(|(at, _)| at).filter(move |at| {
        let before = code[..*at].chars().next_back();
        let after = code[at + word.len()..].trim_start();
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_') && after.starts_with("::")
    })
}

/// The modules that a file names by `crate::…`, also inside groups: `use crate::{host, base::Time}`.
fn modules_named(code: &str) -> Vec<(usize, String)> {
    let mut named = Vec::new();
    for at in paths(code, "crate") {
        let rest = code[at..].split_once("::").map_or("", |(_, rest)| rest.trim_start());
        if let Some(group) = rest.strip_prefix('{') {
            let mut depth = 1;
            let mut item = String::new();
            for c in group.chars() {
                match c {
                    '{' => depth += 1,
                    '}' => depth -= 1,
                    ',' if depth == 1 => {
                        named.push((at, std::mem::take(&mut item)));
                        continue;
                    }
                    _ => {}
                }
                if depth == 0 {
                    break;
                }
                item.push(c);
            }
            named.push((at, item));
        } else {
            named.push((at, rest.to_owned()));
        }
    }
    named
        .into_iter()
        .map(|(at, item)| {
            let word: String = item.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            (line_of(code, at), word)
        })
        .filter(|(_, word)| !word.is_empty())
        .collect()
}

#[test]
fn modules_import_downwards_only() {
    let floors: BTreeMap<&str, u32> = FLOORS.into();
    let mut wrong = Vec::new();
    for source in sources() {
        if ["lib", "main"].contains(&source.module.as_str()) {
            continue;
        }
        let Some(floor) = floors.get(source.module.as_str()) else {
            wrong.push(format!("{}: module `{}` has no floor; add it to FLOORS", source.path, source.module));
            continue;
        };
        for (line, named) in modules_named(&source.code) {
            if let Some(other) = floors.get(named.as_str())
                && named != source.module
                && other >= floor
                && !(TESTS_OF_SCRIPTS.contains(&source.path.as_str()) && named == "toolkit")
            {
                wrong.push(format!(
                    "{}:{line}: `{}` (floor {floor}) names `{named}`, which is not below it",
                    source.path, source.module
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn crates_are_named_by_their_owners_only() {
    let mut wrong = Vec::new();
    for source in sources() {
        for (name, owners) in OWNERS {
            if owners.contains(&source.module.as_str()) {
                continue;
            }
            for at in paths(&source.code, name) {
                // `crate::http::…` and `super::http::…` are modules of ours, not crates.
                if source.code[..at].trim_end().ends_with("::") {
                    continue;
                }
                wrong.push(format!("{}:{}: only {owners:?} may name `{name}`", source.path, line_of(&source.code, at)));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Messages, tools, calls and methods of the protocol are the same on every transport.
#[test]
fn the_protocol_below_its_transport_knows_no_http() {
    let mut wrong = Vec::new();
    let below = ["mcp/rpc/", "mcp/tools/", "mcp/calls/", "mcp/eras/"];
    for source in sources().into_iter().filter(|s| below.iter().any(|room| s.path.starts_with(room))) {
        for name in ["http", "http_body", "hyper"] {
            let lines =
                paths(&source.code, name).map(|at| format!("{}:{}: {name}", source.path, line_of(&source.code, at)));
            wrong.extend(lines);
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn every_file_opens_with_a_module_doc() {
    let bare: Vec<_> = sources().into_iter().filter(|s| !s.text.starts_with("//!")).map(|s| s.path).collect();
    assert!(bare.is_empty(), "these files do not open with `//!`: {bare:?}");
}

#[test]
fn files_have_one_subject() {
    let long: Vec<_> = sources()
        .into_iter()
        .filter(|s| !s.path.contains("tests"))
        .map(|s| (s.text.split("#[cfg(test)]").next().unwrap_or_default().lines().count(), s.path))
        .filter(|(lines, _)| *lines > 600)
        .collect();
    assert!(long.is_empty(), "these files want to be two: {long:?}");
}

#[test]
fn unsafe_code_stays_where_it_is_explained() {
    let allowed = ["engine/memory.rs", "engine/rhai_internals/function_body.rs"];
    let wrong: Vec<_> = sources()
        .into_iter()
        .filter(|s| !allowed.contains(&s.path.as_str()))
        .filter(|s| s.code.contains("unsafe ") || s.code.contains("allow(unsafe_code"))
        .map(|s| s.path)
        .collect();
    assert!(wrong.is_empty(), "unsafe code outside {allowed:?}: {wrong:?}");
}

#[test]
fn nothing_sleeps_to_hope() {
    let mut wrong = Vec::new();
    for source in sources() {
        for pattern in ["thread::sleep(", "time::sleep("] {
            if source.code.contains(pattern) {
                wrong.push(format!("{}: {pattern}", source.path));
            }
        }
    }
    let mut tests = Vec::new();
    rust_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests"), &mut tests);
    for file in tests {
        let code = without_comments_and_strings(&fs::read_to_string(&file).unwrap());
        for pattern in ["thread::sleep(", "time::sleep("] {
            if code.contains(pattern) {
                wrong.push(format!("{}: {pattern}", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn the_reader_of_this_test_is_not_fooled() {
    let code = without_comments_and_strings(
        "use crate::{host::Host, base::{Time, Clock}}; // crate::cli::x\nlet s = \"crate::cli::y\"; crate::mcp::z();",
    );
    let named: Vec<_> = modules_named(&code).into_iter().map(|(line, name)| format!("{line}:{name}")).collect();
    assert_eq!(named, ["1:host", "1:base", "2:mcp"]);
    assert_eq!(paths("tokio::spawn(x); mytokio::y", "tokio").count(), 1);
}
