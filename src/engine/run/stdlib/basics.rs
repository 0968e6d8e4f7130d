//! Sizes, strings, sleeping and sorting: standard functions that could hang or kill the process, in a form that cannot. Sizes
//! are checked before memory is taken, and loops ask whether they must end.

use crate::base::limits::LimitHit;
use crate::engine::error::{Fallible, fail, limit};
use crate::engine::native::Api;
use crate::engine::rhai_internals::markers::NestingCheck;
use crate::engine::task::context::Task;
use crate::engine::value::inspect::{measure, within};
use rhai::{Array, Blob, Dynamic, FnPtr, INT, ImmutableString, NativeCallContext};
use std::cmp::Ordering;
use std::time::Duration;

/// The number of steps a native loop takes between two questions whether to go on.
pub(super) const STRIDE: usize = 1_024;
/// The bytes that one string takes beside its text.
const STRING_BYTES: usize = 64;

pub(super) fn register(api: &mut Api) {
    nesting(api);
    waiting(api);
    growth(api);
    splitting(api);
    reading(api);
    sorting(api);
}

fn nesting(api: &mut Api) {
    api.function(NestingCheck::FUNCTION, &[], "", |value: Dynamic, _behind: Dynamic| value);
    api.function(NestingCheck::FUNCTION, &[], "", |context: NativeCallContext<'_>, value: Dynamic| {
        let task = Task::of(&context);
        let levels = task.nesting();
        if value.is::<FnPtr>() && value.read_lock::<FnPtr>().is_some_and(|pointer| pointer.curry().len() > levels)
            || !within(&value, levels)
        {
            return Err(task.hit(LimitHit::Nesting { limit: levels }));
        }
        Ok(value)
    });
}

/// A span of time as scripts give it. Anything beyond 10,000 years is as good as for ever.
pub(crate) fn seconds(given: f64) -> Fallible<Duration> {
    const LONGEST: f64 = 3e11;
    if given.is_nan() || given < 0.0 {
        return Err(fail("BadArgument", format!("seconds are 0 or more, not {given}")));
    }
    Ok(Duration::from_secs_f64(given.min(LONGEST)))
}

fn waiting(api: &mut Api) {
    const DOC: &str = "Waits for a number of seconds, fractions allowed. Can be cancelled at any time.";
    fn sleep(context: &NativeCallContext<'_>, secs: f64) -> Fallible<()> {
        let task = Task::of(context);
        let until = task.clock().now() + seconds(secs)?;
        task.wait(Some(until), || false).map(|_| ())
    }
    api.function("sleep", &["secs: float"], DOC, |context: NativeCallContext<'_>, secs: f64| sleep(&context, secs));
    api.function("sleep", &["secs: int"], DOC, |context: NativeCallContext<'_>, secs: INT| {
        sleep(&context, secs as f64)
    });
}

/// Refuses what would take more memory than the eval may have.
fn afford(task: &Task, call: &'static str, what: &'static str, asked: INT, unit: usize) -> Fallible<usize> {
    let limit_bytes = task.limits().eval_bytes;
    let count = usize::try_from(asked).unwrap_or(0);
    let most = limit_bytes / unit;
    if count > most {
        let limit_count = INT::try_from(most).unwrap_or(INT::MAX);
        return Err(limit(&LimitHit::Argument { call, what, asked, limit: limit_count }));
    }
    Ok(count)
}

/// Ends the eval when a result of this size does not fit its memory.
fn fits(task: &Task, bytes: usize) -> Fallible<()> {
    if bytes <= task.memory_left() {
        return Ok(());
    }
    let limit = task.limits().eval_bytes;
    Err(task.hit(LimitHit::Memory { limit }))
}

