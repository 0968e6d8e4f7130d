//! Every limit through the host: what happens at it, what the failure says, and that everybody else is served as before.

mod alone; // the total of the process

use crate::harness::{Harness, within};
use remontoire::internals::{ClientInfo, KIB, MIB};
use remontoire::{Clock, EvalRequest, Limits, Refusal, Status};
use std::fmt::Write as _;
use std::process::Command;
use std::time::Duration;

fn with(limits: Limits) -> Harness {
    Harness::with(Clock::real(), limits)
}

/// Somebody else is served.
async fn lives(harness: &Harness) {
    harness.session().eval("6 * 7").await.is("42");
}

/// A string of so many bytes.
fn text(bytes: usize) -> String {
    format!("{{ let text = \"\"; text.pad({bytes}, 'x'); text }}")
}

#[tokio::test]
async fn a_script_that_is_too_long_is_refused_and_changes_nothing() {
    let harness = with(Limits { script_bytes: KIB, ..Limits::default() });
    let session = harness.session();
    let job = EvalRequest::new(format!("let a = 1;\n// {}", "x".repeat(KIB)));
    let refused = session.host.submit(session.caller, &job).unwrap_err();
    assert!(refused.to_string().starts_with("the script has 1,038 bytes and the limit is 1 KiB"), "{refused}");
    session.eval("a").await.fails("VariableNotFound");
    session.eval(&format!("{:1024}", "7")).await.is("7");
    lives(&harness).await;
}

#[tokio::test]
async fn calls_and_expressions_are_bounded_in_depth() {
    let harness =
        with(Limits { call_depth: 10, expression_depth: 24, function_expression_depth: 16, ..Limits::default() });
    let session = harness.session();
    session.eval("fn down(n) { if n == 0 { 0 } else { 1 + down(n - 1) } } down(7)").await.is("7");
    for code in ["down(60)", "fn a(n) { b(n) } fn b(n) { a(n) } a(1)", "fn m(n) { [n].map(|x| m(x)) } m(1)"] {
        session.eval(code).await.fails("nested deeper than 10 levels");
    }
    let deep = |levels: usize| format!("{}1{}", "(1 + ".repeat(levels), ")".repeat(levels));
    harness.script("deep.rhai", &format!("fn f() {{ {} }}\n", deep(20)));
    for code in [deep(30), format!("fn f() {{ {} }}", deep(20)), "import \"deep\" as d; 1".into()] {
        session.eval(&code).await.fails("deeper than 24 levels, or 16 in a function");
    }
    lives(&harness).await;
}

#[tokio::test]
async fn the_memory_of_an_eval_is_bounded_for_every_child_alone() {
    let harness = with(Limits { eval_bytes: 16 * MIB, ..Limits::default() });
    let session = harness.session();
    session.eval("let list = []; loop { list.push(`${list.len()} is a text of its own`); }").await.fails("16 MiB");
    session.eval("try { let s = \"x\"; loop { s += s; } } catch { } 1").await.fails("MemoryLimit");
    let code = format!(
        "let jobs = [1, 2, 3].map(|n| bg(|| {{ let big = {}; big += big; big += big; while !gate::opened(\"go\") {{}} big.len() }}));
         jobs.map(|e| e.value())",
        text(2 * MIB)
    );
    let all = session.start(&code).id;
    within("the children hold half of what an eval may, each", harness.gates.reached("go")).await;
    harness.gates.open("go");
    session.wait(&[all]).await.is("[8388608, 8388608, 8388608]");
    session.eval("limits().memory").await.is("\"enforced\"");
    lives(&harness).await;
}

