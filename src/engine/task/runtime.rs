//! [`Runtime`]: the parts that every eval shares, built once and never changed: the standard functions, the host's, the
//! embedder's. The engine that an eval runs in is made of them above, in `run/interpreter.rs`.

use super::code_unit::CodeUnits;
use crate::base::{Limits, lock};
use crate::engine::rhai_internals::calls::Native;
use crate::engine::rhai_internals::markers::NestingCheck;
use crate::engine::signature::{doc_for_scripts, for_scripts};
use crate::engine::value::cell_versions::CellVersions;
use crate::engine::value::cycle_collector::CycleCollector;
use rhai::packages::{Package, StandardPackage};
use rhai::{Engine, Module, Shared};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

/// The shared parts of one process: limits, standard functions, host functions, and the modules of the embedding program. Cheap
/// to clone.
#[derive(Clone)]
pub(crate) struct Runtime(Arc<Inner>);

struct Inner {
    limits: Arc<Limits>,
    /// Rhai's standard functions.
    of_rhai: Shared<Module>,
    /// The standard functions of ours, which come before those of Rhai.
    stdlib: Shared<Module>,
    api: Shared<Module>,
    embedded: Vec<(String, Shared<Module>)>,
    code_units: Arc<CodeUnits>,
    cycle_collector: CycleCollector,
    cell_versions: CellVersions,
    nesting_check: NestingCheck,
    /// One function that nobody can call.
    no_functions: Shared<Module>,
    functions: OnceLock<Vec<FunctionFacts>>,
    callbacks: OnceLock<HashMap<String, Native>>,
    own: Mutex<OwnFunctions>,
}

/// The names of native functions under which some map may have a function of its own. They are few, and never forgotten: a map may
/// be anywhere.
#[derive(Debug, Default)]
struct OwnFunctions {
    names: HashSet<String>,
    /// Whether it may have one under any name.
    any: bool,
}

/// One native function, for reference texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FunctionFacts {
    /// Its name.
    pub name: String,
    /// The embedded module it lives in; `None` for functions every script sees.
    pub module: Option<String>,
    /// Its signature, as in `sleep(secs: float)`, with types as scripts know them.
    pub signature: String,
    /// Its doc comment, without comment marks.
    pub doc: String,
    /// Whether it is of the standard library rather than the host's.
    pub standard: bool,
    /// Whether it is a standard one that is made anew here under other parameter names: its doc holds, but the other is called.
    pub hidden: bool,
}

impl Runtime {
    /// A runtime with the standard functions `stdlib`, the host's functions `api` and the embedder's modules, each reachable as
    /// `name::f()` in every eval without an import.
    pub(crate) fn new(limits: Limits, stdlib: Module, api: Module, embedded: Vec<(String, Module)>) -> Self {
        let private = Engine::new_raw()
            .compile("private fn no_function_of_this_module() { 0 }")
            .map_or_else(|_| Shared::new(Module::new()), |ast| ast.shared_lib().clone());
        Self(Arc::new(Inner {
            limits: limits.into(),
            of_rhai: StandardPackage::new().as_shared_module(),
            stdlib: ready(stdlib),
            api: ready(api),
            embedded: embedded.into_iter().map(|(name, module)| (name, ready(module))).collect(),
            code_units: Arc::default(),
            cycle_collector: CycleCollector::default(),
            cell_versions: CellVersions::default(),
            nesting_check: NestingCheck::new(),
            no_functions: private,
            functions: OnceLock::new(),
            callbacks: OnceLock::new(),
            own: Mutex::default(),
        }))
    }

    /// The limits in force.
    #[cfg(test)]
    pub(crate) fn limits(&self) -> &Limits {
        &self.0.limits
    }

    pub(super) fn shared_limits(&self) -> Arc<Limits> {
        Arc::clone(&self.0.limits)
    }

    /// The modules whose functions every script sees; the later ones come first when functions are looked up.
    pub(crate) fn global_modules(&self) -> [&Shared<Module>; 3] {
        [&self.0.of_rhai, &self.0.stdlib, &self.0.api]
    }

    /// The modules of the embedding program, with their names.
    pub(crate) fn embedded_modules(&self) -> &[(String, Shared<Module>)] {
        &self.0.embedded
    }

    /// The module that is called by this name without an import.
    pub(crate) fn embedded_module(&self, name: &str) -> Option<&Shared<Module>> {
        self.0.embedded.iter().find(|(known, _)| known == name).map(|(_, module)| module)
    }

    /// Every native function, by module and name.
    pub(crate) fn functions(&self) -> &[FunctionFacts] {
        self.0.functions.get_or_init(|| {
            let own = [&self.0.stdlib, &self.0.api].into_iter().flat_map(|module| facts(module, None, false));
            let embedded = self.0.embedded.iter().flat_map(|(name, module)| facts(module, Some(name), false));
            let mut all: Vec<_> = own.chain(embedded).chain(facts(&self.0.of_rhai, None, true)).collect();
            all.sort_by(|a, b| (&a.module, &a.name, &a.signature).cmp(&(&b.module, &b.name, &b.signature)));
            // Of a function that is made anew here the standard one follows.
            all.dedup_by(|next, first| {
                (&next.module, &next.name, &next.signature) == (&first.module, &first.name, &first.signature)
            });
            let made_anew: BTreeSet<_> = all.iter().filter(|f| !f.standard && f.module.is_none()).map(taken).collect();
            for standard in all.iter_mut().filter(|f| f.standard) {
                standard.hidden = made_anew.contains(&taken(standard));
            }
            all
        })
    }

    /// The parameters of a closure as they were written; `None` for pointers to named functions.
    pub(crate) fn parameters(&self, closure: &rhai::FnPtr) -> Option<Vec<String>> {
        self.0.code_units.parameter_names(closure)
    }

