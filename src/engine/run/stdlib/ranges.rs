//! Ranges, and what `range`, `chars` and `bits` give: they can be gone through like lists, without a list being made.

use super::basics::{STRIDE, fits};
use super::callback::Callback;
use super::comparing::Comparison;
use super::reading::{bounds, inclusive_bounds, offset};
use super::texts::{byte_at, count};
use crate::engine::error::Fallible;
use crate::engine::native::Api;
use crate::engine::task::context::Task;
use crate::engine::value::sequences::{Bits, Chars, Number, Steps, sequence_text};
use rhai::{Array, Dynamic, FnPtr, INT, ImmutableString, NativeCallContext};
use std::any::TypeId;
use std::ops::{Range, RangeInclusive};

type Context<'c> = NativeCallContext<'c>;

pub(super) fn register(api: &mut Api) {
    making(api);
    like_lists::<Range<INT>>(api, "Range");
    like_lists::<RangeInclusive<INT>>(api, "RangeInclusive");
    like_lists::<Steps<INT>>(api, "StepRange");
    like_lists::<Steps<f64>>(api, "StepRange");
    like_lists::<Chars>(api, "CharsStream");
    like_lists::<Bits>(api, "BitRange");
    let within = "Whether a number is in the range.";
    api.function("contains", &["range: Range", "n: int", "bool"], within, |range: &mut Range<INT>, n: INT| {
        range.contains(&n)
    });
    api.function(
        "contains",
        &["range: RangeInclusive", "n: int", "bool"],
        within,
        |range: &mut RangeInclusive<INT>, n: INT| range.contains(&n),
    );
    containing::<Steps<INT>, INT>(api, "StepRange", "int");
    containing::<Steps<f64>, f64>(api, "StepRange", "float");
    containing::<Chars, char>(api, "CharsStream", "char");
    containing::<Bits, bool>(api, "BitRange", "bool");
    api.custom_type::<Steps<INT>>("range").custom_type::<Steps<f64>>("range");
    api.custom_type::<Chars>("chars").custom_type::<Bits>("bits");
    api.iterator::<Steps<INT>>().iterator::<Steps<f64>>().iterator::<Chars>().iterator::<Bits>();
}

/// What can be gone through from its beginning.
trait Items: rhai::Variant + Clone + IntoIterator {
    /// The number of items, where that is known without going through them.
    fn known_length(&self) -> Option<usize>;
}

impl Items for Range<INT> {
    fn known_length(&self) -> Option<usize> {
        Some(usize::try_from(i128::from(self.end) - i128::from(self.start)).unwrap_or(0))
    }
}

impl Items for RangeInclusive<INT> {
    fn known_length(&self) -> Option<usize> {
        // A range that was gone through is empty, whatever its ends.
        let length = i128::from(*self.end()) - i128::from(*self.start()) + 1;
        Some(if self.is_empty() { 0 } else { usize::try_from(length).unwrap_or(0) })
    }
}

impl<T: Number + rhai::Variant> Items for Steps<T> {
    fn known_length(&self) -> Option<usize> {
        self.length()
    }
}

impl Items for Chars {
    fn known_length(&self) -> Option<usize> {
        None
    }
}

impl Items for Bits {
    fn known_length(&self) -> Option<usize> {
        Some(self.length())
    }
}

/// The number of items.
fn length<T: Items>(context: &Context<'_>, items: &T) -> Fallible<INT> {
    let mut length = 0;
    if let Some(known) = items.known_length() {
        length = known;
    } else {
        let task = Task::of(context);
        for _ in items.clone() {
            length += 1;
            if length.is_multiple_of(STRIDE) {
                task.check()?;
            }
        }
    }
    Ok(INT::try_from(length).unwrap_or(INT::MAX))
}

