//! Completion by Tab and the hint behind the cursor, from the names of the backend and from the text itself.

use super::command::{Argument, COMMANDS, CommandSpec};
use crate::base::Status;
use crate::engine::lexer::{self, Kind, Span};
use crate::host::{ModuleKind, ModuleNames, Names, Signature};
use std::collections::BTreeMap;

/// The offers of Tab.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Completion {
    /// The byte where the word to be replaced begins; it ends at the cursor.
    pub(super) start: usize,
    /// The texts that could stand there, sorted.
    pub(super) candidates: Vec<Candidate>,
}

/// One thing that could be typed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Candidate {
    /// The text that is inserted.
    pub(super) text: String,
    /// The text in the list: the signature of a function.
    pub(super) shown: String,
}

/// A hint behind the cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hint {
    /// The text that is shown.
    pub(super) shown: String,
    /// The part of it that the right arrow inserts, if any.
    pub(super) inserts: Option<String>,
}

/// The words that could stand before the cursor at byte `at` of `text`.
pub(super) fn complete(text: &str, at: usize, names: &Names) -> Completion {
    let before = &text[..at];
    if before.trim_start().starts_with(':') {
        return complete_command(before, names);
    }
    if text.len() > lexer::LONGEST_LIVE_TEXT {
        return Completion::default();
    }
    let Some(place) = Place::at(before) else { return Completion::default() };
    let word = &before[place.start..];
    let followed_by_call = text[at..].trim_start().starts_with('(');
    let candidates = match &place.kind {
        NameKind::Import => names
            .modules
            .iter()
            .filter(|module| !module.is_bound() && module.name.starts_with(word))
            .map(|module| same(&module.name))
            .collect(),
        NameKind::Module(module) => module_of(before, &place.spans, module, names)
            .map(|module| offered(word, &module.functions, module.constants.iter(), followed_by_call))
            .unwrap_or_default(),
        NameKind::Method => offered(word, &names.functions, std::iter::empty(), followed_by_call),
        NameKind::Bare if word.is_empty() => Vec::new(),
        NameKind::Bare => {
            let typed = place.spans.iter().filter(|span| span.kind == Kind::Name && span.bytes.end < at);
            let typed = typed.map(|span| before[span.bytes.clone()].to_owned());
            let keywords = lexer::KEYWORDS.iter().map(|&word| word.to_owned());
            let bare: Vec<String> = names.variables.iter().cloned().chain(typed).chain(keywords).collect();
            let mut all = offered(word, &names.functions, bare.iter(), followed_by_call);
            let bound = names.modules.iter().filter(|module| module.is_bound() && module.name.starts_with(word));
            all.extend(bound.map(|module| same(&format!("{}::", module.name))));
            all.sort();
            all
        }
    };
    Completion { start: place.start, candidates }
}

/// The hint behind the cursor at the end of `text`: the rest of the only name that fits, the signature of the function
/// whose name stands there, the parameters still to be given, or the arguments of a command.
pub(super) fn hint(text: &str, names: &Names) -> Option<Hint> {
    if text.trim_start().starts_with(':') {
        return command_hint(text);
    }
    if text.len() > lexer::LONGEST_LIVE_TEXT {
        return None;
    }
    let place = Place::at(text)?;
    let word = &text[place.start..];
    let functions: &[Signature] = match &place.kind {
        NameKind::Import => return None,
        NameKind::Module(module) => &module_of(text, &place.spans, module, names)?.functions,
        NameKind::Method | NameKind::Bare => &names.functions,
    };
    if word.is_empty() {
        return parameters_hint(text, &place.spans, names);
    }
    if let Some(signature) = functions.iter().find(|signature| signature.name == word) {
        return Some(Hint { shown: format!("({})", signature.parameters.join(", ")), inserts: None });
    }
    if word.chars().count() < 2 {
        return None;
    }
    let completion = complete(text, text.len(), names);
    let [only] = completion.candidates.as_slice() else { return None };
    let rest = |whole: &str| whole.strip_prefix(word).filter(|rest| !rest.is_empty()).map(str::to_owned);
    Some(Hint { shown: rest(&only.shown)?, inserts: rest(&only.text) })
}

/// The place of the cursor: the kind of name that is being typed, and where it begins.
struct Place {
    kind: NameKind,
    start: usize,
    spans: Vec<Span>,
}

