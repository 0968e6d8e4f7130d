//! Functions that hand `this` and arguments to a closure. A portable closure cannot tell `this` from an argument by how many
//! there are, so here its own number of parameters decides.

use crate::engine::error::Fallible;
use crate::engine::native::Api;
use crate::engine::run::closures::call_on;
use crate::engine::task::context::Task;
use rhai::{Array, Dynamic, FnPtr, INT, Map, NativeCallContext};

pub(super) fn register(api: &mut Api) {
    maps(api);
    reducing(api);
}

fn maps(api: &mut Api) {
    type Context<'c> = NativeCallContext<'c>;
    api.mutating(
        "for_each",
        &["list: Array", "f: Fn"],
        "Calls `f()` or `f(index)` for each item, which is `this` and can be changed.",
        |context: Context<'_>, list: &mut Array, f: FnPtr| -> Fallible<()> {
            let task = Task::of(&context);
            let taken = parameters_of(&task, &f);
            for (index, item) in list.iter_mut().enumerate() {
                task.check()?;
                let index = Dynamic::from(INT::try_from(index).unwrap_or(INT::MAX));
                let ignored = match taken {
                    Some(0) => call_on(&context, &f, item, Vec::new())?,
                    Some(_) => call_on(&context, &f, item, vec![index])?,
                    None => f.call_raw_with_extra_args("for_each", &context, Some(item), [], [index], None)?,
                };
                drop(ignored);
            }
            Ok(())
        },
    );
    api.function(
        "filter",
        &["map: Map", "f: Fn", "Map"],
        "The entries of a map for which `f(key, value)` is true; with one parameter the value is `this`.",
        |context: Context<'_>, map: &mut Map, f: FnPtr| -> Fallible<Map> { Ok(divided(&context, map, &f)?.0) },
    );
    api.mutating(
        "retain",
        &["map: Map", "f: Fn", "Map"],
        "Keeps the entries for which `f(key, value)` is true, and gives the others.",
        |context: Context<'_>, map: &mut Map, f: FnPtr| -> Fallible<Map> {
            let (kept, gone) = divided(&context, map, &f)?;
            *map = kept;
            Ok(gone)
        },
    );
    api.mutating(
        "drain",
        &["map: Map", "f: Fn", "Map"],
        "Takes out the entries for which `f(key, value)` is true, and gives them.",
        |context: Context<'_>, map: &mut Map, f: FnPtr| -> Fallible<Map> {
            let (gone, kept) = divided(&context, map, &f)?;
            *map = kept;
            Ok(gone)
        },
    );
    api.function(
        "map",
        &["map: Map", "f: Fn", "Map"],
        "A map of what `f(key, value)` makes of each entry; with one parameter the value is `this`.",
        |context: Context<'_>, map: &mut Map, f: FnPtr| -> Fallible<Map> {
            let task = Task::of(&context);
            let taken = parameters_of(&task, &f);
            let mut made = Map::new();
            for (key, value) in map.iter_mut() {
                task.check()?;
                made.insert(key.clone(), call_with_entry(&context, &f, taken, key, value)?);
            }
            Ok(made)
        },
    );
}

/// `reduce` and `reduce_rev`: `f(result, item)`, `f(result, item, index)`, or `f(result)` with the item as `this`.
fn reducing(api: &mut Api) {
    type Context<'c> = NativeCallContext<'c>;
    for (name, backwards) in [("reduce", false), ("reduce_rev", true)] {
        api.function(
            name,
            &["list: Array", "f: Fn", "Dynamic"],
            "What `f(result, item)` makes of all items; the first result is `()`.",
            move |context: Context<'_>, list: &mut Array, f: FnPtr| {
                reduce(&context, list, &f, Dynamic::UNIT, backwards)
            },
        );
        api.function(
            name,
            &["list: Array", "f: Fn", "initial: Dynamic", "Dynamic"],
            "What `f(result, item)` makes of all items; the first result is `initial`.",
            move |context: Context<'_>, list: &mut Array, f: FnPtr, initial: Dynamic| {
                reduce(&context, list, &f, initial, backwards)
            },
        );
    }
}

fn reduce(
    context: &NativeCallContext<'_>,
    list: &mut Array,
    f: &FnPtr,
    initial: Dynamic,
    backwards: bool,
) -> Fallible<Dynamic> {
    let task = Task::of(context);
    let taken = parameters_of(&task, f);
    let mut result = initial;
    let length = list.len();
    for step in 0..length {
        task.check()?;
        let place = if backwards { length - 1 - step } else { step };
        let item = &mut list[place];
        let index = Dynamic::from(INT::try_from(place).unwrap_or(INT::MAX));
        result = match taken {
            Some(0 | 1) => call_on(context, f, item, vec![result])?,
            Some(2) => f.call_raw(context, None, [result, item.clone()])?,
            Some(_) => f.call_raw(context, None, [result, item.clone(), index])?,
            None => f.call_raw_with_extra_args("reduce", context, Some(item), [result], [index], Some(1))?,
        };
    }
    Ok(result)
}

fn parameters_of(task: &Task, f: &FnPtr) -> Option<usize> {
    task.runtime().code_units().parameter_count(f)
}

/// The entries for which `f` is true, and the others.
fn divided(context: &NativeCallContext<'_>, map: &mut Map, f: &FnPtr) -> Fallible<(Map, Map)> {
    let task = Task::of(context);
    let taken = parameters_of(&task, f);
    let (mut yes, mut no) = (Map::new(), Map::new());
    for (key, value) in map.iter_mut() {
        task.check()?;
        let chosen = call_with_entry(context, f, taken, key, value)?.as_bool().unwrap_or(false);
        let side = if chosen { &mut yes } else { &mut no };
        side.insert(key.clone(), value.clone());
    }
    Ok((yes, no))
}

fn call_with_entry(
    context: &NativeCallContext<'_>,
    f: &FnPtr,
    taken: Option<usize>,
    key: &str,
    value: &mut Dynamic,
) -> Fallible<Dynamic> {
    let key = Dynamic::from(key.to_owned());
    match taken {
        Some(0) => call_on(context, f, value, Vec::new()),
        Some(1) => call_on(context, f, value, vec![key]),
        Some(_) => f.call_raw(context, None, [key, value.clone()]),
        None => f.call_raw_with_extra_args("filter", context, Some(value), [key], [], Some(1)),
    }
}
