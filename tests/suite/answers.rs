//! What answers of the joined program say: tables, output, news, the reminder of the manual.

use crate::harness::Harness;
use remontoire::Status;

/// The value of an answer: its lines before the footer.
fn value(text: &str) -> &str {
    text.split("\n;; ").next().unwrap_or_default()
}

#[tokio::test]
async fn lists_of_the_registry_are_tables_and_the_value_is_what_it_was() {
    let harness = Harness::new();
    let session = harness.session();
    session.eval("capacity(100)").await;
    for n in 0..57 {
        session.eval(&format!("let value = #{{n: {n}, list: [1, 2, 3]}}; value.n")).await;
    }
    session.eval("nosuch()").await;
    let said = session.eval("evals()").await;
    said.is("60 rows · id lines ms ns parent status code")
        .has("\n… 10 rows elided …\n")
        .has(";; truncated — 10 elided");
    assert!(value(&said.text).len() < 4_000, "{} bytes:\n{}", value(&said.text).len(), said.text);
    session.eval("[last().len(), last()[58].status, last()[0].code.len()]").await.is("[60, \"failed\", 13]");
    harness.script(
        "kit.rhai",
        "/// Adds.\nfn add(a, b) { a + b }\n/// Says hello.\nfn hello(name) { name }\n/// One.\nfn one() { 1 }\n",
    );
    let said = session.eval("outline(\"kit\")").await;
    assert_eq!(
        value(&said.text),
        "3 rows · doc line name params signature\n\
         Adds.        2  add    [\"a\", \"b\"]  add(a, b)\n\
         Says hello.  4  hello  [\"name\"]    hello(name)\n\
         One.         6  one    []          one()"
    );
}

#[tokio::test]
async fn a_session_is_reminded_of_the_manual_in_three_answers_to_evals() {
    let harness = Harness::new();
    let session = harness.session();
    let unread = ";; manual unread";
    let first = session.eval("1").await;
    first.has(unread);
    session.wait(&[first.id]).await.lacks(unread);
    session.eval("2").await.has(unread);
    session.eval("3").await.has(unread);
    session.eval("4").await.lacks(unread);
    let reader = harness.session();
    reader.eval("1").await.has(unread);
    reader.eval("manual()").await.lacks(unread);
    reader.eval("2").await.lacks(unread);
}

#[tokio::test]
async fn beside_nothing_less_output_is_shown_and_the_cut_says_where_the_rest_is() {
    let harness = Harness::new();
    let session = harness.session();
    let six_kilobytes = "for i in 0..60 { print(`${i} `.pad(99, 'x')); }";
    let shorn = session.eval(six_kilobytes).await;
    let page = format!("… 22 lines elided (2,178 bytes) · out({}, 19, 100) pages through it", shorn.id);
    shorn.is("()").has(&page).has("\n0 xx").has("\n59 xx");
    let printed = shorn.text.len();
    assert!((3_000..=4 << 10).contains(&printed), "{printed} bytes");
    session.eval(&format!("{six_kilobytes} 1")).await.is("1").lacks("elided");
    session.eval(&format!("out({}).len()", shorn.id)).await.is("60");
}

#[tokio::test]
async fn news_says_what_failed_and_of_what_kind() {
    let harness = Harness::new();
    let session = harness.session();
    let mut ids = Vec::new();
    for code in [
        "while !gate::opened(\"go\") {} [1][7]",
        "while !gate::opened(\"go\") {} 1",
        "while !gate::opened(\"go\") {} 2",
    ] {
        ids.push(session.start(code).id);
    }
    harness.gates.open("go");
    for (id, status) in ids.iter().zip([Status::Failed, Status::Ok, Status::Ok]) {
        assert_eq!(session.settled(*id).await, status);
    }
    session.eval("1").await.has(";; settled news: entry 1 failed (ArrayBounds) · entries 2, 3 ok");
    session.eval("1").await.lacks("settled news");
}

#[tokio::test]
async fn calls_are_measured() {
    let harness = Harness::new();
    let session = harness.session();
    session
        .eval("let m = measure(|| [2, 1].order()); [m.n, m.keys()]")
        .await
        .is("[10, [\"max\", \"median\", \"min\", \"n\"]]");
    session
        .eval("let m = measure(|| sleep(0.002), 4); [m.min >= 2.0, m.min <= m.median && m.median <= m.max]")
        .await
        .is("[true, true]");
    session.eval("let calls = 0; measure(|| { calls += 1; }, 1).n + calls").await.is("2");
    session.eval("measure(|| throw \"broken\")").await.fails("broken");
    session.eval("measure(|| 1, 0)").await.fails("measure calls a function 1 to 100,000 times, not 0");
    session.eval("timeout(0.02, || measure(|| loop {}))").await.fails("timed out");
    session.eval("timeout(0.02, || measure(|| 1, 100000))").await.fails("timed out");
}

#[tokio::test]
async fn the_process_says_when_it_started() {
    let harness = Harness::new();
    let session = harness.session();
    session.eval("let at = limits().started; [at.len(), at[10], at.ends_with(\"Z\")]").await.is("[20, 'T', true]");
}
