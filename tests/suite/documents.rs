//! What is written is true: every example of the manual, of the docs of functions and of `doc/` is evaluated; the texts that
//! teach keep their sizes and name everything.

use crate::harness::{Harness, Said, Speaker, within};
use remontoire::internals::teach::{self, Example, Step, Tool, Variant, examples};
use remontoire::internals::{ClientInfo, Style};
use remontoire::{Clock, Host, Limits, Permissions};
use rhai::Engine;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// A host over the modules that come with the program.
fn harness() -> Harness {
    // What examples read is this project itself.
    let permissions = Permissions::none().read(root());
    let build = |builder: remontoire::HostBuilder| {
        builder.scripts(root().join("scripts")).describe("orders service, staging").permissions(permissions)
    };
    Harness::build(Clock::real(), build)
}

/// The manual as a client that follows tasks reads it, or one that does not.
async fn manual(harness: &Harness, tasks: bool) -> String {
    let (_, caller) = harness.api.create_session(None, ClientInfo { tasks, ..ClientInfo::default() }, None).unwrap();
    let reader = Speaker { host: harness.api.clone(), caller, name: String::new() };
    let said = reader.eval("manual()").await;
    assert!(!said.is_error, "{}", said.text);
    value(&said)
}

/// The value an answer shows.
fn value(said: &Said) -> String {
    said.text.split("\n;; ").next().unwrap_or_default().to_owned()
}

/// The text that a call such as `doc("sleep")` gives.
async fn text(harness: &Harness, code: &str) -> String {
    let got = within(code, harness.host.eval(code)).await.unwrap_or_else(|e| panic!("{code}: {e}"));
    got.value.into_string().unwrap_or_else(|kind| panic!("{code} gives {kind}"))
}

/// The docs of these names, one text for each.
async fn docs(harness: &Harness, names: &BTreeSet<String>) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for name in names {
        let code = format!("doc({name:?})");
        found.push((code.clone(), text(harness, &code).await));
    }
    found
}

/// The names of the functions of the host, as the reference has them.
async fn names_in_reference(harness: &Harness) -> BTreeSet<String> {
    let reference = text(harness, "manual(\"reference\")").await;
    let calls = reference.lines().filter_map(|line| line.strip_prefix("- "));
    calls
        .filter_map(|line| {
            let call = line.strip_prefix('`')?.split(['(', '`']).next()?;
            Some(call.rsplit('.').next().unwrap_or(call).to_owned())
        })
        .collect()
}

/// The names of the pages that the manual lists.
fn pages(manual: &str) -> Vec<String> {
    let (_, list) = manual.split_once("\n## Pages\n").unwrap();
    list.lines().filter_map(|line| Some(line.strip_prefix("- `")?.split('`').next()?.to_owned())).collect()
}

/// Evaluates the steps of an example in a session of its own. What is wrong, if anything.
async fn evaluate(harness: &Harness, place: &str, example: &Example) -> Vec<String> {
    let mut wrong = Vec::new();
    if example.compile_only {
        let engine = Engine::new();
        for Step { code, .. } in &example.steps {
            if let Err(error) = engine.compile(code) {
                wrong.push(format!("{place}: {error}\n{code}"));
            }
        }
        return wrong;
    }
    let session = harness.session();
    for Step { code, value: promised, failure } in &example.steps {
        let said = session.eval(code).await;
        let kept = match (promised, failure) {
            (Some(promised), _) => !said.is_error && value(&said) == *promised,
            (None, Some(failure)) => said.is_error && said.first().contains(failure),
            (None, None) => !said.is_error,
        };
        if !kept {
            let promise = promised.as_ref().or(failure.as_ref()).map_or("no failure", String::as_str);
            wrong.push(format!("{place}: promised {promise}\n{code}\n--- but\n{}", said.text));
        }
    }
    // What an example leaves running ends with it.
    session.eval("release(true)").await;
    wrong
}

