//! `json`: texts of JSON and values.

use crate::engine::{Api, Fallible, Task, fail, holds_functions, read_json, terminated, write_json};
use crate::toolkit::arguments::{bad, size};
use rhai::{Array, Dynamic, Map, Module, NativeCallContext};
use serde::Serialize;
use serde_json::ser::{PrettyFormatter, Serializer};

type Context<'c> = NativeCallContext<'c>;

pub(super) fn module() -> Module {
    let mut api = Api::new();
    api.about("Texts of JSON and values: read, write, lines, and a value deep inside by its path.");
    const PARSE: &str = "
The value that a JSON text stands for; `null` is `()`. `BadJson` says the line and the column. At most 128 levels.

```rhai
json::parse(`{\"a\":[1,null]}`).a //=> [1, ()]
```";
    api.function("parse", &["text: string", "?"], PARSE, |context: Context<'_>, text: &str| parse(&context, text, 0));
    const TEXT: &str = "
A value as JSON. With `indent` over several lines, each level by so many spaces. A function in it is `BadArgument`.

```rhai
json::text(#{a: [1, ()]}) //=> \"{\\\"a\\\":[1,null]}\"
json::text([1], 2) == \"[\\n  1\\n]\" //=> true
```";
    api.function("text", &["value: ?", "string"], TEXT, |context: Context<'_>, value: Dynamic| text(&context, &value));
    api.function(
        "text",
        &["value: ?", "indent: int", "string"],
        TEXT,
        |context: Context<'_>, value: Dynamic, indent: i64| {
            let indent = size("json::text", "indent", indent)?.min(16);
            indented(&text(&context, &value)?, &" ".repeat(indent))
        },
    );
    const LINES: &str = "
The values of a text that has one JSON text a line; empty lines are passed over.

```rhai
json::lines(\"{\\\"a\\\":1}\\n{\\\"a\\\":2}\\n\").map(|row| row.a) //=> [1, 2]
```";
    api.function("lines", &["text: string", "array"], LINES, |context: Context<'_>, text: &str| -> Fallible<Array> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        lines.map(|(index, line)| parse(&context, line, index)).collect()
    });
    const GET: &str = "
The part of a value at a JSON pointer, as `find_path` gives them; `()` where there is none.

```rhai
json::get(#{a: [#{b: 7}]}, \"/a/0/b\") //=> 7
```";
    api.function("get", &["value: ?", "path: string", "?"], GET, |value: Dynamic, path: &str| get(value, path));
    api.build()
}

/// Reads a text that begins after so many other lines.
fn parse(context: &Context<'_>, text: &str, lines_before: usize) -> Fallible<Dynamic> {
    let task = Task::of(context);
    read_json(&task, text).map_err(|problem| {
        if task.must_end() {
            terminated()
        } else if lines_before > 0 {
            fail("BadJson", format!("line {} is not JSON: {problem}", lines_before + 1))
        } else {
            fail("BadJson", format!("this is not JSON: {problem}"))
        }
    })
}

fn text(context: &Context<'_>, value: &Dynamic) -> Fallible<String> {
    if holds_functions(value) {
        return Err(bad("json::text", "a function cannot be written as JSON"));
    }
    write_json(&Task::of(context), value)
}

fn indented(json: &str, indent: &str) -> Fallible<String> {
    let value: serde_json::Value =
        serde_json::from_str(json).map_err(|problem| bad("json::text", problem.to_string()))?;
    let mut written = Vec::with_capacity(json.len() * 2);
    let mut writer = Serializer::with_formatter(&mut written, PrettyFormatter::with_indent(indent.as_bytes()));
    value.serialize(&mut writer).map_err(|problem| bad("json::text", problem.to_string()))?;
    Ok(String::from_utf8_lossy(&written).into_owned())
}

fn get(mut value: Dynamic, path: &str) -> Fallible<Dynamic> {
    if !path.is_empty() && !path.starts_with('/') {
        return Err(bad("json::get", format!("a path begins with /, such as /rows/0/name; this is `{path}`")));
    }
    for part in path.split('/').skip(1) {
        let key = part.replace("~1", "/").replace("~0", "~");
        let inner = if let Some(map) = value.read_lock::<Map>() {
            map.get(key.as_str()).cloned()
        } else if let Some(list) = value.read_lock::<Array>() {
            key.parse::<usize>().ok().and_then(|index| list.get(index).cloned())
        } else {
            None
        };
        match inner {
            Some(inner) => value = inner,
            None => return Ok(Dynamic::UNIT),
        }
    }
    Ok(value)
}
