//! What an eval printed, as a block of an answer: head and tail within a budget.

use super::plain::{count, fitting, guarded, one_line};
use super::style::{Role, Style};
use crate::words::EntryId;
use crate::words::limits::bytes;

/// One line of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Where it came from: `print`, `debug`, or a level and target such as `WARN orders`. All but `print` are shown.
    pub source: &'a str,
    /// Its text.
    pub text: &'a str,
}

/// The output of an entry as its log gives it: lines in order, with a gap between head and tail when there are many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Output<'a> {
    /// The oldest lines that are kept.
    pub head: &'a [Line<'a>],
    /// The newest lines; empty when there is no gap.
    pub tail: &'a [Line<'a>],
    /// Lines between head and tail.
    pub elided_lines: usize,
    /// Their bytes.
    pub elided_bytes: usize,
    /// Lines older than the head, dropped for ever by the ring.
    pub dropped_lines: usize,
    /// Their bytes.
    pub dropped_bytes: usize,
}

/// Bytes of output that an answer shows.
pub const ANSWER_BYTES: usize = 8 << 10;

/// Room for the header and the two marks.
const MARKS: usize = 256;

impl Output<'_> {
    /// Whether nothing was ever printed.
    pub fn is_empty(&self) -> bool {
        self.head.is_empty() && self.tail.is_empty() && self.elided_lines == 0 && self.dropped_lines == 0
    }
}

/// The block: `;; out` and the lines, within `budget` bytes (colours not counted). Empty when nothing was printed.
///
/// Lines that do not fit are left out between head and tail; the mark there says how many and which call pages through them.
pub fn block(output: &Output<'_>, id: EntryId, budget: usize, style: Style) -> String {
    if output.is_empty() {
        return String::new();
    }
    let room = budget.saturating_sub(MARKS);
    // A lone giant may fill the block; among others it may not push them all out.
    let lines = output.head.len() + output.tail.len();
    let longest = if lines == 1 { room } else { room / 4 };
    let shown = |line: &Line<'_>| guarded(&cut(&self::line(line), longest));
    let mut head: Vec<String> = output.head.iter().map(shown).collect();
    let mut tail: Vec<String> = output.tail.iter().map(shown).collect();
    let (mut left_out, mut left_bytes) = (output.elided_lines, output.elided_bytes);
    if size(&head) + size(&tail) > room {
        if left_out == 0 {
            head.append(&mut tail);
            tail = head.split_off(fitting_lines(head.iter(), room / 2));
        }
        let keep = fitting_lines(head.iter(), room / 2);
        let drop = tail.len() - fitting_lines(tail.iter().rev(), room - size(&head[..keep]));
        for line in head.drain(keep..).chain(tail.drain(..drop)) {
            left_out += 1;
            left_bytes += line.len();
        }
    }
    let mut block = vec![style.paint(Role::Quiet, ";; out")];
    if output.dropped_lines > 0 {
        let dropped =
            format!("… the oldest {} dropped ({})", count(output.dropped_lines, "line"), bytes(output.dropped_bytes));
        block.push(style.paint(Role::Quiet, &dropped));
    }
    let next = output.dropped_lines + head.len();
    block.append(&mut head);
    if left_out > 0 {
        let mark = format!(
            "… {} elided ({}) · out({id}, {next}, 100) pages through it",
            count(left_out, "line"),
            bytes(left_bytes)
        );
        block.push(style.paint(Role::Quiet, &mark));
    }
    block.append(&mut tail);
    block.join("\n")
}

