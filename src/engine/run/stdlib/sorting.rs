//! Sorting: by the items themselves, by a comparison, and by a key. It is stable, hands errors on and ends when the eval must;
//! Rhai's own swallows errors, and a stop with them.

use super::callback::{Callback, shown};
use crate::engine::error::{Fallible, fail};
use crate::engine::native::Api;
use crate::engine::signature::value_type;
use crate::engine::task::context::Task;
use rhai::{Array, Dynamic, EvalAltResult, FnPtr, INT, ImmutableString, NativeCallContext, Position};
use std::cmp::Ordering;

type Context<'c> = NativeCallContext<'c>;

/// The number of items that are sorted in one go, without a look at whether the eval must end.
const RUN: usize = 512;

pub(super) fn register(api: &mut Api) {
    natural(api);
    compared(api);
}

fn natural(api: &mut Api) {
    const WHICH: &str = "All are numbers, or all of one type: texts, characters, booleans.";
    for (name, descending) in [("sort", false), ("sort_desc", true)] {
        let order = if descending { "descending" } else { "ascending" };
        api.mutating(
            name,
            &["list: Array"],
            &format!("Sorts a list in place in {order} order. {WHICH}"),
            move |context: Context<'_>, list: &mut Array| -> Fallible<()> {
                *list = by_items(name, &Task::of(&context), list.clone(), descending)?;
                Ok(())
            },
        );
    }
    for (name, descending) in [("order", false), ("order_desc", true)] {
        let order = if descending { "descending" } else { "ascending" };
        api.function(
            name,
            &["list: Array", "Array"],
            &format!("The list in {order} order; the list itself stays as it is. {WHICH}"),
            move |context: Context<'_>, list: &mut Array| by_items(name, &Task::of(&context), list.clone(), descending),
        );
    }
}

fn compared(api: &mut Api) {
    const GIVES: &str = "a number below, at or above 0, or whether the first comes first";
    let sort = |name: &'static str, context: &Context<'_>, list: &mut Array, f: FnPtr| -> Fallible<()> {
        *list = by_comparison(&Callback::new(name, context, f), name, list.clone())?;
        Ok(())
    };
    for name in ["sort", "sort_by"] {
        api.mutating(
            name,
            &["list: Array", "f: Fn"],
            &format!("Sorts a list in place by a function of two items that gives {GIVES}."),
            move |context: Context<'_>, list: &mut Array, f: FnPtr| sort(name, &context, list, f),
        );
    }
    api.mutating(
        "sort",
        &["list: Array", "name: String"],
        "",
        move |context: Context<'_>, list: &mut Array, name: ImmutableString| {
            sort("sort", &context, list, FnPtr::new(name)?)
        },
    );
    api.function(
        "order",
        &["list: Array", "f: Fn", "Array"],
        &format!("The list, sorted by a function of two items that gives {GIVES}; the list itself stays as it is."),
        |context: Context<'_>, list: &mut Array, f: FnPtr| {
            by_comparison(&Callback::new("order", &context, f), "order", list.clone())
        },
    );
    api.function(
        "order_by",
        &["list: Array", "f: Fn", "Array"],
        &format!(
            "The list, sorted by a key: `rows.order_by(|row| row.price)`, with numbers, texts, characters or booleans as keys; \
             or by a function of two items that gives {GIVES}. The list itself stays as it is."
        ),
        |context: Context<'_>, list: &mut Array, f: FnPtr| order_by(&context, list.clone(), f),
    );
}

/// By a key when the function takes one item, by comparison when it takes two.
fn order_by(context: &Context<'_>, list: Array, f: FnPtr) -> Fallible<Array> {
    const NAME: &str = "order_by";
    let name = f.fn_name().to_owned();
    let f = Callback::new(NAME, context, f);
    match (f.takes([2, 1, 2]), &list[..]) {
        (Some(1), _) => by_key(&f, list),
        // Only a call tells how many items a native function takes.
        (None, [first, second, ..]) => match f.plain([first.clone(), second.clone()]) {
            Err(error) if is_missing(&error, &name) => by_key(&f, list),
            Err(error) => Err(error),
            Ok(_) => by_comparison(&f, NAME, list),
        },
        _ => by_comparison(&f, NAME, list),
    }
}

