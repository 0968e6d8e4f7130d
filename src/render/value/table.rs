//! Lists of like maps as tables: a line that says how many rows there are and names the columns, then a line for each row.
//!
//! What a line says is never in doubt: cells stand two blanks apart, and a text that has two blanks in it, or could be taken for a
//! value of another kind, is quoted. Columns follow the first appearance of their keys, those with long cells after the others, so
//! that what stands below each other does. A key that a row lacks is left blank where the place tells, and `-` among the long cells.

use super::kinds::{is_name, is_small_number, number, push_in_quotes};
use super::types::{Budget, Elided, Rendered};
use crate::base::limits::thousands;
use crate::render::plain::{count, is_unsafe};
use rhai::{Array, Dynamic, ImmutableString, Map};
use std::collections::HashSet;
use std::fmt::Write;
use std::ops::Deref;

/// Rows of the shortest table.
const FEWEST: usize = 3;
/// Columns that are shown.
const COLUMNS: usize = 12;
/// Keys of all rows together: with more they are no table.
const KEYS: usize = 64;
/// Characters of a key.
const KEY: usize = 80;
/// Characters to which cells are padded at most; columns with longer ones stand last and are not.
const WIDE: usize = 24;
/// Bytes up to which a table is shown without a cut in its cells: what a cut saves must be more than what a second look costs.
const UNCUT: usize = 2 << 10;
/// Characters of a list or map that is a cell.
pub(super) const CONTAINER: usize = 80;
/// Bytes of the line that says how many rows are left out.
const MARK: usize = 48;
/// Stands for a key that a row lacks, where a blank could not be seen.
const MISSING: &str = "-";

/// What a table asks of the walk over the whole value.
pub(super) struct Asked<'a> {
    /// A list or map on one line of at most [`CONTAINER`] characters, if all of it fits.
    pub(super) container: &'a dyn Fn(&Dynamic) -> Option<String>,
    /// The number of characters of a text, if it is to go on.
    pub(super) count: &'a dyn Fn(&str) -> Option<usize>,
    /// Whether to stop.
    pub(super) stopped: &'a dyn Fn() -> bool,
}

/// The list as a table of at most `room` bytes; `None` when it is none, or when not one row would fit.
pub(super) fn table(items: &Array, budget: &Budget, room: usize, asked: &Asked<'_>) -> Option<Rendered> {
    if items.len() < FEWEST {
        return None;
    }
    let cut = items.len() > budget.items;
    // A row has at least one character and its line break.
    let most = room / 2;
    let head = if cut { budget.head } else { items.len() }.min(most);
    let tail = if cut { budget.tail.min(items.len() - head) } else { 0 };
    let mut rows = Vec::new();
    for item in items[..head].iter().chain(&items[items.len() - tail..]) {
        if item.is_shared() || (asked.stopped)() {
            return None;
        }
        rows.push(item.read_lock::<Map>().filter(|row| !row.is_empty())?);
    }
    let Columns { shown, hidden } = Columns::of(&rows)?;
    let cells = cells(&rows, &shown, budget, room, asked)?;
    let layout = Layout::of(&cells, shown.len());
    let mut out = format!("{} ·", count(items.len(), "row"));
    for column in &layout.order {
        out.push(' ');
        push_key(&mut out, shown[*column]);
    }
    if hidden > 0 {
        write!(out, " … {} elided", count(hidden, "column")).expect("writing to a string cannot fail");
    }
    let lines: Vec<_> = cells.iter().map(|row| layout.line(row)).collect();
    if lines.iter().any(String::is_empty) {
        // All that a row has is in columns that are not shown.
        return None;
    }
    let (head, tail) = fitting(&lines, tail, items.len(), room.checked_sub(out.len())?);
    let between = items.len() - head - tail;
    for line in &lines[..head] {
        out.extend(["\n", line]);
    }
    if between > 0 {
        let more = if tail > 0 { " …" } else { "" };
        write!(out, "\n… {} rows elided{more}", thousands(between)).expect("writing to a string cannot fail");
    }
    for line in &lines[lines.len() - tail..] {
        out.extend(["\n", line]);
    }
    let shown = cells[..head].iter().chain(&cells[cells.len() - tail..]);
    let characters = shown.flatten().flatten().map(|cell| cell.cut).sum();
    let elided = match between + hidden {
        0 if characters == 0 => Elided::None,
        items => Elided::Counted { items, characters },
    };
    (head > 0).then_some(Rendered { text: out, elided })
}

