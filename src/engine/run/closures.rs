//! Portable closures: function pointers that know the code they come from, and can be called from any eval, space, session or
//! module.
//!
//! Rhai's own closures are a name and a hash that only resolve beside the functions they were compiled with. Rewriting replaces
//! each of them by a native pointer to its [`CodeUnit`]. In code that pointer is *weak* (a strong one would be a circle: unit,
//! body, constant, unit); committing a value, keeping it as a result or putting it into an atom makes it *strong*. Pointers to
//! named functions are bound to their space at the same moments.

use crate::base::limits::LimitHit;
use crate::engine::environment::{Environment, KeepAlive};
use crate::engine::error::{Fallible, terminated};
use crate::engine::rhai_internals::calls::Natives;
use crate::engine::rhai_internals::closure_name::{is_native_pointer, is_weak, portable_name};
use crate::engine::rhai_internals::function_body::{FunctionDef, names_this};
use crate::engine::rhai_internals::markers::NestingCheck;
use crate::engine::rhai_internals::rewrite::{Kind, Rewritten, RewrittenFunction, rewrite};
use crate::engine::rhai_internals::runtime_state::{
    RuntimeState, StateView, call_pointer, native_pointer, script_functions,
};
use crate::engine::rhai_internals::walk::{Closures, Use};
use crate::engine::task::code_unit::{ClosureCode, CodeUnit};
use crate::engine::task::context::{Tag, Task};
use crate::engine::task::space_view::Definition;
use crate::engine::value::inspect::{Measure, each_pointer, empty_deep_cells, is_handle, measure};
use rhai::{AST, Array, Dynamic, EvalAltResult, FnPtr, INT, ImmutableString, Map, NativeCallContext, Shared};
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

/// A compiled script that is ready to run: rewritten, with its closures in their code unit.
#[derive(Debug)]
pub(super) struct Prepared {
    /// The top level and what is known of it.
    pub(super) script: Rewritten,
    /// The functions it defines.
    pub(super) definitions: Vec<Definition>,
}

/// Rewrites a compiled script whose closures belong to `unit`.
pub(super) fn prepare(
    ast: &AST,
    unit: &Arc<CodeUnit>,
    natives: &dyn Natives,
    kind: Kind<'_>,
    check: &NestingCheck,
) -> Prepared {
    let mut found = Found { unit, closures: HashMap::new(), names: HashMap::new() };
    let mut script = rewrite(ast, &mut found, natives, kind, check);
    let definitions = std::mem::take(&mut script.functions)
        .into_iter()
        .map(|RewrittenFunction { function, reading, imports, has_closures }| {
            let code = has_closures.then(|| Arc::clone(unit) as KeepAlive);
            Definition { function, reading, imports, _code: code }
        })
        .collect();
    unit.name_uses(found.names.into_iter().map(|((_, what), name)| (name, what)));
    unit.settle(std::mem::take(&mut script.bodies), found.closures);
    Prepared { script, definitions }
}

/// The closures of a code unit while it is rewritten.
struct Found<'u> {
    unit: &'u Arc<CodeUnit>,
    /// By the name of their body.
    closures: HashMap<ImmutableString, ClosureCode>,
    /// The names of captured variables for places that write them.
    names: HashMap<(ImmutableString, Use), ImmutableString>,
}

impl Closures for Found<'_> {
    fn source(&self) -> &str {
        self.unit.source()
    }

    fn found(&mut self, body: &Shared<FunctionDef>) {
        self.closures.insert(body.name.clone(), ClosureCode::new(body));
    }

    fn name_for(&mut self, name: &ImmutableString, what: Use) -> ImmutableString {
        // A text of its own, not one more reference to the same.
        let own = || ImmutableString::from(name.as_str());
        self.names.entry((name.clone(), what)).or_insert_with(own).clone()
    }

    fn make_portable(&mut self, constant: &mut Dynamic, captures: usize) -> usize {
        let mut changed = 0;
        each_pointer(constant, &|| false, &mut |pointer: &mut FnPtr| {
            let Some(code) = self.closures.get_mut(pointer.fn_name()) else { return false };
            // Captured constants were curried when the script was compiled.
            code.fixed = pointer.curry().to_vec();
            code.captures = captures;
            if let Some(portable) = CodeUnit::weak_pointer(self.unit, pointer.fn_name(), captures) {
                *pointer = portable;
                changed += 1;
            }
            true
        });
        changed
    }
}

