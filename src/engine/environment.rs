//! [`Environment`]: the functions, imports and constants that code runs in, and the record by which a module of ours knows
//! its name. Plain data; knows no space and no task.

use rhai::{Dynamic, ImmutableString, Module, Shared};
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::{Arc, RwLock};

/// The constants functions see, in the shape Rhai wants them.
pub(crate) type Constants = Shared<RwLock<BTreeMap<ImmutableString, Dynamic>>>;

/// Something that is only held so that it lives on.
pub(crate) type KeepAlive = Arc<dyn Any + Send + Sync>;

/// One kept import.
#[derive(Clone, Debug)]
pub(crate) struct Import {
    /// The name code uses.
    pub alias: ImmutableString,
    /// The name it is resolved by; `None` for a module that is no script.
    pub name: Option<ImmutableString>,
    /// The module as of the latest eval that named it.
    pub module: Shared<Module>,
}

impl Import {
    /// An import under `alias`. A script's module knows its name.
    pub(crate) fn new(alias: ImmutableString, module: Shared<Module>) -> Self {
        let name = name_of(&module);
        Self { alias, name, module }
    }
}

/// The functions, imports and constants that functions of a space or module run in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Environment {
    /// The functions, one module of script functions.
    pub functions: Shared<Module>,
    /// The imports, oldest first.
    pub imports: Arc<Vec<Import>>,
    /// The constants.
    pub constants: Option<Constants>,
}

impl Environment {
    /// Adds imports; each replaces an older one with its alias.
    pub(crate) fn add_imports(&mut self, imports: &[Import]) {
        if imports.is_empty() {
            return;
        }
        let mut all = (*self.imports).clone();
        for import in imports {
            all.retain(|kept| kept.alias != import.alias);
            all.push(import.clone());
        }
        self.imports = Arc::new(all);
    }
}

/// The variable under which a module carries its own record. No script can type it, and it sorts before all that one can.
const RECORD: &str = " module";

/// Functions of a module, each with the methods it calls.
pub(crate) type Quiet = HashMap<ImmutableString, BTreeSet<ImmutableString>>;

/// The record that a module carries of itself: its name, the code its closures come from, and what stands behind it.
#[derive(Clone)]
pub(crate) struct ModuleRecord {
    name: ImmutableString,
    /// The functions that call nothing of what they are given, each with the methods it calls.
    quiet: Arc<Quiet>,
    /// Held for as long as the module lives.
    _code: Vec<KeepAlive>,
    /// The source of its variables, when they are not in the module itself.
    source: Option<KeepAlive>,
}

impl ModuleRecord {
    /// Writes into `module` that it is called `name` and which of its functions are `quiet`, and lets it hold `code`.
    pub(crate) fn put_into(module: &mut Module, name: ImmutableString, quiet: Quiet, code: Vec<KeepAlive>) {
        module.set_var(RECORD, Dynamic::from(Self { name, quiet: Arc::new(quiet), _code: code, source: None }));
    }

    /// Writes into `module` that it is called `name`, and that its variables are found in `source`.
    pub(crate) fn put_view_into(module: &mut Module, name: ImmutableString, source: KeepAlive) {
        let record = Self { name, quiet: Arc::default(), _code: Vec::new(), source: Some(source) };
        module.set_var(RECORD, Dynamic::from(record));
    }
}

impl fmt::Debug for ModuleRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModuleRecord").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The name a module is imported by; `None` when it is none of ours.
pub(crate) fn name_of(module: &Module) -> Option<ImmutableString> {
    record(module, |record| Some(record.name.clone()))
}

/// The source of a module's variables, when they are not in the module itself.
pub(crate) fn source_of(module: &Module) -> Option<KeepAlive> {
    record(module, |record| record.source.clone())
}

fn record<T>(module: &Module, of: impl FnOnce(&ModuleRecord) -> Option<T>) -> Option<T> {
    // Asking for it by name would copy it.
    let (_, value) = module.iter_var().next().filter(|(name, _)| *name == RECORD)?;
    of(&*value.read_lock::<ModuleRecord>()?)
}

/// Whether a function of a module calls nothing of what it is given. `may_be_own` says of a method whether some map may have a
/// function of its own under that name.
pub(crate) fn is_quiet(module: &Module, function: &str, may_be_own: impl Fn(&str) -> bool) -> bool {
    let quiet = |record: &ModuleRecord| {
        let methods = record.quiet.get(function)?;
        Some(!methods.iter().any(|method| may_be_own(method)))
    };
    record(module, quiet).unwrap_or_default()
}
