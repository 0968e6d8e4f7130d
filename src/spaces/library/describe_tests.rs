//! Questions about modules, from files alone.

use super::super::{OutlineOptions, modules_value, outline_value};
use super::*;
use crate::base::Limits;
use crate::engine::FunctionFacts;
use expect_test::expect;
use rhai::Dynamic;
use std::fs;

struct NoSources;

impl Sources for NoSources {
    fn text(&self, _: &str) -> Option<Arc<str>> {
        None
    }
}

const GREET: &str = "//! Greetings for all. Second sentence.\n\nexport const LIMIT = 3;\n\n/// Says hello to somebody.\n\
                     fn hello(name) { \"hello \" + name }\n\n/// One, always.\nfn number() { 1 }\n\n/// One more.\nfn number(x) { x }\n\n\
                     private fn secret() { 13 }\n";

fn library(files: &[(&str, &str)]) -> (tempfile::TempDir, Arc<Library>) {
    let dir = tempfile::tempdir().unwrap();
    for (file, text) in files {
        let path = dir.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let facts = FunctionFacts {
        name: "count".into(),
        module: Some("orders".into()),
        signature: "count(kind: string) -> int".into(),
        doc: "Counts orders.".into(),
        standard: false,
        hidden: false,
    };
    let native = ModuleOutline::of_native("orders", "Orders of the day.", &[facts]);
    let library = Library::new(dir.path(), &[], &Limits::default(), vec![native]);
    (dir, library)
}

fn greet() -> (tempfile::TempDir, Arc<Library>) {
    library(&[("greet.rhai", GREET), ("sub/deep.rhai", "fn v() { 5 }\n"), ("cracked.rhai", "fn a() { 1 }\nfn b( {\n")])
}

#[test]
fn a_list_has_every_module_with_its_state() {
    let (dir, library) = greet();
    let folder = dir.path().display().to_string();
    let shown = |row: &Dynamic| row.to_string().replace(&folder, "scripts");
    let rows: Vec<_> = modules_value(&library.modules("")).iter().map(shown).collect();
    expect![[r##"
        #{"doc": "", "from": "scripts/cracked.rhai", "functions": 0, "name": "cracked", "problem": "cracked.rhai:2:7: error: Expecting ')' to close the parameters list of function 'b'", "status": "broken"}
        #{"doc": "Greetings for all.", "from": "scripts/greet.rhai", "functions": 3, "name": "greet", "status": "ok"}
        #{"doc": "Orders of the day.", "from": "program", "functions": 1, "name": "orders", "status": "native"}
        #{"doc": "", "from": "scripts/sub/deep.rhai", "functions": 1, "name": "sub/deep", "status": "ok"}"##]].assert_eq(&rows.join("\n"));
}

#[test]
fn every_member_of_a_circle_is_broken() {
    let (_dir, library) = library(&[
        ("a.rhai", "import \"b\" as b;\nimport \"c\" as c;"),
        ("b.rhai", "\nimport \"a\" as a;"),
        ("c.rhai", "import \"b\" as b;"),
        ("own.rhai", "import \"own\" as o;"),
        ("user.rhai", "import \"later\" as a;"),
        ("later.rhai", "fn f() { import \"user\" as a; }"),
    ]);
    let rows = library.modules("");
    let problems: Vec<_> = rows
        .iter()
        .filter_map(|row| match &row.status {
            ModuleStatus::Broken(problem) => Some(problem.to_string()),
            _ => None,
        })
        .collect();
    expect![[r#"
        a.rhai:1:1: error: circular import: a → b → a
        b.rhai:2:1: error: circular import: b → a → b
        c.rhai:1:1: error: circular import: c → b → a → c
        own.rhai:1:1: error: circular import: own → own"#]]
    .assert_eq(&problems.join("\n"));
    assert_eq!(library.modules("c").len(), 1);
}

#[test]
fn a_filter_looks_at_names_and_docs() {
    let (_dir, library) = greet();
    let names = |filter: &str| library.modules(filter).into_iter().map(|row| row.name).collect::<Vec<_>>();
    assert_eq!(names("gree"), ["greet"]);
    assert_eq!(names("SUB/"), ["sub/deep"]);
    assert_eq!(names("second sentence"), ["greet"]);
    assert_eq!(names("of the day"), ["orders"]);
    assert_eq!(names("nothing"), Vec::<String>::new());
}

#[test]
fn lists_and_outlines_follow_the_files() {
    let (dir, library) = greet();
    let functions = |name: &str| library.outline(name, &NoSources).unwrap().functions.len();
    assert_eq!(functions("sub/deep"), 1);
    fs::write(dir.path().join("sub/deep.rhai"), "fn v() { 5 }\nfn w() {}\n").unwrap();
    assert_eq!(functions("sub/deep"), 2);
    fs::write(dir.path().join("new.rhai"), "").unwrap();
    fs::remove_file(dir.path().join("greet.rhai")).unwrap();
    assert_eq!(library.names(), ["cracked", "new", "orders", "sub/deep"]);
}

#[test]
fn an_outline_is_data() {
    let (_dir, library) = greet();
    let outline = library.outline("greet", &NoSources).unwrap();
    let rows: Vec<_> = outline_value(&outline.rows(&OutlineOptions { docs: false, like: Some("o".into()) }))
        .iter()
        .map(Dynamic::to_string)
        .collect();
    expect![[r##"
        #{"doc": "Says hello to somebody.", "line": 6, "matched": ["Says hello to somebody."], "name": "hello", "params": ["name"], "signature": "hello(name)"}
        #{"doc": "One, always.", "line": 9, "matched": ["One, always."], "name": "number", "params": [], "signature": "number()"}
        #{"doc": "One more.", "line": 12, "matched": ["One more."], "name": "number", "params": ["x"], "signature": "number(x)"}"##]].assert_eq(&rows.join("\n"));
    assert_eq!(library.outline("orders", &NoSources).unwrap().functions[0].params, ["kind: string"]);
}

#[test]
fn a_module_that_does_not_compile_says_where() {
    let (_dir, library) = greet();
    let error = library.outline("cracked", &NoSources).unwrap_err();
    assert!(matches!(error, ModuleError::Syntax { line: 2, .. }), "{error}");
    assert_eq!(library.source("cracked").as_deref(), Ok("fn a() { 1 }\nfn b( {\n"));
}

#[test]
fn sources_are_cut_exactly() {
    let (_dir, library) = greet();
    assert_eq!(library.source("greet").as_deref(), Ok(GREET));
    let source = |function: &str| library.function_source("greet", function, &NoSources);
    assert_eq!(
        source("number").as_deref(),
        Ok("/// One, always.\nfn number() { 1 }\n\n/// One more.\nfn number(x) { x }")
    );
    assert_eq!(source("secret").as_deref(), Ok("private fn secret() { 13 }"));
    let near = vec!["number".to_owned()];
    assert_eq!(
        source("nubmer"),
        Err(ModuleError::NoFunction { module: "greet".into(), function: "nubmer".into(), near })
    );
    assert_eq!(library.source("orders"), Err(ModuleError::Native { name: "orders".into() }));
    assert!(library.function_source("orders", "count", &NoSources).is_err());
}

#[test]
fn docs_are_found_for_modules_and_their_functions() {
    let (_dir, library) = greet();
    let Ok(Documented::Module(outline)) = library.documented("greet", &NoSources) else { panic!("no module") };
    assert_eq!(outline.doc, "Greetings for all. Second sentence.");
    let Ok(Documented::Functions { module, functions }) = library.documented("greet::number", &NoSources) else {
        panic!("no functions")
    };
    assert_eq!((module.as_str(), functions.len()), ("greet", 2));
    assert!(matches!(library.documented("orders::count", &NoSources), Ok(Documented::Functions { .. })));
    assert!(matches!(library.documented("greet::nowhere", &NoSources), Err(ModuleError::NoFunction { .. })));
}

#[test]
fn near_names_are_offered() {
    let (_dir, library) = greet();
    let near = |name: &str| match library.source(name) {
        Err(ModuleError::NotFound { near, .. }) => near,
        other => panic!("{other:?}"),
    };
    assert_eq!(near("gret"), ["greet"]);
    assert_eq!(near("deep"), ["sub/deep"]);
    assert_eq!(near("ordres"), ["orders"]);
    assert_eq!(near("entirely-else"), Vec::<String>::new());
}

#[test]
fn a_place_to_evaluate_in_may_name_a_module() {
    let (_dir, library) = greet();
    let find = |ns: &str| library.find(ns).map(|name| name.to_string());
    assert_eq!(find("greet").as_deref(), Some("greet"));
    assert_eq!(find("scripts/sub/deep").as_deref(), Some("sub/deep"));
    for other in ["workshop", "scripts/workshop", "../greet", "orders", "scripts", ""] {
        assert_eq!(find(other), None, "{other}");
    }
}

#[test]
fn lines_of_files_are_found_for_errors() {
    let (_dir, library) = greet();
    assert_eq!(library.line("greet.rhai", 5).as_deref(), Some("/// Says hello to somebody."));
    for (file, line) in [("greet.rhai", 0), ("greet.rhai", 99), ("greet", 1), ("../greet.rhai", 1), ("eval 12", 1)] {
        assert_eq!(library.line(file, line), None, "{file} {line}");
    }
}