impl CodeUnit {
    /// A pointer for use inside the code itself.
    fn weak_pointer(unit: &Arc<Self>, body: &str, captures: usize) -> Option<FnPtr> {
        let (weak, key): (_, ImmutableString) = (Arc::downgrade(unit), body.into());
        let name = portable_name(false, unit.id(), captures, body)?;
        let own_name = name.clone();
        native_pointer(name, move |context, arguments| {
            let unit = weak.upgrade().ok_or("this closure outlived the code it was written in")?;
            unit.call_closure(&key, &own_name, &context, arguments)
        })
    }

    /// A pointer that keeps the code alive.
    fn strong_pointer(unit: &Arc<Self>, body: &ImmutableString, captures: usize) -> Option<FnPtr> {
        unit.closure(body)?;
        let (unit, key) = (Arc::clone(unit), body.clone());
        let name = portable_name(true, unit.id(), captures, body)?;
        let own_name = name.clone();
        native_pointer(name, move |context, arguments| unit.call_closure(&key, &own_name, &context, arguments))
    }

    /// A pointer to a named function of the code's space or module.
    pub(super) fn named_pointer(unit: &Arc<Self>, name: &str) -> Option<FnPtr> {
        let inner = FnPtr::new(name).ok()?;
        let (unit, name) = (Arc::clone(unit), ImmutableString::from(name));
        native_pointer(name.clone(), move |context, arguments| {
            if let [only] = arguments
                && only.is::<Question>()
            {
                return Ok(unit.parameter_counts(&name, &Task::of(&context)));
            }
            let task = Task::of(&context);
            let is_call = context.fn_name() == "call";
            let of_map = is_method_of_map(0, &name, &context, arguments);
            let shape = match of_map || unit.takes_this(&name, arguments.len(), is_call, &task) {
                true => Shape::method(0, arguments),
                false => Shape::plain(arguments),
            };
            unit.run(&inner, &name, shape, task, &context)
        })
    }

    /// The numbers of parameters of the functions of this name that the code sees.
    fn parameter_counts(&self, name: &str, task: &Task) -> Dynamic {
        let environment = self.environment(task).unwrap_or_else(|| task.state().environment());
        counts(&environment, name).map(Dynamic::from).collect::<Array>().into()
    }

    /// Whether the first of so many arguments is `this` for a function of this name. In a `call` it may be an argument too many
    /// as well: there only a function that looks at `this` takes it so.
    fn takes_this(&self, name: &str, count: usize, is_call: bool, task: &Task) -> bool {
        let environment = self.environment(task).unwrap_or_else(|| task.state().environment());
        let named = || script_functions(&environment.functions).filter(|function| function.name == name);
        let takes = |count: usize| move |function: &&Shared<FunctionDef>| function.params.len() == count;
        let Some(others) = count.checked_sub(1) else { return false };
        !named().any(|function| takes(count)(&function))
            && named().find(takes(others)).is_some_and(|function| !is_call || names_this(function))
    }

    /// The functions, imports and constants that the code sees; `None` while it is being loaded.
    fn environment(&self, task: &Task) -> Option<Environment> {
        match self.space() {
            // The caller's version of the functions: a running eval keeps the one it began with.
            Some((id, _)) if *id == task.space().id() => Some(task.state().environment()),
            Some((_, space)) => {
                space.upgrade().and_then(|space| space.environment()).or_else(|| self.last_environment().cloned())
            }
            None => self.last_environment().cloned(),
        }
    }

    /// Calls a named function of the code's space or module.
    pub(super) fn call_named(
        self: &Arc<Self>,
        name: &FnPtr,
        context: &NativeCallContext<'_>,
        arguments: Vec<Dynamic>,
    ) -> Fallible<Dynamic> {
        self.run(name, name.fn_name(), Shape { this: None, arguments }, Task::of(context), context)
    }

