//! `csv`: tables as text.

use super::plain::{Rows, cell, texts};
use crate::engine::{Api, Fallible, Task, fail, write_json};
use crate::toolkit::arguments::{Options, STRIDE, bad};
use csv::{ErrorKind, ReaderBuilder, StringRecord, WriterBuilder};
use rhai::{Array, Dynamic, Map, Module, NativeCallContext};

type Context<'c> = NativeCallContext<'c>;

pub(super) fn module() -> Module {
    let mut api = Api::new();
    api.about("Tables as text: CSV with any separator, rows as maps or lists.");
    const PARSE: &str = "
The rows of a text. Its first line names the columns, and rows are maps; with `header: false` rows are lists. Cells are texts; with
`types: true` a cell becomes a number or a boolean where that is written the same (`007` stays a text), and an empty one `()`.
Options: `separator` (a comma), `header` (true), `types` (false). `BadCsv` names the line that does not fit.

```rhai
csv::parse(\"name,n\\nada,1\\n\") //=> [#{n: \"1\", name: \"ada\"}]
csv::parse(\"a;1\", #{separator: \";\", header: false, types: true}) //=> [[\"a\", 1]]
```";
    api.function("parse", &["text: string", "array"], PARSE, |context: Context<'_>, text: &str| {
        parse(&context, text, Map::new())
    });
    api.function(
        "parse",
        &["text: string", "options: map", "array"],
        PARSE,
        |context: Context<'_>, text: &str, options: Map| parse(&context, text, options),
    );
    const TEXT: &str = "
Rows as text; they are maps, whose columns the first line names, or lists. Options: `columns` (which, in what order), `separator`,
`header` (true). What is nested is written as JSON, `()` as nothing.

```rhai
csv::text([#{a: \"x,y\", b: 1}]) == \"a,b\\n\\\"x,y\\\",1\\n\" //=> true
csv::text([#{a: 1, b: 2}], #{columns: [\"b\"]}) == \"b\\n2\\n\" //=> true
```";
    api.function("text", &["rows: array", "string"], TEXT, |context: Context<'_>, rows: Array| {
        text(&context, &rows, Map::new())
    });
    api.function(
        "text",
        &["rows: array", "options: map", "string"],
        TEXT,
        |context: Context<'_>, rows: Array, options: Map| text(&context, &rows, options),
    );
    api.build()
}

fn separator(call: &str, options: &mut Options) -> Fallible<u8> {
    match options.text("separator")? {
        Some(text) => match text.as_bytes() {
            [byte] if byte.is_ascii() && !matches!(byte, b'"' | b'\n' | b'\r') => Ok(*byte),
            _ => Err(bad(call, format!("a separator is one ASCII character, not `{text}`"))),
        },
        None => Ok(b','),
    }
}

fn parse(context: &Context<'_>, text: &str, options: Map) -> Fallible<Array> {
    let mut options = Options::new("csv::parse", options, &["separator", "header", "types"])?;
    let separator = separator("csv::parse", &mut options)?;
    let header = options.flag("header", true)?;
    let typed = options.flag("types", false)?;
    let task = Task::of(context);
    let mut reader = ReaderBuilder::new().delimiter(separator).has_headers(header).from_reader(text.as_bytes());
    let columns: Vec<String> = match reader.headers() {
        Ok(names) => names.iter().map(|name| name.trim_start_matches('\u{feff}').to_owned()).collect(),
        Err(problem) => return Err(broken(&problem)),
    };
    let value = |cell: &str| if typed { read(cell) } else { cell.into() };
    let mut rows = Array::new();
    let mut record = StringRecord::new();
    while reader.read_record(&mut record).map_err(|problem| broken(&problem))? {
        if rows.len().is_multiple_of(STRIDE) {
            task.check()?;
        }
        rows.push(if header {
            let named = columns.iter().zip(&record).map(|(name, cell)| (name.as_str().into(), value(cell)));
            Dynamic::from_map(named.collect())
        } else {
            Dynamic::from_array(record.iter().map(value).collect())
        });
    }
    Ok(rows)
}

/// What a cell stands for, where it would be written the same.
fn read(cell: &str) -> Dynamic {
    match cell {
        "" => return Dynamic::UNIT,
        "true" => return true.into(),
        "false" => return false.into(),
        _ => {}
    }
    if let Ok(n) = cell.parse::<i64>()
        && n.to_string() == cell
    {
        return n.into();
    }
    let digits = cell.starts_with(|c: char| c.is_ascii_digit() || c == '-') && cell.contains('.');
    match cell.parse::<f64>() {
        Ok(n) if digits && n.to_string() == cell.trim_end_matches('0').trim_end_matches('.') && n.is_finite() => {
            n.into()
        }
        Ok(n) if digits && n.to_string() == cell => n.into(),
        _ => cell.into(),
    }
}

fn broken(problem: &csv::Error) -> Box<rhai::EvalAltResult> {
    let line = problem.position().map_or(0, csv::Position::line);
    let message = match problem.kind() {
        ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("line {line} has {len} cells where the first has {expected_len}")
        }
        ErrorKind::Utf8 { .. } => format!("line {line} is not UTF-8"),
        _ => format!("line {line} cannot be read: {problem}"),
    };
    fail("BadCsv", message)
}

fn text(context: &Context<'_>, rows: &Array, options: Map) -> Fallible<String> {
    const CALL: &str = "csv::text";
    let mut options = Options::new(CALL, options, &["columns", "separator", "header"])?;
    let separator = separator(CALL, &mut options)?;
    let header = options.flag("header", true)?;
    let wanted = match options.take("columns") {
        Some(list) => match list.read_lock::<Array>() {
            Some(names) => Some(texts(CALL, "columns", &names)?),
            None => return Err(options.wrong("columns", "a list of texts", &list)),
        },
        None => None,
    };
    let task = Task::of(context);
    let rows = Rows::of(CALL, rows, wanted)?;
    let mut writer = WriterBuilder::new().delimiter(separator).from_writer(Vec::new());
    let failed = |problem: &dyn std::fmt::Display| bad(CALL, problem.to_string());
    if header && rows.named && !rows.columns.is_empty() {
        writer.write_record(&rows.columns).map_err(|problem| failed(&problem))?;
    }
    for (index, row) in rows.rows.iter().enumerate() {
        if index.is_multiple_of(STRIDE) {
            task.check()?;
        }
        let cells: Vec<String> =
            row.iter().map(|value| cell(value, |value| write_json(&task, value))).collect::<Fallible<_>>()?;
        writer.write_record(&cells).map_err(|problem| failed(&problem))?;
    }
    let written = writer.into_inner().map_err(|problem| failed(&problem))?;
    Ok(String::from_utf8_lossy(&written).into_owned())
}
