//! Hints for what people and models bring along from other languages: the rows of `hints.txt`, and which of them fits an error.
//!
//! A row is found by the kind of an error and by the shape of the code where it happened. Shapes are made of tokens, so what stands
//! inside texts and comments is never looked at, and they are tied to the token at which the error was noticed. Nothing here
//! runs before an error ends an eval.

use crate::engine::rhai_internals::lexer::{Kind, tokens};
use std::sync::LazyLock;

static TABLE: LazyLock<Vec<Row>> = LazyLock::new(|| rows(include_str!("hints.txt")));

/// The most tokens that `..` in a shape stands for.
const LONGEST_GAP: usize = 60;
/// The tokens before the one at fault that are looked at.
const BEFORE: usize = 80;

/// What went wrong, as far as hints tell it apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault<'a> {
    /// The parser could not go on, and says so.
    Parsing(&'a str),
    /// No function of this name takes arguments of these types.
    Function { name: &'a str, types: &'a [&'a str] },
    /// No variable of this name.
    Variable(&'a str),
    /// No property of this name in a value of this type.
    Property { name: &'a str, of: &'a str },
    /// No module of this name.
    Module(&'a str),
}

/// The code of an error: tokens, and which of them is at fault.
#[derive(Debug, Default)]
pub(super) struct Code<'a> {
    tokens: Vec<(&'a str, Kind)>,
    at: usize,
}

impl<'a> Code<'a> {
    /// `code` with an error in `line`, `column`, both from 1.
    pub(super) fn new(code: &'a str, line: usize, column: usize) -> Self {
        let Some(start) = byte_of(code, line, column) else { return Self::default() };
        let mut found = Self::default();
        for span in tokens(code).spans.into_iter().filter(|span| span.kind != Kind::Comment) {
            if span.bytes.end <= start {
                found.at += 1;
            }
            found.tokens.push((&code[span.bytes], span.kind));
        }
        found
    }
}

impl Code<'_> {
    /// The token so many before the one at fault; nothing where there is none.
    pub(super) fn back(&self, count: usize) -> &str {
        self.at.checked_sub(count).and_then(|index| self.tokens.get(index)).map_or("", |(text, _)| text)
    }
}

/// The byte of a place in `code`; its end for places behind it.
fn byte_of(code: &str, line: usize, column: usize) -> Option<usize> {
    let before: usize = code.split_inclusive('\n').take(line.checked_sub(1)?).map(str::len).sum();
    let rest = &code[before..];
    Some(before + rest.char_indices().nth(column.checked_sub(1)?).map_or(rest.len(), |(at, _)| at))
}

/// The hint of the first row that fits.
pub(super) fn hint(fault: Fault<'_>, code: &Code<'_>) -> Option<String> {
    let row = TABLE.iter().find(|row| row.fits(fault, code))?;
    let name = match fault {
        Fault::Parsing(_) => code.back(0),
        Fault::Function { name, .. } | Fault::Variable(name) | Fault::Property { name, .. } | Fault::Module(name) => {
            name
        }
    };
    Some(row.hint.replace("{name}", name))
}

/// A row of the table.
#[derive(Debug, Default)]
struct Row {
    when: Vec<When>,
    /// Words that the parser's message has.
    says: Option<&'static str>,
    /// The types of the first argument or of the value whose property is missing.
    of: Vec<&'static str>,
    /// The number of arguments.
    args: Option<usize>,
    hint: &'static str,
}

/// One of the errors that a row is for.
#[derive(Debug)]
enum When {
    Parsing(Vec<&'static str>),
    Function(Vec<&'static str>, Vec<&'static str>),
    Variable(Vec<&'static str>, Vec<&'static str>),
    Property(Vec<&'static str>),
    Module(Vec<&'static str>),
}

impl Row {
    fn fits(&self, fault: Fault<'_>, code: &Code<'_>) -> bool {
        let of_type = |of: Option<&&str>| self.of.is_empty() || self.of.contains(of.unwrap_or(&"nothing"));
        let any = |names: &[&str], name: &str| names.contains(&name) || names.contains(&"*");
        let shaped = |shape: &[&str]| shape.is_empty() || stands(shape, code);
        self.when.iter().any(|when| match (when, fault) {
            (When::Parsing(shape), Fault::Parsing(message)) => {
                self.says.is_none_or(|words| message.contains(words)) && stands(shape, code)
            }
            (When::Function(names, shape), Fault::Function { name, types }) => {
                names.contains(&name)
                    && of_type(types.first())
                    && self.args.is_none_or(|args| args == types.len())
                    && shaped(shape)
            }
            (When::Variable(names, shape), Fault::Variable(name)) => any(names, name) && shaped(shape),
            (When::Property(names), Fault::Property { name, of }) => any(names, name) && of_type(Some(&of)),
            (When::Module(names), Fault::Module(name)) => names.contains(&name),
            _ => false,
        })
    }
}

/// Reads the table: rows with empty lines between, each line a word and what belongs to it.
fn rows(text: &'static str) -> Vec<Row> {
    let mut rows = Vec::new();
    for block in text.split("\n\n") {
        let mut row = Row::default();
        for line in block.lines().filter(|line| !line.starts_with('#')) {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            let split = |text: &'static str| text.split_whitespace().collect::<Vec<_>>();
            let words = || split(rest);
            let shaped = || rest.split_once(" : ").map_or_else(|| (words(), Vec::new()), |(a, b)| (split(a), split(b)));
            match word {
                "parse" => row.when.push(When::Parsing(words())),
                "call" => {
                    let (names, shape) = shaped();
                    row.when.push(When::Function(names, shape));
                }
                "name" => {
                    let (names, shape) = shaped();
                    row.when.push(When::Variable(names, shape));
                }
                "property" => row.when.push(When::Property(words())),
                "module" => row.when.push(When::Module(words())),
                "says" => row.says = Some(rest),
                "of" => row.of = words(),
                "args" => row.args = rest.parse().ok(),
                "hint" => row.hint = rest.trim(),
                // For the tests: wrong code, right code and its value.
                _ => {}
            }
        }
        if !row.when.is_empty() {
            rows.push(row);
        }
    }
    rows
}

/// Whether the code has this shape around the token at fault.
fn stands(shape: &[&str], code: &Code<'_>) -> bool {
    let from = code.at.saturating_sub(BEFORE);
    (from..=code.at.min(code.tokens.len())).any(|start| continues(shape, code, start))
}

/// Whether the shape fits the tokens from `index` on. What a shape is made of is told at the top of the table.
fn continues(shape: &[&str], code: &Code<'_>, index: usize) -> bool {
    let Some((first, rest)) = shape.split_first() else { return true };
    let token = code.tokens.get(index);
    match *first {
        "^" => index == code.at && continues(rest, code, index),
        "START" => begins_statement(code, index) && continues(rest, code, index),
        "END" => token.is_none() && continues(rest, code, index),
        ".." => {
            let longest = code.tokens[index.min(code.tokens.len())..]
                .iter()
                .take(LONGEST_GAP)
                .take_while(|(text, _)| *text != ";")
                .count();
            (0..=longest).any(|skipped| continues(rest, code, index + skipped))
        }
        "SAME" => token.is_some_and(|(text, _)| *text == code.back(0)) && continues(rest, code, index + 1),
        element => token.is_some_and(|token| is(element, *token)) && continues(rest, code, index + 1),
    }
}

fn begins_statement(code: &Code<'_>, index: usize) -> bool {
    let before = index.checked_sub(1).and_then(|before| code.tokens.get(before));
    before.is_none_or(|(text, _)| [";", "{", "}"].contains(text))
}

/// Whether a token is what an element of a shape says.
fn is(element: &str, token: (&str, Kind)) -> bool {
    // `|` and `||` are tokens themselves.
    let whole = element.chars().all(|c| c == '|');
    if whole { element == token.0 } else { element.split('|').any(|wanted| is_one(wanted, token)) }
}

fn is_one(wanted: &str, (text, kind): (&str, Kind)) -> bool {
    match wanted {
        "NAME" => kind == Kind::Name,
        "TEXT" => kind == Kind::Text || kind == Kind::Broken && text.starts_with(['"', '\'', '`']),
        "VALUE" => matches!(kind, Kind::Name | Kind::Literal | Kind::Text) || [")", "]", "}"].contains(&text),
        "NUMBER" => kind == Kind::Literal,
        "ANY" => true,
        _ => match wanted.strip_suffix('~') {
            Some(beginning) => text.starts_with(beginning),
            None => wanted == text,
        },
    }
}
