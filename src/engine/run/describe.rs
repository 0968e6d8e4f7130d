//! Describing errors: how an error of Rhai becomes a [`Failure`], with its kind, message, place and frames. Near names and hints
//! are added by `explain.rs`.

use crate::base::limits::LimitHit;
use crate::base::{Cut, EntryId, Failure, Frame};
use crate::engine::error::{column, is_ours};
use crate::engine::rhai_internals::callbacks::latest_variable;
use crate::engine::rhai_internals::closure_name::names_closure;
use crate::engine::rhai_internals::error_text::{kind, missing_property, plain_message};
use crate::engine::rhai_internals::markers::Marker;
use crate::engine::signature::type_words;
use crate::engine::source_text::parse_problem;
use crate::engine::task::context::Task;
use crate::engine::value::text::{beginning, clipped};
use rhai::{Dynamic, EvalAltResult, ImmutableString, Map, Position};

/// An error of `task` as data, with the source line where that is kept, and the live value that was thrown. Near names and
/// hints are left to `explain`.
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
    if names_closure(name) { "closure".to_owned() } else { name.to_owned() }
}

fn place(position: Position) -> (usize, usize) {
    (position.line().unwrap_or(0), column(position))
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
        EvalAltResult::ErrorFunctionNotFound(signature, _) => failure.message = missing_function(signature),
        EvalAltResult::ErrorVariableNotFound(name, _) => failure.message = format!("no variable '{name}'"),
        EvalAltResult::ErrorModuleNotFound(name, _) => failure.message = format!("no module '{name}'"),
        EvalAltResult::ErrorStackOverflow(_) => {
            let levels = limits.call_depth;
            failure.message = format!("calls nested deeper than {levels} levels, which is the limit");
        }
        EvalAltResult::ErrorTooManyVariables(_) => {
            limit_hit(failure, &LimitHit::Variables { limit: limits.variables });
        }
        EvalAltResult::ErrorTooManyModules(_) => {
            let modules = limits.modules;
            failure.message = format!("more than {modules} modules loaded, which is the limit of an eval");
        }
        EvalAltResult::ErrorParsing(rhai::ParseErrorType::TooManyFunctions, _) => {
            limit_hit(failure, &LimitHit::Functions { limit: limits.functions });
        }
        EvalAltResult::ErrorParsing(rhai::ParseErrorType::ExprTooDeep, _) => {
            let (top, function) = (limits.expression_depth, limits.function_expression_depth);
            // The parser does not say which of the two was met.
            failure.message = format!(
                "an expression deeper than {top} levels, or {function} in a function, which is the limit; \
                 split it with variables"
            );
        }
        EvalAltResult::ErrorParsing(what, _) => failure.message = format!("syntax error: {}", parse_problem(what)),
        EvalAltResult::ErrorAssignmentToConstant(name, _) => {
            failure.message = match Marker::of(name) {
                Some(Marker::Imported(path)) => format!("cannot change constant '{path}'"),
                _ if name.is_empty() => "cannot change 'this', which is constant here".to_owned(),
                _ => format!("cannot change constant '{name}'"),
            };
            hint_at_functions(failure);
        }
        EvalAltResult::ErrorNonPureMethodCallOnConstant(..) => {
            failure.message = plain_message(error);
            hint_at_functions(failure);
        }
        EvalAltResult::ErrorDataRace(place, _) => failure.message = race(place),
        EvalAltResult::ErrorMismatchDataType(wanted, given, _) if wanted == "i64" && given.contains("::Range") => {
            failure.message = "lists and blobs cannot be indexed by a range".to_owned();
            failure.hint = Some(
                "say list.extract(range) for a part of it, and list.splice(range, other) to replace one".to_owned(),
            );
        }
        EvalAltResult::ErrorMismatchDataType(wanted, given, _) => {
            failure.message = format!("data type incorrect: {} (expecting {})", type_words(given), type_words(wanted));
        }
        EvalAltResult::ErrorMismatchOutputType(wanted, given, _) => {
            failure.message =
                format!("output type incorrect: {} (expecting {})", type_words(given), type_words(wanted));
        }
        EvalAltResult::ErrorIndexingType(types, _) => failure.message = missing_indexer(types),
        EvalAltResult::ErrorDotExpr(text, _) => {
            failure.message = match missing_property(text) {
                Some((name, of)) => format!("no property '{name}' for {}", type_words(of)),
                None => plain_message(error),
            };
        }
        other => failure.message = plain_message(other),
    }
    None
}

/// A constant inside a function is mostly a variable of the space.
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
    if is_ours(value)
        && let Ok(map) = value.as_map_ref()
        && let (Some(kind), Some(message)) = (text(&map, "kind"), text(&map, "message"))
    {
        failure.kind = kind.into();
        failure.message = match map.get("entry").and_then(|entry| entry.as_int().ok()) {
            Some(entry) if !message.starts_with("in entry ") => format!("in entry {entry}: {message}"),
            _ => message.into(),
        };
        failure.cause = map.get("cause").and_then(entry);
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
        Ok(text) if !text.is_empty() => clipped(&text, 4_000),
        _ if value.is_unit() => ("something was thrown without a value".to_owned(), Cut::default()),
        _ => beginning(value, 900),
    }
}

/// The entry with this number.
fn entry(id: &Dynamic) -> Option<EntryId> {
    id.as_int().ok().and_then(|id| u64::try_from(id).ok()).map(EntryId)
}

fn text(map: &Map, key: &str) -> Option<ImmutableString> {
    map.get(key)?.as_immutable_string_ref().ok().map(|text| text.clone())
}

/// `no function 'lenn' for (array)` from Rhai's `lenn (array)`.
fn missing_function(signature: &str) -> String {
    if let Some((_, rest)) = signature.split_once(' ').filter(|(name, _)| names_closure(name)) {
        return format!("this closure {rest}");
    }
    let (name, types) = match signature.split_once(" (") {
        Some((name, types)) => (name, types.strip_suffix(')').unwrap_or(types)),
        // Sorting says so in a sentence.
        None if signature.contains(' ') => return signature.to_owned(),
        None => (signature, ""),
    };
    let types = type_words(types);
    if types.is_empty() {
        format!("no function '{name}' without arguments")
    } else {
        format!("no function '{name}' for ({types})")
    }
}

/// `no index of type string for int` from Rhai's `i64 ["string"]`, with what was to be set behind it.
fn missing_indexer(types: &str) -> String {
    let (of, index) = types.split_once(" [").unwrap_or((types, ""));
    let index = index.split_once(']').map_or(index, |(index, _)| index);
    format!("{} has no index of type {}", type_words(of), type_words(index))
}

/// Names the variable that is in use. Rhai names it only for arguments of functions.
fn race(place: &str) -> String {
    match place {
        "" => match latest_variable() {
            name if name.is_empty() => "a captured variable is in use by another call or eval".to_owned(),
            name => format!("'{name}' is in use by another call or eval"),
        },
        place => format!("{place} is in use by another call or eval"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_function_is_named_with_the_types_it_was_called_with() {
        assert_eq!(missing_function("lenn (array)"), "no function 'lenn' for (array)");
        assert_eq!(missing_function("go (&str | ImmutableString | String, i64)"), "no function 'go' for (string, int)");
        assert_eq!(missing_function("nosuch ()"), "no function 'nosuch' without arguments");
        assert_eq!(missing_function("elements cannot be sorted"), "elements cannot be sorted");
        assert_eq!(
            missing_function("closure_1_0_ab takes 2 arguments and was given 3"),
            "this closure takes 2 arguments and was given 3"
        );
    }
}
