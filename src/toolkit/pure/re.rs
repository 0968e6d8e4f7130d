//! `re`: regular expressions without backtracking. Positions count characters.

use super::patterns::{Pattern, Patterns, Search};
use crate::engine::{Api, Fallible, Task, value_type};
use crate::toolkit::arguments::{bad, int, within};
use regex_automata::Match;
use rhai::{Array, Dynamic, FnPtr, INT, ImmutableString, Map, NativeCallContext};
use std::sync::Arc;

type Context<'c> = NativeCallContext<'c>;

pub(super) fn register(api: &mut Api) {
    api.about(
        "Regular expressions: test, find, replace, split. Searches take bounded time; there are no back references.",
    );
    let patterns = Arc::new(Patterns::default());
    searching(api, &patterns);
    changing(api, &patterns);
}

fn searching(api: &mut Api, patterns: &Arc<Patterns>) {
    const TEST: &str = "
Whether a pattern matches anywhere in a text. The syntax is that of the crate `regex`: `\\\\d`, `\\\\w`, `\\\\b`, classes, groups,
`(?i)`; no back references and no looking around.

```rhai
[re::test(\"^a.c$\", \"abc\"), re::test(\"(?i)B\", \"abc\"), re::test(\"x\", \"abc\")] //=> [true, true, false]
```";
    let known = Arc::clone(patterns);
    api.function(
        "test",
        &["pattern: String", "text: String", "bool"],
        TEST,
        move |context: Context<'_>, pattern: &str, text: &str| {
            let task = Task::of(&context);
            let mut search = Search::new(&task, known.get(pattern)?, text, false)?;
            search.any()
        },
    );

    const FIND: &str = "
The first match of a pattern in a text: `#{text, start, end, groups, named}`, or `()`. `groups` is a list of what each group matched, `()`
for one that took no part; `named` has those with a name. Positions count characters.

```rhai
let m = re::find(\"(?P<key>\\\\w+)=(\\\\d+)\", \"é: width=40\");
[m.text, m.start, m.end, m.groups, m.named.key] //=> [\"width=40\", 3, 11, [\"width\", \"40\"], \"width\"]
```";
    let known = Arc::clone(patterns);
    api.function(
        "find",
        &["pattern: String", "text: String", "Dynamic"],
        FIND,
        move |context: Context<'_>, pattern: &str, text: &str| {
            let task = Task::of(&context);
            let found = all(&task, known.get(pattern)?, text, 1)?.pop();
            Ok::<_, Box<rhai::EvalAltResult>>(found.unwrap_or_default())
        },
    );

    const FIND_ALL: &str = "
All matches of a pattern in a text, or the first `n`, as `re::find` gives one. They do not overlap.

```rhai
re::find_all(\"\\\\d+\", \"a1 b22 c333\").map(|m| m.text) //=> [\"1\", \"22\", \"333\"]
```";
    let known = Arc::clone(patterns);
    api.function(
        "find_all",
        &["pattern: String", "text: String", "Array"],
        FIND_ALL,
        move |context: Context<'_>, pattern: &str, text: &str| {
            all(&Task::of(&context), known.get(pattern)?, text, usize::MAX)
        },
    );
    let known = Arc::clone(patterns);
    api.function(
        "find_all",
        &["pattern: String", "text: String", "n: int", "Array"],
        FIND_ALL,
        move |context: Context<'_>, pattern: &str, text: &str, n: INT| {
            let most = within("re::find_all", "the number of matches", n, 0..=INT::MAX)?;
            all(&Task::of(&context), known.get(pattern)?, text, most)
        },
    );
}

fn changing(api: &mut Api, patterns: &Arc<Patterns>) {
    const REPLACE: &str = "
The text with every match replaced: by a text, in which `$1` and `${name}` are what the groups matched and `$$` is a `$`; or by what a
function of the match gives, which is as `re::find` gives one.

```rhai
[re::replace(\"(\\\\w+)@(\\\\w+)\", \"a@b c@d\", \"$2 at $1\"), re::replace(\"\\\\d+\", \"1 22\", |m| `${m.text.to_int() * 2}`)]
//=> [\"b at a d at c\", \"2 44\"]
```";
    let known = Arc::clone(patterns);
    api.function(
        "replace",
        &["pattern: String", "text: String", "with: String", "String"],
        REPLACE,
        move |context: Context<'_>, pattern: &str, text: ImmutableString, with: &str| {
            let task = Task::of(&context);
            replaced(&task, known.get(pattern)?, &text, |search, _, into| {
                search.interpolate(with, into);
                Ok(())
            })
        },
    );
    let known = Arc::clone(patterns);
    api.function(
        "replace",
        &["pattern: String", "text: String", "f: Fn", "String"],
        REPLACE,
        move |context: Context<'_>, pattern: &str, text: ImmutableString, f: FnPtr| {
            let task = Task::of(&context);
            let mut places = Places::new(&text);
            replaced(&task, known.get(pattern)?, &text, |search, found, into| {
                let given = f.call_raw(&context, None, [described(search, found, &mut places)])?;
                match given.as_immutable_string_ref() {
                    Ok(text) => into.push_str(&text),
                    Err(_) => {
                        let reason = format!("the function gave {}; it must give a text", value_type(&given));
                        return Err(bad("re::replace", reason));
                    }
                }
                Ok(())
            })
        },
    );

    const SPLIT: &str = "