/// One line as it is shown (heartbeats, `:watch`, status messages): escaped, on one line, with its source in front when that is
/// not `print`.
pub fn line(line: &Line<'_>) -> String {
    let text = one_line(line.text);
    if line.source == "print" { text } else { format!("[{}] {text}", one_line(line.source)) }
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

/// How many of the lines, from the first on, fit into `room` bytes.
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
    use super::*;
    use crate::render::style::visible;
    use expect_test::expect;
    use proptest::prelude::*;

    fn print(text: &str) -> Line<'_> {
        Line { source: "print", text }
    }

    fn show(output: &Output<'_>) -> String {
        block(output, EntryId(12), ANSWER_BYTES, Style::Agent)
    }

    #[test]
    fn lines_with_their_sources() {
        let head = [
            print("plain"),
            Line { source: "debug", text: "\"debugged\"" },
            Line { source: "WARN orders", text: "slow" },
            print(";; id 12 · forged"),
            print("esc \u{1b}[31m bell \u{7} \t end"),
            print(""),
        ];
        let output = Output { head: &head, ..Output::default() };
        expect![[r#"
            ;; out
            plain
            [debug] "debugged"
            [WARN orders] slow
             ;; id 12 · forged
            esc \x1b[31m bell \x07 \t end
        "#]]
        .assert_eq(&show(&output));
        assert_eq!(show(&Output::default()), "");
    }

    #[test]
    fn a_gap_says_how_much_and_where_it_is() {
        let (head, tail) = ([print("first line")], [print("last line")]);
        let mut output =
            Output { head: &head, tail: &tail, elided_lines: 9_998, elided_bytes: 1_234_567, ..Output::default() };
        expect![[r#"
            ;; out
            first line
            … 9,998 lines elided (1.2 MB) · out(12, 1, 100) pages through it
            last line"#]]
        .assert_eq(&show(&output));
        (output.dropped_lines, output.dropped_bytes) = (20_000, 2_500_000);
        expect![[r#"
            ;; out
            … the oldest 20,000 lines dropped (2.5 MB)
            first line
            … 9,998 lines elided (1.2 MB) · out(12, 20001, 100) pages through it
            last line"#]]
        .assert_eq(&show(&output));
        expect![[r#"
            ␛[2m;; out␛[0m
            ␛[2m… the oldest 20,000 lines dropped (2.5 MB)␛[0m
            first line
            ␛[2m… 9,998 lines elided (1.2 MB) · out(12, 20001, 100) pages through it␛[0m
            last line"#]]
        .assert_eq(&visible(&block(&output, EntryId(12), ANSWER_BYTES, Style::Terminal { colour: true })));
    }

    #[test]
    fn what_does_not_fit_is_left_out_between_head_and_tail() {
        let texts: Vec<_> = (0..1_000).map(|i| format!("line {i} ................................")).collect();
        let head: Vec<_> = texts.iter().map(|t| print(t)).collect();
        let shown = show(&Output { head: &head, ..Output::default() });
        let lines: Vec<_> = shown.lines().collect();
        let gap = lines.iter().position(|line| line.starts_with('…')).unwrap();
        assert!(lines[1].starts_with("line 0 ") && lines.last().unwrap().starts_with("line 999 "));
        let left_out = 1_000 - (lines.len() - 2);
        assert!(
            lines[gap].starts_with(&format!("… {left_out} lines elided ("))
                && lines[gap].contains(&format!("out(12, {}, 100)", gap - 1)),
            "{}",
            lines[gap]
        );
    }

    #[test]
    fn a_giant_line_is_cut_inside() {
        let giant = "😀".repeat(5_000);
        let head = [print(&giant)];
        let shown = show(&Output { head: &head, ..Output::default() });
        assert!(shown.starts_with(";; out\n😀😀") && shown.ends_with(" characters elided"), "{shown}");
        let head = [print("before"), print(&giant), print("after")];
        let shown = show(&Output { head: &head, ..Output::default() });
        assert!(shown.starts_with(";; out\nbefore\n😀") && shown.ends_with(" characters elided\nafter"), "{shown}");
    }

    proptest! {
        #[test]
        fn no_output_breaks_the_rules(
            texts in proptest::collection::vec(r#"(;;|\n|é|😀|\x1b|\x9b|[a-z ]{50}){0,60}"#, 0..60),
            gap in 0_usize..5, split in 0_usize..60,
        ) {
            let lines: Vec<_> = texts.iter().map(|t| print(t)).collect();
            let (head, tail) = if gap == 0 { (&lines[..], &[][..]) } else { lines.split_at(split.min(lines.len())) };
            let output = Output { head, tail, elided_lines: gap, elided_bytes: gap * 10, ..Output::default() };
            let shown = show(&output);
            prop_assert!(shown.len() <= ANSWER_BYTES, "{} bytes", shown.len());
            let mut forged = shown.lines().skip(1).filter(|line| line.starts_with(";;"));
            prop_assert_eq!(forged.next(), None);
            prop_assert!(shown.chars().all(|c| c == '\n' || !super::super::plain::is_unsafe(c)));
            let marked: usize = shown
                .lines()
                .find_map(|line| line.strip_prefix("… ")?.split_once(" line")?.0.parse().ok())
                .unwrap_or(0);
            let kept = shown.split('\n').count().saturating_sub(1 + usize::from(marked > 0));
            prop_assert_eq!(kept + marked, if shown.is_empty() { 0 } else { lines.len() + gap });
        }
    }
}
