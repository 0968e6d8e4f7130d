//! [`Callback`]: a script's function that a native function calls for items. A portable closure cannot tell `this` from an
//! argument by how many there are, so here its own number of parameters decides.

use crate::engine::error::{Fallible, fail};
use crate::engine::rhai_internals::closure_name::names_closure;
use crate::engine::run::closures::{call_on, parameter_counts, without_this, wrong_count};
use crate::engine::signature::value_type;
use crate::engine::task::context::Task;
use crate::engine::value::text::brief;
use rhai::{Dynamic, EvalAltResult, FnPtr, INT, NativeCallContext, Position};
use std::sync::Arc;

/// A function of a script that the native function `name` calls.
pub(super) struct Callback<'c> {
    name: &'static str,
    context: &'c NativeCallContext<'c>,
    task: Arc<Task>,
    f: FnPtr,
    /// The numbers of arguments it takes; empty for native functions, of which only a call tells.
    takes: Vec<usize>,
    /// Whether items are handed over as copies that cannot be changed.
    read_only: bool,
}

impl<'c> Callback<'c> {
    pub(super) fn new(name: &'static str, context: &'c NativeCallContext<'c>, f: FnPtr) -> Self {
        let takes = parameter_counts(context, &f);
        Self { name, context, task: Task::of(context), f, takes, read_only: false }
    }

    /// The same for items of a constant: a function that changes `this` is an error then.
    pub(super) fn on_constant(mut self, constant: bool) -> Self {
        self.read_only = constant;
        self
    }

    pub(super) fn task(&self) -> &Task {
        &self.task
    }

    /// The first of these numbers of arguments that the function takes, or the last of them; `None` when only a call tells.
    pub(super) fn takes<const N: usize>(&self, counts: [usize; N]) -> Option<usize> {
        if self.takes.is_empty() {
            return None;
        }
        counts.into_iter().find(|count| self.takes.contains(count)).or(counts.last().copied())
    }

    /// Calls `f(item)` or `f(item, index)`, or `f()` with the item as `this`.
    pub(super) fn item(&self, item: &mut Dynamic, index: usize) -> Fallible<Dynamic> {
        self.on(item, |item| match self.takes([0, 1, 2]) {
            Some(0) => self.with_this(item, Vec::new()),
            Some(1) => self.in_call(self.plain([item.clone()])),
            Some(_) => self.in_call(self.plain([item.clone(), place(index)])),
            None => self.tried(Some(item), [], [place(index)], Some(0)),
        })
    }

    /// Calls `f()` or `f(index)` with the item as `this`.
    pub(super) fn this(&self, item: &mut Dynamic, index: usize) -> Fallible<Dynamic> {
        self.on(item, |item| match self.takes([0, 1]) {
            Some(0) => self.with_this(item, Vec::new()),
            Some(_) if self.takes.contains(&1) => self.with_this(item, vec![place(index)]),
            Some(_) => self.in_call(self.plain([place(index)])),
            None => self.tried(Some(item), [], [place(index)], None),
        })
    }

    /// Calls `f(result, item)` or `f(result, item, index)`, or `f(result)` with the item as `this`.
    pub(super) fn fold(&self, result: Dynamic, item: &mut Dynamic, index: usize) -> Fallible<Dynamic> {
        self.on(item, |item| match self.takes([1, 2, 3]) {
            Some(1) => self.with_this(item, vec![result]),
            Some(2) => self.in_call(self.plain([result, item.clone()])),
            Some(_) => self.in_call(self.plain([result, item.clone(), place(index)])),
            None => self.tried(Some(item), [result], [place(index)], Some(1)),
        })
    }

    /// Calls `f(key, value)`, or `f(key)` or `f()` with the value as `this`.
    pub(super) fn entry(&self, key: &str, value: &mut Dynamic) -> Fallible<Dynamic> {
        let key = Dynamic::from(key.to_owned());
        self.on(value, |value| match self.takes([0, 1, 2]) {
            Some(0) => self.with_this(value, Vec::new()),
            Some(1) => self.with_this(value, vec![key]),
            Some(_) => self.in_call(self.plain([key, value.clone()])),
            None => self.tried(Some(value), [key], [], Some(1)),
        })
    }

