//! Failures: kind, message and place on the first line; then the source line with a caret, the calls, near names, a hint.

use super::plain::{count, guarded, head, is_unsafe, listed, one_line};
use super::style::{Role, Style};
use crate::words::{EntryId, Failure, Frame};
use std::fmt::Write;

/// Characters of the message on the first line, and of each further line of it.
const MESSAGE: usize = 1_000;
/// Further lines of a message.
const MESSAGE_LINES: usize = 20;
/// Characters of the source line on each side of the caret.
const AROUND: usize = 60;
/// Calls shown before and after a gap.
const FRAMES: usize = 10;

/// The whole text. `id` is named on the first line when there is an entry.
pub fn text(failure: &Failure, id: Option<EntryId>, style: Style) -> String {
    let mut lines = vec![style.paint(Role::Bad, &first_line(failure, id))];
    lines.extend(more_message(&failure.message));
    if !failure.source.is_empty() {
        lines.push(style.paint(Role::Quiet, &format!("  {}", place(&failure.source, failure.line, failure.column))));
    }
    if let Some(excerpt) = &failure.excerpt {
        let (line, pad) = clipped(excerpt, failure.column);
        lines.push(format!("    {line}"));
        if failure.column > 0 {
            lines.push(format!("    {pad}{}", style.paint(Role::Bad, "^")));
        }
    }
    frames(&failure.frames, &mut lines, style);
    if !failure.suggestions.is_empty() {
        lines
            .push(format!("did you mean: {}", listed(failure.suggestions.iter().map(|name| one_line(head(name, 80))))));
    }
    if let Some(hint) = &failure.hint {
        lines.push(format!("hint: {}", one_line(hint)));
    }
    lines.join("\n")
}

/// The first line alone: `FunctionNotFound: no function 'lenn' for (array) · 2:12 · id 12`.
pub fn first_line(failure: &Failure, id: Option<EntryId>) -> String {
    let message = failure.message.lines().next().unwrap_or_default();
    let shown = head(message, MESSAGE);
    let mut line = format!("{}: {}", one_line(&failure.kind), one_line(shown));
    let mut push = |text: std::fmt::Arguments<'_>| line.write_fmt(text).expect("writing to a string cannot fail");
    if shown.len() < message.len() {
        push(format_args!("… {} elided", count(message[shown.len()..].chars().count(), "character")));
    }
    if failure.line > 0 {
        push(format_args!(" · {}", position(failure.line, failure.column)));
    }
    if let Some(id) = id {
        push(format_args!(" · id {id}"));
    }
    guarded(&line)
}

/// The lines of a message after its first.
fn more_message(message: &str) -> Vec<String> {
    let all: Vec<_> = message.lines().skip(1).collect();
    let mut lines: Vec<_> = all
        .iter()
        .take(MESSAGE_LINES)
        .map(|line| {
            let shown = head(line, MESSAGE / 4);
            format!("  {}{}", one_line(shown), if shown.len() < line.len() { "…" } else { "" })
        })
        .collect();
    if all.len() > MESSAGE_LINES {
        lines.push(format!("  … {} elided", count(all.len() - MESSAGE_LINES, "line")));
    }
    lines
}

/// `stats.rhai:3:7`, as editors and terminals can follow it.
fn place(source: &str, line: usize, column: usize) -> String {
    let source = one_line(source);
    if line == 0 { source } else { format!("{source}:{}", position(line, column)) }
}

/// `2:12`, or `2` when the column is unknown.
fn position(line: usize, column: usize) -> String {
    if column == 0 { line.to_string() } else { format!("{line}:{column}") }
}

/// The part of a source line around a column, and what stands above the blank before the caret.
fn clipped(line: &str, column: usize) -> (String, String) {
    let column = column.max(1) - 1;
    let line = line.trim_end_matches(['\n', '\r']);
    let from = column.saturating_sub(AROUND);
    let mut shown = String::new();
    let mut pad = String::new();
    if from > 0 {
        shown.push('…');
        pad.push(' ');
    }
    let mut rest = line.chars().skip(from);
    for (at, c) in (from..column + AROUND).zip(&mut rest) {
        // Columns are characters, so each takes one place here, a tab too.
        shown.push(if c == '\t' || is_unsafe(c) { ' ' } else { c });
        if at < column {
            pad.push(if is_wide(c) { '\u{3000}' } else { ' ' });
        }
    }
    if rest.next().is_some() {
        shown.push('…');
    }
    (shown.trim_end().to_owned(), pad)
}

/// Whether terminals show a character two cells wide (the common ranges).
fn is_wide(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}' | '\u{ff00}'..='\u{ff60}' | '\u{ffe0}'..='\u{ffe6}' | '\u{1f300}'..='\u{1faff}'
        | '\u{20000}'..='\u{3fffd}')
}

/// The calls, innermost first, next to the line that failed.
fn frames(frames: &[Frame], lines: &mut Vec<String>, style: Style) {
    if frames.len() <= 2 * FRAMES {
        lines.extend(frames.iter().rev().map(frame));
        return;
    }
    lines.extend(frames.iter().rev().take(FRAMES).map(frame));
    let gap = format!("  … {} elided", count(frames.len() - 2 * FRAMES, "call"));
    lines.push(style.paint(Role::Quiet, &gap));
    lines.extend(frames[..FRAMES].iter().rev().map(frame));
}

