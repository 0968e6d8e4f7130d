//! Colours for code while it is typed. The width of the text never changes: only escape sequences are added.

use crate::engine::lexer::{self, Kind};
use std::borrow::Cow;

const RESET: &str = "\x1b[0m";
const COMMAND: &str = "\x1b[33m";
/// The style of hints, which fade into the background.
pub(super) const DIM: &str = "\x1b[2m";

/// The text with colours.
pub(super) fn highlight(text: &str) -> Cow<'_, str> {
    if text.len() > lexer::LONGEST_LIVE_TEXT {
        return Cow::Borrowed(text);
    }
    if text.trim_start().starts_with(':') {
        return Cow::Owned(painted(text, COMMAND));
    }
    let spans = lexer::tokens(text).spans;
    let mut shown = String::with_capacity(text.len() + spans.len() * 8);
    let mut last = 0;
    for (i, span) in spans.iter().enumerate() {
        shown.push_str(&text[last..span.bytes.start]);
        let token = &text[span.bytes.clone()];
        let is_call = spans.get(i + 1).is_some_and(|next| text[next.bytes.clone()].starts_with('('));
        match colour(span.kind, is_call) {
            Some(colour) => shown.push_str(&painted(token, colour)),
            None => shown.push_str(token),
        }
        last = span.bytes.end;
    }
    shown.push_str(&text[last..]);
    Cow::Owned(shown)
}

/// A text in a colour. Line breaks stay bare: the editor lays out each line by itself.
pub(super) fn painted(text: &str, colour: &str) -> String {
    let lines: Vec<String> = text
        .split('\n')
        .map(|line| if line.is_empty() { String::new() } else { format!("{colour}{line}{RESET}") })
        .collect();
    lines.join("\n")
}

fn colour(kind: Kind, is_call: bool) -> Option<&'static str> {
    match kind {
        Kind::Keyword => Some("\x1b[35m"),
        Kind::Name if is_call => Some("\x1b[34m"),
        Kind::Name | Kind::Symbol => None,
        Kind::Literal => Some("\x1b[36m"),
        Kind::Text => Some("\x1b[32m"),
        Kind::Comment => Some("\x1b[90m"),
        Kind::Broken => Some("\x1b[31m"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn readable(text: &str) -> String {
        highlight(text).replace(RESET, ">").replace("\x1b[", "<").replace('m', ":")
    }

    #[test]
    fn each_kind_has_its_colour() {
        expect!["<35:let> x = <34:f>(<36:1>) + <32:`a $>{x}<32:`>; <90:// n>\n<90:/* a>\n<90:b */> <31:\"o>"]
            .assert_eq(&readable("let x = f(1) + `a ${x}`; // n\n/* a\nb */ \"o"));
        expect!["<33::res 12>"].assert_eq(&readable(":res 12"));
    }

    #[test]
    fn only_escape_sequences_are_added() {
        for text in ["", " ", "let ä = \"ß", "`${`", ":é", "fn f() {\n\n  1 }\n", "😀 === 1"] {
            let mut bare = highlight(text).into_owned();
            while let Some(start) = bare.find('\x1b') {
                let end = start + bare[start..].find('m').expect("sequences end with m") + 1;
                bare.replace_range(start..end, "");
            }
            assert_eq!(bare, text);
        }
    }

    #[test]
    fn long_texts_are_left_alone() {
        let long = "1 + ".repeat(lexer::LONGEST_LIVE_TEXT);
        assert!(matches!(highlight(&long), Cow::Borrowed(_)));
    }
}
