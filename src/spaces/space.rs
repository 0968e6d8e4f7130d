//! [`Space`]: variables, functions, imports and constants that live between evals, behind one short lock.
//!
//! The lock is held for single steps only: a snapshot, a batch of changed variables, a definition. Values that are replaced
//! are handed back and dropped by the eval, outside of it.

use crate::base::limits::LimitHit;
use crate::base::{EntryId, Limits, SpaceId, lock};
use crate::engine::rhai::{Dynamic, ImmutableString, Shared};
use crate::engine::{
    Batch, Change, Committed, Constants, Definition, Environment, Opened, Opening, Overwritten, Readings, Resized,
    SpaceFailure, SpaceView, Variable,
};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

/// A space. Shared by `Arc`; ends by [`Space::close`] or when the last owner lets go.
#[derive(Debug)]
pub(crate) struct Space {
    id: SpaceId,
    name: String,
    bytes_limit: usize,
    variables_limit: usize,
    functions_limit: usize,
    state: Mutex<State>,
    last: Arc<OnceLock<Environment>>,
}

#[derive(Debug, Default)]
struct State {
    closed: bool,
    version: u64,
    variables: HashMap<ImmutableString, Variable>,
    /// The size of all variables, in bytes.
    bytes: usize,
    /// The constants in it are those that code may name as `global::NAME`: copies, made only once some code does.
    environment: Environment,
    names_globals: bool,
    /// Every function, by what tells it from others.
    functions: HashMap<Signature, Function>,
    readings: Arc<Readings>,
    /// The variables that are cells.
    captured: Arc<BTreeSet<ImmutableString>>,
    named_imports: Arc<BTreeSet<ImmutableString>>,
    /// Entries that evaluate here at this moment.
    at_work: HashSet<EntryId>,
    /// Functions of entries at work that others have defined since.
    redefined: HashMap<EntryId, Vec<(ImmutableString, EntryId)>>,
}

/// The key that tells functions apart: the type of their object, their name, and their number of parameters.
type Signature = (ImmutableString, ImmutableString, usize);

fn signature(definition: &Definition) -> Signature {
    let function = &definition.function;
    (function.this_type.clone().unwrap_or_default(), function.name.clone(), function.params.len())
}

/// A function as the space knows it. The definition keeps the code of its closures alive.
#[derive(Debug)]
struct Function {
    by: EntryId,
    _definition: Definition,
}

impl Space {
    /// An empty space.
    pub(crate) fn new(id: SpaceId, name: &str, limits: &Limits) -> Arc<Self> {
        let environment = Environment { constants: Some(Constants::default()), ..Environment::default() };
        Arc::new(Self {
            id,
            name: name.to_owned(),
            bytes_limit: limits.space_bytes,
            variables_limit: limits.variables,
            functions_limit: limits.functions,
            state: Mutex::new(State { environment, ..State::default() }),
            last: Arc::default(),
        })
    }

    /// Ends the space: its values are dropped, and later commits fail. Closures that live elsewhere keep the functions,
    /// imports and constants it had last. Call it on a thread with a large stack, not under a lock.
    pub(crate) fn close(&self) {
        let state = {
            let mut state = self.lock();
            let closed = State { closed: true, ..State::default() };
            std::mem::replace(&mut *state, closed)
        };
        if state.closed {
            return;
        }
        let mut state = state;
        // Constants that hold closures would keep each other alive for ever: those go.
        let plain = state.environment.constants.as_ref().map(plain_constants);
        if let Some(plain) = &plain {
            plain.write().unwrap_or_else(PoisonError::into_inner).extend(state.take_plain_constants());
        }
        let last = Environment { constants: plain, ..state.environment.clone() };
        // Set once: a space closes once.
        drop(self.last.set(last));
        if let Some(constants) = &state.environment.constants {
            let taken = std::mem::take(&mut *constants.write().unwrap_or_else(PoisonError::into_inner));
            drop(taken);
        }
    }

    /// The names of its variables, sorted.
    pub(crate) fn variables(&self) -> Vec<ImmutableString> {
        let mut names: Vec<_> = self.lock().variables.keys().cloned().collect();
        names.sort_unstable();
        names
    }

    /// A variable as it is kept.
    pub(crate) fn variable(&self, name: &str) -> Option<Variable> {
        self.lock().variables.get(name).cloned()
    }

    /// The value of a variable.
    #[cfg(test)]
    pub(crate) fn snapshot(&self, name: &str) -> Dynamic {
        (*self.lock().variables[name].value).clone()
    }

    /// How many variables it has.
    pub(crate) fn variable_count(&self) -> usize {
        self.lock().variables.len()
    }