/// Whether there is no function `name` for the arguments at hand.
fn is_missing(error: &EvalAltResult, name: &str) -> bool {
    matches!(error, EvalAltResult::ErrorFunctionNotFound(signature, _)
        if signature.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(" (")))
}

fn by_comparison(f: &Callback<'_>, name: &str, list: Array) -> Fallible<Array> {
    if f.takes([2, 0]) == Some(0) {
        // This calls nothing, and says what is wrong also where there is nothing to compare.
        let item = list.first().cloned().unwrap_or_default();
        return f.plain([item.clone(), item]).map(|_| list);
    }
    merge_sort(f.task(), list, None, |a, b| {
        let given = f.plain([a.clone(), b.clone()])?;
        if let Ok(first) = given.as_bool() {
            if first {
                return Ok(Ordering::Less);
            }
            // Neither comes first when the function says so of both: the left one stays on the left.
            let other = f.plain([b.clone(), a.clone()])?;
            return Ok(if other.as_bool().unwrap_or(false) { Ordering::Greater } else { Ordering::Equal });
        }
        let order = match (given.as_int(), given.as_float()) {
            (Ok(number), _) => Some(number.cmp(&0)),
            (_, Ok(number)) => number.partial_cmp(&0.0),
            _ => None,
        };
        order.ok_or_else(|| {
            let text = format!(
                "{name}: the comparison gave {}; it may give a number below, at or above 0, or true when the first comes first",
                shown(&given)
            );
            fail("BadArgument", text)
        })
    })
}

fn by_key(f: &Callback<'_>, list: Array) -> Fallible<Array> {
    let mut keyed = Vec::with_capacity(list.len());
    for item in list {
        let key = f.plain([item.clone()])?;
        let Some(key) = Key::of(&key) else {
            let text =
                format!("order_by: the key is {}; a key is a number, a text, a character or a boolean", shown(&key));
            return Err(fail("BadArgument", text));
        };
        keyed.push((key, item));
    }
    let keys = keyed.iter().map(|(key, _)| key);
    if let Some((one, other)) = Key::mixed(keys) {
        let text = format!("order_by: one key is {one} and another {other}, which cannot be compared");
        return Err(fail("BadArgument", text));
    }
    let sorted = merge_sort(f.task(), keyed, Some(|a, b| a.0.cmp(&b.0)), |a, b| Ok(a.0.cmp(&b.0)))?;
    Ok(sorted.into_iter().map(|(_, item)| item).collect())
}

fn by_items(name: &str, task: &Task, list: Array, descending: bool) -> Fallible<Array> {
    // Rhai's own words, as an error of Rhai.
    let refused = |text: String| EvalAltResult::ErrorFunctionNotFound(text, Position::NONE).into();
    if list.len() < 2 || list.iter().all(Dynamic::is_unit) {
        return Ok(list);
    }
    let mut keyed = Vec::with_capacity(list.len());
    for item in list {
        match Key::of(&item) {
            Some(key) => keyed.push((key, item)),
            None if item.as_float().is_ok() => return Err(fail("BadArgument", format!("{name}: NaN has no order"))),
            None if keyed.is_empty() => {
                return Err(refused(format!("elements of {} cannot be sorted", value_type(&item))));
            }
            None => return Err(refused("elements of different types cannot be sorted".to_owned())),
        }
    }
    if Key::mixed(keyed.iter().map(|(key, _)| key)).is_some() {
        return Err(refused("elements of different types cannot be sorted".to_owned()));
    }
    let sorted = if descending {
        merge_sort(task, keyed, Some(|a, b| b.0.cmp(&a.0)), |a, b| Ok(b.0.cmp(&a.0)))?
    } else {
        merge_sort(task, keyed, Some(|a, b| a.0.cmp(&b.0)), |a, b| Ok(a.0.cmp(&b.0)))?
    };
    Ok(sorted.into_iter().map(|(_, item)| item).collect())
}

