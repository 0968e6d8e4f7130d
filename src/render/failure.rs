//! Failures: kind, message and place on the first line; then the source line with a caret, the calls, near names, a hint.

use super::plain::{count, guarded, head, is_unsafe, listed, one_line};
use super::style::{Role, Style};
use crate::base::{Cut, EntryId, Failure, Frame};
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
pub(crate) fn text(failure: &Failure, id: Option<EntryId>, style: Style) -> String {
    let message = Message::of(failure);
    let mut lines = vec![style.paint(Role::Bad, &first_line(failure, id))];
    lines.extend(message.further_lines());
    if let Some(id) = id.filter(|_| message.is_cut()) {
        if failure.thrown {
            lines.push(format!("  failure({id}).thrown is the whole value"));
        } else if failure.cut.is_nothing() {
            lines.push(format!("  failure({id}).message is the whole message"));
        }
    }
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
    match (&failure.hint, page(&failure.kind)) {
        (Some(hint), Some(page)) => lines.push(format!("hint: {} · manual(\"{page}\")", one_line(hint))),
        (Some(hint), None) => lines.push(format!("hint: {}", one_line(hint))),
        (None, Some(page)) => lines.push(format!("· manual(\"{page}\")")),
        (None, None) => {}
    }
    lines.join("\n")
}

/// The page of the manual that helps with failures of a kind, where there is more to know than the message says.
fn page(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "DataRace" | "NestedSwap" | "NestedChange" | "NestedRead" | "AtomCycle" => "sharing",
        "ChannelClosed" => "channels",
        "Deadlock" => "waiting",
        "NoSuchSpace" | "ForeignScratch" => "spaces",
        "CircularImport" => "modules",
        "MemoryLimit" | "SpaceMemoryLimit" | "TotalMemoryLimit" | "NestingLimit" => "limits",
        _ => return None,
    })
}

/// The first line alone: `FunctionNotFound: no function 'lenn' for (array) · 2:12 · id 12`. Code that is not the entry's own is
/// named there too: `· stats.rhai:3:7 · id 12`.
pub(crate) fn first_line(failure: &Failure, id: Option<EntryId>) -> String {
    let Failure { kind, source, line, column, .. } = failure;
    let mut text = format!("{}: {}", one_line(kind), Message::of(failure).first_line());
    let mut push = |part: std::fmt::Arguments<'_>| text.write_fmt(part).expect("writing to a string cannot fail");
    let own = match id {
        Some(id) => *source == format!("eval {id}"),
        None => source.starts_with("eval "),
    };
    match *line {
        0 if own || source.is_empty() => {}
        _ if own || source.is_empty() => push(format_args!(" · {}", position(*line, *column))),
        _ => push(format_args!(" · {}", place(source, *line, *column))),
    }
    if let Some(id) = id {
        push(format_args!(" · id {id}"));
    }
    guarded(&text)
}

/// A message, and how much of it is shown.
struct Message<'f> {
    first: &'f str,
    further: Vec<&'f str>,
    /// The part the failure itself leaves out behind the last of these lines.
    cut: Cut,
}

impl<'f> Message<'f> {
    fn of(failure: &'f Failure) -> Self {
        let cut = failure.cut;
        let text = failure.message.as_str();
        let text = if cut.is_nothing() { text } else { text.strip_suffix('…').unwrap_or(text) };
        let mut lines = text.lines();
        Self { first: lines.next().unwrap_or_default(), further: lines.collect(), cut }
    }

    fn first_line(&self) -> String {
        let shown = head(self.first, MESSAGE);
        let cut = if self.further.is_empty() { self.cut } else { Cut::default() };
        format!("{}{}", one_line(shown), elided(&self.first[shown.len()..], cut))
    }

    fn further_lines(&self) -> Vec<String> {
        let all = &self.further;
        let mut lines: Vec<_> = all
            .iter()
            .take(MESSAGE_LINES)
            .enumerate()
            .map(|(index, line)| {
                let shown = head(line, MESSAGE / 4);
                let cut = if index + 1 == all.len() { self.cut } else { Cut::default() };
                format!("  {}{}", one_line(shown), elided(&line[shown.len()..], cut))
            })
            .collect();
        let left = all.len().saturating_sub(MESSAGE_LINES) + self.cut.lines;
        if left > 0 {
            lines.push(format!("  … {} elided", count(left, "line")));
        }
        lines
    }

    fn is_cut(&self) -> bool {
        !self.cut.is_nothing()
            || self.further.len() > MESSAGE_LINES
            || head(self.first, MESSAGE).len() < self.first.len()
            || self.further.iter().any(|line| head(line, MESSAGE / 4).len() < line.len())
    }
}

