//! Rules inside a room: its inner floors, faces that hold nothing, files that are named directly, and what only one room may
//! name of Rhai.

use super::paths::{Arrow, How, arrows, leads, mentions};
use super::reader::{Place, Tree, defined, is_face, text};
use super::{none, room_of, tree};
use std::collections::BTreeMap;
use syn::Item;

/// The inner floors of a room: its folders, and files at its top without `.rs`. A file imports from its own floor and from lower
/// ones. What is not named here stands on floor 0.
const INNER: [(&str, &[(&str, u32)]); 4] = [
    (
        "engine",
        &[
            ("error", 0),
            ("environment", 0),
            ("memory", 0),
            ("signature", 0),
            ("native", 1),
            ("rhai_internals", 1),
            ("value", 2),
            ("task", 3),
            ("run", 4),
        ],
    ),
    ("host", &[("delivery", 0), ("names", 0), ("types", 0), ("core", 1), ("run", 2), ("functions", 3), ("api", 4)]),
    ("mcp", &[("rpc", 0), ("tools", 1), ("calls", 2), ("eras", 3), ("http", 4)]),
    // Data, then the struct of all data, then the steps that change it.
    (
        "registry",
        &[
            ("entries", 0),
            ("ledger", 0),
            ("sessions", 0),
            ("space_names", 0),
            ("run_queue", 0),
            ("wait_graph", 0),
            ("log", 0),
            ("state", 1),
            ("admission", 2),
            ("delivery", 2),
            ("session_steps", 2),
            ("space_steps", 2),
            ("slot_steps", 2),
            ("wait_steps", 2),
            ("cancel", 2),
            ("eviction", 2),
            ("view", 2),
        ],
    ),
];

/// Where the internals of Rhai may be named.
const INTERNALS: &str = "engine/rhai_internals/";
const INTERNAL_TYPES: [&str; 8] =
    ["Stmt", "Expr", "ASTNode", "ASTFlags", "GlobalRuntimeState", "Caches", "Token", "ScriptFuncDef"];
const INTERNAL_METHODS: [&str; 3] = ["on_var", "on_parse_token", "eval_statements_raw"];

/// The first part of the path inside a room: `task` for `engine/task/control.rs`, `native` for `engine/native.rs`.
fn part_of(file: &str) -> Option<&str> {
    file.split('/').nth(1).map(|part| part.trim_end_matches(".rs"))
}

fn inner_floor(file: &str) -> Option<u32> {
    let (_, floors) = INNER.iter().find(|(room, _)| Some(*room) == room_of(file))?;
    match floors.iter().find(|(part, _)| Some(*part) == part_of(file)) {
        Some((_, floor)) => Some(*floor),
        None => Some(0),
    }
}

/// Imports inside a room that go up, by the files at both ends.
pub(super) fn imports_upwards(arrows: &[Arrow]) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for Arrow { from, to, name, line } in arrows.iter().filter(|arrow| room_of(&arrow.from) == room_of(&arrow.to)) {
        if let (Some(low), Some(high)) = (inner_floor(from), inner_floor(to))
            && low < high
        {
            let shown = format!("floor {low} names `{name}` of floor {high} in line {line}");
            found.entry(format!("{from} -> {to}")).or_insert(shown);
        }
    }
    found
}

/// What a `mod.rs` holds beside `mod` and `use`.
pub(super) fn held_by_faces(tree: &Tree) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for (_, module) in tree.files().filter(|(_, module)| module.file.ends_with("mod.rs")) {
        for item in &module.items {
            let what = match item {
                Item::Use(_) => continue,
                Item::Mod(inner) if inner.content.is_none() => continue,
                Item::Mod(inner) => format!("mod {} {{}}", text(&inner.ident)),
                Item::Impl(_) => "impl".to_owned(),
                Item::ExternCrate(_) => "extern crate".to_owned(),
                item => defined(item).map_or("something else".to_owned(), |(name, _)| text(name)),
            };
            found.insert(format!("{}: {what}", module.file), "a mod.rs holds only `mod` and `use`".to_owned());
        }
    }
    found
}

/// Internals of Rhai that are named outside their room.
pub(super) fn internals_named(tree: &Tree) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for mention in mentions(tree) {
        let file = &tree.modules[mention.module].file;
        if file.starts_with(INTERNALS) {
            continue;
        }
        let mut note = |name: &str| {
            let shown = format!("line {}; only {INTERNALS} may", mention.line);
            found.entry(format!("{file}: {name}")).or_insert(shown);
        };
        if mention.how == How::Method {
            mention.path.iter().filter(|name| INTERNAL_METHODS.contains(&name.as_str())).for_each(|name| note(name));
        }
        for lead in leads(tree, &mention) {
            let Place::Outside(path) = &lead.place else { continue };
            let names: Vec<&str> = path.iter().map(String::as_str).filter(|name| !name.is_empty()).collect();
            if names.first() != Some(&"rhai") || tree.modules[lead.spelled].file != *file {
                continue;
            }
            let internal = |name: &&&str| INTERNAL_TYPES.contains(name) || INTERNAL_METHODS.contains(name);
            names.iter().filter(internal).for_each(|name| note(name));
            if names.ends_with(&["FnPtr", "from_fn"]) {
                note("FnPtr::from_fn");
            }
        }
    }
    found
}

/// Names that a file takes from the face of a folder it is in itself.
pub(super) fn named_through_own_face(tree: &Tree) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for mention in mentions(tree) {
        let file = &tree.modules[mention.module].file;
        for lead in leads(tree, &mention) {
            for (face, name) in &lead.through {
                let face = &tree.modules[*face].file;
                let own = face.strip_suffix("mod.rs").is_some_and(|folder| file.starts_with(folder));
                if own && is_face(face) && face != file {
                    let shown = format!("`{}` in line {}; name its own file", mention.path.join("::"), mention.line);
                    found.entry(format!("{file}: {name} of {face}")).or_insert(shown);
                }
            }
        }
    }
    found
}

#[test]
fn imports_inside_a_room_follow_its_floors() {
    none(&imports_upwards(&arrows(&tree())));
}

#[test]
fn faces_hold_nothing() {
    none(&held_by_faces(&tree()));
}

#[test]
fn rhai_internals_stay_in_their_room() {
    none(&internals_named(&tree()));
}

#[test]
fn inside_a_room_files_are_named_directly() {
    none(&named_through_own_face(&tree()));
}
