//! `fmt`: numbers, sizes, spans of time and rows, as people read them.

use super::rows::{Rows, cell, texts};
use crate::engine::{Api, Fallible, Task, value_type, write_json};
use crate::toolkit::arguments::{as_number, bad};
use crate::toolkit::limits::STRIDE;
use rhai::{Array, Dynamic, NativeCallContext};
use unicode_width::UnicodeWidthStr;

/// The most places behind a point.
const MOST_PLACES: i64 = 100;

type Context<'c> = NativeCallContext<'c>;

pub(super) fn register(api: &mut Api) {
    api.about("Numbers, sizes, spans of time and rows as people read them; tables as text and as Markdown.");
    const FIXED: &str = "
A number with so many places behind the point.

```rhai
fmt::fixed(3.14159, 2) //=> \"3.14\"
```";
    api.function("fixed", &["x: float", "places: int", "string"], FIXED, |x: Dynamic, places: i64| {
        fixed("fmt::fixed", &x, places)
    });
    const THOUSANDS: &str = "
A number with commas between its thousands.

```rhai
fmt::thousands(1234567) //=> \"1,234,567\"
```";
    api.function("thousands", &["x: float", "string"], THOUSANDS, |x: Dynamic| -> Fallible<String> {
        a_number("fmt::thousands", &x)?;
        Ok(thousands(&x.to_string()))
    });
    const BYTES: &str = "
A number of bytes.

```rhai
fmt::bytes(1536) //=> \"1.5 KiB\"
```";
    api.function("bytes", &["n: float", "string"], BYTES, |n: Dynamic| a_number("fmt::bytes", &n).map(bytes));
    const DURATION: &str = "
A number of seconds.

```rhai
fmt::duration(3725) //=> \"1 h 2 min 5 s\"
fmt::duration(0.25) //=> \"250 ms\"
```";
    api.function("duration", &["secs: float", "string"], DURATION, |secs: Dynamic| {
        a_number("fmt::duration", &secs).map(duration)
    });
    const PERCENT: &str = "
A share as percents, with so many places behind the point.

```rhai
fmt::percent(0.1234, 1) //=> \"12.3 %\"
```";
    api.function("percent", &["x: float", "places: int", "string"], PERCENT, |x: Dynamic, places: i64| {
        let share = a_number("fmt::percent", &x)?;
        Ok::<_, Box<rhai::EvalAltResult>>(fixed("fmt::percent", &(share * 100.0).into(), places)? + " %")
    });
    const TABLE: &str = "
Rows as a table of text: columns aligned, numbers to the right. Rows are maps or lists; with `columns` only these, in this order.

```rhai
fmt::table([#{n: 1}, #{n: 20}]) == \" n\\n--\\n 1\\n20\" //=> true
```";
    api.function("table", &["rows: array", "string"], TABLE, |context: Context<'_>, rows: Array| {
        table(&context, &rows, None)
    });
    api.function(
        "table",
        &["rows: array", "columns: array", "string"],
        TABLE,
        |context: Context<'_>, rows: Array, columns: Array| table(&context, &rows, Some(&columns)),
    );
    const MARKDOWN: &str = "
Rows as a table of Markdown.

```rhai
fmt::markdown([#{a: 1}]) == \"| a |\\n| ---: |\\n| 1 |\" //=> true
```";
    api.function("markdown", &["rows: array", "string"], MARKDOWN, |context: Context<'_>, rows: Array| {
        markdown(&context, &rows, None)
    });
    api.function(
        "markdown",
        &["rows: array", "columns: array", "string"],
        MARKDOWN,
        |context: Context<'_>, rows: Array, columns: Array| markdown(&context, &rows, Some(&columns)),
    );
}

fn a_number(call: &'static str, value: &Dynamic) -> Fallible<f64> {
    as_number(value).ok_or_else(|| bad(call, format!("wants a number, not {}", value_type(value))))
}

fn fixed(call: &'static str, x: &Dynamic, places: i64) -> Fallible<String> {
    let n = a_number(call, x)?;
    let places = usize::try_from(places).ok().filter(|_| places <= MOST_PLACES);
    let places = places.ok_or_else(|| bad(call, format!("places are 0 to {MOST_PLACES}")))?;
    Ok(match x.as_int() {
        // A float would lose the last digits of a large one.
        Ok(whole) if places == 0 => whole.to_string(),
        Ok(whole) => format!("{whole}.{}", "0".repeat(places)),
        Err(_) => format!("{n:.places$}"),
    })
}

