//! The output log.

use crate::base::Time;
use crate::registry::{Gap, HeadTail, Line, OutputLog};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

fn log(limit: usize) -> OutputLog {
    OutputLog::new(limit, Arc::default(), Time::START)
}

fn printed(limit: usize, lines: &[&str]) -> OutputLog {
    let log = log(limit);
    for line in lines {
        log.push(Time::START, "print", line);
    }
    log
}

fn texts(lines: &[Line]) -> Vec<&str> {
    lines.iter().map(|line| line.text.as_str()).collect()
}

/// An output as an answer shows it: head, gap (lines, bytes or characters of one line, from), tail.
type Shown<'a> = (Vec<&'a str>, Option<(u64, u64, u64)>, Vec<&'a str>);

fn shown(found: &HeadTail) -> Shown<'_> {
    let gap = found
        .gap
        .map(|Gap { lines, bytes, characters, from }| (lines, if lines == 0 { characters } else { bytes }, from));
    (texts(&found.head), gap, texts(&found.tail))
}

#[test]
fn a_text_with_line_breaks_is_several_lines_of_one_moment() {
    let log = log(1_000);
    log.start(Time::after_start(Duration::from_secs(1)));
    log.push(Time::after_start(Duration::from_secs(3)), "print", "one\r\ntwo\n\nfour\n");
    log.push(Time::after_start(Duration::from_secs(4)), "debug", "");
    let page = log.page(0, 10);
    assert_eq!(texts(&page.lines), ["one", "two", "", "four", ""]);
    let seconds: Vec<_> = page.lines.iter().map(|line| line.after.as_secs()).collect();
    assert_eq!(seconds, [2, 2, 2, 2, 3]);
    assert_eq!((page.lines[3].source.as_ref(), page.lines[4].source.as_ref()), ("print", "debug"));
    assert_eq!(log.last_at(), Some(Time::after_start(Duration::from_secs(4))));
}

#[test]
fn pages_count_from_0_over_all_lines() {
    let log = printed(1_000, &["a", "b", "c", "d"]);
    let page = log.page(1, 2);
    assert_eq!((page.first, page.skipped, texts(&page.lines), page.total), (1, 0, vec!["b", "c"], 4));
    assert_eq!(texts(&log.page(3, usize::MAX).lines), ["d"]);
    assert_eq!(texts(&log.page(9, 5).lines), [""; 0]);
    assert_eq!(texts(&log.page(u64::MAX, usize::MAX).lines), [""; 0]);
}

#[test]
fn the_ring_drops_the_oldest_and_counts_them() {
    // Each line counts eleven bytes.
    let log = printed(35, &["0.........", "1.........", "2.........", "3.........", "4........."]);
    assert_eq!((log.total_lines(), log.dropped_lines()), (5, 2));
    let page = log.page(1, 3);
    assert_eq!((page.first, page.skipped, page.lines.len()), (2, 1, 2));
    let page = log.page(0, 1);
    assert_eq!((page.first, page.skipped, page.lines.len()), (2, 1, 0));
    let all = log.head_tail(1_000);
    assert_eq!(shown(&all), (vec![], Some((2, 20, 0)), vec!["2.........", "3.........", "4........."]));
}

#[test]
fn a_flood_of_empty_lines_is_bounded() {
    let log = log(800);
    for _ in 0..1_000 {
        log.push(Time::START, "print", "");
    }
    assert_eq!((log.total_lines(), log.dropped_lines()), (1_000, 900));
}

#[test]
fn a_line_larger_than_the_ring_is_cut_between_characters() {
    let log = printed(11, &["before", "ääääääää"]);
    let line = log.last_line().unwrap();
    assert_eq!((line.text.as_str(), line.cut), ("äääää", 3));
    assert_eq!((log.total_lines(), log.dropped_lines()), (2, 1));
}

