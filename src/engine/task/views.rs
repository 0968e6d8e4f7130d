//! [`Views`]: what a running entry sees of spaces that are not its own. The module that stands for another space has its functions
//! and no values: the values are in the space, and a running entry holds those that its code names. So they are let go of when it
//! ends, whatever its own space keeps of the import.

use super::code_unit::{CodeUnit, CodeUnits};
use super::snapshot::SeenVariable;
use super::space_view::{SpaceView, Variable};
use crate::base::{Refusal, SpaceId, lock};
use crate::engine::environment::{KeepAlive, source_of};
use crate::engine::error::{Fallible, refuse};
use rhai::{Dynamic, EvalAltResult, ImmutableString, Module, Position};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, Weak};

/// The space behind a module that is a view of it. Does not keep the space alive.
#[derive(Debug)]
pub(crate) struct ViewedSpace {
    space: Weak<dyn SpaceView>,
    name: ImmutableString,
}

impl ViewedSpace {
    /// The view of `space`, as its module carries it.
    pub(crate) fn new(space: &Arc<dyn SpaceView>) -> Arc<Self> {
        Arc::new(Self { space: Arc::downgrade(space), name: space.name().into() })
    }

    /// The space behind `module`, when it is a view.
    pub(crate) fn of(module: &Module) -> Option<Arc<Self>> {
        source_of(module).and_then(|source: KeepAlive| source.downcast().ok())
    }

    /// The space.
    ///
    /// # Errors
    /// When it has ended.
    fn space(&self) -> Fallible<Arc<dyn SpaceView>> {
        let space = self.space.upgrade().filter(|space| space.environment().is_some());
        space.ok_or_else(|| refuse(&Refusal::NoSuchSpace { name: self.name.to_string() }))
    }
}

/// The values of other spaces that a running entry has seen.
#[derive(Debug, Default)]
pub(crate) struct Views(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// The names that its code reads of imports.
    named: BTreeSet<ImmutableString>,
    /// The views, by the address of what they are of.
    views: HashMap<usize, View>,
    /// Variables that functions of other spaces read, each as it was read last.
    read: HashMap<(SpaceId, ImmutableString), SeenVariable>,
}

#[derive(Debug)]
struct View {
    of: Arc<ViewedSpace>,
    /// The code that functions of the space run in.
    unit: Option<Arc<CodeUnit>>,
    /// The variables, each from the moment of the import, or from when it was read first when nobody had named it before.
    variables: HashMap<ImmutableString, SeenVariable>,
}

/// The views of an entry, for a child of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inherited(Vec<InheritedView>);

#[derive(Clone, Debug)]
struct InheritedView {
    of: Arc<ViewedSpace>,
    variables: Vec<(ImmutableString, Variable)>,
}

impl Inherited {
    fn into_state(self) -> State {
        let view = |InheritedView { of, variables }| {
            let seen = |(name, variable)| (name, SeenVariable::read(variable));
            (Arc::as_ptr(&of).addr(), View { of, unit: None, variables: variables.into_iter().map(seen).collect() })
        };
        State { views: self.0.into_iter().map(view).collect(), ..State::default() }
    }
}

/// The step that a read comes to.
enum Step {
    /// The value.
    Value(Dynamic),
    /// It is copied next, which takes so many bytes.
    Copy(usize),
    /// There is no such variable.
    Missing,
}

