//! [`ModuleStore`]: the version of each module that is in force. Reads a module's file at every import, and loads it anew when
//! its text, what was defined inside it, or a module that it imports has changed. Knows neither the compiler nor evals, only a
//! [`Loader`].
//!
//! An eval that imports a module may have to load others for it: that is its trace ([`ImportTraces`]), in which a module that
//! is imported along two ways is one version. Script code runs while a module is loaded; no lock is held meanwhile. Two evals
//! may load the same module at the same time: the later one stays, and the next import looks at the file again.

use super::folder::Folder;
use super::import_trace::{ImportTraces, Need, Opened, Step};
use super::name::ModuleName;
use crate::base::{EntryId, ModuleError, ModuleNotice, lock};
use crate::engine::Fallible;
use rhai::EvalAltResult;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

/// How many notices are remembered, so that an eval which imports a broken module in a loop is told once.
const REMEMBERED_NOTICES: usize = 256;

/// The way a module is loaded on behalf of one eval.
pub(super) trait Loader<M, L> {
    /// The eval.
    fn entry(&self) -> EntryId;
    /// Compiles the text, with `layers` over it, and runs its top level. What it imports comes back to [`ModuleStore::get`].
    fn load(&self, name: &ModuleName, text: &str, layers: &[L]) -> Fallible<M>;
    /// True when the eval was stopped: then an error says nothing about the module.
    fn stopped(&self) -> bool;
    /// The limit that stopped it, when one did: then the module cannot be had within it.
    fn limit(&self) -> Option<String>;
    /// An error as scripts catch it.
    fn refuse(&self, error: &ModuleError) -> Box<EvalAltResult>;
    /// The fault of the module, from an error that its loading ended with.
    fn explain(&self, name: &ModuleName, error: &EvalAltResult) -> Fault;
    /// Tells the eval something.
    fn tell(&self, notice: &ModuleNotice);
}

/// Functions that were defined inside a module, after its file was read.
pub(super) trait Layer: Clone {
    /// Their signatures: same signature, same function.
    fn signatures(&self) -> Vec<String>;
}

/// The reason why a module does not load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// The file with the error: the module's own, or that of one it imports.
    pub(super) file: String,
    /// Line, from 1; 0 when unknown.
    pub(super) line: usize,
    /// Column in characters, from 1; 0 when unknown.
    pub(super) column: usize,
    /// The error.
    pub(super) message: String,
    /// The module that a circle of imports leads back to, when that is the error.
    pub(super) circle: Option<ModuleName>,
}

/// One version of a module. Never changed; an eval that imported it keeps it.
#[derive(Debug)]
pub(super) struct Version<M, L> {
    /// The module.
    pub(super) loaded: M,
    /// The text it was made from.
    pub(super) text: Arc<str>,
    /// The functions defined inside it.
    layers: Option<Arc<Layers<L>>>,
    /// The modules its top level imported; `None` for one that could not be had.
    needs: Vec<Need<Self>>,
    /// True when it read something that changes without a file: it is made anew at every import.
    fleeting: bool,
}

/// Everything that was defined inside a module since its file had a certain text.
#[derive(Debug)]
struct Layers<L> {
    text: Arc<str>,
    all: Vec<L>,
}

/// All that is known about one module.
#[derive(Debug)]
struct Slot<M, L> {
    /// The last version that loaded.
    version: Option<Arc<Version<M, L>>>,
    layers: Option<Arc<Layers<L>>>,
    /// Why a text of the file did not load.
    fault: Option<(Arc<str>, Fault)>,
}

/// The modules of one folder.
#[derive(Debug)]
pub(super) struct ModuleStore<M, L> {
    folder: Folder,
    /// Most functions that may be defined inside one module.
    most_functions: usize,
    slots: Mutex<BTreeMap<ModuleName, Slot<M, L>>>,
    traces: ImportTraces<Version<M, L>>,
    told: Mutex<VecDeque<(EntryId, ModuleNotice)>>,
}

impl<M, L: Layer> ModuleStore<M, L> {
    pub(super) fn new(folder: Folder, deepest: usize, most_functions: usize) -> Self {
        Self {
            folder,
            most_functions,
            slots: Mutex::default(),
            traces: ImportTraces::new(deepest),
            told: Mutex::default(),
        }
    }

    pub(super) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// The module as its file is now, or, when that does not load, the last version that did.
    ///
    /// # Errors
    ///
    /// No such module; a circular import; what the text raises when no version of it ever loaded.
    pub(super) fn get(&self, loader: &impl Loader<M, L>, name: &ModuleName) -> Fallible<Arc<Version<M, L>>> {
        let opened = match self.traces.open(loader.entry(), name).map_err(|e| loader.refuse(&e))? {
            Step::Settled(version) => return Ok(version),
            Step::Opened(opened) => opened,
        };
        let result = self.current(loader, name, &opened);
        opened.close(result.as_ref().ok());
        result
    }