The parts of a text between the matches of a pattern.

```rhai
re::split(\"[,;]\\\\s*\", \"a, b;c\") //=> [\"a\", \"b\", \"c\"]
```";
    let known = Arc::clone(patterns);
    api.function(
        "split",
        &["pattern: String", "text: String", "Array"],
        SPLIT,
        move |context: Context<'_>, pattern: &str, text: &str| {
            let task = Task::of(&context);
            let mut search = Search::new(&task, known.get(pattern)?, text, false)?;
            let (mut parts, mut from) = (Array::new(), 0);
            while let Some(found) = search.advance()? {
                parts.push(text[from..found.start()].into());
                from = found.end();
            }
            parts.push(text[from..].into());
            Ok::<_, Box<rhai::EvalAltResult>>(parts)
        },
    );

    const ESCAPE: &str = "
A pattern that matches this text and nothing else.

```rhai
re::test(re::escape(\"a.b*\"), \"xa.b*x\") //=> true
```";
    api.function("escape", &["text: String", "String"], ESCAPE, |text: &str| {
        let mut pattern = String::with_capacity(text.len());
        for c in text.chars() {
            if "\\.+*?()|[]{}^$#&-~".contains(c) {
                pattern.push('\\');
            }
            pattern.push(c);
        }
        pattern
    });
}

/// The first matches as maps.
fn all(task: &Task, pattern: Arc<Pattern>, text: &str, most: usize) -> Fallible<Array> {
    let mut search = Search::new(task, pattern, text, true)?;
    let mut places = Places::new(text);
    let mut matches = Array::new();
    while matches.len() < most
        && let Some(found) = search.advance()?
    {
        matches.push(described(&search, found, &mut places));
    }
    Ok(matches)
}

/// The text with every match replaced by what `put` adds.
fn replaced(
    task: &Task,
    pattern: Arc<Pattern>,
    text: &ImmutableString,
    mut put: impl FnMut(&Search<'_>, Match, &mut String) -> Fallible<()>,
) -> Fallible<ImmutableString> {
    let mut search = Search::new(task, pattern, text, true)?;
    let (mut new, mut from) = (String::new(), 0);
    while let Some(found) = search.advance()? {
        new.push_str(&text[from..found.start()]);
        put(&search, found, &mut new)?;
        from = found.end();
    }
    if from == 0 && new.is_empty() {
        return Ok(text.clone());
    }
    new.push_str(&text[from..]);
    Ok(new.into())
}

/// Counts characters up to places that only go up.
struct Places<'t> {
    text: &'t str,
    byte: usize,
    characters: usize,
}

impl<'t> Places<'t> {
    fn new(text: &'t str) -> Self {
        Self { text, byte: 0, characters: 0 }
    }

    fn at(&mut self, byte: usize) -> INT {
        self.characters += self.text[self.byte..byte].chars().count();
        self.byte = byte;
        int(self.characters)
    }
}

/// A match as scripts see it.
fn described(search: &Search<'_>, found: Match, places: &mut Places<'_>) -> Dynamic {
    let (mut groups, mut named) = (Array::new(), Map::new());
    for (number, name) in search.pattern().groups() {
        let group = search.group(number).map_or(Dynamic::UNIT, |text| text.into());
        if let Some(name) = name {
            named.insert(name.into(), group.clone());
        }
        groups.push(group);
    }
    let mut map = Map::new();
    map.insert("text".into(), search.group(0).unwrap_or_default().into());
    map.insert("start".into(), places.at(found.start()).into());
    map.insert("end".into(), places.at(found.end()).into());
    map.insert("groups".into(), groups.into());
    map.insert("named".into(), named.into());
    Dynamic::from_map(map)
}