    /// How many functions it has.
    pub(crate) fn function_count(&self) -> usize {
        self.lock().environment.functions.count().1
    }

    /// Its imports, oldest first: the name code uses, and the name it is resolved by. Those of modules without a name that could
    /// be imported are left out.
    pub(crate) fn imports(&self) -> Vec<(ImmutableString, ImmutableString)> {
        let imports = Arc::clone(&self.lock().environment.imports);
        imports.iter().filter_map(|import| Some((import.alias.clone(), import.name.clone()?))).collect()
    }

    /// The size of its variables, in bytes (an estimate).
    pub(crate) fn bytes(&self) -> usize {
        let state = self.lock();
        let copies = state.variables.values().filter(|variable| state.names_globals && variable.constant);
        state.bytes + copies.map(|constant| constant.bytes).sum::<usize>()
    }

    /// Replaces its functions, imports and constants: how a space follows a module it stands for.
    pub(crate) fn set_environment(&self, environment: Environment) {
        let old = {
            let mut state = self.lock();
            let functions = std::mem::take(&mut state.functions);
            (functions, std::mem::replace(&mut state.environment, environment))
        };
        drop(old);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // What is behind the lock is never left half-changed.
        lock(&self.state)
    }
}

impl Drop for Space {
    fn drop(&mut self) {
        self.close();
    }
}

fn plain_constants(constants: &Constants) -> Constants {
    let constants = constants.read().unwrap_or_else(PoisonError::into_inner);
    let plain: BTreeMap<ImmutableString, Dynamic> = constants
        .iter()
        .filter(|(_, value)| !crate::engine::holds_functions(value))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    Shared::new(RwLock::new(plain))
}

impl State {
    /// Merges functions into a new version of the functions module: running evals keep the one they have.
    fn define(&mut self, entry: EntryId, definitions: &[Definition]) -> Vec<(ImmutableString, EntryId)> {
        let mut module = (*self.environment.functions).clone();
        let mut readings = (*self.readings).clone();
        let mut imports = (*self.named_imports).clone();
        let mut redefined = Vec::new();
        for definition in definitions {
            let function = &definition.function;
            module.set_script_fn(function.clone());
            readings.define(function, definition.reading.clone());
            imports.extend(definition.imports.iter().cloned());
            let old =
                self.functions.insert(signature(definition), Function { by: entry, _definition: definition.clone() });
            if let Some(author) = old.map(|old| old.by).filter(|author| *author != entry)
                && self.at_work.contains(&author)
            {
                redefined.push((function.name.clone(), author));
                self.redefined.entry(author).or_default().push((function.name.clone(), entry));
            }
        }
        self.environment.functions = module.into();
        self.readings = Arc::new(readings);
        self.named_imports = Arc::new(imports);
        redefined
    }

    /// How many functions there would be with these.
    fn functions_with(&self, definitions: &[Definition]) -> usize {
        let new: HashSet<_> =
            definitions.iter().map(signature).filter(|signature| !self.functions.contains_key(signature)).collect();
        self.functions.len() + new.len()
    }

    fn set(&mut self, entry: EntryId, change: Change, committed: &mut Committed) {
        let Change { name, value, constant, bytes, live, base, captured } = change;
        if let Some(current) = self.variables.get(&name)
            && current.version > base
            && current.by != entry
        {
            if captured {
                // Capturing is a read: the other entry's value stays.
                committed.versions.push(base);
                return;
            }
            let value = Arc::clone(&current.value);
            committed.overwritten.push(Overwritten { name: name.clone(), by: current.by, value });
        }
        let seen = self.note_constant(&name, constant.then_some(&*value));
        committed.replaced.extend(seen.map(Arc::new));
        if value.is_shared() {
            Arc::make_mut(&mut self.captured).insert(name.clone());
        } else if self.captured.contains(&name) {
            Arc::make_mut(&mut self.captured).remove(&name);
        }
        self.version += 1;
        let variable = Variable { value, version: self.version, by: entry, constant, bytes, live };
        self.bytes += bytes;
        if let Some(old) = self.variables.insert(name, variable) {
            self.bytes -= old.bytes;
            committed.replaced.push(old.value);
        }
        committed.versions.push(self.version);
    }

    /// Code names constants as `global::NAME` from now on.
    fn name_globals(&mut self) {
        if std::mem::replace(&mut self.names_globals, true) {
            return;
        }
        for (name, variable) in self.variables.iter().filter(|(_, variable)| variable.constant) {
            drop(self.note_constant(name, Some(&variable.value)));
        }
    }

