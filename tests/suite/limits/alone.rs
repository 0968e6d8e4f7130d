//! The total of the process. Run by `the_process_as_a_whole_is_bounded`, in a process of their own.

use super::{lives, text, with};
use crate::harness::Harness;
use remontoire::Limits;
use remontoire::internals::{MIB, process_bytes};

/// A host on which so many bytes can be allocated.
async fn with_room_for(bytes: usize) -> Harness {
    // What is made once for a process is there before anything is measured.
    with(Limits::default()).session().eval("bg(|| 1).value()").await.is("1");
    with(Limits { total_bytes: bytes, ..Limits::default() })
}

#[tokio::test]
#[ignore = "run in a process of its own"]
async fn what_was_read_makes_room_before_anything_is_refused() {
    let harness = with_room_for(8 * MIB).await;
    let session = harness.session();
    let big = text(MIB);
    let mut evicted = false;
    for _ in 0..12 {
        // Whatever was read before goes when there is no room for the next, and is told of.
        let said = session.eval(&big).await;
        assert!(!said.is_error, "{}", said.text);
        evicted |= said.text.contains(";; evicted: ");
    }
    assert!(evicted);
    // What nobody has read stays, and fills the process.
    let mut unread = Vec::new();
    let failed = loop {
        let id = session.start(&format!("while !gate::opened(\"go\") {{}} {big}")).id;
        harness.gates.open("go");
        if session.settled(id).await == remontoire::Status::Failed {
            break session.wait(&[id]).await;
        }
        unread.push(id);
        assert!(unread.len() < 12, "twelve texts of 1 MiB fit where 8 MiB are free");
    };
    failed.fails("TotalMemoryLimit").has("already").has("up to 64 KiB").has("forget(id)").has("drop_space(");
    assert!(unread.iter().any(|id| failed.text.contains(&format!("entry {id} ("))), "names holders: {}", failed.text);
    // Evals still run, and small things are kept.
    session
        .eval(&format!("fn size(text) {{ text.len() }} let small = {}; size({big})", text(1_000)))
        .await
        .is(&MIB.to_string());
    session.eval("small.len()").await.is("1000");
    lives(&harness).await;
    // The owner may give up what it has not read.
    for id in &unread[..3] {
        session.eval(&format!("forget({id}) > 1000000")).await.is("true");
    }
    session.eval(&format!("let large = {}; large.len()", text(MIB))).await.is(&MIB.to_string());
}

#[tokio::test]
#[ignore = "run in a process of its own"]
async fn spaces_are_named_among_the_holders_and_dropping_one_helps() {
    let harness = with_room_for(8 * MIB).await;
    let session = harness.session();
    let mut said = session.eval_in("store", "let kept = [];").await;
    for _ in 0..12 {
        if said.is_error {
            break;
        }
        said = session.eval_in("store", &format!("kept.push({}); 1", text(MIB))).await;
    }
    said.fails("space store (").lacks("entry ").lacks("a restart");
    session.eval("in_ns(\"other\"); drop_space(\"store\")").await.has("· ok ·");
    // Values are dropped on another thread.
    for _ in 0..1_000 {
        if !session.eval_in("other", &format!("let d = {}; 1", text(MIB))).await.is_error {
            return;
        }
    }
    panic!("the dropped space holds its memory");
}

#[tokio::test]
#[ignore = "run in a process of its own"]
async fn a_value_that_is_refused_is_not_called_nobodys() {
    let harness = with_room_for(8 * MIB).await;
    let session = harness.session();
    let code = format!("let kept = blob({}); 1", 2 * MIB);
    let mut said = session.eval_in("store0", &code).await;
    for n in 1..4 {
        said = session.eval_in(&format!("store{n}"), &code).await;
    }
    said.fails("TotalMemoryLimit").has("space store").lacks("held by no space");
}

#[tokio::test]
#[ignore = "run in a process of its own"]
async fn what_stands_behind_atoms_and_channels_counts_too() {
    let harness = with_room_for(8 * MIB).await;
    let session = harness.session();
    for (begin, more, empty) in [
        ("let pile = []", format!("pile.push(atom({})); pile.len()", text(MIB)), "pile = []; 1"),
        ("let lane = chan(100)", format!("lane.send({}); lane.len()", text(MIB)), "lane = (); 1"),
    ] {
        session.eval(&format!("{begin};")).await.has("· ok ·");
        let mut said = session.eval(&more).await.is("1").clone();
        for _ in 0..12 {
            if said.is_error {
                break;
            }
            said = session.eval(&more).await;
        }
        said.fails("TotalMemoryLimit");
        lives(&harness).await;
        session.eval(empty).await.is("1");
    }
}