    /// Loads the module from its file, without what was defined inside it, and then those that import it.
    ///
    /// # Errors
    ///
    /// The error that the text raises. Then everything stays as it was.
    pub(super) fn reload(&self, loader: &impl Loader<M, L>, name: &ModuleName) -> Fallible<ModuleNotice> {
        let text = self.folder.read(name).map_err(|e| loader.refuse(&e))?;
        let importers = self.importers(name);
        let opened = match self.traces.open(loader.entry(), name).map_err(|e| loader.refuse(&e))? {
            // Somebody asks for it in the middle of loading modules, after this one was loaded.
            Step::Settled(_) => None,
            Step::Opened(opened) => Some(opened),
        };
        let mut undefined = Vec::new();
        if let Some(opened) = opened {
            let result = self.load(loader, name, text.clone(), None, &opened);
            opened.close(result.as_ref().ok());
            if let Err(error) = &result
                && !loader.stopped()
            {
                self.note_fault(name, text, &loader.explain(name, error));
            }
            undefined = self.keep(name, &result?, true);
        }
        let mut changed = Vec::new();
        for (importer, before) in importers {
            // One that does not load is told about, and is none of the caller's business otherwise.
            if self.get(loader, &importer).is_ok_and(|now| !Arc::ptr_eq(&now, &before)) {
                changed.push(importer.to_string());
            }
            if loader.stopped() {
                break;
            }
        }
        Ok(ModuleNotice::Reloaded { module: name.to_string(), importers: changed, undefined })
    }

    /// Adds functions to the module, in front of those of its file, until the file changes or is reloaded.
    pub(super) fn define(&self, name: &ModuleName, layer: L) -> Result<ModuleNotice, ModuleError> {
        let functions = layer.signatures();
        let text = self.folder.read(name)?;
        let mut slots = lock(&self.slots);
        let slot = slots.entry(name.clone()).or_default();
        let mut all = match &slot.layers {
            Some(layers) if layers.text == text => layers.all.clone(),
            _ => Vec::new(),
        };
        // A layer of which nothing shows any more would be compiled again and again for nothing.
        all.retain(|older| older.signatures().iter().any(|f| !functions.contains(f)));
        all.push(layer);
        if all.iter().map(|layer| layer.signatures().len()).sum::<usize>() > self.most_functions {
            return Err(ModuleError::TooManyFunctions { module: name.to_string(), limit: self.most_functions });
        }
        let old = slot.layers.replace(Arc::new(Layers { text, all }));
        drop(slots);
        drop(old);
        Ok(ModuleNotice::Defined { module: name.to_string(), functions })
    }

    /// Notes that the module which is being loaded reads something that changes without a file.
    pub(super) fn fleeting(&self, entry: EntryId) {
        self.traces.fleeting(entry);
    }

    /// The layers defined inside the module that hold for this text of its file, oldest first.
    pub(super) fn layers(&self, name: &ModuleName, text: &str) -> Vec<L> {
        let slots = lock(&self.slots);
        let layers = slots.get(name).and_then(|slot| slot.layers.as_ref()).filter(|layers| &*layers.text == text);
        layers.map(|layers| layers.all.clone()).unwrap_or_default()
    }

    /// The text that an error at this line of the module's file is about: one that did not load for a fault at this line, or
    /// else that of the version in force.
    pub(super) fn text_at_fault(&self, name: &ModuleName, line: usize) -> Option<Arc<str>> {
        let slots = lock(&self.slots);
        let slot = slots.get(name)?;
        let faulty = slot.fault.as_ref().filter(|(_, fault)| fault.line == line && fault.file == name.file());
        faulty.map(|(text, _)| text.clone()).or_else(|| slot.version.as_ref().map(|version| version.text.clone()))
    }

    /// The text of the version in force, when one was ever loaded.
    pub(super) fn text(&self, name: &ModuleName) -> Option<Arc<str>> {
        lock(&self.slots).get(name)?.version.as_ref().map(|version| version.text.clone())
    }

    /// Why this text of the file did not load, when that was tried.
    pub(super) fn fault(&self, name: &ModuleName, text: &str) -> Option<Fault> {
        let slots = lock(&self.slots);
        slots.get(name)?.fault.as_ref().filter(|(of, _)| &**of == text).map(|(_, fault)| fault.clone())
    }