enum NameKind {
    /// A name by itself.
    Bare,
    /// A name after a dot.
    Method,
    /// A name after `module::`.
    Module(String),
    /// The text of an `import`.
    Import,
}

impl Place {
    /// `None` where no name can stand: in strings, comments and numbers.
    fn at(before: &str) -> Option<Self> {
        let lexer::Tokens { spans, open_comment, open_text } = lexer::tokens(before);
        let text = |span: &Span| &before[span.bytes.clone()];
        if open_comment {
            return None;
        }
        if open_text {
            let (open, earlier) = spans.split_last()?;
            let is_import = earlier.last().is_some_and(|span| text(span) == "import");
            return (is_import && text(open).starts_with('"')).then(|| Self {
                kind: NameKind::Import,
                start: open.bytes.start + 1,
                spans: Vec::new(),
            });
        }
        let touching = spans.last().filter(|span| span.bytes.end == before.len());
        let (start, earlier) = match touching.map(|span| span.kind) {
            // A keyword may be the beginning of a name.
            Some(Kind::Name | Kind::Keyword) => (spans[spans.len() - 1].bytes.start, &spans[..spans.len() - 1]),
            Some(Kind::Symbol) | None => {
                let in_line_comment = spans.last().is_some_and(|span| {
                    span.kind == Kind::Comment
                        && text(span).starts_with("//")
                        && !before[span.bytes.end..].contains('\n')
                });
                if in_line_comment {
                    return None;
                }
                (before.len(), &spans[..])
            }
            Some(Kind::Literal | Kind::Text | Kind::Comment | Kind::Broken) => return None,
        };
        let kind = match earlier {
            [.., module, colons] if text(colons) == "::" && module.kind == Kind::Name => {
                NameKind::Module(text(module).to_owned())
            }
            [.., dot] if matches!(text(dot), "." | "?.") => NameKind::Method,
            _ => NameKind::Bare,
        };
        Some(Self { kind, start, spans })
    }
}

/// The module a name before `::` stands for: one the text itself imports under that name, or one that is bound.
fn module_of<'a>(code: &str, spans: &[Span], name: &str, names: &'a Names) -> Option<&'a ModuleNames> {
    let text = |span: &Span| &code[span.bytes.clone()];
    let imported = spans.windows(4).rev().find_map(|window| match window {
        [import, path, r#as, alias] if text(import) == "import" && text(r#as) == "as" && text(alias) == name => {
            Some(text(path).trim_matches('"'))
        }
        _ => None,
    });
    match imported {
        Some(path) => names.modules.iter().find(|module| module.name == path),
        None => names.modules.iter().find(|module| module.is_bound() && module.name == name),
    }
}

/// Functions and other names that begin with `word`; each name once.
fn offered<'a>(
    word: &str,
    functions: &[Signature],
    others: impl Iterator<Item = &'a String>,
    followed_by_call: bool,
) -> Vec<Candidate> {
    let mut by_name: BTreeMap<&str, Vec<&Signature>> = BTreeMap::new();
    for signature in functions.iter().filter(|signature| signature.name.starts_with(word)) {
        by_name.entry(&signature.name).or_default().push(signature);
    }
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    for (name, signatures) in by_name {
        let text = if followed_by_call {
            name.to_owned()
        } else if signatures.iter().all(|signature| signature.parameters.is_empty()) {
            format!("{name}()")
        } else {
            format!("{name}(")
        };
        let shown: Vec<String> = signatures.iter().map(ToString::to_string).collect();
        found.insert(text, shown.join(" · "));
    }
    for name in others.filter(|name| name.starts_with(word)) {
        found.entry(name.clone()).or_insert_with(|| name.clone());
    }
    found.into_iter().map(|(text, shown)| Candidate { text, shown }).collect()
}

fn same(text: &str) -> Candidate {
    Candidate { text: text.to_owned(), shown: text.to_owned() }
}

