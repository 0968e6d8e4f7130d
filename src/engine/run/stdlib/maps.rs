//! The functions of maps that call a function for each entry: `f(key, value)`, or `f(key)` with the value as `this`.

use super::callback::Callback;
use super::lists::{locked, pointer};
use crate::engine::error::Fallible;
use crate::engine::native::Api;
use rhai::{Dynamic, FnPtr, Map, NativeCallContext};
use std::any::TypeId;

pub(super) fn register(api: &mut Api) {
    type Context<'c> = NativeCallContext<'c>;
    let types = [TypeId::of::<Map>(), TypeId::of::<FnPtr>()];
    api.method(
        "filter",
        &types,
        &["map: Map", "f: Fn", "Map"],
        "The entries of a map for which `f(key, value)` is true; with one parameter the value is `this`.",
        true,
        |context, arguments| {
            let f = Callback::new("filter", &context, pointer(arguments)?).on_constant(arguments[0].is_read_only());
            Ok(divided(&f, &mut *locked::<Map>(arguments)?)?.0.into())
        },
    );
    api.method(
        "map",
        &types,
        &["map: Map", "f: Fn", "Map"],
        "A map of what `f(key, value)` makes of each entry; with one parameter the value is `this`.",
        true,
        |context, arguments| {
            let f = Callback::new("map", &context, pointer(arguments)?).on_constant(arguments[0].is_read_only());
            let mut made = Map::new();
            for (key, value) in locked::<Map>(arguments)?.iter_mut() {
                made.insert(key.clone(), f.entry(key, value)?);
            }
            Ok(made.into())
        },
    );
    api.mutating(
        "retain",
        &["map: Map", "f: Fn", "Map"],
        "Keeps the entries for which `f(key, value)` is true, and gives the others.",
        |context: Context<'_>, map: &mut Map, f: FnPtr| -> Fallible<Map> {
            let (kept, gone) = divided(&Callback::new("retain", &context, f), map)?;
            *map = kept;
            Ok(gone)
        },
    );
    api.mutating(
        "drain",
        &["map: Map", "f: Fn", "Map"],
        "Takes out the entries for which `f(key, value)` is true, and gives them.",
        |context: Context<'_>, map: &mut Map, f: FnPtr| -> Fallible<Map> {
            let (gone, kept) = divided(&Callback::new("drain", &context, f), map)?;
            *map = kept;
            Ok(gone)
        },
    );
}

/// The entries for which `f` is true, and the others.
fn divided(f: &Callback<'_>, map: &mut Map) -> Fallible<(Map, Map)> {
    let (mut yes, mut no) = (Map::new(), Map::new());
    for (key, value) in map.iter_mut() {
        let given: Dynamic = f.entry(key, value)?;
        let side = if f.says_yes(&given)? { &mut yes } else { &mut no };
        side.insert(key.clone(), value.clone());
    }
    Ok((yes, no))
}
