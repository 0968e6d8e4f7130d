//! [`SpaceView`]: a space as evaluation sees it, and the plain data that goes through it.
//!
//! A space is data behind one short lock. An eval opens it once (defining its functions and taking a snapshot of what its
//! code names), commits batches of changed variables while it runs, and closes it. No lock is held while script code runs.

use crate::base::limits::LimitHit;
use crate::base::{EntryId, SpaceId};
use crate::engine::environment::{Environment, Import, KeepAlive};
use crate::engine::rhai_internals::calls::{Reading, Readings};
use crate::engine::rhai_internals::closure_name::names_closure;
use crate::engine::rhai_internals::function_body::FunctionDef;
use crate::engine::rhai_internals::runtime_state::script_functions;
use rhai::{Dynamic, ImmutableString, Module, Shared};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// One variable as a space keeps it.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    /// The value. Never changed in place.
    pub value: Arc<Dynamic>,
    /// Goes up with every write to the space.
    pub version: u64,
    /// The entry that wrote it last.
    pub by: EntryId,
    /// Whether it was declared with `const`.
    pub constant: bool,
    /// The size of the value in bytes, as far as the space was told.
    pub bytes: usize,
    /// Whether there are captured cells or atoms in it: those change without being committed.
    pub live: bool,
}

/// One function that an eval defines.
#[derive(Clone, Debug)]
pub(crate) struct Definition {
    /// The function, ready to be called from any eval.
    pub function: Shared<FunctionDef>,
    /// The variables of the space that it may read, and what it calls.
    pub reading: Reading,
    /// The imports that it names.
    pub imports: BTreeSet<ImmutableString>,
    /// The code it belongs to, when it contains closures: kept as long as the function.
    pub(crate) _code: Option<KeepAlive>,
}

/// Functions as an eval wrote them, to be merged into a module when it is built. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Overlay {
    /// The functions before they are rewritten, bodies of closures included; `None` without functions.
    functions: Option<Shared<Module>>,
    source: ImmutableString,
}

impl Overlay {
    /// The functions of a compiled script, as they are before it is rewritten.
    pub(crate) fn new(ast: &rhai::AST, source: ImmutableString) -> Self {
        let functions = Some(ast.shared_lib().clone()).filter(|functions| !functions.is_empty());
        Self { functions, source }
    }

    /// The names of the functions, with their numbers of parameters.
    pub(crate) fn functions(&self) -> Vec<(ImmutableString, usize)> {
        self.functions
            .iter()
            .flat_map(|module| script_functions(module))
            .filter(|function| !names_closure(&function.name))
            .map(|function| (function.name.clone(), function.params.len()))
            .collect()
    }

    /// Whether it defines nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.functions().is_empty()
    }

    /// The functions as they were compiled, bodies of closures included.
    pub(crate) fn compiled(&self) -> Option<&Shared<Module>> {
        self.functions.as_ref()
    }

    /// The name of the eval that wrote it: `eval 12`.
    pub(crate) fn source(&self) -> &str {
        &self.source
    }
}

/// The message of an eval that opens a space.
#[derive(Clone, Debug)]
pub(crate) struct Opening<'a> {
    /// The entry.
    pub entry: EntryId,
    /// The variables its code names.
    pub reads: &'a BTreeSet<ImmutableString>,
    /// The functions its code defines.
    pub definitions: &'a [Definition],
    /// Whether its code may name constants as `global::NAME`.
    pub names_globals: bool,
    /// The same functions as they were written, for a module that is built again later; empty without definitions.
    pub overlay: Overlay,
}

/// The answer to an eval that opens a space.
#[derive(Clone, Debug)]
pub(crate) struct Opened {
    /// The version of the space at this moment: newer variables were written since.
    pub version: u64,
    /// The variables that exist, of those the code names.
    pub variables: Vec<(ImmutableString, Variable)>,
    /// The environment, with the eval's own functions in it.
    pub environment: Environment,
    /// Every import that some function of the space names.
    pub imports: Arc<BTreeSet<ImmutableString>>,
    /// Functions this eval redefined while the entry that had defined them is still at work.
    pub redefined: Vec<(ImmutableString, EntryId)>,
}

