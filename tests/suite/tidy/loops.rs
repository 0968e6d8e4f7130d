//! No files import each other in a loop.

use super::paths::{Arrow, arrows};
use super::{none, tree};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Each file that is in a loop, with the shortest way from it back to itself.
pub(super) fn loops(arrows: &[Arrow]) -> BTreeMap<String, String> {
    let mut out: BTreeMap<&str, BTreeMap<&str, &Arrow>> = BTreeMap::new();
    for arrow in arrows {
        out.entry(&arrow.from).or_default().entry(&arrow.to).or_insert(arrow);
    }
    out.keys().filter_map(|file| Some(((*file).to_owned(), way_back(file, &out)?))).collect()
}

fn way_back(file: &str, out: &BTreeMap<&str, BTreeMap<&str, &Arrow>>) -> Option<String> {
    let mut came: BTreeMap<&str, &Arrow> = BTreeMap::new();
    let mut next = VecDeque::from([file]);
    while let Some(at) = next.pop_front() {
        for (to, arrow) in out.get(at).into_iter().flatten() {
            if came.contains_key(to) {
                continue;
            }
            came.insert(to, arrow);
            next.push_back(to);
        }
        if came.contains_key(file) {
            break;
        }
    }
    let mut arrows = Vec::new();
    let mut seen = BTreeSet::new();
    let mut at = file;
    while seen.insert(at) {
        let arrow = came.get(at)?;
        arrows.push(format!("\n    {} -> {} ({}, line {})", arrow.from, arrow.to, arrow.name, arrow.line));
        at = &arrow.from;
    }
    arrows.reverse();
    Some(arrows.concat())
}

#[test]
fn no_files_import_each_other_in_a_loop() {
    none(&loops(&arrows(&tree())));
}