/// The keys of all rows.
struct Columns<'a> {
    /// Those that are shown, in the order of their first appearance.
    shown: Vec<&'a str>,
    /// The number of the others.
    hidden: usize,
}

impl<'a> Columns<'a> {
    /// `None` when the rows are not alike: most cells would be blank, or there are too many keys.
    fn of(rows: &'a [impl Deref<Target = Map>]) -> Option<Self> {
        let (mut keys, mut known, mut filled) = (Vec::new(), HashSet::new(), 0);
        for row in rows {
            filled += row.len();
            if row.len() > KEYS {
                return None;
            }
            for key in row.keys().map(|key| key.as_str()) {
                if known.insert(key) {
                    if keys.len() == KEYS || key.chars().nth(KEY).is_some() {
                        return None;
                    }
                    keys.push(key);
                }
            }
        }
        let alike = filled * 2 >= rows.len() * keys.len();
        let hidden = keys.len().saturating_sub(COLUMNS);
        keys.truncate(COLUMNS);
        alike.then_some(Self { shown: keys, hidden })
    }
}

/// A value in a table.
struct Cell {
    text: String,
    /// Characters of `text`.
    width: usize,
    /// It is a number.
    number: bool,
    /// Characters of the value that are left out.
    cut: usize,
}

/// The cells of all rows, whole if that is little, else with long texts cut.
fn cells(
    rows: &[impl Deref<Target = Map>],
    columns: &[&str],
    budget: &Budget,
    room: usize,
    asked: &Asked<'_>,
) -> Option<Vec<Vec<Option<Cell>>>> {
    let mut longest = budget.string.min(room);
    'again: loop {
        let (mut all, mut bytes) = (Vec::with_capacity(rows.len()), 0);
        for row in rows {
            let mut made = Vec::with_capacity(columns.len());
            for column in columns {
                let cell = match row.get(*column) {
                    Some(value) => Some(cell(value, longest, asked)?),
                    None => None,
                };
                bytes += cell.as_ref().map_or(0, |cell| cell.text.len() + 2);
                made.push(cell);
            }
            if bytes > UNCUT && longest > budget.cell {
                longest = budget.cell;
                continue 'again;
            }
            all.push(made);
        }
        return Some(all);
    }
}

/// A value as a cell; `None` when it is none that a table shows.
fn cell(value: &Dynamic, longest: usize, asked: &Asked<'_>) -> Option<Cell> {
    let (text, cut) = if value.is_shared() {
        return None;
    } else if let Some(text) = value.read_lock::<ImmutableString>() {
        self::text(&text, longest, asked)?
    } else if let Some(number) = number(value) {
        (number, 0)
    } else if value.is_unit() {
        ("()".to_owned(), 0)
    } else if value.is_bool() || is_small_number(value) {
        (value.to_string(), 0)
    } else if value.is_char() || value.is_array() || value.is_map() {
        ((asked.container)(value)?, 0)
    } else {
        return None;
    };
    let number = value.is_int() || value.is_float() || is_small_number(value);
    Some(Cell { width: text.chars().count(), text, number, cut })
}

/// A text as a cell, and how many of its characters are left out.
fn text(text: &str, longest: usize, asked: &Asked<'_>) -> Option<(String, usize)> {
    let end = text.char_indices().nth(longest).map_or(text.len(), |(at, _)| at);
    let (shown, rest) = text.split_at(end);
    let mut out = String::with_capacity(shown.len() + 2);
    if needs_quotes(shown) {
        out.push('"');
        shown.chars().for_each(|c| push_in_quotes(&mut out, c));
        out.push('"');
    } else {
        out.push_str(shown);
    }
    if rest.is_empty() {
        return Some((out, 0));
    }
    let cut = (asked.count)(rest)?;
    write!(out, "… {} elided", thousands(cut)).expect("writing to a string cannot fail");
    Some((out, cut))
}

