//! Typed texts, understood: a command, code, or code for the background; and whether more lines must follow first.

use super::command::{Command, Misuse};
use crate::engine::lexer;
use std::borrow::Cow;

/// A text that was submitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Typed<'a> {
    /// White space.
    Nothing,
    /// A command, or what was wrong with it.
    Command(Result<Command, Misuse>),
    /// Code to run and wait for.
    Eval(&'a str),
    /// Code to run while the prompt goes on.
    Background(&'a str),
}

/// Understands a submitted text.
pub(super) fn understand(text: &str) -> Typed<'_> {
    let text = text.trim();
    if text.is_empty() {
        Typed::Nothing
    } else if text.starts_with(':') {
        Typed::Command(Command::parse(text))
    } else if let Some(code) = without_ampersand(text) {
        Typed::Background(code)
    } else {
        Typed::Eval(text)
    }
}

/// Pressing Enter submits the text. Two blank lines at its end always do.
pub(super) fn is_complete(text: &str) -> bool {
    let trimmed = text.trim();
    trimmed.is_empty()
        || trimmed.starts_with(':')
        || ends_with_two_blank_lines(text)
        || without_ampersand(trimmed).is_some()
        || lexer::is_complete(text)
}

/// Line breaks of every kind become `\n`.
pub(super) fn unify_line_breaks(text: &str) -> Cow<'_, str> {
    if text.contains('\r') { Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n")) } else { Cow::Borrowed(text) }
}

fn ends_with_two_blank_lines(text: &str) -> bool {
    let mut lines = text.rsplit('\n');
    let is_blank = |line: Option<&str>| line.is_some_and(|line| line.trim().is_empty());
    is_blank(lines.next()) && is_blank(lines.next()) && lines.next().is_some()
}

/// The code before a trailing `&` that asks for the background. A `&` that ends a comment, or that stands behind something
/// which cannot stand alone, is none.
fn without_ampersand(text: &str) -> Option<&str> {
    let code = text.strip_suffix('&')?.trim_end();
    let is_token = lexer::tokens(text).spans.last().is_some_and(|last| text[last.bytes.clone()] == *"&");
    (is_token && !code.is_empty() && lexer::is_complete(code)).then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enter_submits_what_can_stand_alone() {
        let table = [
            ("", true),
            ("  \n ", true),
            ("1 + 1", true),
            (":out", true),
            ("  :evals", true),
            ("fn f() {", false),
            ("fn f() {\n", false),
            ("fn f() {\n\n", true),
            ("fn f() {\n  1\n\n  ", true),
            ("fn f() {\n\n  1\n", false),
            ("`a\n\n", true),
            ("1 +", false),
            ("1 &", true),
            // Errors that more text cannot mend: submitted, to be seen.
            ("f(1, &", true),
            ("&", true),
            ("1 &&", false),
            ("\"a &", false),
            ("// a &", true),
        ];
        for (text, complete) in table {
            assert_eq!(is_complete(text), complete, "{text:?}");
        }
    }

    #[test]
    fn a_trailing_ampersand_asks_for_the_background() {
        let table = [
            ("", Typed::Nothing),
            (" \n", Typed::Nothing),
            ("1 + 1 ", Typed::Eval("1 + 1")),
            ("work() &", Typed::Background("work()")),
            ("work();\nmore()&\n", Typed::Background("work();\nmore()")),
            ("// work &", Typed::Eval("// work &")),
            ("x && ", Typed::Eval("x &&")),
            ("f(1, &", Typed::Eval("f(1, &")),
            ("&", Typed::Eval("&")),
            ("`a &`", Typed::Eval("`a &`")),
            (":quit", Typed::Command(Ok(Command::Quit))),
        ];
        for (text, typed) in table {
            assert_eq!(understand(text), typed, "{text:?}");
        }
    }

    #[test]
    fn line_breaks_are_unified() {
        assert_eq!(unify_line_breaks("a\r\nb\rc\nd"), "a\nb\nc\nd");
        assert!(matches!(unify_line_breaks("a\nb"), Cow::Borrowed(_)));
    }
}