impl Views {
    /// Code that was compiled for the entry names these: of imports `alias::name`, which is looked for, and other things.
    pub(crate) fn name<'n>(&self, names: impl IntoIterator<Item = &'n ImmutableString>) {
        let mut state = lock(&self.0);
        for name in names {
            if let Some((_, name)) = name.rsplit_once("::") {
                state.named.insert(name.into());
            }
        }
    }

    /// A view is made: it has the variables that the entry's code names as they are now.
    pub(crate) fn open(&self, of: &Arc<ViewedSpace>, space: &Arc<dyn SpaceView>) {
        let mut state = lock(&self.0);
        let take = |name: &ImmutableString| Some((name.clone(), SeenVariable::read(space.variable(name)?)));
        let variables = state.named.iter().filter_map(take).collect();
        state.views.insert(Arc::as_ptr(of).addr(), View { of: Arc::clone(of), unit: None, variables });
    }

    /// A variable of a view. `afford` is asked for the bytes of a copy before one is made.
    ///
    /// # Errors
    /// When the space has ended before the variable was read, when the variable is in use, and those of `afford`.
    pub(crate) fn variable(
        &self,
        of: &Arc<ViewedSpace>,
        name: &str,
        afford: impl FnOnce(usize) -> Fallible<()>,
    ) -> Fallible<Option<Dynamic>> {
        let key = Arc::as_ptr(of).addr();
        let find = |may_copy: bool| -> Fallible<Step> {
            let mut state = lock(&self.0);
            let view = state.view(of);
            if !view.variables.contains_key(name) {
                let Some(variable) = of.space()?.variable(name) else { return Ok(Step::Missing) };
                view.variables.insert(name.into(), SeenVariable::read(variable));
            }
            let Some(seen) = view.variables.get_mut(name) else { return Ok(Step::Missing) };
            if !may_copy && let Some(bytes) = seen.copies() {
                return Ok(Step::Copy(bytes));
            }
            seen.detach()?;
            Ok(seen.shown().map_or(Step::Missing, Step::Value))
        };
        let shown = match find(false)? {
            Step::Copy(bytes) => {
                afford(bytes)?;
                find(true)?
            }
            step => step,
        };
        let Step::Value(shown) = shown else { return Ok(None) };
        Ok(Some(self.free(shown, |state| state.views.get_mut(&key)?.variables.get_mut(name))))
    }

    /// A variable that a function of another space reads, which is `variable` now.
    pub(crate) fn of_other_space(
        &self,
        space: SpaceId,
        name: &str,
        variable: Variable,
        afford: impl FnOnce(usize) -> Fallible<()>,
    ) -> Fallible<Dynamic> {
        // A captured variable is the cell that its closures share.
        if variable.value.is_shared() {
            return Ok((*variable.value).clone());
        }
        let key = (space, ImmutableString::from(name));
        let old = {
            let mut state = lock(&self.0);
            match state.read.get(&key).and_then(|seen| seen.value.as_ref()) {
                Some(value) if Arc::ptr_eq(value, &variable.value) => None,
                _ => state.read.insert(key.clone(), SeenVariable::read(variable)),
            }
        };
        drop(old);
        let copies = lock(&self.0).read.get(&key).and_then(SeenVariable::copies);
        if let Some(bytes) = copies {
            afford(bytes)?;
        }
        let shown = lock(&self.0).read.get_mut(&key).and_then(SeenVariable::shown).unwrap_or_default();
        Ok(self.free(shown, |state| state.read.get_mut(&key)))
    }

    /// The value, or another copy of it when this one is in use: Rhai panics when it looks into a cell that is.
    fn free(&self, shown: Dynamic, seen: impl Fn(&mut State) -> Option<&mut SeenVariable>) -> Dynamic {
        if !shown.is_shared() || shown.read_lock::<Dynamic>().is_some() {
            return shown;
        }
        let mut state = lock(&self.0);
        let Some(seen) = seen(&mut state) else { return shown };
        seen.cell = None;
        seen.shown().unwrap_or(shown)
    }

    /// The code that functions of a view run in.
    ///
    /// # Errors
    /// When the space has ended.
    pub(crate) fn unit(&self, of: &Arc<ViewedSpace>, units: &Arc<CodeUnits>) -> Fallible<Arc<CodeUnit>> {
        let space = of.space()?;
        let mut state = lock(&self.0);
        let unit = &mut state.view(of).unit;
        Ok(Arc::clone(unit.get_or_insert_with(|| CodeUnit::of_space(units, &space, of.name.clone()))))
    }

    /// What a child of the entry sees.
    pub(crate) fn inherited(&self) -> Inherited {
        let state = lock(&self.0);
        let variables = |view: &View| {
            let variable = |(name, seen): (&ImmutableString, &SeenVariable)| Some((name.clone(), seen.variable()?));
            view.variables.iter().filter_map(variable).collect()
        };
        let view = |view: &View| InheritedView { of: Arc::clone(&view.of), variables: variables(view) };
        Inherited(state.views.values().map(view).collect())
    }

    /// Takes the views of another entry.
    pub(crate) fn inherit(&self, inherited: Inherited) {
        let old = std::mem::replace(&mut *lock(&self.0), inherited.into_state());
        drop(old);
    }

    /// The bytes of values that no space has any more, and that are only held because the entry has seen them.
    pub(crate) fn held_alone(&self) -> usize {
        // It is asked by others, and never worth a wait.
        let Ok(state) = self.0.try_lock() else { return 0 };
        let of_views = state.views.values().flat_map(|view| {
            let space = view.of.space.upgrade();
            view.variables.iter().map(move |(name, seen)| {
                let now = space.as_ref().and_then(|space| space.variable(name));
                seen.bytes_unless(now.as_ref())
            })
        });
        of_views.sum()
    }

    /// Lets go of everything, on this thread.
    pub(super) fn clear(&self) {
        let old = std::mem::take(&mut *lock(&self.0));
        drop(old);
    }
}

impl State {
    fn view(&mut self, of: &Arc<ViewedSpace>) -> &mut View {
        let new = || View { of: Arc::clone(of), unit: None, variables: HashMap::new() };
        self.views.entry(Arc::as_ptr(of).addr()).or_insert_with(new)
    }
}

impl SeenVariable {
    /// The bytes that the next look at it copies; `None` when it copies nothing worth asking for.
    fn copies(&self) -> Option<usize> {
        let value = self.value.as_ref().filter(|_| self.cell.is_none())?;
        (value.is_shared() || value.is_array() || value.is_blob() || value.is_map()).then_some(self.size)
    }

    /// A captured variable is a cell that its closures share: a reader gets what is in it now.
    fn detach(&mut self) -> Fallible<()> {
        let Some(value) = self.value.as_ref().filter(|value| value.is_shared()) else { return Ok(()) };
        let inner = value.read_lock::<Dynamic>().map(|inner| inner.clone());
        let Some(inner) = inner else {
            return Err(EvalAltResult::ErrorDataRace(String::new(), Position::NONE).into());
        };
        self.value = Some(Arc::new(inner));
        Ok(())
    }

    /// The variable again.
    fn variable(&self) -> Option<Variable> {
        let value = Arc::clone(self.value.as_ref()?);
        Some(Variable {
            value,
            version: self.version,
            by: crate::base::EntryId(0),
            constant: false,
            bytes: self.size,
            live: self.live,
        })
    }
}
