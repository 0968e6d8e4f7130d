//! The store with a plain engine in place of evals: each `eval` here is an entry of its own.

use super::*;
use crate::base::Limits;
use rhai::{Dynamic, Engine, Module, ModuleResolver, Position, Scope, Shared};
use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

struct Harness {
    dir: tempfile::TempDir,
    store: ModuleStore<Shared<Module>, Text>,
    entries: AtomicU64,
    loads: Mutex<Vec<String>>,
    /// The file and the text that `edit()` writes.
    edit: Mutex<Option<(String, String)>>,
}

/// Functions defined inside a module, as text.
#[derive(Clone, Debug)]
struct Text(&'static str);

impl Layer for Text {
    fn signatures(&self) -> Vec<String> {
        let outline = super::super::ModuleOutline::of_text("layer", self.0, &Limits::default()).unwrap();
        outline.functions.into_iter().map(|f| f.signature).collect()
    }
}

struct Eval {
    harness: Arc<Harness>,
    entry: EntryId,
    output: Mutex<Vec<String>>,
    stopped: AtomicBool,
}

struct Resolver(Arc<Eval>);

impl ModuleResolver for Resolver {
    fn resolve(&self, _: &Engine, _: Option<&str>, path: &str, at: Position) -> Fallible<Shared<Module>> {
        if path == "@clock" {
            self.0.harness.store.fleeting(self.0.entry);
            let mut module = Module::new();
            module.set_var("ENTRY", i64::try_from(self.0.entry.0).unwrap());
            return Ok(module.into());
        }
        let name = ModuleName::parse(path).map_err(|e| self.0.as_ref().refuse(&e))?;
        let version = self.0.harness.store.get(&OfEval(self.0.clone()), &name);
        version.map(|version| version.loaded.clone()).map_err(|mut error| {
            if error.position().is_none() {
                error.set_position(at);
            }
            error
        })
    }
}

struct OfEval(Arc<Eval>);

fn engine(eval: &Arc<Eval>) -> Engine {
    let mut engine = Engine::new();
    engine.set_max_expr_depths(64, 64);
    engine.set_max_call_levels(64);
    engine.set_module_resolver(Resolver(eval.clone()));
    let printer = eval.clone();
    engine.on_print(move |line| printer.output.lock().unwrap().push(line.to_owned()));
    let editor = eval.harness.clone();
    engine.register_fn("edit", move || {
        if let Some((file, text)) = &*editor.edit.lock().unwrap() {
            editor.write(file, text);
        }
    });
    let stopper = eval.clone();
    engine.register_fn("stop", move || stopper.stopped.store(true, Ordering::Relaxed));
    let stopped = eval.clone();
    engine.on_progress(move |_| stopped.stopped.load(Ordering::Relaxed).then_some(Dynamic::UNIT));
    engine
}

impl Eval {
    fn refuse(&self, error: &ModuleError) -> Box<EvalAltResult> {
        error.to_string().into()
    }
}

impl Loader<Shared<Module>, Text> for OfEval {
    fn entry(&self) -> EntryId {
        self.0.entry
    }

    fn load(&self, name: &ModuleName, text: &str, layers: &[Text]) -> Fallible<Shared<Module>> {
        self.0.harness.loads.lock().unwrap().push(name.to_string());
        let engine = engine(&self.0);
        let mut ast = engine.compile(text).map_err(|e| Box::new(EvalAltResult::from(e)))?;
        for layer in layers {
            ast.combine(engine.compile(layer.0).unwrap());
        }
        Ok(Module::eval_ast_as_new(Scope::new(), &ast, &engine)?.into())
    }

    fn stopped(&self) -> bool {
        self.0.stopped.load(Ordering::Relaxed)
    }

    fn limit(&self) -> Option<String> {
        None
    }

    fn refuse(&self, error: &ModuleError) -> Box<EvalAltResult> {
        self.0.as_ref().refuse(error)
    }

    fn explain(&self, name: &ModuleName, error: &EvalAltResult) -> Fault {
        let mut error = error;
        while let EvalAltResult::ErrorInModule(_, inner, _) | EvalAltResult::ErrorInFunctionCall(_, _, inner, _) = error
        {
            error = inner;
        }
        let at = error.position();
        let message = error.to_string();
        let message = message.split(" (line").next().unwrap().to_owned();
        Fault {
            file: name.file(),
            line: at.line().unwrap_or(0),
            column: at.position().unwrap_or(0),
            message,
            circle: None,
        }
    }

    fn tell(&self, notice: &ModuleNotice) {
        self.0.output.lock().unwrap().push(format!("! {notice}"));
    }
}

impl Harness {
    fn new(files: &[(&str, &str)]) -> Arc<Self> {
        let dir = tempfile::tempdir().unwrap();
        let harness = Self {
            store: ModuleStore::new(Folder::new(dir.path()), 20, 5),
            dir,
            entries: AtomicU64::new(0),
            loads: Mutex::default(),
            edit: Mutex::default(),
        };
        for (file, text) in files {
            harness.write(file, text);
        }
        Arc::new(harness)
    }

    fn write(&self, file: &str, text: &str) {
        fs::write(self.dir.path().join(file), text).unwrap();
    }

    fn edit_when_asked(&self, file: &str, text: &str) {
        *self.edit.lock().unwrap() = Some((file.into(), text.into()));
    }

    fn start(self: &Arc<Self>) -> Arc<Eval> {
        let entry = EntryId(self.entries.fetch_add(1, Ordering::Relaxed) + 1);
        let (output, stopped) = Default::default();
        Arc::new(Eval { harness: self.clone(), entry, output, stopped })
    }

    /// The value of the code, or the last line of its error, and what was printed.
    fn eval(self: &Arc<Self>, code: &str) -> (Result<i64, String>, Vec<String>) {
        let eval = self.start();
        let result = engine(&eval).eval::<i64>(code).map_err(|e| e.to_string());
        let output = std::mem::take(&mut *eval.output.lock().unwrap());
        (result, output)
    }

    fn value(self: &Arc<Self>, code: &str) -> i64 {
        let (result, output) = self.eval(code);
        assert_eq!(output, Vec::<String>::new(), "output of {code}");
        result.unwrap_or_else(|e| panic!("{code}: {e}"))
    }

    fn reload(self: &Arc<Self>, name: &str) -> Result<String, String> {
        let loader = OfEval(self.start());
        self.store.reload(&loader, &ModuleName::parse(name).unwrap()).map(|n| n.to_string()).map_err(|e| e.to_string())
    }

    fn define(&self, name: &str, text: &'static str) -> Result<String, ModuleError> {
        self.store.define(&ModuleName::parse(name).unwrap(), Text(text)).map(|n| n.to_string())
    }

    fn loads(&self) -> Vec<String> {
        std::mem::take(&mut *self.loads.lock().unwrap())
    }
}

const CALL: &str = "import \"m\" as m; m::v()";

#[test]
fn an_edit_is_live_at_the_next_import_even_with_the_same_length_and_time() {
    let harness = Harness::new(&[("m.rhai", "fn v() { 1 }")]);
    let stamp = fs::metadata(harness.dir.path().join("m.rhai")).unwrap().modified().unwrap();
    for n in 1..5 {
        harness.write("m.rhai", &format!("fn v() {{ {n} }}"));
        let file = fs::File::options().write(true).open(harness.dir.path().join("m.rhai")).unwrap();
        file.set_modified(stamp).unwrap();
        assert_eq!(harness.value(CALL), n);
    }
}

#[test]
fn what_did_not_change_is_loaded_once() {
    let harness = Harness::new(&[("m.rhai", "import \"low\" as l; fn v() { l::v() }"), ("low.rhai", "fn v() { 1 }")]);
    for _ in 0..3 {
        assert_eq!(harness.value(CALL), 1);
    }
    assert_eq!(harness.loads(), ["m", "low"]);
}

#[test]
fn an_edit_below_reaches_all_who_import_it() {
    let harness = Harness::new(&[
        ("m.rhai", "import \"left\" as l; import \"right\" as r; fn v() { l::v() + r::v() }"),
        ("left.rhai", "import \"low\" as l; fn v() { l::v() * 100 }"),
        ("right.rhai", "import \"low\" as l; fn v() { l::v() }"),
        ("low.rhai", "fn v() { 1 }"),
    ]);
    assert_eq!(harness.value(CALL), 101);
    assert_eq!(harness.loads(), ["m", "left", "low", "right"]);
    harness.write("low.rhai", "fn v() { 2 }");
    assert_eq!(harness.value("import \"left\" as l; l::v()"), 200);
    assert_eq!(harness.loads(), ["low", "left"]);
    assert_eq!(harness.value(CALL), 202);
    assert_eq!(harness.loads(), ["m", "right"], "low and left are new already");
}

#[test]
fn what_is_imported_along_two_ways_is_one_version() {
    let harness = Harness::new(&[
        ("m.rhai", "import \"left\" as l; edit(); import \"right\" as r; fn v() { l::v() + r::v() }"),
        ("left.rhai", "import \"low\" as l; fn v() { l::v() * 100 }"),
        ("right.rhai", "import \"low\" as l; fn v() { l::v() }"),
        ("low.rhai", "fn v() { 1 }"),
    ]);
    harness.edit_when_asked("low.rhai", "fn v() { 2 }");
    assert_eq!(harness.value(CALL), 101);
    assert_eq!(harness.value(CALL), 202);
}

#[test]
fn a_circle_that_was_caught_is_looked_at_again() {
    let harness = Harness::new(&[
        ("round.rhai", "import \"m\" as m; fn v() { 1 }"),
        (
            "m.rhai",
            "let there = 0; try { import \"round\" as r; there = 1; } catch {} export there as THERE; fn v() { 1 }",
        ),
    ]);
    assert_eq!(harness.value("import \"round\" as r; import \"m\" as m; m::THERE"), 0);
    harness.write("round.rhai", "fn v() { 1 }");
    assert_eq!(harness.value("import \"m\" as m; m::THERE"), 1);
}

#[test]
fn a_chain_of_diamonds_is_checked_in_linear_time() {
    let harness = Harness::new(&[("d0.rhai", "fn v() { 1 }")]);
    for i in 1..19 {
        let below = i - 1;
        harness.write(&format!("a{i}.rhai"), &format!("import \"d{below}\" as d; fn v() {{ d::v() }}"));
        harness.write(&format!("b{i}.rhai"), &format!("import \"d{below}\" as d; fn v() {{ d::v() }}"));
        harness
            .write(&format!("d{i}.rhai"), &format!("import \"a{i}\" as a; import \"b{i}\" as b; fn v() {{ a::v() }}"));
    }
    // 2^9 ways lead down; the bound on depth lets 9 diamonds through.
    assert_eq!(harness.value("import \"d9\" as d; d::v()"), 1);
    assert_eq!(harness.loads().len(), 28);
    assert_eq!(harness.value("import \"d9\" as d; d::v()"), 1);
    assert_eq!(harness.loads().len(), 0);
    let (too_deep, _) = harness.eval("import \"d18\" as d; d::v()");
    assert!(too_deep.unwrap_err().contains("more than 20 deep"));
}

#[test]
fn a_running_eval_keeps_the_version_it_imported() {
    let harness = Harness::new(&[("m.rhai", "fn v() { 1 }")]);
    harness.edit_when_asked("m.rhai", "fn v() { 2 }");
    let code = "import \"m\" as m; edit(); let kept = m::v(); import \"m\" as again; kept * 10 + again::v()";
    assert_eq!(harness.value(code), 12);
}

#[test]
fn circles_are_named_and_leave_no_trace() {
    let harness = Harness::new(&[
        ("round.rhai", "import \"trip\" as t; fn v() { 1 }"),
        ("trip.rhai", "import \"round\" as r; fn v() { 1 }"),
        ("own.rhai", "import \"own\" as o; fn v() { 1 }"),
    ]);
    for (code, circle) in [
        ("import \"round\" as r; 1", "circular import: round → trip → round"),
        ("import \"trip\" as r; 1", "circular import: trip → round → trip"),
        ("import \"own\" as r; 1", "circular import: own → own"),
    ] {
        let (result, _) = harness.eval(code);
        assert!(result.as_ref().is_err_and(|e| e.contains(circle)), "{code}: {result:?}");
    }
    assert!(harness.store.traces.is_empty());
    harness.write("trip.rhai", "fn v() { 1 }");
    assert_eq!(harness.value("import \"round\" as r; r::v()"), 1);
}

#[test]
fn an_edit_that_closes_a_circle_is_a_broken_edit_of_the_edited_module() {
    let harness =
        Harness::new(&[("m.rhai", "fn v() { 1 }"), ("trip.rhai", "import \"m\" as m; fn v() { m::v() + 10 }")]);
    assert_eq!(harness.value("import \"trip\" as t; t::v()"), 11);
    harness.write("m.rhai", "import \"trip\" as t; fn v() { 2 }");
    let (value, output) = harness.eval(CALL);
    assert_eq!(value, Ok(1));
    assert_eq!(
        output,
        ["! m.rhai:1:8: Runtime error: circular import: m → trip → m · m stays at its last good version"]
    );
    let (value, output) = harness.eval("import \"trip\" as t; t::v()");
    assert_eq!(value, Ok(11));
    assert_eq!(output.len(), 1, "{output:?}");
}

#[test]
fn a_broken_edit_keeps_the_last_good_version_and_says_so_once_to_each_eval() {
    let harness = Harness::new(&[("m.rhai", "fn v() { 1 }")]);
    assert_eq!(harness.value(CALL), 1);
    for (text, place) in
        [("fn v() { 2 }\nfn broken( {\n", "m.rhai:2:12"), ("fn v() { 2 }\nthrow \"no\";", "m.rhai:2:1")]
    {
        harness.write("m.rhai", text);
        for _ in 0..2 {
            let (value, output) = harness.eval("let sum = 0; for i in 0..3 { import \"m\" as m; sum += m::v(); } sum");
            assert_eq!(value, Ok(3));
            assert_eq!(output.len(), 1, "{output:?}");
            assert!(output[0].contains(place), "{output:?}");
        }
        assert!(harness.store.fault(&ModuleName::parse("m").unwrap(), text).is_some());
    }
    harness.write("m.rhai", "fn v() { 3 }");
    assert_eq!(harness.value(CALL), 3);
    assert_eq!(harness.store.fault(&ModuleName::parse("m").unwrap(), "fn v() { 3 }"), None);
}

#[test]
fn a_broken_edit_below_is_told_with_its_own_file() {
    let harness = Harness::new(&[("m.rhai", "import \"low\" as l; fn v() { l::v() }"), ("low.rhai", "fn v() { 1 }")]);
    assert_eq!(harness.value(CALL), 1);
    harness.write("low.rhai", "fn v( {");
    let (value, output) = harness.eval(CALL);
    assert_eq!(value, Ok(1));
    assert!(output.len() == 1 && output[0].starts_with("! low.rhai:1:7"), "{output:?}");
    harness.write("low.rhai", "fn v() { 2 }");
    assert_eq!(harness.value(CALL), 2);
}

#[test]
fn a_module_that_never_loaded_fails_the_import_until_it_is_repaired() {
    let harness = Harness::new(&[("m.rhai", "fn v( {")]);
    assert!(harness.eval(CALL).0.is_err());
    harness.write("m.rhai", "fn v() { 1 }");
    assert_eq!(harness.value(CALL), 1);
}

#[test]
fn a_file_that_is_no_text_any_more_is_a_broken_edit() {
    let harness = Harness::new(&[("m.rhai", "fn v() { 1 }")]);
    assert_eq!(harness.value(CALL), 1);
    fs::write(harness.dir.path().join("m.rhai"), b"\xff").unwrap();
    let (value, output) = harness.eval(CALL);
    assert_eq!((value, output.len()), (Ok(1), 1), "{output:?}");
}

#[test]
fn a_deleted_file_is_gone_and_a_new_one_is_found() {
    let harness = Harness::new(&[("m.rhai", "import \"low\" as l; fn v() { l::v() }"), ("low.rhai", "fn v() { 1 }")]);
    assert_eq!(harness.value(CALL), 1);
    fs::remove_file(harness.dir.path().join("low.rhai")).unwrap();
    let (value, output) = harness.eval(CALL);
    assert_eq!(value, Ok(1), "its importer stays at its last good version");
    assert!(output.len() == 1 && output[0].contains("no module `low`"), "{output:?}");
    fs::remove_file(harness.dir.path().join("m.rhai")).unwrap();
    assert!(harness.eval(CALL).0.unwrap_err().contains("no module `m`"));
    harness.write("low.rhai", "fn v() { 5 }");
    harness.write("m.rhai", "import \"low\" as l; fn v() { l::v() }");
    assert_eq!(harness.value(CALL), 5);
}

#[test]
fn what_could_not_be_imported_is_tried_again_when_it_can() {
    let harness = Harness::new(&[(
        "m.rhai",
        "let there = false; try { import \"low\" as l; there = true; } catch {} export there as THERE; fn v() { 1 }",
    )]);
    let there = "import \"m\" as m; if m::THERE { 1 } else { 0 }";
    assert_eq!(harness.value(there), 0);
    harness.write("low.rhai", "");
    assert_eq!(harness.value(there), 1);
}

#[test]
fn what_a_module_prints_when_it_is_loaded_belongs_to_the_eval_that_loads_it() {
    let harness = Harness::new(&[("m.rhai", "print(\"loading\"); fn v() { 1 }")]);
    assert_eq!(harness.eval(CALL), (Ok(1), vec!["loading".into()]));
    assert_eq!(harness.eval(CALL), (Ok(1), vec![]));
}

#[test]
fn a_stopped_eval_says_nothing_about_the_module() {
    let harness = Harness::new(&[("m.rhai", "fn v() { 1 }")]);
    assert_eq!(harness.value(CALL), 1);
    harness.write("m.rhai", "stop(); loop {} fn v() { 2 }");
    let (value, output) = harness.eval(CALL);
    assert!(value.is_err());
    assert_eq!(output, Vec::<String>::new());
    assert!(harness.store.traces.is_empty());
}

#[test]
fn a_module_that_reads_a_space_is_made_anew_at_every_import() {
    let harness = Harness::new(&[
        ("m.rhai", "import \"low\" as l; fn v() { l::v() }"),
        ("low.rhai", "import \"@clock\" as c; fn v() { c::ENTRY }"),
    ]);
    assert_eq!((harness.value(CALL), harness.value(CALL)), (1, 2));
}

#[test]
fn functions_defined_inside_are_live_for_importers_until_the_file_changes() {
    let harness = Harness::new(&[
        ("live.rhai", "fn number() { 1 }\nfn twice() { number() * 2 }"),
        ("m.rhai", "import \"live\" as l; fn v() { l::twice() }"),
    ]);
    assert_eq!(harness.value(CALL), 2);
    let told = harness.define("live", "fn number() { 21 }").unwrap();
    assert!(told.contains("number()"), "{told}");
    assert_eq!(harness.value(CALL), 42);
    harness.define("live", "fn number() { 4 } fn more() { 1 }").unwrap();
    assert_eq!(harness.value(CALL), 8);
    let name = ModuleName::parse("live").unwrap();
    assert_eq!(harness.store.layers(&name, "fn number() { 1 }\nfn twice() { number() * 2 }").len(), 1);
    harness.write("live.rhai", "fn number() { 3 } fn twice() { number() * 2 }");
    let (value, output) = harness.eval(CALL);
    assert_eq!(value, Ok(6));
    assert_eq!(output, ["! live.rhai changed · what was defined inside live is gone: more(), number()"]);
    assert_eq!(harness.value(CALL), 6);
}

#[test]
fn what_is_defined_inside_is_bounded() {
    let harness = Harness::new(&[("m.rhai", "")]);
    harness.define("m", "fn a() {} fn b() {} fn c() {}").unwrap();
    let error = harness.define("m", "fn d() {} fn e() {} fn f() {}").unwrap_err();
    assert_eq!(error, ModuleError::TooManyFunctions { module: "m".into(), limit: 5 });
    for _ in 0..20 {
        harness.define("m", "fn d() {} fn e() {}").unwrap();
    }
    assert!(matches!(harness.define("nowhere", "fn d() {}"), Err(ModuleError::NotFound { .. })));
}

#[test]
fn reload_restores_the_file_and_names_what_it_reloaded() {
    let harness = Harness::new(&[
        ("live.rhai", "print(\"loading\"); fn number() { 1 }"),
        ("m.rhai", "import \"live\" as l; fn v() { l::number() }"),
        ("top.rhai", "import \"m\" as m; fn v() { m::v() }"),
        ("other.rhai", "fn v() { 1 }"),
    ]);
    harness.eval("import \"top\" as t; import \"other\" as o; t::v()").0.unwrap();
    harness.define("live", "fn number() { 21 }").unwrap();
    assert_eq!(harness.eval(CALL).0, Ok(21));
    harness.loads();
    assert_eq!(
        harness.reload("live").unwrap(),
        "reloaded live · and m, top, which import it · what was defined inside it is gone: number()"
    );
    assert_eq!(harness.loads(), ["live", "m", "top"]);
    assert_eq!(harness.value(CALL), 1);
    assert_eq!(harness.reload("live").unwrap(), "reloaded live · and m, top, which import it");
    assert!(harness.reload("nowhere").unwrap_err().contains("no module `nowhere`"));
}

#[test]
fn a_reload_of_a_broken_file_fails_and_changes_nothing() {
    let harness = Harness::new(&[("m.rhai", "fn v() { 1 }")]);
    harness.define("m", "fn v() { 2 }").unwrap();
    assert_eq!(harness.value(CALL), 2);
    harness.write("m.rhai", "fn v( {");
    assert!(harness.reload("m").is_err());
    let name = ModuleName::parse("m").unwrap();
    assert_eq!(harness.store.text_at_fault(&name, 1).as_deref(), Some("fn v( {"), "the text that the error is about");
    assert_eq!(harness.store.text_at_fault(&name, 2).as_deref(), Some("fn v() { 1 }"));
    let (value, output) = harness.eval(CALL);
    assert_eq!((value, output.len()), (Ok(2), 1));
}

#[test]
fn evals_on_many_threads_always_see_a_version_at_least_as_new_as_the_file_was() {
    let harness = Harness::new(&[("m.rhai", "import \"low\" as l; fn v() { l::v() }"), ("low.rhai", "fn v() { 0 }")]);
    let written = AtomicU64::new(0);
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !over.load(Ordering::SeqCst) {
                    let before = written.load(Ordering::SeqCst);
                    let (value, _) = harness.eval(CALL);
                    assert!(u64::try_from(value.unwrap()).unwrap() >= before);
                }
            });
        }
        for n in 1..=30_u64 {
            // Renamed into place, as editors do: nobody reads half a file.
            harness.write("low.tmp", &format!("fn v() {{ {n} }}"));
            fs::rename(harness.dir.path().join("low.tmp"), harness.dir.path().join("low.rhai")).unwrap();
            written.store(n, Ordering::SeqCst);
            harness.eval(CALL).0.unwrap();
        }
        over.store(true, Ordering::SeqCst);
    });
    assert_eq!(harness.value(CALL), 30);
}
