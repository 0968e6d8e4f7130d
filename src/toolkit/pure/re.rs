//! `re`: regular expressions whose cost is bounded.
//!
//! A pattern is matched in linear time, but the engine that is exact in all cases takes about 7.5 ns for each state and byte, and cannot be
//! interrupted. So above a product of states and bytes a lazy automaton works alone, which is fast or gives up.

use super::search::{Found, Groups, Pattern};
use crate::engine::{Api, Fallible, Task, value_type};
use crate::toolkit::arguments::{STRIDE, bad, count, size};
use rhai::{Array, Dynamic, FnPtr, ImmutableString, Map, Module, NativeCallContext};

type Context<'c> = NativeCallContext<'c>;

pub(super) fn module() -> Module {
    let mut api = Api::new();
    api.about("Regular expressions: test, find, find_all, replace, split, escape. No pattern takes for ever.");
    const TEST: &str = "
Whether a pattern is found in a text. `BadPattern` says what is wrong with one.

```rhai
re::test(\"^a.c$\", \"abc\") //=> true
```";
    api.function("test", &["pattern: string", "text: string", "bool"], TEST, |pattern: &str, text: &str| {
        Ok::<_, Box<rhai::EvalAltResult>>(Pattern::of(pattern)?.find(text, 0)?.is_some())
    });
    const FIND: &str = "
The first place where a pattern is found: `#{text, start, end, groups, named}`, or `()`. `start` and `end` count characters; `groups` are the
texts in brackets, `()` for one that took no part; `named` are those with a name.

```rhai
re::find(\"(?P<k>\\\\w+)=(\\\\d+)\", \"width=40\").named.k //=> \"width\"
re::find(\"b+\", \"abba\").start //=> 1
```";
    api.function("find", &["pattern: string", "text: string", "map"], FIND, |pattern: &str, text: &str| {
        let pattern = Pattern::of(pattern)?;
        let found = pattern.find(text, 0)?;
        Ok::<_, Box<rhai::EvalAltResult>>(
            found.map_or(Dynamic::UNIT, |found| row(&pattern, text, found, text[..found.start].chars().count())),
        )
    });
    const FIND_ALL: &str = "
All places where a pattern is found, as rows like that of `re::find`; with `n` only the first so many.

```rhai
re::find_all(\"\\\\d+\", \"a1 b22\").map(|m| m.text) //=> [\"1\", \"22\"]
```";
    api.function(
        "find_all",
        &["pattern: string", "text: string", "array"],
        FIND_ALL,
        |context: Context<'_>, pattern: &str, text: &str| find_all(&context, pattern, text, usize::MAX),
    );
    api.function(
        "find_all",
        &["pattern: string", "text: string", "n: int", "array"],
        FIND_ALL,
        |context: Context<'_>, pattern: &str, text: &str, n: i64| {
            find_all(&context, pattern, text, size("re::find_all", "a number of places", n)?)
        },
    );
    const REPLACE: &str = "
A text with all places of a pattern replaced: by a text, in which `$1` and `${name}` stand for groups (`$$` for a dollar), or by what a
function gives for each match.

```rhai
re::replace(\"(\\\\w+)@(\\\\w+)\", \"a@b\", \"$2 at $1\") //=> \"b at a\"
re::replace(\"\\\\d+\", \"1 22\", |m| (m.text.parse_int() * 2).to_string()) //=> \"2 44\"
```";
    api.function(
        "replace",
        &["pattern: string", "text: string", "with: string", "string"],
        REPLACE,
        |context: Context<'_>, pattern: &str, text: &str, with: ImmutableString| {
            let pattern = Pattern::of(pattern)?;
            replace(&context, &pattern, text, |found, _| Ok(pattern.expand(text, found, &with)))
        },
    );
    api.function(
        "replace",
        &["pattern: string", "text: string", "with: Fn", "string"],
        REPLACE,
        |context: Context<'_>, pattern: &str, text: &str, with: FnPtr| {
            let pattern = Pattern::of(pattern)?;
            replace(&context, &pattern, text, |found, start| {
                let given: Dynamic = with.call_within_context(&context, (row(&pattern, text, found, start),))?;
                let text = given.read_lock::<ImmutableString>().map(|text| text.to_string());
                text.ok_or_else(|| bad("re::replace", format!("the function gives a text, not {}", value_type(&given))))
            })
        },
    );
    const SPLIT: &str = "
