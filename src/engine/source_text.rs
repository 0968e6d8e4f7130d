//! Code as it arrives, before it is compiled: white space that only Unicode knows is taken for spaces, and characters that
//! nobody sees or tells apart are named. Texts and comments stay as they are.

use rhai::{LexError, ParseErrorType};
use std::borrow::Cow;

/// The three backticks of Markdown.
const FENCE: &str = "```";

/// Whether code stands inside a Markdown fence. Rhai would take it for a text.
pub(crate) fn is_fenced(code: &str) -> bool {
    code.trim_start_matches(|c: char| c.is_whitespace() || is_space(c)).starts_with(FENCE)
}

/// Whether a line of code that could not be read is such a fence: there is prose around it.
pub(crate) fn has_fence(code: &str) -> bool {
    code.lines().any(|line| line.trim_start().starts_with(FENCE))
}

/// What to do about a fence.
pub(crate) const FENCE_HINT: &str = "send the code alone, without the lines of backticks around it";

/// The code with every space outside of texts and comments as a plain one. A carriage return that stands alone is a line break
/// when the code has no others. No character is added or taken away, so that places stay as they are.
pub(crate) fn readable(code: &str) -> Cow<'_, str> {
    if !code.contains(is_odd_space) {
        return Cow::Borrowed(code);
    }
    let line_break = if code.contains('\n') { ' ' } else { '\n' };
    let mut cleaned = String::with_capacity(code.len());
    // The code around each interpolation that is open, with its open braces.
    let mut around: Vec<usize> = Vec::new();
    let mut at = Place::Code { braces: 0 };
    let mut rest = code;
    while let Some(c) = rest.chars().next() {
        let mut length = c.len_utf8();
        let stray = c == '\r' && !rest.starts_with("\r\n");
        match &mut at {
            Place::Code { braces } => match c {
                '{' => *braces += 1,
                '}' if *braces > 0 => *braces -= 1,
                '}' => {
                    if let Some(outer) = around.pop() {
                        at = Place::Interpolated { braces: outer };
                    }
                }
                '"' | '\'' => at = Place::Quoted { quote: c, braces: *braces },
                '`' => at = Place::Interpolated { braces: *braces },
                '#' => {
                    let signs = rest.len() - rest.trim_start_matches('#').len();
                    length = signs;
                    if rest[signs..].starts_with('"') {
                        length += 1;
                        at = Place::Raw { signs, braces: *braces };
                    }
                }
                '/' if rest.starts_with("//") => at = Place::Line { braces: *braces },
                '/' if rest.starts_with("/*") => {
                    length = 2;
                    at = Place::Block { depth: 1, braces: *braces };
                }
                _ if is_odd_space(c) && (c != '\r' || stray) => {
                    cleaned.push(if stray { line_break } else { ' ' });
                    rest = &rest[length..];
                    continue;
                }
                _ => {}
            },
            Place::Quoted { quote, braces } => {
                if c == '\\' {
                    length += rest[length..].chars().next().map_or(0, char::len_utf8);
                } else if c == *quote {
                    at = Place::Code { braces: *braces };
                }
            }
            Place::Interpolated { braces } => {
                if rest.starts_with("${") {
                    length = 2;
                    around.push(*braces);
                    at = Place::Code { braces: 0 };
                } else if rest.starts_with("``") {
                    length = 2;
                } else if c == '`' {
                    at = Place::Code { braces: *braces };
                }
            }
            Place::Raw { signs, braces } => {
                if c == '"' && rest[1..].bytes().take(*signs).filter(|byte| *byte == b'#').count() == *signs {
                    length += *signs;
                    at = Place::Code { braces: *braces };
                }
            }
            Place::Line { braces } => {
                if c == '\n' || stray && line_break == '\n' {
                    at = Place::Code { braces: *braces };
                    if stray {
                        // It is looked at again, as code.
                        continue;
                    }
                }
            }
            Place::Block { depth, braces } => {
                if rest.starts_with("/*") {
                    length = 2;
                    *depth += 1;
                } else if rest.starts_with("*/") {
                    length = 2;
                    *depth -= 1;
                    if *depth == 0 {
                        at = Place::Code { braces: *braces };
                    }
                }
            }
        }
        let (done, further) = rest.split_at(length);
        cleaned.push_str(done);
        rest = further;
    }
    Cow::Owned(cleaned)
}

/// What a character is part of. Each place knows the open braces of the code around it.
enum Place {
    Code { braces: usize },
    Quoted { quote: char, braces: usize },
    Interpolated { braces: usize },
    Raw { signs: usize, braces: usize },
    Line { braces: usize },
    Block { depth: usize, braces: usize },
}

/// A space that Rhai does not take for one.
fn is_space(c: char) -> bool {
    !c.is_ascii() && c.is_whitespace()
        || matches!(c, '\u{180e}' | '\u{200b}' | '\u{2060}' | '\u{feff}' | '\u{b}' | '\u{c}')
}

