//! Every shape of an answer, for agents and for the terminal.

use super::*;
use crate::base::{Conflict, Note, Owner, SessionId, SpaceId, Time};
use crate::registry::{Gap, HeadTail, Line};
use crate::render::style::visible;
use crate::render::value::Elided;
use expect_test::{Expect, expect};

const COLOUR: Style = Style::Terminal { colour: true };

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn print(text: &str) -> Line {
    Line { after: Duration::ZERO, source: "print".into(), text: text.into(), cut: 0 }
}

/// Entry 12 of the session `bfw`, which ran for so long.
fn view(status: Status, ran: Duration) -> EntryView {
    EntryView {
        id: EntryId(12),
        owner: Owner::Session(SessionId(1)),
        by: Some("bfw".into()),
        parent: None,
        space: SpaceId(1),
        ns: "s-bfw".into(),
        code: "40 + 2".into(),
        status,
        created: Time::START,
        started: None,
        settled: None,
        ran,
        stopping: false,
        queued_before: None,
        lines: 0,
        bytes: 0,
        detached: false,
        forgotten: false,
        seen: false,
        told: false,
        followed: false,
    }
}

fn block_of(status: Status, ran: Duration) -> Block {
    Block {
        entry: view(status, ran),
        session: Some("bfw".into()),
        summary: None,
        printed: HeadTail::default(),
        dropped: 0,
        held_up: None,
        moved: None,
    }
}

/// The block of an entry that ended so.
fn ended(ran: Duration, summary: Summary) -> Block {
    let status = match summary.end {
        EndText::Value(_) => Status::Ok,
        EndText::Failed(_) => Status::Failed,
        EndText::Cancelled(_) => Status::Cancelled,
    };
    Block { summary: Some(Arc::new(summary)), ..block_of(status, ran) }
}

fn value(text: &str, elided: Elided) -> EndText {
    EndText::Value(Rendered { text: text.into(), elided })
}

fn ok(id: u64) -> News {
    News { id: EntryId(id), status: Status::Ok, failure: None }
}

fn failed(id: u64, kind: &str) -> News {
    News { id: EntryId(id), status: Status::Failed, failure: Some(Arc::new(Failure::new(kind, "it went wrong"))) }
}

fn check(block: &Block, expected: Expect) {
    expected.assert_eq(&one(block, &Tail::default(), Style::Agent));
}

