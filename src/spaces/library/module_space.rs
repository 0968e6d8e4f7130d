//! Evaluating inside a module: [`ModuleSpace`], a space that stands for one.

use super::live::{OUTPUT_SOURCE, ScriptModules};
use super::name::ModuleName;
use crate::base::limits::LimitHit;
use crate::base::{EntryId, ModuleError, SpaceId, lock};
use crate::engine::{Batch, Committed, Environment, Opened, Opening, Readings, SpaceFailure, SpaceView, Variable};
use crate::engine::{Fallible, LoadedModule, Modules, Task};
use crate::spaces::space::Space;
use rhai::{Dynamic, ImmutableString, Shared};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, Weak};

/// A space that stands for a module: code in it sees the module's functions, private ones too, its imports and constants, and
/// what it defines is defined for all who import the module. Variables stay in the space; importers never see them.
///
/// One for each module, kept as long as the space: closures find their way back through it.
pub(crate) struct ModuleSpace {
    space: Arc<Space>,
    modules: ScriptModules,
    name: ModuleName,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The version the space was last made to follow.
    followed: Option<Arc<LoadedModule>>,
    /// Its constants, which code in the space sees like variables of its own.
    constants: BTreeMap<ImmutableString, Dynamic>,
    /// Evals that will open the space, to be told what their functions did.
    entering: Vec<Weak<Task>>,
}

impl ModuleSpace {
    /// The space of the module `name`, in which `space` keeps the variables.
    pub(crate) fn new(space: Arc<Space>, modules: ScriptModules, name: ModuleName) -> Arc<Self> {
        Arc::new(Self { space, modules, name, state: Mutex::default() })
    }

    /// The space with the variables.
    pub(crate) fn space(&self) -> &Arc<Space> {
        &self.space
    }

    /// Brings the space in step with the module as it is now, before `task` evaluates in it.
    ///
    /// # Errors
    ///
    /// As for an import of the module.
    pub(crate) fn follow(&self, task: &Arc<Task>) -> Fallible<()> {
        let now = self.modules.resolve(task, self.name.as_str())?;
        let mut state = lock(&self.state);
        state.entering.retain(|task| task.strong_count() > 0);
        state.entering.push(Arc::downgrade(task));
        if state.followed.as_ref().is_some_and(|before| Arc::ptr_eq(before, &now)) {
            return Ok(());
        }
        let mut environment = self.with_own_imports(state.followed.as_deref(), now.environment());
        // A copy: what evals declare here is none of the importers' business, and a space that ends clears its constants.
        state.constants = constants_of(&environment);
        environment.constants = Some(Shared::new(RwLock::new(state.constants.clone())));
        self.space.set_environment(environment);
        let before = state.followed.replace(now);
        drop(state);
        drop(before);
        Ok(())
    }

    /// A constant of the module, as a variable that nobody wrote.
    fn constant(&self, name: &str) -> Option<Variable> {
        let value = lock(&self.state).constants.get(name).cloned()?;
        Some(Variable { value: Arc::new(value), version: 0, by: EntryId(0), constant: true, bytes: 0, live: false })
    }

    /// Adds the imports that evals inside have made themselves: they stay when the module changes.
    fn with_own_imports(&self, before: Option<&LoadedModule>, mut environment: Environment) -> Environment {
        let of_module = before.map(LoadedModule::environment).unwrap_or_default();
        let taken = |imports: &[crate::engine::Import], alias: &str| imports.iter().any(|i| i.alias == alias);
        let kept = self.space.environment().unwrap_or_default();
        let own: Vec<_> = kept
            .imports
            .iter()
            .filter(|i| !taken(&of_module.imports, &i.alias) && !taken(&environment.imports, &i.alias))
            .cloned()
            .collect();
        if !own.is_empty() {
            Arc::make_mut(&mut environment.imports).extend(own);
        }
        environment
    }
}

fn constants_of(environment: &Environment) -> BTreeMap<ImmutableString, Dynamic> {
    let constants =
        environment.constants.as_ref().map(|all| all.read().unwrap_or_else(PoisonError::into_inner).clone());
    constants.unwrap_or_default()
}

impl SpaceView for ModuleSpace {
    fn id(&self) -> SpaceId {
        self.space.id()
    }

    fn name(&self) -> &str {
        self.space.name()
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Opened, SpaceFailure> {
        let opened = self.space.open(opening)?;
        let task = {
            let mut state = lock(&self.state);
            let tasks: Vec<_> = state.entering.iter().filter_map(Weak::upgrade).collect();
            let task = tasks.into_iter().find(|task| task.id() == opening.entry);
            state.entering.retain(|t| t.upgrade().is_some_and(|t| t.id() != opening.entry));
            task
        };
        if !opening.overlay.is_empty() {
            match self.modules.library().define(&self.name, opening.overlay.clone()) {
                Ok(notice) => {
                    if let Some(task) = task {
                        task.print(OUTPUT_SOURCE, &notice.to_string());
                    }
                }
                Err(ModuleError::TooManyFunctions { limit, .. }) => {
                    return Err(SpaceFailure::Limit(LimitHit::Functions { limit }));
                }
                // The file went away since the space followed it: there is no module to define anything in.
                Err(_) => return Err(SpaceFailure::Closed),
            }
        }
        Ok(opened)
    }

    fn close_eval(&self, entry: EntryId) -> Vec<(ImmutableString, EntryId)> {
        self.space.close_eval(entry)
    }

    fn readings(&self) -> Arc<Readings> {
        self.space.readings()
    }

    fn captured(&self) -> Arc<BTreeSet<ImmutableString>> {
        self.space.captured()
    }

    fn names(&self) -> Vec<ImmutableString> {
        let mut names = self.space.names();
        names.extend(lock(&self.state).constants.keys().cloned());
        names
    }

    fn variable(&self, name: &str) -> Option<Variable> {
        self.space.variable(name).or_else(|| self.constant(name))
    }

    fn commit(&self, batch: Batch) -> Result<Committed, SpaceFailure> {
        self.space.commit(batch)
    }

    fn environment(&self) -> Option<Environment> {
        self.space.environment()
    }

    fn last_environment(&self) -> Arc<OnceLock<Environment>> {
        self.space.last_environment()
    }
}

impl fmt::Debug for ModuleSpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModuleSpace").field("name", &self.name).field("space", &self.space).finish_non_exhaustive()
    }
}
