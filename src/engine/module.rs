//! Script modules: compiling one from its text, and [`Home`], the place the closures of one piece of code come from.

use super::failure::Fallible;
use super::language::Language;
use super::task::Task;
use super::view::Environment;
use rhai::{ImmutableString, Module, Shared};
use std::sync::Arc;

/// Where closures come from: one compiled script or module.
#[derive(Debug)]
pub(crate) struct Home {}

/// Functions as an eval wrote them, to be merged into a module when it is built. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Overlay {}

impl Overlay {
    /// The names of the functions, with their numbers of parameters.
    pub fn functions(&self) -> Vec<(ImmutableString, usize)> {
        todo!()
    }

    /// Whether it defines nothing.
    pub fn is_empty(&self) -> bool {
        todo!()
    }

    /// Which eval wrote it: `eval 12`.
    pub fn source(&self) -> &str {
        todo!()
    }
}

/// A module that was compiled and whose top level has run. Never changed afterwards.
#[derive(Clone, Debug)]
pub struct LoadedModule {}

impl LoadedModule {
    /// A module that is no script of the library, such as a view of a space, under the name it was imported by.
    pub fn native(name: &str, module: Shared<Module>) -> Self {
        let _ = (name, module);
        todo!()
    }

    /// The name it is imported by.
    pub fn name(&self) -> &str {
        todo!()
    }

    /// The module as the language knows it.
    pub fn module(&self) -> &Shared<Module> {
        todo!()
    }

    /// What its functions run in, private ones included: for evaluating inside the module.
    pub fn environment(&self) -> Environment {
        todo!()
    }

    /// The modules its top level imported, by name.
    pub fn imports(&self) -> &[Arc<LoadedModule>] {
        todo!()
    }
}

/// Compiles `text` as the module `name` (file `name.rhai`), with `overlays` replacing and adding functions in order, and runs
/// its top level as part of `task`: what it prints, its limits and its cancellation are the task's.
///
/// # Errors
/// What the text raises, wrapped so that the file and line are named; a circular import names the circle.
pub fn compile_module(
    language: &Language,
    task: &Arc<Task>,
    name: &str,
    text: &str,
    overlays: &[Overlay],
) -> Fallible<LoadedModule> {
    let _ = (language, task, name, text, overlays);
    todo!()
}
