//! The functions that change a text in place, and give the new text as well; and those that read a number from a text. Sizes are
//! checked before memory is taken, and long texts are worked on piece by piece, so that the eval can be stopped.

use super::basics::{STRIDE, afford, fits};
use super::reading::{bounds, inclusive_bounds};
use crate::engine::error::{Fallible, fail};
use crate::engine::native::Api;
use crate::engine::task::context::Task;
use crate::engine::value::text::{PIECE, clipped, pieces};
use rhai::{Blob, Dynamic, INT, ImmutableString, NativeCallContext};
use std::ops::{Range, RangeInclusive};

type Context<'c> = NativeCallContext<'c>;
type Text<'t> = &'t mut ImmutableString;

pub(super) fn register(api: &mut Api) {
    trimming(api);
    cropping(api);
    growing(api);
    replacing(api);
    characters(api);
    numbers(api);
}

/// Puts a new text in place of the old one, and gives it.
fn put(text: Text<'_>, new: impl Into<ImmutableString>) -> ImmutableString {
    *text = new.into();
    text.clone()
}

fn trimming(api: &mut Api) {
    api.mutating(
        "trim",
        &["text: String", "String"],
        "Takes white space off both ends of a text, in place, and gives the new text.",
        |text: Text<'_>| {
            let trimmed = text.trim();
            if trimmed.len() == text.len() { text.clone() } else { put(text, ImmutableString::from(trimmed)) }
        },
    );
    api.mutating("clear", &["text: String", "String"], "Makes a text empty, and gives it.", |text: Text<'_>| {
        put(text, ImmutableString::new())
    });
    api.mutating(
        "truncate",
        &["text: String", "len: int", "String"],
        "Cuts a text off after `len` characters, in place, and gives the new text.",
        |context: Context<'_>, text: Text<'_>, len: INT| -> Fallible<ImmutableString> {
            let end = byte_at(&Task::of(&context), text, usize::try_from(len).unwrap_or(0))?;
            Ok(cut(text, 0, end))
        },
    );
    for (name, upper) in [("make_upper", true), ("make_lower", false)] {
        let case = if upper { "upper" } else { "lower" };
        api.mutating(
            name,
            &["text: String", "String"],
            &format!("Turns a text into {case} case, in place, and gives the new text."),
            move |context: Context<'_>, text: Text<'_>| -> Fallible<ImmutableString> {
                let turned = in_case(&Task::of(&context), text, upper)?;
                Ok(if turned == text.as_str() { text.clone() } else { put(text, turned) })
            },
        );
        api.mutating(
            name,
            &["c: char", "char"],
            &format!("Turns a character into {case} case, in place, and gives the new one."),
            move |c: &mut char| {
                // What would become several characters stays as it is.
                let turned = if upper { alone(c.to_uppercase()) } else { alone(c.to_lowercase()) };
                *c = turned.unwrap_or(*c);
                *c
            },
        );
    }
}

fn alone(mut chars: impl Iterator<Item = char>) -> Option<char> {
    chars.next().filter(|_| chars.next().is_none())
}

fn in_case(task: &Task, text: &str, upper: bool) -> Fallible<String> {
    fits(task, text.len())?;
    // Only the case of a sigma depends on what stands beside it.
    if !upper && text.contains('Σ') {
        return Ok(text.to_lowercase());
    }
    let mut turned = String::with_capacity(text.len());
    for piece in pieces(text) {
        task.check()?;
        turned.push_str(&if upper { piece.to_uppercase() } else { piece.to_lowercase() });
    }
    turned.shrink_to_fit();
    Ok(turned)
}

fn cropping(api: &mut Api) {
    const PART: &str = "Cuts a text down to a part of it, in place, and gives the new text.";
    api.mutating(
        "crop",
        &["text: String", "start: int", "len: int", "String"],
        "Cuts a text down to the `len` characters from `start`, in place, and gives the new text.",
        |context: Context<'_>, text: Text<'_>, start: INT, len: INT| crop(&context, text, start, len),
    );
    api.mutating(
        "crop",
        &["text: String", "start: int", "String"],
        "Cuts a text down to what is at and after `start`, in place, and gives the new text.",
        |context: Context<'_>, text: Text<'_>, start: INT| crop(&context, text, start, INT::MAX),
    );
    api.mutating(
        "crop",
        &["text: String", "range: Range", "String"],
        PART,
        |context: Context<'_>, text: Text<'_>, range: Range<INT>| {
            let (start, len) = bounds(range.start, range.end);
            crop(&context, text, start, len)
        },
    );
    api.mutating(
        "crop",
        &["text: String", "range: RangeInclusive", "String"],
        PART,
        |context: Context<'_>, text: Text<'_>, range: RangeInclusive<INT>| {
            let (start, len) = inclusive_bounds(&range);
            crop(&context, text, start, len)
        },
    );
}

