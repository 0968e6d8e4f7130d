//! [`Callback`]: a script's function that a native function calls for items. A portable closure cannot tell `this` from an
//! argument by how many there are, so here its own number of parameters decides.

use crate::engine::error::{Fallible, fail};
use crate::engine::run::closures::{call_on, wrong_count};
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
    /// The number of parameters of a closure; unknown for functions by name.
    taken: Option<usize>,
    /// Whether items are handed over as copies that cannot be changed.
    read_only: bool,
}

impl<'c> Callback<'c> {
    pub(super) fn new(name: &'static str, context: &'c NativeCallContext<'c>, f: FnPtr) -> Self {
        let task = Task::of(context);
        let taken = task.runtime().code_units().parameter_count(&f);
        Self { name, context, task, f, taken, read_only: false }
    }

    /// The same for items of a constant: a function that changes `this` is an error then.
    pub(super) fn on_constant(mut self, constant: bool) -> Self {
        self.read_only = constant;
        self
    }

    pub(super) fn task(&self) -> &Task {
        &self.task
    }

    /// The number of parameters of a closure; unknown for functions by name.
    pub(super) fn taken(&self) -> Option<usize> {
        self.taken
    }

    /// Calls `f(item)` or `f(item, index)`, or `f()` with the item as `this`.
    pub(super) fn item(&self, item: &mut Dynamic, index: usize) -> Fallible<Dynamic> {
        if self.read_only {
            return self.on_item(&mut item.clone().into_read_only(), index);
        }
        self.on_item(item, index)
    }

    fn on_item(&self, item: &mut Dynamic, index: usize) -> Fallible<Dynamic> {
        self.task.check()?;
        let index = place(index);
        match self.taken {
            Some(0) => self.in_call(call_on(self.context, &self.f, item, Vec::new())),
            Some(1) => self.in_call(self.f.call_raw(self.context, None, [item.clone()])),
            Some(_) => self.exact([item.clone(), index]),
            None => self.f.call_raw_with_extra_args(self.name, self.context, Some(item), [], [index], Some(0)),
        }
    }

    /// Calls `f()` or `f(index)` with the item as `this`.
    pub(super) fn this(&self, item: &mut Dynamic, index: usize) -> Fallible<Dynamic> {
        if self.read_only {
            return self.on_this(&mut item.clone().into_read_only(), index);
        }
        self.on_this(item, index)
    }

    fn on_this(&self, item: &mut Dynamic, index: usize) -> Fallible<Dynamic> {
        self.task.check()?;
        let index = place(index);
        match self.taken {
            Some(0) => self.in_call(call_on(self.context, &self.f, item, Vec::new())),
            Some(1) => self.in_call(call_on(self.context, &self.f, item, vec![index])),
            Some(_) => self.exact([index]),
            None => self.f.call_raw_with_extra_args(self.name, self.context, Some(item), [], [index], None),
        }
    }

    /// Calls `f(result, item)` or `f(result, item, index)`, or `f(result)` with the item as `this`.
    pub(super) fn fold(&self, result: Dynamic, item: &mut Dynamic, index: usize) -> Fallible<Dynamic> {
        if self.read_only {
            return self.on_fold(result, &mut item.clone().into_read_only(), index);
        }
        self.on_fold(result, item, index)
    }

    fn on_fold(&self, result: Dynamic, item: &mut Dynamic, index: usize) -> Fallible<Dynamic> {
        self.task.check()?;
        let index = place(index);
        match self.taken {
            Some(1) => self.in_call(call_on(self.context, &self.f, item, vec![result])),
            Some(2) => self.exact([result, item.clone()]),
            Some(_) => self.exact([result, item.clone(), index]),
            None => {
                let (f, name) = (&self.f, self.name);
                f.call_raw_with_extra_args(name, self.context, Some(item), [result], [index], Some(1))
            }
        }
    }

    /// Calls `f(key, value)`, `f(key)` with the value as `this`, or `f()` likewise.
    pub(super) fn entry(&self, key: &str, value: &mut Dynamic) -> Fallible<Dynamic> {
        if self.read_only {
            return self.on_entry(key, &mut value.clone().into_read_only());
        }
        self.on_entry(key, value)
    }

    fn on_entry(&self, key: &str, value: &mut Dynamic) -> Fallible<Dynamic> {
        self.task.check()?;
        let key = Dynamic::from(key.to_owned());
        match self.taken {
            Some(0) => self.in_call(call_on(self.context, &self.f, value, Vec::new())),
            Some(1) => self.in_call(call_on(self.context, &self.f, value, vec![key])),
            Some(_) => self.exact([key, value.clone()]),
            None => self.f.call_raw_with_extra_args(self.name, self.context, Some(value), [key], [], Some(1)),
        }
    }

    /// Calls `f(a, b)` or `f(a, b, index)`.
    pub(super) fn pair(&self, a: Dynamic, b: Dynamic, index: usize) -> Fallible<Dynamic> {
        self.task.check()?;
        match self.taken {
            Some(3) => self.exact([a, b, place(index)]),
            Some(_) => self.exact([a, b]),
            None => {
                let (f, name) = (&self.f, self.name);
                f.call_raw_with_extra_args(name, self.context, None, [a, b], [place(index)], None)
            }
        }
    }

    /// Calls it with these arguments and no others, as itself rather than on behalf of the native function.
    pub(super) fn plain<const N: usize>(&self, arguments: [Dynamic; N]) -> Fallible<Dynamic> {
        self.task.check()?;
        match self.taken {
            Some(taken) if taken != N => Err(wrong_count(self.context, self.f.fn_name(), taken, N)),
            _ => self.f.call_raw(self.context, None, arguments),
        }
    }

    fn exact<const N: usize>(&self, arguments: [Dynamic; N]) -> Fallible<Dynamic> {
        self.in_call(self.plain(arguments))
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
    let name = match value.type_name() {
        _ if value.is_unit() => return "()".to_owned(),
        "i64" => "int",
        "f64" => "float",
        name => name,
    };
    format!("{} ({name})", brief(value, 60))
}
