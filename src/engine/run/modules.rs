//! Script modules: compiling one from its text, and resolving the imports of a running eval.

use super::closures::Home;
use crate::engine::environment::{Constants, Environment, Import, KeepAlive, ModuleRecord};
use crate::engine::error::{Fallible, fail};
use crate::engine::native::add_raw;
use crate::engine::rhai_internals::closure_name::names_closure;
use crate::engine::rhai_internals::rewrite::{Kind, prepare};
use crate::engine::rhai_internals::runtime_state::{load_module, script_functions};
use crate::engine::task::context::Task;
use crate::engine::task::hooks::Modules;
use crate::engine::task::runtime::Runtime;
use crate::engine::task::space_view::{Definition, SpaceView};
use rhai::{Dynamic, Engine, EvalAltResult, FnPtr, ImmutableString, Module, ModuleResolver, Position, Shared};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// Functions as an eval wrote them, to be merged into a module when it is built. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Overlay {
    /// The functions before the pass, bodies of closures included; `None` without functions.
    functions: Option<Shared<Module>>,
    source: ImmutableString,
}

impl Overlay {
    pub(crate) fn new(ast: &rhai::AST, source: ImmutableString) -> Self {
        let functions = Some(ast.shared_lib().clone()).filter(|functions| !functions.is_empty());
        Self { functions, source }
    }

    /// The names of the functions, with their numbers of parameters.
    pub fn functions(&self) -> Vec<(ImmutableString, usize)> {
        self.functions
            .iter()
            .flat_map(|module| script_functions(module))
            .filter(|function| !names_closure(&function.name))
            .map(|function| (function.name.clone(), function.params.len()))
            .collect()
    }

    /// Whether it defines nothing.
    pub fn is_empty(&self) -> bool {
        self.functions().is_empty()
    }

    /// Which eval wrote it: `eval 12`.
    pub fn source(&self) -> &str {
        &self.source
    }
}

/// A module that was compiled and whose top level has run. Never changed afterwards.
#[derive(Clone)]
pub struct LoadedModule {
    name: ImmutableString,
    module: Shared<Module>,
    environment: Environment,
    imports: Vec<Arc<Self>>,
}

impl LoadedModule {
    /// A module that is no script of the library, such as a view of a space, under the name it was imported by.
    pub fn native(name: &str, mut module: Module) -> Self {
        let name = ImmutableString::from(name);
        ModuleRecord::put_into(&mut module, name.clone(), Vec::new());
        module.build_index();
        Self { name, module: module.into(), environment: Environment::default(), imports: Vec::new() }
    }

    /// A view of a space: its functions, which run in that space, and its variables as they are now, as constants.
    pub fn of_space(language: &Runtime, name: &str, space: &Arc<dyn SpaceView>) -> Option<Self> {
        let environment = space.environment()?;
        let source = ImmutableString::from(space.name());
        let home = Home::of_space(language.homes(), space, source);
        let mut module = Module::new();
        for function in script_functions(&environment.functions) {
            if function.access.is_private() {
                continue;
            }
            let Ok(pointer) = FnPtr::new(function.name.clone()) else { continue };
            let home = Arc::clone(&home);
            let types = vec![std::any::TypeId::of::<Dynamic>(); function.params.len()];
            add_raw(&mut module, &function.name, &types, move |context, arguments| {
                let arguments = arguments.iter_mut().map(|argument| argument.take()).collect();
                home.call_named(&pointer, &context, arguments)
            });
        }
        for variable in space.names() {
            if let Some(found) = space.variable(&variable) {
                // A captured variable is a cell that its closures share; a reader gets what is in it now.
                module.set_var(variable, (*found.value).flatten_clone());
            }
        }
        Some(Self::native(name, module))
    }

    /// The name it is imported by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The module as the language knows it.
    pub fn module(&self) -> &Shared<Module> {
        &self.module
    }

