//! `diff`: how two texts differ.

use crate::engine::{Api, Fallible, Task};
use crate::toolkit::arguments::{int, within};
use rhai::{Array, Dynamic, INT, Map, NativeCallContext};
use similar::{ChangeTag, TextDiff, TextDiffConfig};
use std::time::Duration;

type Context<'c> = NativeCallContext<'c>;

/// The bytes that a line, or a character, takes while texts are compared.
const LINE: usize = 96;
const CHARACTER: usize = 32;
/// The time after which a coarser difference is given.
const LONGEST: Duration = Duration::from_secs(2);

pub(super) fn register(api: &mut Api) {
    api.about("How two texts differ: as a unified text, as rows, as a ratio.");
    const UNIFIED: &str = "
The difference of two texts as `diff -u` writes it, with so many equal lines around each change (3). Empty when they are equal. After
2 s a coarser difference is given.

```rhai
diff::unified(\"a\\nb\\n\", \"a\\nB\\n\").contains(\"-b\\n+B\\n\") //=> true
```";
    api.function(
        "unified",
        &["a: string", "b: string", "string"],
        UNIFIED,
        |context: Context<'_>, a: &str, b: &str| unified(&Task::of(&context), a, b, 3),
    );
    api.function(
        "unified",
        &["a: string", "b: string", "context: int", "string"],
        UNIFIED,
        |context: Context<'_>, a: &str, b: &str, around: INT| {
            let around = within("diff::unified", "the number of lines around", around, 0..=INT::MAX)?;
            unified(&Task::of(&context), a, b, around)
        },
    );
    const LINES: &str = "
Every line of two texts as rows `#{op, line, text}`: `op` is `\"=\"`, `\"-\"` or `\"+\"`; `line` is its number, in the new text, or in the old one
when it is gone.

```rhai
diff::lines(\"a\\nb\", \"a\\nc\").map(|row| row.op + row.text) //=> [\"=a\", \"-b\", \"+c\"]
```";
    api.function("lines", &["a: string", "b: string", "array"], LINES, |context: Context<'_>, a: &str, b: &str| {
        lines(&Task::of(&context), a, b)
    });
    const RATIO: &str = "
How alike two texts are, by characters: 1.0 when they are equal, 0.0 when they share none.

```rhai
diff::ratio(\"abcd\", \"abxd\") //=> 0.75
```";
    api.function("ratio", &["a: string", "b: string", "float"], RATIO, |context: Context<'_>, a: &str, b: &str| {
        Task::of(&context).afford((a.len() + b.len()).saturating_mul(CHARACTER))?;
        Ok::<_, Box<rhai::EvalAltResult>>(f64::from(configured().diff_chars(a, b).ratio()))
    });
}

fn configured() -> TextDiffConfig {
    let mut config = TextDiff::configure();
    config.timeout(LONGEST);
    config
}

/// Asks for the room that it takes to compare two texts line by line.
fn afford(task: &Task, a: &str, b: &str) -> Fallible<()> {
    let count = |text: &str| text.bytes().filter(|byte| *byte == b'\n').count() + 1;
    task.afford((count(a) + count(b)).saturating_mul(LINE))
}

fn unified(task: &Task, a: &str, b: &str, around: usize) -> Fallible<String> {
    afford(task, a, b)?;
    Ok(configured().diff_lines(a, b).unified_diff().context_radius(around).to_string())
}

fn lines(task: &Task, a: &str, b: &str) -> Fallible<Array> {
    afford(task, a, b)?;
    let diff = configured().diff_lines(a, b);
    let row = |change: similar::Change<&str>| {
        task.check()?;
        let (op, line) = match change.tag() {
            ChangeTag::Equal => ("=", change.new_index()),
            ChangeTag::Delete => ("-", change.old_index()),
            ChangeTag::Insert => ("+", change.new_index()),
        };
        let mut row = Map::new();
        row.insert("op".into(), op.into());
        row.insert("line".into(), int(line.unwrap_or(0) + 1).into());
        row.insert("text".into(), change.value().trim_end_matches(['\n', '\r']).into());
        Ok(Dynamic::from_map(row))
    };
    diff.iter_all_changes().map(row).collect()
}
