//! Rhai's messages taken apart: the kind of an error, its text without the place, and what the map says that `catch` makes of it.
//!
//! Depends on the English of Rhai and on the debug form of its errors; the tests of caught errors fail when they change.

use rhai::{EvalAltResult, Map, Position};

/// The beginnings of Rhai's messages, with the kinds of their errors. The first that fits decides.
const BEGINNINGS: [(&str, &str); 27] = [
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
    ("No writable property '", "DotExpr"),
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

/// Members that Rhai gives none of its maps.
const OUR_NAMES: [&str; 4] = ["kind", "column", "thrown", "entry"];

/// An error of Rhai, as far as its map tells.
pub(crate) struct Told {
    pub(crate) kind: String,
    /// Rhai's own text.
    pub(crate) text: String,
    /// The place where it happened, when that is not what the map says.
    pub(crate) place: Option<Place>,
}

/// The place of an error.
pub(crate) struct Place {
    pub(crate) source: Option<String>,
    pub(crate) line: i64,
    pub(crate) column: i64,
}

/// Reads a map that Rhai made of an error. Every such map says from where, and none has names of ours.
pub(crate) fn told(map: &Map) -> Option<Told> {
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

/// The words with which Rhai goes on after an error in a module.
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

/// The error again, where its message is not Rhai's own.
pub(crate) fn rebuilt(kind: &str, text: &str) -> Option<EvalAltResult> {
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
        "MismatchDataType" => {
            let (given, wanted) = text.strip_prefix("Data type incorrect: ")?.split_once(" (expecting ")?;
            let wanted = wanted.strip_suffix(')')?.to_owned();
            EvalAltResult::ErrorMismatchDataType(wanted, given.to_owned(), Position::NONE)
        }
        "MismatchOutputType" => {
            let (given, wanted) = text.strip_prefix("Output type incorrect: ")?.split_once(" (expecting ")?;
            let wanted = wanted.strip_suffix(')')?.to_owned();
            EvalAltResult::ErrorMismatchOutputType(wanted, given.to_owned(), Position::NONE)
        }
        "DotExpr" => EvalAltResult::ErrorDotExpr(text.to_owned(), Position::NONE),
        "IndexingType" => EvalAltResult::ErrorIndexingType(name(), Position::NONE),
        "DataRace" => {
            let place = text.strip_prefix("Data race detected on ").unwrap_or_default();
            EvalAltResult::ErrorDataRace(place.to_owned(), Position::NONE)
        }
        _ => return None,
    })
}

/// The name and the type in `Unknown property 'x' - a getter is not registered for type 'T'`, and in what Rhai says of setters.
pub(crate) fn missing_property(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.split_once(" property '")?.1.split_once("' - a ")?;
    let (of, _) = rest.split_once("registered for type '")?.1.split_once('\'')?;
    Some((name, of))
}

/// The name of the variant, without `Error`.
pub(crate) fn kind(error: &EvalAltResult) -> String {
    use std::fmt::Write;
    /// Keeps the leading name, and stops the formatting there: what is inside may be large.
    #[derive(Default)]
    struct Name(String);
    impl Write for Name {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            let name = text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
            self.0.push_str(name);
            if name.len() == text.len() { Ok(()) } else { Err(std::fmt::Error) }
        }
    }
    let mut name = Name::default();
    // An error says that the name is complete.
    let _complete = write!(name, "{error:?}");
    name.0.strip_prefix("Error").map(str::to_owned).unwrap_or(name.0)
}

/// Rhai's own text, without the position, which is shown elsewhere.
pub(crate) fn plain_message(error: &EvalAltResult) -> String {
    let text = error.to_string();
    let position = error.position();
    lower_first(text.strip_suffix(&format!(" ({position})")).unwrap_or(&text))
}

/// The text with its first letter in lower case.
pub(crate) fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => String::new(),
    }
}