#[tokio::test]
async fn a_space_that_is_full_refuses_what_would_be_too_much() {
    let harness = with(Limits { space_bytes: MIB, ..Limits::default() });
    let session = harness.session();
    session.eval(&format!("let a = {};", text(600_000))).await.has("· ok ·");
    session.eval(&format!("let b = {}; let c = 1;", text(600_000))).await.fails("limit of 1 MiB");
    session.eval("[a.len(), is_def_var(\"b\"), is_def_var(\"c\")]").await.is("[600000, false, false]");
    // A shared space and another scratch have budgets of their own.
    harness.session().eval(&format!("let b = {}; b.len()", text(600_000))).await.is("600000");
    harness.session().eval_in("common", &format!("let b = {}; b.len()", text(600_000))).await.is("600000");
    session.eval(&format!("a = (); let b = {}; b.len()", text(600_000))).await.is("600000");
    lives(&harness).await;
}

/// What counts is what the whole process has allocated, so these are run in a process of their own.
#[test]
fn the_process_as_a_whole_is_bounded() {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["limits::alone::", "--ignored", "--test-threads=1"])
        .output()
        .expect("this binary can be started again");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("10 passed"), "{text}");
}

#[tokio::test]
async fn output_is_a_ring_that_counts_what_it_dropped() {
    let harness = with(Limits { output_bytes: 4 * KIB, ..Limits::default() });
    let session = harness.session();
    let said = session.eval("for n in 0..1000 { print(`line ${n}`); }").await;
    said.has("line 999").has("dropped").lacks("line 1\n");
    let id = said.id;
    // A hundred of these short lines are a kilobyte.
    session.eval(&format!("let kept = out({id}).len(); kept > 300 && kept < 500")).await.is("true");
    session.eval(&format!("evals().filter(|row| row.id == {id})[0].lines")).await.is("1000");
    session.eval(&format!("let kept = out({id}); kept[kept.len() - 1][2]")).await.is("\"line 999\"");
    session.eval(&format!("out({id}, 998, 5).map(|line| line[2])")).await.is("[\"line 998\", \"line 999\"]");
    session.eval(&format!("out({id}, 0, 5).map(|line| line[1])")).await.is("[\"dropped\"]");
    // Every row says which lines it is about; a gap is one row, and what the search cannot see it says.
    session.eval(&format!("out({id}, 998, 5).map(|row| row[3])")).await.is("[998, 999]");
    session.eval(&format!("out({id}, 0, 5)")).await.is("[[0.0, \"dropped\", \"5 lines were dropped\", 0, 4]]");
    let gap = format!("let all = out({id}); let gap = all[0]; ");
    let of_the_gap =
        "[gap.len(), gap[1], gap[3], gap[4] + 1 == all[1][3], all[1][2] == `line ${all[1][3]}`, all.len() + gap[4]]";
    session.eval(&format!("{gap}{of_the_gap}")).await.is("[5, \"dropped\", 0, true, true, 1000]");
    let found = format!(
        "let found = out_find({id}, \"99\"); [found[0][1] == \"dropped\", found.len(), found[1][3], found[-1][3]]"
    );
    session.eval(&found).await.is("[true, 15, 599, 999]");
    session.eval(&format!("out_find({id}, |text| text.ends_with(\"98\"), 1).map(|row| row[3])")).await.is("[0, 598]");
    session.eval(&format!("fn last(text, row) {{ row[3] > 997 }} out_find({id}, last).len()")).await.is("3");
    session.eval(&format!("out_find({id}, |text, row| row[3] > 997).len()")).await.is("3");
    session.eval(&format!("out_find({id}, |text| 5)")).await.fails("true or false");
    session.eval(&format!("out_find({id}, 5)")).await.fails("a text or a function");
    let told = session.eval(&format!("res({id})")).await;
    told.has(&format!("entry {id} · session {} · ns s-{} · ok · ", session.name, session.name));
    told.has(" · 1,000 lines printed, ").has(" dropped\n()");
    lives(&harness).await;
}