fn is_odd_space(c: char) -> bool {
    c == '\r' || is_space(c)
}

/// The text of an error of the parser, with a name for the character that it could not read.
pub(crate) fn parse_problem(problem: &ParseErrorType) -> String {
    let ParseErrorType::BadInput(LexError::UnexpectedInput(what)) = problem else { return problem.to_string() };
    if what == FENCE {
        return "the code stands inside a Markdown fence, three backticks".to_owned();
    }
    let mut chars = what.chars();
    match (chars.next().and_then(named), chars.next()) {
        (Some(name), None) => format!("{name} outside of a text"),
        _ => problem.to_string(),
    }
}

/// The error for code inside a Markdown fence.
pub(crate) fn fence_error() -> ParseErrorType {
    ParseErrorType::BadInput(LexError::UnexpectedInput(FENCE.to_owned()))
}

/// A hint for an error of the parser that names a character.
pub(crate) fn parse_hint(problem: &ParseErrorType) -> Option<&'static str> {
    let ParseErrorType::BadInput(LexError::UnexpectedInput(what)) = problem else { return None };
    match what.chars().next()? {
        _ if what == FENCE => Some(FENCE_HINT),
        c if is_foreign_quote(c) => Some("texts stand in straight quotes: \"text\", or `text` with backticks"),
        _ => None,
    }
}

/// A name for a character that Rhai cannot read, and that is not seen or is easily taken for another.
fn named(c: char) -> Option<String> {
    let name = match c {
        '\u{a0}' | '\u{202f}' => "a no-break space",
        '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' => "a character of no width",
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{61c}' => {
            "a mark of the writing direction"
        }
        '\u{ad}' => "a soft hyphen",
        '\u{2018}'..='\u{201f}' => "a curly quote",
        '«' | '»' | '‹' | '›' => "an angle quote",
        '\u{2032}'..='\u{2037}' | '´' => "a prime",
        '\u{2010}'..='\u{2012}' => "a hyphen",
        '\u{2013}' => "an en dash",
        '\u{2014}' | '\u{2015}' => "an em dash",
        '\u{2212}' => "a minus sign of mathematics",
        '×' => "a multiplication sign",
        '÷' => "a division sign",
        '…' => "an ellipsis",
        '\u{ff01}'..='\u{ff5e}' => "a full-width character",
        c if c.is_control() => "a control character",
        c if c.is_whitespace() => "a space of Unicode",
        c if c.is_ascii() => return None,
        c => return Some(format!("the character {c} (U+{:04X})", u32::from(c))),
    };
    Some(format!("{name} (U+{:04X})", u32::from(c)))
}

/// Whether a character is a quote that is no quote of Rhai.
fn is_foreign_quote(c: char) -> bool {
    matches!(c, '\u{2018}'..='\u{201f}' | '«' | '»' | '‹' | '›' | '\u{2032}'..='\u{2037}' | '´')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_outside_of_texts_and_comments_are_plain() {
        for (code, cleaned) in [
            ("let\u{a0}x\u{3000}= 1;\u{200b}", "let x = 1; "),
            ("\"a\u{a0}\\\"\u{a0}\"\u{a0}+ '\u{a0}'", "\"a\u{a0}\\\"\u{a0}\" + '\u{a0}'"),
            ("`\u{a0}${ #{a:\u{a0}`\u{a0}`} }\u{a0}`\u{a0}", "`\u{a0}${ #{a: `\u{a0}`} }\u{a0}` "),
            ("#\"\u{a0}\"\u{a0}\"#\u{a0}", "#\"\u{a0}\"\u{a0}\"# "),
            ("// \u{a0}\n\u{a0}/* \u{a0}/* */\u{a0}*/\u{a0}", "// \u{a0}\n /* \u{a0}/* */\u{a0}*/ "),
            ("1\r\n+\r2\n", "1\r\n+ 2\n"),
            ("// one\r1 +\r`\r`", "// one\n1 +\n`\r`"),
        ] {
            assert_eq!(readable(code), cleaned, "{code:?}");
            assert_eq!(readable(code).chars().count(), code.chars().count());
        }
        assert!(matches!(readable("let x = 1;\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_fence_is_seen_behind_spaces() {
        assert!(is_fenced("\u{a0}\n```rhai\n1\n```"));
        assert!(!is_fenced("let a = ```;") && !is_fenced("``"));
    }

    #[test]
    fn characters_that_look_like_others_have_names() {
        assert_eq!(named('\u{a0}').unwrap(), "a no-break space (U+00A0)");
        assert_eq!(named('“').unwrap(), "a curly quote (U+201C)");
        assert_eq!(named('ß').unwrap(), "the character ß (U+00DF)");
        assert_eq!(named('\u{7}').unwrap(), "a control character (U+0007)");
        assert!(named('$').is_none());
    }
}
