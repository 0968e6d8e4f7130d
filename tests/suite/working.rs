//! Work as scripts see it on the joined program: waiting, sharing, handing over, letting go.

use crate::harness::{Harness, Said, Speaker, within};
use remontoire::internals::ClientInfo;
use remontoire::{Clock, Limits, Refusal, Status};
use std::time::Duration;

/// A child that other entries may wait for and that ends when its gate opens.
fn gated(gate: &str, value: &str) -> String {
    format!("while !gate::opened(\"{gate}\") {{}} {value}")
}

#[tokio::test]
async fn who_waits_for_a_failure_fails_with_it() {
    let harness = Harness::new();
    let session = harness.session();
    let failed = session.start("fn deep() { throw #{code: 404} } deep()").id;
    session.settled(failed).await;
    let said = session.eval(&format!("res({failed}).value()")).await;
    said.fails("404").has(&format!("entry {failed}"));
    let code = format!("let code = 0; try {{ res({failed}).value() }} catch (e) {{ code = e.thrown.code; }} code");
    session.eval(&code).await.is("404");
    session.eval(&format!("[failure({failed}).thrown.code, failure({}).thrown.code]", said.id)).await.is("[404, 404]");
    // The deepest entry is where it went wrong first, however many waited in between.
    let through = session.eval(&format!("bg(|| res({failed}).value()).value()")).await;
    let caught = format!(
        "let cause = (); try {{ res({}).value() }} catch (e) {{ cause = [e.cause, e.entry]; }} cause",
        through.id
    );
    session.eval(&caught).await.is(&format!("[{failed}, {}]", through.id));
    let again = session.eval(&format!("try {{ res({}).value() }} catch (e) {{ throw e }}", through.id)).await;
    let causes = format!("[{failed}, {}, {}, {}].map(|id| failure(id).cause)", said.id, through.id, again.id);
    session.eval(&causes).await.is(&format!("[(), {failed}, {failed}, {failed}]"));
    let shown = session.eval("let kept = 1; print(\"one\"); nosuch()").await;
    let line = format!("entry {} · session {} · ns s-{} · failed · ", shown.id, session.name, session.name);
    session
        .eval(&format!("res({})", shown.id))
        .await
        .has(&line)
        .has(" · 1 line printed\nset before it stopped: kept\nFunctionNotFound");
    session.eval(&format!("[res({})]", shown.id)).await.has(&format!("[<entry {} · failed · ", shown.id));
    let cancelled = session.start("sleep(3600)").id;
    session.stop(cancelled);
    session.eval(&format!("res({cancelled}).value()")).await.fails(&format!("entry {cancelled} was cancelled"));
}

#[tokio::test]
async fn exit_ends_an_eval_with_a_value_from_however_deep() {
    let harness = Harness::new();
    let session = harness.session();
    for (code, value) in [
        ("let before = 1; exit(42); let after = 2;", "42"),
        ("fn deep() { [1].map(|x| { try { exit(x + 1) } catch { } }); 9 } deep()", "2"),
        ("bg(|| { exit(5); 6 }).value() + 1", "6"),
        ("exit()", "()"),
        ("timeout(5, || exit(7)); 8", "7"),
    ] {
        session.eval(code).await.is(value).has("· ok ·");
    }
    session.eval("[is_def_var(\"before\"), is_def_var(\"after\")]").await.is("[true, false]");
}

#[tokio::test]
async fn who_overwrites_is_told_and_what_was_lost_is_kept() {
    let harness = Harness::new();
    let session = harness.session();
    session.eval("let x = \"old\"; fn f() { 1 }").await;
    let slow = session.start(&format!("x = {{ {} }}; x", gated("go", "\"slow\""))).id;
    within("the slow one has begun", harness.gates.reached("go")).await;
    let quick = session.eval("x = \"quick\"; fn f() { 2 } f()").await;
    quick.is("2");
    harness.gates.open("go");
    let said = session.wait(&[slow]).await;
    said.is("\"slow\"").has(&format!(";; x was also set by entry {}", quick.id));
    session.eval(&format!("[x, res({slow}).lost.x, res({}).lost]", quick.id)).await.is("[\"slow\", \"quick\", #{}]");

    // The same for a function; a name that only one of them wrote is no conflict.
    let slow = session.start(&format!("fn f() {{ 3 }} let y = {{ {} }};", gated("again", "1"))).id;
    within("the slow one has begun", harness.gates.reached("again")).await;
    let quick = session.eval("fn f() { 4 } let z = 1;").await;
    harness.gates.open("again");
    session.wait(&[slow]).await.has(&format!(";; function f was also defined by entry {}", quick.id)).lacks("also set");
}

