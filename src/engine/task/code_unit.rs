//! [`CodeUnit`]: a piece of compiled code that closures come from, as data; and the list of all that are alive. Calling its
//! closures is done above, in `run/closures.rs`.

use super::space_view::SpaceView;
use crate::base::{SpaceId, lock};
use crate::engine::environment::Environment;
use crate::engine::rhai_internals::closure_name::parts_of;
use crate::engine::rhai_internals::function_body::{FunctionDef, names_this};
use crate::engine::rhai_internals::runtime_state::pointer_to;
use crate::engine::rhai_internals::walk::Use;
use rhai::{Dynamic, FnPtr, ImmutableString, Module, Shared};
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockWriteGuard, Weak};

/// The code units that have closures, by id: how a weak pointer is made strong.
#[derive(Debug, Default)]
pub(crate) struct CodeUnits {
    next: AtomicU64,
    alive: Mutex<HashMap<u64, Weak<CodeUnit>>>,
    /// What code does with a captured variable where it names it, by the address of the name there.
    uses: RwLock<HashMap<usize, Use>>,
}

impl CodeUnits {
    fn uses_mut(&self) -> RwLockWriteGuard<'_, HashMap<usize, Use>> {
        self.uses.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Weak<CodeUnit>>> {
        lock(&self.alive)
    }

    /// What code does with a captured variable that it names so: with this very text.
    pub(crate) fn use_of(&self, name: &str) -> Use {
        let uses = self.uses.read().unwrap_or_else(PoisonError::into_inner);
        uses.get(&name.as_ptr().addr()).copied().unwrap_or(Use::Read)
    }

    /// The number of code units with closures that are still held by someone.
    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.lock().len()
    }

    /// The closure that a pointer's name stands for: its code, the name of its body, and how many variables it captured.
    pub(crate) fn find(&self, name: &str) -> Option<(Arc<CodeUnit>, ImmutableString, usize)> {
        let (id, captures, body) = parts_of(name)?;
        let unit = self.lock().get(&id)?.upgrade()?;
        Some((unit, body, captures))
    }

    /// The parameters of a closure as they were written: without those that captured variables and curried arguments fill.
    /// `None` for pointers to named functions, and when the code is gone.
    pub(crate) fn parameter_names(&self, pointer: &FnPtr) -> Option<Vec<String>> {
        let (unit, body, _) = self.find(pointer.fn_name())?;
        let closure = unit.closure(&body)?;
        let filled = closure.fixed.len() + pointer.curry().len();
        Some(closure.names.iter().skip(filled).map(ToString::to_string).collect())
    }

    /// The number of arguments that a closure of ours still takes; `None` for any other pointer.
    pub(crate) fn parameter_count(&self, pointer: &FnPtr) -> Option<usize> {
        let (unit, body, _) = self.find(pointer.fn_name())?;
        let code = unit.closure(&body)?;
        code.names.len().checked_sub(code.fixed.len() + pointer.curry().len())
    }
}

/// One closure of a code unit.
#[derive(Clone, Debug)]
pub(crate) struct ClosureCode {
    /// A pointer to its body, to be called in the environment of the unit.
    pub(crate) pointer: FnPtr,
    /// The names of its parameters, captured variables first.
    pub(crate) names: Vec<ImmutableString>,
    /// Values of captured constants: the first arguments of every call.
    pub(crate) fixed: Vec<Dynamic>,
    /// The number of captured variables that a pointer carries as curried arguments.
    pub(crate) captures: usize,
    /// Whether its body names `this`.
    pub(crate) uses_this: bool,
}

impl ClosureCode {
    /// The closure with this body, before it is known what it captures.
    pub(crate) fn new(body: &Shared<FunctionDef>) -> Self {
        Self {
            pointer: pointer_to(body.clone()),
            names: body.params.to_vec(),
            fixed: Vec::new(),
            captures: 0,
            uses_this: names_this(body),
        }
    }
}

/// One compiled script, module, or overlay, which closures come from.
pub(crate) struct CodeUnit {
    id: u64,
    registry: Arc<CodeUnits>,
    /// The name that errors give it: `eval 12`, `stats.rhai`.
    source: ImmutableString,
    /// The space whose functions and variables the code sees; `None` for a module.
    space: Option<(SpaceId, Weak<dyn SpaceView>)>,
    /// The environment of a module, and the last one of a space that ended.
    last: Arc<OnceLock<Environment>>,
    code: OnceLock<Code>,
    /// The names at the places that write a captured variable: kept as long as the code.
    names: OnceLock<Vec<ImmutableString>>,
}

