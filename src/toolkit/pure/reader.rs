//! [`Reader`]: makes values of scripts of what a format reads, within bounds and for as long as the eval may go on.

use crate::engine::Task;
use crate::toolkit::limits::STRIDE;
use rhai::{Array, Dynamic, INT, ImmutableString, Map};
use serde::Deserializer;
use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};
use std::cell::Cell;
use std::fmt;

/// Makes values of what is read, for as long as the eval may go on.
#[derive(Clone, Copy)]
pub(super) struct Reader<'t> {
    task: &'t Task,
    /// The number of parts that were read, and the most there may be.
    parts: &'t Cell<usize>,
    most: usize,
    /// The levels that may still be opened.
    levels: usize,
}

impl<'t> Reader<'t> {
    /// A reader of a text with at most so many levels and parts. `parts` counts what was read.
    pub(super) fn new(task: &'t Task, parts: &'t Cell<usize>, levels: usize, most: usize) -> Self {
        Self { task, parts, most, levels }
    }

    fn count<E: serde::de::Error>(self) -> Result<(), E> {
        self.parts.set(self.parts.get() + 1);
        if self.parts.get() > self.most {
            return Err(E::custom(format!("it has more than {} values, which is the limit", self.most)));
        }
        if self.parts.get().is_multiple_of(STRIDE) && self.task.must_end() {
            return Err(E::custom("the eval was made to stop"));
        }
        Ok(())
    }

    fn inside<E: serde::de::Error>(self) -> Result<Self, E> {
        let levels = self.levels.checked_sub(1).ok_or_else(|| E::custom("it is nested deeper than the limit"))?;
        Ok(Self { levels, ..self })
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
        f.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<Dynamic, E> {
        Ok(Dynamic::UNIT)
    }

    fn visit_none<E>(self) -> Result<Dynamic, E> {
        Ok(Dynamic::UNIT)
    }

    fn visit_some<D: Deserializer<'de>>(self, source: D) -> Result<Dynamic, D::Error> {
        source.deserialize_any(self)
    }

    fn visit_bool<E>(self, v: bool) -> Result<Dynamic, E> {
        Ok(v.into())
    }

    fn visit_i64<E>(self, v: i64) -> Result<Dynamic, E> {
        Ok(v.into())
    }

    #[expect(clippy::cast_precision_loss, reason = "beyond the range of int there are floats alone")]
    fn visit_u64<E>(self, v: u64) -> Result<Dynamic, E> {
        Ok(INT::try_from(v).map_or_else(|_| Dynamic::from_float(v as f64), Dynamic::from_int))
    }

    fn visit_f64<E>(self, v: f64) -> Result<Dynamic, E> {
        Ok(v.into())
    }

    fn visit_str<E>(self, v: &str) -> Result<Dynamic, E> {
        Ok(Dynamic::from(ImmutableString::from(v)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Dynamic, A::Error> {
        let inside = self.inside()?;
        let mut list = Array::new();
        while let Some(item) = items.next_element_seed(inside)? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Dynamic, A::Error> {
        let inside = self.inside()?;
        let mut map = Map::new();
        while let Some(key) = entries.next_key_seed(Key)? {
            let value = entries.next_value_seed(inside)?;
            // Of two entries with one key the last counts, where a format allows that at all.
            drop(map.insert(key.into(), value));
        }
        Ok(map.into())
    }
}

/// The key of a map: a text, or a scalar that is written as one.
struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<String, D::Error> {
        source.deserialize_any(self)
    }
}

impl Visitor<'_> for Key {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text as key")
    }

    fn visit_str<E>(self, v: &str) -> Result<String, E> {
        Ok(v.to_owned())
    }

    fn visit_string<E>(self, v: String) -> Result<String, E> {
        Ok(v)
    }

    fn visit_i64<E>(self, v: i64) -> Result<String, E> {
        Ok(v.to_string())
    }

    fn visit_u64<E>(self, v: u64) -> Result<String, E> {
        Ok(v.to_string())
    }

    fn visit_f64<E>(self, v: f64) -> Result<String, E> {
        Ok(v.to_string())
    }

    fn visit_bool<E>(self, v: bool) -> Result<String, E> {
        Ok(v.to_string())
    }

    fn visit_unit<E>(self) -> Result<String, E> {
        Ok("null".to_owned())
    }
}
