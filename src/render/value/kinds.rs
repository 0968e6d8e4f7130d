//! Kinds of values and characters, as the walk tells them apart.

use crate::render::plain::{is_unsafe, push_escape};
use rhai::Dynamic;

/// Appends a character of a quoted string.
pub(super) fn push_in_quotes(out: &mut String, c: char) {
    match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        c if is_unsafe(c) => push_escape(out, c),
        c => out.push(c),
    }
}

/// True for a value the hook is asked about.
pub(super) fn is_foreign(value: &Dynamic) -> bool {
    !(value.is_unit()
        || value.is_bool()
        || value.is_int()
        || value.is_float()
        || value.is_char()
        || value.is_string()
        || value.is_array()
        || value.is_map()
        || value.is_blob())
}

/// True for numbers of native code that Rhai can hold but not compute with.
pub(super) fn is_small_number(value: &Dynamic) -> bool {
    value.is::<u8>()
        || value.is::<u16>()
        || value.is::<u32>()
        || value.is::<u64>()
        || value.is::<i8>()
        || value.is::<i16>()
        || value.is::<i32>()
        || value.is::<u128>()
        || value.is::<i128>()
        || value.is::<f32>()
}

/// A whole number or a float as it is shown; `None` for anything else.
pub(super) fn number(value: &Dynamic) -> Option<String> {
    match value.as_float() {
        // Rhai leaves out its sign.
        Ok(number) if number == 0.0 && number.is_sign_negative() => Some("-0.0".to_owned()),
        Ok(_) => Some(value.to_string()),
        Err(_) => value.is_int().then(|| value.to_string()),
    }
}

/// True for a text of one line that quotes and escapes would make hard to read: JSON, code.
pub(super) fn is_full_of_quotes(text: &str) -> bool {
    /// Characters of a text that is quoted whatever it is.
    const SHORT: usize = 200;
    /// Bytes that are looked at.
    const LOOKED_AT: usize = 8 << 10;
    let looked_at = text.len().min(LOOKED_AT);
    let quotes = text.as_bytes()[..looked_at].iter().filter(|byte| matches!(byte, b'"' | b'\\')).count();
    text.chars().nth(SHORT).is_some() && quotes * 40 >= looked_at
}

/// True for a key of a map that needs no quotes.
pub(super) fn is_name(key: &str) -> bool {
    let mut chars = key.chars();
    chars.next().is_some_and(|c| c == '_' || c.is_alphabetic()) && chars.all(|c| c == '_' || c.is_alphanumeric())
}
