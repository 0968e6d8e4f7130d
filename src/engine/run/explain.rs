//! The parts that make an error useful: the source line, near names, and hints that say what to do.

use super::hints::{Code, Fault, hint};
use crate::base::{Failure, Note};
use crate::engine::rhai_internals::callbacks::latest_variable;
use crate::engine::rhai_internals::closure_name::names_closure;
use crate::engine::rhai_internals::error_text::missing_property;
use crate::engine::rhai_internals::lexer::slash_divisions;
use crate::engine::rhai_internals::runtime_state::script_functions;
use crate::engine::signature::{first_parameter, names_foreign_numbers, type_words};
use crate::engine::source_text::{FENCE_HINT, has_fence, parse_hint, parse_problem};
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
        EvalAltResult::ErrorDotExpr(text, _) => {
            if let Some((name, of)) = missing_property(text) {
                failure.suggestions = near_properties(name, &type_words(of), failure, task, code, scope);
            }
        }
        EvalAltResult::ErrorUnboundThis(..) => {
            failure.hint = Some(NO_THIS.to_owned());
        }
        EvalAltResult::ErrorDataRace(..) => explain_race(failure),
        EvalAltResult::ErrorParsing(problem, _) => {
            hint_escaped_newlines(failure, code);
            hint_slashes(failure, code);
            if let Some(hint) = parse_hint(problem) {
                failure.hint = Some(hint.to_owned());
            } else if has_fence(code) {
                failure.hint = Some(FENCE_HINT.to_owned());
            }
        }
        _ => {}
    }
    if failure.hint.is_none() {
        failure.hint = foreign_habit(failure, root, task, code).map(|hint| without_imports(hint, task));
        // A hint says what to call; names that are merely near would lead astray.
        if failure.hint.is_some() && matches!(root, EvalAltResult::ErrorFunctionNotFound(..)) {
            failure.suggestions.clear();
        }
    }
}

/// The hint where `this` stands in a function that was not called on anything.
const NO_THIS: &str = "this is the value that a function was called on, and a closure inside has none of it: say let l = this; before, and l in it";

/// The hint without the imports that are there already.
fn without_imports(mut hint: String, task: &Task) -> String {
    for import in task.state().environment().imports.iter() {
        let alias = &import.alias;
        hint = hint.replace(&format!("import \"{alias}\" as {alias}; "), "");
    }
    hint
}

