//! What `catch` gives a script: an error of the language gets the members that errors of the host have, so that one handler
//! does for both. The language makes a map of its own of it, and of an error inside a call only the text is left in that map.

use super::describe::{describe_alone, lower_first};
use crate::engine::error::mark_as_ours;
use crate::engine::task::context::Task;
use rhai::{Dynamic, EvalAltResult, Map, Position};

/// The beginnings of the language's messages, with the kinds of their errors. The first that fits decides.
const BEGINNINGS: [(&str, &str); 26] = [
    ("Syntax error: ", "Parsing"),
    ("Variable already defined: ", "VariableExists"),
    ("Forbidden variable name: ", "ForbiddenVariable"),
    ("Variable not found: ", "VariableNotFound"),
    ("Property not found: ", "PropertyNotFound"),
    ("Invalid index: ", "IndexNotFound"),
    ("Function not found: ", "FunctionNotFound"),
    ("Module not found: ", "ModuleNotFound"),
    ("Data race detected", "DataRace"),
    ("Malformed dot expression", "DotExpr"),
    ("Unknown property '", "DotExpr"),
    ("Indexer unavailable: ", "IndexingType"),
    ("'this' not bound", "UnboundThis"),
    ("For loop expects iterable type", "For"),
    ("Too many variables defined", "TooManyVariables"),
    ("Too many modules imported", "TooManyModules"),
    ("Stack overflow", "StackOverflow"),
    ("Non-pure ", "NonPureMethodCallOnConstant"),
    ("Cannot modify property '", "NonPureMethodCallOnConstant"),
    ("Cannot assign to indexer of constant", "NonPureMethodCallOnConstant"),
    ("Cannot modify constant ", "AssignmentToConstant"),
    ("Output type incorrect", "MismatchOutputType"),
    ("Data type incorrect", "MismatchDataType"),
    ("Array index ", "ArrayBounds"),
    ("String index ", "StringBounds"),
    ("Bit-field index ", "BitFieldBounds"),
];

/// Members that the language gives none of its maps.
const OUR_NAMES: [&str; 4] = ["kind", "column", "thrown", "entry"];

/// An error of the language, as far as its map tells.
struct Told {
    kind: String,
    /// The language's own text.
    text: String,
    /// Where it happened, when that is not what the map says.
    place: Option<Place>,
}

struct Place {
    source: Option<String>,
    line: i64,
    column: i64,
}

/// Gives a caught error of the language `kind`, `message`, `source`, `line` and `column` as its failure has them. Its other
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

/// Reads a map that the language made of an error. Every such map says from where, and none has names of ours.
fn told(map: &Map) -> Option<Told> {
    if !map.contains_key("source") || OUR_NAMES.iter().any(|name| map.contains_key(*name)) {
        return None;
    }
    let member = |name: &str| map.get(name)?.as_immutable_string_ref().ok().map(|text| text.to_string());
    let error = member("error")?;
    let kind = error.strip_prefix("Error").filter(|kind| is_kind(kind))?;
    let text = member("message")?;
    if !matches!(kind, "InFunctionCall" | "InModule") {
        let mut beginnings =
            BEGINNINGS.iter().filter(|(_, known)| *known == kind).map(|(beginning, _)| beginning).peekable();
        if beginnings.peek().is_some() && !beginnings.any(|beginning| text.starts_with(beginning)) {
            return None;
        }
        return Some(Told { kind: kind.to_owned(), text, place: None });
    }
    // The innermost error stands first, then the calls that led there, from the inside out.
    let calls = ["\nin call to function '", "\nin closure call", MODULE];
    let end = calls.iter().filter_map(|call| text.find(call)).min()?;
    let (inner, further) = text.split_at(end);
    let (inner, position) = without_position(inner);
    let (inner, caller) = without_source(inner);
    let module = further.strip_prefix(MODULE).and_then(|rest| Some(rest.split_once('\'')?.0));
    let source = module.or(caller).map(str::to_owned);
    let known = BEGINNINGS.iter().find(|(beginning, _)| inner.starts_with(beginning)).map(|(_, kind)| *kind);
    // Only these two have texts without a beginning of their own.
    let other = if inner.ends_with(" too large") { "DataTooLarge" } else { "Arithmetic" };
    Some(Told {
        kind: known.unwrap_or(other).to_owned(),
        text: inner.to_owned(),
        place: position.map(|(line, column)| Place { source, line, column }),
    })
}

/// Whether scripts can catch errors of this kind. A thrown map may have a member `error` too.
fn is_kind(kind: &str) -> bool {
    let others = ["InFunctionCall", "InModule", "Arithmetic", "DataTooLarge"];
    others.contains(&kind) || BEGINNINGS.iter().any(|(_, known)| *known == kind)
}

/// How the language goes on after an error in a module.
const MODULE: &str = "\nin module '";

/// Takes ` (line 1, position 5)` off the end.
fn without_position(text: &str) -> (&str, Option<(i64, i64)>) {
    let found = text.rfind(" (line ").and_then(|at| {
        let (line, column) = text[at..].strip_prefix(" (line ")?.strip_suffix(')')?.split_once(", position ")?;
        Some((&text[..at], Some((line.parse().ok()?, column.parse().ok()?))))
    });
    found.unwrap_or((text, None))
}

/// Takes ` @ 'eval 1'` off the end.
fn without_source(text: &str) -> (&str, Option<&str>) {
    let found = text.rfind(" @ '").and_then(|at| {
        let source = text[at..].strip_prefix(" @ '")?.strip_suffix('\'')?;
        Some((&text[..at], Some(source)))
    });
    found.unwrap_or((text, None))
}

/// The error again, where its message is not the language's own.
fn rebuilt(kind: &str, text: &str) -> Option<EvalAltResult> {
    let name = || text.split_once(": ").map_or(text, |(_, name)| name).to_owned();
    Some(match kind {
        "FunctionNotFound" => EvalAltResult::ErrorFunctionNotFound(name(), Position::NONE),
        "VariableNotFound" => EvalAltResult::ErrorVariableNotFound(name(), Position::NONE),
        "ModuleNotFound" => EvalAltResult::ErrorModuleNotFound(name(), Position::NONE),
        "StackOverflow" => EvalAltResult::ErrorStackOverflow(Position::NONE),
        "TooManyVariables" => EvalAltResult::ErrorTooManyVariables(Position::NONE),
        "TooManyModules" => EvalAltResult::ErrorTooManyModules(Position::NONE),
        "AssignmentToConstant" => {
            let name = text.strip_prefix("Cannot modify constant ").unwrap_or(text);
            EvalAltResult::ErrorAssignmentToConstant(name.to_owned(), Position::NONE)
        }
        "DataRace" => {
            let place = text.strip_prefix("Data race detected on ").unwrap_or_default();
            EvalAltResult::ErrorDataRace(place.to_owned(), Position::NONE)
        }
        _ => return None,
    })
}
