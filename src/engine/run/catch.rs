//! The error that `catch` gives a script: an error of Rhai gets the members that errors of the host have, so that one handler
//! does for both. Rhai makes a map of its own of it, and of an error inside a call only the text is left in that map.

use super::describe::describe_alone;
use crate::engine::error::mark_as_ours;
use crate::engine::rhai_internals::error_text::{Place, Told, lower_first, rebuilt, told};
use crate::engine::signature::type_words;
use crate::engine::task::context::Task;
use rhai::{Dynamic, Map};

/// Gives a caught error of Rhai `kind`, `message`, `source`, `line` and `column` as its failure has them. Its other
/// members stay. Thrown values, and errors of the host, are left as they are.
pub(crate) fn unify(caught: &mut Dynamic, task: &Task) {
    if caught.tag() != 0 {
        return;
    }
    let Some(mut map) = caught.write_lock::<Map>() else { return };
    let Some(Told { kind, text, place }) = told(&map) else { return };
    let (kind, message) = match rebuilt(&kind, &text) {
        Some(error) => describe_alone(&error, task),
        None => (kind, lower_first(&text)),
    };
    // What Rhai says of types in members of its own.
    for member in ["requested", "actual", "type", "property", "function"] {
        let Some(told) =
            map.get(member).and_then(|told| told.as_immutable_string_ref().ok().map(|told| told.to_string()))
        else {
            continue;
        };
        let words = match (member, told.split_once(" (")) {
            ("type", _) | ("property", _) => message.clone(),
            ("function", Some((name, types))) => {
                format!("{name} ({})", type_words(types.strip_suffix(')').unwrap_or(types)))
            }
            ("function", None) => continue,
            _ => type_words(&told),
        };
        map.insert(member.into(), words.into());
    }
    map.insert("kind".into(), kind.into());
    map.insert("message".into(), message.into());
    if let Some(Place { source, line, column }) = place {
        if let Some(source) = source {
            map.insert("source".into(), source.into());
        }
        map.insert("line".into(), line.into());
        map.insert("position".into(), column.into());
    }
    if let Some(column) = map.get("position").and_then(|column| column.as_int().ok()) {
        let known = column < i64::from(u16::MAX);
        map.insert("column".into(), if known { column } else { 0 }.into());
    }
    drop(map);
    mark_as_ours(caught);
}