fn growth(api: &mut Api) {
    api.function("blob", &["len: int", "Blob"], "A blob of zeros.", |context: NativeCallContext<'_>, len: INT| {
        blob(&context, len, 0)
    });
    api.function(
        "blob",
        &["len: int", "value: int", "Blob"],
        "A blob filled with one byte.",
        |context: NativeCallContext<'_>, len: INT, value: INT| blob(&context, len, value),
    );
    api.mutating(
        "pad",
        &["list: Array", "len: int", "item: Dynamic"],
        "Adds copies of `item` until the list has `len` items.",
        |context: NativeCallContext<'_>, list: &mut Array, len: INT, item: Dynamic| -> Fallible<()> {
            let task = Task::of(&context);
            let len = afford(&task, "pad", "items", len, size_of::<Dynamic>())?;
            let bytes = size_of::<Dynamic>() + measure(&item, task.nesting()).bytes;
            fits(&task, len.saturating_sub(list.len()).saturating_mul(bytes) / 2)?;
            while list.len() < len {
                task.check()?;
                let next = len.min(list.len() + STRIDE);
                list.resize(next, item.clone());
            }
            Ok(())
        },
    );
    api.mutating(
        "pad",
        &["blob: Blob", "len: int", "value: int"],
        "Adds copies of a byte until the blob has `len` bytes.",
        |context: NativeCallContext<'_>, blob: &mut Blob, len: INT, value: INT| -> Fallible<()> {
            let len = afford(&Task::of(&context), "pad", "bytes", len, 1)?;
            if blob.len() < len {
                blob.resize(len, (value & 0xff) as u8);
            }
            Ok(())
        },
    );
    api.mutating(
        "pad",
        &["text: String", "len: int", "c: char"],
        "Adds a character until the text has `len` characters.",
        |context: NativeCallContext<'_>, text: &mut ImmutableString, len: INT, c: char| {
            pad_text(&context, text, len, c.encode_utf8(&mut [0; 4]))
        },
    );
    api.mutating(
        "pad",
        &["text: String", "len: int", "more: String"],
        "Adds a text until the whole has at least `len` characters, and cuts it there.",
        |context: NativeCallContext<'_>, text: &mut ImmutableString, len: INT, more: ImmutableString| {
            pad_text(&context, text, len, &more)
        },
    );
    api.mutating(
        "replace",
        &["text: String", "find: String", "by: String"],
        "Replaces every occurrence.",
        |context: NativeCallContext<'_>, text: &mut ImmutableString, find: ImmutableString, by: ImmutableString| {
            replace(&context, text, &find, &by)
        },
    );
    api.mutating(
        "replace",
        &["text: String", "find: String", "by: char"],
        "Replaces every occurrence.",
        |context: NativeCallContext<'_>, text: &mut ImmutableString, find: ImmutableString, by: char| {
            replace(&context, text, &find, by.encode_utf8(&mut [0; 4]))
        },
    );
    api.mutating(
        "replace",
        &["text: String", "find: char", "by: String"],
        "Replaces every occurrence.",
        |context: NativeCallContext<'_>, text: &mut ImmutableString, find: char, by: ImmutableString| {
            replace(&context, text, find.encode_utf8(&mut [0; 4]), &by)
        },
    );
}

fn blob(context: &NativeCallContext<'_>, len: INT, value: INT) -> Fallible<Blob> {
    let task = Task::of(context);
    let len = afford(&task, "blob", "bytes", len, 1)?;
    fits(&task, len)?;
    Ok(vec![(value & 0xff) as u8; len])
}

fn pad_text(context: &NativeCallContext<'_>, text: &mut ImmutableString, len: INT, more: &str) -> Fallible<()> {
    let task = Task::of(context);
    let longest_char = 4;
    let len = afford(&task, "pad", "characters", len, longest_char)?;
    let missing = len.saturating_sub(text.chars().count());
    if missing > 0 && !more.is_empty() {
        fits(&task, missing.saturating_mul(longest_char) / 2)?;
        let padding: String = more.chars().cycle().take(missing).collect();
        text.make_mut().push_str(&padding);
    }
    Ok(())
}

