//! Portable closures: function pointers that know the code they come from, and can be called from any eval, space, session or
//! module.
//!
//! The language's own closures are a name and a hash that only resolve beside the functions they were compiled with. The pass
//! replaces each of them by a native pointer to its [`Home`]. In code that pointer is *weak* (a strong one would be a circle:
//! home, body, constant, home); publishing a value, keeping it as a result or putting it into an atom makes it *strong*.
//! Pointers to named functions are bound to their space at the same moments.

use crate::base::{SpaceId, lock};
use crate::engine::environment::Environment;
use crate::engine::error::{Fallible, terminated};
use crate::engine::rhai_internals::closure_name::{is_native_pointer, is_weak, parts_of, portable_name};
use crate::engine::rhai_internals::runtime_state::{RuntimeState, StateView, call_pointer, native_pointer, pointer_to};
use crate::engine::task::context::{Tag, Task};
use crate::engine::task::space_view::SpaceView;
use crate::engine::value::inspect::{each_pointer, is_handle};
use rhai::{Dynamic, EvalAltResult, FnPtr, ImmutableString, Module, NativeCallContext, ScriptFuncDef, Shared};
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};

/// The homes that have closures, by id: how a weak pointer is made strong.
#[derive(Debug, Default)]
pub(crate) struct Homes {
    next: AtomicU64,
    alive: Mutex<HashMap<u64, Weak<Home>>>,
}

impl Homes {
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<u64, Weak<Home>>> {
        lock(&self.alive)
    }

    /// How many pieces of code with closures are still held by someone.
    pub(crate) fn count(&self) -> usize {
        self.lock().len()
    }
}

/// One closure of a piece of code.
#[derive(Clone, Debug)]
pub(crate) struct ClosureCode {
    pointer: FnPtr,
    params: usize,
    /// The names of its parameters, captured variables first.
    names: Vec<ImmutableString>,
    /// Values of captured constants: the first arguments of every call.
    pub(crate) fixed: Vec<Dynamic>,
    /// How many captured variables a pointer carries as curried arguments.
    pub(crate) captures: usize,
}

impl ClosureCode {
    pub(crate) fn new(body: &Shared<ScriptFuncDef>) -> Self {
        Self {
            pointer: pointer_to(body.clone()),
            params: body.params.len(),
            names: body.params.to_vec(),
            fixed: Vec::new(),
            captures: 0,
        }
    }
}

/// Where closures come from: one compiled script, module, or overlay.
pub(crate) struct Home {
    id: u64,
    registry: Arc<Homes>,
    /// What errors call it: `eval 12`, `stats.rhai`.
    source: ImmutableString,
    /// The space whose functions and variables the code sees; `None` for a module.
    space: Option<(SpaceId, Weak<dyn SpaceView>)>,
    /// The environment of a module, and the last one of a space that ended.
    last: Arc<OnceLock<Environment>>,
    code: OnceLock<Code>,
}

struct Code {
    bodies: Shared<Module>,
    closures: HashMap<ImmutableString, ClosureCode>,
}

impl Home {
    /// The home of code that runs in a space.
    pub(crate) fn of_space(registry: &Arc<Homes>, space: &Arc<dyn SpaceView>, source: ImmutableString) -> Arc<Self> {
        let link = (space.id(), Arc::downgrade(space));
        Self::new(registry, Some(link), space.last_environment(), source)
    }

    /// The home of a module, whose environment will be found in `last`.
    pub(crate) fn of_module(
        registry: &Arc<Homes>,
        last: Arc<OnceLock<Environment>>,
        source: ImmutableString,
    ) -> Arc<Self> {
        Self::new(registry, None, last, source)
    }

    fn new(
        registry: &Arc<Homes>,
        space: Option<(SpaceId, Weak<dyn SpaceView>)>,
        last: Arc<OnceLock<Environment>>,
        source: ImmutableString,
    ) -> Arc<Self> {
        let id = registry.next.fetch_add(1, Ordering::Relaxed);
        Arc::new(Self { id, registry: Arc::clone(registry), source, space, last, code: OnceLock::new() })
    }

    /// What errors call the code.
    pub(crate) fn source(&self) -> &ImmutableString {
        &self.source
    }

    /// The space the code sees, when it is no module.
    pub(crate) fn space(&self) -> Option<&(SpaceId, Weak<dyn SpaceView>)> {
        self.space.as_ref()
    }

    /// Takes the closures once the pass is done.
    pub(crate) fn settle(self: &Arc<Self>, bodies: Module, closures: HashMap<ImmutableString, ClosureCode>) {
        if closures.is_empty() {
            return;
        }
        if self.code.set(Code { bodies: bodies.into(), closures }).is_ok() {
            self.registry.lock().insert(self.id, Arc::downgrade(self));
        }
    }

