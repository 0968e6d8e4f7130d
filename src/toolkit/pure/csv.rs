//! `csv`: tables as text. Everything read is a text unless it is asked for types, and then only what is written the same way back.

use super::json;
use crate::base::{Format, LibraryError};
use crate::engine::{Api, Fallible, Task, value_type};
use crate::toolkit::arguments::{Options, bad, raise};
use ::csv::{ReaderBuilder, StringRecord, WriterBuilder};
use rhai::{Array, Dynamic, EvalAltResult, INT, ImmutableString, Map, NativeCallContext};
use std::borrow::Cow;
use std::collections::HashSet;

type Context<'c> = NativeCallContext<'c>;

/// The rows that are worked on between two questions whether the eval must end.
const STRIDE: usize = 64;

pub(super) fn register(api: &mut Api) {
    api.about(
        "Comma-separated values: text to rows and rows to text, with quoting, other separators, and types when asked.",
    );
    const PARSE: &str = "
The rows of a CSV text: maps by the names of its first line. Options: `separator` (`\",\"`), `header: false` for arrays of a text without a
line of names, `types: true` for numbers and booleans where they are written the same way back (`007` stays a text) and `()` for empty
cells. Every row has as many cells as the first; `BadCsv` names the line that has not.

```rhai
csv::parse(\"name,n\\nada,1\\n\") //=> [#{n: \"1\", name: \"ada\"}]
```
```rhai
csv::parse(\"a;1;007\", #{separator: \";\", header: false, types: true}) //=> [[\"a\", 1, \"007\"]]
```";
    api.function("parse", &["text: String", "Array"], PARSE, |context: Context<'_>, text: &str| {
        parse(&Task::of(&context), text, &Options::none("csv::parse"))
    });
    api.function(
        "parse",
        &["text: String", "options: Map", "Array"],
        PARSE,
        |context: Context<'_>, text: &str, options: Map| {
            let options = Options::new("csv::parse", &options, &["separator", "header", "types"])?;
            parse(&Task::of(&context), text, &options)
        },
    );

    const TEXT: &str = "
Rows as CSV: maps with a line of names first, or arrays. Cells with separators, quotes or line ends are quoted; `()` is an empty cell, and a
list or map is written as JSON. Options: `separator`, `header: false` to leave the names out, `columns` for which there are and in which
order (else as they first appear).

```rhai
csv::text([#{a: \"x,y\", b: 1}]) == \"a,b\\n\\\"x,y\\\",1\\n\" //=> true
```
```rhai
csv::text([#{a: 1, b: 2}], #{columns: [\"b\", \"a\"]}) == \"b,a\\n2,1\\n\" //=> true
```";
    api.function("text", &["rows: Array", "String"], TEXT, |context: Context<'_>, rows: &mut Array| {
        text(&Task::of(&context), rows, &Options::none("csv::text"))
    });
    api.function(
        "text",
        &["rows: Array", "options: Map", "String"],
        TEXT,
        |context: Context<'_>, rows: &mut Array, options: Map| {
            let options = Options::new("csv::text", &options, &["separator", "header", "columns"])?;
            text(&Task::of(&context), rows, &options)
        },
    );
}

/// The separator, one character of ASCII.
fn separator(call: &'static str, options: &Options<'_>) -> Fallible<u8> {
    match options.text("separator")?.as_deref().map(str::as_bytes) {
        None => Ok(b','),
        Some([byte]) if byte.is_ascii() && !b"\"\r\n\0".contains(byte) => Ok(*byte),
        Some(_) => Err(bad(call, "the option `separator` is one character of ASCII, no quote and no line end")),
    }
}

fn parse(task: &Task, text: &str, options: &Options<'_>) -> Fallible<Array> {
    let (header, types) = (options.flag("header", true)?, options.flag("types", false)?);
    let mut reader = ReaderBuilder::new()
        .delimiter(separator("csv::parse", options)?)
        .has_headers(false)
        .from_reader(text.as_bytes());
    let mut record = StringRecord::new();
    let mut names: Option<Vec<ImmutableString>> = None;
    let mut rows = Array::new();
    while reader.read_record(&mut record).map_err(|error| broken(&error))? {
        if rows.len().is_multiple_of(STRIDE) {
            task.check()?;
        }
        let cells = record.iter().map(|cell| if types { typed(cell) } else { cell.into() });
        match &names {
            None if header => names = Some(heads(&record)?),
            None => rows.push(cells.collect::<Array>().into()),
            Some(names) => {
                let row: Map = names.iter().map(|name| name.as_str().into()).zip(cells).collect();
                rows.push(row.into());
            }
        }
    }
    Ok(rows)
}

