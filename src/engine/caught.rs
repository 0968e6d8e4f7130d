//! What `catch` gives a script: an error of the language gets the members that errors of the host have, so that one handler
//! does for both. The language makes a map of its own of it, and of an error inside a call only the text is left in that map.

use super::failure::{describe_alone, mark_as_ours};
use super::task::Task;
use rhai::{Dynamic, EvalAltResult, Map, Position};

/// The beginnings of the language's messages, with the kinds of their errors. The first that fits decides.
const BEGINNINGS: [(&str, &str); 25] = [
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

/// Gives a caught error of the language `kind` and `message` as its failure would have them, and `column` beside `line`. Its
/// other members stay. Thrown values, and errors of the host, are left as they are.
pub(crate) fn unify(caught: &mut Dynamic, task: &Task) {
    if caught.tag() != 0 {
        return;
    }
    let Some(mut map) = caught.write_lock::<Map>() else { return };
    let Some((kind, text)) = kind_and_text(&map) else { return };
    let (kind, message) = match rebuilt(&kind, &text) {
        Some(error) => describe_alone(&error, task),
        None => (kind, super::failure::lower_first(&text)),
    };
    map.insert("kind".into(), kind.into());
    map.insert("message".into(), message.into());
    if let Some(column) = map.get("position").cloned() {
        let unknown = column.as_int().is_ok_and(|column| column >= i64::from(u16::MAX));
        map.insert("column".into(), if unknown { Dynamic::from(0_i64) } else { column });
    }
    drop(map);
    mark_as_ours(caught);
}

/// The kind and the text of the innermost error, from a map that the language made.
fn kind_and_text(map: &Map) -> Option<(String, String)> {
    let member = |name: &str| map.get(name)?.as_immutable_string_ref().ok().map(|text| text.to_string());
    let error = member("error")?;
    let kind = error.strip_prefix("Error").filter(|kind| kind.starts_with(char::is_uppercase))?;
    let text = member("message")?;
    if !matches!(kind, "InFunctionCall" | "InModule") {
        return Some((kind.to_owned(), text));
    }
    let calls = ["\nin call to function '", "\nin closure call", "\nin module"];
    let end = calls.iter().filter_map(|call| text.find(call)).min()?;
    let text = without_place(&text[..end]);
    let known = BEGINNINGS.iter().find(|(beginning, _)| text.starts_with(beginning)).map(|(_, kind)| *kind);
    // Only these two have texts without a beginning of their own.
    let other = if text.ends_with(" too large") { "DataTooLarge" } else { "Arithmetic" };
    Some((known.unwrap_or(other).to_owned(), text.to_owned()))
}

/// Without ` @ 'eval 1' (line 1, position 5)` at the end.
fn without_place(text: &str) -> &str {
    let text = match text.rfind(" (line ") {
        Some(at) if text.ends_with(')') => &text[..at],
        _ => text,
    };
    match text.rfind(" @ '") {
        Some(at) if text.ends_with('\'') => &text[..at],
        _ => text,
    }
}

/// The error again, where its message is not the language's own.
fn rebuilt(kind: &str, text: &str) -> Option<EvalAltResult> {
    let name = || text.split_once(": ").map_or(text, |(_, name)| name).to_owned();
    Some(match kind {
        "FunctionNotFound" => EvalAltResult::ErrorFunctionNotFound(name(), Position::NONE),
        "VariableNotFound" => EvalAltResult::ErrorVariableNotFound(name(), Position::NONE),
        "ModuleNotFound" => EvalAltResult::ErrorModuleNotFound(name(), Position::NONE),
        "StackOverflow" => EvalAltResult::ErrorStackOverflow(Position::NONE),
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