#[tokio::test]
#[ignore = "run in a process of its own"]
async fn closures_that_hold_themselves_do_not_fill_the_process() {
    let harness = with_room_for(8 * MIB).await;
    let session = harness.session();
    for _ in 0..12 {
        let code = format!("{{ let m = #{{b: {}}}; let f = || m.b.len(); m.f = f; }} 1", text(MIB));
        session.eval(&code).await.is("1");
    }
    session.eval(&format!("let keeps = {}; keeps.len()", text(MIB))).await.is(&MIB.to_string());
    // Such as lose their names only later are found before anything is refused.
    for _ in 0..12 {
        let code = format!("let m = #{{b: {}}}; let f = || m.b.len(); m.f = f; 1", text(MIB));
        session.eval(&code).await.is("1");
    }
}

#[tokio::test]
#[ignore = "run in a process of its own"]
async fn what_nothing_accounts_for_is_named_as_such() {
    let harness = with_room_for(8 * MIB).await;
    let session = harness.session();
    session.eval("let before = limits().unnamed_bytes; 1").await.is("1");
    // An atom is no part of a circle that is looked for.
    let code = format!("{{ let m = #{{b: {}}}; let a = atom(()); a.set(|| m.b.len()); m.a = a; }} 1", text(MIB));
    for _ in 0..4 {
        session.eval(&code).await.is("1");
    }
    session.eval("let more = limits().unnamed_bytes - before; more > 3900000 && more < 6000000").await.is("true");
    session.eval("limits().held_bytes > limits().unnamed_bytes").await.is("true");
    // A restart is no advice as long as something with a name would make room.
    session.eval_in("room", "let keeps = []; 1").await.is("1");
    let mut said = session.eval(&code).await;
    for _ in 0..12 {
        if said.is_error {
            break;
        }
        said = session.eval_in("room", &format!("keeps.push({}); 1", text(MIB))).await;
    }
    said.fails("TotalMemoryLimit").has("space room (").has("held by no space").lacks("a restart");
    session.eval("drop_space(\"room\")").await.has("· ok ·");
    let mut said = session.eval(&code).await;
    for _ in 0..12 {
        said = session.eval(&format!("let keeps = {}; 1", text(MIB))).await;
        if said.is_error {
            break;
        }
        session.eval(&code).await;
    }
    said.fails("TotalMemoryLimit")
        .has("are held by no space, kept entry or running eval")
        .has("a.set(())")
        .has("a restart");
}

