//! `==`, `contains` and `index_of` of lists and maps: they end when the eval must, and step over values that hold themselves.

use super::basics::STRIDE;
use super::reading::offset;
use crate::base::limits::LimitHit;
use crate::engine::error::{Fallible, fail};
use crate::engine::native::Api;
use crate::engine::rhai_internals::closure_name::identity;
use crate::engine::task::context::Task;
use crate::engine::value::inspect::address;
use rhai::{Array, Dynamic, EvalAltResult, FnPtr, INT, ImmutableString, Map, NativeCallContext};
use std::sync::Arc;

pub(super) fn register(api: &mut Api) {
    type Context<'c> = NativeCallContext<'c>;
    api.function("==", &[], "", |context: Context<'_>, a: &mut Array, b: Array| Comparison::new(&context).lists(a, &b));
    api.function("!=", &[], "", |context: Context<'_>, a: &mut Array, b: Array| {
        Comparison::new(&context).lists(a, &b).map(|equal| !equal)
    });
    api.function("==", &[], "", |context: Context<'_>, a: &mut Map, b: Map| Comparison::new(&context).maps(a, &b));
    api.function("!=", &[], "", |context: Context<'_>, a: &mut Map, b: Map| {
        Comparison::new(&context).maps(a, &b).map(|equal| !equal)
    });
    api.function("==", &[], "", |a: FnPtr, b: FnPtr| identity(&a) == identity(&b));
    api.function("!=", &[], "", |a: FnPtr, b: FnPtr| identity(&a) != identity(&b));
    api.function(
        "contains",
        &["list: Array", "value: Dynamic", "bool"],
        "Whether a list has an item that equals `value`. `value in list` asks this.",
        |context: Context<'_>, list: &mut Array, value: Dynamic| -> Fallible<bool> {
            Ok(find(&context, list, &value, 0)?.is_some())
        },
    );
    api.function(
        "index_of",
        &["list: Array", "value: Dynamic", "int"],
        "The place of the first item that equals `value`, or -1.",
        |context: Context<'_>, list: &mut Array, value: Dynamic| place(find(&context, list, &value, 0)),
    );
    api.function(
        "index_of",
        &["list: Array", "value: Dynamic", "start: int", "int"],
        "The place of the first item at or after `start` that equals `value`, or -1.",
        |context: Context<'_>, list: &mut Array, value: Dynamic, start: INT| {
            place(find(&context, list, &value, offset(list.len(), start)))
        },
    );
    // Rhai would call a function that has the text as its name.
    api.function(
        "index_of",
        &["list: Array", "text: String", "int"],
        "The place of the first item that equals `text`, or -1.",
        |context: Context<'_>, list: &mut Array, text: ImmutableString| place(find(&context, list, &text.into(), 0)),
    );
    api.function(
        "index_of",
        &["list: Array", "text: String", "start: int", "int"],
        "The place of the first item at or after `start` that equals `text`, or -1.",
        |context: Context<'_>, list: &mut Array, text: ImmutableString, start: INT| {
            place(find(&context, list, &text.into(), offset(list.len(), start)))
        },
    );
}

fn place(found: Fallible<Option<usize>>) -> Fallible<INT> {
    Ok(found?.and_then(|index| INT::try_from(index).ok()).unwrap_or(-1))
}

fn find(context: &NativeCallContext<'_>, list: &[Dynamic], value: &Dynamic, start: usize) -> Fallible<Option<usize>> {
    let mut comparison = Comparison::new(context);
    for (index, item) in list.iter().enumerate().skip(start) {
        if comparison.values(item, value)? {
            return Ok(Some(index));
        }
    }
    Ok(None)
}

/// One comparison by `==`, which ends when the eval must, and steps over cycles.
pub(super) struct Comparison<'c> {
    context: &'c NativeCallContext<'c>,
    task: Arc<Task>,
    steps: usize,
    /// The pairs of cells being compared: equal as far as they are concerned.
    open: Vec<(usize, usize)>,
    depth: usize,
}

impl<'c> Comparison<'c> {
    pub(super) fn new(context: &'c NativeCallContext<'c>) -> Self {
        Self { context, task: Task::of(context), steps: 0, open: Vec::new(), depth: 0 }
    }

    fn lists(&mut self, a: &[Dynamic], b: &[Dynamic]) -> Fallible<bool> {
        if a.len() != b.len() {
            return Ok(false);
        }
        self.deeper(|this| {
            for (x, y) in a.iter().zip(b) {
                if !this.values(x, y)? {
                    return Ok(false);
                }
            }
            Ok(true)
        })
    }

    fn maps(&mut self, a: &Map, b: &Map) -> Fallible<bool> {
        if a.len() != b.len() {
            return Ok(false);
        }
        self.deeper(|this| {
            for ((key, x), (other, y)) in a.iter().zip(b) {
                if key != other || !this.values(x, y)? {
                    return Ok(false);
                }
            }
            Ok(true)
        })
    }

    fn deeper(&mut self, compare: impl FnOnce(&mut Self) -> Fallible<bool>) -> Fallible<bool> {
        self.depth += 1;
        // The stack holds far more, and values that deep cannot be kept.
        if self.depth > self.task.nesting() * 10 {
            return Err(self.task.hit(LimitHit::Nesting { limit: self.task.nesting() }));
        }
        let equal = compare(self);
        self.depth -= 1;
        equal
    }

    pub(super) fn values(&mut self, a: &Dynamic, b: &Dynamic) -> Fallible<bool> {
        self.steps += 1;
        if self.steps.is_multiple_of(STRIDE) {
            self.task.check()?;
        }
        if a.is_shared() || b.is_shared() {
            return self.cells(a, b);
        }
        if let (Some(x), Some(y)) = (a.read_lock::<Array>(), b.read_lock::<Array>()) {
            return self.lists(&x, &y);
        }
        if let (Some(x), Some(y)) = (a.read_lock::<Map>(), b.read_lock::<Map>()) {
            return self.maps(&x, &y);
        }
        if let (Some(x), Some(y)) = (a.read_lock::<FnPtr>(), b.read_lock::<FnPtr>()) {
            return Ok(identity(&x) == identity(&y));
        }
        let (mut a, mut b) = (a.clone(), b.clone());
        match self.context.call_native_fn_raw("==", true, &mut [&mut a, &mut b]) {
            Ok(equal) => Ok(equal.as_bool().unwrap_or(false)),
            // Values of different types are different; those of a type that cannot be compared are an error.
            Err(error) => match *error {
                EvalAltResult::ErrorFunctionNotFound(..) if a.type_id() != b.type_id() => Ok(false),
                _ => Err(error),
            },
        }
    }

    fn cells(&mut self, a: &Dynamic, b: &Dynamic) -> Fallible<bool> {
        let inner = |value: &Dynamic| value.read_lock::<Dynamic>().map(|inner| (address(&inner), inner.clone()));
        let outer = |value: &Dynamic| if value.is_shared() { inner(value) } else { Some((0, value.clone())) };
        let (Some((x, a)), Some((y, b))) = (outer(a), outer(b)) else {
            return Err(fail("DataRace", "a captured value is in use by another call or eval"));
        };
        if x == y && x != 0 || self.open.contains(&(x, y)) {
            return Ok(true);
        }
        self.open.push((x, y));
        let equal = self.values(&a, &b);
        self.open.pop();
        equal
    }
}
