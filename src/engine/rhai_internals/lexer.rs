//! Code that is being typed, read by Rhai's own lexer and parser: tokens with their bytes, and whether more must follow.
//!
//! Uses volatile parts of Rhai (the token stream); the tests here fail loudly when an upgrade changes one of them.
//! Knows no eval and no space, and nothing of commands or terminals.

use rhai::{Engine, LexError, OptimizationLevel, ParseErrorType, Position, Token};
use std::ops::Range;
use std::sync::LazyLock;

/// Texts longer than this many bytes are not taken apart on every key press.
pub(crate) const LONGEST_LIVE_TEXT: usize = 32 * 1024;

/// Parses and nothing else: no function is registered and nothing is evaluated. Depths are Rhai's defaults, so
/// text nested too deeply ends as an error of the parser and not as a stack overflow.
static PARSER: LazyLock<Engine> = LazyLock::new(|| {
    let mut engine = Engine::new_raw();
    // Constants are not folded: typed text must not cost more than reading it.
    engine.set_optimization_level(OptimizationLevel::None);
    engine.set_max_expr_depths(64, 32);
    engine
});

/// The class of a token, by which it is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A word of Rhai, such as `let`.
    Keyword,
    /// A name of a variable, a function or a module.
    Name,
    /// A number, `true` or `false`.
    Literal,
    /// A string or a character; the text between two interpolations too.
    Text,
    /// A comment.
    Comment,
    /// An operator or a bracket.
    Symbol,
    /// A text that Rhai cannot read: an open string, a word it keeps for itself.
    Broken,
}

/// One token of the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// Its bytes.
    pub bytes: Range<usize>,
    /// Its class.
    pub kind: Kind,
}

/// The code, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tokens {
    /// The tokens in order; they do not overlap, and only white space lies between them.
    pub spans: Vec<Span>,
    /// True when the code ends inside a comment.
    pub open_comment: bool,
    /// True when the code ends inside a string.
    pub open_text: bool,
}

/// Takes code apart.
pub(crate) fn tokens(code: &str) -> Tokens {
    let (mut lexer, control) = PARSER.lex(std::slice::from_ref(&code));
    lexer.state.include_comments = true;
    let mut found = Tokens::default();
    let mut starts = Cursor::new(code);
    let mut ends = Cursor::new(code);
    // Braces that are open inside each interpolation: the parser tells the lexer where an interpolation ends, so whoever only
    // lexes has to count.
    let mut interpolations: Vec<usize> = Vec::new();
    while let Some((token, position)) = lexer.next() {
        if token == Token::EOF {
            break;
        }
        found.open_text = matches!(&token, Token::LexError(error) if **error == LexError::UnterminatedString);
        match &token {
            Token::InterpolatedString(_) => interpolations.push(0),
            Token::LeftBrace | Token::MapStart => {
                if let Some(open) = interpolations.last_mut() {
                    *open += 1;
                }
            }
            Token::RightBrace => {
                if let Some(open) = interpolations.last_mut() {
                    *open = open.saturating_sub(1);
                    if *open == 0 {
                        interpolations.pop();
                        control.borrow_mut().is_within_text = true;
                    }
                }
            }
            _ => {}
        }
        let last_end = found.spans.last().map_or(0, |span| span.bytes.end);
        // An error stands where it was noticed, which may be deep inside a string.
        let start = if matches!(token, Token::LexError(_)) { last_end } else { starts.before(position).max(last_end) };
        let end = ends.after(lexer.pos).max(start);
        let start = start + leading_space(&code[start..end]);
        let end = start + code[start..end].trim_end().len();
        if start < end {
            found.spans.push(Span { bytes: start..end, kind: kind(&token) });
        }
        // A comment that is still open would come again and again.
        found.open_comment = lexer.state.comment_level > 0;
        if found.open_comment {
            break;
        }
    }
    found
}

