//! Pieces that all texts share: escaping, cutting, counting, times.

use crate::base::limits::thousands;
use std::fmt::Write;
use std::time::Duration;

/// A running time: `3 ms` below a second, else `3.2 s`.
pub(crate) fn duration(time: Duration) -> String {
    match time.as_millis() {
        ms @ 0..1_000 => format!("{ms} ms"),
        ms => {
            let tenths = (ms + 50) / 100;
            format!("{}.{} s", tenths / 10, tenths % 10)
        }
    }
}

/// A time in words: `3 seconds`, `1.5 seconds`, `24 hours`.
pub(crate) fn spelled(time: Duration) -> String {
    let seconds = time.as_secs();
    let whole = |unit: u64| time.subsec_nanos() == 0 && seconds > 0 && seconds.is_multiple_of(unit);
    let (number, unit) = match seconds {
        _ if whole(3_600) => (seconds / 3_600, "hour"),
        _ if whole(60) => (seconds / 60, "minute"),
        _ if time.subsec_nanos() == 0 => (seconds, "second"),
        _ => return format!("{} seconds", time.as_secs_f64()),
    };
    count(usize::try_from(number).unwrap_or(usize::MAX), unit)
}

/// A count with its noun: `1 line`, `9,998 lines`.
pub(crate) fn count(n: usize, noun: &str) -> String {
    format!("{} {noun}{}", thousands(n), if n == 1 { "" } else { "s" })
}

/// True for a character that may not reach a reader as itself: control characters, and marks that reorder or break lines.
pub(crate) fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// Appends an unsafe character as a Rhai string would write it.
pub(crate) fn push_escape(out: &mut String, c: char) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c => {
            let code = u32::from(c);
            let written = if code <= 0xff { write!(out, "\\x{code:02x}") } else { write!(out, "\\u{code:04x}") };
            written.expect("writing to a string cannot fail");
        }
    }
}

/// A text on one line: line breaks, tabs and other unsafe characters escaped.
pub(crate) fn one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unsafe(c) { push_escape(&mut out, c) } else { out.push(c) }
    }
    out
}

/// The first line of a text, escaped and cut to `max` characters with `…`.
pub(crate) fn first_line(text: &str, max: usize) -> String {
    let line = text.trim_start().lines().next().unwrap_or("").trim_end();
    let mut out = one_line(head(line, max));
    if head(line, max).len() < line.len() || text.trim_end().lines().nth(1).is_some() {
        out.push('…');
    }
    out
}

/// The first `max` characters.
pub(crate) fn head(text: &str, max: usize) -> &str {
    text.char_indices().nth(max).map_or(text, |(i, _)| &text[..i])
}

/// As much of the text as fits into `max` bytes, ending between characters.
pub(crate) fn fitting(text: &str, max: usize) -> &str {
    if text.len() <= max {
        return text;
    }
    let mut end = max;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// A line that cannot pass for one of the system's own: it is indented when it starts with `;;`.
pub(crate) fn guarded(line: &str) -> String {
    if line.starts_with(";;") { format!(" {line}") } else { line.to_owned() }
}

/// Ids or names in a row: `a, b, c`.
pub(crate) fn listed<T: std::fmt::Display>(items: impl IntoIterator<Item = T>) -> String {
    let mut out = String::new();
    for item in items {
        if !out.is_empty() {
            out.push_str(", ");
        }
        write!(out, "{item}").expect("writing to a string cannot fail");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_milliseconds_or_tenths_of_seconds() {
        let shown = |ms| duration(Duration::from_millis(ms));
        assert_eq!(
            [shown(0), shown(3), shown(999), shown(1_000), shown(3_249), shown(3_250), shown(59_960)],
            ["0 ms", "3 ms", "999 ms", "1.0 s", "3.2 s", "3.3 s", "60.0 s"]
        );
    }

    #[test]
    fn times_are_spelled_in_their_largest_whole_unit() {
        let spelled = [0, 500, 1_000, 1_500, 3_000, 60_000, 90_000, 3_600_000, 86_400_000]
            .map(|ms| super::spelled(Duration::from_millis(ms)));
        assert_eq!(
            spelled,
            [
                "0 seconds",
                "0.5 seconds",
                "1 second",
                "1.5 seconds",
                "3 seconds",
                "1 minute",
                "90 seconds",
                "1 hour",
                "24 hours"
            ]
        );
    }

    #[test]
    fn unsafe_characters_are_written_as_the_language_writes_them() {
        assert_eq!(one_line("a\n\t\r\u{1b}[1m\u{7f}\u{9b}\u{202e}é😀"), r"a\n\t\r\x1b[1m\x7f\x9b\u202eé😀");
    }

    #[test]
    fn cuts_fall_between_characters() {
        assert_eq!((fitting("aé", 2), fitting("aé", 3), fitting("😀", 3)), ("a", "aé", ""));
        assert_eq!((head("é😀x", 2), head("ab", 5)), ("é😀", "ab"));
        assert_eq!((first_line("\n let x;\ny", 80), first_line("abc", 2), first_line("abc\n", 3)).0, "let x;…");
        assert_eq!((first_line("abc", 2).as_str(), first_line("abc\n", 3).as_str()), ("ab…", "abc"));
    }
}