struct Code {
    bodies: Shared<Module>,
    closures: HashMap<ImmutableString, ClosureCode>,
}

impl CodeUnit {
    /// The code unit of code that runs in a space.
    pub(crate) fn of_space(
        registry: &Arc<CodeUnits>,
        space: &Arc<dyn SpaceView>,
        source: ImmutableString,
    ) -> Arc<Self> {
        let link = (space.id(), Arc::downgrade(space));
        Self::new(registry, Some(link), space.last_environment(), source)
    }

    /// The code unit of a module, whose environment will be found in `last`.
    pub(crate) fn of_module(
        registry: &Arc<CodeUnits>,
        last: Arc<OnceLock<Environment>>,
        source: ImmutableString,
    ) -> Arc<Self> {
        Self::new(registry, None, last, source)
    }

    fn new(
        registry: &Arc<CodeUnits>,
        space: Option<(SpaceId, Weak<dyn SpaceView>)>,
        last: Arc<OnceLock<Environment>>,
        source: ImmutableString,
    ) -> Arc<Self> {
        let id = registry.next.fetch_add(1, Ordering::Relaxed);
        let registry = Arc::clone(registry);
        Arc::new(Self { id, registry, source, space, last, code: OnceLock::new(), names: OnceLock::new() })
    }

    /// The id that the names of its closures carry.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// The name that errors give the code.
    pub(crate) fn source(&self) -> &ImmutableString {
        &self.source
    }

    /// The space the code sees, when it is no module.
    pub(crate) fn space(&self) -> Option<&(SpaceId, Weak<dyn SpaceView>)> {
        self.space.as_ref()
    }

    /// The environment of a module that has been loaded, and the last one of a space that ended.
    pub(crate) fn last_environment(&self) -> Option<&Environment> {
        self.last.get()
    }

    /// The bodies of its closures, once they are known.
    pub(crate) fn bodies(&self) -> Option<&Shared<Module>> {
        self.code.get().map(|code| &code.bodies)
    }

    /// The closure whose body has this name.
    pub(crate) fn closure(&self, body: &str) -> Option<&ClosureCode> {
        self.code.get()?.closures.get(body)
    }

    /// Takes the names at the places that write a captured variable.
    pub(crate) fn name_uses(&self, names: impl Iterator<Item = (ImmutableString, Use)>) {
        let (names, uses): (Vec<_>, Vec<_>) = names.unzip();
        if names.is_empty() {
            return;
        }
        // The texts stay where they are as long as they are kept here.
        let addresses: Vec<_> = names.iter().map(|name| name.as_ptr().addr()).collect();
        if self.names.set(names).is_ok() {
            self.registry.uses_mut().extend(addresses.into_iter().zip(uses));
        }
    }

    /// Takes the closures once the code is rewritten.
    pub(crate) fn settle(self: &Arc<Self>, bodies: Module, closures: HashMap<ImmutableString, ClosureCode>) {
        if closures.is_empty() {
            return;
        }
        if self.code.set(Code { bodies: bodies.into(), closures }).is_ok() {
            self.registry.lock().insert(self.id, Arc::downgrade(self));
        }
    }
}

impl Drop for CodeUnit {
    fn drop(&mut self) {
        if self.code.get().is_some() {
            self.registry.lock().remove(&self.id);
        }
        if let Some(names) = self.names.get() {
            let mut uses = self.registry.uses_mut();
            names.iter().for_each(|name| _ = uses.remove(&name.as_ptr().addr()));
        }
    }
}

impl fmt::Debug for CodeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CodeUnit").field("id", &self.id).field("source", &self.source).finish_non_exhaustive()
    }
}

/// The code units that one entry called closures of: kept until it ends.
#[derive(Debug, Default)]
pub(crate) struct CalledUnits(Mutex<HashMap<usize, Arc<CodeUnit>>>);

impl CalledUnits {
    /// Keeps `unit`.
    pub(crate) fn keep(&self, unit: &Arc<CodeUnit>) {
        lock(&self.0).entry(Arc::as_ptr(unit).addr()).or_insert_with(|| Arc::clone(unit));
    }

    /// Lets go of all, on this thread.
    pub(super) fn clear(&self) {
        let units = std::mem::take(&mut *lock(&self.0));
        drop(units);
    }
}