fn leading_space(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

fn kind(token: &Token) -> Kind {
    match token {
        Token::IntegerConstant(_) | Token::FloatConstant(_) | Token::True | Token::False => Kind::Literal,
        Token::CharConstant(_) | Token::StringConstant(_) | Token::InterpolatedString(_) => Kind::Text,
        Token::Comment(_) => Kind::Comment,
        Token::Identifier(_) => Kind::Name,
        Token::LexError(_) => Kind::Broken,
        // `this`, `print` and their like are reserved by the lexer and used as names.
        Token::Reserved(word) if word.starts_with(char::is_alphabetic) => Kind::Name,
        Token::Reserved(_) => Kind::Broken,
        other if other.literal_syntax().starts_with(char::is_alphabetic) => Kind::Keyword,
        _ => Kind::Symbol,
    }
}

/// The lines, from 1, on which a comment stands where a division of whole numbers was meant, as in `7 // 2`: behind something
/// that has a value, and with nothing but a number in it.
pub(crate) fn slash_divisions(code: &str) -> Vec<usize> {
    let mut start = 0;
    let mut found = Vec::new();
    for (index, line) in code.split_inclusive('\n').enumerate() {
        if let Some((before, after)) = line.rsplit_once("//") {
            let number = after.trim_matches(|c: char| c.is_whitespace() || ";),]}".contains(c));
            let is_number = number.starts_with(|c: char| c.is_ascii_digit())
                && number.chars().all(|c| c.is_ascii_digit() || c == '_' || c == '.');
            let has_value = before.trim_end().ends_with(|c: char| c.is_alphanumeric() || "_)]".contains(c));
            if is_number && has_value {
                found.push((index + 1, start + before.len()));
            }
        }
        start += line.len();
    }
    if !found.is_empty() {
        let tokens = tokens(code);
        let begins =
            |at: usize| tokens.spans.iter().any(|span| matches!(span.kind, Kind::Comment) && span.bytes.start == at);
        found.retain(|(_, at)| begins(*at));
    }
    found.into_iter().map(|(line, _)| line).collect()
}

/// Turns positions (lines and characters) into bytes, going forward only.
struct Cursor<'a> {
    code: &'a str,
    line: usize,
    column: usize,
    byte: usize,
}

impl<'a> Cursor<'a> {
    fn new(code: &'a str) -> Self {
        Self { code, line: 1, column: 0, byte: 0 }
    }

    /// The byte where the character at `position` begins.
    fn before(&mut self, position: Position) -> usize {
        self.go(position.line().unwrap_or(1), position.position().unwrap_or(1).saturating_sub(1))
    }

    /// The byte where the character at `position` ends.
    fn after(&mut self, position: Position) -> usize {
        self.go(position.line().unwrap_or(1), position.position().unwrap_or(0))
    }

    /// The byte after `column` characters of `line`.
    fn go(&mut self, line: usize, column: usize) -> usize {
        while let Some(next) = self.code[self.byte..].chars().next() {
            if (self.line, self.column) >= (line, column) {
                break;
            }
            self.byte += next.len_utf8();
            if next == '\n' {
                self.line += 1;
                self.column = 0;
            } else {
                self.column += 1;
            }
        }
        self.byte
    }
}

/// Tells whether code can stand alone: `false` when the parser would go on reading if there were more.
///
/// Code with an error that more text cannot mend can stand alone: evaluating it is how one sees the error.
pub(crate) fn is_complete(code: &str) -> bool {
    let tokens = tokens(code);
    if tokens.open_comment || tokens.open_text {
        return false;
    }
    let Err(error) = PARSER.compile(code) else { return true };
    if *error.err_type() == ParseErrorType::UnexpectedEOF {
        return false;
    }
    // A comment that documents a function: the function is still to come.
    if *error.err_type() == ParseErrorType::WrongDocComment {
        return !tokens
            .spans
            .last()
            .is_some_and(|last| last.kind == Kind::Comment && code[last.bytes.clone()].starts_with("//"));
    }
    // An error at the end of the input moves with the end; any other stays where it is.
    match PARSER.compile(format!("{code}\n\n")) {
        Err(later) => later.position() == error.position(),
        Ok(_) => true,
    }
}

