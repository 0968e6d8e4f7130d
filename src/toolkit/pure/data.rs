//! Values of scripts as plain data: what a format writes of them.

use crate::engine::{Fallible, Task, fail, terminated, value_type};
use crate::toolkit::arguments::bad;
use crate::toolkit::limits::STRIDE;
use rhai::{Array, Blob, Dynamic, EvalAltResult, ImmutableString, Map};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use std::cell::{Cell, RefCell};

/// Writes a value of a script by a format; what the value cannot be is `BadArgument` of `call`.
///
/// # Errors
/// For functions and other values that are no plain data, for more than `levels` levels, and when the eval must end.
pub(super) fn write<T>(
    task: &Task,
    call: &'static str,
    value: &Dynamic,
    levels: usize,
    format: impl FnOnce(&Writer<'_>) -> Result<T, String>,
) -> Fallible<T> {
    let problem = RefCell::new(None);
    let parts = Cell::new(0);
    let writer = Writer { task, call, value, levels, most: levels, problem: &problem, parts: &parts };
    let written = format(&writer);
    match (problem.take(), written) {
        (Some(problem), _) => Err(problem),
        (None, Err(_)) if task.must_end() => Err(terminated()),
        (None, Err(reason)) => Err(bad(call, reason)),
        (None, Ok(written)) => Ok(written),
    }
}

/// A value of a script that a format writes.
pub(super) struct Writer<'v> {
    task: &'v Task,
    call: &'static str,
    value: &'v Dynamic,
    levels: usize,
    most: usize,
    /// The first error, which a format would only keep as a text.
    problem: &'v RefCell<Option<Box<EvalAltResult>>>,
    parts: &'v Cell<usize>,
}

impl Writer<'_> {
    fn failed<E: serde::ser::Error>(&self, problem: Box<EvalAltResult>) -> E {
        self.problem.borrow_mut().get_or_insert(problem);
        E::custom("stopped")
    }

    fn of<'w>(&'w self, value: &'w Dynamic, levels: usize) -> Writer<'w> {
        Writer { value, levels, ..*self }
    }

    fn inside<E: serde::ser::Error>(&self) -> Result<usize, E> {
        let deeper =
            || bad(self.call, format!("the value is nested deeper than {} levels, which is the limit", self.most));
        self.levels.checked_sub(1).ok_or_else(|| self.failed(deeper()))
    }
}

impl Serialize for Writer<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let value = self.value;
        self.parts.set(self.parts.get() + 1);
        if self.parts.get().is_multiple_of(STRIDE) {
            self.task.check().map_err(|stop| self.failed(stop))?;
        }
        if value.is_shared() {
            // A cell that holds itself ends at the limit of levels.
            let Some(inner) = value.read_lock::<Dynamic>() else {
                return Err(self.failed(fail("DataRace", "a captured value is in use by another call or eval")));
            };
            let levels = self.inside()?;
            return self.of(&inner, levels).serialize(to);
        }
        if let Ok(n) = value.as_int() {
            to.serialize_i64(n)
        } else if let Ok(n) = value.as_float() {
            to.serialize_f64(n)
        } else if let Ok(yes) = value.as_bool() {
            to.serialize_bool(yes)
        } else if value.is_unit() {
            to.serialize_unit()
        } else if let Ok(c) = value.as_char() {
            to.serialize_char(c)
        } else if let Some(text) = value.read_lock::<ImmutableString>() {
            to.serialize_str(&text)
        } else if let Some(items) = value.read_lock::<Array>() {
            let levels = self.inside()?;
            let mut list = to.serialize_seq(Some(items.len()))?;
            items.iter().try_for_each(|item| list.serialize_element(&self.of(item, levels)))?;
            list.end()
        } else if let Some(entries) = value.read_lock::<Map>() {
            let levels = self.inside()?;
            let mut map = to.serialize_map(Some(entries.len()))?;
            entries.iter().try_for_each(|(key, item)| map.serialize_entry(key.as_str(), &self.of(item, levels)))?;
            map.end()
        } else if let Some(blob) = value.read_lock::<Blob>() {
            to.collect_seq(blob.iter())
        } else {
            let reason = format!("a value of type {} is no plain data and cannot be written", value_type(value));
            Err(self.failed(bad(self.call, reason)))
        }
    }
}
