//! Lists of an instance: the Rhai expressions that ask for them, and their results as rows of the prompt's lists. The results
//! are plain data; a field that is missing or of another kind is left blank.

use crate::base::{ClientInfo, EntryId, Status};
use crate::host::{ModuleKind, ModuleNames, Names, Signature};
use crate::registry::{Line, Page, SessionRow};
use crate::render::lists::{EvalRow, SpaceRow};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::time::Duration;

/// The number of times output is looked at anew while an entry prints, before its lines are counted as they are.
const TRIES: usize = 20;

/// The owner of the entries of the instance's own prompt, as it is shown.
const PROMPT: &str = "()";

/// A text as a Rhai literal.
pub(super) fn literal(text: &str) -> String {
    // Its strings have every escape of JSON.
    Value::from(text).to_string()
}

/// The expression for all entries, or those that stand so.
pub(super) fn evals_of(status: Option<Status>) -> String {
    status.map_or_else(|| "evals()".to_owned(), |status| format!("evals({})", literal(status.as_str())))
}

/// Rows of [`evals_of`] for the session `own`; rows of the session that asked are left out.
pub(super) fn evals(found: &Value, own: &str) -> Vec<EvalRow> {
    let row = |row: &Value| {
        let by = match row.get("by")?.as_str() {
            Some(name) if name == own => None,
            Some(name) => Some(name.to_owned()),
            None => Some(PROMPT.to_owned()),
        };
        Some(EvalRow {
            id: EntryId(row["id"].as_u64()?),
            status: Status::from_word(row["status"].as_str()?)?,
            by,
            ns: text(row, "ns"),
            time: Duration::from_millis(row["ms"].as_u64().unwrap_or_default()),
            lines: number(row, "lines"),
            code: text(row, "code"),
            parent: row["parent"].as_u64().map(EntryId),
        })
    };
    rows(found).filter_map(row).collect()
}

/// Rows of `sessions()`, without the session `hidden`.
pub(super) fn sessions(found: &Value, hidden: &str) -> Vec<SessionRow> {
    let row = |row: &Value| SessionRow {
        session: None,
        label: text(row, "session").into(),
        client: ClientInfo { name: text(row, "client"), ..ClientInfo::default() },
        note: row["note"].as_str().map(Into::into),
        idle: Duration::try_from_secs_f64(row["idle"].as_f64().unwrap_or_default()).unwrap_or_default(),
        entries: number(row, "entries"),
        running: number(row, "running"),
        peer: row["peer"].as_str().map(Into::into),
        ns: text(row, "ns").into(),
    };
    rows(found).map(row).filter(|row| *row.label != *hidden).collect()
}

/// Rows of `spaces()`, without the space `hidden`.
pub(super) fn spaces(found: &Value, hidden: &str) -> Vec<SpaceRow> {
    let row = |row: &Value| SpaceRow {
        name: text(row, "name"),
        kind: text(row, "kind"),
        variables: number(row, "variables"),
        functions: number(row, "functions"),
        bytes: number(row, "bytes"),
        owner: row["owner"].as_str().map(Into::into),
        sessions: number(row, "here"),
    };
    rows(found).map(row).filter(|row| row.name != hidden).collect()
}

/// The expression for up to `count` lines that an entry printed, beginning with line `from`, and how many there were and are. An entry at work may
/// print while this is looked up: then it is looked up again.
pub(super) fn page_of(id: EntryId, from: usize, count: usize) -> String {
    format!(
        "{{ let page = (); let tries = 0; loop {{ tries += 1; let before = evals().find(|row| row.id == {id}); \
         if before == () {{ res({id}); }} \
         page = #{{lines: out({id}, {from}, {count}), kept: out({id}).len(), total: before.lines}}; \
         let after = evals().find(|row| row.id == {id}); \
         if after == () || after.lines == before.lines || tries == {TRIES} {{ break; }} }} page }}"
    )
}

/// The page of [`page_of`].
pub(super) fn page(found: &Value, from: usize) -> Page {
    let (total, kept) = (number(found, "total") as u64, number(found, "kept") as u64);
    let first_kept = total.saturating_sub(kept);
    let from = from as u64;
    let line = |line: &Value| Line {
        after: Duration::try_from_secs_f64(line[0].as_f64().unwrap_or_default()).unwrap_or_default(),
        source: Cow::Owned(line[1].as_str().unwrap_or_default().to_owned()),
        text: line[2].as_str().unwrap_or_default().to_owned(),
        cut: 0,
    };
    Page {
        first: from.max(first_kept),
        skipped: first_kept.saturating_sub(from),
        lines: rows(&found["lines"]).map(line).collect(),
        total,
    }
}

/// The expression for the space of the session `own`, and the names that can be typed there.
pub(super) fn names_of(own: &str) -> String {
    let own = literal(own);
    format!(
        "{{ let inside = |name| {{ let rows = []; try {{ rows = outline(name); }} catch {{}} \
         rows.map(|row| if \"signature\" in row {{ row.signature }} else {{ row.name }}) }}; \
         let place = sessions().find(|row| row.session == {own}).ns; \
         let here = if place in spaces().filter(|row| row.kind != \"module\").map(|row| row.name) {{ \"@\" + place }} else {{ place }}; \
         let modules = modules().map(|row| #{{name: row.name, native: row.status == \"native\", inside: inside.call(row.name)}}); \
         #{{place: place, here: inside.call(here), modules: modules, \
         spaces: spaces().filter(|row| row.kind != \"scratch\" || row.name == \"s-\" + {own}).map(|row| row.name)}} }}"
    )
}

/// The names of [`names_of`], without the spaces `hidden`.
pub(super) fn names(found: &Value, hidden: &BTreeSet<String>) -> Names {
    let (functions, variables) = inside(&found["here"]);
    let module = |module: &Value| {
        let (functions, constants) = inside(&module["inside"]);
        let kind = if module["native"] == true { ModuleKind::Embedded } else { ModuleKind::Script };
        ModuleNames { name: text(module, "name"), kind, functions, constants }
    };
    Names {
        variables,
        functions,
        modules: rows(&found["modules"]).map(module).collect(),
        spaces: texts(&found["spaces"]).filter(|name| !hidden.contains(*name)).map(str::to_owned).collect(),
    }
}

/// Functions by their signatures, and other names.
fn inside(found: &Value) -> (Vec<Signature>, Vec<String>) {
    let mut functions: Vec<_> = texts(found).filter_map(Signature::parse).collect();
    functions.sort();
    let others = texts(found).filter(|text| !text.contains('(')).map(str::to_owned).collect();
    (functions, others)
}

fn rows(found: &Value) -> impl Iterator<Item = &Value> {
    found.as_array().into_iter().flatten()
}

fn texts(found: &Value) -> impl Iterator<Item = &str> {
    rows(found).filter_map(Value::as_str)
}

fn text(row: &Value, field: &str) -> String {
    row[field].as_str().unwrap_or_default().to_owned()
}

fn number(row: &Value, field: &str) -> usize {
    row[field].as_u64().and_then(|number| usize::try_from(number).ok()).unwrap_or_default()
}
