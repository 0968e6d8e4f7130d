//! The engine of one entry: a raw engine made in a fraction of a microsecond from the shared parts of the runtime. Output, stops,
//! limits and variables of the code in it are those of its task.

use super::catch::unify;
use super::commit::Reached;
use super::imports::Resolver;
use crate::engine::environment::{Constants, is_quiet};
use crate::engine::error::{Fallible, column};
use crate::engine::rhai_internals::callbacks::{Observer, watch_tokens, watch_variables};
use crate::engine::rhai_internals::runtime_state::{StateView, script_functions};
use crate::engine::task::code_unit::CodeUnit;
use crate::engine::task::context::{Tag, Task};
use crate::engine::task::snapshot::SeenVariable;
use crate::engine::task::views::ViewedSpace;
use crate::engine::value::inspect::is_handle;
use rhai::{Dynamic, Engine, EvalAltResult, FnPtr, ImmutableString, OptimizationLevel, Position, Scope, Shared};
use std::sync::Arc;

/// An engine that compiles and runs for `task`, and for nobody else.
pub(super) fn engine(task: &Arc<Task>) -> Engine {
    let (runtime, limits) = (task.runtime(), task.limits());
    let mut engine = Engine::new_raw();
    engine.set_max_strings_interned(256);
    // Optimising takes longer than it saves in scripts that run once, and assigning to a part of a constant panics in it.
    engine.set_optimization_level(OptimizationLevel::None);
    // The newest comes first when functions are looked up.
    for module in runtime.global_modules() {
        engine.register_global_module(module.clone());
    }
    for (name, module) in runtime.embedded_modules() {
        engine.register_static_module(name, module.clone());
    }
    let (print, debug, progress) = (Arc::clone(task), Arc::clone(task), Arc::clone(task));
    engine.on_print(move |text| print.print("print", text));
    engine.on_debug(move |text, source, position| {
        debug.print("debug", &debug_line(text, source.unwrap_or(debug.source()), position));
    });
    engine.on_progress(move |_| progress.must_end().then_some(Dynamic::UNIT));
    watch_tokens(&mut engine, Watcher(Arc::clone(task)));
    watch_variables(&mut engine, Watcher(Arc::clone(task)));
    engine.set_default_tag(Tag { task: Arc::clone(task), unit: None }.into_value());
    engine.set_max_call_levels(limits.call_depth);
    engine.set_max_expr_depths(limits.expression_depth, limits.function_expression_depth);
    engine.set_max_functions(limits.functions);
    engine.set_max_modules(limits.modules);
    engine.set_max_variables(limits.variables);
    engine.disable_symbol("eval");
    engine.set_module_resolver(Resolver { task: Arc::clone(task) });
    engine
}

fn debug_line(text: &str, source: &str, position: Position) -> String {
    match (position.line(), column(position)) {
        (Some(line), 0) => format!("{source} · {line} · {text}"),
        (Some(line), column) => format!("{source} · {line}:{column} · {text}"),
        _ => format!("{source} · {text}"),
    }
}

/// The task as the hooks of its engine see it.
struct Watcher(Arc<Task>);

impl Observer for Watcher {
    fn must_end(&self) -> bool {
        self.0.must_end()
    }

    fn statement_ended(&self, scope: &Scope<'_>, at: StateView<'_>) -> Fallible<()> {
        self.0.state().snapshot().top_level = scope.len();
        self.0.commit(scope, at, Reached::Statement)
    }

    fn show(&self, name: &str, scope: &Scope<'_>) {
        show(&self.0, name, scope);
    }

    fn changed(&self, name: &str) {
        self.0.state().snapshot().note(name);
    }

    fn show_changed(&self, names: &str, scope: &Scope<'_>) {
        let changed = self.0.state().snapshot().take_changed(names);
        changed.iter().for_each(|name| show(&self.0, name, scope));
    }

    fn calls_back(&self, functions: &str, at: StateView<'_>) -> bool {
        let runtime = self.0.runtime();
        functions.split(' ').any(|function| {
            let Some((alias, name)) = function.split_once("::") else { return true };
            let imports = at.imports(0).filter(|(known, _)| *known == alias).map(|(_, module)| module);
            let module = imports.last().or_else(|| runtime.embedded_module(alias));
            !module.is_some_and(|module| is_quiet(module, name, |method| runtime.may_be_own(method)))
        })
    }

    fn caught(&self, error: &mut Dynamic) {
        unify(error, &self.0);
    }

    fn module_begins(&self, constants: Constants) -> Option<ImmutableString> {
        self.0.imports().begin_module(constants)
    }

    fn variable(&self, name: &str, at: StateView<'_>) -> Fallible<Option<Dynamic>> {
        look_up(&self.0, name, at)
    }

    fn imported(&self, path: &str, at: StateView<'_>) -> Fallible<Dynamic> {
        imported(&self.0, path, at)
    }

    fn defines(&self, name: &str, at: StateView<'_>) -> bool {
        in_space(&self.0, name, at).is_some() || at.constant(name).is_some()
    }

    fn is_cell(&self, name: &str, at: StateView<'_>) -> bool {
        in_space(&self.0, name, at).is_some_and(|value| value.is_shared())
    }

    fn function(&self, name: &str, at: StateView<'_>) -> Fallible<Dynamic> {
        let unit = Tag::of(at.tag()).and_then(|tag| tag.unit);
        let space = unit.as_deref().and_then(CodeUnit::space);
        let is_own =
            space.is_none_or(|(id, _)| *id == self.0.space().id()) && sees_a_space(&self.0, unit.as_deref(), at);
        let bound = is_own.then(|| named_function(&self.0, name)).flatten();
        Ok(bound.unwrap_or(Dynamic::from(FnPtr::new(name)?)))
    }