#[tokio::test]
async fn evals_queue_for_a_slot_and_a_full_queue_says_its_numbers() {
    let harness = with(Limits { running: 2, reserved_slots: 0, queued: 2, ..Limits::default() });
    let (one, two) = (harness.session(), harness.session());
    let work = "while !gate::opened(\"go\") {} 1";
    let ids = [&one, &one, &two, &two].map(|session| session.start(work));
    ids[0].has("running · id 1");
    ids[2].has("queued").has("· queued, 0 before it");
    ids[3].has("· queued, 1 before it");
    let refused = two.host.submit(two.caller, &EvalRequest::new("1")).unwrap_err();
    assert_eq!(refused, Refusal::QueueFull { running: 2, queued: 2 });
    assert!(refused.to_string().starts_with("2 evals are running and 2 are queued"), "{refused}");
    // One that is queued is cancelled at once, and its place is free.
    one.cancel(ids[2].id).await.has("cancelled · id 3");
    let late = one.start(work);
    late.has("· queued, 1 before it");
    harness.gates.open("go");
    two.wait(&[ids[3].id]).await.is("1");
    one.wait(&[late.id]).await.is("1");
    lives(&harness).await;
}

#[tokio::test]
async fn who_waits_holds_no_slot_and_no_session_takes_them_all() {
    let harness = with(Limits { running: 4, reserved_slots: 2, ..Limits::default() });
    let (greedy, modest) = (harness.session(), harness.session());
    let asleep: Vec<_> = (0..20).map(|_| greedy.start("sleep(3600)").id).collect();
    let busy: Vec<_> = (0..3).map(|n| greedy.start(&format!("while !gate::opened(\"{n}\") {{}} {n}")).id).collect();
    within("two that work", async {
        harness.gates.reached("0").await;
        harness.gates.reached("1").await;
    })
    .await;
    for id in &asleep {
        assert_eq!(harness.api.entry(*id).unwrap().status, Status::Running, "asleep is running");
    }
    assert_eq!(harness.api.entry(busy[2]).unwrap().status, Status::Queued, "the session has its share");
    modest.eval("1 + 1").await.is("2");
    harness.gates.open("0");
    within("the third", harness.gates.reached("2")).await;
    for gate in ["1", "2"] {
        harness.gates.open(gate);
    }
    greedy.wait(&[busy[2]]).await.is("2");
    // Only the sleepers are left.
    greedy.wait(&busy[..2]).await;
    greedy.eval("release(true).cancelled.len()").await.is("20");
}

#[tokio::test]
async fn entries_that_have_not_settled_are_counted() {
    let harness = with(Limits { live_entries: 3, ..Limits::default() });
    let session = harness.session();
    let asleep: Vec<_> = (0..3).map(|_| session.start("sleep(3600)").id).collect();
    let refused = session.host.submit(session.caller, &EvalRequest::new("1")).unwrap_err();
    assert_eq!(refused, Refusal::TooManyLive { limit: 3 });
    session.cancel(asleep[0]).await;
    // A child counts as well, and a script can catch that there is no room for it.
    let caught = "let why = \"\"; try { bg(|| 1); } catch (e) { why = e.kind; } why";
    session.eval(caught).await.is("\"TooManyLive\"");
    session.cancel(asleep[1]).await;
    session.eval(caught).await.is("\"\"");
    lives(&harness).await;
}

#[tokio::test]
async fn the_longest_silent_idle_session_makes_room_for_a_new_one() {
    let clock = Clock::manual();
    let harness = Harness::with(clock.clone(), Limits { sessions: 3, ..Limits::default() });
    let sessions = [(); 3].map(|()| {
        clock.advance(Duration::from_secs(10));
        harness.session()
    });
    // The first is at work, so it is the second that has been silent for the longest time.
    let working = sessions[0].start("while !gate::opened(\"go\") {} 1");
    harness.api.handle_caller(&sessions[2].name).unwrap();
    let fourth = harness.session();
    assert!(matches!(harness.api.handle_caller(&sessions[1].name), Err(Refusal::UnknownSession { .. })));
    sessions[2].eval("1").await.is("1");
    fourth.eval("2").await.is("2");
    // With all of them at work there is no room.
    let more = [&sessions[2], &fourth].map(|session| session.start("while !gate::opened(\"go\") {} 1").id);
    let refused = harness.api.create_session(None, ClientInfo::default(), None).unwrap_err();
    assert_eq!(refused, Refusal::TooManySessions { limit: 3 });
    harness.gates.open("go");
    sessions[0].wait(&[working.id]).await.is("1");
    fourth.wait(&[more[1]]).await.is("1");
}