/// `… 4,000 characters elided` for the rest of a line, and what was cut off before.
fn elided(rest: &str, cut: Cut) -> String {
    let characters = rest.chars().count() + cut.characters;
    match (characters, cut.elements) {
        (0, 0) => String::new(),
        (0, elements) => format!("… {} elided", count(elements, "element")),
        (characters, 0) => format!("… {} elided", count(characters, "character")),
        (characters, elements) => {
            format!("… {} and {} elided", count(characters, "character"), count(elements, "element"))
        }
    }
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

/// True for characters that terminals show two cells wide (the common ranges).
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

    #[test]
    fn where_a_page_of_the_manual_helps_it_is_named() {
        let of = |kind: &str, hint: Option<&str>| {
            let failure = Failure { kind: kind.into(), hint: hint.map(Into::into), ..Failure::default() };
            text(&failure, None, Style::Agent).lines().last().map(str::to_owned)
        };
        assert_eq!(of("DataRace", Some("say atom")).unwrap(), "hint: say atom · manual(\"sharing\")");
        assert_eq!(of("Deadlock", None).unwrap(), "· manual(\"waiting\")");
        assert_eq!(of("Arithmetic", Some("no")).unwrap(), "hint: no");
        let kinds = ["DataRace", "ChannelClosed", "Deadlock", "NoSuchSpace", "CircularImport", "MemoryLimit"];
        assert!(kinds.into_iter().filter_map(page).all(crate::render::teach::page_named));
    }
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
            ..Failure::new("FunctionNotFound", "no function 'nosuch' for (int)")
        };
        expect![[r#"
            FunctionNotFound: no function 'nosuch' for (int) · boom.rhai:3:7 · id 12
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
    fn what_is_cut_is_counted_as_a_whole() {
        let thrown = |message: &str, characters, lines, elements| Failure {
            cut: Cut { characters, lines, elements },
            thrown: true,
            ..Failure::new("Runtime", message)
        };
        expect![[r#"
            Runtime: [1, 2]… 4,774 elements elided · id 12
              failure(12).thrown is the whole value"#]]
        .assert_eq(&agent(&thrown("[1, 2]…", 0, 0, 4_774)));
        expect![[r#"
            Runtime: a
              bc… 7 characters elided
              … 555 lines elided
              failure(12).thrown is the whole value"#]]
        .assert_eq(&agent(&thrown("a\nbc…", 7, 555, 0)).replace(" · id 12", ""));
        let long = agent(&thrown(&format!("{}…", "x".repeat(4_000)), 96_000, 0, 0));
        assert!(long.contains("x… 99,000 characters elided · id 12\n  failure(12).thrown is"), "{long}");
        let gone = Failure { thrown: false, ..thrown("[1, 2]…", 3, 0, 2) };
        assert_eq!(agent(&gone), "Runtime: [1, 2]… 3 characters and 2 elements elided · id 12");
        let own = agent(&Failure::new("NoEntry", "x".repeat(1_001)));
        assert!(own.ends_with("x… 1 character elided · id 12\n  failure(12).message is the whole message"), "{own}");
    }

    #[test]
    fn code_of_others_is_named_on_the_first_line() {
        let at = |source: &str| Failure { source: source.into(), line: 3, column: 7, ..Failure::new("E", "m") };
        let lines = ["eval 12", "eval 1", "stats.rhai", ""].map(|source| first_line(&at(source), Some(EntryId(12))));
        assert_eq!(
            lines,
            ["E: m · 3:7 · id 12", "E: m · eval 1:3:7 · id 12", "E: m · stats.rhai:3:7 · id 12", "E: m · 3:7 · id 12"]
        );
        assert_eq!(first_line(&at("stats.rhai"), None), "E: m · stats.rhai:3:7");
    }

    #[test]
    fn an_unknown_column_has_no_caret() {
        let failure =
            Failure { source: "eval 12".into(), line: 2, excerpt: Some("x".repeat(70_000)), ..Failure::new("E", "m") };
        let shown = agent(&failure);
        let lines: Vec<_> = shown.lines().collect();
        assert_eq!(lines[..2], ["E: m · 2 · id 12", "  eval 12:2"]);
        assert!(lines.len() == 3 && lines[2].ends_with("xx…") && lines[2].len() < 100, "{shown}");
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
        assert!(agent(&Failure::new("Thrown", "line\n".repeat(500))).contains("\n  … 479 lines elided\n"));
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
                ..Failure::default()
            };
            let shown = agent(&failure);
            prop_assert!(shown.chars().all(|c| c == '\n' || !is_unsafe(c)));
            prop_assert!(shown.lines().all(|line| !line.starts_with(";;")), "{}", shown);
        }
    }
}
