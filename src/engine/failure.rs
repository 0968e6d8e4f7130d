//! Errors: what scripts catch, and how an error of the language becomes a [`Failure`].

use super::explain;
use super::task::Task;
use crate::base::limits::LimitHit;
use crate::base::{Cut, EntryId, Failure, Frame, Refusal};
use rhai::{Dynamic, EvalAltResult, ImmutableString, Map, Position};

/// What native functions return.
pub type Fallible<T> = Result<T, Box<EvalAltResult>>;

/// A failure that is handed on to another script, with the live value that was thrown.
#[derive(Clone, Debug)]
pub struct Thrown {
    /// The failure.
    pub failure: Failure,
    /// The entry that failed.
    pub entry: EntryId,
    /// What it threw, if it threw.
    pub thrown: Option<Dynamic>,
}

/// Marks the maps made here, so that they are told from maps that a script throws.
const OURS: i32 = 0x4552;

/// The error that ends a stopped eval. No script can catch it for long: the next operation raises it again.
pub fn terminated() -> Box<EvalAltResult> {
    EvalAltResult::ErrorTerminated(Dynamic::UNIT, Position::NONE).into()
}

/// The failure of another entry, as an error of this script. It catches a map: `kind`, `message`, `entry`, `line`, `column`,
/// `source`, and `thrown` when something was thrown.
pub fn raise(thrown: &Thrown) -> Box<EvalAltResult> {
    let Failure { kind, message, source, line, column, .. } = &thrown.failure;
    let mut map = Map::new();
    map.insert("kind".into(), kind.into());
    map.insert("message".into(), message.into());
    map.insert("entry".into(), number(thrown.entry.0));
    map.insert("source".into(), source.into());
    map.insert("line".into(), number(*line as u64));
    map.insert("column".into(), number(*column as u64));
    if let Some(value) = &thrown.thrown {
        map.insert("thrown".into(), value.clone());
    }
    ours(map)
}

/// A refusal, as an error of this script. It catches a map: `kind` and `message`.
pub fn refuse(refusal: &Refusal) -> Box<EvalAltResult> {
    fail(refusal.kind(), refusal.to_string())
}

/// A limit, as an error of this script. It catches a map: `kind` and `message`.
pub fn limit(hit: &LimitHit) -> Box<EvalAltResult> {
    fail(hit.kind(), hit.to_string())
}

/// Any other error of a native function, as an error of this script. It catches a map: `kind` and `message`.
pub fn fail(kind: &str, message: impl Into<String>) -> Box<EvalAltResult> {
    let mut map = Map::new();
    map.insert("kind".into(), kind.into());
    map.insert("message".into(), message.into().into());
    ours(map)
}

/// No module has this name.
pub fn module_not_found(name: &str) -> Box<EvalAltResult> {
    EvalAltResult::ErrorModuleNotFound(name.to_owned(), Position::NONE).into()
}

/// A map with `kind` and `message` speaks for itself when it is thrown.
pub(crate) fn mark_as_ours(value: &mut Dynamic) {
    value.set_tag(OURS);
}

fn ours(map: Map) -> Box<EvalAltResult> {
    let mut value = Dynamic::from_map(map);
    mark_as_ours(&mut value);
    EvalAltResult::ErrorRuntime(value, Position::NONE).into()
}

fn number(n: u64) -> Dynamic {
    i64::try_from(n).unwrap_or(i64::MAX).into()
}

/// An error of `task` as data, with the source line where that is kept, and the live value that was thrown. Near names and
/// hints are left to [`explain`].
pub(crate) fn describe(error: &EvalAltResult, task: &Task) -> (Failure, Option<Dynamic>) {
    let (mut failure, thrown) = describe_from(error, task, task.source());
    if failure.line > 0 {
        failure.excerpt = task.hooks().sources.line(&failure.source, failure.line);
    }
    (failure, thrown)
}

/// The same without the source line, for code that began in `source`.
pub(crate) fn describe_from(error: &EvalAltResult, task: &Task, source: &str) -> (Failure, Option<Dynamic>) {
    let mut failure = Failure { source: source.to_owned(), ..Failure::default() };
    let mut at = error;
    loop {
        let (function, source, inner) = match at {
            EvalAltResult::ErrorInFunctionCall(function, source, inner, _) => {
                (shown_function(function), source.clone(), inner)
            }
            EvalAltResult::ErrorInModule(name, inner, _) => ("<import>".to_owned(), name.clone(), inner),
            _ => break,
        };
        let (line, column) = place(at.position());
        failure.frames.push(Frame { function, source: failure.source.clone(), line, column });
        if !source.is_empty() {
            failure.source = source;
        }
        at = inner;
    }
    (failure.line, failure.column) = place(at.position());
    if let (0, Some(frame)) = (failure.line, failure.frames.last()) {
        // Not every error knows its place; the call that led there does.
        failure.source.clone_from(&frame.source);
        (failure.line, failure.column) = (frame.line, frame.column);
    }
    // A call without a place is one the engine made itself.
    failure.frames.retain(|frame| frame.line > 0);
    let thrown = say(at, task, &mut failure);
    (failure, thrown)
}

fn shown_function(name: &str) -> String {
    if super::portable::names_closure(name) { "closure".to_owned() } else { name.to_owned() }
}

fn place(position: Position) -> (usize, usize) {
    (position.line().unwrap_or(0), column(position))
}

