//! Values as plain data: rows of tables, cells of a line, and what may stand in them.

use crate::engine::{Fallible, sequence_text};
use crate::toolkit::arguments::bad;
use rhai::{Array, Dynamic, ImmutableString, Map};

/// A value in a cell: a text as it is, `()` as nothing, all else in Rhai's notation; maps and lists as JSON.
pub(super) fn cell(value: &Dynamic, json: impl Fn(&Dynamic) -> Fallible<String>) -> Fallible<String> {
    if let Some(text) = value.read_lock::<ImmutableString>() {
        return Ok(text.to_string());
    }
    if value.is_unit() {
        return Ok(String::new());
    }
    if value.is_map() || value.is_array() || value.is_blob() {
        return json(value);
    }
    Ok(sequence_text(value).unwrap_or_else(|| value.to_string()))
}

/// Rows as cells by column. Rows are maps, or lists with a cell for each place.
pub(super) struct Rows {
    /// The names of the columns; those of rows that are lists are numbers, which nobody shows.
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<Vec<Dynamic>>,
}

impl Rows {
    /// The rows of a list. `wanted` are the columns that are shown, in this order; without them all, in the order in which they appear.
    pub(super) fn of(call: &'static str, list: &Array, wanted: Option<Vec<String>>) -> Fallible<Self> {
        let named = !list.first().is_some_and(Dynamic::is_array);
        let mut columns = wanted.clone().unwrap_or_default();
        let mut seen: std::collections::HashSet<String> = columns.iter().cloned().collect();
        for (index, row) in list.iter().enumerate() {
            if named {
                let map = row.read_lock::<Map>().ok_or_else(|| no_row(call, index, row))?;
                if wanted.is_none() {
                    for key in map.keys().filter(|key| !seen.contains(key.as_str())).collect::<Vec<_>>() {
                        seen.insert(key.to_string());
                        columns.push(key.to_string());
                    }
                }
            } else {
                let cells = row.read_lock::<Array>().ok_or_else(|| no_row(call, index, row))?;
                for place in columns.len()..cells.len() {
                    columns.push(place.to_string());
                }
            }
        }
        let rows = list.iter().map(|row| cells_of(row, &columns, named)).collect();
        Ok(Self { columns, rows })
    }
}

fn cells_of(row: &Dynamic, columns: &[String], named: bool) -> Vec<Dynamic> {
    if named {
        let map = row.read_lock::<Map>();
        let cell = |name: &String| map.as_ref().and_then(|map| map.get(name.as_str()).cloned()).unwrap_or_default();
        return columns.iter().map(cell).collect();
    }
    let list = row.read_lock::<Array>();
    let cell = |place: usize| list.as_ref().and_then(|list| list.get(place).cloned()).unwrap_or_default();
    (0..columns.len()).map(cell).collect()
}

fn no_row(call: &'static str, index: usize, row: &Dynamic) -> Box<rhai::EvalAltResult> {
    let of = crate::engine::value_type(row);
    bad(call, format!("rows are all maps or all lists; row {index} is {of}"))
}

/// A list of texts, such as the columns that are wanted.
pub(super) fn texts(call: &'static str, what: &str, list: &Array) -> Fallible<Vec<String>> {
    let text = |value: &Dynamic| value.read_lock::<ImmutableString>().map(|text| text.to_string());
    list.iter().map(|value| text(value).ok_or_else(|| bad(call, format!("{what} are texts")))).collect()
}