#[test]
fn everything_is_shown_when_it_fits() {
    let log = printed(1_000, &["a", "bb"]);
    assert_eq!(shown(&log.head_tail(5)), (vec!["a", "bb"], None, vec![]));
    assert_eq!(shown(&log.head_tail(4)), (vec!["a"], Some((0, 1, 1)), vec!["b"]));
}

#[test]
fn head_and_tail_name_what_is_between() {
    let lines: Vec<_> = (0..100).map(|n| format!("line {n:02}")).collect();
    let log = printed(10_000, &lines.iter().map(String::as_str).collect::<Vec<_>>());
    let found = log.head_tail(32);
    assert_eq!(shown(&found), (vec!["line 00", "line 01"], Some((96, 96 * 7, 2)), vec!["line 98", "line 99"]));
}

#[test]
fn a_single_giant_line_keeps_both_ends() {
    let log = printed(10_000, &[&format!("ü{}ü", "x".repeat(1_000))]);
    let found = log.head_tail(20);
    assert_eq!(shown(&found), (vec!["üxxxxxxx"], Some((0, 1_002 - 16, 0)), vec!["xxxxxxxü"]));
    assert_eq!((found.head[0].cut, found.tail[0].cut), (1_002 - 8, 1_002 - 8));
    let log = printed(10_000, &[&"😀".repeat(1_000)]);
    let found = log.head_tail(20);
    assert_eq!(shown(&found), (vec!["😀😀"], Some((0, 1_000 - 4, 0)), vec!["😀😀"]));
}

#[test]
fn giant_lines_at_either_end_are_shown_in_part() {
    let giant = "x".repeat(100);
    let log = printed(10_000, &[&giant, "mid", "end"]);
    assert_eq!(shown(&log.head_tail(20)), (vec!["xxxxxxxxx"], Some((0, 91, 0)), vec!["mid", "end"]));
    let log = printed(10_000, &["start", "mid", &giant]);
    assert_eq!(shown(&log.head_tail(20)), (vec!["start", "mid"], Some((0, 91, 2)), vec!["xxxxxxxxx"]));
    let log = printed(10_000, &[&giant, &giant]);
    assert_eq!(shown(&log.head_tail(20)), (vec!["xxxxxxxxx"], Some((0, 182, 0)), vec!["xxxxxxxxx"]));
}

#[test]
fn no_budget_shows_nothing_and_says_so() {
    let log = printed(10_000, &["one", "two"]);
    assert_eq!(shown(&log.head_tail(0)), (vec![], Some((2, 6, 0)), vec![]));
    assert_eq!(shown(&printed(10, &[]).head_tail(0)), (vec![], None, vec![]));
}

#[test]
fn forgetting_drops_and_counts() {
    let total = Arc::new(AtomicUsize::new(0));
    let log = OutputLog::new(1_000, Arc::clone(&total), Time::START);
    log.push(Time::START, "print", "a\nb");
    assert_eq!(total.load(Ordering::Relaxed), log.kept_bytes());
    assert!(log.kept_bytes() > 2);
    assert_eq!(log.forget().len(), 2);
    assert_eq!((total.load(Ordering::Relaxed), log.total_lines(), log.dropped_lines()), (0, 2, 2));
    log.push(Time::START, "print", "c");
    assert_eq!(texts(&log.page(0, 10).lines), ["c"]);
    drop(log);
    assert_eq!(total.load(Ordering::Relaxed), 0);
}

#[test]
fn lines_of_many_threads_are_all_kept() {
    let log = Arc::new(log(1 << 20));
    let threads: Vec<_> = (0..4)
        .map(|thread| {
            let log = Arc::clone(&log);
            std::thread::spawn(move || {
                for n in 0..500 {
                    log.push(Time::START, "print", &format!("{thread} {n}"));
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let page = log.page(0, usize::MAX);
    for thread in 0..4 {
        let prefix = format!("{thread} ");
        let of_thread: Vec<_> = texts(&page.lines).into_iter().filter_map(|text| text.strip_prefix(&prefix)).collect();
        assert_eq!(of_thread, (0..500).map(|n| n.to_string()).collect::<Vec<_>>());
    }
}