#[tokio::test]
async fn shared_spaces_are_counted_and_a_refused_one_is_not_made() {
    let harness = with(Limits { spaces: 2, ..Limits::default() });
    let session = harness.session();
    session.eval_in("one", "1").await.has(";; new space one");
    session.eval_in("two", "1").await.has(";; new space two");
    let job = EvalRequest { code: "1".into(), ns: Some("three".into()) };
    assert_eq!(session.host.submit(session.caller, &job).unwrap_err(), Refusal::TooManySpaces { limit: 2 });
    session.eval("in_ns(\"three\")").await.fails("2 spaces exist");
    session.eval("drop_space(\"one\")").await.has("· ok ·");
    session.eval_in("three", "ns()").await.is("\"three\"");
    lives(&harness).await;
}

#[tokio::test]
async fn variables_and_functions_of_a_space_are_counted() {
    let harness = with(Limits { variables: 10, functions: 5, ..Limits::default() });
    let session = harness.session();
    for n in 0..10 {
        session.eval(&format!("let v{n} = {n};")).await.has("· ok ·");
    }
    session.eval("let extra = 1;").await.fails("VariableLimit: the space has its limit of 10 variables");
    session.eval("v3 = 30; v3").await.is("30");
    for n in 0..5 {
        session.eval(&format!("fn f{n}() {{ {n} }}")).await.has("· ok ·");
    }
    session.eval("fn extra() { 1 }").await.fails("5 functions");
    session.eval("fn f3() { 33 } f3() + f4()").await.is("37");
    // The eval itself has no more variables than its space either.
    let many = (0..12).fold(String::new(), |mut code, n| {
        write!(code, "let w{n} = {n}; ").unwrap();
        code
    });
    session.eval_in("fresh", &many).await.fails("10");
    harness.script("many.rhai", &(0..6).map(|n| format!("fn f{n}() {{ {n} }}\n")).collect::<String>());
    session.eval_in("fresh", "import \"many\" as many; 1").await.fails("5 functions");
    lives(&harness).await;
}

#[tokio::test]
async fn modules_of_an_eval_are_counted() {
    let harness = with(Limits { modules: 3, ..Limits::default() });
    for n in 0..5 {
        harness.script(&format!("m{n}.rhai"), &format!("fn f() {{ {n} }}\n"));
    }
    let session = harness.session();
    let import = |n: usize| -> String { (0..n).map(|n| format!("import \"m{n}\" as m{n}; ")).collect() };
    session.eval(&format!("{} m2::f()", import(3))).await.is("2");
    harness.session().eval(&format!("{} m4::f()", import(5))).await.fails("odule");
    lives(&harness).await;
}

#[tokio::test]
async fn values_nested_too_deeply_are_not_kept() {
    let harness = with(Limits { nesting: 50, ..Limits::default() });
    let session = harness.session();
    for code in [
        "let d = []; for n in 0..60 { d = [d]; } d",
        "let d = []; for n in 0..60 { d = #{d: d}; } 1",
        "let f = || 0; for n in 0..60 { let g = f; f = || g; } 1",
        "let f = |x| x; loop { let g = f; f = Fn(\"h\").curry(g); } fn h(a, b) { 1 }",
        "let d = []; for n in 0..60 { d = [d]; } atom(d)",
        "let d = []; for n in 0..60 { d = [d]; } let lane = chan(1); lane.send(d)",
        "let d = []; for n in 0..60 { d = [d]; } throw d",
        "bg(|| { let d = []; for n in 0..60 { d = [d]; } d }).value()",
    ] {
        session.eval(code).await.fails("nested deeper than 50 levels");
    }
    session.eval("let d = []; for n in 0..40 { d = [d]; } d.len()").await.is("1");
    lives(&harness).await;
}