#[tokio::test]
async fn a_branch_not_taken_and_a_reading_method_overwrite_nothing() {
    let harness = Harness::new();
    let session = harness.session();
    session.eval("let list = [1]; let n = 0;").await;
    let code = format!(
        "if false {{ n = 5; }} let seen = list.len(); {}",
        gated("go", "[list.len(), [0].map(|n| list.len())]")
    );
    let slow = session.start(&code).id;
    within("the slow one has begun", harness.gates.reached("go")).await;
    session.eval("n = 1; list.push(2);").await;
    harness.gates.open("go");
    session.wait(&[slow]).await.is("[1, [1]]").lacks("also set");
    session.eval("[n, list]").await.is("[1, [1, 2]]");
}

#[tokio::test]
async fn children_that_nothing_keeps_end_with_their_parent_and_the_answer_says_so() {
    let harness = Harness::new();
    let session = harness.session();
    let said = session
        .eval(
            "let hidden = atom(());
             let kept = bg(|| sleep(3600));
             let listed = [#{deep: bg(|| sleep(3600))}];
             hidden.set(bg(|| sleep(3600)));
             let free = bg(|| sleep(3600)).detach().id;
             { bg(|| sleep(3600)); bg(|| sleep(3600)); }
             bg(|| sleep(3600))",
        )
        .await;
    said.has(";; cancelled children: entries 6, 7");
    let statuses = "evals().filter(|row| row.parent == 1).map(|row| row.status)";
    session
        .eval(statuses)
        .await
        .is("[\"running\", \"running\", \"running\", \"running\", \"cancelled\", \"cancelled\", \"running\"]");
    // A cancelled parent takes all with it but the detached.
    let parent = session.start("let a = bg(|| sleep(3600)); let b = bg(|| sleep(3600)).detach(); a.value()").id;
    within("both are there, and one is free", async {
        while !harness.api.entry(remontoire::EntryId(parent.0 + 2)).is_ok_and(|entry| entry.detached) {
            tokio::task::yield_now().await;
        }
    })
    .await;
    session.cancel(parent).await.has("cancelled · id");
    let child = remontoire::EntryId(parent.0 + 1);
    assert_eq!(session.settled(child).await, Status::Cancelled);
    let detached = harness.api.entry(remontoire::EntryId(parent.0 + 2)).unwrap();
    assert_eq!(detached.status, Status::Running);
    session.eval("release(true); 1").await.is("1");
}

#[tokio::test]
async fn a_session_moves_when_an_eval_ends_well_inside_its_call_and_not_otherwise() {
    let harness = Harness::new();
    let session = harness.session();
    let home = format!("\"s-{}\"", session.name);
    let to_lab = format!(";; moved from s-{} to lab · ", session.name);
    session.eval("in_ns(\"lab\"); ns()").await.is(&home).has(&to_lab);
    session.eval("ns()").await.is("\"lab\"").has(";; new space lab");
    session.eval(&format!("in_ns({home})")).await;
    session.eval("ns()").await.is(&home).lacks(";; moved");
    // The argument moves it too, and is told once.
    session.eval_in("lab", "ns()").await.is("\"lab\"").has(&to_lab);
    session.eval_in("lab", "ns()").await.is("\"lab\"").lacks(";; moved");
    session.eval_in(&format!("s-{}", session.name), "ns()").await.is(&home).has(";; moved from lab to s-");
    session.eval_in("lab", "throw 1").await.fails("1").lacks(";; moved");
    session.eval("in_ns(\"lab\"); throw \"no\"").await.fails("no");
    session.eval("ns()").await.is(&home);
    // Answered before it ended: the background moves nobody.
    let late = session.start(&format!("in_ns(\"lab\"); {}", gated("go", "1"))).id;
    harness.gates.open("go");
    session.settled(late).await;
    session.wait(&[late]).await.is("1").lacks(";; moved");
    session.eval("ns()").await.is(&home);
    session.eval("let job = bg(|| in_ns(\"lab\")); job.value(); 1").await.is("1");
    session.eval("ns()").await.is(&home);
    // Another session's scratch can be read, not entered.
    let other = harness.session();
    session.eval("let mine = 5; fn twice(n) { n * 2 }").await;
    other.eval(&format!("in_ns({home})")).await.fails("another session's scratch");
    other.eval(&format!("import \"@s-{}\" as them; [them::mine, them::twice(4)]", session.name)).await.is("[5, 8]");
}

#[tokio::test]
async fn the_docs_of_functions_that_evals_defined_can_be_read() {
    let harness = Harness::new();
    let (session, other) = (harness.session(), harness.session());
    session.eval("/// Trebles it.\nfn treble(x) { x * 3 }\nfn treble(x, y) { x * y }\nprivate fn own() { 1 }").await;
    session.eval("doc(\"treble\")").await.has("treble(x)\ntreble(x, y)\n\nTrebles it.");
    session.eval("doc(\"own()\")").await.has("own()");
    other.eval("doc(\"treble\")").await.fails("nothing is known about `treble`");
    let of_space = |name: &str| format!("doc(\"@s-{}::{name}\")", session.name);
    other.eval(&of_space("treble")).await.has(&format!("@s-{}::treble(x)", session.name)).has("Trebles it.");
    other.eval(&of_space("own")).await.fails("nothing is known about");
    // Inside a module, its own functions.
    harness.script("stats.rhai", "/// The middle.\nfn mean(list) { list[0] }\n");
    session.eval_in("stats", "doc(\"mean\")").await.has("mean(list)").has("The middle.");
}

#[tokio::test]
async fn forget_lets_a_value_go_and_the_entry_says_so() {
    let harness = Harness::new();
    let (ann, bob) = (harness.session(), harness.session());
    let big = ann.eval("print(\"much\"); let t = \"\"; t.pad(100000, 'x'); [t]").await.id;
    bob.eval(&format!("forget({big}) > 100000")).await.is("true");
    ann.eval(&format!("res({big}).value()")).await.fails(&format!("forget({big})"));
    ann.eval(&format!("[res({big}).status, res({big}).bytes, out({big})[0][1]]")).await.is("[\"ok\", 0, \"dropped\"]");
    ann.eval(&format!("res({big})")).await.has("forgotten");
    let unread = ann.start(&gated("go", "[1]")).id;
    harness.gates.open("go");
    ann.settled(unread).await;
    bob.eval(&format!("forget({unread})")).await.fails("its owner can forget it");
    ann.eval(&format!("forget({unread}) > 0")).await.is("true");
    ann.eval("forget(900)").await.fails("no entry 900");
}

#[tokio::test]
async fn release_gives_up_what_is_owed_and_what_runs() {
    let harness = Harness::new();
    let (ann, bob) = (harness.session(), harness.session());
    let done = ann.start(&gated("go", "1")).id;
    let theirs = bob.start("sleep(3600)").id;
    harness.gates.open("go");
    ann.settled(done).await;
    ann.eval("release()").await.is(&format!("#{{cancelled: [], released: [{done}]}}"));
    ann.eval("1").await.lacks("settled news");
    let asleep = ann.start("sleep(3600)").id;
    let said = ann.eval("let mine = bg(|| sleep(3600)); release(true).cancelled").await;
    said.is(&format!("[{asleep}]"));
    assert_eq!(ann.settled(asleep).await, Status::Cancelled);
    ann.eval("[mine.status, 1]").await.is("[\"running\", 1]").lacks("settled news");
    assert_eq!(harness.api.entry(theirs).unwrap().status, Status::Running, "others are left alone");
    ann.eval("release(true); 1").await.is("1");
}

#[tokio::test]
async fn a_handle_keeps_the_facts_of_an_entry_that_was_evicted() {
    let harness = Harness::with(Clock::real(), Limits { capacity: 1, ..Limits::default() });
    let session = harness.session();
    let said = session.eval("let held = bg(|| { print(1); 42 }); held.value()").await;
    said.is("42");
    for _ in 0..4 {
        session.eval("1").await;
    }
    let child = remontoire::EntryId(2);
    assert_eq!(harness.api.entry(child), Err(Refusal::Evicted(child)));
    session.eval("[held.id, held.status, held.parent, held.by == ()]").await.is("[2, \"ok\", 1, false]");
    session.eval("held.value()").await.fails("entry 2 was evicted");
    session.eval("held").await.has("evicted");
    session.eval("res(2)").await.fails("entry 2 was evicted");
    session.eval("out(2)").await.fails("entry 2 was evicted");
    session.eval("cancel(2)").await.fails("entry 2 was evicted");
    session.eval("res(900)").await.fails("no entry 900; the newest is");
}

/// Exactly one of the answers is a deadlock, and the others ended well.
fn one_deadlock(answers: &[Said]) {
    let failed: Vec<_> = answers.iter().filter(|said| said.is_error).collect();
    assert_eq!(failed.len(), 1, "{answers:#?}");
    failed[0].has("deadlock: ").has(" → ");
}

#[tokio::test]
async fn two_atoms_taken_in_opposite_order_are_a_deadlock_for_one() {
    let harness = Harness::new();
    let session = harness.session();
    session.eval("let a = atom(1); let b = atom(10);").await;
    let code = |first: &str, second: &str| {
        format!(
            "{first}.swap(|x| {{ gate::opened(\"in {first}\"); while !gate::opened(\"go\") {{}} {second}.swap(|y| y + 1); x + 1 }})"
        )
    };
    let ids = [session.start(&code("a", "b")).id, session.start(&code("b", "a")).id];
    within("both own one", async {
        harness.gates.reached("in a").await;
        harness.gates.reached("in b").await;
    })
    .await;
    harness.gates.open("go");
    one_deadlock(&[session.wait(&[ids[0]]).await, session.wait(&[ids[1]]).await]);
    // Who failed changed nothing; the other changed both.
    session.eval("let both = [a.get(), b.get()]; both == [2, 11]").await.is("true");
    session.eval("a.swap(|x| a.swap(|y| y))").await.fails("inside a swap of the same atom");
    session.eval("a.swap(|x| x + 1)").await.is("3");
}

#[tokio::test]
async fn swaps_of_many_evals_lose_nothing_and_waiting_for_one_can_be_cancelled() {
    let harness = Harness::new();
    let session = harness.session();
    session.eval("let hits = atom(0);").await;
    let code = "let jobs = []; for n in 0..16 { jobs.push(bg(|| { for k in 0..50 { hits.swap(|old| old + 1); } })); }
                await_all(jobs); hits.get()";
    session.eval(code).await.is("800");
    let owner = session.start("hits.swap(|old| { while !gate::opened(\"go\") {} old })").id;
    within("it owns the atom", harness.gates.reached("go")).await;
    let waiting = session.start("hits.set(1)").id;
    session.eval("hits.get()").await.is("800");
    session.cancel(waiting).await.has("cancelled · id");
    harness.gates.open("go");
    session.wait(&[owner]).await.is("800");
}

#[tokio::test]
async fn waiting_in_a_circle_is_an_error_at_once() {
    let harness = Harness::new();
    let session = harness.session();
    // The answers of the parent and of its two children, entries 2 and 3.
    let text = |said: &Said, failures: &Said| format!("{}\n{}", said.text, failures.text);
    let said = session.eval("let c = bg(|| res(1).value()); c.value()").await;
    let failures = session.eval("[1, 2].map(|id| failure(id)?.message)").await;
    assert!(text(&said, &failures).contains("deadlock: "), "{}\n{}", said.text, failures.text);

    let said = session.eval("res(4).value()").await;
    said.fails("deadlock: 4 → 4");

    // `await_any` goes on as long as one of them can.
    let any = "let c = bg(|| res(5).value()); let d = bg(|| { while !gate::opened(\"free\") {} 1 });
               let first = await_any([c, d]); first[0].id";
    let parent = session.start(any).id;
    within("the free one runs", harness.gates.reached("free")).await;
    assert_eq!(harness.api.entry(parent).unwrap().status, Status::Running);
    harness.gates.open("free");
    session.wait(&[parent]).await.is("7");

    let all = "let c = bg(|| res(8).value()); let d = bg(|| res(8).value());
               let first = await_any([c, d]); first.map(|e| failure(e.id).message)";
    let said = session.eval(all).await;
    said.has("deadlock: ");
}

#[tokio::test]
async fn a_channel_without_room_hands_over_from_hand_to_hand() {
    let harness = Harness::new();
    let (ann, bob) = (harness.session(), harness.session());
    let giver = ann.start("in_ns(\"lane\"); 1").id;
    ann.settled(giver).await;
    ann.eval_in("lane", "let lane = chan(0); 1").await.is("1");
    let giver = ann.start("for n in 0..3 { lane.send(n); gate::opened(`sent ${n}`); } lane.close(); \"done\"").id;
    // Nothing is accepted before somebody takes it.
    let taker = |code: &'static str| {
        let bob = bob.clone();
        async move { bob.eval_in("lane", code).await }
    };
    assert_eq!(harness.api.entry(giver).unwrap().status, Status::Running);
    taker("lane.len()").await.is("0");
    taker("lane.recv()").await.is("0");
    within("the first was accepted", harness.gates.reached("sent 0")).await;
    taker("[lane.recv(), lane.recv(), lane.recv(), lane.is_closed()]").await.is("[1, 2, (), true]");
    ann.wait(&[giver]).await.is("\"done\"");
    taker("lane.send(4)").await.fails("closed");
}

