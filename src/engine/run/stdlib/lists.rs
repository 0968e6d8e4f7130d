//! The functions of lists that call a function for each item. They hand errors on, end when the eval must, and take items out
//! of a list in one go. An item of a constant is a copy that the function cannot change.

use super::callback::Callback;
use super::comparing::Comparison;
use super::reading::offset;
use crate::engine::error::{Fallible, fail};
use crate::engine::native::Api;
use rhai::{Array, Dynamic, FnPtr, INT, ImmutableString, NativeCallContext};
use std::any::TypeId;

type Context<'c> = NativeCallContext<'c>;

/// The object of a method, which comes first among its arguments.
pub(super) fn locked<'a, T: rhai::Variant + Clone>(
    arguments: &'a mut [&mut Dynamic],
) -> Fallible<rhai::DynamicWriteLock<'a, T>> {
    arguments
        .first_mut()
        .and_then(|object| object.write_lock::<T>())
        .ok_or_else(|| fail("DataRace", "a captured value is in use by another call or eval"))
}

/// The function that a method was given as its first argument: one itself, or the name of one.
pub(super) fn pointer(arguments: &mut [&mut Dynamic]) -> Fallible<FnPtr> {
    let given = arguments.get_mut(1).map(|given| given.take()).unwrap_or_default();
    match given.clone().try_cast::<FnPtr>() {
        Some(f) => Ok(f),
        None => FnPtr::new(given.into_immutable_string().unwrap_or_default()),
    }
}

pub(super) fn register(api: &mut Api) {
    each(api);
    searching(api);
    reducing(api);
    taking(api);
    deduplicating(api);
}

/// Adds a function of a list and a function, and the same by the name of a function when Rhai has that.
fn add(
    api: &mut Api,
    name: &'static str,
    params: &[&str],
    doc: &str,
    by_name: bool,
    run: impl Fn(&Callback<'_>, &mut Array, &[Dynamic]) -> Fallible<Dynamic> + Send + Sync + Clone + 'static,
) {
    let further = params.iter().skip(2).filter_map(|param| match param.split_once(": ")?.1 {
        "int" => Some(TypeId::of::<INT>()),
        _ => Some(TypeId::of::<Dynamic>()),
    });
    let mut types = vec![TypeId::of::<Array>(), TypeId::of::<FnPtr>()];
    types.extend(further);
    let method = move |context: Context<'_>, arguments: &mut [&mut Dynamic]| {
        let constant = arguments[0].is_read_only();
        let f = Callback::new(name, &context, pointer(arguments)?).on_constant(constant);
        let further: Vec<Dynamic> = arguments.iter_mut().skip(2).map(|argument| argument.take()).collect();
        run(&f, &mut *locked::<Array>(arguments)?, &further)
    };
    if by_name {
        let mut named: Vec<String> = params.iter().map(|param| (*param).to_owned()).collect();
        named[1] = "name: String".to_owned();
        let named: Vec<&str> = named.iter().map(String::as_str).collect();
        types[1] = TypeId::of::<ImmutableString>();
        api.method(name, &types, &named, "", true, method.clone());
        types[1] = TypeId::of::<FnPtr>();
    }
    api.method(name, &types, params, doc, true, method);
}