    /// A pointer for use inside the code itself.
    pub(crate) fn weak_pointer(home: &Arc<Self>, body: &str, captures: usize) -> Option<FnPtr> {
        let (weak, key): (_, ImmutableString) = (Arc::downgrade(home), body.into());
        let name = portable_name(false, home.id, captures, body)?;
        let own_name = name.clone();
        native_pointer(name, move |context, arguments| {
            let home = weak.upgrade().ok_or("this closure outlived the code it was written in")?;
            home.call_closure(&key, &own_name, &context, arguments)
        })
    }

    /// A pointer that keeps the code alive.
    fn strong_pointer(home: &Arc<Self>, body: &ImmutableString, captures: usize) -> Option<FnPtr> {
        home.code.get()?.closures.get(body)?;
        let (home, key) = (Arc::clone(home), body.clone());
        let name = portable_name(true, home.id, captures, body)?;
        let own_name = name.clone();
        native_pointer(name, move |context, arguments| home.call_closure(&key, &own_name, &context, arguments))
    }

    /// A pointer to a named function of the code's space or module.
    pub(crate) fn named_pointer(home: &Arc<Self>, name: &str) -> Option<FnPtr> {
        let inner = FnPtr::new(name).ok()?;
        let (home, name) = (Arc::clone(home), ImmutableString::from(name));
        native_pointer(name.clone(), move |context, arguments| {
            home.run(&inner, &name, Shape::plain(&context, arguments), &context)
        })
    }

    /// Calls a named function of the code's space or module.
    pub(crate) fn call_named(
        self: &Arc<Self>,
        name: &FnPtr,
        context: &NativeCallContext<'_>,
        arguments: Vec<Dynamic>,
    ) -> Fallible<Dynamic> {
        self.run(name, name.fn_name(), Shape { this: None, arguments }, context)
    }

    fn call_closure(
        self: &Arc<Self>,
        key: &ImmutableString,
        name: &str,
        context: &NativeCallContext<'_>,
        arguments: &mut [&mut Dynamic],
    ) -> Fallible<Dynamic> {
        let code = self.code.get().and_then(|code| code.closures.get(key)).ok_or_else(terminated)?;
        let expected = code.params - code.fixed.len();
        let mut shape = match arguments.len() {
            n if n == expected => Shape::plain(context, arguments),
            n if n == expected + 1 => Shape::method(code.captures, arguments),
            n => {
                // Callers such as `map` try again with other arguments when the text begins with the pointer's own name.
                let wanted = expected - code.captures.min(expected);
                let given = n - code.captures.min(n);
                let s = if wanted == 1 { "" } else { "s" };
                let text = format!("{name} takes {wanted} argument{s} and was given {given}");
                return Err(EvalAltResult::ErrorFunctionNotFound(text, context.call_position()).into());
            }
        };
        if !code.fixed.is_empty() {
            shape.arguments.splice(0..0, code.fixed.iter().cloned());
        }
        self.run(&code.pointer, name, shape, context)
    }

    /// Calls `inner` in the environment of this home, on behalf of the calling task.
    fn run(
        self: &Arc<Self>,
        inner: &FnPtr,
        name: &str,
        shape: Shape<'_>,
        context: &NativeCallContext<'_>,
    ) -> Fallible<Dynamic> {
        let task = Task::of(context);
        task.keep_home(self);
        let mut state = RuntimeState::of(context);
        self.enter(&mut state, &task, StateView::of(context));
        state.set_source(self.source.clone());
        state.set_tag(Tag { task, home: Some(Arc::clone(self)) }.into_value());
        let Shape { this, arguments } = shape;
        call_pointer(context.engine(), &state, name, context.call_position(), inner, this, arguments)
    }

    /// Makes code of this home see what it must see.
    fn enter(&self, state: &mut RuntimeState, task: &Task, at: StateView<'_>) {
        let bodies = self.code.get().map(|code| &code.bodies);
        let own = self.space.as_ref().is_some_and(|(id, _)| *id == task.space().id());
        let foreign = match &self.space {
            Some(_) if own => None,
            Some((_, space)) => {
                space.upgrade().and_then(|space| space.environment()).or_else(|| self.last.get().cloned())
            }
            None => self.last.get().cloned(),
        };
        if own {
            // The caller's version of the functions: a running eval keeps the one it began with.
            let environment = task.environment();
            let inside =
                at.innermost_functions().is_some_and(|functions| Shared::ptr_eq(functions, &environment.functions));
            if !inside {
                // Called by a module: its imports and constants are not ours.
                state.set_surroundings(&environment);
            }
            state.set_functions(bodies.into_iter().chain([&environment.functions]));
        } else if let Some(environment) = foreign {
            state.set_surroundings(&environment);
            state.set_functions(bodies.into_iter().chain([&environment.functions]));
        } else if let Some(bodies) = bodies {
            // A module that is still being loaded: its functions are around us already.
            state.add_functions_below(bodies);
        }
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        if self.code.get().is_some() {
            self.registry.lock().remove(&self.id);
        }
    }
}