fn replace(context: &NativeCallContext<'_>, text: &mut ImmutableString, find: &str, by: &str) -> Fallible<()> {
    if find.is_empty() && text.is_empty() {
        return Ok(());
    }
    let task = Task::of(context);
    let mut found = 0;
    for _ in text.matches(find) {
        found += 1;
        if found % STRIDE == 0 {
            task.check()?;
        }
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
    *text = replaced.into();
    Ok(())
}

/// Splits into parts that were counted first.
fn parts<'t>(
    context: &NativeCallContext<'_>,
    most: Option<INT>,
    count: impl Fn() -> usize,
    split: impl FnOnce(usize) -> Vec<&'t str>,
) -> Fallible<Array> {
    // Zero and less mean one part in the standard functions.
    let most = most.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(1).max(1));
    let pieces = count().saturating_add(1).min(most);
    fits(&Task::of(context), pieces.saturating_mul(size_of::<Dynamic>() + STRING_BYTES))?;
    Ok(split(most).into_iter().map(|part| Dynamic::from(part.to_owned())).collect())
}

/// Rhai throws a bare text here, which a handler that asks for `kind` cannot read.
fn reading(api: &mut Api) {
    const DOC: &str = "The value that a JSON text stands for: `parse_json(text).rows`.";
    api.function("parse_json", &["json: String", "Dynamic"], DOC, |json: &str| -> Fallible<Dynamic> {
        serde_json::from_str(json).map_err(|problem| fail("BadArgument", format!("this is not JSON: {problem}")))
    });
}

fn splitting(api: &mut Api) {
    type Context<'c> = NativeCallContext<'c>;
    type Text<'t> = &'t mut ImmutableString;
    const DOC: &str = "The parts of a text between separators.";
    const REV: &str = "The parts of a text between separators, the last first.";
    api.function(
        "split",
        &["text: String", "Array"],
        "The words of a text.",
        |context: Context<'_>, text: Text<'_>| {
            parts(&context, None, || text.split_whitespace().count(), |_| text.split_whitespace().collect())
        },
    );
    api.function(
        "split",
        &["text: String", "by: String", "Array"],
        DOC,
        |context: Context<'_>, text: Text<'_>, by: ImmutableString| {
            parts(&context, None, || text.matches(by.as_str()).count(), |_| text.split(by.as_str()).collect())
        },
    );
    api.function(
        "split",
        &["text: String", "by: char", "Array"],
        DOC,
        |context: Context<'_>, text: Text<'_>, by: char| {
            parts(&context, None, || text.matches(by).count(), |_| text.split(by).collect())
        },
    );
    api.function(
        "split",
        &["text: String", "by: String", "most: int", "Array"],
        DOC,
        |context: Context<'_>, text: Text<'_>, by: ImmutableString, most: INT| {
            let count = || text.matches(by.as_str()).count();
            parts(&context, Some(most), count, |most| text.splitn(most, by.as_str()).collect())
        },
    );
    api.function(
        "split",
        &["text: String", "by: char", "most: int", "Array"],
        DOC,
        |context: Context<'_>, text: Text<'_>, by: char, most: INT| {
            parts(&context, Some(most), || text.matches(by).count(), |most| text.splitn(most, by).collect())
        },
    );
    api.function(
        "split_rev",
        &["text: String", "by: String", "Array"],
        REV,
        |context: Context<'_>, text: Text<'_>, by: ImmutableString| {
            parts(&context, None, || text.matches(by.as_str()).count(), |_| text.rsplit(by.as_str()).collect())
        },
    );
    api.function(
        "split_rev",
        &["text: String", "by: char", "Array"],
        REV,
        |context: Context<'_>, text: Text<'_>, by: char| {
            parts(&context, None, || text.matches(by).count(), |_| text.rsplit(by).collect())
        },
    );
    api.function(
        "split_rev",
        &["text: String", "by: String", "most: int", "Array"],
        REV,
        |context: Context<'_>, text: Text<'_>, by: ImmutableString, most: INT| {
            let count = || text.matches(by.as_str()).count();
            parts(&context, Some(most), count, |most| text.rsplitn(most, by.as_str()).collect())
        },
    );
    api.function(
        "split_rev",
        &["text: String", "by: char", "most: int", "Array"],
        REV,
        |context: Context<'_>, text: Text<'_>, by: char, most: INT| {
            parts(&context, Some(most), || text.matches(by).count(), |most| text.rsplitn(most, by).collect())
        },
    );
    api.function(
        "to_chars",
        &["text: String", "Array"],
        "The characters of a text.",
        |context: Context<'_>, text: Text<'_>| -> Fallible<Array> {
            fits(&Task::of(&context), text.len().saturating_mul(size_of::<Dynamic>()))?;
            Ok(text.chars().map(Dynamic::from).collect())
        },
    );
    api.function(
        "to_array",
        &["blob: Blob", "Array"],
        "The bytes of a blob as numbers.",
        |context: Context<'_>, blob: &mut Blob| -> Fallible<Array> {
            fits(&Task::of(&context), blob.len().saturating_mul(size_of::<Dynamic>()))?;
            Ok(blob.iter().map(|byte| Dynamic::from(INT::from(*byte))).collect())
        },
    );
}

