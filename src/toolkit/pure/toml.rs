//! `toml`: configuration as text.

use crate::engine::{Api, Fallible, fail, value_type};
use crate::toolkit::arguments::bad;
use rhai::{Array, Dynamic, ImmutableString, Map, Module};
use toml::Value;
use toml::map::Map as Table;

/// The deepest level of a text that is read, and of a value that is written.
const DEEPEST: usize = 64;

pub(super) fn module() -> Module {
    let mut api = Api::new();
    api.about("Configuration as TOML: read and write.");
    const PARSE: &str = "
The map that a TOML text stands for. Dates are RFC 3339 texts. `BadToml` says the line. At most 64 levels.

```rhai
toml::parse(\"[a]\\nb = [1, 2]\\n\").a.b //=> [1, 2]
```";
    api.function("parse", &["text: string", "map"], PARSE, parse);
    const TEXT: &str = "
A map as TOML. TOML has no `()`, no functions and no blobs: they are `BadArgument` with their place.

```rhai
toml::text(#{a: #{b: \"x\"}}) == \"[a]\\nb = \\\"x\\\"\\n\" //=> true
```";
    api.function("text", &["map: map", "string"], TEXT, |map: Map| -> Fallible<String> {
        let table = table(&map, &mut Vec::new())?;
        toml::to_string(&table).map_err(|problem| bad("toml::text", problem.to_string()))
    });
    api.build()
}

fn parse(text: &str) -> Fallible<Dynamic> {
    let table: Table<String, Value> = toml::from_str(text).map_err(|problem| broken(text, &problem))?;
    value(Value::Table(table), 0)
}

fn broken(text: &str, problem: &toml::de::Error) -> Box<rhai::EvalAltResult> {
    let line = problem.span().map_or(0, |span| text.get(..span.start).unwrap_or_default().matches('\n').count() + 1);
    fail("BadToml", format!("line {line}: {}", problem.message()))
}

fn value(of: Value, level: usize) -> Fallible<Dynamic> {
    if level > DEEPEST {
        return Err(fail("BadToml", format!("the text is nested more than {DEEPEST} levels deep")));
    }
    Ok(match of {
        Value::String(text) => text.into(),
        Value::Integer(n) => n.into(),
        Value::Float(n) => n.into(),
        Value::Boolean(b) => b.into(),
        Value::Datetime(at) => at.to_string().into(),
        Value::Array(items) => {
            Dynamic::from_array(items.into_iter().map(|item| value(item, level + 1)).collect::<Fallible<Array>>()?)
        }
        Value::Table(table) => {
            let entry = |(key, item): (String, Value)| value(item, level + 1).map(|item| (key.into(), item));
            Dynamic::from_map(table.into_iter().map(entry).collect::<Fallible<Map>>()?)
        }
    })
}

fn table(map: &Map, path: &mut Vec<String>) -> Fallible<Table<String, Value>> {
    let mut table = Table::new();
    for (key, item) in map {
        path.push(key.to_string());
        table.insert(key.to_string(), written(item, path)?);
        path.pop();
    }
    Ok(table)
}

fn written(item: &Dynamic, path: &mut Vec<String>) -> Fallible<Value> {
    if path.len() > DEEPEST {
        return Err(bad("toml::text", format!("the value is nested more than {DEEPEST} levels deep")));
    }
    if let Some(map) = item.read_lock::<Map>() {
        return table(&map, path).map(Value::Table);
    }
    if let Some(list) = item.read_lock::<Array>() {
        let mut items = Vec::with_capacity(list.len());
        for (index, item) in list.iter().enumerate() {
            path.push(index.to_string());
            items.push(written(item, path)?);
            path.pop();
        }
        return Ok(Value::Array(items));
    }
    if let Some(text) = item.read_lock::<ImmutableString>() {
        return Ok(Value::String(text.to_string()));
    }
    let plain = item.as_int().map(Value::Integer).or_else(|_| item.as_float().map(Value::Float));
    plain
        .or_else(|_| item.as_bool().map(Value::Boolean))
        .or_else(|_| item.as_char().map(|c| Value::String(c.to_string())))
        .map_err(|_| bad("toml::text", format!("TOML has nothing for {} at {}", value_type(item), path.join("."))))
}