impl fmt::Debug for Home {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Home").field("id", &self.id).field("source", &self.source).finish_non_exhaustive()
    }
}

/// The arguments of a call, sorted out. A native pointer gets `this` among its arguments.
struct Shape<'a> {
    this: Option<&'a mut Dynamic>,
    arguments: Vec<Dynamic>,
}

impl<'a> Shape<'a> {
    /// A call without `this`.
    fn plain(context: &NativeCallContext<'_>, arguments: &'a mut [&mut Dynamic]) -> Self {
        // Callers such as `map` hand the element of the list itself as the first argument: it must not be taken away.
        let owned = context.fn_name() == "call";
        let arguments = arguments
            .iter_mut()
            .enumerate()
            .map(|(index, argument)| if index == 0 && !owned { argument.clone() } else { argument.take() })
            .collect();
        Self { this: None, arguments }
    }

    /// A call with `this`: it comes first in method calls, and behind the captured cells in calls from natives.
    fn method(captures: usize, arguments: &'a mut [&mut Dynamic]) -> Self {
        let behind = captures > 0 && arguments.first().is_some_and(|first| first.is_shared() || is_handle(first));
        let place = if behind { captures } else { 0 };
        let mut this = None;
        let mut rest = Vec::with_capacity(arguments.len());
        for (index, argument) in arguments.iter_mut().enumerate() {
            if index == place { this = Some(&mut **argument) } else { rest.push(argument.take()) }
        }
        Self { this, arguments: rest }
    }
}

/// Makes every function pointer in `value` work anywhere and keep what it needs. `space` is where named functions are bound.
/// Ends early once `stop` says so.
pub(crate) fn make_portable(
    value: &mut Dynamic,
    registry: &Arc<Homes>,
    space: &Arc<dyn SpaceView>,
    source: &str,
    stop: &dyn Fn() -> bool,
) {
    let mut named_home = None;
    each_pointer(value, stop, &mut |pointer| {
        let mut changed = false;
        // A method on a cell locks it for the whole call. Atoms and entries are shared by themselves: concurrent closures
        // that captured the same one must not lock each other out.
        for captured in pointer.iter_curry_mut() {
            if let Some(handle) = held_handle(captured) {
                *captured = handle;
                changed = true;
            }
        }
        let replacement = if is_weak(pointer) {
            find(registry, pointer.fn_name())
                .and_then(|(home, body, captures)| Home::strong_pointer(&home, &body, captures))
        } else if is_native_pointer(pointer) {
            None
        } else {
            let home = named_home.get_or_insert_with(|| Home::of_space(registry, space, source.into()));
            Home::named_pointer(home, pointer.fn_name())
        };
        if let Some(mut replacement) = replacement {
            replacement.set_curry(pointer.curry().to_vec());
            *pointer = replacement;
            changed = true;
        }
        changed
    });
}

/// The parameters of a closure as they were written: without those that captured variables and curried arguments fill.
/// `None` for pointers to named functions, and when the code is gone.
pub(crate) fn parameter_names(registry: &Homes, pointer: &FnPtr) -> Option<Vec<String>> {
    let (home, body, _) = find(registry, pointer.fn_name())?;
    let closure = home.code.get()?.closures.get(&body)?;
    let filled = closure.fixed.len() + pointer.curry().len();
    Some(closure.names.iter().skip(filled).map(ToString::to_string).collect())
}

/// The atom or entry in a captured cell.
fn held_handle(captured: &Dynamic) -> Option<Dynamic> {
    let inner = captured.is_shared().then(|| captured.read_lock::<Dynamic>()).flatten()?;
    is_handle(&inner).then(|| inner.clone())
}

/// How many arguments a closure of ours still takes; `None` for any other pointer.
pub(crate) fn parameter_count(registry: &Homes, pointer: &FnPtr) -> Option<usize> {
    let (home, body, _) = find(registry, pointer.fn_name())?;
    let code = home.code.get()?.closures.get(&body)?;
    code.params.checked_sub(code.fixed.len() + pointer.curry().len())
}

/// Calls a closure of ours with `this` by reference. The language would hand a copy to one that captured something.
pub(crate) fn call_on(
    context: &NativeCallContext<'_>,
    pointer: &FnPtr,
    this: &mut Dynamic,
    arguments: Vec<Dynamic>,
) -> Fallible<Dynamic> {
    let mut bare = pointer.clone();
    bare.set_curry([]);
    let arguments: Vec<Dynamic> = pointer.iter_curry().cloned().chain(arguments).collect();
    bare.call_raw(context, Some(this), arguments)
}

/// The closure that a pointer's name stands for.
fn find(registry: &Homes, name: &str) -> Option<(Arc<Home>, ImmutableString, usize)> {
    let (id, captures, body) = parts_of(name)?;
    let home = registry.lock().get(&id)?.upgrade()?;
    Some((home, body, captures))
}