/// The names of the columns, each once.
fn heads(record: &StringRecord) -> Fallible<Vec<ImmutableString>> {
    let mut seen = HashSet::new();
    if let Some(twice) = record.iter().find(|name| !seen.insert(*name)) {
        return Err(broken_at(1, format!("the column `{twice:.80}` is named twice; read it with header: false")));
    }
    Ok(record.iter().map(Into::into).collect())
}

/// What a cell is when it is written back the same way.
fn typed(cell: &str) -> Dynamic {
    if cell.is_empty() {
        return Dynamic::UNIT;
    }
    if let Some(n) = cell.parse::<INT>().ok().filter(|n| n.to_string() == cell) {
        return n.into();
    }
    match cell {
        "true" => true.into(),
        "false" => false.into(),
        _ => {
            let number = cell.parse::<f64>().ok().filter(|n| n.is_finite()).map(Dynamic::from_float);
            number.filter(|number| number.to_string() == cell).unwrap_or_else(|| cell.into())
        }
    }
}

fn broken(error: &::csv::Error) -> Box<EvalAltResult> {
    let line = error.position().map_or(0, ::csv::Position::line);
    let reason = match error.kind() {
        ::csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("the row has {len} cells and the first one has {expected_len}")
        }
        _ => error.to_string(),
    };
    broken_at(usize::try_from(line).unwrap_or(usize::MAX), reason)
}

fn broken_at(line: usize, reason: String) -> Box<EvalAltResult> {
    raise(&LibraryError::BadFormat { format: Format::Csv, place: (line, 0), reason })
}

fn text(task: &Task, rows: &Array, options: &Options<'_>) -> Fallible<String> {
    const CALL: &str = "csv::text";
    let header = options.flag("header", true)?;
    let columns = match options.texts("columns")? {
        Some(columns) => columns,
        None => columns_of(task, rows)?,
    };
    let mut writer = WriterBuilder::new().delimiter(separator(CALL, options)?).flexible(true).from_writer(Vec::new());
    let failed = |error: ::csv::Error| bad(CALL, error.to_string());
    if header && !columns.is_empty() {
        writer.write_record(columns.iter().map(|name| name.as_bytes())).map_err(failed)?;
    }
    let nothing = Dynamic::UNIT;
    for (at, row) in rows.iter().enumerate() {
        if at.is_multiple_of(STRIDE) {
            task.check()?;
        }
        let mut put = |value: &Dynamic| {
            let cell = cell(task, value)?;
            writer.write_field(cell.as_bytes()).map_err(failed)
        };
        if let Some(row) = row.read_lock::<Map>() {
            columns.iter().try_for_each(|name| put(row.get(name.as_str()).unwrap_or(&nothing)))?;
        } else if let Some(row) = row.read_lock::<Array>() {
            row.iter().try_for_each(put)?;
        } else {
            return Err(bad(CALL, format!("row {at} is {}, not a map or an array", value_type(row))));
        }
        writer.write_record(None::<&[u8]>).map_err(failed)?;
    }
    let bytes = writer.into_inner().map_err(|error| bad(CALL, error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| bad(CALL, error.to_string()))
}

/// The columns of rows that are maps, in the order in which they first appear.
fn columns_of(task: &Task, rows: &Array) -> Fallible<Vec<ImmutableString>> {
    let (mut seen, mut columns) = (HashSet::new(), Vec::new());
    for (at, row) in rows.iter().enumerate() {
        if at.is_multiple_of(STRIDE) {
            task.check()?;
        }
        let Some(row) = row.read_lock::<Map>() else { continue };
        for name in row.keys().filter(|name| !seen.contains(name.as_str())) {
            columns.push(ImmutableString::from(name.as_str()));
        }
        seen.extend(columns[seen.len()..].iter().map(ToString::to_string));
    }
    Ok(columns)
}

/// A value as the text of a cell.
fn cell<'v>(task: &Task, value: &'v Dynamic) -> Fallible<Cow<'v, str>> {
    if value.is_unit() {
        Ok("".into())
    } else if let Ok(text) = value.as_immutable_string_ref() {
        Ok(text.to_string().into())
    } else if value.is_int() || value.is_float() || value.is_bool() || value.is_char() {
        Ok(value.to_string().into())
    } else {
        json::text(task, value, None).map(Into::into)
    }
}