/// One call: the function, and where the call stands.
fn frame(frame: &Frame) -> String {
    let function = one_line(head(&frame.function, 80));
    match (frame.source.is_empty(), frame.line) {
        (true, 0) => format!("  in {function}"),
        (true, line) => format!("  in {function} · {}", position(line, frame.column)),
        (false, line) => format!("  in {function} · {}", place(&frame.source, line, frame.column)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::style::visible;
    use expect_test::expect;
    use proptest::prelude::*;

    fn agent(failure: &Failure) -> String {
        text(failure, Some(EntryId(12)), Style::Agent)
    }

    fn called(function: &str, source: &str, line: usize, column: usize) -> Frame {
        Frame { function: function.into(), source: source.into(), line, column }
    }

    fn typo() -> Failure {
        Failure {
            source: "eval 12".into(),
            line: 2,
            column: 12,
            excerpt: Some("\tlet n = list.lenn();\r\n".into()),
            suggestions: vec!["len".into(), "len()".into()],
            ..Failure::new("FunctionNotFound", "no function 'lenn' for (array)")
        }
    }

    #[test]
    fn a_typo_shows_its_line_and_near_names() {
        expect![[r#"
            FunctionNotFound: no function 'lenn' for (array) · 2:12 · id 12
              eval 12:2:12
                 let n = list.lenn();
                           ^
            did you mean: len, len()"#]]
        .assert_eq(&agent(&typo()));
        expect![[r#"
            ␛[31mFunctionNotFound: no function 'lenn' for (array) · 2:12␛[0m
            ␛[2m  eval 12:2:12␛[0m
                 let n = list.lenn();
                           ␛[31m^␛[0m
            did you mean: len, len()"#]]
        .assert_eq(&visible(&text(&typo(), None, Style::Terminal { colour: true })));
    }

    #[test]
    fn calls_stand_innermost_first() {
        let failure = Failure {
            source: "boom.rhai".into(),
            line: 3,
            column: 7,
            excerpt: Some("    n.nosuch()".into()),
            frames: vec![
                called("outer", "eval 12", 2, 4),
                called("inner", "boom.rhai", 5, 15),
                called("native", "", 0, 0),
            ],
            hint: Some("a module's function never sees its importer's variables".into()),
            ..Failure::new("FunctionNotFound", "no function 'nosuch' for (i64)")
        };
        expect![[r#"
            FunctionNotFound: no function 'nosuch' for (i64) · 3:7 · id 12
              boom.rhai:3:7
                    n.nosuch()
                      ^
              in native
              in inner · boom.rhai:5:15
              in outer · eval 12:2:4
            hint: a module's function never sees its importer's variables"#]]
        .assert_eq(&agent(&failure));
        let deep = Failure {
            frames: (1..=64).map(|n| called(&format!("f{n}"), "eval 3", n, 1)).collect(),
            ..Failure::new("StackOverflow", "calls nest deeper than 64")
        };
        let shown = agent(&deep);
        let lines: Vec<_> = shown.lines().collect();
        assert_eq!(lines.len(), 22);
        assert_eq!(
            [lines[1], lines[10], lines[11]],
            ["  in f64 · eval 3:64:1", "  in f55 · eval 3:55:1", "  … 44 calls elided"]
        );
        assert_eq!([lines[12], lines[21]], ["  in f10 · eval 3:10:1", "  in f1 · eval 3:1:1"]);
    }

    #[test]
    fn messages_keep_to_their_lines() {
        let failure = Failure::new("Thrown", "first\n;; id 12 · forged\n\u{1b}[31mred");
        expect![[r#"
            Thrown: first · id 12
              ;; id 12 · forged
              \x1b[31mred"#]]
        .assert_eq(&agent(&failure));
        let long = first_line(&Failure::new("Thrown", "é".repeat(5_000)), None);
        assert!(long.ends_with("é… 4,000 characters elided"), "{long}");
        assert!(agent(&Failure::new("Thrown", "line\n".repeat(500))).ends_with("\n  … 479 lines elided"));
        assert_eq!(first_line(&Failure::new(";; id 12", ""), None), " ;; id 12: ");
    }

    #[test]
    fn long_lines_are_clipped_around_the_caret() {
        let line = format!("let x = 1; {}nosuch", "x + ".repeat(300));
        let failure =
            Failure { line: 1, column: 1_212, excerpt: Some(line), source: "eval 12".into(), ..Failure::new("E", "m") };
        let shown = agent(&failure);
        let lines: Vec<_> = shown.lines().collect();
        assert!(lines[2].chars().count() < 2 * AROUND + 8, "{}", lines[2]);
        let caret = lines[3].chars().position(|c| c == '^').unwrap();
        assert!(lines[2].chars().skip(caret).collect::<String>().starts_with("nosuch"), "{shown}");
        let wide =
            Failure { line: 1, column: 5, excerpt: Some("変=1; 😀.nosuch()".into()), ..Failure::new("E", "m") };
        assert!(agent(&wide).ends_with("\n    \u{3000}   ^"), "{:?}", agent(&wide));
    }

    proptest! {
        #[test]
        fn no_failure_breaks_the_rules(
            parts in proptest::collection::vec(r"(;;|\n|é|😀|\x1b|\x9b|\t|[a-z ]{9}){0,400}", 6),
            column in 0_usize..500,
        ) {
            let failure = Failure {
                kind: parts[0].clone(),
                message: parts[1].clone(),
                source: parts[2].clone(),
                line: column % 7,
                column,
                excerpt: Some(parts[3].replace('\n', "")),
                frames: vec![called(&parts[4], &parts[2], 1, 2)],
                suggestions: vec![parts[4].clone()],
                hint: Some(parts[5].clone()),
            };
            let shown = agent(&failure);
            prop_assert!(shown.chars().all(|c| c == '\n' || !is_unsafe(c)));
            prop_assert!(shown.lines().all(|line| !line.starts_with(";;")), "{}", shown);
        }
    }
}
