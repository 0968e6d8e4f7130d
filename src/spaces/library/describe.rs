//! Answers to questions of scripts and people about modules: lists, outlines, docs and texts, from the files as they are now
//! and from what was defined inside modules since. Nothing is run for it.

use super::check::circle_of;
use super::folder::Origin;
use super::module_store::Layer;
use super::name::{ModuleName, near};
use super::outline::{Outlined, contains, first_sentence};
use super::store::Library;
use crate::base::{ModuleError, ModuleProblem, ProblemKind};
use crate::engine::{FunctionOutline, ModuleOutline, Overlay, Sources, module_text};
use std::collections::BTreeMap;
use std::sync::Arc;

/// One module in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ModuleRow {
    /// The name it is imported by.
    pub name: String,
    /// The first sentence of its doc; may be empty.
    pub doc: String,
    /// How many functions importers can call.
    pub functions: usize,
    /// Signatures of the functions that evals defined inside it.
    pub defined: Vec<String>,
    /// Where its text comes from; `None` for a native module.
    pub from: Option<Origin>,
    /// How it stands.
    pub status: ModuleStatus,
}

/// How a module stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ModuleStatus {
    /// Nothing is known against it.
    Fine,
    /// Its file as it is now does not load. Importers get its last good version, if it has one.
    Broken(ModuleProblem),
    /// It is part of the embedding program.
    Native,
}

/// The meaning of a name in a question about docs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Documented {
    /// A module.
    Module(Arc<ModuleOutline>),
    /// Functions of a module, one for each number of parameters.
    Functions {
        /// The module.
        module: String,
        /// The functions; never empty.
        functions: Vec<FunctionOutline>,
    },
}

impl Library {
    /// Every module there is now that has `filter` in its name or doc, in any case of letters; all of them when it is empty.
    /// Sorted by name. A folder that cannot be read has the built-in ones only.
    pub(crate) fn modules(&self, filter: &str) -> Vec<ModuleRow> {
        let mut rows = Vec::new();
        let wanted = |outline: Option<&ModuleOutline>, name: &str| {
            contains(name, filter) || outline.is_some_and(|outline| contains(&outline.doc, filter))
        };
        for outline in self.native.values().filter(|outline| wanted(Some(outline), &outline.name)) {
            rows.push(row(&outline.name, Some(outline), Vec::new(), None, ModuleStatus::Native));
        }
        let mut readable = Vec::new();
        for name in self.script_modules() {
            if let Ok(text) = self.store.folder().read(&name) {
                let outlined = self.outlines.of(&name, &text, &self.limits);
                readable.push((name, text, outlined));
            } else if wanted(None, name.as_str()) {
                rows.extend(self.unreadable(&name));
            }
        }
        let good = readable.iter().filter_map(|(name, _, outlined)| Some((name.as_str(), outlined.as_ref().ok()?)));
        let good: BTreeMap<&str, &Arc<Outlined>> = good.collect();
        let imports = |name: &str| good.get(name).map_or(&[][..], |outlined| &outlined.imports[..]);
        for (name, text, outlined) in &readable {
            let outline = outlined.as_ref().map(|outlined| &outlined.outline);
            if !wanted(outline.as_ref().ok().map(AsRef::as_ref), name.as_str()) {
                continue;
            }
            let defined = self.defined(name, text);
            let status = match (&outline, self.store.fault(name, text)) {
                (Err(error), _) => ModuleStatus::Broken(problem(name, error)),
                (Ok(_), _) if let Some((import, path)) = circle_of(name.as_str(), imports) => {
                    ModuleStatus::Broken(ModuleProblem {
                        file: name.file(),
                        line: import.line,
                        column: import.column,
                        what: ProblemKind::Circular(path),
                    })
                }
                (Ok(_), Some(fault)) => ModuleStatus::Broken(ModuleProblem {
                    file: fault.file,
                    line: fault.line,
                    column: fault.column,
                    what: ProblemKind::Syntax(fault.message),
                }),
                (Ok(_), None) => ModuleStatus::Fine,
            };
            let from = Some(self.store.folder().origin(name));
            rows.push(row(name.as_str(), outline.ok().map(AsRef::as_ref), defined, from, status));
        }
        rows.sort_by(|a, b| a.name.cmp(&b.name));
        rows
    }

    /// The outline of a module: of the file as it is now, or, when that does not compile, the version in force; with what was
    /// defined inside it. `sources` finds the code of evals that defined something.
    ///
    /// # Errors
    ///
    /// No such module; it does not compile and no version of it ever loaded.
    pub(crate) fn outline(&self, name: &str, sources: &dyn Sources) -> Result<Arc<ModuleOutline>, ModuleError> {
        if let Some(native) = self.native.get(name) {
            return Ok(Arc::new(native.clone()));
        }
        let (name, text, outline) = self.in_force(name)?;
        let layers = self.store.layers(&name, &text);
        if layers.is_empty() {
            return Ok(outline);
        }
        let mut outline = ModuleOutline::clone(&outline);
        for layer in &layers {
            for function in self.functions_of(layer, sources) {
                let same = |f: &FunctionOutline| f.name == function.name && f.params.len() == function.params.len();
                match outline.functions.iter_mut().find(|f| same(f)) {
                    Some(older) => *older = function,
                    None => outline.functions.push(function),
                }
            }
        }
        Ok(Arc::new(outline))
    }