    /// What its functions run in, private ones included: for evaluating inside the module.
    pub fn environment(&self) -> Environment {
        self.environment.clone()
    }

    /// The modules its top level imported.
    pub fn imports(&self) -> &[Arc<Self>] {
        &self.imports
    }
}

impl fmt::Debug for LoadedModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoadedModule").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A module that a task is loading.
#[derive(Debug)]
pub(crate) struct Loading {
    name: ImmutableString,
    /// Where its constants will be, once its top level has begun.
    constants: Option<Constants>,
    imports: Vec<Arc<LoadedModule>>,
}

impl Task {
    /// The top level of the module that is being loaded begins. Returns its file.
    pub(crate) fn begin_module(&self, constants: Constants) -> Option<ImmutableString> {
        let mut loading = self.loading();
        let module = loading.last_mut()?;
        module.constants = Some(constants);
        Some(format!("{}.rhai", module.name).into())
    }
}

/// Compiles `text` as the module `name` (file `name.rhai`), with `overlays` replacing and adding functions in order, and runs
/// its top level as part of `task`: what it prints, its limits and its cancellation are the task's.
///
/// # Errors
/// What the text raises, wrapped so that the file and line are named; a circular import names the circle.
pub fn compile_module(
    language: &Runtime,
    task: &Arc<Task>,
    name: &str,
    text: &str,
    overlays: &[Overlay],
) -> Fallible<LoadedModule> {
    refuse_circle(task, name)?;
    let file = ImmutableString::from(format!("{name}.rhai"));
    let inside = |error| Box::new(EvalAltResult::ErrorInModule(file.to_string(), error, Position::NONE));
    let name = ImmutableString::from(name);
    let loading = LoadingGuard::new(task, &name);
    let built = build(language, task, &file, text, overlays).map_err(inside)?;
    let (constants, imports) = loading.finish();
    let Built { mut module, functions, homes, last } = built;
    let sub_modules =
        module.iter_sub_modules().map(|(alias, module)| Import::new(alias.into(), module.clone())).collect();
    let environment = Environment { functions, imports: Arc::new(sub_modules), constants };
    // Nobody else knows this cell: it is empty.
    drop(last.set(environment.clone()));
    module.set_id(file);
    let code = homes.into_iter().map(|home| home as KeepAlive).collect();
    ModuleRecord::put_into(&mut module, name.clone(), code);
    module.build_index();
    Ok(LoadedModule { name, module: module.into(), environment, imports })
}

struct Built {
    module: Module,
    functions: Shared<Module>,
    homes: Vec<Arc<Home>>,
    last: Arc<OnceLock<Environment>>,
}

fn build(
    language: &Runtime,
    task: &Arc<Task>,
    file: &ImmutableString,
    text: &str,
    overlays: &[Overlay],
) -> Fallible<Built> {
    let engine = language.engine(task);
    let ast = engine.compile(text.strip_prefix('\u{feff}').unwrap_or(text))?;
    let last = Arc::new(OnceLock::new());
    let home = Home::of_module(language.homes(), Arc::clone(&last), file.clone());
    let prepared = prepare(&ast, &home, Kind::Module, language.nesting_check());
    task.keep_home(&home);
    let mut functions = Module::new();
    let mut homes = vec![home];
    let define = |functions: &mut Module, definitions: Vec<Definition>| {
        for definition in definitions {
            functions.set_script_fn(definition.function);
        }
    };
    let has_functions = !prepared.definitions.is_empty() || overlays.iter().any(|overlay| !overlay.is_empty());
    define(&mut functions, prepared.definitions);
    for overlay in overlays {
        let Some(raw) = &overlay.functions else { continue };
        let home = Home::of_module(language.homes(), Arc::clone(&last), overlay.source.clone());
        let ast = rhai::AST::new([], (**raw).clone());
        let prepared = prepare(&ast, &home, Kind::Module, language.nesting_check());
        define(&mut functions, prepared.definitions);
        homes.push(home);
    }
    if !has_functions && prepared.has_closures {
        // The language keeps constants for functions only when there are functions, and closures are none to it.
        for function in script_functions(language.no_functions()) {
            functions.set_script_fn(function.clone());
        }
    }
    let (module, functions) = load_module(&engine, prepared.statements, functions)?;
    Ok(Built { module, functions, homes, last })
}

