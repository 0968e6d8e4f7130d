//! The parts that make an error useful: the source line, near names, and hints that say what to do.

use crate::base::{Failure, Note};
use crate::engine::rhai_internals::callbacks::latest_variable;
use crate::engine::rhai_internals::closure_name::names_closure;
use crate::engine::rhai_internals::lexer::slash_divisions;
use crate::engine::rhai_internals::runtime_state::script_functions;
use crate::engine::source_text::parse_hint;
use crate::engine::task::context::Task;
use rhai::{EvalAltResult, Scope};
use std::collections::BTreeSet;

/// The number of near names that are given.
const SUGGESTIONS: usize = 3;
/// The longest name that near names are looked for, in bytes: the search takes the product of two lengths.
const LONGEST_NAME: usize = 80;

/// Adds near names and hints to a failure that has its source line. `code` is the script of the entry itself.
pub(crate) fn explain(failure: &mut Failure, error: &EvalAltResult, task: &Task, code: &str, scope: &Scope<'_>) {
    let root = root_of(error);
    match root {
        EvalAltResult::ErrorFunctionNotFound(signature, _) if !names_closure(signature) => {
            failure.suggestions = near_functions(signature, task);
            hint_at_variable(failure, signature, task, scope);
        }
        EvalAltResult::ErrorVariableNotFound(name, _) => failure.suggestions = near_variables(name, task, scope),
        EvalAltResult::ErrorModuleNotFound(name, _) => {
            hint_at_import(failure, name, task);
        }
        EvalAltResult::ErrorDataRace(..) => explain_race(failure),
        EvalAltResult::ErrorParsing(problem, _) => {
            hint_escaped_newlines(failure, code);
            hint_slashes(failure, code);
            if let Some(hint) = parse_hint(problem) {
                failure.hint = Some(hint.to_owned());
            }
        }
        _ => {}
    }
}

fn root_of(mut error: &EvalAltResult) -> &EvalAltResult {
    while let EvalAltResult::ErrorInFunctionCall(.., inner, _) | EvalAltResult::ErrorInModule(_, inner, _) = error {
        error = inner;
    }
    error
}

/// The line a failure is at. `code` is the script of the entry itself.
pub(crate) fn source_line(failure: &Failure, task: &Task, code: &str) -> Option<String> {
    let index = failure.line.checked_sub(1)?;
    if failure.source == task.source() {
        code.lines().nth(index).map(str::to_owned)
    } else {
        task.hooks().sources.line(&failure.source, failure.line)
    }
}

/// Overloads of the same name first, then names that are nearly the same.
fn near_functions(signature: &str, task: &Task) -> Vec<String> {
    let path = signature.split(" (").next().unwrap_or(signature);
    let environment = task.state().environment();
    let (alias, name) = path.rsplit_once("::").map_or((None, path), |(alias, name)| (Some(alias), name));
    if let Some(alias) = alias {
        let Some(import) = environment.imports.iter().find(|import| import.alias == alias) else {
            return near_embedded(alias, name, task);
        };
        let functions = script_functions(&import.module);
        let names: BTreeSet<String> = functions
            .filter(|function| !names_closure(&function.name))
            .map(|function| function.name.to_string())
            .collect();
        return nearest(name, names.iter().map(String::as_str))
            .into_iter()
            .map(|found| format!("{alias}::{found}"))
            .collect();
    }
    let mut found = Vec::new();
    let own: Vec<_> = script_functions(&environment.functions).cloned().collect();
    for function in own.iter().filter(|function| function.name == name) {
        let params: Vec<_> = function.params.iter().map(|param| param.as_str()).collect();
        found.push(format!("{name}({})", params.join(", ")));
    }
    let runtime = task.runtime();
    let overloads =
        runtime.functions().iter().filter(|facts| !facts.hidden && facts.module.is_none() && facts.name == name);
    found.extend(overloads.map(|facts| short_signature(&facts.signature)));
    found.dedup();
    found.truncate(SUGGESTIONS);
    if found.is_empty() {
        let mut names = runtime.function_names();
        names.extend(own.iter().map(|function| function.name.as_str()));
        found = nearest(name, names.into_iter()).into_iter().map(|name| format!("{name}()")).collect();
    }
    found
}

/// The same for a function of the embedding program's module.
fn near_embedded(module: &str, name: &str, task: &Task) -> Vec<String> {
    let runtime = task.runtime();
    let functions = || runtime.functions().iter().filter(|facts| facts.module.as_deref() == Some(module));
    let overloads = functions().filter(|facts| facts.name == name);
    let found: Vec<_> =
        overloads.map(|facts| format!("{module}::{}", short_signature(&facts.signature))).take(SUGGESTIONS).collect();
    if !found.is_empty() {
        return found;
    }
    let names: BTreeSet<&str> = functions().map(|facts| facts.name.as_str()).collect();
    nearest(name, names.into_iter()).into_iter().map(|found| format!("{module}::{found}")).collect()
}

/// A signature without the type that is returned.
fn short_signature(signature: &str) -> String {
    signature.split(" -> ").next().unwrap_or(signature).to_owned()
}