/// Adds the functions that lists have as well.
fn like_lists<T: Items>(api: &mut Api, of: &str)
where
    T::Item: rhai::Variant + Clone,
{
    let object = format!("of: {of}");
    let object = object.as_str();
    const LENGTH: &str = "The number of items.";
    api.function("len", &[object, "int"], LENGTH, |context: Context<'_>, items: &mut T| length(&context, items));
    api.getter("len", LENGTH, |context: Context<'_>, items: &mut T| length(&context, items));
    for name in ["to_array", "collect"] {
        api.function(name, &[object, "Array"], "A list of the items.", |context: Context<'_>, items: &mut T| {
            to_array(&Task::of(&context), items)
        });
    }
    calling::<T>(api, "map", &[object, "f: Fn", "Array"], |f, items, _| {
        let mut made = Array::new();
        each(items, |index, item| {
            made.push(f.item(item, index)?);
            Ok(true)
        })?;
        Ok(made.into())
    });
    calling::<T>(api, "filter", &[object, "f: Fn", "Array"], |f, items, _| {
        let mut kept = Array::new();
        each(items, |index, item| {
            if f.says_yes(&f.item(item, index)?)? {
                kept.push(item.clone());
            }
            Ok(true)
        })?;
        Ok(kept.into())
    });
    calling::<T>(api, "for_each", &[object, "f: Fn"], |f, items, _| {
        each(items, |index, item| f.item(item, index).map(|_| true))?;
        Ok(Dynamic::UNIT)
    });
    for (name, wanted) in [("some", true), ("all", false)] {
        calling::<T>(api, name, &[object, "f: Fn", "bool"], move |f, items, _| {
            let mut found = false;
            each(items, |index, item| {
                found = f.says_yes(&f.item(item, index)?)? == wanted;
                Ok(!found)
            })?;
            Ok((found == wanted).into())
        });
    }
    calling::<T>(api, "find", &[object, "f: Fn", "Dynamic"], |f, items, _| {
        let mut found = Dynamic::UNIT;
        each(items, |index, item| {
            let yes = f.says_yes(&f.item(item, index)?)?;
            if yes {
                found = item.clone();
            }
            Ok(!yes)
        })?;
        Ok(found)
    });
    calling::<T>(api, "reduce", &[object, "f: Fn", "Dynamic"], |f, items, _| reduce(f, items, Dynamic::UNIT));
    calling::<T>(api, "reduce", &[object, "f: Fn", "initial: Dynamic", "Dynamic"], |f, items, initial| {
        reduce(f, items, initial)
    });
}

/// Adds a function of items and a function, and perhaps one value more.
fn calling<T: Items>(
    api: &mut Api,
    name: &'static str,
    params: &[&str],
    run: impl Fn(&Callback<'_>, T, Dynamic) -> Fallible<Dynamic> + Send + Sync + 'static,
) {
    const DOC: &str = "As the function of lists, without making a list.";
    let mut types = vec![TypeId::of::<T>(), TypeId::of::<FnPtr>()];
    types.extend(params.iter().skip(2).filter(|param| param.contains(": ")).map(|_| TypeId::of::<Dynamic>()));
    api.method(name, &types, params, DOC, true, move |context, arguments| {
        let f = Callback::new(name, &context, super::lists::pointer(arguments)?);
        let initial = arguments.get_mut(2).map(|initial| initial.take()).unwrap_or_default();
        let items = super::lists::locked::<T>(arguments)?.clone();
        run(&f, items, initial)
    });
}

/// Goes through items for as long as `go_on` says so.
fn each<T: Items>(items: T, mut go_on: impl FnMut(usize, &mut Dynamic) -> Fallible<bool>) -> Fallible<()>
where
    T::Item: rhai::Variant + Clone,
{
    for (index, item) in items.into_iter().enumerate() {
        if !go_on(index, &mut Dynamic::from(item))? {
            break;
        }
    }
    Ok(())
}

fn reduce<T: Items>(f: &Callback<'_>, items: T, initial: Dynamic) -> Fallible<Dynamic>
where
    T::Item: rhai::Variant + Clone,
{
    let mut result = initial;
    each(items, |index, item| {
        result = f.fold(std::mem::take(&mut result), item, index)?;
        Ok(true)
    })?;
    Ok(result)
}

fn to_array<T: Items>(task: &Task, items: &T) -> Fallible<Array>
where
    T::Item: rhai::Variant + Clone,
{
    let mut list = Array::new();
    if let Some(length) = items.known_length() {
        fits(task, length.saturating_mul(size_of::<Dynamic>()))?;
        list.reserve_exact(length);
    }
    for item in items.clone() {
        if list.len().is_multiple_of(STRIDE) {
            task.check()?;
        }
        list.push(Dynamic::from(item));
    }
    Ok(list)
}

/// Adds what ranges of Rhai have already: `contains`, and so `in`, for items of one type, `is_empty`, and a text.
fn containing<T: Items<Item = V>, V: rhai::Variant + Clone>(api: &mut Api, of: &str, item: &str) {
    let params = [format!("of: {of}"), format!("value: {item}"), "bool".to_owned()];
    let params = params.each_ref().map(String::as_str);
    let doc = "Whether one of the items equals `value`.";
    api.function("contains", &params, doc, |context: Context<'_>, items: &mut T, value: V| -> Fallible<bool> {
        let mut comparison = Comparison::new(&context);
        let value = Dynamic::from(value);
        for item in items.clone() {
            if comparison.values(&Dynamic::from(item), &value)? {
                return Ok(true);
            }
        }
        Ok(false)
    });
    const EMPTY: &str = "Whether there are no items.";
    let empty = |items: &mut T| items.clone().into_iter().next().is_none();
    api.function("is_empty", &[params[0], "bool"], EMPTY, empty);
    api.getter("is_empty", EMPTY, empty);
    for name in ["print", "debug", "to_string", "to_debug"] {
        api.function(name, &params[..1], "", |items: T| sequence_text(&Dynamic::from(items)).unwrap_or_default());
    }
}

fn making(api: &mut Api) {
    const STEPS: &str =
        "The numbers from `from` in steps, without `to`: `range(0, 10, 3)`; backwards when `step` is below 0.";
    api.function(
        "range",
        &["from: int", "to: int", "step: int", "StepRange"],
        STEPS,
        |from: INT, to: INT, step: INT| Steps::new(from, to, step),
    );
    api.function(
        "range",
        &["from: float", "to: float", "step: float", "StepRange"],
        STEPS,
        |from: f64, to: f64, step: f64| Steps::new(from, to, step),
    );
    api.function(
        "range",
        &["range: Range", "step: int", "StepRange"],
        "The numbers of a range in steps: `range(0..10, 3)`.",
        |range: Range<INT>, step: INT| Steps::new(range.start, range.end, step),
    );
    const ALL: &str = "The characters of a text, one after the other.";
    const SOME: &str = "The characters of a part of a text, one after the other.";
    api.function("chars", &["text: String", "CharsStream"], ALL, |text: ImmutableString| Chars::all(text));
    api.getter("chars", ALL, |text: &mut ImmutableString| Chars::all(text.clone()));
    api.function(
        "chars",
        &["text: String", "start: int", "CharsStream"],
        SOME,
        |context: Context<'_>, text: ImmutableString, start: INT| part(&context, text, start, INT::MAX),
    );
    api.function(
        "chars",
        &["text: String", "start: int", "len: int", "CharsStream"],
        SOME,
        |context: Context<'_>, text: ImmutableString, start: INT, len: INT| part(&context, text, start, len),
    );
    api.function(
        "chars",
        &["text: String", "range: Range", "CharsStream"],
        SOME,
        |context: Context<'_>, text: ImmutableString, range: Range<INT>| {
            let (start, len) = bounds(range.start, range.end);
            part(&context, text, start, len)
        },
    );
    api.function(
        "chars",
        &["text: String", "range: RangeInclusive", "CharsStream"],
        SOME,
        |context: Context<'_>, text: ImmutableString, range: RangeInclusive<INT>| {
            let (start, len) = whole_bounds(&range);
            part(&context, text, start, len)
        },
    );
    const BITS: &str = "The bits of a whole number, the lowest first.";
    const BIT_PART: &str = "Some of the bits of a whole number, the lowest first.";
    api.function("bits", &["n: int", "BitRange"], BITS, |n: INT| Bits::new(n, 0, INT::MAX));
    api.getter("bits", BITS, |n: &mut INT| Bits::new(*n, 0, INT::MAX));
    api.function("bits", &["n: int", "start: int", "BitRange"], BIT_PART, |n: INT, start: INT| {
        Bits::new(n, start, INT::MAX)
    });
    api.function("bits", &["n: int", "start: int", "len: int", "BitRange"], BIT_PART, Bits::new);
    api.function("bits", &["n: int", "range: Range", "BitRange"], BIT_PART, |n: INT, range: Range<INT>| {
        let (start, len) = bounds(range.start, range.end);
        Bits::new(n, start, len)
    });
    api.function(
        "bits",
        &["n: int", "range: RangeInclusive", "BitRange"],
        BIT_PART,
        |n: INT, range: RangeInclusive<INT>| {
            let (start, len) = whole_bounds(&range);
            Bits::new(n, start, len)
        },
    );
}

/// The start and the length of a range with its end, which may be empty here.
fn whole_bounds(range: &RangeInclusive<INT>) -> (INT, INT) {
    if range.is_empty() { (0, 0) } else { inclusive_bounds(range) }
}

/// The characters of a part of a text.
fn part(context: &Context<'_>, text: ImmutableString, start: INT, len: INT) -> Fallible<Chars> {
    let task = Task::of(context);
    let start = match usize::try_from(start) {
        Ok(start) => start,
        Err(_) => offset(count(&task, &text)?, start),
    };
    let begin = byte_at(&task, &text, start)?;
    let end = begin + byte_at(&task, &text[begin..], usize::try_from(len).unwrap_or(0))?;
    Ok(Chars::part(text, begin..end))
}