    fn watches(&self) -> bool {
        self.0.witness().watches()
    }

    fn uses(&self, name: &str, cell: &Dynamic) {
        self.0.uses(name, cell);
    }

    fn is_handle(&self, value: &Dynamic) -> bool {
        is_handle(value)
    }

    fn make_cell(&self, value: Dynamic) -> Dynamic {
        self.0.captures().make(value)
    }
}

/// A variable of an import, which running code names by this path.
fn imported(task: &Task, path: &str, at: StateView<'_>) -> Fallible<Dynamic> {
    let (modules, name) = path.rsplit_once("::").unwrap_or_default();
    let mut modules_on_the_way = modules.split("::");
    let root = modules_on_the_way.next().unwrap_or_default();
    let root = at.import(root).or_else(|| task.runtime().embedded_module(root).cloned());
    let Some(root) = root else {
        return Err(EvalAltResult::ErrorModuleNotFound(modules.to_owned(), Position::NONE).into());
    };
    let value = match modules_on_the_way.try_fold(&*root, |module, name| module.get_sub_module(name)) {
        Some(module) => match ViewedSpace::of(module) {
            Some(space) => task.views().variable(&space, name, |bytes| task.afford(bytes))?,
            None => module.get_var(name),
        },
        None => None,
    };
    value.ok_or_else(|| EvalAltResult::ErrorVariableNotFound(path.to_owned(), Position::NONE).into())
}

/// A variable that running code names and that is not in its scope.
fn look_up(task: &Task, name: &str, at: StateView<'_>) -> Fallible<Option<Dynamic>> {
    let unit = Tag::of(at.tag()).and_then(|tag| tag.unit);
    if !sees_a_space(task, unit.as_deref(), at) {
        return Ok(at.constant(name));
    }
    if let Some((id, space)) = unit.as_deref().and_then(CodeUnit::space)
        && *id != task.space().id()
    {
        // A closure of another space reads that space, as it is now.
        let variable = space.upgrade().and_then(|space| space.variable(name));
        // Of a space that ended the constants are left.
        let Some(variable) = variable else { return Ok(at.constant(name)) };
        return task.views().of_other_space(*id, name, variable, |bytes| task.afford(bytes)).map(Some);
    }
    let mut snapshot = task.state().snapshot();
    if !snapshot.known.contains_key(name) {
        let Some(variable) = task.space().variable(name) else {
            drop(snapshot);
            return Ok(at.constant(name).or_else(|| named_function(task, name)));
        };
        snapshot.known.insert(name.into(), SeenVariable::read(variable));
    }
    let shown = snapshot.known.get_mut(name).and_then(SeenVariable::shown);
    let value = snapshot.known.get(name).and_then(|seen| seen.ahead.clone().or_else(|| seen.value.clone()));
    drop(snapshot);
    match (shown, value) {
        // Rhai panics when it looks into a cell that is in use. One made for looking is copied once more.
        (Some(shown), Some(value)) if shown.is_shared() && shown.read_lock::<Dynamic>().is_none() => {
            if value.is_shared() {
                return Err(EvalAltResult::ErrorDataRace(String::new(), Position::NONE).into());
            }
            Ok(Some((*value).clone().into_read_only().into_shared()))
        }
        (shown, value) => {
            if let Some(cell) = value.filter(|value| value.is_shared()) {
                task.looks_at(&cell);
            }
            Ok(shown)
        }
    }
}

/// The value of a variable of the space that running code sees, as it is kept.
fn in_space(task: &Task, name: &str, at: StateView<'_>) -> Option<Arc<Dynamic>> {
    let unit = Tag::of(at.tag()).and_then(|tag| tag.unit);
    if !sees_a_space(task, unit.as_deref(), at) {
        return None;
    }
    if let Some((id, space)) = unit.as_deref().and_then(CodeUnit::space)
        && *id != task.space().id()
    {
        return space.upgrade()?.variable(name).map(|variable| variable.value);
    }
    let seen =
        task.state().snapshot().known.get(name).and_then(|seen| seen.ahead.clone().or_else(|| seen.value.clone()));
    seen.or_else(|| task.space().variable(name).map(|variable| variable.value))
}

/// A pointer to a function of the space that finds its variables also when a module calls it.
fn named_function(task: &Task, name: &str) -> Option<Dynamic> {
    let environment = task.state().environment();
    if !script_functions(&environment.functions).any(|function| function.name == name) {
        return None;
    }
    let unit = CodeUnit::of_space(task.runtime().code_units(), task.space(), task.source().into());
    CodeUnit::named_pointer(&unit, name).map(Dynamic::from)
}

/// Whether the code that runs belongs to a space, and not to a module.
fn sees_a_space(task: &Task, unit: Option<&CodeUnit>, at: StateView<'_>) -> bool {
    let Some(functions) = at.innermost_functions() else { return false };
    match unit {
        None => Shared::ptr_eq(functions, &task.state().environment().functions),
        // A closure sees its own code and its space's functions; a third layer is a module it called.
        Some(unit) => unit.space().is_some() && at.layers() <= 2,
    }
}

/// Lets functions see the present value of a variable.
fn show(task: &Task, name: &str, scope: &Scope<'_>) {
    let mut snapshot = task.state().snapshot();
    // A local of the same name, which comes after those of the top level, is nobody else's business.
    let locals = scope.len().saturating_sub(snapshot.top_level);
    let Some((.., value)) = scope.iter_raw().skip(locals).find(|(variable, ..)| *variable == name) else { return };
    let value = Arc::new(value.clone());
    snapshot.changed.retain(|changed| changed != name);
    let seen = snapshot.known.entry(name.into()).or_default();
    let old = (seen.ahead.replace(value), seen.cell.take());
    drop(snapshot);
    drop(old);
}