#[tokio::test]
async fn what_was_handed_over_is_not_taken_back_by_the_giver() {
    let harness = Harness::new();
    let session = harness.session();
    // Both sides use one channel, in turns: each gets what the other gave, however quick the giver is to take again.
    let code = "let lane = chan(0);
                let other = bg(|| { let got = []; for n in 0..200 { got.push(lane.recv()); lane.send(n + 1000); } got });
                let got = []; for n in 0..200 { lane.send(n); got.push(lane.recv()); }
                let expected = []; for n in 1000..1200 { expected.push(n); }
                [got == expected, other.value().len()]";
    session.eval(code).await.is("[true, 200]");
}

#[tokio::test]
async fn closing_and_cancelling_end_waits_on_a_channel() {
    let clock = Clock::manual();
    let harness = Harness::with(clock.clone(), Limits::default());
    let session = harness.session();
    session.eval("let lane = chan(1); lane.send(\"first\");").await;
    // A full channel, and one who waits for room: cancelled, it hands nothing over.
    let waiting = session.start("gate::opened(\"waits\"); lane.send(\"never\")").id;
    within("it waits", harness.gates.reached("waits")).await;
    session.cancel(waiting).await.has("cancelled · id");
    session.eval("[lane.recv(), lane.len()]").await.is("[\"first\", 0]");
    // Who waits for a value: cancelled, timed out, told of the end.
    let cancelled = session.start("gate::opened(\"one\"); lane.recv()").id;
    let late = session.start("gate::opened(\"two\"); lane.recv(2)").id;
    let told = session.start("gate::opened(\"three\"); lane.recv()").id;
    for gate in ["one", "two", "three"] {
        within(gate, harness.gates.reached(gate)).await;
    }
    session.cancel(cancelled).await.has("cancelled · id");
    // The limit of the wait began when it was called, which is before the time it is moved to for the last time.
    within("the time runs out", async {
        while harness.api.entry(late).unwrap().status == Status::Running {
            clock.advance(Duration::from_secs(1));
            tokio::task::yield_now().await;
        }
    })
    .await;
    session.wait(&[late]).await.fails("timed out after 2 s");
    session.eval("lane.close(); lane").await.has("closed");
    session.wait(&[told]).await.is("()");
    session.eval("lane.send(1)").await.fails("closed");
}