    /// Whether there is a native function of this name that takes a function.
    pub(crate) fn has_callback(&self, name: &str) -> bool {
        matches!(self.native(name), Native::Calling { .. })
    }

    /// The native functions of this name that every script sees.
    pub(crate) fn native(&self, name: &str) -> Native {
        let all = self.0.callbacks.get_or_init(|| {
            let mut all: HashMap<String, Native> = HashMap::new();
            for facts in self.functions().iter().filter(|facts| facts.module.is_none()) {
                let first = facts.signature.split_once('(').is_some_and(|(_, params)| {
                    let first = params.split([',', ')']).next().unwrap_or_default();
                    first.split_once(": ").map_or(first, |(_, of)| of).starts_with("Fn")
                });
                let takes = [": Fn", "(Fn", ", Fn"].iter().any(|parameter| facts.signature.contains(parameter));
                let native = all.entry(facts.name.clone()).or_insert(Native::Quiet);
                let already = matches!(native, Native::Calling { of_functions: true });
                if takes {
                    *native = Native::Calling { of_functions: first || already };
                }
            }
            all
        });
        all.get(name).copied().unwrap_or(Native::Missing)
    }

    /// Whether some map may have a function of its own under this name of a native function.
    pub(crate) fn may_be_own(&self, name: &str) -> bool {
        let own = lock(&self.0.own);
        own.any || own.names.contains(name)
    }

    /// Some map may have a function under this name; without a name, under any.
    pub(crate) fn note_own(&self, name: Option<&str>) {
        match name {
            Some(name) if self.native(name) == Native::Missing => {}
            Some(name) => drop(lock(&self.0.own).names.insert(name.to_owned())),
            None => lock(&self.0.own).any = true,
        }
    }

    /// The number of code units with closures that are alive.
    #[cfg(test)]
    pub(crate) fn code_units_alive(&self) -> usize {
        self.0.code_units.count()
    }

    /// Frees captured variables that only each other hold. Values are dropped here: call it on a thread of evals.
    pub(crate) fn free_circles(&self) {
        self.0.cycle_collector.sweep();
    }

    /// The number of live captured variables that outlived the evals which made them.
    #[cfg(test)]
    pub(crate) fn cells_alive(&self) -> usize {
        self.0.cycle_collector.alive()
    }

    pub(crate) fn cycle_collector(&self) -> &CycleCollector {
        &self.0.cycle_collector
    }

    pub(crate) fn cell_versions(&self) -> &CellVersions {
        &self.0.cell_versions
    }

    pub(crate) fn code_units(&self) -> &Arc<CodeUnits> {
        &self.0.code_units
    }

    pub(crate) fn nesting_check(&self) -> &NestingCheck {
        &self.0.nesting_check
    }

    pub(crate) fn no_functions(&self) -> &Module {
        &self.0.no_functions
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime").field("limits", &self.0.limits).finish_non_exhaustive()
    }
}

fn ready(mut module: Module) -> Shared<Module> {
    module.build_index();
    module.into()
}

/// Reads the functions of a module out of Rhai's own metadata.
fn facts(module: &Shared<Module>, name: Option<&str>, standard: bool) -> Vec<FunctionFacts> {
    let mut engine = Engine::new_raw();
    engine.register_global_module(module.clone());
    let json = engine.gen_fn_metadata_to_json(true).unwrap_or_default();
    let metadata: serde_json::Value = serde_json::from_str(&json).unwrap_or_default();
    let functions = metadata["functions"].as_array().map(Vec::as_slice).unwrap_or_default();
    functions
        .iter()
        .filter_map(|function| {
            let text = |key: &str| function[key].as_str().unwrap_or_default().to_owned();
            let comments = function["docComments"].as_array().map(Vec::as_slice).unwrap_or_default();
            let doc: Vec<_> = comments.iter().filter_map(|comment| comment.as_str()).map(without_marks).collect();
            let function_name = text("name");
            // Operators, and what only the engine calls.
            let plain = function_name.starts_with(|c: char| c.is_alphabetic() || c == '_')
                && !NestingCheck::is_name(&function_name);
            let signature = for_scripts(&text("signature"));
            (plain && !(standard && takes_other_numbers(&signature))).then(|| FunctionFacts {
                name: function_name,
                module: name.map(str::to_owned),
                signature,
                doc: doc_for_scripts(&doc.join("\n")),
                standard,
                hidden: false,
            })
        })
        .collect()
}

/// Whether a function is of numbers that scripts do not have: every whole number of theirs is an `int`.
fn takes_other_numbers(signature: &str) -> bool {
    const OTHERS: [&str; 10] = ["i8", "i16", "i32", "i128", "u8", "u16", "u32", "u64", "u128", "f32"];
    signature.split(|c: char| !c.is_alphanumeric()).any(|word| OTHERS.contains(&word))
}

/// The name and the types a function takes: of two that agree in them only one can be called.
fn taken(function: &FunctionFacts) -> String {
    let params = function.signature.strip_prefix(&function.name).unwrap_or_default();
    let params = params.split_once(") -> ").map_or(params, |(params, _)| params).trim_matches(['(', ')']);
    let types: Vec<_> = params.split(", ").map(|param| param.split_once(": ").map_or(param, |(_, of)| of)).collect();
    format!("{}({})", function.name, types.join(", "))
}

fn without_marks(comment: &str) -> String {
    let lines = comment.lines().map(|line| {
        let line = line.trim_start();
        let text = line.strip_prefix("///").or_else(|| line.strip_prefix("/**")).unwrap_or(line);
        text.strip_prefix(' ').unwrap_or(text)
    });
    lines.collect::<Vec<_>>().join("\n")
}