    fn call_closure(
        self: &Arc<Self>,
        key: &ImmutableString,
        name: &str,
        context: &NativeCallContext<'_>,
        arguments: &mut [&mut Dynamic],
    ) -> Fallible<Dynamic> {
        let code = self.closure(key).ok_or_else(terminated)?;
        let task = Task::of(context);
        if code.captures > 0 {
            arguments.iter().for_each(|argument| task.holds(argument));
        }
        let expected = code.names.len() - code.fixed.len();
        let of_map = is_method_of_map(code.captures, name, context, arguments);
        let mut shape = match arguments.len() {
            n if n == expected && !of_map => Shape::plain(arguments),
            // In `f.call(1, 2)` nothing is handed over as `this`, and in `x.call(f, 2)` the variable is. Which of them it is cannot be
            // told here: a closure that does not look at `this` was given an argument too many.
            n if n == expected + 1 && (code.uses_this || context.fn_name() != "call") => {
                Shape::method(code.captures, arguments)
            }
            n => {
                let wanted = expected - code.captures.min(expected);
                let given = n - code.captures.min(n) - usize::from(of_map);
                return Err(wrong_count(context, name, wanted, given));
            }
        };
        if !code.fixed.is_empty() {
            shape.arguments.splice(0..0, code.fixed.iter().cloned());
        }
        self.run(&code.pointer, name, shape, task, context)
    }

    /// Calls `inner` in the environment of this unit, on behalf of the calling task.
    fn run(
        self: &Arc<Self>,
        inner: &FnPtr,
        name: &str,
        shape: Shape<'_>,
        task: Arc<Task>,
        context: &NativeCallContext<'_>,
    ) -> Fallible<Dynamic> {
        task.called_units().keep(self);
        let mut state = RuntimeState::of(context);
        self.enter(&mut state, &task, StateView::of(context));
        state.set_source(self.source().clone());
        state.set_tag(Tag { task, unit: Some(Arc::clone(self)) }.into_value());
        let Shape { this, arguments } = shape;
        call_pointer(context.engine(), &state, name, context.call_position(), inner, this, arguments)
    }

    /// Makes code of this unit see what it must see.
    fn enter(&self, state: &mut RuntimeState, task: &Task, at: StateView<'_>) {
        let bodies = self.bodies();
        if let Some(environment) = self.environment(task) {
            let inside =
                at.innermost_functions().is_some_and(|functions| Shared::ptr_eq(functions, &environment.functions));
            if !inside {
                // Called by other code, whose imports and constants are not ours.
                state.set_surroundings(&environment);
            }
            state.set_functions(bodies.into_iter().chain([&environment.functions]));
        } else if let Some(bodies) = bodies {
            // A module that is still being loaded: its functions are around us already.
            state.add_functions_below(bodies);
        }
    }
}

thread_local! {
    /// Whether the function that is called next is given arguments alone.
    static WITHOUT_THIS: Cell<bool> = const { Cell::new(false) };
}

/// Says that this function, which is called next, is given arguments alone, although the first may be a map that it is in.
pub(super) fn without_this(pointer: &FnPtr) {
    WITHOUT_THIS.set(is_native_pointer(pointer));
}

/// Whether a pointer of this name is called as a method of the map that holds it, as in `m.f(1)`. The map comes first then, before
/// what was captured, and is `this` however many arguments there are.
fn is_method_of_map(captures: usize, name: &str, context: &NativeCallContext<'_>, arguments: &[&mut Dynamic]) -> bool {
    if WITHOUT_THIS.take() || context.fn_name() == "call" {
        return false;
    }
    let Some(first) = arguments.first() else { return false };
    // A captured variable comes first in a call without `this`, and may hold the closure as well.
    if captures > 0 && first.is_shared() {
        return false;
    }
    let holds = |map: &Map| {
        map.values().any(|value| value.read_lock::<FnPtr>().is_some_and(|pointer| pointer.fn_name() == name))
    };
    first.read_lock::<Map>().is_some_and(|map| holds(&map))
}

/// Asks a pointer to a named function, as its only argument, for the numbers of parameters of the functions of that name.
#[derive(Clone)]
struct Question;

/// The numbers of parameters of the script functions of this name.
fn counts(environment: &Environment, name: &str) -> impl Iterator<Item = INT> {
    let functions = script_functions(&environment.functions).filter(move |function| function.name == name);
    functions.map(|function| INT::try_from(function.params.len()).unwrap_or(INT::MAX))
}