fn each(api: &mut Api) {
    add(
        api,
        "for_each",
        &["list: Array", "f: Fn"],
        "Calls `f()` or `f(index)` for each item, which is `this`. It can be changed, unless the list is a constant or is read \
         by a function of the space.",
        false,
        |f, list, _| {
            for (index, item) in list.iter_mut().enumerate() {
                drop(f.this(item, index)?);
            }
            Ok(Dynamic::UNIT)
        },
    );
    add(
        api,
        "map",
        &["list: Array", "f: Fn", "Array"],
        "A list of what `f(item)` or `f(item, index)` makes of each item.",
        true,
        |f, list, _| {
            let mut made = Array::with_capacity(list.len());
            for (index, item) in list.iter_mut().enumerate() {
                made.push(f.item(item, index)?);
            }
            Ok(made.into())
        },
    );
    add(
        api,
        "filter",
        &["list: Array", "f: Fn", "Array"],
        "The items for which `f(item)` or `f(item, index)` is true.",
        true,
        |f, list, _| {
            let mut kept = Array::new();
            for (index, item) in list.iter_mut().enumerate() {
                if f.says_yes(&f.item(item, index)?)? {
                    kept.push(item.clone());
                }
            }
            Ok(kept.into())
        },
    );
    api.function(
        "zip",
        &["list: Array", "other: Array", "f: Fn", "Array"],
        "A list of what `f(item, other)` or `f(item, other, index)` makes of the items of two lists.",
        |context: Context<'_>, list: &mut Array, other: Array, f: FnPtr| -> Fallible<Array> {
            let f = Callback::new("zip", &context, f);
            let pairs = list.iter().zip(other).enumerate();
            pairs.map(|(index, (a, b))| f.pair(a.clone(), b, index)).collect()
        },
    );
}

fn searching(api: &mut Api) {
    add(
        api,
        "some",
        &["list: Array", "f: Fn", "bool"],
        "Whether `f(item)` or `f(item, index)` is true for an item.",
        true,
        |f, list, _| Ok(first(f, list, 0, true)?.is_some().into()),
    );
    add(
        api,
        "all",
        &["list: Array", "f: Fn", "bool"],
        "Whether `f(item)` or `f(item, index)` is true for all items.",
        true,
        |f, list, _| Ok(first(f, list, 0, false)?.is_none().into()),
    );
    for further in [&[][..], &["start: int"][..]] {
        let since = if further.is_empty() { "" } else { " at or after `start`" };
        let params = |returned: &'static str| [&["list: Array", "f: Fn"][..], further, &[returned]].concat();
        let start = |list: &Array, further: &[Dynamic]| {
            further.first().and_then(|start| start.as_int().ok()).map_or(0, |start| offset(list.len(), start))
        };
        add(
            api,
            "index_of",
            &params("int"),
            &format!("The place of the first item{since} for which `f(item)` or `f(item, index)` is true, or -1."),
            false,
            move |f, list, further| {
                let place = first(f, list, start(list, further), true)?;
                Ok(place.and_then(|place| INT::try_from(place).ok()).unwrap_or(-1).into())
            },
        );
        add(
            api,
            "find",
            &params("Dynamic"),
            &format!("The first item{since} for which `f(item)` or `f(item, index)` is true, or `()`."),
            false,
            move |f, list, further| {
                let place = first(f, list, start(list, further), true)?;
                Ok(place.map_or(Dynamic::UNIT, |place| list[place].clone()))
            },
        );
        add(
            api,
            "find_map",
            &params("Dynamic"),
            &format!(
                "What `f(item)` or `f(item, index)` makes of the first item{since} of which it makes more than `()`."
            ),
            false,
            move |f, list, further| {
                let start = start(list, further);
                for (index, item) in list.iter_mut().enumerate().skip(start) {
                    let made = f.item(item, index)?;
                    if !made.is_unit() {
                        return Ok(made);
                    }
                }
                Ok(Dynamic::UNIT)
            },
        );
    }
}

/// The place of the first item at or after `start` for which the function says `wanted`.
fn first(f: &Callback<'_>, list: &mut Array, start: usize, wanted: bool) -> Fallible<Option<usize>> {
    for (index, item) in list.iter_mut().enumerate().skip(start) {
        if f.says_yes(&f.item(item, index)?)? == wanted {
            return Ok(Some(index));
        }
    }
    Ok(None)
}

