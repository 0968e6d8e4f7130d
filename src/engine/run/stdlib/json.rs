//! JSON: `parse_json`, by a reader that asks whether the eval must end, and `to_json` of plain values.

use super::basics::STRIDE;
use super::showing::borrowed;
use crate::engine::error::{Fallible, fail, terminated};
use crate::engine::native::Api;
use crate::engine::task::context::Task;
use crate::engine::value::text;
use rhai::{Array, Blob, Dynamic, INT, ImmutableString, Map, NativeCallContext};
use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use std::cell::Cell;
use std::fmt;
use std::ops::{Range, RangeInclusive};

pub(super) fn register(api: &mut Api) {
    type Context<'c> = NativeCallContext<'c>;
    // Rhai throws a bare text, which a handler that asks for `kind` cannot read.
    api.function(
        "parse_json",
        &["json: String", "Dynamic"],
        "The value that a JSON text stands for: `parse_json(text).rows`.",
        |context: Context<'_>, json: &str| parse(&Task::of(&context), json),
    );
    writing::<Map>(api, "map: Map", "The map as JSON.");
    writing::<Array>(api, "list: Array", "The list as JSON.");
    writing::<Blob>(api, "blob: Blob", "The bytes of the blob as a list in JSON.");
    writing::<ImmutableString>(api, "text: String", "The text as JSON, in quotes.");
    writing::<INT>(api, "n: int", "The number as JSON.");
    writing::<f64>(api, "n: float", "The number as JSON; `null` when it is infinite or none at all.");
    writing::<bool>(api, "b: bool", "The boolean as JSON.");
    writing::<char>(api, "c: char", "The character as a text in JSON.");
    writing::<()>(api, "nothing: ()", "`null`.");
    of_range::<Range<INT>>(api, "Range");
    of_range::<RangeInclusive<INT>>(api, "RangeInclusive");
}

fn writing<T: rhai::Variant + Clone + Default>(api: &mut Api, param: &str, doc: &str) {
    api.function("to_json", &[param, "String"], doc, |context: NativeCallContext<'_>, value: &mut T| {
        let task = Task::of(&context);
        let longest = task.limits().eval_bytes / 2;
        borrowed(value, |value| text::json(value, longest, &|| task.check()))
    });
}

fn of_range<T: rhai::Variant + Clone>(api: &mut Api, of: &str) {
    let doc = "The range as a text in JSON.";
    let param = format!("range: {of}");
    api.function("to_json", &[&param, "String"], doc, |context: NativeCallContext<'_>, range: &mut T| {
        let task = Task::of(&context);
        text::json(&Dynamic::from(range.clone()), task.limits().eval_bytes / 2, &|| task.check())
    });
}

fn parse(task: &Task, json: &str) -> Fallible<Dynamic> {
    read_json(task, json).map_err(|problem| {
        if task.must_end() { terminated() } else { fail("BadArgument", format!("this is not JSON: {problem}")) }
    })
}

/// The value that a JSON text stands for, read for as long as the eval may go on.
///
/// # Errors
/// What is wrong with the text, and where.
pub(crate) fn read_json(task: &Task, json: &str) -> Result<Dynamic, serde_json::Error> {
    let reader = Reader { task, parts: &Cell::new(0) };
    let mut source = serde_json::Deserializer::from_str(json);
    reader.deserialize(&mut source).and_then(|value| source.end().map(|()| value))
}

/// A value as JSON, at most half as long as the memory of an eval.
pub(crate) fn write_json(task: &Task, value: &Dynamic) -> Fallible<String> {
    text::json(value, task.limits().eval_bytes / 2, &|| task.check())
}

/// Makes values of Rhai of what is read, for as long as the eval may go on.
#[derive(Clone, Copy)]
struct Reader<'t> {
    task: &'t Task,
    /// The number of parts that were read.
    parts: &'t Cell<usize>,
}

impl Reader<'_> {
    fn count<E: Error>(self) -> Result<(), E> {
        self.parts.set(self.parts.get() + 1);
        if self.parts.get().is_multiple_of(STRIDE) && self.task.must_end() {
            return Err(E::custom("the eval was made to stop"));
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Dynamic;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Dynamic, D::Error> {
        self.count()?;
        source.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Dynamic;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Dynamic, E> {
        Ok(Dynamic::UNIT)
    }

    fn visit_bool<E: Error>(self, v: bool) -> Result<Dynamic, E> {
        Ok(v.into())
    }

    fn visit_i64<E: Error>(self, v: i64) -> Result<Dynamic, E> {
        Ok(v.into())
    }

    fn visit_u64<E: Error>(self, v: u64) -> Result<Dynamic, E> {
        Ok(INT::try_from(v).map_or_else(|_| Dynamic::from_float(v as f64), Dynamic::from_int))
    }

    fn visit_f64<E: Error>(self, v: f64) -> Result<Dynamic, E> {
        Ok(v.into())
    }

    fn visit_str<E: Error>(self, v: &str) -> Result<Dynamic, E> {
        Ok(Dynamic::from(ImmutableString::from(v)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Dynamic, A::Error> {
        let mut list = Array::new();
        while let Some(item) = items.next_element_seed(self)? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Dynamic, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<std::borrow::Cow<'_, str>>()? {
            let value = entries.next_value_seed(self)?;
            drop(map.insert(key.as_ref().into(), value));
        }
        Ok(map.into())
    }
}
