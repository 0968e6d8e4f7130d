//! Running code in an environment of our choice, and native function pointers.

use crate::engine::environment::{Constants, Environment};
use crate::engine::error::Fallible;
use rhai::{
    AST, Caches, Dynamic, Engine, FnPtr, GlobalRuntimeState, ImmutableString, Module, NativeCallContext, Position,
    Scope, ScriptFuncDef, Shared, Stmt,
};

/// The runtime state of Rhai: which functions, imports and constants code sees, and on whose behalf it runs.
#[derive(Clone, Debug)]
pub(crate) struct RuntimeState(GlobalRuntimeState);

impl RuntimeState {
    /// The state at the start of an eval.
    pub(crate) fn new(engine: &Engine) -> Self {
        Self(engine.new_global_runtime_state())
    }

    /// The state a native function was called in.
    pub(crate) fn of(context: &NativeCallContext<'_>) -> Self {
        Self(context.global_runtime_state().clone())
    }

    /// The functions code sees, innermost last.
    pub(crate) fn set_functions<'m>(&mut self, modules: impl IntoIterator<Item = &'m Shared<Module>>) {
        self.0.lib = modules.into_iter().cloned().collect();
    }

    /// Puts functions below those that code sees already.
    pub(crate) fn add_functions_below(&mut self, module: &Shared<Module>) {
        self.0.lib.insert(0, module.clone());
    }

    /// Replaces imports and constants by those of an environment.
    pub(crate) fn set_surroundings(&mut self, environment: &Environment) {
        self.0.truncate_imports(0);
        for import in environment.imports.iter() {
            self.0.push_import(import.alias.clone(), import.module.clone());
        }
        self.0.constants.clone_from(&environment.constants);
    }

    pub(crate) fn set_source(&mut self, source: ImmutableString) {
        self.0.source = Some(source);
    }

    pub(crate) fn set_tag(&mut self, tag: Dynamic) {
        self.0.tag = tag;
    }

    /// Starts counting calls anew, for code that goes on on another thread.
    pub(crate) fn reset_depth(&mut self) {
        self.0.level = 0;
    }

    /// The state as hooks see it.
    pub(crate) fn moment(&self) -> StateView<'_> {
        StateView(&self.0)
    }
}

/// The runtime state, seen from a hook.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StateView<'a>(&'a GlobalRuntimeState);

impl<'a> StateView<'a> {
    /// Seen from the variable hook.
    pub(crate) fn new(state: &'a GlobalRuntimeState) -> Self {
        Self(state)
    }

    /// Seen from a native function.
    pub(crate) fn of(context: &'a NativeCallContext<'_>) -> Self {
        Self(context.global_runtime_state())
    }

    /// The innermost functions: those of the code that is running.
    pub(crate) fn innermost_functions(self) -> Option<&'a Shared<Module>> {
        self.0.lib.last()
    }

    /// The number of layers of functions.
    pub(crate) fn layers(self) -> usize {
        self.0.lib.len()
    }

    pub(crate) fn tag(self) -> &'a Dynamic {
        &self.0.tag
    }

    /// The value of a constant that functions see.
    pub(crate) fn constant(self, name: &str) -> Option<Dynamic> {
        rhai::locked_read(self.0.constants.as_ref()?)?.get(name).cloned()
    }

    /// The imports, oldest first, from the one at `from` on.
    pub(crate) fn imports(self, from: usize) -> impl Iterator<Item = (&'a ImmutableString, &'a Shared<Module>)> {
        self.0.scan_imports_raw().skip(from)
    }

    /// The newest import of this name.
    pub(crate) fn import(self, alias: &str) -> Option<Shared<Module>> {
        self.0.get_shared_import(self.0.find_import(alias)?)
    }

    pub(crate) fn import_count(self) -> usize {
        self.0.num_imports()
    }
}

/// Makes the constants of a module that starts to run known beforehand, and returns where they will be.
pub(crate) fn begin_module(state: &mut GlobalRuntimeState) -> Constants {
    state.constants.get_or_insert_default().clone()
}

/// A function pointer to native code.
#[expect(deprecated, reason = "marked volatile; the version is pinned and the tests watch it")]
pub(crate) fn native_pointer(
    name: ImmutableString,
    call: impl Fn(NativeCallContext<'_>, &mut [&mut Dynamic]) -> Fallible<Dynamic> + Send + Sync + 'static,
) -> Option<FnPtr> {
    FnPtr::from_fn(name, move |context, arguments: &mut [&mut Dynamic]| call(context, arguments)).ok()
}

/// A function pointer to a script function that is called together with the module it is in.
pub(crate) fn pointer_to(function: Shared<ScriptFuncDef>) -> FnPtr {
    FnPtr::from(function)
}

/// Calls a pointer in a state of our choice.
pub(crate) fn call_pointer(
    engine: &Engine,
    state: &RuntimeState,
    name: &str,
    position: Position,
    pointer: &FnPtr,
    this: Option<&mut Dynamic>,
    arguments: Vec<Dynamic>,
) -> Fallible<Dynamic> {
    let context: NativeCallContext<'_> = (engine, name, None, &state.0, position).into();
    pointer.call_raw(&context, this, arguments)
}

/// Runs top-level statements.
#[expect(deprecated, reason = "marked volatile; the version is pinned and the tests watch it")]
pub(crate) fn run_statements(
    engine: &Engine,
    state: &mut RuntimeState,
    scope: &mut Scope<'_>,
    statements: &[Stmt],
) -> Fallible<Dynamic> {
    engine.eval_statements_raw(&mut state.0, &mut Caches::new(), scope, statements)
}

/// Runs a module's top level and makes a module of what it exports and defines. The functions carry no source: Rhai
/// would prefer it to what each of them says at its start.
pub(crate) fn load_module(
    engine: &Engine,
    statements: Vec<Stmt>,
    functions: Module,
) -> Fallible<(Module, Shared<Module>)> {
    let ast = AST::new(statements, functions);
    let functions = ast.shared_lib().clone();
    let module = Module::eval_ast_as_new_raw(engine, &mut Scope::new(), &mut RuntimeState::new(engine).0, &ast)?;
    Ok((module, functions))
}

/// The script functions of a module.
pub(crate) fn script_functions(module: &Module) -> impl Iterator<Item = &Shared<ScriptFuncDef>> {
    module.iter_script_fn_info().map(|(.., function)| function)
}
