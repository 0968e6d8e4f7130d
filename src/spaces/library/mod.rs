//! The live library: script modules in a folder, as they are now.
//!
//! [`Library`] owns which version of each module is in force and answers what scripts and people ask about modules.
//! [`ScriptModules`] is how evals import them; [`ModuleSpace`] is how an eval works inside one. Texts alone can be looked at
//! without a library: [`ModuleOutline::of_text`] and [`check()`]. Knows no registry and no host: spaces that are imported with
//! `@` come from a [`SpaceModules`].
//!
//! | file | owns |
//! | --- | --- |
//! | `name` | what can name a module |
//! | `folder` | reading files, staying inside |
//! | `shelf`, `pass` | versions: edits, imports of imports, circles, the last good version |
//! | `live` | loading on behalf of a real eval |
//! | `inside` | evaluating inside a module |
//! | `outline`, `describe`, `rows` | modules as data |
//! | `check` | finding what is wrong in a folder |

mod check;
mod describe;
mod folder;
mod inside;
mod live;
mod name;
mod outline;
mod pass;
mod rows;
mod shelf;

#[cfg(test)]
mod bench;
#[cfg(test)]
mod scripts_tests;

pub use crate::engine::{ConstantOutline, FunctionOutline, ModuleOutline};
pub use check::{Checked, check};
pub use describe::{Documented, ModuleRow, ModuleStatus};
pub use folder::LONGEST as LONGEST_MODULE;
pub use inside::ModuleSpace;
pub use live::{ScriptModules, SpaceModules};
pub use name::ModuleName;
pub use outline::{OutlineOptions, OutlineRow, first_sentence};
pub use rows::{modules_value, outline_value, reloaded_value};

use crate::base::{Limits, ModuleError, ModuleNotice};
use crate::engine::{LoadedModule, Overlay};
use folder::Folder;
use shelf::Shelf;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// The script modules of one folder, and the native modules of the embedding program beside them. Shared by `Arc`.
#[derive(Debug)]
pub struct Library {
    shelf: Shelf<Arc<LoadedModule>, Overlay>,
    limits: Limits,
    native: BTreeMap<String, ModuleOutline>,
    outlines: Mutex<describe::Outlines>,
}

impl Library {
    /// The library of the folder `root`, which need not exist: then there are no modules until it does. `native` describes
    /// the modules of the embedding program ([`ModuleOutline::of_native`]).
    pub fn new(root: impl Into<PathBuf>, limits: &Limits, native: Vec<ModuleOutline>) -> Arc<Self> {
        Arc::new(Self {
            shelf: Shelf::new(Folder::new(root), limits.modules, limits.functions),
            limits: limits.clone(),
            native: native.into_iter().map(|outline| (outline.name.clone(), outline)).collect(),
            outlines: Mutex::default(),
        })
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        self.shelf.folder().root()
    }

    /// The module that `ns` names, when there is one: by its name, or by that after `scripts/`.
    pub fn find(&self, ns: &str) -> Option<ModuleName> {
        let there = |name: &str| ModuleName::parse(name).ok().filter(|name| self.shelf.folder().read(name).is_ok());
        there(ns).or_else(|| there(ns.strip_prefix("scripts/")?))
    }

    /// Adds functions that an eval wrote inside the module: importers call them from their next import on, until the file is
    /// edited or reloaded. The notice is for that eval.
    ///
    /// # Errors
    ///
    /// No such module; more functions than one can have.
    pub fn define(&self, name: &ModuleName, overlay: Overlay) -> Result<ModuleNotice, ModuleError> {
        self.shelf.define(name, overlay).map_err(|error| self.with_near_names(error))
    }

    /// The text of a module's file, named as errors name it (`stats.rhai`): that of the version in force, or, when there is
    /// none, that of the file now.
    pub fn text(&self, file: &str) -> Option<Arc<str>> {
        let name = ModuleName::parse(file.strip_suffix(".rhai")?).ok()?;
        self.shelf.text(&name).or_else(|| self.shelf.folder().read(&name).ok())
    }

    /// Line `line` (from 1) of a module's file, named as errors name it (`stats.rhai`), for showing it with an error: of the
    /// text that did not load because of this line, or of the version in force, or of the file when there is neither.
    pub fn line(&self, file: &str, line: usize) -> Option<String> {
        let name = ModuleName::parse(file.strip_suffix(".rhai")?).ok()?;
        let text = self.shelf.text_at_fault(&name, line).or_else(|| self.shelf.folder().read(&name).ok())?;
        text.lines().nth(line.checked_sub(1)?).map(str::to_owned)
    }

    /// The error, with names that are near the one that was asked for.
    fn with_near_names(&self, error: ModuleError) -> ModuleError {
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

/// Up to three of `names` that somebody may have meant by `wanted`, best first.
fn near<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let last = |name: &str| name.rsplit('/').next().unwrap_or_default().to_lowercase();
    let mut scored: Vec<_> = names
        .map(|name| {
            let whole = strsim::normalized_damerau_levenshtein(&name.to_lowercase(), &wanted.to_lowercase());
            // Who forgets the folder still means the module.
            let part = strsim::normalized_damerau_levenshtein(&last(name), &last(wanted)) - 0.05;
            (whole.max(part), name)
        })
        .filter(|(score, _)| *score >= 0.6)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    scored.dedup_by(|a, b| a.1 == b.1);
    scored.into_iter().take(3).map(|(_, name)| name.to_owned()).collect()
}