/// Every word of Rhai that can begin or join a statement, for completion.
pub(crate) const KEYWORDS: &[&str] = &[
    "as", "break", "catch", "const", "continue", "do", "else", "export", "false", "fn", "for", "if", "import", "in",
    "let", "loop", "private", "return", "switch", "this", "throw", "true", "try", "until", "while",
];

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    /// The tokens, one a line, as `kind text`.
    fn shown(code: &str) -> String {
        tokens(code)
            .spans
            .iter()
            .map(|span| format!("{:?} {}\n", span.kind, code[span.bytes.clone()].replace('\n', "⏎")))
            .collect()
    }

    #[test]
    fn tokens_have_their_bytes() {
        expect![[r##"
            Comment /// Adds.
            Keyword fn
            Name add
            Symbol (
            Name a
            Symbol ,
            Name b
            Symbol )
            Symbol {
            Name a
            Symbol +
            Literal 1
            Symbol }
            Comment // done
            Keyword let
            Name größe
            Symbol =
            Symbol #{
            Name a
            Symbol :
            Literal 1.5
            Symbol ,
            Name b
            Symbol :
            Text 'x'
            Symbol }
            Symbol ;
            Comment /* two⏎lines */
            Name stats
            Symbol ::
            Name mean
            Symbol (
            Symbol [
            Literal 1
            Symbol ..
            Literal 2
            Symbol ]
            Symbol )
            Symbol ;
            Name print
            Symbol (
            Text "a\"ß"
            Symbol )
        "##]]
        .assert_eq(&shown(
            "/// Adds.\nfn add(a, b) { a + 1 } // done\nlet größe = #{a: 1.5, b: 'x'};\n/* two\nlines */ stats::mean([1..2]);\nprint(\"a\\\"ß\")",
        ));
    }

    #[test]
    fn interpolations_are_code_inside_text() {
        expect![[r##"
            Text `a $
            Symbol {
            Name x
            Symbol .
            Name map
            Symbol (
            Symbol |
            Name v
            Symbol |
            Symbol #{
            Name k
            Symbol :
            Name v
            Symbol }
            Symbol )
            Symbol }
            Text b $
            Symbol {
            Text `$
            Symbol {
            Name y
            Symbol }
            Text `
            Symbol }
            Text c`
            Symbol +
            Literal 1
        "##]]
        .assert_eq(&shown("`a ${x.map(|v| #{k: v})} b ${`${y}`} c` + 1"));
    }

    #[test]
    fn what_cannot_be_read_is_broken() {
        expect![[r##"
            Keyword let
            Name s
            Symbol =
            Broken "open
        "##]]
        .assert_eq(&shown("let s = \"open"));
        expect![[r##"
            Literal 1
            Broken ===
            Literal 2
        "##]]
        .assert_eq(&shown("1 === 2"));
    }

    #[test]
    fn spans_never_overlap_and_fall_on_character_boundaries() {
        let all =
            "let s = `ä${1 + #{b: \"}\"}.len()}ö\n€`; /* ß */ 'é' \"\\u{41}\" 1..=2 x?.y ?? 0x1F \u{1f600} ` // no";
        for (cut, _) in all.char_indices() {
            for code in [&all[..cut], &all[cut..]] {
                let mut last = 0;
                for span in tokens(code).spans {
                    assert!(span.bytes.start >= last && span.bytes.end <= code.len(), "{code}");
                    assert!(!code[span.bytes.clone()].is_empty(), "{code}");
                    assert_eq!(code[last..span.bytes.start].trim(), "", "{code}");
                    last = span.bytes.end;
                }
            }
        }
    }

    #[test]
    fn code_that_goes_on_is_told_from_code_that_is_wrong() {
        let goes_on = [
            "let x = (1 +",
            "fn f() {",
            "fn f(a, b)",
            "fn f(",
            "fn",
            "\"abc",
            "`abc",
            "`abc\ndef",
            "`abc ${",
            "`abc ${ x }",
            "[1,2",
            "[1,\n2,",
            "foo(",
            "foo(1, // one",
            "#{a:1",
            "#{a:",
            "#{a",
            "/* x",
            "1 /* x /* y */",
            "x.",
            "x?.",
            "x +",
            "x = ",
            "let",
            "let x =",
            "const A =",
            "if x",
            "if x { 1 } else",
            "while true",
            "for x in",
            "for x",
            "loop {",
            "try { 1 }",
            "switch x { 1 =>",
            "switch x {",
            "return 1 +",
            "import",
            "stats::",
            "/// what the next function does",
            "a &&",
            "(1",
            "x[",
            "\"abc\\",
        ];
        let stands_alone = [
            "",
            "   ",
            "1 + 2",
            "let x = 1",
            "let x = 1;",
            "foo(1)",
            "fn f() { 1 }",
            "`a ${b}`",
            "// only a comment",
            "/* closed */",
            "if x { 1 }",
            "return",
            "|a| a",
            "|a|",
            "import \"stats\" as s",
            // Errors that more text cannot mend.
            "foo bar",
            "a b",
            "let let",
            "1 + * 2",
            ")",
            "}",
            "[1 2]",
            "\"open\nlet y = 1",
            "1 === 2",
            "let x = 'ab'",
            "break",
            "x ===",
            "/// not of a function\nlet x = 1",
        ];
        let wrong = |code: &&str| format!("{code:?}: {:?}", PARSER.compile(code));
        let complete: Vec<_> = goes_on.iter().filter(|code| is_complete(code)).map(wrong).collect();
        assert_eq!(complete, [""; 0], "these go on");
        let incomplete: Vec<_> = stands_alone.iter().filter(|code| !is_complete(code)).map(wrong).collect();
        assert_eq!(incomplete, [""; 0], "these stand alone");
    }

    #[test]
    fn deep_nesting_is_an_error_and_no_crash() {
        assert!(is_complete(&"(".repeat(10_000)));
    }

    #[test]
    fn every_keyword_is_one_to_the_lexer() {
        for word in KEYWORDS.iter().filter(|word| !["true", "false", "this"].contains(word)) {
            assert_eq!(tokens(word).spans, [Span { bytes: 0..word.len(), kind: Kind::Keyword }], "{word}");
        }
    }
}