fn thousands(written: &str) -> String {
    let (sign, digits) = written.strip_prefix('-').map_or(("", written), |digits| ("-", digits));
    let (whole, rest) = digits.split_at(digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len()));
    let mut text = sign.to_owned();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text + rest
}

fn bytes(n: f64) -> String {
    let mut left = n.abs();
    let mut unit = "B";
    for next in ["KiB", "MiB", "GiB", "TiB", "PiB"] {
        if left < 1024.0 {
            break;
        }
        left /= 1024.0;
        unit = next;
    }
    let sign = if n < 0.0 { "-" } else { "" };
    if unit == "B" { format!("{sign}{left:.0} B") } else { format!("{sign}{left:.1} {unit}") }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole seconds below a bound")]
fn duration(secs: f64) -> String {
    let sign = if secs < 0.0 { "-" } else { "" };
    let secs = secs.abs();
    if secs < 1.0 {
        return format!("{sign}{} ms", (secs * 1000.0).round());
    }
    if secs < 60.0 {
        let shown = format!("{secs:.1}");
        return format!("{sign}{} s", shown.trim_end_matches(".0"));
    }
    if secs > 1e15 {
        return format!("{sign}{secs} s");
    }
    let whole = secs.round() as u64;
    let parts = [(whole / 86_400, "d"), (whole / 3_600 % 24, "h"), (whole / 60 % 60, "min"), (whole % 60, "s")];
    let shown: Vec<_> = parts.iter().filter(|(n, _)| *n > 0).map(|(n, unit)| format!("{n} {unit}")).collect();
    format!("{sign}{}", shown.join(" "))
}

/// The cells of rows as texts, and for each column whether it is of numbers.
struct Cells {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
    numeric: Vec<bool>,
}

fn cells(context: &Context<'_>, call: &'static str, rows: &Array, columns: Option<&Array>) -> Fallible<Cells> {
    let task = Task::of(context);
    let wanted = columns.map(|columns| texts(call, "columns", columns)).transpose()?;
    let rows = Rows::of(call, rows, wanted)?;
    let is_number = |value: &Dynamic| value.is_int() || value.is_float();
    let numeric = (0..rows.columns.len())
        .map(|at| {
            let mut cells = rows.rows.iter().map(|row| &row[at]).filter(|value| !value.is_unit()).peekable();
            cells.peek().is_some() && cells.all(is_number)
        })
        .collect();
    let mut shown = Vec::with_capacity(rows.rows.len());
    for (index, row) in rows.rows.iter().enumerate() {
        if index.is_multiple_of(STRIDE) {
            task.check()?;
        }
        shown
            .push(row.iter().map(|value| cell(value, |value| write_json(&task, value))).collect::<Fallible<Vec<_>>>()?);
    }
    Ok(Cells { columns: rows.columns, rows: shown, numeric })
}

fn table(context: &Context<'_>, rows: &Array, columns: Option<&Array>) -> Fallible<String> {
    let Cells { columns, mut rows, numeric } = cells(context, "fmt::table", rows, columns)?;
    // A line break would break the table.
    rows.iter_mut().flatten().for_each(|cell| *cell = cell.replace(['\n', '\r', '\t'], " "));
    let width = |at: usize| rows.iter().map(|row| row[at].width()).chain([columns[at].width()]).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let line = |cells: &[String]| {
        let padded = cells.iter().enumerate().map(|(at, cell)| {
            let room = " ".repeat(widths[at] - cell.width());
            if numeric[at] { format!("{room}{cell}") } else { format!("{cell}{room}") }
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let rule = widths.iter().map(|width| "-".repeat(*width)).collect::<Vec<_>>().join("  ");
    let mut lines = vec![line(&columns), rule];
    lines.extend(rows.iter().map(|row| line(row)));
    Ok(lines.join("\n"))
}

fn markdown(context: &Context<'_>, rows: &Array, columns: Option<&Array>) -> Fallible<String> {
    let Cells { columns, rows, numeric } = cells(context, "fmt::markdown", rows, columns)?;
    let escaped =
        |cell: &String| cell.replace('\\', "\\\\").replace('|', "\\|").replace("\r\n", "<br>").replace('\n', "<br>");
    let line = |cells: &[String]| format!("| {} |", cells.iter().map(escaped).collect::<Vec<_>>().join(" | "));
    let rule = numeric.iter().map(|numeric| if *numeric { "---:" } else { "---" }).collect::<Vec<_>>().join(" | ");
    let mut lines = vec![line(&columns), format!("| {rule} |")];
    lines.extend(rows.iter().map(|row| line(row)));
    Ok(lines.join("\n"))
}