/// Whether a text without quotes could be taken for something else: for two cells, another kind of value, a cut one, or a line of
/// the system.
fn needs_quotes(text: &str) -> bool {
    text.is_empty()
        || text.starts_with([' ', '[', '\'', '…'])
        || text.ends_with(' ')
        || text.starts_with("#{")
        || text.starts_with(";;")
        || text.contains("  ")
        || text.contains(" elided")
        || text.chars().any(|c| c == '"' || is_unsafe(c))
        || matches!(text, "()" | "true" | "false" | MISSING)
        || looks_like_a_number(text)
}

fn looks_like_a_number(text: &str) -> bool {
    let plain: String = text.chars().filter(|c| !matches!(c, '_' | ',')).take(400).collect();
    let digits = plain.trim_start_matches(['+', '-']);
    plain.parse::<f64>().is_ok()
        || (digits.len() > 2 && ["0x", "0X", "0o", "0O", "0b", "0B"].iter().any(|radix| digits.starts_with(radix)))
}

fn push_key(out: &mut String, key: &str) {
    if is_name(key) {
        out.push_str(key);
    } else {
        out.push('"');
        key.chars().for_each(|c| push_in_quotes(out, c));
        out.push('"');
    }
}

/// The places of the cells of a row.
struct Layout {
    /// The columns in the order in which they stand.
    order: Vec<usize>,
    /// The width to which each is padded; 0 for those with long cells.
    widths: Vec<usize>,
    /// Those that have only numbers, aligned to the right.
    right: Vec<bool>,
}

impl Layout {
    fn of(rows: &[Vec<Option<Cell>>], columns: usize) -> Self {
        let cells = |column: usize| rows.iter().filter_map(move |row| row[column].as_ref());
        let longest: Vec<_> = (0..columns).map(|at| cells(at).map(|cell| cell.width).max().unwrap_or(0)).collect();
        let mut order: Vec<_> = (0..columns).collect();
        order.sort_by_key(|column| longest[*column] > WIDE);
        let right = (0..columns).map(|at| cells(at).all(|cell| cell.number)).collect();
        let widths = longest.iter().map(|width| if *width > WIDE { 0 } else { *width }).collect();
        Self { order, widths, right }
    }

    fn line(&self, row: &[Option<Cell>]) -> String {
        let mut line = String::new();
        for (place, column) in self.order.iter().copied().enumerate() {
            let last = place + 1 == self.order.len();
            let (text, width) = match &row[column] {
                Some(cell) => (cell.text.as_str(), cell.width),
                None if self.widths[column] == 0 && !last => (MISSING, 1),
                None => ("", 0),
            };
            let blanks = if last { 0 } else { self.widths[column].saturating_sub(width) };
            let (before, after) = if self.right[column] { (blanks, 0) } else { (0, blanks) };
            line.extend(std::iter::repeat_n(' ', before));
            line.push_str(text);
            line.extend(std::iter::repeat_n(' ', after));
            if !last {
                line.push_str("  ");
            }
        }
        line.truncate(line.trim_end().len());
        line
    }
}

/// How many lines of the head, and how many of the last `tail` ones, fit into `room` with their line breaks; `all` is the number
/// of rows.
fn fitting(lines: &[String], tail: usize, all: usize, room: usize) -> (usize, usize) {
    let size = |line: &String| line.len() + 1;
    if lines.len() == all && lines.iter().map(size).sum::<usize>() <= room {
        return (all, 0);
    }
    let that_fit = |lines: &mut dyn Iterator<Item = &String>, mut room: usize| {
        let before = room;
        let fits = |line: &&String| room.checked_sub(size(line)).map(|left| room = left).is_some();
        let count = lines.take_while(fits).count();
        (count, before - room)
    };
    let room = room.saturating_sub(MARK);
    // As in lists, a fifth of the room is kept for the tail.
    let (last, used) = that_fit(&mut lines.iter().rev().take(tail), room / 5);
    let (head, _) = that_fit(&mut lines[..lines.len() - tail].iter(), room - used);
    (head, last)
}

#[cfg(test)]
mod tests;
