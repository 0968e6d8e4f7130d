//! Splitting texts. The parts are counted before memory is taken for them, and the eval can be stopped meanwhile.

use super::basics::{STRIDE, fits};
use crate::engine::error::Fallible;
use crate::engine::native::Api;
use crate::engine::task::context::Task;
use rhai::{Array, Dynamic, INT, ImmutableString, NativeCallContext};

/// The bytes that one string takes beside its text.
const STRING_BYTES: usize = 64;

pub(super) fn register(api: &mut Api) {
    type Context<'c> = NativeCallContext<'c>;
    type Text<'t> = &'t mut ImmutableString;
    const DOC: &str = "The parts of a text between separators.";
    const REV: &str = "The parts of a text between separators, the last first.";
    api.function(
        "split",
        &["text: String", "Array"],
        "The words of a text.",
        |context: Context<'_>, text: Text<'_>| parts(&context, text, || text.split_whitespace()),
    );
    api.function(
        "split",
        &["text: String", "by: String", "Array"],
        DOC,
        |context: Context<'_>, text: Text<'_>, by: ImmutableString| parts(&context, text, || text.split(by.as_str())),
    );
    api.function(
        "split",
        &["text: String", "by: char", "Array"],
        DOC,
        |context: Context<'_>, text: Text<'_>, by: char| parts(&context, text, || text.split(by)),
    );
    api.function(
        "split",
        &["text: String", "by: String", "most: int", "Array"],
        DOC,
        |context: Context<'_>, text: Text<'_>, by: ImmutableString, most: INT| {
            parts(&context, text, || text.splitn(at_least_one(most), by.as_str()))
        },
    );
    api.function(
        "split",
        &["text: String", "by: char", "most: int", "Array"],
        DOC,
        |context: Context<'_>, text: Text<'_>, by: char, most: INT| {
            parts(&context, text, || text.splitn(at_least_one(most), by))
        },
    );
    api.function(
        "split_rev",
        &["text: String", "by: String", "Array"],
        REV,
        |context: Context<'_>, text: Text<'_>, by: ImmutableString| parts(&context, text, || text.rsplit(by.as_str())),
    );
    api.function(
        "split_rev",
        &["text: String", "by: char", "Array"],
        REV,
        |context: Context<'_>, text: Text<'_>, by: char| parts(&context, text, || text.rsplit(by)),
    );
    api.function(
        "split_rev",
        &["text: String", "by: String", "most: int", "Array"],
        REV,
        |context: Context<'_>, text: Text<'_>, by: ImmutableString, most: INT| {
            parts(&context, text, || text.rsplitn(at_least_one(most), by.as_str()))
        },
    );
    api.function(
        "split_rev",
        &["text: String", "by: char", "most: int", "Array"],
        REV,
        |context: Context<'_>, text: Text<'_>, by: char, most: INT| {
            parts(&context, text, || text.rsplitn(at_least_one(most), by))
        },
    );
    api.function(
        "to_chars",
        &["text: String", "Array"],
        "The characters of a text.",
        |context: Context<'_>, text: Text<'_>| -> Fallible<Array> {
            let task = Task::of(&context);
            fits(&task, text.len().saturating_mul(size_of::<Dynamic>()))?;
            let mut chars = Array::with_capacity(text.len());
            for (index, c) in text.chars().enumerate() {
                if index % STRIDE == 0 {
                    task.check()?;
                }
                chars.push(Dynamic::from_char(c));
            }
            Ok(chars)
        },
    );
}

/// Zero and less mean one part in Rhai.
fn at_least_one(most: INT) -> usize {
    usize::try_from(most).unwrap_or(1).max(1)
}

/// The parts that `split` gives. An empty text is one part, whatever it is split by.
fn parts<'t, I: Iterator<Item = &'t str>>(
    context: &NativeCallContext<'_>,
    text: &ImmutableString,
    split: impl Fn() -> I,
) -> Fallible<Array> {
    if text.is_empty() {
        return Ok(vec![text.clone().into()]);
    }
    let task = Task::of(context);
    let mut count: usize = 0;
    for _ in split() {
        count += 1;
        if count.is_multiple_of(STRIDE) {
            task.check()?;
        }
    }
    fits(&task, count.saturating_mul(size_of::<Dynamic>() + STRING_BYTES))?;
    let mut parts = Array::with_capacity(count);
    for part in split() {
        if parts.len().is_multiple_of(STRIDE) {
            task.check()?;
        }
        let whole = part.len() == text.len();
        parts.push(if whole { text.clone().into() } else { Dynamic::from(ImmutableString::from(part)) });
    }
    Ok(parts)
}