fn reducing(api: &mut Api) {
    for (name, backwards) in [("reduce", false), ("reduce_rev", true)] {
        add(
            api,
            name,
            &["list: Array", "f: Fn", "Dynamic"],
            "What `f(result, item)` or `f(result, item, index)` makes of all items; the first result is `()`.",
            true,
            move |f, list, _| reduce(f, list, Dynamic::UNIT, backwards),
        );
        add(
            api,
            name,
            &["list: Array", "f: Fn", "initial: Dynamic", "Dynamic"],
            "What `f(result, item)` or `f(result, item, index)` makes of all items; the first result is `initial`.",
            true,
            move |f, list, further| reduce(f, list, further.first().cloned().unwrap_or_default(), backwards),
        );
    }
}

fn reduce(f: &Callback<'_>, list: &mut Array, initial: Dynamic, backwards: bool) -> Fallible<Dynamic> {
    let mut result = initial;
    let length = list.len();
    for step in 0..length {
        let place = if backwards { length - 1 - step } else { step };
        result = f.fold(result, &mut list[place], place)?;
    }
    Ok(result)
}

/// The items that leave a list do so when the function has seen all of them: one that fails leaves it whole.
fn taking(api: &mut Api) {
    const DRAIN: &str = "Takes out the items for which `f(item)` or `f(item, index)` is true, and gives them.";
    const RETAIN: &str = "Keeps the items for which `f(item)` or `f(item, index)` is true, and gives the others.";
    for (name, doc, leaving) in [("drain", DRAIN, true), ("retain", RETAIN, false)] {
        let take = move |context: &Context<'_>, list: &mut Array, f: FnPtr| -> Fallible<Array> {
            let f = Callback::new(name, context, f);
            let mut leaves = Vec::with_capacity(list.len());
            for (index, item) in list.iter_mut().enumerate() {
                leaves.push(f.says_yes(&f.item(item, index)?)? == leaving);
            }
            let (mut gone, mut kept) = (Array::new(), Array::with_capacity(list.len()));
            for (item, leaves) in std::mem::take(list).into_iter().zip(leaves) {
                if leaves { gone.push(item) } else { kept.push(item) }
            }
            *list = kept;
            Ok(gone)
        };
        api.mutating(
            name,
            &["list: Array", "f: Fn", "Array"],
            doc,
            move |context: Context<'_>, list: &mut Array, f: FnPtr| take(&context, list, f),
        );
        api.mutating(
            name,
            &["list: Array", "name: String", "Array"],
            "",
            move |context: Context<'_>, list: &mut Array, name: ImmutableString| {
                take(&context, list, FnPtr::new(name)?)
            },
        );
    }
}

fn deduplicating(api: &mut Api) {
    const DOC: &str = "Takes out each item that follows an equal one.";
    const BY: &str = "Takes out each item for which `f(item before it, item)` is true.";
    api.mutating("dedup", &["list: Array"], DOC, |context: Context<'_>, list: &mut Array| {
        let mut comparison = Comparison::new(&context);
        dedup(list, |before, item| comparison.values(before, item))
    });
    let by = |context: &Context<'_>, list: &mut Array, f: FnPtr| {
        let f = Callback::new("dedup", context, f);
        dedup(list, |before, item| f.says_yes(&f.plain([before.clone(), item.clone()])?))
    };
    api.mutating("dedup", &["list: Array", "f: Fn"], BY, move |context: Context<'_>, list: &mut Array, f: FnPtr| {
        by(&context, list, f)
    });
    api.mutating(
        "dedup",
        &["list: Array", "name: String"],
        "",
        move |context: Context<'_>, list: &mut Array, name: ImmutableString| by(&context, list, FnPtr::new(name)?),
    );
}

fn dedup(list: &mut Array, mut same: impl FnMut(&Dynamic, &Dynamic) -> Fallible<bool>) -> Fallible<()> {
    let mut stays = Vec::with_capacity(list.len());
    let mut before: Option<&Dynamic> = None;
    for item in list.iter() {
        let repeats = match before {
            Some(before) => same(before, item)?,
            None => false,
        };
        if !repeats {
            before = Some(item);
        }
        stays.push(!repeats);
    }
    let mut stays = stays.into_iter();
    list.retain(|_| stays.next().unwrap_or(true));
    Ok(())
}