async fn hold(harness: &Harness, texts: Vec<(String, String)>, at_least: usize) {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (place, text) in texts {
        for example in examples(&text) {
            count += 1;
            wrong.extend(evaluate(harness, &format!("{place}, line {}", example.line), &example).await);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(count >= at_least, "only {count} examples were found");
}

#[tokio::test]
async fn every_example_of_the_manual_holds() {
    let harness = harness();
    let texts = vec![
        ("manual() of a client that awaits".to_owned(), manual(&harness, false).await),
        ("manual() of a client that follows tasks".to_owned(), manual(&harness, true).await),
    ];
    hold(&harness, texts, 2).await;
}

#[tokio::test]
async fn every_page_of_the_manual_is_there_and_its_examples_hold() {
    let harness = harness();
    let names = pages(&manual(&harness, false).await);
    assert!(names.len() >= 15, "{names:?}");
    let mut texts = Vec::new();
    for name in names {
        let code = format!("manual({name:?})");
        let page = text(&harness, &code).await;
        assert!(page.len() > 500 && page.len() < 12_000, "{code} has {} bytes", page.len());
        let named = text(&harness, &format!("doc({name:?})")).await;
        assert!(named.contains(&format!("manual(\"{name}\")")), "{name}: {named}");
        texts.push((code, page));
    }
    hold(&harness, texts, 20).await;
    let session = harness.session();
    session.eval("manual(\"Channel\")").await.has("## Channels");
    session.eval("manual(\"quantum\")").await.fails("no page `quantum`").has("its pages are: rhai, entries");
    session.eval("manual(\"x\".pad(300, 'x'))").await.fails("at most 200 characters");
}

#[tokio::test]
async fn every_example_in_the_docs_of_functions_holds() {
    let harness = harness();
    let names = names_in_reference(&harness).await;
    assert!(names.len() >= 30, "{names:?}");
    let texts = docs(&harness, &names).await;
    hold(&harness, texts, 20).await;
}

#[tokio::test]
async fn every_example_in_the_docs_of_modules_that_come_along_holds() {
    let harness = harness();
    let code = "let names = []; for m in modules() { if m.from == \"program\" && m.name != \"gate\" { for row in outline(m.name) { \
                names.push(`${m.name}::${row.name}`); } } } names";
    let names = within(code, harness.host.eval(code)).await.unwrap().value;
    let names: BTreeSet<String> = names.into_typed_array::<String>().unwrap().into_iter().collect();
    assert!(names.len() >= 60, "{names:?}");
    let docs = docs(&harness, &names).await;
    for (place, doc) in &docs {
        assert!(!examples(doc).is_empty(), "{place} has no example:\n{doc}");
    }
    hold(&harness, docs, 70).await;
    harness.nil().eval("modules().filter(|m| m.from == \"program\" && m.name != \"gate\").all(|m| outline(m.name).all(|row| row.doc != \"\") && m.doc != \"\")").await.is("true");
}

#[tokio::test]
async fn every_example_of_keywords_operators_and_types_holds() {
    let harness = harness();
    let words = teach::words();
    assert!(words.len() >= 40);
    let texts = words.iter().map(|word| (format!("doc({:?})", word.names[0]), word.text.to_owned())).collect();
    hold(&harness, texts, 40).await;
    for name in words.iter().flat_map(|word| &word.names) {
        let said = text(&harness, &format!("doc({name:?})")).await;
        assert!(said.contains(&format!("`{name}`")), "{name}: {said}");
    }
}

#[tokio::test]
async fn every_example_of_the_documents_holds() {
    let mut texts = Vec::new();
    for entry in fs::read_dir(root().join("doc")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ext| ext == "md") {
            texts.push((path.display().to_string(), fs::read_to_string(&path).unwrap()));
        }
    }
    texts.sort();
    hold(&harness(), texts, 0).await;
}

/// Bare names of functions: of `known`, which lists signatures.
fn bare(known: &[String]) -> BTreeSet<String> {
    known.iter().map(|signature| signature.split('(').next().unwrap_or_default().trim().to_owned()).collect()
}

#[tokio::test]
async fn the_manual_names_every_function_and_stays_short() {
    let harness = harness();
    let known = bare(&harness.api.open_prompt(Style::Agent).signatures());
    // Functions of plain Rhai are described by Rhai.
    let mut engine = Engine::new_raw();
    rhai::packages::Package::register_into_engine(&rhai::packages::StandardPackage::new(), &mut engine);
    let metadata = engine.gen_fn_metadata_to_json(true).unwrap();
    let ours: Vec<_> = known
        .iter()
        .filter(|name| {
            !metadata.contains(&format!("\"baseName\": \"{name}\""))
                && !metadata.contains(&format!("\"name\": \"{name}\""))
        })
        .collect();
    assert!(ours.iter().any(|name| *name == "await_all") && !ours.iter().any(|name| *name == "split"), "{ours:?}");
    for tasks in [false, true] {
        let manual = manual(&harness, tasks).await;
        assert!(manual.len() <= 8_192, "{} bytes, with a line about this instance", manual.len());
        let named: BTreeSet<_> = manual.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        for name in &ours {
            let name = name.strip_prefix("get$").unwrap_or(name);
            assert!(named.contains(name), "the manual does not name {name}");
        }
    }
}

#[tokio::test]
async fn every_name_of_the_contract_is_documented() {
    let harness = harness();
    let names = names_in_reference(&harness).await;
    for name in [
        "res",
        "value",
        "detach",
        "last",
        "out",
        "failure",
        "evals",
        "bg",
        "await_all",
        "await_any",
        "forget",
        "cancel",
        "sleep",
        "timeout",
        "atom",
        "sessions",
        "introduce",
        "release",
        "manual",
        "doc",
        "ns",
        "in_ns",
        "spaces",
        "drop_space",
        "modules",
        "outline",
        "source",
        "reload",
        "limits",
        "capacity",
        "chan",
    ] {
        assert!(names.contains(name), "{name} in {names:?}");
    }
    for (code, text) in docs(&harness, &names).await {
        assert!(text.lines().count() >= 3, "{code} says how it is called and what it does:\n{text}");
    }
}

#[test]
fn what_clients_read_at_the_start_is_short() {
    let long = "a description of an operator who has much to say ".repeat(100);
    for describe in ["", "orders service, staging", &long] {
        for create_session in [false, true] {
            let text = teach::instructions(describe, create_session);
            assert!(text.chars().count() < 1_000 && text.contains("manual()"), "{text}");
        }
    }
    for tool in Tool::ALL {
        for variant in [Variant::Await, Variant::Tasks] {
            for own_session in [false, true] {
                let text = teach::tool_description(tool, variant, own_session, &Limits::default());
                assert!(text.chars().count() < 2_000, "{tool:?}");
            }
        }
    }
}

/// The walk in the head of a pattern: its steps, each begun by a comment after an empty line.
fn walk(text: &str) -> Vec<String> {
    let head: String = text
        .lines()
        .map_while(|line| line.strip_prefix("//!"))
        .fold(String::new(), |head, line| head + line.strip_prefix(' ').unwrap_or(line) + "\n");
    let (_, rest) = head.split_once("```rhai\n").expect("a pattern shows a walk");
    let (block, _) = rest.split_once("```").unwrap();
    block.split("\n\n").map(|step| step.trim().to_owned()).collect()
}

/// Takes the walk through one pattern and compares what each step answers: `Ok` its value, `Err` words of its failure.
async fn take(host: &Host, session: &Speaker, name: &str, promised: &[Result<&str, &str>]) {
    let text = fs::read_to_string(root().join("scripts/patterns").join(format!("{name}.rhai"))).unwrap();
    let steps = walk(&text);
    assert_eq!(steps.len(), promised.len(), "steps of {name}");
    for (code, promise) in steps.iter().zip(promised) {
        let said = session.eval(code).await;
        match promise {
            Ok("…") => assert!(!said.is_error, "{name}: {code}\n{}", said.text),
            Ok(expected) => assert_eq!(value(&said), *expected, "{name}: {code}\n{}", said.text),
            Err(words) => assert!(said.is_error && said.text.contains(words), "{name}: {code}\n{}", said.text),
        }
    }
    assert!(!host.is_closing());
}

#[tokio::test]
async fn the_walks_through_the_patterns_lead_where_they_say() {
    let harness = harness();
    let there: BTreeSet<_> =
        fs::read_dir(Path::new("scripts/patterns")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(there.len(), 6, "a pattern without a test: {there:?}");
    let sessions: Vec<_> = (0..6).map(|_| harness.session()).collect();
    let host = &harness.host;
    tokio::join!(
        take(
            host,
            &sessions[0],
            "fan_out_and_gather",
            &[
                Ok("[1, 4, 9]"),
                Ok("[0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121, 144, 169, 196, 225, 256, 289, 324, 361]"),
                Ok("…"),
                Ok("…"),
            ]
        ),
        take(host, &sessions[1], "first_of_several", &[Ok("\"quick\""), Ok("\"spare\""), Err("timed out after 5 s")]),
        take(host, &sessions[2], "hand_over", &[Ok("…"), Ok("…"), Ok("0"), Ok("[1, 2, 3, 4, 5, 6, 7, 8, 9]")]),
        take(host, &sessions[3], "poll_and_read", &[Ok("…"), Ok("…"), Ok("…"), Ok("\"done\""), Ok("\"done\"")]),
        take(host, &sessions[4], "retry_with_backoff", &[Ok("\"it worked\""), Err("no such user"), Ok("…")]),
        take(host, &sessions[5], "watch_and_cancel", &[Ok("…"), Ok("…"), Ok("…"), Ok("…"), Ok("…")]),
    );
}

#[tokio::test]
async fn doc_gives_whole_entries_as_its_value() {
    let harness = harness();
    let session = harness.session();
    session.eval("let t = doc(\"sleep\"); t.len() > 20").await.is("true");
    // Lists first, since they are meant most; each overload with what is said of it.
    let get = text(&harness, "doc(\"get\")").await;
    assert!(get.starts_with("get(list: array, index: int) -> any\n\n"), "{get}");
    assert!(get.contains("get(string: string, index: int)"), "{get}");
    let atoms = text(&harness, "doc(\"Atom.get\")").await;
    assert!(atoms.starts_with("get(atom: Atom) -> any\n\nA copy") && !atoms.contains("array"), "{atoms}");
    assert!(text(&harness, "doc(\"list.push\")").await.starts_with("push(array: array, item: any)\n"));
    assert!(text(&harness, "doc(\"array\")").await.contains("Its functions: "));
    assert!(text(&harness, "doc(\"stats::sum\")").await.starts_with("stats::sum(values)\n\nThe sum;"));
    assert!(
        text(&harness, "doc(\"limits\")")
            .await
            .contains("- `eval_bytes` · 128 MiB · Memory of one eval · --eval-memory")
    );
}

#[tokio::test]
async fn every_limit_is_in_its_list() {
    let harness = harness();
    let lines = text(&harness, "doc(\"limits\")").await;
    let names = text(&harness, "limits().keys().reduce(|all, key| all + key + \" \", \"\")").await;
    let derived = ["held_bytes", "unnamed_bytes", "capacity_now", "running_per_session", "memory", "started"];
    for name in names.split_whitespace().filter(|name| !derived.contains(name)) {
        assert!(lines.contains(&format!("- `{name}` · ")), "{name} in {lines}");
    }
}

#[tokio::test]
async fn doc_knows_variables() {
    let harness = harness();
    let session = harness.session();
    session.eval("let total = [1, 2.5]; const RATE = 3;").await;
    session
        .eval("doc(\"total\")")
        .await
        .has("let total · array · ")
        .has(&format!("· in s-{} · set by entry ", session.name))
        .has("[1, 2.5]");
    session.eval("doc(\"RATE\")").await.has("const RATE · int · ");
    harness.session().eval("doc(\"total\")").await.lacks("let total");
}

#[tokio::test]
async fn words_that_are_no_name_are_searched_for() {
    let harness = harness();
    let session = harness.session();
    session.eval("/// Waters all the plants.\nfn sprinkle(garden) { garden }").await;
    session.eval("doc(\"water the plants\")").await.has("speaks of it:\n- `sprinkle(garden)`: Waters all the plants.");
    let first = |said: &str| said.lines().nth(1).unwrap_or_default().to_owned();
    for (words, found) in [
        ("wait for all children", "await_all(list)"),
        ("sort list by key", "order_by("),
        ("standard deviation", "stats::"),
        ("share a value between evals", "manual(\"sharing\")"),
        ("background parallel work", "manual(\"children\")"),
        ("upper case", "to_upper("),
    ] {
        let said = text(&harness, &format!("doc({words:?})")).await;
        assert!(said.contains(&format!("- `{found}")), "{words}: {said}");
        assert!(said.lines().count() <= 11, "{said}");
        assert!(!first(&said).is_empty());
    }
    session.eval("doc(\"lenn\")").await.has("did you mean: len");
    session.eval("doc(\"no_such_thing\")").await.fails("nothing is known about `no_such_thing`");
    session.eval("doc(\"x\".pad(201, 'x'))").await.fails("a name has at most 200 characters, not 201");
}

#[tokio::test]
async fn no_doc_names_a_type_of_the_program() {
    let harness = harness();
    let known = bare(&harness.api.open_prompt(Style::Agent).signatures());
    let names: BTreeSet<_> = known.into_iter().filter(|name| !name.contains('$') && name.len() > 1).collect();
    assert!(names.len() > 150);
    let mut wrong = Vec::new();
    let foreign = [
        "i64",
        "f64",
        "i32",
        "u8",
        "usize",
        "ImmutableString",
        "Dynamic",
        "FnPtr",
        "INT",
        "FLOAT",
        "Instant",
        "Result",
    ];
    // What `type_of` gives are these names.
    for (code, text) in docs(&harness, &names).await.into_iter().filter(|(code, _)| code != "doc(\"type_of\")") {
        let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        if let Some(word) = words.find(|word| foreign.contains(word)) {
            wrong.push(format!("{code}: {word}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}