fn sorting(api: &mut Api) {
    const SORT: &str = "Sorts a list by a function of two items that gives a number below, at or above 0, or whether the first comes first.";
    const ORDER: &str = "The list, sorted as by `sort`; the list itself stays as it is.";
    for name in ["sort", "sort_by"] {
        api.mutating(
            name,
            &["list: Array", "f: Fn"],
            SORT,
            |context: NativeCallContext<'_>, list: &mut Array, f: FnPtr| -> Fallible<()> {
                *list = sorted(&context, list.clone(), &f)?;
                Ok(())
            },
        );
    }
    for name in ["order", "order_by"] {
        api.function(
            name,
            &["list: Array", "f: Fn", "Array"],
            ORDER,
            |context: NativeCallContext<'_>, list: &mut Array, f: FnPtr| sorted(&context, list.clone(), &f),
        );
    }
}

/// A stable merge sort that hands errors on: the standard one swallows them, and a stop with them.
fn sorted(context: &NativeCallContext<'_>, mut list: Array, compare: &FnPtr) -> Fallible<Array> {
    let task = Task::of(context);
    let mut from: Vec<Dynamic> = std::mem::take(&mut list);
    let mut width = 1;
    while width < from.len() {
        let mut to = Vec::with_capacity(from.len());
        let mut rest = from.into_iter();
        loop {
            let left: Vec<Dynamic> = rest.by_ref().take(width).collect();
            if left.is_empty() {
                break;
            }
            let right: Vec<Dynamic> = rest.by_ref().take(width).collect();
            merge(context, &task, compare, left, right, &mut to)?;
        }
        from = to;
        width *= 2;
    }
    Ok(from)
}

fn merge(
    context: &NativeCallContext<'_>,
    task: &Task,
    compare: &FnPtr,
    left: Vec<Dynamic>,
    right: Vec<Dynamic>,
    to: &mut Vec<Dynamic>,
) -> Fallible<()> {
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        task.check()?;
        let order = compare.call_raw(context, None, [a.clone(), b.clone()])?;
        let order = match (order.as_int(), order.as_bool()) {
            (Ok(number), _) => number.cmp(&0),
            (_, Ok(true)) => Ordering::Less,
            (_, Ok(false)) => Ordering::Greater,
            _ => a.type_name().cmp(b.type_name()),
        };
        to.extend(if order == Ordering::Greater { right.next() } else { left.next() });
    }
    to.extend(left);
    to.extend(right);
    Ok(())
}