    /// The text of a module's file.
    ///
    /// # Errors
    ///
    /// No such module; it cannot be read.
    pub(crate) fn source(&self, name: &str) -> Result<Arc<str>, ModuleError> {
        if self.native.contains_key(name) {
            return Err(ModuleError::Native { name: name.to_owned() });
        }
        let name = ModuleName::parse(name)?;
        self.store.folder().read(&name).map_err(|error| self.with_near_names(error))
    }

    /// The text of a function with its doc comment, as it is in force; of several with that name, one after the other.
    ///
    /// # Errors
    ///
    /// No such module or function.
    pub(crate) fn function_source(
        &self,
        name: &str,
        function: &str,
        sources: &dyn Sources,
    ) -> Result<String, ModuleError> {
        let outline = self.outline(name, sources)?;
        if self.native.contains_key(name) {
            return Err(ModuleError::Native { name: name.to_owned() });
        }
        let (_, text, _) = self.in_force(name)?;
        let mut found = Vec::new();
        for f in outline.named(function) {
            found.push(match &f.defined_by {
                None => text.get(f.source_range.clone()).unwrap_or_default().to_owned(),
                Some(eval) => {
                    let code = code_of(eval, sources);
                    let cut = code.get(f.source_range.clone()).filter(|cut| !cut.is_empty());
                    cut.map_or_else(
                        || format!("// {} is defined by {eval}, whose code is gone", f.signature),
                        str::to_owned,
                    )
                }
            });
        }
        if found.is_empty() { Err(no_function(&outline, function)) } else { Ok(found.join("\n\n")) }
    }

    /// The module or functions that `path` means: a module (`stats`), or functions of one (`stats::mean`).
    ///
    /// # Errors
    ///
    /// No such module or function.
    pub(crate) fn documented(&self, path: &str, sources: &dyn Sources) -> Result<Documented, ModuleError> {
        let Some((module, function)) = path.split_once("::") else {
            return self.outline(path, sources).map(Documented::Module);
        };
        let outline = self.outline(module, sources)?;
        let functions: Vec<_> = outline.named(function).cloned().collect();
        if functions.is_empty() {
            return Err(no_function(&outline, function));
        }
        Ok(Documented::Functions { module: module.to_owned(), functions })
    }

    fn unreadable(&self, name: &ModuleName) -> Option<ModuleRow> {
        let error = self.store.folder().read(name).err()?;
        let from = Some(self.store.folder().origin(name));
        Some(row(name.as_str(), None, Vec::new(), from, ModuleStatus::Broken(problem(name, &error))))
    }

    /// The text that questions about a module are answered from, and its outline.
    fn in_force(&self, name: &str) -> Result<(ModuleName, Arc<str>, Arc<ModuleOutline>), ModuleError> {
        let name = ModuleName::parse(name)?;
        let text = self.store.folder().read(&name).map_err(|error| self.with_near_names(error))?;
        match self.outlines.of(&name, &text, &self.limits) {
            Ok(outlined) => Ok((name, text, outlined.outline.clone())),
            Err(error) => {
                let text = self.store.text(&name).ok_or(error)?;
                let outline = module_text::parse(name.as_str(), &text, &self.limits)?.outline;
                Ok((name, text, Arc::new(outline)))
            }
        }
    }

    fn defined(&self, name: &ModuleName, text: &str) -> Vec<String> {
        let mut all: Vec<_> = self.store.layers(name, text).iter().flat_map(Layer::signatures).collect();
        all.sort();
        all.dedup();
        all
    }

    /// The functions of an overlay, from the code that defined them when it can still be had.
    fn functions_of(&self, overlay: &Overlay, sources: &dyn Sources) -> Vec<FunctionOutline> {
        let eval = overlay.source();
        let code = code_of(eval, sources);
        let known =
            ModuleOutline::of_text("", &code, &self.limits).map(|outline| outline.functions).unwrap_or_default();
        overlay
            .functions()
            .into_iter()
            .map(|(name, params)| {
                let known = known.iter().find(|f| f.name == name && f.params.len() == params);
                let mut function = known.cloned().unwrap_or_else(|| {
                    let params = vec!["_".to_owned(); params];
                    let signature = format!("{name}({})", params.join(", "));
                    FunctionOutline { name: name.to_string(), params, signature, ..FunctionOutline::default() }
                });
                function.defined_by = Some(eval.to_owned());
                function
            })
            .collect()
    }
}

/// The code of an eval; empty when it is gone.
fn code_of(eval: &str, sources: &dyn Sources) -> Arc<str> {
    sources.text(eval).unwrap_or_default()
}

fn row(
    name: &str,
    outline: Option<&ModuleOutline>,
    defined: Vec<String>,
    from: Option<Origin>,
    status: ModuleStatus,
) -> ModuleRow {
    ModuleRow {
        name: name.to_owned(),
        doc: outline.map(|outline| first_sentence(&outline.doc)).unwrap_or_default(),
        functions: outline.map_or(0, |outline| outline.public().count()),
        defined,
        from,
        status,
    }
}

fn problem(name: &ModuleName, error: &ModuleError) -> ModuleProblem {
    match error.clone() {
        ModuleError::Syntax { file, line, column, message } => {
            ModuleProblem { file, line, column, what: ProblemKind::Syntax(message) }
        }
        other => ModuleProblem { file: name.file(), line: 0, column: 0, what: ProblemKind::Unreadable(other) },
    }
}

fn no_function(outline: &ModuleOutline, function: &str) -> ModuleError {
    ModuleError::NoFunction {
        module: outline.name.clone(),
        function: function.to_owned(),
        near: near(function, outline.functions.iter().map(|f| f.name.as_str())),
    }
}

#[cfg(test)]
#[path = "describe_tests.rs"]
mod tests;