/// One variable that an eval changed.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    /// Its name.
    pub name: ImmutableString,
    /// Its new value.
    pub value: Arc<Dynamic>,
    /// Whether it was declared with `const`.
    pub constant: bool,
    /// The size of the value in bytes.
    pub bytes: usize,
    /// Whether there are captured cells or atoms in it.
    pub live: bool,
    /// The latest version of the variable the eval knows, or of the space when it began: what is newer is in conflict.
    pub base: u64,
    /// The variable was only captured: it becomes a cell with the value it had, unless another entry has set it since.
    pub captured: bool,
}

/// A variable whose captured cells or atoms take more or less than before.
#[derive(Clone, Debug)]
pub(crate) struct Resized {
    /// The variable.
    pub name: ImmutableString,
    /// The value that was measured. When the variable has another by now, this says nothing about it.
    pub value: Arc<Dynamic>,
    /// Its size now, in bytes.
    pub bytes: usize,
}

/// The changes of one statement.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    /// The entry.
    pub entry: EntryId,
    /// The variables.
    pub changes: Vec<Change>,
    /// Other variables in which something grew or shrank.
    pub resized: Vec<Resized>,
    /// Imports that are new or were resolved to another module.
    pub imports: Vec<Import>,
}

/// A value that another entry had set and that was overwritten.
#[derive(Clone, Debug)]
pub(crate) struct Overwritten {
    /// The variable.
    pub name: ImmutableString,
    /// The entry that had set it.
    pub by: EntryId,
    /// The value it had.
    pub value: Arc<Dynamic>,
}

/// The outcome of a batch.
#[derive(Debug, Default)]
pub(crate) struct Committed {
    /// The versions of the changes that were taken, in their order; shorter than the batch when a limit was hit.
    pub versions: Vec<u64>,
    /// Values of other entries that were overwritten.
    pub overwritten: Vec<Overwritten>,
    /// Values that are no longer kept; the eval drops them on its own thread.
    pub replaced: Vec<Arc<Dynamic>>,
    /// The limit that stopped the batch.
    pub hit: Option<LimitHit>,
}

/// The reason why a space cannot be used.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SpaceFailure {
    /// It ended.
    Closed,
    /// The eval would exceed one of its limits.
    Limit(LimitHit),
}

/// A space, as evaluation sees it. Every method is one short step.
pub(crate) trait SpaceView: fmt::Debug + Send + Sync {
    /// Its identity.
    fn id(&self) -> SpaceId;
    /// Its name.
    fn name(&self) -> &str;
    /// Opens the space for an eval: defines its functions, and takes a snapshot, in one step.
    ///
    /// # Errors
    /// When the space ended or would hold too many functions; nothing was changed.
    fn open(&self, opening: &Opening<'_>) -> Result<Opened, SpaceFailure>;
    /// The eval is over. Returns the functions it defined and another entry has defined since.
    fn close_eval(&self, entry: EntryId) -> Vec<(ImmutableString, EntryId)>;
    /// What the functions of the space read and call.
    fn readings(&self) -> Arc<Readings>;
    /// Every variable that is a cell, because a closure that captured it is kept.
    fn captured(&self) -> Arc<BTreeSet<ImmutableString>>;
    /// The names of its variables, for suggestions.
    fn names(&self) -> Vec<ImmutableString>;
    /// One variable as it is now.
    fn variable(&self, name: &str) -> Option<Variable>;
    /// Takes a batch: versioned, last write wins. The cost does not depend on the number of variables.
    ///
    /// # Errors
    /// [`SpaceFailure::Closed`]; limits are reported in [`Committed::hit`], and what came before them was taken.
    fn commit(&self, batch: Batch) -> Result<Committed, SpaceFailure>;
    /// The environment as it is now; `None` once the space ended.
    fn environment(&self) -> Option<Environment>;
    /// The place where the last environment is left for closures that outlive the space.
    fn last_environment(&self) -> Arc<OnceLock<Environment>>;
}
