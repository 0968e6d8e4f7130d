//! Arguments of the functions: options as a map, numbers of either kind, and the errors for what does not fit.

use crate::base::LibraryError;
use crate::engine::{Fallible, fail, value_type};
use rhai::{Dynamic, EvalAltResult, INT, ImmutableString, Map};
use std::ops::RangeInclusive;

/// An error as scripts catch it.
pub(super) fn raise(error: &LibraryError) -> Box<EvalAltResult> {
    fail(error.kind(), error.to_string())
}

/// The error for an argument of `call`.
pub(super) fn bad(call: &'static str, reason: impl Into<String>) -> Box<EvalAltResult> {
    raise(&LibraryError::BadArgument { call, reason: reason.into() })
}

/// A number of either kind; `None` for anything else.
#[expect(clippy::cast_precision_loss, reason = "a float is what is asked for")]
pub(super) fn as_number(value: &Dynamic) -> Option<f64> {
    value.as_float().ok().or_else(|| value.as_int().ok().map(|n| n as f64))
}

/// A number of either kind, as a float.
pub(super) fn number(call: &'static str, what: &str, value: &Dynamic) -> Fallible<f64> {
    as_number(value).ok_or_else(|| bad(call, format!("{what} is a number, not {}", value_type(value))))
}

/// A whole number within bounds.
pub(super) fn within(call: &'static str, what: &str, given: INT, bounds: RangeInclusive<INT>) -> Fallible<usize> {
    match usize::try_from(given) {
        Ok(n) if bounds.contains(&given) => Ok(n),
        _ => Err(bad(call, format!("{what} is {} to {}, not {given}", bounds.start(), bounds.end()))),
    }
}

/// A length as scripts have it.
pub(super) fn int(n: usize) -> INT {
    INT::try_from(n).unwrap_or(INT::MAX)
}

/// The options of a call: a map as its last argument.
#[derive(Clone, Copy, Debug)]
pub(super) struct Options<'m> {
    call: &'static str,
    map: Option<&'m Map>,
}

impl<'m> Options<'m> {
    /// Those of `call`, which knows these names.
    pub(super) fn new(call: &'static str, map: &'m Map, known: &[&str]) -> Fallible<Self> {
        match map.keys().find(|key| !known.contains(&key.as_str())) {
            Some(key) => {
                Err(bad(call, format!("there is no option `{key:.80}`; its options are: {}", known.join(", "))))
            }
            None => Ok(Self { call, map: Some(map) }),
        }
    }

    /// None given.
    pub(super) fn none(call: &'static str) -> Self {
        Self { call, map: None }
    }

    /// The value of an option; `()` counts as none.
    pub(super) fn get(&self, name: &str) -> Option<&'m Dynamic> {
        self.map?.get(name).filter(|value| !value.is_unit())
    }

    /// An option that is true or false.
    pub(super) fn flag(&self, name: &str, otherwise: bool) -> Fallible<bool> {
        let Some(value) = self.get(name) else { return Ok(otherwise) };
        value.as_bool().map_err(|_| self.is_not(name, "true or false", value))
    }

    /// An option that is a text.
    pub(super) fn text(&self, name: &str) -> Fallible<Option<ImmutableString>> {
        let Some(value) = self.get(name) else { return Ok(None) };
        value.as_immutable_string_ref().map(|text| Some(text.clone())).map_err(|_| self.is_not(name, "a text", value))
    }

    /// An option that is a list of texts.
    pub(super) fn texts(&self, name: &str) -> Fallible<Option<Vec<ImmutableString>>> {
        let Some(value) = self.get(name) else { return Ok(None) };
        texts(value).map(Some).ok_or_else(|| self.is_not(name, "a list of texts", value))
    }

    fn is_not(&self, name: &str, wanted: &str, given: &Dynamic) -> Box<EvalAltResult> {
        bad(self.call, format!("the option `{name}` is {wanted}, not {}", value_type(given)))
    }
}

/// A list of texts.
pub(super) fn texts(value: &Dynamic) -> Option<Vec<ImmutableString>> {
    let list = value.as_array_ref().ok()?;
    list.iter().map(|item| item.as_immutable_string_ref().ok().map(|text| text.clone())).collect()
}