The parts of a text between the places of a pattern.

```rhai
re::split(\"[,;]\\\\s*\", \"a, b;c\") //=> [\"a\", \"b\", \"c\"]
```";
    api.function(
        "split",
        &["pattern: string", "text: string", "array"],
        SPLIT,
        |context: Context<'_>, pattern: &str, text: &str| {
            let pattern = Pattern::of(pattern)?;
            let (mut parts, mut from) = (Array::new(), 0);
            each(&context, &pattern, text, usize::MAX, |found| {
                parts.push(text[from..found.start].into());
                from = found.end;
                Ok(())
            })?;
            parts.push(text[from..].into());
            Ok::<_, Box<rhai::EvalAltResult>>(parts)
        },
    );
    const ESCAPE: &str = "
A text as a pattern that finds just it.

```rhai
re::escape(\"a.b\") == \"a\\\\.b\" //=> true
```";
    api.function("escape", &["text: string", "string"], ESCAPE, regex::escape);
    api.build()
}

/// Goes through the places of a pattern, at most `most`.
fn each(
    context: &Context<'_>,
    pattern: &Pattern,
    text: &str,
    most: usize,
    mut f: impl FnMut(Found) -> Fallible<()>,
) -> Fallible<()> {
    let task = Task::of(context);
    let (mut at, mut last_end, mut places) = (0, None, 0_usize);
    while places < most && at <= text.len() {
        if places.is_multiple_of(STRIDE) {
            task.check()?;
        }
        let Some(found) = pattern.find(text, at)? else { break };
        // An empty place right behind another is none.
        let is_new = found.end > found.start || last_end != Some(found.end);
        at = if found.end > found.start { found.end } else { next_character(text, found.end) };
        if is_new {
            places += 1;
            last_end = Some(found.end);
            f(found)?;
        }
    }
    Ok(())
}

fn next_character(text: &str, at: usize) -> usize {
    text[at..].chars().next().map_or(at + 1, |c| at + c.len_utf8())
}

/// A place as a row. `start` is its place in characters.
fn row(pattern: &Pattern, text: &str, found: Found, start: usize) -> Dynamic {
    let piece = &text[found.start..found.end];
    let Groups { all: groups, named } = pattern.groups(text, found);
    let value = |text: Option<&str>| text.map_or(Dynamic::UNIT, Into::into);
    let mut row = Map::new();
    row.insert("text".into(), piece.into());
    row.insert("start".into(), count(start).into());
    row.insert("end".into(), count(start + piece.chars().count()).into());
    row.insert("groups".into(), Dynamic::from_array(groups.into_iter().map(value).collect()));
    row.insert(
        "named".into(),
        Dynamic::from_map(named.into_iter().map(|(name, text)| (name.into(), value(text))).collect()),
    );
    Dynamic::from_map(row)
}

fn find_all(context: &Context<'_>, pattern: &str, text: &str, most: usize) -> Fallible<Array> {
    let pattern = Pattern::of(pattern)?;
    let (mut rows, mut counted, mut characters) = (Array::new(), 0, 0);
    each(context, &pattern, text, most, |found| {
        characters += text[counted..found.start].chars().count();
        counted = found.start;
        rows.push(row(&pattern, text, found, characters));
        Ok(())
    })?;
    Ok(rows)
}

fn replace(
    context: &Context<'_>,
    pattern: &Pattern,
    text: &str,
    mut with: impl FnMut(Found, usize) -> Fallible<String>,
) -> Fallible<String> {
    let (mut made, mut from, mut characters) = (String::with_capacity(text.len()), 0, 0);
    each(context, pattern, text, usize::MAX, |found| {
        made.push_str(&text[from..found.start]);
        characters += text[from..found.start].chars().count();
        made.push_str(&with(found, characters)?);
        characters += text[found.start..found.end].chars().count();
        from = found.end;
        Ok(())
    })?;
    made.push_str(&text[from..]);
    Ok(made)
}
