//! What functions read of what they are given: options, numbers, texts and blobs, each with an error that says what is wanted.

use crate::engine::{Fallible, fail, value_type};
use rhai::{Blob, Dynamic, EvalAltResult, ImmutableString, Map};

/// The number of steps a native loop takes between two questions whether to go on.
pub(super) const STRIDE: usize = 1_024;

/// An argument that cannot be used: `call` is the function as scripts write it.
pub(super) fn bad(call: &str, message: impl AsRef<str>) -> Box<EvalAltResult> {
    fail("BadArgument", format!("{call}: {}", message.as_ref()))
}

/// A count as scripts have it.
pub(super) fn count(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// A number as a float; `None` for what is no number.
#[expect(clippy::cast_precision_loss, reason = "figures are floats")]
pub(super) fn number(value: &Dynamic) -> Option<f64> {
    value.as_float().ok().or_else(|| value.as_int().ok().map(|n| n as f64))
}

/// A number of at least 0 as a count.
pub(super) fn size(call: &str, what: &str, n: i64) -> Fallible<usize> {
    usize::try_from(n).map_err(|_| bad(call, format!("{what} is 0 or more, not {n}")))
}

/// The bytes of a text or a blob, lent to `f`.
pub(super) fn with_bytes<T>(call: &str, value: &Dynamic, f: impl FnOnce(&[u8]) -> Fallible<T>) -> Fallible<T> {
    if let Some(text) = value.read_lock::<ImmutableString>() {
        return f(text.as_bytes());
    }
    if let Some(blob) = value.read_lock::<Blob>() {
        return f(&blob);
    }
    Err(bad(call, format!("wants a text or a blob, not {}", value_type(value))))
}

/// The options of a call, a map. Each is taken out once; what is left at the end is unknown.
pub(super) struct Options {
    call: &'static str,
    known: &'static [&'static str],
    map: Map,
}

impl Options {
    /// The options in `map`.
    ///
    /// # Errors
    /// `BadArgument` for an option that is not `known`, which names them all.
    pub(super) fn new(call: &'static str, map: Map, known: &'static [&'static str]) -> Fallible<Self> {
        match map.keys().find(|key| !known.contains(&key.as_str())) {
            Some(key) => Err(bad(call, format!("has no option `{key}`; its options are {}", known.join(", ")))),
            None => Ok(Self { call, known, map }),
        }
    }

    /// One of them. `()` is as left out.
    pub(super) fn take(&mut self, name: &str) -> Option<Dynamic> {
        debug_assert!(self.known.contains(&name));
        self.map.remove(name).filter(|value| !value.is_unit())
    }

    /// One that is true or false.
    pub(super) fn flag(&mut self, name: &str, unless: bool) -> Fallible<bool> {
        match self.take(name) {
            Some(value) => value.as_bool().map_err(|_| self.wrong(name, "true or false", &value)),
            None => Ok(unless),
        }
    }

    /// One that is a text.
    pub(super) fn text(&mut self, name: &str) -> Fallible<Option<ImmutableString>> {
        match self.take(name) {
            Some(value) => match value.read_lock::<ImmutableString>() {
                Some(text) => Ok(Some(text.clone())),
                None => Err(self.wrong(name, "a text", &value)),
            },
            None => Ok(None),
        }
    }

    /// The error for an option whose value is of another kind.
    pub(super) fn wrong(&self, name: &str, wanted: &str, value: &Dynamic) -> Box<EvalAltResult> {
        bad(self.call, format!("the option `{name}` is {wanted}, not {}", value_type(value)))
    }
}
