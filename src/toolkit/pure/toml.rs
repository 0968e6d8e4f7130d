//! `toml`: reading and writing TOML. Dates are texts.

use super::data::write;
use crate::base::{Format, LibraryError};
use crate::engine::{Api, Fallible, Task};
use crate::toolkit::arguments::raise;
use crate::toolkit::limits::CONFIG_DEPTH;
use ::toml::Value;
use rhai::{Array, Dynamic, EvalAltResult, Map, NativeCallContext};

type Context<'c> = NativeCallContext<'c>;

pub(super) fn register(api: &mut Api) {
    api.about("TOML: read a file of settings as a map, write a map as one.");
    const PARSE: &str = "
The map of a TOML text; dates and times are texts of RFC 3339. `BadToml` says line and column. 64 levels at most.

```rhai
toml::parse(\"[a]\\nb = [1, 2]\\nsince = 2026-02-28\\n\").a //=> #{b: [1, 2], since: \"2026-02-28\"}
```";
    api.function("parse", &["text: String", "Map"], PARSE, |context: Context<'_>, text: &str| {
        parse(&Task::of(&context), text)
    });

    const TEXT: &str = "
A map as TOML. TOML has no `()`, which is `BadArgument` as a function is.

```rhai
toml::text(#{a: #{b: \"x\"}, n: 1}) == \"n = 1\\n\\n[a]\\nb = \\\"x\\\"\\n\" //=> true
```";
    api.function("text", &["map: Map", "String"], TEXT, |context: Context<'_>, map: Map| {
        text(&Task::of(&context), &Dynamic::from_map(map))
    });
}

fn parse(task: &Task, text: &str) -> Fallible<Map> {
    // The parser holds a few times the text before it gives anything.
    task.afford(text.len().saturating_mul(4))?;
    let table: ::toml::Table = ::toml::from_str(text).map_err(|error| broken(text, &error))?;
    table.into_iter().map(|(key, value)| Ok((key.into(), dynamic(task, value, CONFIG_DEPTH - 1)?))).collect()
}

fn broken(text: &str, error: &::toml::de::Error) -> Box<EvalAltResult> {
    let before = error.span().and_then(|span| text.get(..span.start));
    let place = before.map_or((0, 0), |before| {
        let line = before.rsplit_once('\n').map_or(before, |(_, line)| line);
        (before.matches('\n').count() + 1, line.chars().count() + 1)
    });
    let reason = error.message().lines().collect::<Vec<_>>().join("; ");
    raise(&LibraryError::BadFormat { format: Format::Toml, place, reason })
}

fn dynamic(task: &Task, value: Value, levels: usize) -> Fallible<Dynamic> {
    task.check()?;
    let deeper = || {
        let reason = format!("it is nested deeper than {CONFIG_DEPTH} levels, which is the limit");
        raise(&LibraryError::BadFormat { format: Format::Toml, place: (0, 0), reason })
    };
    let inside = || levels.checked_sub(1).ok_or_else(deeper);
    Ok(match value {
        Value::String(text) => text.into(),
        Value::Integer(n) => n.into(),
        Value::Float(n) => n.into(),
        Value::Boolean(yes) => yes.into(),
        Value::Datetime(at) => at.to_string().into(),
        Value::Array(items) => {
            let levels = inside()?;
            items.into_iter().map(|item| dynamic(task, item, levels)).collect::<Fallible<Array>>()?.into()
        }
        Value::Table(entries) => {
            let levels = inside()?;
            let entries = entries.into_iter().map(|(key, item)| Ok((key.into(), dynamic(task, item, levels)?)));
            Dynamic::from_map(entries.collect::<Fallible<Map>>()?)
        }
    })
}

fn text(task: &Task, map: &Dynamic) -> Fallible<String> {
    write(task, "toml::text", map, CONFIG_DEPTH, |writer| {
        let table = ::toml::Table::try_from(writer).map_err(|error| error.to_string())?;
        ::toml::to_string(&table).map_err(|error| error.to_string())
    })
}