#[test]
fn everything_there_is_to_say_in_its_order() {
    let gap = Some(Gap { lines: 9_998, bytes: 1_234_567, characters: 0, from: 1 });
    let conflicts = vec![
        Conflict { name: "x".into(), other: EntryId(29), function: false },
        Conflict { name: "f".into(), other: EntryId(30), function: true },
    ];
    let summary = Summary {
        committed: vec!["a".to_owned(), "b".to_owned()],
        conflicts,
        notes: vec![
            Note::InPlace("sort".to_owned()),
            Note::ItemFirst,
            Note::SlashesComment,
            Note::InPlace("push".to_owned()),
        ],
        cancelled_children: vec![EntryId(13)],
        new_space: Some("workshop".to_owned()),
        ..Summary::of(value("42", Elided::Counted { items: 9_872, characters: 0 }))
    };
    let block = Block {
        printed: HeadTail { head: vec![print("first line")], gap, tail: vec![print("last line")] },
        moved: Some(("s-bfw".into(), "workshop".into())),
        ..ended(ms(3), summary)
    };
    let news = Tail {
        settled: &[ok(9), failed(10, "ArrayBounds"), ok(11)],
        evicted: &[EntryId(3), EntryId(4)],
        adopted: Some(Adoption::Unknown),
        started: "14:02",
        manual_unread: true,
    };
    expect![[r#"
        42
        ;; out
        first line
        … 9,998 lines elided (1.2 MB) · out(12, 1, 100) pages through it
        last line
        ;; id 12 · session bfw · ns s-bfw · ok · 3 ms
        ;; truncated — 9,872 elided · res(12) is the whole value
        ;; note: sort() works in place and gives () · say order()
        ;; note: for (item, index) in list: the item comes first
        ;; note: // begins a comment in Rhai; whole numbers are divided by /
        ;; x was also set by entry 29
        ;; function f was also defined by entry 30
        ;; cancelled children: entry 13
        ;; new space workshop
        ;; moved from s-bfw to workshop · evals without ns take place there from now on
        ;; settled news: entries 9, 11 ok · entry 10 failed (ArrayBounds)
        ;; evicted: entries 3, 4
        ;; new session under an old id · this process started 14:02 · earlier ids and variables are gone
        ;; manual unread · eval manual() once before real work"#]]
    .assert_eq(&one(&block, &news, Style::Agent));
    expect![[r#"
        42
        ␛[2m;; out␛[0m
        first line
        ␛[2m… 9,998 lines elided (1.2 MB) · out(12, 1, 100) pages through it␛[0m
        last line
        ␛[2m;; id 12 · session bfw · ns s-bfw · ok · 3 ms␛[0m
        ␛[2m;; truncated — 9,872 elided · res(12) is the whole value␛[0m
        ␛[2m;; note: sort() works in place and gives () · say order()␛[0m
        ␛[2m;; note: for (item, index) in list: the item comes first␛[0m
        ␛[2m;; note: // begins a comment in Rhai; whole numbers are divided by /␛[0m
        ␛[2m;; x was also set by entry 29␛[0m
        ␛[2m;; function f was also defined by entry 30␛[0m
        ␛[2m;; cancelled children: entry 13␛[0m
        ␛[2m;; new space workshop␛[0m
        ␛[2m;; moved from s-bfw to workshop · evals without ns take place there from now on␛[0m
        ␛[2m;; settled news: entries 9, 11 ok · entry 10 failed (ArrayBounds)␛[0m
        ␛[2m;; evicted: entries 3, 4␛[0m
        ␛[2m;; new session under an old id · this process started 14:02 · earlier ids and variables are gone␛[0m
        ␛[2m;; manual unread · eval manual() once before real work␛[0m"#]]
    .assert_eq(&visible(&one(&block, &news, COLOUR)));
    assert_eq!(self::block(&block, Style::Agent), one(&block, &Tail::default(), Style::Agent));
    let expired = Tail { adopted: Some(Adoption::Expired), ..Tail::default() };
    expect![";; new session under an old id · the earlier one ended after a silence · its own variables are gone, its ids can be read while they are kept"].assert_eq(&tail(&expired, Style::Agent));
}

#[test]
fn how_an_entry_stands() {
    let mut running = block_of(Status::Running, ms(3_210));
    running.printed.head = vec![print("so far")];
    check(
        &running,
        expect![[r#"
        running · id 12 · 3.2 s so far
        ;; out
        so far
        ;; id 12 · session bfw · ns s-bfw · running"#]],
    );
    let mut queued = block_of(Status::Queued, ms(0));
    queued.entry.queued_before = Some(3);
    check(
        &queued,
        expect![[r#"
        queued · id 12 · 3 before it
        ;; id 12 · session bfw · ns s-bfw · queued, 3 before it"#]],
    );
    check(
        &Block { held_up: Some(ms(2_100)), ..block_of(Status::Running, ms(5_300)) },
        expect![[r#"
        cancelling (in native code since 2.1s) · id 12 · 5.3 s so far
        ;; id 12 · session bfw · ns s-bfw · cancelling"#]],
    );
    check(
        &block_of(Status::Ok, ms(3)),
        expect![[r#"
        ok · id 12 · its value and output were dropped by forget(12)
        ;; id 12 · session bfw · ns s-bfw · ok · 3 ms"#]],
    );
    let committed = vec!["a".to_owned(), "b".to_owned()];
    let cancelled = Summary { committed: committed.clone(), ..Summary::of(EndText::Cancelled(StopCause::Cancelled)) };
    check(
        &ended(ms(3_200), cancelled),
        expect![[r#"
        cancelled · id 12 after 3.2 s
        ;; id 12 · session bfw · ns s-bfw · cancelled · 3.2 s
        ;; set before it stopped: a, b"#]],
    );
    check(
        &block_of(Status::Cancelled, ms(0)),
        expect![[r#"
        cancelled · id 12 after 0 ms
        ;; id 12 · session bfw · ns s-bfw · cancelled · 0 ms"#]],
    );
    let mut nil = ended(ms(3), Summary::of(EndText::Cancelled(StopCause::Shutdown)));
    (nil.session, nil.entry.ns) = (None, "scratch".into());
    check(
        &nil,
        expect![[r#"
        cancelled · id 12 after 3 ms · the process is shutting down
        ;; id 12 · ns scratch · cancelled · 3 ms"#]],
    );
    let failure = Failure { line: 1, column: 7, ..Failure::new("Thrown", "no luck") };
    let failed = Summary { committed, ..Summary::of(EndText::Failed(Arc::new(failure))) };
    check(
        &ended(ms(1_000), failed.clone()),
        expect![[r#"
        Thrown: no luck · 1:7 · id 12
        ;; id 12 · session bfw · ns s-bfw · failed · 1.0 s
        ;; set before it stopped: a, b"#]],
    );
    let long = Summary { committed: vec!["n".repeat(5_000), "b".to_owned()], ..failed };
    let shown = block(&ended(ms(1_000), long), Style::Agent);
    let names = format!(";; set before it stopped: {}… 4,920 characters elided, b", "n".repeat(80));
    assert!(shown.ends_with(&names), "{shown}");
    let cause = StopCause::NoSuchSpace("lab".into());
    assert_eq!(reason(&cause).unwrap(), "no such space: lab");
}

#[test]
fn a_person_is_spared_the_unit_value() {
    let block = ended(ms(3), Summary::of(value("()", Elided::None)));
    check(
        &block,
        expect![[r#"
        ()
        ;; id 12 · session bfw · ns s-bfw · ok · 3 ms"#]],
    );
    expect![";; id 12 · session bfw · ns s-bfw · ok · 3 ms"].assert_eq(&one(
        &block,
        &Tail::default(),
        Style::Terminal { colour: false },
    ));
}

#[test]
fn several_entries_share_one_tail() {
    let mut blocks = [
        ended(ms(800), Summary::of(value("611", Elided::None))),
        ended(ms(3), Summary::of(value("two\nlines", Elided::None))),
    ];
    blocks[1].entry.id = EntryId(14);
    let news =
        Tail { settled: &[News { id: EntryId(9), status: Status::Cancelled, failure: None }], ..Tail::default() };
    let refused = ["no entry 900; the newest is 41".to_owned(), "entry 3 was evicted".to_owned()];
    expect![[r#"
        no entry 900; the newest is 41
        entry 3 was evicted

        611
        ;; id 12 · session bfw · ns s-bfw · ok · 800 ms

        two
        lines
        ;; id 14 · session bfw · ns s-bfw · ok · 3 ms
        ;; settled news: entry 9 cancelled"#]]
    .assert_eq(&several(&refused, &blocks, &news, Style::Agent));
    expect![[r#"
        no entry 900; the newest is 41
        entry 3 was evicted
        ;; settled news: entry 9 cancelled"#]]
    .assert_eq(&several(&refused, &[], &news, Style::Agent));
    expect![[r#""#]].assert_eq(&several(&[], &[], &Tail::default(), Style::Agent));
}

#[test]
fn many_ids_fold_into_ranges() {
    let ids: Vec<_> = (3..=40).chain([45]).map(EntryId).collect();
    assert_eq!(ranges(&ids), "3-40, 45");
    let settled: Vec<_> = (9..=40).map(|n| if n == 32 { failed(n, "Thrown") } else { ok(n) }).collect();
    assert_eq!(news(&settled), "entries 9-31, 33-40 ok · entry 32 failed (Thrown)");
    let twenty: Vec<_> = (1..=20).map(EntryId).collect();
    assert_eq!(ranges(&twenty), (1..=20).map(|n| n.to_string()).collect::<Vec<_>>().join(", "));
}

#[test]
fn news_says_how_each_ended_and_no_number_can_be_a_count() {
    let gone = News { failure: None, ..failed(7, "Thrown") };
    let all = [failed(5, "ArrayBounds"), ok(6), gone, ok(9), failed(12, "ArrayBounds"), failed(13, "Thrown")];
    expect!["entries 5, 12 failed (ArrayBounds) · entries 6, 9 ok · entry 7 failed · entry 13 failed (Thrown)"]
        .assert_eq(&news(&all));
    let long = failed(5, &"x\u{1b}".repeat(100));
    assert!(news(&[long]).ends_with("x\\x1b… 120 characters elided)"));
    assert_eq!(entries(&[EntryId(3)]), "entry 3");
}

#[test]
fn many_names_are_counted() {
    let all: Vec<_> = (0..60).map(|n| format!("v{n}")).collect();
    assert!(names(&all).ends_with("v48, v49, … 10 more"));
}

#[test]
fn plain_texts_carry_news_and_cannot_forge_it() {
    let news = Tail { evicted: &[EntryId(3)], ..Tail::default() };
    expect![[r#"
        eval takes no argument `colour\x1b`
         ;; id 1 · forged
        ;; evicted: entry 3"#]]
    .assert_eq(&text("eval takes no argument `colour\u{1b}`\n;; id 1 · forged", &news, Style::Agent));
    assert_eq!(super::tail(&Tail::default(), Style::Agent), "");
}

#[test]
fn entries_in_one_line() {
    let entry = view(Status::Ok, ms(3));
    assert_eq!(entry_line(&entry, None, None), "entry 12 · ok · 3 ms");
    let gone = entry_line(&entry, Some("the prompt"), Some("evicted"));
    assert_eq!(gone, "entry 12 · ok · 3 ms · by the prompt · evicted");
    let mut entry = EntryView { by: Some("bfw".into()), lines: 0, ..entry };
    assert_eq!(entry_facts(&entry, None, 0), "entry 12 · session bfw · ns s-bfw · ok · 3 ms");
    entry.lines = 12_000;
    let facts = entry_facts(&entry, None, 2_953);
    assert_eq!(facts, "entry 12 · session bfw · ns s-bfw · ok · 3 ms · 12,000 lines printed, 2,953 dropped");
    (entry.by, entry.lines) = (None, 1);
    let facts = entry_facts(&entry, Some("forgotten"), 1);
    assert_eq!(facts, "entry 12 · ns s-bfw · ok · 3 ms · 1 line printed, 1 dropped · forgotten");
    assert_eq!(set_before(&[]), None);
}
