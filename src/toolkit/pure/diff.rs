//! `diff`: how two texts differ.

use crate::engine::{Api, Fallible};
use crate::toolkit::arguments::{count, size};
use rhai::{Array, Dynamic, Map, Module};
use similar::{ChangeTag, TextDiff, TextDiffConfig};
use std::time::Duration;

/// The time after which a coarser difference is given.
const LONGEST: Duration = Duration::from_secs(2);

pub(super) fn module() -> Module {
    let mut api = Api::new();
    api.about("How two texts differ: as a unified text, as rows, as a ratio.");
    const UNIFIED: &str = "
The difference of two texts as `diff -u` writes it, with so many equal lines around each change (3). Empty when they are equal. After
2 s a coarser difference is given.

```rhai
diff::unified(\"a\\nb\\n\", \"a\\nB\\n\").contains(\"-b\\n+B\\n\") //=> true
```";
    api.function("unified", &["a: string", "b: string", "string"], UNIFIED, |a: &str, b: &str| unified(a, b, 3));
    api.function(
        "unified",
        &["a: string", "b: string", "context: int", "string"],
        UNIFIED,
        |a: &str, b: &str, context: i64| -> Fallible<String> {
            Ok(unified(a, b, size("diff::unified", "a number of lines", context)?))
        },
    );
    const LINES: &str = "
Every line of two texts as rows `#{op, line, text}`: `op` is `\"=\"`, `\"-\"` or `\"+\"`; `line` is its number, in the new text, or in the old one
when it is gone.

```rhai
diff::lines(\"a\\nb\", \"a\\nc\").map(|row| row.op + row.text) //=> [\"=a\", \"-b\", \"+c\"]
```";
    api.function("lines", &["a: string", "b: string", "array"], LINES, |a: &str, b: &str| -> Array {
        let diff = configured().diff_lines(a, b);
        let row = |change: similar::Change<&str>| {
            let (op, line) = match change.tag() {
                ChangeTag::Equal => ("=", change.new_index()),
                ChangeTag::Delete => ("-", change.old_index()),
                ChangeTag::Insert => ("+", change.new_index()),
            };
            let mut row = Map::new();
            row.insert("op".into(), op.into());
            row.insert("line".into(), count(line.unwrap_or(0) + 1).into());
            row.insert("text".into(), change.value().trim_end_matches(['\n', '\r']).into());
            Dynamic::from_map(row)
        };
        diff.iter_all_changes().map(row).collect()
    });
    const RATIO: &str = "
How alike two texts are, by characters: 1.0 when they are equal, 0.0 when they share none.

```rhai
diff::ratio(\"abcd\", \"abxd\") //=> 0.75
```";
    api.function("ratio", &["a: string", "b: string", "float"], RATIO, |a: &str, b: &str| {
        f64::from(configured().diff_chars(a, b).ratio())
    });
    api.build()
}

fn configured() -> TextDiffConfig {
    let mut config = TextDiff::configure();
    config.timeout(LONGEST);
    config
}

fn unified(a: &str, b: &str, context: usize) -> String {
    configured().diff_lines(a, b).unified_diff().context_radius(context).to_string()
}
