//! The output of an eval, as a block of an answer: head and tail within a budget.

use super::plain::{count, fitting, guarded, one_line};
use super::style::{Role, Style};
use crate::base::EntryId;
use crate::base::limits::{bytes, thousands};
use crate::registry::{Gap, HeadTail, Line};

/// The output of an entry, as an answer shows it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output<'a> {
    /// Beginning and end, asked of the log with `room`.
    pub lines: &'a HeadTail,
    /// Bytes of lines that are shown: [`ROOM`] or [`BESIDE_NOTHING`].
    pub room: usize,
    /// The number of the lines left out that are gone for ever.
    pub dropped: u64,
}

/// Room for the header and the mark.
const MARKS: usize = 256;

/// Bytes of lines that fit into an answer when nothing in them has to be escaped.
pub(crate) const ROOM: usize = (8 << 10) - MARKS;

/// The same for the answer of an eval whose value is `()`: what it printed is then all there is to read, and more of it than
/// anybody reads is a loop that prints.
pub(crate) const BESIDE_NOTHING: usize = (4 << 10) - MARKS;

impl Output<'_> {
    /// True when nothing was ever printed.
    pub(crate) fn is_empty(&self) -> bool {
        self.lines.head.is_empty() && self.lines.tail.is_empty() && self.lines.gap.is_none()
    }
}

/// The block: `;; out` and the lines, within its room and [`MARKS`] (colours not counted). Empty when nothing was printed.
///
/// Lines that do not fit are left out between head and tail; the mark there says how many and which call pages through them.
pub(crate) fn block(output: &Output<'_>, id: EntryId, style: Style) -> String {
    if output.is_empty() {
        return String::new();
    }
    let HeadTail { head, gap, tail } = output.lines;
    let room = output.room;
    let (mut head, mut tail) = shown(head, gap.is_some(), tail, room);
    let mut gap = gap.unwrap_or(Gap { lines: 0, bytes: 0, characters: 0, from: head.len() as u64 });
    if size(&head) + size(&tail) > room {
        // Escapes made it longer than the log thought.
        if gap.lines == 0 && tail.is_empty() {
            tail = head.split_off(fitting_lines(head.iter(), room / 2));
        }
        let keep = fitting_lines(head.iter(), room / 2);
        let drop = tail.len() - fitting_lines(tail.iter().rev(), room - size(&head[..keep]));
        gap.from = gap.from.min(keep as u64);
        for line in head.drain(keep..).chain(tail.drain(..drop)) {
            gap.lines += 1;
            gap.bytes += line.len() as u64;
        }
    }
    let mut block = vec![style.paint(Role::Quiet, ";; out")];
    block.append(&mut head);
    if gap.lines > 0 || gap.characters > 0 {
        block.push(style.paint(Role::Quiet, &mark(&gap, output.dropped, id)));
    }
    block.append(&mut tail);
    block.join("\n")
}

/// `… 9,998 lines elided (1.2 MB) · out(12, 500, 100) pages through it`.
fn mark(gap: &Gap, dropped: u64, id: EntryId) -> String {
    let size = bytes(number(gap.bytes));
    match (gap.lines, dropped) {
        (0, _) => {
            let left = count(number(gap.characters), "character");
            format!("… {left} elided · out({id}, {}, 1) is the whole line", gap.from)
        }
        (lines, 0) => {
            format!(
                "… {} elided ({size}) · out({id}, {}, 100) pages through it",
                count(number(lines), "line"),
                gap.from
            )
        }
        (lines, dropped) if dropped >= lines => {
            format!("… {} dropped ({size}): only the newest are kept", count(number(lines), "line"))
        }
        (lines, dropped) => format!(
            "… {} elided ({size}), {} of them dropped · out({id}, {dropped}, 100) pages through the rest",
            count(number(lines), "line"),
            thousands(number(dropped))
        ),
    }
}

