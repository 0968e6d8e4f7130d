//! [`LoadedModule`], and [`ImportState`]: the modules that a running entry is loading and has loaded. Compiling and resolving
//! them is done above, in `run/modules.rs` and `run/imports.rs`.

use super::views::ViewedSpace;
use crate::base::lock;
use crate::engine::environment::{Constants, Environment, KeepAlive, ModuleRecord};
use crate::engine::error::{Fallible, fail};
use rhai::{ImmutableString, Module, Shared};
use std::fmt;
use std::sync::{Arc, Mutex};

/// A module that was compiled and whose top level has run. Never changed afterwards.
#[derive(Clone)]
pub(crate) struct LoadedModule {
    name: ImmutableString,
    module: Shared<Module>,
    environment: Environment,
    /// The modules its top level imported: values of theirs may be in it.
    _imports: Vec<Arc<Self>>,
}

impl LoadedModule {
    /// A module `name` whose top level has run in `environment` and imported `imports`.
    pub(crate) fn new(
        name: ImmutableString,
        module: Module,
        environment: Environment,
        imports: Vec<Arc<Self>>,
    ) -> Self {
        Self { name, module: module.into(), environment, _imports: imports }
    }

    /// A module that is no script of the library, under the name it was imported by.
    #[cfg(test)]
    pub(crate) fn native(name: &str, mut module: Module) -> Self {
        let name = ImmutableString::from(name);
        ModuleRecord::put_into(&mut module, name.clone(), Default::default(), Vec::new());
        module.build_index();
        Self { name, module: module.into(), environment: Environment::default(), _imports: Vec::new() }
    }

    /// A view of a space, with its functions, under the name it was imported by.
    pub(crate) fn view(name: &str, mut module: Module, of: &Arc<ViewedSpace>) -> Self {
        let name = ImmutableString::from(name);
        ModuleRecord::put_view_into(&mut module, name.clone(), Arc::clone(of) as KeepAlive);
        module.build_index();
        Self { name, module: module.into(), environment: Environment::default(), _imports: Vec::new() }
    }

    /// The name it is imported by.
    #[cfg(test)]
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The module as Rhai knows it.
    pub(crate) fn module(&self) -> &Shared<Module> {
        &self.module
    }

    /// The environment of its functions, private ones included: for evaluating inside the module.
    pub(crate) fn environment(&self) -> Environment {
        self.environment.clone()
    }
}

impl fmt::Debug for LoadedModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoadedModule").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The imports of one running entry.
#[derive(Debug, Default)]
pub(crate) struct ImportState(Mutex<Imports>);

#[derive(Debug, Default)]
struct Imports {
    /// The modules it loads at this moment, outermost first.
    loading: Vec<Loading>,
    /// The modules that were resolved for it: kept until it ends.
    kept: Vec<Arc<LoadedModule>>,
}

/// A module that is being loaded.
#[derive(Debug)]
struct Loading {
    name: ImmutableString,
    /// The place where its constants will be, once its top level has begun.
    constants: Option<Constants>,
    imports: Vec<Arc<LoadedModule>>,
}

impl ImportState {
    /// Notes that the module `name` is being loaded until the guard is dropped.
    pub(crate) fn load(&self, name: &ImmutableString) -> LoadingGuard<'_> {
        let mut imports = lock(&self.0);
        let depth = imports.loading.len();
        imports.loading.push(Loading { name: name.clone(), constants: None, imports: Vec::new() });
        LoadingGuard { state: self, depth }
    }

    /// The top level of the module that is being loaded begins. Returns its file.
    pub(crate) fn begin_module(&self, constants: Constants) -> Option<ImmutableString> {
        let mut imports = lock(&self.0);
        let module = imports.loading.last_mut()?;
        module.constants = Some(constants);
        Some(format!("{}.rhai", module.name).into())
    }

    /// Refuses to load a module that is being loaded already.
    ///
    /// # Errors
    /// The circle.
    pub(crate) fn refuse_circle(&self, name: &str) -> Fallible<()> {
        let imports = lock(&self.0);
        let loading = &imports.loading;
        let Some(first) = loading.iter().position(|module| module.name == name) else { return Ok(()) };
        let mut circle: Vec<&str> = loading[first..].iter().map(|module| module.name.as_str()).collect();
        circle.push(name);
        Err(fail("CircularImport", format!("circular import: {}", circle.join(" → "))))
    }

    /// Keeps a module that was resolved, and notes it as an import of the one that is being loaded.
    pub(crate) fn keep(&self, module: &Arc<LoadedModule>) {
        let mut imports = lock(&self.0);
        if !imports.kept.iter().any(|kept| Arc::ptr_eq(kept, module)) {
            imports.kept.push(Arc::clone(module));
        }
        if let Some(loading) = imports.loading.last_mut() {
            loading.imports.push(Arc::clone(module));
        }
    }

    /// Lets go of the kept modules, on this thread.
    pub(super) fn clear(&self) {
        let kept = std::mem::take(&mut lock(&self.0).kept);
        drop(kept);
    }
}

/// The record of a module that is being loaded, taken back whatever happens.
pub(crate) struct LoadingGuard<'s> {
    state: &'s ImportState,
    depth: usize,
}

impl LoadingGuard<'_> {
    /// The module is loaded: its constants and imports.
    pub(crate) fn finish(self) -> (Option<Constants>, Vec<Arc<LoadedModule>>) {
        let record = lock(&self.state.0).loading.drain(self.depth..).next();
        record.map(|record| (record.constants, record.imports)).unwrap_or_default()
    }
}

impl Drop for LoadingGuard<'_> {
    fn drop(&mut self) {
        lock(&self.state.0).loading.truncate(self.depth);
    }
}
