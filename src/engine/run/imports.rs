//! Resolving the imports of a running eval, through the hook that knows where modules come from.

use crate::engine::environment::Import;
use crate::engine::error::Fallible;
use crate::engine::task::context::{Modules, Task};
use crate::engine::task::loaded_module::LoadedModule;
use rhai::{Engine, EvalAltResult, ImmutableString, Module, ModuleResolver, Position, Shared};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Resolves the imports of one task through the hook.
pub(super) struct Resolver {
    pub(super) task: Arc<Task>,
}

impl Resolver {
    /// The module called `name` as it is now.
    pub(super) fn load(&self, name: &str) -> Fallible<Arc<LoadedModule>> {
        self.task.check()?;
        self.task.imports().refuse_circle(name)?;
        let modules: &Arc<dyn Modules> = &self.task.hooks().modules;
        let module = modules.resolve(&self.task, name)?;
        self.task.imports().keep(&module);
        Ok(module)
    }

    /// Resolves again, by name and content, the kept imports that code names. Where only functions name one that cannot be
    /// loaded any more, the module stays as it was.
    ///
    /// # Errors
    /// The alias that code names, and why it cannot be loaded.
    pub(super) fn refresh(
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
                Ok(module) if Shared::ptr_eq(module.module(), &import.module) => {}
                Ok(module) => changed.push(Import { module: module.module().clone(), ..import.clone() }),
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
        Ok(module.module().clone())
    }
}