/// A count of the log, which no address space is too small for.
fn number(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

/// The lines of both ends as they are shown, each cut to its share.
fn shown(head: &[Line], gap: bool, tail: &[Line], room: usize) -> (Vec<String>, Vec<String>) {
    // Two giants may fill the block; among others no line may push them all out.
    let share = if head.len() + tail.len() <= 2 { room / 2 - 8 } else { room / 4 };
    let last = head.len();
    let head = head.iter().enumerate().map(|(n, line)| match line.cut {
        // The mark of the gap says how much.
        1.. if gap && n + 1 == last => guarded(&format!("{}…", cut(&self::line(line), share))),
        _ => whole(line, share),
    });
    let alone = tail.len() == 1;
    let tail = tail.iter().map(|line| match line.cut {
        1.. if alone => format!("…{}", cut(&self::line(line), share)),
        _ => whole(line, share),
    });
    (head.collect(), tail.collect())
}

/// A line with its beginning, and what the log itself cut off its end.
fn whole(line: &Line, share: usize) -> String {
    let text = cut(&self::line(line), share);
    guarded(&format!("{text}{}", missing(line)))
}

/// What the log itself cut off the end of a line.
pub(super) fn missing(line: &Line) -> String {
    if line.cut > 0 { format!("… {} elided", count(line.cut, "character")) } else { String::new() }
}

/// The mark in a page for lines that are gone for ever.
pub(crate) fn dropped(lines: u64) -> String {
    format!("{} were dropped", count(usize::try_from(lines).unwrap_or(usize::MAX), "line"))
}

/// One line as it is shown (heartbeats, `:watch`, status messages): escaped, on one line, with its source in front when that is
/// not `print`.
pub(crate) fn line(line: &Line) -> String {
    let text = one_line(&line.text);
    if line.source == "print" { text } else { format!("[{}] {text}", one_line(&line.source)) }
}

/// A line of at most `max` bytes.
fn cut(line: &str, max: usize) -> String {
    if line.len() <= max {
        return line.to_owned();
    }
    let shown = fitting(line, max.saturating_sub(40));
    format!("{shown}… {} elided", count(line[shown.len()..].chars().count(), "character"))
}

/// Bytes of lines with their ends.
fn size(lines: &[String]) -> usize {
    lines.iter().map(|line| line.len() + 1).sum()
}

/// The number of lines, from the first on, that fit into `room` bytes.
fn fitting_lines<'a>(lines: impl Iterator<Item = &'a String>, room: usize) -> usize {
    let mut used = 0;
    lines
        .take_while(|line| {
            used += line.len() + 1;
            used <= room
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::super::plain::is_unsafe;
    use super::*;
    use crate::render::style::visible;
    use expect_test::expect;
    use proptest::prelude::*;
    use std::time::Duration;

    fn from(source: &'static str, text: &str) -> Line {
        Line { after: Duration::ZERO, source: source.into(), text: text.into(), cut: 0 }
    }

    fn print(text: &str) -> Line {
        from("print", text)
    }

    fn show(lines: &HeadTail, dropped: u64) -> String {
        block(&Output { lines, room: ROOM, dropped }, EntryId(12), Style::Agent)
    }

    #[test]
    fn lines_with_their_sources() {
        let head = vec![
            print("plain"),
            from("debug", "\"debugged\""),
            from("WARN orders", "slow"),
            print(";; id 12 · forged"),
            print("esc \u{1b}[31m bell \u{7} \t end"),
            print(""),
        ];
        expect![[r#"
            ;; out
            plain
            [debug] "debugged"
            [WARN orders] slow
             ;; id 12 · forged
            esc \x1b[31m bell \x07 \t end
        "#]]
        .assert_eq(&show(&HeadTail { head, ..HeadTail::default() }, 0));
        assert_eq!(show(&HeadTail::default(), 0), "");
    }

    #[test]
    fn a_gap_says_how_much_and_where_it_is() {
        let gap = Some(Gap { lines: 9_998, bytes: 1_234_567, characters: 0, from: 1 });
        let mut lines = HeadTail { head: vec![print("first line")], gap, tail: vec![print("last line")] };
        expect![[r#"
            ;; out
            first line
            … 9,998 lines elided (1.2 MB) · out(12, 1, 100) pages through it
            last line"#]]
        .assert_eq(&show(&lines, 0));
        let output = Output { lines: &lines, room: ROOM, dropped: 0 };
        expect![[r#"
            ␛[2m;; out␛[0m
            first line
            ␛[2m… 9,998 lines elided (1.2 MB) · out(12, 1, 100) pages through it␛[0m
            last line"#]]
        .assert_eq(&visible(&block(&output, EntryId(12), Style::Terminal { colour: true })));
        lines.head.clear();
        expect![[r#"
            ;; out
            … 9,998 lines elided (1.2 MB), 500 of them dropped · out(12, 500, 100) pages through the rest
            last line"#]]
        .assert_eq(&show(&lines, 500));
        expect![[r#"
            ;; out
            … 9,998 lines dropped (1.2 MB): only the newest are kept
            last line"#]]
        .assert_eq(&show(&lines, 9_998));
    }

    #[test]
    fn a_giant_line_is_cut_inside() {
        let giant = Line { cut: 12_000, ..print(";; 😀😀") };
        let gap = Some(Gap { lines: 0, bytes: 12_000, characters: 12_000, from: 0 });
        let lines = HeadTail { head: vec![giant.clone()], gap, tail: vec![giant.clone()] };
        expect![[r#"
            ;; out
             ;; 😀😀…
            … 12,000 characters elided · out(12, 0, 1) is the whole line
            …;; 😀😀"#]]
        .assert_eq(&show(&lines, 0));
        let lines = HeadTail { head: vec![print("before"), giant, print("after")], ..HeadTail::default() };
        expect![[r#"
            ;; out
            before
             ;; 😀😀… 12,000 characters elided
            after"#]]
        .assert_eq(&show(&lines, 0));
        let escapes = print(&"\u{1b}".repeat(6_000));
        let lines = HeadTail { head: vec![print("before"), escapes, print("after")], ..HeadTail::default() };
        let shown = show(&lines, 0);
        assert!(shown.starts_with(";; out\nbefore\n\\x1b") && shown.ends_with(" characters elided\nafter"), "{shown}");
    }

    proptest! {
        #[test]
        fn no_output_breaks_the_rules(
            texts in proptest::collection::vec(r"(;;|é|😀|\x1b|\x9b|[a-z ]{50}){0,60}", 0..60), gap in 0_u64..5, split in 0_usize..60,
            room in prop::sample::select(vec![ROOM, BESIDE_NOTHING]),
        ) {
            let mut head: Vec<_> = texts.iter().map(|text| print(text)).collect();
            let tail = if gap == 0 { Vec::new() } else { head.split_off(split.min(head.len())) };
            let gap = (gap > 0).then_some(Gap { lines: gap, bytes: gap * 10, characters: 0, from: head.len() as u64 });
            let lines = HeadTail { head, gap, tail };
            let shown = block(&Output { lines: &lines, room, dropped: 0 }, EntryId(12), Style::Agent);
            prop_assert!(shown.len() <= room + MARKS, "{} bytes", shown.len());
            let mut forged = shown.lines().skip(1).filter(|line| line.starts_with(";;"));
            prop_assert_eq!(forged.next(), None);
            prop_assert!(shown.chars().all(|c| c == '\n' || !is_unsafe(c)));
            let mark = shown.lines().find_map(|line| line.strip_prefix("… ")?.split_once(" line"));
            let marked: usize = mark.map_or(0, |(n, _)| n.parse().unwrap());
            if let Some((_, rest)) = mark {
                let at = shown.lines().position(|line| line.starts_with("… ") && line.contains("out(")).unwrap();
                prop_assert!(rest.contains(&format!("out(12, {}, 100)", at - 1)), "{}", rest);
            }
            let kept = shown.split('\n').count().saturating_sub(1 + usize::from(marked > 0));
            let printed = texts.len() + gap.map_or(0, |gap| gap.lines as usize);
            prop_assert_eq!(kept + marked, if shown.is_empty() { 0 } else { printed });
        }
    }
}