fn crop(context: &Context<'_>, text: Text<'_>, start: INT, len: INT) -> Fallible<ImmutableString> {
    let task = Task::of(context);
    let start = match usize::try_from(start) {
        Ok(start) => start,
        Err(_) => count(&task, text)?.saturating_sub(usize::try_from(start.unsigned_abs()).unwrap_or(usize::MAX)),
    };
    let begin = byte_at(&task, text, start)?;
    let length = byte_at(&task, &text[begin..], usize::try_from(len).unwrap_or(0))?;
    Ok(cut(text, begin, begin + length))
}

/// Keeps these bytes of a text.
fn cut(text: Text<'_>, begin: usize, end: usize) -> ImmutableString {
    if end - begin == text.len() {
        return text.clone();
    }
    let kept = ImmutableString::from(&text[begin..end]);
    put(text, kept)
}

fn growing(api: &mut Api) {
    api.mutating(
        "append",
        &["text: String", "item: Dynamic", "String"],
        "Adds the text of a value to the end of a text, in place, and gives the new text.",
        |context: Context<'_>, text: Text<'_>, mut item: Dynamic| {
            let shown = context.call_native_fn_raw("to_string", true, &mut [&mut item]).ok();
            let shown = shown.and_then(|shown| shown.into_immutable_string().ok());
            append(&context, text, &shown.unwrap_or_else(|| item.to_string().into()))
        },
    );
    api.mutating(
        "append",
        &["text: String", "utf8: Blob", "String"],
        "Adds bytes that are UTF-8 to the end of a text, in place, and gives the new text.",
        |context: Context<'_>, text: Text<'_>, utf8: Blob| append(&context, text, &String::from_utf8_lossy(&utf8)),
    );
    api.mutating(
        "pad",
        &["text: String", "len: int", "c: char", "String"],
        "Adds a character until the text has `len` characters, in place, and gives the new text.",
        |context: Context<'_>, text: Text<'_>, len: INT, c: char| pad(&context, text, len, c.encode_utf8(&mut [0; 4])),
    );
    api.mutating(
        "pad",
        &["text: String", "len: int", "more: String", "String"],
        "Adds a text until the whole has at least `len` characters, and cuts it there, in place; gives the new text.",
        |context: Context<'_>, text: Text<'_>, len: INT, more: ImmutableString| pad(&context, text, len, &more),
    );
}

fn append(context: &Context<'_>, text: Text<'_>, more: &str) -> Fallible<ImmutableString> {
    if !more.is_empty() {
        fits(&Task::of(context), more.len())?;
        text.make_mut().push_str(more);
    }
    Ok(text.clone())
}

fn pad(context: &Context<'_>, text: Text<'_>, len: INT, more: &str) -> Fallible<ImmutableString> {
    let task = Task::of(context);
    let longest_char = 4;
    let len = afford(&task, "pad", "characters", len, longest_char)?;
    let missing = len.saturating_sub(count(&task, text)?);
    if missing > 0 && !more.is_empty() {
        fits(&task, missing.saturating_mul(longest_char) / 2)?;
        let rounds = missing / more.chars().count();
        let rest: usize = more.chars().take(missing % more.chars().count()).map(char::len_utf8).sum();
        let mut padded = String::with_capacity(text.len() + rounds * more.len() + rest);
        padded.push_str(text);
        let mut padding = more.chars().cycle();
        let mut left = missing;
        while left > 0 {
            task.check()?;
            let next = left.min(PIECE);
            padded.extend(padding.by_ref().take(next));
            left -= next;
        }
        return Ok(put(text, padded));
    }
    Ok(text.clone())
}

