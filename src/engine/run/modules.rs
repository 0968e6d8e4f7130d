//! Compiling a script module from its text, and a space as a module.

use super::closures::prepare;
use super::interpreter::engine;
use super::natives::Known;
use crate::engine::environment::{Environment, Import, KeepAlive, ModuleRecord, Quiet, is_quiet};
use crate::engine::error::Fallible;
use crate::engine::native::add_raw;
use crate::engine::rhai_internals::calls::Readings;
use crate::engine::rhai_internals::module_text::import_aliases;
use crate::engine::rhai_internals::rewrite::Kind;
use crate::engine::rhai_internals::runtime_state::{load_module, script_functions};
use crate::engine::source_text::readable;
use crate::engine::task::code_unit::CodeUnit;
use crate::engine::task::context::Task;
use crate::engine::task::loaded_module::LoadedModule;
use crate::engine::task::space_view::{Definition, Overlay, SpaceView};
use crate::engine::task::views::ViewedSpace;
use rhai::{Dynamic, EvalAltResult, FnPtr, ImmutableString, Module, Position, Shared};
use std::sync::{Arc, OnceLock};

/// Compiles `text` as the module `name` (file `name.rhai`), with `overlays` replacing and adding functions in order, and runs
/// its top level as part of `task`: what it prints, its limits and its cancellation are the task's.
///
/// # Errors
/// What the text raises, wrapped so that the file and line are named; a circular import names the circle.
pub(crate) fn compile_module(task: &Arc<Task>, name: &str, text: &str, overlays: &[Overlay]) -> Fallible<LoadedModule> {
    task.imports().refuse_circle(name)?;
    let file = ImmutableString::from(format!("{name}.rhai"));
    let inside = |error| Box::new(EvalAltResult::ErrorInModule(file.to_string(), error, Position::NONE));
    let name = ImmutableString::from(name);
    let loading = task.imports().load(&name);
    let built = build(task, &file, text, overlays).map_err(inside)?;
    let (constants, imports) = loading.finish();
    let Built { mut module, functions, units, last, quiet } = built;
    let sub_modules =
        module.iter_sub_modules().map(|(alias, module)| Import::new(alias.into(), module.clone())).collect();
    let environment = Environment { functions, imports: Arc::new(sub_modules), constants };
    // Nobody else knows this cell: it is empty.
    drop(last.set(environment.clone()));
    module.set_id(file);
    let code = units.into_iter().map(|unit| unit as KeepAlive).collect();
    ModuleRecord::put_into(&mut module, name.clone(), quiet, code);
    module.build_index();
    Ok(LoadedModule::new(name, module, environment, imports))
}

struct Built {
    module: Module,
    functions: Shared<Module>,
    units: Vec<Arc<CodeUnit>>,
    last: Arc<OnceLock<Environment>>,
    quiet: Quiet,
}

fn build(task: &Arc<Task>, file: &ImmutableString, text: &str, overlays: &[Overlay]) -> Fallible<Built> {
    let runtime = task.runtime();
    let engine = engine(task);
    let ast = engine.compile(readable(text.strip_prefix('\u{feff}').unwrap_or(text)))?;
    let last = Arc::new(OnceLock::new());
    let unit = CodeUnit::of_module(runtime.code_units(), Arc::clone(&last), file.clone());
    let no_space = Readings::default();
    let natives = Known::new(runtime, vec![ast.shared_lib()], &no_space);
    let prepared = prepare(&ast, &unit, &natives, Kind::Module, runtime.nesting_check());
    let mut readings = prepared.script.readings.clone();
    let mut aliases = import_aliases(&ast);
    task.called_units().keep(&unit);
    task.views().name(&prepared.script.imports);
    let mut functions = Module::new();
    let mut units = vec![unit];
    let define = |functions: &mut Module, definitions: Vec<Definition>| {
        for definition in definitions {
            task.views().name(&definition.imports);
            functions.set_script_fn(definition.function);
        }
    };
    let has_functions = !prepared.definitions.is_empty() || overlays.iter().any(|overlay| !overlay.is_empty());
    define(&mut functions, prepared.definitions);
    for overlay in overlays {
        let Some(raw) = overlay.compiled() else { continue };
        let unit = CodeUnit::of_module(runtime.code_units(), Arc::clone(&last), overlay.source().into());
        let ast = rhai::AST::new([], (**raw).clone());
        aliases.append(&mut import_aliases(&ast));
        let natives = Known::new(runtime, vec![ast.shared_lib()], &no_space);
        let prepared = prepare(&ast, &unit, &natives, Kind::Module, runtime.nesting_check());
        readings.add(&prepared.script.readings);
        define(&mut functions, prepared.definitions);
        units.push(unit);
    }
    if !has_functions && prepared.script.has_closures {
        // Rhai keeps constants for functions only when there are functions, and closures are none to it.
        for function in script_functions(runtime.no_functions()) {
            functions.set_script_fn(function.clone());
        }
    }
    // What a native module is called may be the name of an import as well.
    let is_quiet = |path: &str| {
        let native = path.split_once("::").filter(|(module, _)| !aliases.contains(*module));
        let native = native.and_then(|(module, function)| Some((runtime.embedded_module(module)?, function)));
        native.is_some_and(|(module, function)| is_quiet(module, function, |method| runtime.may_be_own(method)))
    };
    let quiet = readings.quiet(&Known::new(runtime, vec![], &no_space), is_quiet);
    let (module, functions) = load_module(&engine, prepared.script.statements, functions)?;
    Ok(Built { module, functions, units, last, quiet })
}

impl LoadedModule {
    /// A view of a space: its functions, which run in that space, and its variables as constants. Those that the code of `task`
    /// names it has as they are now; the module itself holds none of them.
    pub(crate) fn of_space(task: &Task, name: &str, space: &Arc<dyn SpaceView>) -> Option<Self> {
        let environment = space.environment()?;
        let viewed = ViewedSpace::new(space);
        let mut module = Module::new();
        for function in script_functions(&environment.functions) {
            if function.access.is_private() {
                continue;
            }
            let Ok(pointer) = FnPtr::new(function.name.clone()) else { continue };
            let viewed = Arc::clone(&viewed);
            let types = vec![std::any::TypeId::of::<Dynamic>(); function.params.len()];
            add_raw(&mut module, &function.name, &types, move |context, arguments| {
                let arguments = arguments.iter_mut().map(|argument| argument.take()).collect();
                let task = Task::of(&context);
                let unit = task.views().unit(&viewed, task.runtime().code_units())?;
                unit.call_named(&pointer, &context, arguments)
            });
        }
        task.views().open(&viewed, space);
        Some(Self::view(name, module, &viewed))
    }
}
