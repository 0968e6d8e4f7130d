//! Loading modules on behalf of real evals: the [`Modules`] that evaluation asks, over a [`Library`].

use super::module_store::{Fault, Layer, Loader};
use super::name::ModuleName;
use super::store::Library;
use crate::base::{EntryId, ModuleError, ModuleNotice, StopCause};
use crate::engine::{Fallible, LoadedModule, Modules, Overlay, Task, compile_module};
use crate::engine::{describe, fail};
use rhai::EvalAltResult;
use std::fmt;
use std::sync::Arc;

/// The word beside output lines that are about modules.
pub(super) const OUTPUT_SOURCE: &str = "module";

/// The kind of failure that a circular import is.
const CIRCLE: &str = "CircularImport";

/// Spaces that can be imported. Implemented where spaces are kept.
pub(crate) trait SpaceModules: Send + Sync {
    /// The space called `name` as a module, under the name it is imported by (`@` before that): see
    /// [`LoadedModule::of_space`].
    ///
    /// # Errors
    ///
    /// There is no such space.
    fn space_module(&self, task: &Task, name: &str) -> Fallible<LoadedModule>;
}

/// The modules that `import` finds: those of the library, and other spaces after an `@`.
#[derive(Clone)]
pub(crate) struct ScriptModules {
    library: Arc<Library>,
    spaces: Arc<dyn SpaceModules>,
}

impl ScriptModules {
    /// Modules of `library`, and spaces of `spaces`.
    pub(crate) fn new(library: Arc<Library>, spaces: Arc<dyn SpaceModules>) -> Self {
        Self { library, spaces }
    }

    /// The library.
    pub(crate) fn library(&self) -> &Arc<Library> {
        &self.library
    }

    /// Loads a module from its file, without what was defined inside it, and then those that import it. The notice says which.
    ///
    /// # Errors
    ///
    /// No such module, or what its text raises; then everything stays as it was.
    pub(crate) fn reload(&self, task: &Arc<Task>, name: &str) -> Fallible<ModuleNotice> {
        let loader = OfTask { library: &self.library, task };
        let name = ModuleName::parse(name).map_err(|error| loader.refuse(&error))?;
        self.library.store.reload(&loader, &name)
    }
}

impl Modules for ScriptModules {
    fn resolve(&self, task: &Arc<Task>, name: &str) -> Fallible<Arc<LoadedModule>> {
        if let Some(space) = name.strip_prefix('@') {
            self.library.store.fleeting(task.id());
            return self.spaces.space_module(task, space).map(Arc::new);
        }
        let loader = OfTask { library: &self.library, task };
        let name = ModuleName::parse(name).map_err(|error| loader.refuse(&error))?;
        self.library.store.get(&loader, &name).map(|version| version.loaded.clone())
    }

    fn names(&self) -> Vec<String> {
        self.library.names()
    }
}

impl fmt::Debug for ScriptModules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptModules").field("library", &self.library).finish_non_exhaustive()
    }
}

/// A real eval that needs a module.
struct OfTask<'a> {
    library: &'a Library,
    task: &'a Arc<Task>,
}

impl Loader<Arc<LoadedModule>, Overlay> for OfTask<'_> {
    fn entry(&self) -> EntryId {
        self.task.id()
    }

    fn load(&self, name: &ModuleName, text: &str, layers: &[Overlay]) -> Fallible<Arc<LoadedModule>> {
        compile_module(self.task, name.as_str(), text, layers).map(Arc::new)
    }

    fn stopped(&self) -> bool {
        // A `timeout` that ran out says nothing about the module either.
        self.task.check().is_err()
    }

    fn limit(&self) -> Option<String> {
        match self.task.stopped() {
            Some(StopCause::Limit(hit)) => Some(hit.to_string()),
            _ => None,
        }
    }

    fn refuse(&self, error: &ModuleError) -> Box<EvalAltResult> {
        let error = self.library.with_near_names(error.clone());
        fail(error.kind(), error.to_string())
    }

    fn explain(&self, name: &ModuleName, error: &EvalAltResult) -> Fault {
        let (failure, _) = describe(error, self.task);
        let file = if failure.source.is_empty() { name.file() } else { failure.source };
        // Evaluation finds some circles itself, and names them in its message alone.
        let back_to = (failure.kind == CIRCLE).then(|| failure.message.rsplit(" → ").next()).flatten();
        let circle = back_to.and_then(|name| ModuleName::parse(name).ok());
        Fault { file, line: failure.line, column: failure.column, message: failure.message, circle }
    }

    fn tell(&self, notice: &ModuleNotice) {
        self.task.print(OUTPUT_SOURCE, &notice.to_string());
    }
}

impl Layer for Overlay {
    fn signatures(&self) -> Vec<String> {
        self.functions().into_iter().map(|(name, params)| format!("{name}({})", vec!["_"; params].join(", "))).collect()
    }
}

#[cfg(test)]
#[path = "live_tests.rs"]
mod tests;