#[tokio::test]
#[ignore = "run in a process of its own"]
async fn running_evals_count_against_the_total_while_they_run() {
    let harness = with_room_for(64 * MIB).await;
    let session = harness.session();
    let before = process_bytes();
    // Small ones wait beside them, which are never in question.
    let code = "let open = bg(|| { while !gate::opened(\"go\") {} });
        let small = []; for i in 0..50 { small.push(bg(|| { let b = blob(1000, 1); open.value(); b.len() })); }
        let large = []; for i in 0..12 { large.push(bg(|| { let b = blob(20000000, 1); b[5] = 2; open.value(); b.len() })); }
        await_all(large);
        let ok = large.filter(|e| e.status == \"ok\").len();
        let failed = large.filter(|e| e.status == \"failed\");
        await_all(small);
        [ok, failed.len(), small.all(|e| e.value() == 1000), failure(failed[-1].id).message]";
    let parent = session.start(code).id;
    // Nine at least have failed by then, whoever they are.
    let mut peak = 0;
    let failed = "evals(\"failed\").len()";
    while session.eval(failed).await.first().parse::<usize>().expect("a number") < 9 {
        peak = peak.max(process_bytes());
        tokio::task::yield_now().await;
    }
    harness.gates.open("go");
    assert_eq!(session.settled(parent).await, remontoire::Status::Ok);
    let said = session.wait(&[parent]).await;
    said.has("[3, 9, true, \"the process keeps its memory limit of 64 MiB already")
        .has("; the largest holders are running entry ");
    // The total, the margin of an eighth, and one that was let through meanwhile.
    assert!(peak.saturating_sub(before) < 95 * MIB, "{peak} bytes, {before} before");
    // With room again, everything runs again.
    session.eval("let b = blob(20000000, 1); b.len()").await.is("20000000");
    lives(&harness).await;
}

#[tokio::test]
#[ignore = "run in a process of its own"]
async fn a_constant_is_kept_once_and_counted_once() {
    let harness = with_room_for(256 * MIB).await;
    let session = harness.session();
    session.eval("1").await.is("1");
    let before = process_bytes();
    for n in 0..30 {
        session.eval(&format!("fn beside() {{ {n} }} const Z{n} = blob(1000000, 1);")).await.is("()");
    }
    let held = process_bytes().saturating_sub(before);
    assert!((29_000_000..40_000_000).contains(&held), "{held}");
    // Named in the other way they are there too; then there are two of each, which count.
    session.eval("fn f() { [global::Z3.len(), Z4.len()] } f()").await.is("[1000000, 1000000]");
    let counted = "spaces().find(|row| row.name.starts_with(\"s-\")).bytes";
    session.eval(&format!("let b = {counted}; b > 59000000 && b < 70000000")).await.is("true");
}

/// One session makes a list of about 32 MB in a space of its own name, with functions that look at it.
async fn with_a_large_list(harness: &Harness) -> usize {
    let maker = harness.session();
    maker.eval("1").await.is("1");
    let before = process_bytes();
    let code = "let big = []; big.pad(2000000, 7); let small = 5; let named = #{a: 1};
        fn size() { big.len() } fn part(n) { big[n] } 1";
    maker.eval_in("room", code).await.is("1");
    let size = process_bytes().saturating_sub(before);
    assert!((30 * MIB..50 * MIB).contains(&size), "{size}");
    size
}

#[tokio::test]
#[ignore = "run in a process of its own"]
async fn a_view_of_a_space_copies_nothing_that_is_not_read() {
    let harness = with_room_for(512 * MIB).await;
    let before = process_bytes();
    let size = with_a_large_list(&harness).await;
    let readers: Vec<_> = (0..9).map(|_| harness.session()).collect();
    for reader in &readers {
        reader.eval("import \"@room\" as o; o::small").await.is("5");
        reader.eval("o::small + o::named.a").await.is("6");
        // What is read is copied while an eval runs, and not longer.
        reader.eval("[o::big.len(), o::big[7], o::size(), o::part(1)]").await.is("[2000000, 7, 2000000, 7]");
        reader.eval("fn looks() { o::big.len() } o::small").await.is("5");
        // A function names the list, and is not called.
        reader.eval("o::small").await.is("5");
        reader.eval("bg(|| o::named.a + looks()).value()").await.is("2000001");
    }
    let held = process_bytes().saturating_sub(before);
    assert!(held < 2 * size, "{held} bytes beside {size}");
    readers[0].eval("limits().unnamed_bytes < 16000000").await.is("true");
    // Nobody holds on to it, though all of them have it among their imports.
    readers[0].eval("in_ns(\"room2\"); drop_space(\"room\")").await.has("· ok ·");
    // Values are dropped on another thread.
    for _ in 0..1_000 {
        if process_bytes().saturating_sub(before) < size / 2 {
            readers[1].eval("o::small").await.fails("no such space: room");
            readers[2].eval("looks()").await.fails("no such space: room");
            readers[2].eval("import \"@room\" as again;").await.fails("no such space: room");
            return;
        }
        readers[3].eval("40 + 2").await.is("42");
    }
    panic!("{} bytes are held of a space that was dropped", process_bytes().saturating_sub(before));
}

#[tokio::test]
#[ignore = "run in a process of its own"]
async fn what_a_running_eval_holds_of_a_dropped_space_is_its_own() {
    let harness = with_room_for(512 * MIB).await;
    with_a_large_list(&harness).await;
    let (reader, other) = (harness.session(), harness.session());
    reader.eval("import \"@room\" as o; o::small").await.is("5");
    let running = reader.start("while !gate::opened(\"go\") {} [o::big.len(), o::small, o::named]").id;
    harness.gates.reached("go").await;
    other.eval("in_ns(\"elsewhere\"); drop_space(\"room\")").await.has("· ok ·");
    // What it names it goes on with, and what it holds so counts as its own.
    other.eval("limits().unnamed_bytes < 16000000").await.is("true");
    harness.gates.open("go");
    reader.wait(&[running]).await.has("[2000000, 5, #{a: 1}]");
}
