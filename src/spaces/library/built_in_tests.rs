//! The built-in modules, below a folder whose files come and go.

use super::built_in::BUILT_IN;
use super::testing::Harness;
use super::{Documented, ModuleOutline, modules_value};
use rhai::Dynamic;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const MEDIAN: &str = "import \"stats\" as stats; stats::median([1, 9, 2]).to_int()";
const MINE: &str = "//! Mine.\n\n/// Always one.\nfn median(v) { 1 }\n";

fn over(folder: &Path) -> Harness {
    Harness::with(folder, BUILT_IN)
}

fn outline(harness: &Harness, name: &str) -> std::sync::Arc<ModuleOutline> {
    harness.modules.library().outline(name, &*harness.texts).unwrap()
}

/// The row of a module, with the folder called `scripts`.
fn row(harness: &Harness, folder: &Path, name: &str) -> String {
    let rows = modules_value(&harness.modules.library().modules(""));
    let text = |row: &Dynamic| row.to_string().replace(&folder.display().to_string(), "scripts");
    rows.iter().map(text).find(|row| row.contains(&format!("\"name\": \"{name}\""))).unwrap_or_default()
}

#[test]
fn every_script_of_the_project_is_built_in() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let mut files = BTreeSet::new();
    for folder in ["", "patterns/"] {
        for file in fs::read_dir(root.join(folder)).unwrap() {
            let name = file.unwrap().file_name().into_string().unwrap();
            files.extend(name.strip_suffix(".rhai").map(|name| format!("{folder}{name}")));
        }
    }
    assert_eq!(BUILT_IN.iter().map(|(name, _)| (*name).to_owned()).collect::<BTreeSet<_>>(), files);
}

#[test]
fn they_are_there_without_a_folder() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("scripts");
    let harness = over(&missing);
    let library = harness.modules.library();
    assert_eq!(harness.eval(MEDIAN).value(), 2);
    assert_eq!(library.names(), BUILT_IN.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    assert!(row(&harness, &missing, "stats").contains("\"from\": \"built-in\", \"functions\""));
    assert!(outline(&harness, "stats").functions.iter().any(|f| f.name == "median"));
    assert!(library.source("text").unwrap().contains("fn words"));
    assert!(matches!(library.documented("stats::mean", &*harness.texts), Ok(Documented::Functions { .. })));
    assert_eq!(library.find("scripts/stats").unwrap().as_str(), "stats");
    let failure = harness.eval("import \"stats\" as stats; stats::median(\"no list\")").failure();
    assert!(failure.starts_with("stats.rhai:"), "{failure}");
    assert!(library.line("stats.rhai", 1).unwrap().starts_with("//! "));
    let failure = harness.eval("import \"statz\" as s;").failure();
    assert!(failure.contains("stats"), "near names: {failure}");
}

#[test]
fn a_file_takes_the_place_of_one_and_gives_it_back() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("scripts");
    let harness = over(&folder);
    let space = harness.space("keeps");
    assert_eq!(harness.eval_in(&space, MEDIAN).value(), 2);
    // The folder comes, with a file.
    fs::create_dir(&folder).unwrap();
    harness.write("stats.rhai", MINE);
    assert_eq!(harness.eval_in(&space, "stats::median([1, 9, 2])").value(), 1, "a kept import follows");
    assert_eq!(outline(&harness, "stats").doc, "Mine.");
    assert_eq!(harness.modules.library().source("stats").as_deref(), Ok(MINE));
    assert!(row(&harness, &folder, "stats").contains("\"from\": \"scripts/stats.rhai\""));
    assert_eq!(harness.reload("stats").matches("stats").count(), 1);
    // The file goes.
    fs::remove_file(folder.join("stats.rhai")).unwrap();
    assert_eq!(harness.eval_in(&space, "stats::median([1, 9, 2]).to_int()").value(), 2);
    assert!(row(&harness, &folder, "stats").contains("built-in"));
    // A folder of that name is no module.
    fs::create_dir(folder.join("stats.rhai")).unwrap();
    assert_eq!(harness.eval(MEDIAN).value(), 2);
    assert!(row(&harness, &folder, "stats").contains("built-in"));
}

#[test]
fn a_broken_file_leaves_the_built_in_version_in_force_where_it_was_loaded() {
    let dir = tempfile::tempdir().unwrap();
    let used = over(dir.path());
    assert_eq!(used.eval(MEDIAN).value(), 2);
    used.write("stats.rhai", "fn median( {");
    let answer = used.eval(MEDIAN);
    assert_eq!(answer.value(), 2);
    assert!(answer.output.iter().any(|line| line.contains("stats.rhai:1:")), "{:?}", answer.output);
    assert!(row(&used, dir.path(), "stats").contains("\"status\": \"broken\""));
    // Where it never was, the broken file is an error: it says that somebody wants another module.
    let fresh = over(dir.path());
    let failure = fresh.eval(MEDIAN).failure();
    assert!(failure.starts_with("stats.rhai:1 "), "{failure}");
    fs::write(dir.path().join("stats.rhai"), b"\xff").unwrap();
    assert!(fresh.eval(MEDIAN).failure().contains("stats"));
    fs::remove_file(dir.path().join("stats.rhai")).unwrap();
    assert_eq!(fresh.eval(MEDIAN).value(), 2);
}

#[test]
fn one_can_work_inside_a_built_in_module() {
    let dir = tempfile::tempdir().unwrap();
    let harness = over(dir.path());
    let inside = harness.inside("stats");
    assert!(harness.eval_inside(&inside, "fn twice(n) { n * 2 }").ended.result.is_ok());
    let twice = "import \"stats\" as stats; stats::twice(21)";
    assert_eq!(harness.eval(twice).value(), 42);
    assert!(row(&harness, dir.path(), "stats").contains("\"defined\": [\"twice(_)\"]"));
    // A file of that name is another module.
    harness.write("stats.rhai", MINE);
    let answer = harness.eval(MEDIAN);
    assert_eq!(answer.value(), 1);
    assert!(answer.output.iter().any(|line| line.contains("twice(_)")), "{:?}", answer.output);
    assert!(harness.eval(twice).failure().contains("twice"));
}