    fn current(
        &self,
        loader: &impl Loader<M, L>,
        name: &ModuleName,
        opened: &Opened<'_, Version<M, L>>,
    ) -> Fallible<Arc<Version<M, L>>> {
        let text = match self.folder.read(name) {
            Ok(text) => text,
            Err(
                error @ (ModuleError::TooBig { .. } | ModuleError::NotText { .. } | ModuleError::Unreadable { .. }),
            ) => {
                let fault = Fault { file: name.file(), line: 0, column: 0, message: error.to_string(), circle: None };
                return self.last_good(loader, name, fault).ok_or_else(|| loader.refuse(&error));
            }
            Err(error) => {
                let gone = lock(&self.slots).remove(name);
                drop(gone);
                return Err(loader.refuse(&error));
            }
        };
        let (version, layers) = {
            let slots = lock(&self.slots);
            let slot = slots.get(name);
            let layers = slot.and_then(|s| s.layers.clone()).filter(|layers| layers.text == text);
            (slot.and_then(|s| s.version.clone()), layers)
        };
        if let Some(version) = version
            && version.text == text
            && same(version.layers.as_ref(), layers.as_ref())
            && !version.fleeting
            && self.still_holds(loader, &version)?
        {
            return Ok(version);
        }
        match self.load(loader, name, text.clone(), layers, opened) {
            Ok(version) => {
                let undefined = self.keep(name, &version, false);
                if !undefined.is_empty() {
                    loader.tell(&ModuleNotice::Undefined { module: name.to_string(), functions: undefined });
                }
                Ok(version)
            }
            Err(error) if loader.stopped() => {
                // Without a version of this text nothing says yet that it can be had within the limit.
                if let Some(limit) = loader.limit().filter(|_| self.text(name).as_ref() != Some(&text)) {
                    let fault = loader.explain(name, &error);
                    self.note_fault(name, text, &Fault { message: format!("loading it was ended: {limit}"), ..fault });
                }
                Err(error)
            }
            Err(error) => {
                let fault = loader.explain(name, &error);
                if !opened.is_to_blame(fault.circle.as_ref()) {
                    return Err(error);
                }
                self.note_fault(name, text, &fault);
                self.last_good(loader, name, fault).ok_or(error)
            }
        }
    }

    /// True when everything that a version imported is what an import would give now.
    fn still_holds(&self, loader: &impl Loader<M, L>, version: &Version<M, L>) -> Fallible<bool> {
        for (name, had) in &version.needs {
            let now = self.get(loader, name);
            if loader.stopped() {
                return now.map(|_| false);
            }
            if !same(now.ok().as_ref(), had.as_ref()) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn load(
        &self,
        loader: &impl Loader<M, L>,
        name: &ModuleName,
        text: Arc<str>,
        layers: Option<Arc<Layers<L>>>,
        opened: &Opened<'_, Version<M, L>>,
    ) -> Fallible<Arc<Version<M, L>>> {
        opened.restart();
        let loaded = loader.load(name, &text, layers.as_ref().map_or(&[], |layers| &layers.all))?;
        let (needs, fleeting) = opened.loaded();
        Ok(Arc::new(Version { loaded, text, layers, needs, fleeting }))
    }

    /// Puts a version in force. Returns the functions that were defined inside the one before and are not any more.
    fn keep(&self, name: &ModuleName, version: &Arc<Version<M, L>>, forget_layers: bool) -> Vec<String> {
        let mut slots = lock(&self.slots);
        let slot = slots.entry(name.clone()).or_default();
        let old = slot.version.replace(version.clone());
        let fault = slot.fault.take();
        let outdated = |layers: &mut Arc<Layers<L>>| forget_layers || layers.text != version.text;
        let layers = slot.layers.take_if(outdated);
        drop(slots);
        // Values of a module end here, on the thread of an eval and without the lock.
        drop((old, fault));
        let mut functions: Vec<_> = layers.iter().flat_map(|l| &l.all).flat_map(Layer::signatures).collect();
        functions.sort();
        functions.dedup();
        functions
    }

    fn note_fault(&self, name: &ModuleName, text: Arc<str>, fault: &Fault) {
        let old = lock(&self.slots).entry(name.clone()).or_default().fault.replace((text, fault.clone()));
        drop(old);
    }

    fn last_good(&self, loader: &impl Loader<M, L>, name: &ModuleName, fault: Fault) -> Option<Arc<Version<M, L>>> {
        let version = lock(&self.slots).get(name)?.version.clone()?;
        let Fault { file, line, column, message, .. } = fault;
        let notice = ModuleNotice::Broken { module: name.to_string(), file, line, column, message };
        let mut told = lock(&self.told);
        let entry = loader.entry();
        if !told.iter().any(|(to, what)| *to == entry && *what == notice) {
            if told.len() == REMEMBERED_NOTICES {
                told.pop_front();
            }
            told.push_back((entry, notice.clone()));
            drop(told);
            loader.tell(&notice);
        }
        Some(version)
    }

    /// The modules that import this one, also through others, with the versions in force.
    fn importers(&self, name: &ModuleName) -> Vec<(ModuleName, Arc<Version<M, L>>)> {
        let slots = lock(&self.slots);
        let versions = || slots.iter().filter_map(|(name, slot)| Some((name, slot.version.as_ref()?)));
        let mut found = vec![name.clone()];
        let mut looked_at = 0;
        while let Some(wanted) = found.get(looked_at).cloned() {
            for (importer, version) in versions() {
                if version.needs.iter().any(|(need, _)| *need == wanted) && !found.contains(importer) {
                    found.push(importer.clone());
                }
            }
            looked_at += 1;
        }
        found.into_iter().skip(1).filter_map(|name| Some((name.clone(), slots.get(&name)?.version.clone()?))).collect()
    }
}

impl<M, L> Default for Slot<M, L> {
    fn default() -> Self {
        Self { version: None, layers: None, fault: None }
    }
}

fn same<T>(a: Option<&Arc<T>>, b: Option<&Arc<T>>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => Arc::ptr_eq(a, b),
        (None, None) => true,
        _ => false,
    }
}

#[cfg(test)]
#[path = "module_store_tests.rs"]
mod tests;
