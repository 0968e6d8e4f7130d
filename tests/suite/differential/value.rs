//! Values as text that shows type and content, so that two values agree exactly when their texts do.

use remontoire::{rhai::Array, rhai::Blob, rhai::Dynamic, rhai::FnPtr, rhai::Map};
use std::fmt::Write as _;
use std::ops::{Range, RangeInclusive};

/// Closures may hold themselves: what lies deeper is not shown.
const DEEPEST: usize = 24;

/// A value with its types: keys in order, floats exactly, closures without the name that the compiler made up.
pub(super) fn rendered(value: &Dynamic) -> String {
    let mut text = String::new();
    render(value, 0, &mut text);
    text
}

fn render(value: &Dynamic, depth: usize, text: &mut String) {
    if depth > DEEPEST {
        text.push('…');
        return;
    }
    // A captured variable is a cell around its value.
    let value = value.flatten_clone();
    if let Ok(float) = value.as_float() {
        // NaN has many forms; any other float is shown so that it can be read back.
        let shown = if float.is_nan() { format!("nan:{:x}", float.to_bits()) } else { format!("{float:?}") };
        text.push_str(&shown);
    } else if let Ok(int) = value.as_int() {
        write!(text, "{int}").unwrap();
    } else if let Ok(char) = value.as_char() {
        write!(text, "{char:?}").unwrap();
    } else if let Some(list) = value.read_lock::<Array>() {
        joined("[", "]", list.iter(), text, |item, text| render(item, depth + 1, text));
    } else if let Some(map) = value.read_lock::<Map>() {
        joined("#{", "}", map.iter(), text, |(key, item), text| {
            write!(text, "{key:?}: ").unwrap();
            render(item, depth + 1, text);
        });
    } else if let Some(blob) = value.read_lock::<Blob>() {
        write!(text, "blob{:02x?}", *blob).unwrap();
    } else if let Some(pointer) = value.read_lock::<FnPtr>() {
        // A name made up by Rhai, or by the engine.
        let made_up = ["anon$", "closure"].iter().any(|prefix| pointer.fn_name().starts_with(prefix));
        let name = if made_up { "closure" } else { pointer.fn_name() };
        joined(&format!("Fn({name}"), ")", pointer.curry().iter(), text, |item, text| {
            text.push_str(" with ");
            render(item, depth + 1, text);
        });
    } else if let Some(range) = value.read_lock::<Range<i64>>() {
        write!(text, "{:?}", *range).unwrap();
    } else if let Some(range) = value.read_lock::<RangeInclusive<i64>>() {
        write!(text, "{:?}", *range).unwrap();
    } else if value.is_string() || value.is_bool() || value.is_unit() {
        write!(text, "{value:?}").unwrap();
    } else {
        text.push_str(value.type_name());
    }
}

fn joined<T>(
    open: &str,
    close: &str,
    items: impl Iterator<Item = T>,
    text: &mut String,
    mut each: impl FnMut(T, &mut String),
) {
    text.push_str(open);
    for (index, item) in items.enumerate() {
        if index > 0 {
            text.push_str(", ");
        }
        each(item, text);
    }
    text.push_str(close);
}
