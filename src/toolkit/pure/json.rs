//! `json`: reading and writing JSON, also a line each, and looking into it by pointers.

use super::data::write;
use crate::base::{Format, LibraryError};
use crate::engine::{Api, Fallible, Task, fail, read_json, terminated};
use crate::toolkit::arguments::{bad, raise, within};
use crate::toolkit::limits::{JSON_DEPTH, PIECE};
use rhai::{Array, Dynamic, INT, Map, NativeCallContext};
use serde::Serialize;
use serde_json::ser::{PrettyFormatter, Serializer};
use std::io;

type Context<'c> = NativeCallContext<'c>;

pub(super) fn register(api: &mut Api) {
    api.about("JSON: read it, write it, read a text with one value a line, look into a value by a pointer.");
    const PARSE: &str = "
The value of a JSON text; `null` is `()`. What is no JSON is `BadJson`, with line and column. 128 levels at most; a number beyond the
range of `int` is a float.

```rhai
json::parse(`{\"a\": [1, 2.5, null]}`).a //=> [1, 2.5, ()]
```";
    api.function("parse", &["text: String", "Dynamic"], PARSE, |context: Context<'_>, text: &str| {
        parse(&Task::of(&context), text, 0)
    });

    const TEXT: &str = "
A value as JSON, on one line or indented by so many spaces. `()` and what is no number are `null`; a blob is a list of its bytes; a
function is `BadArgument`.

```rhai
json::text(#{a: [1, (), \"x\"]}) == `{\"a\":[1,null,\"x\"]}` //=> true
```
```rhai
json::text([1], 2) == \"[\\n  1\\n]\" //=> true
```";
    api.function("text", &["value: Dynamic", "String"], TEXT, |context: Context<'_>, value: &mut Dynamic| {
        text(&Task::of(&context), value, None)
    });
    api.function(
        "text",
        &["value: Dynamic", "indent: int", "String"],
        TEXT,
        |context: Context<'_>, value: &mut Dynamic, indent: INT| {
            let indent = within("json::text", "the indent", indent, 0..=16)?;
            text(&Task::of(&context), value, Some(indent))
        },
    );

    const LINES: &str = "
The values of a text with one JSON value a line. Empty lines are passed over.

```rhai
json::lines(\"{\\\"a\\\":1}\\n\\n{\\\"a\\\":2}\\n\").map(|row| row.a) //=> [1, 2]
```";
    api.function("lines", &["text: String", "Array"], LINES, |context: Context<'_>, text: &str| {
        let task = Task::of(&context);
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        lines.map(|(at, line)| parse(&task, line, at)).collect::<Fallible<Array>>()
    });

    const GET: &str = "
What stands at a place in a value, given as a JSON pointer: `/a/0` is `.a[0]`; `()` when nothing is there. In a key `~1` is `/` and `~0`
is `~`. The empty pointer is the value itself.

```rhai
[json::get(#{a: [#{b: 7}]}, \"/a/0/b\"), json::get([1], \"/5\")] //=> [7, ()]
```";
    api.function(
        "get",
        &["value: Dynamic", "pointer: String", "Dynamic"],
        GET,
        |value: &mut Dynamic, pointer: &str| get(value, pointer),
    );
}

/// The value of a text that stands below so many other lines.
pub(super) fn parse(task: &Task, text: &str, above: usize) -> Fallible<Dynamic> {
    task.check()?;
    let read = read_json(task, text.strip_prefix('\u{feff}').unwrap_or(text));
    read.map_err(|problem| {
        if task.must_end() {
            return terminated();
        }
        // The library puts the place behind the reason.
        let whole = problem.to_string();
        let reason = whole.rsplit_once(" at line ").map_or(whole.as_str(), |(reason, _)| reason).to_owned();
        let place = match problem.line() {
            0 => (0, 0),
            line => (above + line, problem.column()),
        };
        raise(&LibraryError::BadFormat { format: Format::Json, place, reason })
    })
}

/// A value as JSON.
pub(super) fn text(task: &Task, value: &Dynamic, indent: Option<usize>) -> Fallible<String> {
    write(task, "json::text", value, JSON_DEPTH, |writer| {
        let mut out = Checked { task, bytes: Vec::new(), looked_at: 0 };
        let written = match indent.filter(|indent| *indent > 0) {
            None => writer.serialize(&mut Serializer::new(&mut out)),
            Some(indent) => {
                let spaces = " ".repeat(indent);
                let formatter = PrettyFormatter::with_indent(spaces.as_bytes());
                writer.serialize(&mut Serializer::with_formatter(&mut out, formatter))
            }
        };
        written.map_err(|error| error.to_string())?;
        String::from_utf8(out.bytes).map_err(|error| error.to_string())
    })
}

/// Text that grows for as long as the eval may go on.
struct Checked<'t> {
    task: &'t Task,
    bytes: Vec<u8>,
    looked_at: usize,
}

impl io::Write for Checked<'_> {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        if self.bytes.len() >= self.looked_at + PIECE {
            self.looked_at = self.bytes.len();
            if self.task.must_end() {
                return Err(io::Error::other("the eval was made to stop"));
            }
        }
        self.bytes.extend_from_slice(piece);
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn get(value: &Dynamic, pointer: &str) -> Fallible<Dynamic> {
    let Some(keys) = pointer.strip_prefix('/') else {
        return match pointer {
            "" => Ok(value.clone()),
            _ => Err(bad(
                "json::get",
                format!("a pointer is empty or begins with `/`, as in \"/a/0\"; not \"{pointer:.80}\""),
            )),
        };
    };
    below(value, &mut keys.split('/'))
}

/// What the rest of a pointer leads to.
fn below<'k>(value: &Dynamic, keys: &mut impl Iterator<Item = &'k str>) -> Fallible<Dynamic> {
    if value.is_shared() {
        let inner = value.read_lock::<Dynamic>();
        let inner = inner.ok_or_else(|| fail("DataRace", "a captured value is in use by another call or eval"))?;
        return below(&inner, keys);
    }
    let Some(key) = keys.next() else { return Ok(value.clone()) };
    let key = key.replace("~1", "/").replace("~0", "~");
    if let Some(map) = value.read_lock::<Map>() {
        map.get(key.as_str()).map_or(Ok(Dynamic::UNIT), |value| below(value, keys))
    } else if let Some(list) = value.read_lock::<Array>() {
        // As the standard has it: no sign, no leading zeros.
        let plain = key == "0" || !key.starts_with(['0', '+']);
        let item = key.parse::<usize>().ok().filter(|_| plain).and_then(|index| list.get(index));
        item.map_or(Ok(Dynamic::UNIT), |value| below(value, keys))
    } else {
        Ok(Dynamic::UNIT)
    }
}