/// Inside the parentheses of a call: the parameters that are still to be given.
fn parameters_hint(text: &str, spans: &[Span], names: &Names) -> Option<Hint> {
    let token = |i: usize| &text[spans[i].bytes.clone()];
    let mut depth = 0;
    let mut given = 0;
    let open = (0..spans.len()).rev().find(|&i| {
        match token(i) {
            ")" | "]" | "}" => depth += 1,
            "(" if depth == 0 => return true,
            "(" | "[" | "{" | "#{" => depth -= 1,
            "," if depth == 0 => given += 1,
            _ => {}
        }
        // Inside another bracket first: not in the arguments of a call.
        depth < 0
    })?;
    // The cursor must stand where an argument begins.
    let begins = matches!(token(spans.len() - 1), "(" | ",");
    if token(open) != "(" || open == 0 || !begins || spans[open - 1].kind != Kind::Name {
        return None;
    }
    let name = token(open - 1);
    let functions: &[Signature] = match spans[..open - 1] {
        [.., ref module, ref colons] if text[colons.bytes.clone()] == *"::" => {
            &module_of(text, spans, &text[module.bytes.clone()], names)?.functions
        }
        // The object of a method call is its first parameter: which of the overloads is meant cannot be known.
        [.., ref dot] if text[dot.bytes.clone()] == *"." => return None,
        _ => &names.functions,
    };
    let fits = functions.iter().find(|signature| signature.name == name && signature.parameters.len() > given)?;
    let space = if text.ends_with(',') { " " } else { "" };
    Some(Hint { shown: format!("{space}{})", fits.parameters[given..].join(", ")), inserts: None })
}

fn complete_command(before: &str, names: &Names) -> Completion {
    let start = before.rfind(char::is_whitespace).map_or(0, |space| space + 1);
    let word = &before[start..];
    let words: Vec<&str> = before[..start].split_whitespace().collect();
    let mut candidates: Vec<Candidate> = match words.as_slice() {
        [] => COMMANDS
            .iter()
            .map(|command| Candidate {
                text: format!(":{}{}", command.name, if command.arguments.is_empty() { "" } else { " " }),
                shown: command.usage(),
            })
            .collect(),
        [name] => match spec(name).map_or(Argument::Free, |command| command.completes) {
            Argument::Free => Vec::new(),
            Argument::Status => [Status::Queued, Status::Running, Status::Ok, Status::Failed, Status::Cancelled]
                .iter()
                .map(|status| same(status.as_str()))
                .collect(),
            Argument::Space => names.spaces.iter().map(|name| same(name)).collect(),
            Argument::Function => documented(names),
        },
        _ => Vec::new(),
    };
    candidates.retain(|candidate| candidate.text.starts_with(word));
    candidates.sort();
    candidates.dedup_by(|a, b| a.text == b.text);
    Completion { start, candidates }
}

/// Every name that has documentation, as `:doc` wants it.
fn documented(names: &Names) -> Vec<Candidate> {
    let bare = names
        .functions
        .iter()
        .map(|signature| Candidate { text: signature.name.clone(), shown: signature.to_string() });
    // An import has another name there.
    let documented = names.modules.iter().filter(|module| module.kind != ModuleKind::Import);
    let of_modules = documented.flat_map(|module| {
        module.functions.iter().map(|signature| Candidate {
            text: format!("{}::{}", module.name, signature.name),
            shown: format!("{}::{signature}", module.name),
        })
    });
    bare.chain(of_modules).collect()
}

fn command_hint(text: &str) -> Option<Hint> {
    let typed = text.trim_start();
    match typed.split_once(' ') {
        Some((name, rest)) if rest.trim().is_empty() => {
            let arguments = spec(name)?.arguments;
            (!arguments.is_empty()).then(|| Hint { shown: arguments.to_owned(), inserts: None })
        }
        Some(_) => None,
        None => {
            let mut fitting =
                COMMANDS.iter().filter(|command| typed.len() > 1 && command.name.starts_with(&typed[1..]));
            let (only, None) = (fitting.next()?, fitting.next()) else { return None };
            let rest = &only.name[typed.len() - 1..];
            let shown = only.usage()[typed.len()..].to_owned();
            (!shown.is_empty()).then(|| Hint { shown, inserts: (!rest.is_empty()).then(|| rest.to_owned()) })
        }
    }
}