/// The record of a module that is being loaded, taken back whatever happens.
struct LoadingGuard<'t> {
    task: &'t Task,
    depth: usize,
}

impl<'t> LoadingGuard<'t> {
    fn new(task: &'t Task, name: &ImmutableString) -> Self {
        let mut loading = task.loading();
        let depth = loading.len();
        loading.push(Loading { name: name.clone(), constants: None, imports: Vec::new() });
        Self { task, depth }
    }

    fn finish(self) -> (Option<Constants>, Vec<Arc<LoadedModule>>) {
        let mut loading = self.task.loading();
        let record = loading.drain(self.depth..).next();
        drop(loading);
        record.map(|record| (record.constants, record.imports)).unwrap_or_default()
    }
}

impl Drop for LoadingGuard<'_> {
    fn drop(&mut self) {
        self.task.loading().truncate(self.depth);
    }
}

fn refuse_circle(task: &Task, name: &str) -> Fallible<()> {
    let loading = task.loading();
    let Some(first) = loading.iter().position(|module| module.name == name) else { return Ok(()) };
    let mut circle: Vec<&str> = loading[first..].iter().map(|module| module.name.as_str()).collect();
    circle.push(name);
    Err(fail("CircularImport", format!("circular import: {}", circle.join(" → "))))
}

/// Resolves the imports of one task through the hook.
pub(crate) struct Resolver {
    pub(crate) language: Runtime,
    pub(crate) task: Arc<Task>,
}

impl Resolver {
    /// The module called `name` as it is now.
    pub(crate) fn load(&self, name: &str) -> Fallible<Arc<LoadedModule>> {
        self.task.check()?;
        refuse_circle(&self.task, name)?;
        let modules: &Arc<dyn Modules> = &self.task.hooks().modules;
        let module = modules.resolve(&self.language, &self.task, name)?;
        self.task.keep_module(&module);
        if let Some(loading) = self.task.loading().last_mut() {
            loading.imports.push(Arc::clone(&module));
        }
        Ok(module)
    }

    /// Resolves again, by name and content, the kept imports that code names. Where only functions name one that cannot be
    /// loaded any more, the module stays as it was.
    ///
    /// # Errors
    /// The alias that code names, and why it cannot be loaded.
    pub(crate) fn refresh(
        &self,
        kept: &[Import],
        named: &BTreeSet<ImmutableString>,
        by_functions: &BTreeSet<ImmutableString>,
    ) -> Result<Vec<Import>, (ImmutableString, Box<EvalAltResult>)> {
        let mut changed = Vec::new();
        for import in kept {
            let Some(name) = &import.name else { continue };
            let direct = named.contains(&import.alias);
            if !(direct || by_functions.contains(&import.alias)) {
                continue;
            }
            match self.load(name) {
                Ok(module) if Shared::ptr_eq(&module.module, &import.module) => {}
                Ok(module) => changed.push(Import { module: module.module.clone(), ..import.clone() }),
                Err(error) if direct => return Err((import.alias.clone(), error)),
                Err(_) => self.task.check().map_err(|error| (import.alias.clone(), error))?,
            }
        }
        Ok(changed)
    }
}

impl ModuleResolver for Resolver {
    fn resolve(
        &self,
        _engine: &Engine,
        _source: Option<&str>,
        path: &str,
        position: Position,
    ) -> Fallible<Shared<Module>> {
        let module = self.load(path).map_err(|mut error| {
            if error.position().is_none() {
                error.set_position(position);
            }
            error
        })?;
        Ok(module.module.clone())
    }
}