    /// Calls `f(a, b)` or `f(a, b, index)`.
    pub(super) fn pair(&self, a: Dynamic, b: Dynamic, index: usize) -> Fallible<Dynamic> {
        self.task.check()?;
        match self.takes([2, 3, 2]) {
            Some(3) => self.in_call(self.plain([a, b, place(index)])),
            Some(_) => self.in_call(self.plain([a, b])),
            None => self.tried(None, [a, b], [place(index)], None),
        }
    }

    /// Calls it with these arguments and no others, as itself rather than on behalf of the native function.
    pub(super) fn plain<const N: usize>(&self, arguments: [Dynamic; N]) -> Fallible<Dynamic> {
        self.task.check()?;
        match self.takes[..] {
            [taken] if taken != N && names_closure(self.f.fn_name()) => {
                Err(wrong_count(self.context, self.f.fn_name(), taken, N))
            }
            [_, ..] if !self.takes.contains(&N) => Err(self.missing(&arguments)),
            _ => {
                without_this(&self.f);
                self.f.call_raw(self.context, None, arguments)
            }
        }
    }

    /// Whether the function says yes. No value means no, as after an `if` without `else`; anything else is an error.
    pub(super) fn says_yes(&self, given: &Dynamic) -> Fallible<bool> {
        match given.as_bool() {
            Ok(yes) => Ok(yes),
            Err(_) if given.is_unit() => Ok(false),
            Err(_) => {
                let shown = shown(given);
                Err(fail(
                    "BadArgument",
                    format!("{}: the function gave {shown}; it must give true or false", self.name),
                ))
            }
        }
    }

    /// Hands an item over, or a copy that cannot be changed.
    fn on(&self, item: &mut Dynamic, call: impl FnOnce(&mut Dynamic) -> Fallible<Dynamic>) -> Fallible<Dynamic> {
        self.task.check()?;
        if self.read_only { call(&mut item.clone().into_read_only()) } else { call(item) }
    }

    fn with_this(&self, this: &mut Dynamic, arguments: Vec<Dynamic>) -> Fallible<Dynamic> {
        self.in_call(call_on(self.context, &self.f, this, arguments))
    }

    /// Tries one number of arguments after the other, as Rhai does.
    fn tried<const N: usize, const E: usize>(
        &self,
        this: Option<&mut Dynamic>,
        arguments: [Dynamic; N],
        extras: [Dynamic; E],
        this_as: Option<usize>,
    ) -> Fallible<Dynamic> {
        self.f.call_raw_with_extra_args(self.name, self.context, this, arguments, extras, this_as)
    }

    /// The error for a function by name of which none takes as many arguments.
    fn missing(&self, arguments: &[Dynamic]) -> Box<EvalAltResult> {
        let engine = self.context.engine();
        let types: Vec<_> = arguments.iter().map(|argument| engine.map_type_name(argument.type_name())).collect();
        let signature = format!("{} ({})", self.f.fn_name(), types.join(", "));
        EvalAltResult::ErrorFunctionNotFound(signature, self.context.call_position()).into()
    }

    /// An error of the function happened inside the native one.
    fn in_call(&self, result: Fallible<Dynamic>) -> Fallible<Dynamic> {
        result.map_err(|error| {
            let source = self.context.call_source().unwrap_or_default().to_owned();
            EvalAltResult::ErrorInFunctionCall(self.name.to_owned(), source, error, Position::NONE).into()
        })
    }
}

fn place(index: usize) -> Dynamic {
    Dynamic::from(INT::try_from(index).unwrap_or(INT::MAX))
}

/// A value with its type, for a message that says what was given.
pub(super) fn shown(value: &Dynamic) -> String {
    if value.is_unit() { "()".to_owned() } else { format!("{} ({})", brief(value, 60), value_type(value)) }
}