fn spec(word: &str) -> Option<&'static CommandSpec> {
    COMMANDS.iter().find(|command| word.strip_prefix(':') == Some(command.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn function(name: &str, parameters: &[&str]) -> Signature {
        Signature { name: name.into(), parameters: parameters.iter().map(|p| (*p).to_owned()).collect() }
    }

    fn names() -> Names {
        Names {
            variables: vec!["output".into(), "total".into(), "größe".into()],
            functions: vec![
                function("out", &["id"]),
                function("out", &["id", "from", "n"]),
                function("last", &[]),
                function("len", &["list"]),
                function("timeout", &["secs", "f"]),
            ],
            modules: vec![
                ModuleNames {
                    name: "orders".into(),
                    kind: ModuleKind::Embedded,
                    functions: vec![function("count", &[]), function("find", &["id"])],
                    constants: vec!["MAX".into()],
                },
                ModuleNames {
                    name: "stats".into(),
                    kind: ModuleKind::Script,
                    functions: vec![function("mean", &["list"])],
                    constants: Vec::new(),
                },
            ],
            spaces: vec!["scratch".into(), "workshop".into()],
        }
    }

    /// `|` is the cursor.
    fn check(text: &str, expected: Expect) {
        let at = text.find('|').unwrap();
        let text = text.replace('|', "");
        let completion = complete(&text, at, &names());
        let shown: Vec<_> = completion
            .candidates
            .iter()
            .map(|c| if c.text == c.shown { c.text.clone() } else { format!("{} = {}", c.text, c.shown) })
            .collect();
        expected.assert_eq(&format!("{:?}: {}", &text[completion.start..at], shown.join(" | ")));
    }

    #[test]
    fn names_are_offered_where_they_can_stand() {
        check("1 + out|", expect![[r#""out": out( = out(id) · out(id, from, n) | output"#]]);
        check("ou|(12)", expect![[r#""ou": out = out(id) · out(id, from, n) | output"#]]);
        check("la|", expect![[r#""la": last()"#]]);
        check("x.le|", expect![[r#""le": len( = len(list)"#]]);
        check("t|", expect![[r#""t": this | throw | timeout( = timeout(secs, f) | total | true | try"#]]);
        check("grö|", expect![[r#""grö": größe"#]]);
        check("let tea = 1;\nte|", expect![[r#""te": tea"#]]);
        check("or|", expect![[r#""or": orders::"#]]);
        check("orders::|", expect![[r#""": MAX | count() | find( = find(id)"#]]);
        check("orders::f|", expect![[r#""f": find( = find(id)"#]]);
        check("stats::m|", expect![[r#""m": "#]]);
        check("import \"stats\" as st; st::m|", expect![[r#""m": mean( = mean(list)"#]]);
        check("import \"st|", expect![[r#""st": stats"#]]);
        check("`a ${to|", expect![[r#""to": total"#]]);
    }

    #[test]
    fn nothing_is_offered_where_no_name_can_stand() {
        for text in ["|", "1 + |", "\"ou|", "`ou|", "// ou|", "// |", "/* ou|", "12|", "unknown::|"] {
            let at = text.find('|').unwrap();
            assert_eq!(complete(&text.replace('|', ""), at, &names()).candidates, [], "{text}");
        }
    }

    #[test]
    fn commands_and_their_arguments_are_offered() {
        check(":s|", expect![[r#"":s": :sessions | :spaces"#]]);
        check(":o|", expect![[r#"":o": :out  = :out 12 [from [n]]"#]]);
        check(":evals f|", expect![[r#""f": failed"#]]);
        check(":ns w|", expect![[r#""w": workshop"#]]);
        check(":doc sta|", expect![[r#""sta": stats::mean = stats::mean(list)"#]]);
        check(":doc stats::|", expect![[r#""stats::": stats::mean = stats::mean(list)"#]]);
        check(":res 1|", expect![[r#""1": "#]]);
    }

    #[test]
    fn hints_show_what_comes_next() {
        let table = [
            ("tim", Some(("eout(secs, f)", Some("eout(")))),
            ("las", Some(("t()", Some("t()")))),
            ("len", Some(("(list)", None))),
            ("out(", Some(("id)", None))),
            ("out(12, ", Some(("from, n)", None))),
            ("out(12,", Some((" from, n)", None))),
            ("out(f(1, 2), [3, 4], ", Some(("n)", None))),
            ("out(12", None),
            ("orders::find(", Some(("id)", None))),
            ("orders::fi", Some(("nd(id)", Some("nd(")))),
            ("[1, ", None),
            ("x.out(", None),
            ("(", None),
            ("ou", None),
            ("l", None),
            ("", None),
            ("\"tim", None),
            (":ou", Some(("t 12 [from [n]]", Some("t")))),
            (":out ", Some(("12 [from [n]]", None))),
            (":out 1", None),
            (":s", None),
            (":", None),
            (":help", None),
        ];
        for (text, expected) in table {
            let hint = hint(text, &names());
            let got = hint.as_ref().map(|hint| (hint.shown.as_str(), hint.inserts.as_deref()));
            assert_eq!(got, expected, "{text}");
        }
    }
}