fn replacing(api: &mut Api) {
    const REPLACE: &str = "Replaces every occurrence, in place, and gives the new text.";
    const REMOVE: &str = "Takes out every occurrence, in place, and gives the new text.";
    api.mutating(
        "replace",
        &["text: String", "find: String", "by: String", "String"],
        REPLACE,
        |context: Context<'_>, text: Text<'_>, find: ImmutableString, by: ImmutableString| {
            replace(&context, text, &find, &by)
        },
    );
    api.mutating(
        "replace",
        &["text: String", "find: String", "by: char", "String"],
        REPLACE,
        |context: Context<'_>, text: Text<'_>, find: ImmutableString, by: char| {
            replace(&context, text, &find, by.encode_utf8(&mut [0; 4]))
        },
    );
    api.mutating(
        "replace",
        &["text: String", "find: char", "by: String", "String"],
        REPLACE,
        |context: Context<'_>, text: Text<'_>, find: char, by: ImmutableString| {
            replace(&context, text, find.encode_utf8(&mut [0; 4]), &by)
        },
    );
    api.mutating(
        "replace",
        &["text: String", "find: char", "by: char", "String"],
        REPLACE,
        |context: Context<'_>, text: Text<'_>, find: char, by: char| {
            replace(&context, text, find.encode_utf8(&mut [0; 4]), by.encode_utf8(&mut [0; 4]))
        },
    );
    api.mutating(
        "remove",
        &["text: String", "find: String", "String"],
        REMOVE,
        |context: Context<'_>, text: Text<'_>, find: ImmutableString| {
            if find.is_empty() { Ok(text.clone()) } else { replace(&context, text, &find, "") }
        },
    );
    api.mutating(
        "remove",
        &["text: String", "find: char", "String"],
        REMOVE,
        |context: Context<'_>, text: Text<'_>, find: char| replace(&context, text, find.encode_utf8(&mut [0; 4]), ""),
    );
}

fn replace(context: &Context<'_>, text: Text<'_>, find: &str, by: &str) -> Fallible<ImmutableString> {
    let task = Task::of(context);
    let mut found = 0;
    for _ in text.matches(find) {
        found += 1;
        if found % STRIDE == 0 {
            task.check()?;
        }
    }
    if found == 0 || text.is_empty() {
        return Ok(text.clone());
    }
    let length = (text.len() - found * find.len()).saturating_add(found.saturating_mul(by.len()));
    fits(&task, length)?;
    let mut replaced = String::with_capacity(length);
    let mut end = 0;
    for (index, (start, part)) in text.match_indices(find).enumerate() {
        if index % STRIDE == 0 {
            task.check()?;
        }
        replaced.push_str(&text[end..start]);
        replaced.push_str(by);
        end = start + part.len();
    }
    replaced.push_str(&text[end..]);
    Ok(put(text, replaced))
}

fn characters(api: &mut Api) {
    api.mutating(
        "set",
        &["text: String", "index: int", "c: char", "String"],
        "Puts a character in the place of another, and gives the new text; changes nothing when there is no such place.",
        |context: Context<'_>, text: Text<'_>, index: INT, c: char| -> Fallible<ImmutableString> {
            let task = Task::of(&context);
            let place = match usize::try_from(index) {
                Ok(place) => Some(place),
                Err(_) => count(&task, text)?.checked_sub(usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX)),
            };
            let Some(place) = place else { return Ok(text.clone()) };
            let begin = byte_at(&task, text, place)?;
            let Some(old) = text[begin..].chars().next() else { return Ok(text.clone()) };
            let mut changed = String::with_capacity(text.len() + c.len_utf8());
            changed.push_str(&text[..begin]);
            changed.push(c);
            changed.push_str(&text[begin + old.len_utf8()..]);
            Ok(put(text, changed))
        },
    );
}

fn numbers(api: &mut Api) {
    api.function(
        "to_int",
        &["text: String", "int"],
        "The whole number that a text stands for. White space around it is left out; anything else is an error.",
        |text: &str| -> Fallible<INT> { text.trim().parse().map_err(|_| unreadable("to_int", text, "a whole number")) },
    );
    api.function(
        "to_float",
        &["text: String", "float"],
        "The number that a text stands for. White space around it is left out; anything else is an error.",
        |text: &str| -> Fallible<f64> { text.trim().parse().map_err(|_| unreadable("to_float", text, "a number")) },
    );
}

fn unreadable(call: &str, text: &str, wanted: &str) -> Box<rhai::EvalAltResult> {
    fail("BadArgument", format!("{call} cannot read {:?} as {wanted}", clipped(text, 80).0))
}

/// The number of characters.
pub(super) fn count(task: &Task, text: &str) -> Fallible<usize> {
    let mut count = 0;
    for piece in pieces(text) {
        task.check()?;
        count += piece.chars().count();
    }
    Ok(count)
}

/// The byte at which a character begins; the end when there are not as many.
pub(super) fn byte_at(task: &Task, text: &str, place: usize) -> Fallible<usize> {
    let (mut left, mut byte) = (place, 0);
    for piece in pieces(text) {
        task.check()?;
        if let Some((at, _)) = piece.char_indices().nth(left) {
            return Ok(byte + at);
        }
        left -= piece.chars().count();
        byte += piece.len();
    }
    Ok(byte)
}