/// Calling a variable as if it were a function is the commonest mistake of all.
fn hint_at_variable(failure: &mut Failure, signature: &str, task: &Task, scope: &Scope<'_>) {
    let name = signature.split(" (").next().unwrap_or(signature);
    let held = scope.get(name).cloned().or_else(|| task.space().variable(name).map(|found| (*found.value).clone()));
    if held.is_some_and(|value| value.flatten().is::<rhai::FnPtr>()) {
        failure.suggestions.clear();
        failure.hint = Some(format!("{name} is a variable that holds a function: call it as {name}.call(..)"));
    }
}

/// A module that exists has to be imported before its functions are called.
fn hint_at_import(failure: &mut Failure, name: &str, task: &Task) {
    let modules = task.hooks().modules.names();
    let last = |module: &str| module.rsplit('/').next().unwrap_or_default().to_owned();
    if let Some(module) = modules.iter().find(|module| last(module) == name) {
        failure.hint = Some(format!("the module is not imported here: import \"{module}\" as {name};"));
        return;
    }
    let environment = task.state().environment();
    let mut known: BTreeSet<String> = environment.imports.iter().map(|import| import.alias.to_string()).collect();
    known.extend(modules.iter().map(|module| last(module)));
    failure.suggestions = nearest(name, known.iter().map(String::as_str));
}

fn near_variables(name: &str, task: &Task, scope: &Scope<'_>) -> Vec<String> {
    let environment = task.state().environment();
    let mut names: BTreeSet<String> = scope.iter().map(|(name, ..)| name.to_owned()).collect();
    names.extend(task.space().names().iter().map(ToString::to_string));
    names.extend(script_functions(&environment.functions).map(|function| function.name.to_string()));
    nearest(name, names.iter().map(String::as_str))
}

/// The names nearest to `name`, best first.
fn nearest<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Vec<String> {
    // Operators have no near names, and two letters are near everything.
    if name.len() > LONGEST_NAME
        || name.chars().count() < 3
        || !name.starts_with(|c: char| c.is_alphabetic() || c == '_')
    {
        return Vec::new();
    }
    let wanted = name.to_lowercase();
    let allowed = 1 + wanted.chars().count() / 4;
    let mut near: Vec<(usize, &str)> = names
        .filter(|candidate| *candidate != name && candidate.len().abs_diff(name.len()) <= allowed)
        .map(|candidate| (strsim::damerau_levenshtein(&wanted, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().take(SUGGESTIONS).map(|(_, name)| name.to_owned()).collect()
}

/// Says what to do about a value in use.
fn explain_race(failure: &mut Failure) {
    let name = latest_variable();
    let again = if name.is_empty() { "x".to_owned() } else { name };
    failure.hint = Some(format!(
        "a variable that a closure captured is shared: keep what several evals change in an atom, call a closure that is \
         kept in a captured map as call(m.f), and if a native function broke off in it, `let {again} = ..` makes it anew"
    ));
}

/// Newlines that arrive as a backslash and an `n` are a mistake of whoever wrapped the code.
fn hint_escaped_newlines(failure: &mut Failure, code: &str) {
    let at_backslash = failure.excerpt.as_deref().is_some_and(|line| {
        let from = failure.column.saturating_sub(2);
        line.chars().skip(from).take(3).any(|c| c == '\\')
    });
    if breaks_escaped(code) && (at_backslash || !code.trim().contains('\n')) {
        failure.hint = Some(
            "the code has \\n where a line break was meant: its newlines were escaped twice; send real line breaks"
                .to_owned(),
        );
    }
}

/// What was meant as a division ends the line, and the parser misses the rest on this line or the next one that has code.
fn hint_slashes(failure: &mut Failure, code: &str) {
    let missed_by = |line: usize| {
        let between = failure.line.saturating_sub(line + 1);
        failure.line == 0
            || line <= failure.line && code.lines().skip(line).take(between).all(|line| line.trim().is_empty())
    };
    if slash_divisions(code).into_iter().any(missed_by) {
        failure.hint = Some(Note::SLASHES.to_owned());
    }
}

/// Whether a backslash and an `n` stand outside of texts, where they mean nothing.
fn breaks_escaped(code: &str) -> bool {
    let mut quote = None;
    let mut chars = code.chars().peekable();
    while let Some(c) = chars.next() {
        match quote {
            None if matches!(c, '"' | '`' | '\'') => quote = Some(c),
            None if c == '\\' && chars.peek() == Some(&'n') => return true,
            Some(_) if c == '\\' => _ = chars.next(),
            Some(open) if c == open => quote = None,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_breaks_inside_texts_are_meant() {
        for code in ["let x = 1;\\nx", "print(\"a\");\\nprint('\\\\')"] {
            assert!(breaks_escaped(code), "{code}");
        }
        for code in ["print(\"a\\n\"", "`\\n`", "\"\\\"\\n\"", "'\\n'"] {
            assert!(!breaks_escaped(code), "{code}");
        }
    }

    #[test]
    fn near_names_are_close_and_few() {
        let names = ["len", "let", "length", "total", "totals", "x"];
        assert_eq!(nearest("lenn", names.into_iter()), ["len", "let"]);
        assert_eq!(nearest("totl", names.into_iter()), ["total", "totals"]);
        assert!(nearest("something_else", names.into_iter()).is_empty());
    }

    #[test]
    fn long_names_have_no_near_names() {
        let (name, near) = ("n".repeat(100_000), "n".repeat(100_001));
        assert!(nearest(&name, [near.as_str()].into_iter()).is_empty());
    }
}