/// The hint for what was brought along from another language.
fn foreign_habit(failure: &Failure, root: &EvalAltResult, task: &Task, code: &str) -> Option<String> {
    // Of code of others only the line is known.
    let (code, line) = match &failure.excerpt {
        _ if failure.source == task.source() && !code.is_empty() => (code, failure.line),
        Some(line) => (line.as_str(), 1),
        None => ("", 0),
    };
    let code = || Code::new(code, line, failure.column);
    match root {
        EvalAltResult::ErrorParsing(problem, _) => hint(Fault::Parsing(&parse_problem(problem)), &code()),
        EvalAltResult::ErrorFunctionNotFound(signature, _) => {
            let (name, types) = signature.split_once(" (").unwrap_or((signature, ""));
            // A function of one's own is known, and was called in another way.
            if script_functions(&task.state().environment().functions).any(|function| function.name == name) {
                return None;
            }
            let types = type_words(types.strip_suffix(')').unwrap_or(types));
            let types: Vec<&str> = types.split(", ").filter(|of| !of.is_empty()).collect();
            hint(Fault::Function { name, types: &types }, &code())
        }
        EvalAltResult::ErrorVariableNotFound(name, _) => hint(Fault::Variable(name), &code()),
        EvalAltResult::ErrorModuleNotFound(name, _) => hint(Fault::Module(name), &code()),
        EvalAltResult::ErrorDotExpr(text, _) => {
            let (name, of) = missing_property(text)?;
            hint(Fault::Property { name, of: &type_words(of) }, &code())
        }
        _ => None,
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
    let given = receiver(signature);
    let mut found = Vec::new();
    let own: Vec<_> = script_functions(&environment.functions).cloned().collect();
    for function in own.iter().filter(|function| function.name == name) {
        let params: Vec<_> = function.params.iter().map(|param| param.as_str()).collect();
        found.push(format!("{name}({})", params.join(", ")));
    }
    let runtime = task.runtime();
    let shown = || runtime.functions().iter().filter(|facts| !facts.hidden && facts.module.is_none());
    let overloads: Vec<_> =
        shown().filter(|facts| facts.name == name && !names_foreign_numbers(&facts.signature)).collect();
    let fitting = overloads.iter().filter(|facts| fits(&facts.signature, given.as_deref()));
    found.extend(fitting.map(|facts| short_signature(&facts.signature)));
    if found.is_empty() {
        found.extend(overloads.iter().map(|facts| short_signature(&facts.signature)));
    }
    found.dedup();
    found.truncate(SUGGESTIONS);
    if found.is_empty() {
        found = imported(name, task);
    }
    if found.is_empty() {
        let natives = shown().filter(|facts| fits(&facts.signature, given.as_deref()));
        let mut names: BTreeSet<&str> = natives.map(|facts| facts.name.as_str()).collect();
        let own = own.iter().filter(|function| given.is_none() == function.params.is_empty());
        names.extend(own.map(|function| function.name.as_str()));
        found = nearest(name, names.into_iter()).into_iter().map(|name| format!("{name}()")).collect();
    }
    found
}

/// The functions of this name in imported modules.
fn imported(name: &str, task: &Task) -> Vec<String> {
    let environment = task.state().environment();
    let holds = |module: &rhai::Module| script_functions(module).any(|function| function.name == name);
    let modules = environment.imports.iter().filter(|import| holds(&import.module));
    modules.take(SUGGESTIONS).map(|import| format!("{}::{name}()", import.alias)).collect()
}

/// The type of the first argument, or of the receiver, in Rhai's `lenn (array, i64)`.
fn receiver(signature: &str) -> Option<String> {
    let types = type_words(signature.split_once(" (")?.1.trim_end_matches(')'));
    types.split(", ").next().filter(|first| !first.is_empty()).map(str::to_owned)
}

/// Whether a function takes what was given first.
fn fits(signature: &str, given: Option<&str>) -> bool {
    match (first_parameter(signature), given) {
        (Some(first), Some(given)) => first == given || first == "any",
        (None, None) => true,
        _ => false,
    }
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

/// Near methods for the name of a property; for a property of `()`, near keys of the map that lacks the one before it.
fn near_properties(name: &str, of: &str, failure: &Failure, task: &Task, code: &str, scope: &Scope<'_>) -> Vec<String> {
    if of != "()" {
        let natives = task.runtime().functions().iter().filter(|facts| !facts.hidden && facts.module.is_none());
        let names: BTreeSet<&str> = natives
            .filter(|facts| first_parameter(&facts.signature) == Some(of))
            .map(|facts| facts.name.as_str())
            .collect();
        return nearest(name, names.into_iter()).into_iter().map(|name| format!("{name}()")).collect();
    }
    if failure.source != task.source() {
        return Vec::new();
    }
    let code = Code::new(code, failure.line, failure.column);
    let (key, variable) = (code.back(2), code.back(4));
    let path = [code.back(3), code.back(1)];
    if path.iter().any(|dot| *dot != ".") || code.back(5) == "." {
        return Vec::new();
    }
    let held = scope.get(variable).cloned().map(rhai::Dynamic::flatten);
    let keys = held.and_then(|held| held.try_cast::<rhai::Map>());
    let keys: Vec<String> = keys.iter().flat_map(|map| map.keys()).map(ToString::to_string).collect();
    let near = nearest(key, keys.iter().map(String::as_str));
    near.into_iter().map(|near| format!("{variable}.{near}")).collect()
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
    let allowed = wanted.chars().count() / 3;
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
        assert_eq!(nearest("lenn", names.into_iter()), ["len"]);
        assert_eq!(nearest("totl", names.into_iter()), ["total"]);
        assert!(nearest("something_else", names.into_iter()).is_empty());
    }

    #[test]
    fn long_names_have_no_near_names() {
        let (name, near) = ("n".repeat(100_000), "n".repeat(100_001));
        assert!(nearest(&name, [near.as_str()].into_iter()).is_empty());
    }
}