/// A column in characters, from 1; 0 when unknown. The language counts no further than this type holds: there it is unknown.
pub(crate) fn column(position: Position) -> usize {
    position.position().filter(|column| *column < usize::from(u16::MAX)).unwrap_or(0)
}

/// Kind and message of an error of `task`, whose place does not matter.
pub(crate) fn describe_alone(error: &EvalAltResult, task: &Task) -> (String, String) {
    let mut failure = Failure::default();
    say(error, task, &mut failure);
    (failure.kind, failure.message)
}

/// Fills in kind, message and hint; returns what was thrown.
fn say(error: &EvalAltResult, task: &Task, failure: &mut Failure) -> Option<Dynamic> {
    failure.kind = kind(error);
    let limits = task.limits();
    match error {
        EvalAltResult::ErrorRuntime(value, _) => return say_thrown(value, failure),
        EvalAltResult::ErrorFunctionNotFound(signature, _) => failure.message = explain::missing_function(signature),
        EvalAltResult::ErrorVariableNotFound(name, _) => failure.message = format!("no variable '{name}'"),
        EvalAltResult::ErrorModuleNotFound(name, _) => failure.message = format!("no module '{name}'"),
        EvalAltResult::ErrorStackOverflow(_) => {
            let levels = limits.map_or(0, |limits| limits.call_depth);
            failure.message = format!("calls nested deeper than {levels} levels, which is the limit");
        }
        EvalAltResult::ErrorTooManyVariables(_) => {
            limit_hit(failure, &LimitHit::Variables { limit: limits.map_or(0, |limits| limits.variables) });
        }
        EvalAltResult::ErrorTooManyModules(_) => {
            let modules = limits.map_or(0, |limits| limits.modules);
            failure.message = format!("more than {modules} modules loaded, which is the limit of an eval");
        }
        EvalAltResult::ErrorParsing(rhai::ParseErrorType::TooManyFunctions, _) => {
            limit_hit(failure, &LimitHit::Functions { limit: limits.map_or(0, |limits| limits.functions) });
        }
        EvalAltResult::ErrorParsing(rhai::ParseErrorType::ExprTooDeep, _) => {
            let (top, function) =
                limits.map_or((0, 0), |limits| (limits.expression_depth, limits.function_expression_depth));
            // The parser does not say which of the two was met.
            failure.message = format!(
                "an expression deeper than {top} levels, or {function} in a function, which is the limit; \
                 split it with variables"
            );
        }
        EvalAltResult::ErrorParsing(what, _) => failure.message = format!("syntax error: {what}"),
        EvalAltResult::ErrorAssignmentToConstant(name, _) => {
            failure.message = format!("cannot change constant '{name}'");
            hint_at_functions(failure);
        }
        EvalAltResult::ErrorNonPureMethodCallOnConstant(..) => {
            failure.message = plain_message(error);
            hint_at_functions(failure);
        }
        EvalAltResult::ErrorDataRace(place, _) => failure.message = explain::race(place),
        other => failure.message = plain_message(other),
    }
    None
}

/// What is constant inside a function is mostly a variable of the space.
fn hint_at_functions(failure: &mut Failure) {
    if !failure.frames.is_empty() {
        failure.hint = Some(
            "functions read the variables of their space and cannot change them: return the value, or keep it in an atom"
                .to_owned(),
        );
    }
}

fn limit_hit(failure: &mut Failure, hit: &LimitHit) {
    hit.kind().clone_into(&mut failure.kind);
    failure.message = hit.to_string();
}

/// A thrown value: one of the maps made here speaks for itself; anything else is shown and kept.
fn say_thrown(value: &Dynamic, failure: &mut Failure) -> Option<Dynamic> {
    if value.tag() == OURS
        && let Ok(map) = value.as_map_ref()
        && let (Some(kind), Some(message)) = (text(&map, "kind"), text(&map, "message"))
    {
        failure.kind = kind.into();
        failure.message = match map.get("entry").and_then(|entry| entry.as_int().ok()) {
            Some(entry) if !message.starts_with("in entry ") => format!("in entry {entry}: {message}"),
            _ => message.into(),
        };
        let thrown = map.get("thrown").cloned();
        failure.cut = thrown.as_ref().map(|thrown| thrown_text(thrown).1).unwrap_or_default();
        return thrown;
    }
    (failure.message, failure.cut) = thrown_text(value);
    Some(value.clone())
}

/// A thrown value as a message, with how much of it that leaves out.
fn thrown_text(value: &Dynamic) -> (String, Cut) {
    match value.as_immutable_string_ref() {
        Ok(text) if !text.is_empty() => super::text::clipped(&text, 4_000),
        _ if value.is_unit() => ("something was thrown without a value".to_owned(), Cut::default()),
        _ => super::text::beginning(value, 900),
    }
}

fn text(map: &Map, key: &str) -> Option<ImmutableString> {
    map.get(key)?.as_immutable_string_ref().ok().map(|text| text.clone())
}

/// The name of the variant, without `Error`.
fn kind(error: &EvalAltResult) -> String {
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

/// The language's own text, without the position, which is shown elsewhere.
fn plain_message(error: &EvalAltResult) -> String {
    let text = error.to_string();
    let position = error.position();
    lower_first(text.strip_suffix(&format!(" ({position})")).unwrap_or(&text))
}

pub(crate) fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => String::new(),
    }
}
