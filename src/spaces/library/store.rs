//! [`Library`]: the modules of one folder and the native ones beside them: which there are, where their texts are, and the
//! version of each that is in force. Knows neither evals nor how modules are described to readers.

use super::built_in::BuiltIn;
use super::folder::{Folder, Found};
use super::module_store::ModuleStore;
use super::name::{ModuleName, near};
use super::outline::OutlineCache;
use crate::base::{Limits, ModuleError, ModuleNotice};
use crate::engine::{LoadedModule, ModuleOutline, Overlay};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// The script modules of one folder, and the native modules of the embedding program beside them. Shared by `Arc`.
#[derive(Debug)]
pub(crate) struct Library {
    pub(super) store: ModuleStore<Arc<LoadedModule>, Overlay>,
    pub(super) limits: Limits,
    pub(super) native: BTreeMap<String, ModuleOutline>,
    pub(super) outlines: OutlineCache,
}

impl Library {
    /// The library of the folder `root`, which need not exist: then there are only the `built_in` modules until it does. `native`
    /// describes the modules of the embedding program ([`ModuleOutline::of_native`]).
    pub(crate) fn new(
        root: impl Into<PathBuf>,
        built_in: &'static [BuiltIn],
        limits: &Limits,
        native: Vec<ModuleOutline>,
    ) -> Arc<Self> {
        Arc::new(Self {
            store: ModuleStore::new(Folder::over(root, built_in), limits.modules, limits.functions),
            limits: limits.clone(),
            native: native.into_iter().map(|outline| (outline.name.clone(), outline)).collect(),
            outlines: OutlineCache::default(),
        })
    }

    /// The module that `ns` names, when there is one: by its name, or by that after `scripts/`.
    pub(crate) fn find(&self, ns: &str) -> Option<ModuleName> {
        let there = |name: &str| ModuleName::parse(name).ok().filter(|name| self.store.folder().read(name).is_ok());
        there(ns).or_else(|| there(ns.strip_prefix("scripts/")?))
    }

    /// Adds functions that an eval wrote inside the module: importers call them from their next import on, until the file is
    /// edited or reloaded. The notice is for that eval.
    ///
    /// # Errors
    ///
    /// No such module; more functions than one can have.
    pub(crate) fn define(&self, name: &ModuleName, overlay: Overlay) -> Result<ModuleNotice, ModuleError> {
        self.store.define(name, overlay).map_err(|error| self.with_near_names(error))
    }

    /// The text of a module's file, named as errors name it (`stats.rhai`): that of the version in force, or, when there is
    /// none, that of the file now.
    pub(crate) fn text(&self, file: &str) -> Option<Arc<str>> {
        let name = ModuleName::parse(file.strip_suffix(".rhai")?).ok()?;
        self.store.text(&name).or_else(|| self.store.folder().read(&name).ok())
    }

    /// Line `line` (from 1) of a module's file, named as errors name it (`stats.rhai`), for showing it with an error: of the
    /// text that did not load because of this line, or of the version in force, or of the file when there is neither.
    pub(crate) fn line(&self, file: &str, line: usize) -> Option<String> {
        let name = ModuleName::parse(file.strip_suffix(".rhai")?).ok()?;
        let text = self.store.text_at_fault(&name, line).or_else(|| self.store.folder().read(&name).ok())?;
        text.lines().nth(line.checked_sub(1)?).map(str::to_owned)
    }

    /// The names of all modules, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = self.native.keys().cloned().collect();
        names.extend(self.script_modules().iter().map(ToString::to_string));
        names.sort();
        names.dedup();
        names
    }

    /// The names of the script modules, sorted. A folder that cannot be read has the built-in ones only.
    pub(super) fn script_modules(&self) -> Vec<ModuleName> {
        let folder = self.store.folder();
        let found = folder.list().unwrap_or_else(|_| folder.list_built_in().collect());
        let names: Vec<_> = found
            .into_iter()
            .filter_map(|found| match found {
                Found::Module(name) => Some(name),
                Found::Misnamed(_) => None,
            })
            .collect();
        self.outlines.retain(&names);
        names
    }

    /// The error, with names that are near the one that was asked for.
    pub(super) fn with_near_names(&self, error: ModuleError) -> ModuleError {
        match error {
            ModuleError::NotFound { name, .. } if self.native.contains_key(&name) => ModuleError::Native { name },
            ModuleError::NotFound { name, .. } => {
                let names = self.names();
                let near = near(&name, names.iter().map(String::as_str));
                ModuleError::NotFound { name, near }
            }
            other => other,
        }
    }
}