/// A value by which others are ordered.
enum Key {
    Int(INT),
    /// Not NaN.
    Float(f64),
    Text(ImmutableString),
    Char(char),
    Bool(bool),
}

impl Key {
    fn of(value: &Dynamic) -> Option<Self> {
        if let Ok(number) = value.as_int() {
            Some(Self::Int(number))
        } else if let Ok(number) = value.as_float() {
            (!number.is_nan()).then_some(Self::Float(number))
        } else if let Ok(c) = value.as_char() {
            Some(Self::Char(c))
        } else if let Ok(yes) = value.as_bool() {
            Some(Self::Bool(yes))
        } else {
            value.as_immutable_string_ref().ok().map(|text| Self::Text(text.clone()))
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Int(_) | Self::Float(_) => "a number",
            Self::Text(_) => "a text",
            Self::Char(_) => "a character",
            Self::Bool(_) => "a boolean",
        }
    }

    /// The kinds of two keys that cannot be compared.
    fn mixed<'k>(mut keys: impl Iterator<Item = &'k Self>) -> Option<(&'static str, &'static str)> {
        let one = keys.next()?.kind();
        keys.map(Self::kind).find(|other| *other != one).map(|other| (one, other))
    }

    /// Keys of different kinds are not compared.
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => a.cmp(b),
            (Self::Float(a), Self::Float(b)) => a.partial_cmp(b).unwrap_or(Ordering::Equal),
            (Self::Int(a), Self::Float(b)) => int_and_float(*a, *b),
            (Self::Float(a), Self::Int(b)) => int_and_float(*b, *a).reverse(),
            (Self::Text(a), Self::Text(b)) => a.as_str().cmp(b.as_str()),
            (Self::Char(a), Self::Char(b)) => a.cmp(b),
            (Self::Bool(a), Self::Bool(b)) => a.cmp(b),
            _ => Ordering::Equal,
        }
    }
}

/// The order of a whole number and a float, exact where a float cannot hold the number.
fn int_and_float(a: INT, b: f64) -> Ordering {
    const ABOVE_ALL: f64 = 9_223_372_036_854_775_808.0;
    if b >= ABOVE_ALL {
        return Ordering::Less;
    }
    if b < -ABOVE_ALL {
        return Ordering::Greater;
    }
    // The conversion is exact: the whole part is in range.
    let whole = b.trunc() as INT;
    a.cmp(&whole).then_with(|| 0.0.partial_cmp(&b.fract()).unwrap_or(Ordering::Equal))
}

/// A stable merge sort. `at_once` compares where nothing can go wrong: short runs are then sorted in one go.
fn merge_sort<T>(
    task: &Task,
    mut items: Vec<T>,
    at_once: Option<fn(&T, &T) -> Ordering>,
    mut compare: impl FnMut(&T, &T) -> Fallible<Ordering>,
) -> Fallible<Vec<T>> {
    let mut width = 1;
    if let Some(compare) = at_once {
        width = RUN;
        for run in items.chunks_mut(RUN) {
            task.check()?;
            run.sort_by(compare);
        }
    }
    while width < items.len() {
        let mut merged = Vec::with_capacity(items.len());
        let mut rest = items.into_iter();
        loop {
            let left: Vec<T> = rest.by_ref().take(width).collect();
            if left.is_empty() {
                break;
            }
            let right: Vec<T> = rest.by_ref().take(width).collect();
            merge(task, left, right, &mut merged, &mut compare)?;
        }
        items = merged;
        width *= 2;
    }
    Ok(items)
}

fn merge<T>(
    task: &Task,
    left: Vec<T>,
    right: Vec<T>,
    merged: &mut Vec<T>,
    compare: &mut impl FnMut(&T, &T) -> Fallible<Ordering>,
) -> Fallible<()> {
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        if merged.len().is_multiple_of(RUN) {
            task.check()?;
        }
        let order = compare(a, b)?;
        merged.extend(if order == Ordering::Greater { right.next() } else { left.next() });
    }
    merged.extend(left);
    merged.extend(right);
    Ok(())
}