/// The numbers of arguments that the function or the functions behind a pointer still take. Empty when only a call tells, as for
/// native functions.
pub(super) fn parameter_counts(context: &NativeCallContext<'_>, pointer: &FnPtr) -> Vec<usize> {
    let task = Task::of(context);
    if let Some(count) = task.runtime().code_units().parameter_count(pointer) {
        return vec![count];
    }
    let mut found: Vec<INT> = Vec::new();
    if is_native_pointer(pointer) {
        let mut bare = pointer.clone();
        bare.set_curry([]);
        let answer = bare.call_raw(context, None, [Dynamic::from(Question)]).unwrap_or_default();
        found.extend(answer.as_array_ref().iter().flat_map(|counts| counts.iter()).filter_map(|n| n.as_int().ok()));
    } else {
        found.extend(counts(&task.state().environment(), pointer.fn_name()));
    }
    let curried = pointer.curry().len();
    found.into_iter().filter_map(|count| usize::try_from(count).ok()?.checked_sub(curried)).collect()
}

/// The arguments of a call, sorted out. A native pointer gets `this` among its arguments.
struct Shape<'a> {
    this: Option<&'a mut Dynamic>,
    arguments: Vec<Dynamic>,
}

impl<'a> Shape<'a> {
    /// A call without `this`. The first argument may be an item of a list, or the variable of a method call: it is not taken away.
    fn plain(arguments: &mut [&mut Dynamic]) -> Self {
        let taken = |(index, argument): (usize, &mut &mut Dynamic)| {
            if index == 0 { argument.clone() } else { argument.take() }
        };
        Self { this: None, arguments: arguments.iter_mut().enumerate().map(taken).collect() }
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

/// Makes every function pointer in `value` work anywhere and keep what it needs; named functions are bound to the task's space.
/// Ends early once the task must end.
pub(super) fn make_portable(task: &Task, value: &mut Dynamic) {
    let units = task.runtime().code_units();
    let mut of_space = None;
    each_pointer(value, &|| task.must_end(), &mut |pointer| {
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
            units
                .find(pointer.fn_name())
                .and_then(|(unit, body, captures)| CodeUnit::strong_pointer(&unit, &body, captures))
        } else if is_native_pointer(pointer) {
            None
        } else {
            let unit = of_space.get_or_insert_with(|| CodeUnit::of_space(units, task.space(), task.source().into()));
            CodeUnit::named_pointer(unit, pointer.fn_name())
        };
        if let Some(mut replacement) = replacement {
            replacement.set_curry(pointer.curry().to_vec());
            *pointer = replacement;
            changed = true;
        }
        changed
    });
}

/// Makes a value fit to outlive the eval: closures strong, nesting bounded, the process willing to keep it.
///
/// # Errors
/// Ends the entry when a limit forbids to keep the value.
pub(super) fn keep(task: &Task, value: &mut Dynamic) -> Fallible<Measure> {
    let found = measure(value, task.nesting());
    if found.too_deep {
        empty_deep_cells(value, task.nesting());
        return Err(task.hit(LimitHit::Nesting { limit: task.nesting() }));
    }
    // What is in atoms was charged when it was put there.
    task.charge(found.bytes - found.in_atoms)?;
    if found.bound {
        make_portable(task, value);
    }
    task.retained().keep_entries(found.entries.iter().copied());
    task.shares(&found.cells);
    Ok(found)
}

/// The atom or entry in a captured cell.
fn held_handle(captured: &Dynamic) -> Option<Dynamic> {
    let inner = captured.is_shared().then(|| captured.read_lock::<Dynamic>()).flatten()?;
    is_handle(&inner).then(|| inner.clone())
}

/// The error for a closure that was given another number of arguments than it takes. Functions such as `map` of Rhai try again
/// with other arguments when the text begins with the pointer's own name.
pub(super) fn wrong_count(
    context: &NativeCallContext<'_>,
    name: &str,
    wanted: usize,
    given: usize,
) -> Box<EvalAltResult> {
    let s = if wanted == 1 { "" } else { "s" };
    let text = format!("{name} takes {wanted} argument{s} and was given {given}");
    EvalAltResult::ErrorFunctionNotFound(text, context.call_position()).into()
}

/// Calls a closure of ours with `this` by reference. Rhai would hand a copy to one that captured something.
pub(super) fn call_on(
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