#[tokio::test]
async fn time_ends_what_runs_and_what_sleeps() {
    let clock = Clock::manual();
    let limits = Limits { eval_time: Some(Duration::from_millis(1_500)), ..Limits::default() };
    let harness = Harness::with(clock.clone(), limits);
    let session = harness.session();
    let started = [
        "gate::opened(\"running\"); loop { }",
        "gate::opened(\"asleep\"); sleep(3600)",
        "gate::opened(\"catching\"); try { loop { } } catch { } 1",
        "gate::opened(\"waiting\"); bg(|| sleep(3600)).value()",
    ]
    .map(|code| session.start(code).id);
    for gate in ["running", "asleep", "catching", "waiting"] {
        within(gate, harness.gates.reached(gate)).await;
    }
    // The child that is waited for has a limit of its own, which begins with it.
    within("the child runs", async {
        while harness.host.probe().running < 5 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    clock.advance(Duration::from_secs(2));
    for id in started {
        // Who waits for the child may end by its own limit or fail with that of the child.
        session.wait(&[id]).await.fails("TimeLimit: ").has("the eval ran into its time limit of 1.5 seconds");
    }
    lives(&harness).await;
}

#[tokio::test]
async fn arguments_that_ask_for_too_much_are_refused_with_their_number() {
    let harness = Harness::new();
    let session = harness.session();
    for code in [
        "blob(9223372036854775807)",
        "let s = \"x\"; s.pad(9223372036854775807, 'x')",
        "let a = [1]; a.pad(9223372036854775807, 0)",
        "chan(9223372036854775807)",
        "capacity(9223372036854775807)",
    ] {
        session.eval(code).await.fails("9223372036854775807");
    }
    session.eval("sleep(0.0/0.0)").await.fails("NaN");
    session.eval("sleep(-1)").await.fails("0 or more");
    for code in ["sleep(1e300)", "sleep(9223372036854775807)", "timeout(1e300, || sleep(1e300))"] {
        let asleep = session.start(code).id;
        session.cancel(asleep).await.has("cancelled · id");
    }
    lives(&harness).await;
}

/// Code that ends or hangs a process with Rhai's defaults ends one eval here, whatever it was.
#[tokio::test]
async fn killers_end_one_eval_each() {
    let harness = with(Limits { eval_bytes: 16 * MIB, ..Limits::default() });
    harness.script("round.rhai", "import \"trip\" as t;\nfn go_on() { t::go_on() }\n");
    harness.script("trip.rhai", "import \"round\" as r;\nfn go_on() { r::go_on() }\n");
    harness.script("own.rhai", "import \"own\" as me;\nfn f() { 1 }\n");
    let session = harness.session();
    for (code, words) in [
        ("let s = \"eval(s)\"; eval(s)", "eval"),
        ("import \"round\" as r; r::go_on()", "ircular"),
        ("import \"own\" as o; o::f()", "ircular"),
        ("let a = []; for n in 0..5000 { a = [a]; }", "nested deeper than 1,000"),
        ("let a = #{}; for n in 0..5000 { a = #{x: a}; }", "nested deeper than 1,000"),
        ("let a = []; loop { a = [a]; }", "nested deeper than 1,000"),
        ("let a = #{}; loop { a = [1, #{x: a}]; }", "nested deeper than 1,000"),
        ("let f = || 0; loop { let g = f; f = || g; }", ""),
        ("let f = |x| x; loop { let g = f; f = Fn(\"h\").curry(g); } fn h(a, b) { 1 }", ""),
        ("let f = |x| x; loop { f = curry(f, f) }", ""),
        ("blob(9223372036854775807)", "9223372036854775807"),
        ("let s = \"\"; s.pad(9223372036854775807, 'x')", "9223372036854775807"),
        ("let a = [1]; a.pad(9223372036854775807, 0)", "9223372036854775807"),
        ("let s = \"xxxxxxxx\"; loop { s += s; }", "16 MiB"),
        ("let a = [1, 2, 3, 4]; loop { a = [a, a]; }", ""),
        ("let m = #{}; let n = 0; loop { n += 1; m[`key ${n}`] = n; }", "16 MiB"),
        ("fn f(n) { f(n + 1) } f(0)", "64"),
        ("fn m(n) { [n, n].sort(|x, y| m(x + 1)) } m(0)", "64"),
        ("const A = #{x: 1}; A.x = 2", "A"),
    ] {
        let said = session.eval(code).await;
        assert!(said.is_error, "{code}\n{}", said.text);
        said.has(words);
        lives(&harness).await;
    }
    // Nesting by copies is slow rather than deep; whatever it has come to can be stopped and dropped.
    for step in ["let b = a; a = [b]", "let b = a; a = #{x: b}"] {
        let code =
            format!("let a = []; let n = 0; loop {{ {step}; n += 1; if n == 1500 {{ gate::opened(\"{step}\"); }} }}");
        let id = session.start(&code).id;
        within(step, harness.gates.reached(step)).await;
        session.cancel(id).await.has("cancelled · id");
        lives(&harness).await;
    }
    for (open, close) in [("(", ")"), ("[", "]"), ("#{a:", "}"), ("{", "}"), ("||", ""), ("`${", "}`"), ("-", "")] {
        session.eval(&format!("{}1{}", open.repeat(20_000), close.repeat(20_000))).await.fails("Parsing");
    }
    session.eval(&format!("{}1", "if true { 1 } else ".repeat(5_000))).await.fails("");
    session.eval(&format!("{} 7", "1;".repeat(20_000))).await.is("7");
    // What holds itself is shown, compared and turned into text in finite time.
    session.eval("let a = #{}; let f = || a; a.f = f;").await.has("· ok ·");
    for code in ["a", "a == a", "a.to_json()", "`${a}`", "print(a)", "[a].index_of(a)"] {
        session.eval(code).await.has("· ok ·");
    }
    lives(&harness).await;
}

#[tokio::test]
async fn imports_stay_inside_the_folder() {
    let harness = Harness::new();
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("outside.rhai"), "fn leak() { 666 }\n").unwrap();
    std::fs::create_dir(harness.scripts().join("sub")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(outside.path().join("outside.rhai"), harness.scripts().join("link.rhai")).unwrap();
    let absolute = outside.path().join("outside").display().to_string();
    let session = harness.session();
    for name in ["../outside", &absolute, "sub/../../outside", "link", "./../outside", ""] {
        let said = session.eval(&format!("import \"{name}\" as x; x::leak()")).await;
        assert!(said.is_error && !said.text.starts_with("666"), "{name}: {}", said.text);
    }
    lives(&harness).await;
}

#[tokio::test]
async fn a_panic_in_native_code_ends_one_entry() {
    let mut module = rhai::Module::new();
    rhai::FuncRegistration::new("boom").set_into_module(&mut module, || -> i64 { panic!("broken on purpose") });
    rhai::FuncRegistration::new("spoil")
        .set_into_module(&mut module, |_list: &mut rhai::Array| -> i64 { panic!("broken on purpose") });
    let harness = Harness::build(Clock::real(), |builder| builder.module("crew", module));
    let session = harness.session();
    session.eval("let a = 1; crew::boom()").await.fails("broken on purpose").has("set before it stopped: a");
    session.eval("bg(|| crew::boom()).value()").await.fails("broken on purpose");
    // A cell that was locked when it happened is named, and a new `let` heals it.
    session.eval("let list = [1]; let look = || list.len();").await.has("· ok ·");
    session.eval("crew::spoil(list)").await.fails("broken on purpose");
    let said = session.eval("list.push(2); list").await;
    if said.is_error {
        said.has("list").has("let");
        session.eval("let list = [1]; list.push(2); list").await.is("[1, 2]");
    }
    lives(&harness).await;
}

#[tokio::test]
async fn the_numbers_in_force_are_shown() {
    let harness = with(Limits { call_depth: 32, space_bytes: 3 * MIB, running: 7, ..Limits::default() });
    let session = harness.session();
    session.eval("let l = limits(); [l.call_depth, l.space_bytes, l.running]").await.is("[32, 3145728, 7]");
    session.eval("[capacity(20), limits().capacity, capacity()]").await.is("[20, 20, 20]");
}