#[tokio::test]
async fn a_channel_ends_with_the_session_that_made_it() {
    let harness = Harness::with(Clock::real(), Limits { running: 1, reserved_slots: 0, ..Limits::default() });
    let (key, caller) = harness.api.initialize(ClientInfo::default(), None).unwrap();
    let maker = Speaker { host: harness.api.clone(), caller, name: String::new() };
    let taker = harness.session();
    maker.eval_in("meeting", "let lane = chan(5); lane.send(1); 1").await.is("1");
    taker.eval_in("meeting", "lane.recv()").await.is("1");
    let waiting = taker.start("gate::opened(\"waits\"); lane.recv()").id;
    within("it is about to wait", harness.gates.reached("waits")).await;
    // There is one slot, and it is free again once somebody waits.
    harness.session().eval("1").await.is("1");
    harness.api.end_header_session(&key).unwrap();
    taker.wait(&[waiting]).await.is("()");
    taker.eval("lane.is_closed()").await.is("true");
}

#[tokio::test]
async fn channels_and_atoms_captured_by_many_do_not_lock_each_other_out() {
    let harness = Harness::new();
    let session = harness.session();
    let code = "let lane = chan(4);
                let givers = []; for g in 0..4 { let k = g; givers.push(bg(|| { for n in 0..25 { lane.send(k * 100 + n); } })); }
                let sums = atom(0);
                let takers = []; for t in 0..3 { takers.push(bg(|| { let v = lane.recv(); while v != () { sums.swap(|s| s + v); v = lane.recv(); } })); }
                await_all(givers); lane.close(); await_all(takers); [sums.get(), lane.len()]";
    let expected: i64 = (0..4).map(|g| (0..25).map(|n| g * 100 + n).sum::<i64>()).sum();
    session.eval(code).await.is(&format!("[{expected}, 0]"));
}

#[tokio::test]
async fn remarks_stand_beside_the_answer() {
    let harness = Harness::new();
    let session = harness.session();
    let note = ";; note: sort() works in place and gives () · say order()";
    session.eval("let x = [3, 1].sort(); x").await.is("()").has(note);
    session.eval("for (i, x) in [5] { } 7 // 2").await.is("7").has(
        "\n;; note: for (item, index) in list: the item comes first\n;; note: // begins a comment in Rhai; whole numbers are divided by /",
    );
    session.eval("[3, 1].order()").await.is("[1, 3]").lacks(";; note");
}