    /// Takes the constants out that hold no functions.
    fn take_plain_constants(&mut self) -> Vec<(ImmutableString, Dynamic)> {
        let constants = std::mem::take(&mut self.variables).into_iter().filter(|(_, variable)| variable.constant);
        let value = |variable: Variable| Arc::try_unwrap(variable.value).unwrap_or_else(|shared| (*shared).clone());
        constants
            .map(|(name, variable)| (name, value(variable)))
            .filter(|(_, value)| !crate::engine::holds_functions(value))
            .collect()
    }

    /// Keeps what code sees as `global::NAME` in step. Returns what it saw before, to be dropped.
    fn note_constant(&self, name: &ImmutableString, value: Option<&Dynamic>) -> Option<Dynamic> {
        let mut constants = self.environment.constants.as_ref()?.write().unwrap_or_else(PoisonError::into_inner);
        match value {
            Some(value) if self.names_globals => constants.insert(name.clone(), value.clone()),
            // Rhai has put one there that an eval declared beside functions: nobody asks for it.
            Some(_) => constants.remove(name),
            None if self.variables.get(name).is_some_and(|kept| kept.constant) => constants.remove(name),
            None => None,
        }
    }
}

impl SpaceView for Space {
    fn id(&self) -> SpaceId {
        self.id
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Opened, SpaceFailure> {
        let mut state = self.lock();
        if state.closed {
            return Err(SpaceFailure::Closed);
        }
        let mut redefined = Vec::new();
        if !opening.definitions.is_empty() {
            if state.functions_with(opening.definitions) > self.functions_limit {
                return Err(SpaceFailure::Limit(LimitHit::Functions { limit: self.functions_limit }));
            }
            redefined = state.define(opening.entry, opening.definitions);
        }
        if opening.names_globals {
            state.name_globals();
        }
        state.at_work.insert(opening.entry);
        let read = |name: &ImmutableString| Some((name.clone(), state.variables.get(name)?.clone()));
        Ok(Opened {
            version: state.version,
            variables: opening.reads.iter().filter_map(read).collect(),
            environment: state.environment.clone(),
            imports: Arc::clone(&state.named_imports),
            redefined,
        })
    }

    fn close_eval(&self, entry: EntryId) -> Vec<(ImmutableString, EntryId)> {
        let mut state = self.lock();
        state.at_work.remove(&entry);
        state.redefined.remove(&entry).unwrap_or_default()
    }

    fn readings(&self) -> Arc<Readings> {
        Arc::clone(&self.lock().readings)
    }

    fn captured(&self) -> Arc<BTreeSet<ImmutableString>> {
        Arc::clone(&self.lock().captured)
    }

    fn names(&self) -> Vec<ImmutableString> {
        self.variables()
    }

    fn variable(&self, name: &str) -> Option<Variable> {
        self.lock().variables.get(name).cloned()
    }

    fn commit(&self, batch: Batch) -> Result<Committed, SpaceFailure> {
        let mut committed = Committed::default();
        let mut state = self.lock();
        if state.closed {
            return Err(SpaceFailure::Closed);
        }
        for change in batch.changes {
            let old = state.variables.get(&change.name);
            if old.is_none() && state.variables.len() >= self.variables_limit {
                committed.hit = Some(LimitHit::Variables { limit: self.variables_limit });
                break;
            }
            let before = old.map_or(0, |old| old.bytes);
            // What shrinks is always taken, also when cells and atoms have grown beyond the limit.
            if change.bytes > before && state.bytes - before + change.bytes > self.bytes_limit {
                committed.hit = Some(LimitHit::SpaceMemory { limit: self.bytes_limit });
                break;
            }
            state.set(batch.entry, change, &mut committed);
        }
        for Resized { name, value, bytes } in &batch.resized {
            let kept = state.variables.get_mut(name).filter(|kept| Arc::ptr_eq(&kept.value, value));
            let Some(before) = kept.map(|kept| std::mem::replace(&mut kept.bytes, *bytes)) else { continue };
            state.bytes = state.bytes - before + bytes;
            if *bytes > before && state.bytes > self.bytes_limit {
                committed.hit = committed.hit.or(Some(LimitHit::SpaceMemory { limit: self.bytes_limit }));
            }
        }
        state.environment.add_imports(&batch.imports);
        Ok(committed)
    }

    fn environment(&self) -> Option<Environment> {
        let state = self.lock();
        (!state.closed).then(|| state.environment.clone())
    }

    fn last_environment(&self) -> Arc<OnceLock<Environment>> {
        Arc::clone(&self.last)
    }
}
