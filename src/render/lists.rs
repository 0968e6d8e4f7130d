//! Lists of the prompt: tables with aligned columns.

use super::style::Style;
use crate::words::{EntryId, Status};
use std::time::Duration;

/// A row of `:evals`.
#[derive(Clone, Debug)]
pub struct EvalRow {
    /// Its id.
    pub id: EntryId,
    /// Its status.
    pub status: Status,
    /// Whose it is; `None` for the prompt's own.
    pub by: Option<String>,
    /// Where it is evaluated.
    pub ns: String,
    /// How long it ran, or runs.
    pub time: Duration,
    /// Lines it printed.
    pub lines: usize,
    /// Its code; the first line is shown.
    pub code: String,
    /// The entry that started it.
    pub parent: Option<EntryId>,
}

/// A row of `:sessions`.
#[derive(Clone, Debug)]
pub struct SessionRow {
    /// Its handle, or the first eight characters of a header session.
    pub session: String,
    /// What its client calls itself.
    pub client: String,
    /// Its note.
    pub note: String,
    /// For how long it has been silent.
    pub idle: Duration,
    /// Entries it owns.
    pub entries: usize,
    /// Entries of it at work.
    pub running: usize,
    /// Where it calls from.
    pub peer: String,
}

/// A row of `:spaces`.
#[derive(Clone, Debug)]
pub struct SpaceRow {
    /// Its name.
    pub name: String,
    /// Variables in it.
    pub variables: usize,
    /// Functions in it.
    pub functions: usize,
    /// What it keeps, in bytes.
    pub bytes: usize,
    /// Whether the prompt stands in it.
    pub here: bool,
}

/// A row of `:help`.
#[derive(Clone, Copy, Debug)]
pub struct CommandRow<'a> {
    /// The command as it is typed, such as `:res`.
    pub name: &'a str,
    /// Its arguments, such as `ID`; may be empty.
    pub arguments: &'a str,
    /// What it does, in one line.
    pub help: &'a str,
}

/// Entries, oldest first, children under their parents.
pub fn evals(rows: &[EvalRow], style: Style) -> String {
    let _ = (rows, style);
    todo!()
}

/// The roster.
pub fn sessions(rows: &[SessionRow], style: Style) -> String {
    let _ = (rows, style);
    todo!()
}

/// Spaces.
pub fn spaces(rows: &[SpaceRow], style: Style) -> String {
    let _ = (rows, style);
    todo!()
}

/// The commands of the prompt.
pub fn commands(rows: &[CommandRow<'_>], style: Style) -> String {
    let _ = (rows, style);
    todo!()
}

/// A page of output for `:out`: number, seconds, source and text of each line.
pub fn output(first: usize, lines: &[(Duration, super::output::Line<'_>)], total: usize, style: Style) -> String {
    let _ = (first, lines, total, style);
    todo!()
}

/// Settled news for the prompt, one line an entry.
pub fn settled(id: EntryId, status: Status, time: Duration, code: &str, style: Style) -> String {
    let _ = (id, status, time, code, style);
    todo!()
}
