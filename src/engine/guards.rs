//! Standard functions that could hang or kill the process, in a form that cannot: sizes are checked before memory is taken,
//! loops ask whether they must end, and values that hold themselves are stepped over.

use super::failure::{Fallible, fail, limit};
use super::portable::{call_on, identity, parameters};
use super::register::Api;
use super::task::Task;
use super::text;
use super::values::{address, within};
use super::volatile::NestingCheck;
use crate::words::limits::LimitHit;
use rhai::{Array, Blob, Dynamic, EvalAltResult, FnPtr, INT, ImmutableString, Map, Module, NativeCallContext};
use std::cmp::Ordering;
use std::time::Duration;

/// How many steps a native loop takes between two questions whether to go on.
const STRIDE: usize = 1_024;
/// What one string takes beside its bytes, in bytes.
const STRING_BYTES: usize = 64;

/// All of them.
pub(crate) fn module() -> Module {
    let mut api = Api::new();
    nesting(&mut api);
    waiting(&mut api);
    growth(&mut api);
    splitting(&mut api);
    sorting(&mut api);
    comparing(&mut api);
    showing(&mut api);
    maps(&mut api);
    reducing(&mut api);
    api.build()
}

fn nesting(api: &mut Api) {
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
        return Err(fail("BadArgument", format!("{given} is not a number of seconds: it must be 0 or more")));
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
    let limit_bytes = task.limits().map_or(usize::MAX, |limits| limits.eval_bytes);
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
    let limit = task.limits().map_or(0, |limits| limits.eval_bytes);
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
            let bytes = size_of::<Dynamic>() + super::values::survey(&item, task.nesting()).bytes;
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
    let found = if by.len() > find.len() { text.matches(find).count() } else { 0 };
    let grown = found.saturating_mul(by.len() - find.len().min(by.len()));
    fits(&Task::of(context), text.len().saturating_add(grown))?;
    *text = text.replace(find, by).into();
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

fn comparing(api: &mut Api) {
    type Context<'c> = NativeCallContext<'c>;
    api.function("==", &[], "", |context: Context<'_>, a: &mut Array, b: Array| Comparison::new(&context).lists(a, &b));
    api.function("!=", &[], "", |context: Context<'_>, a: &mut Array, b: Array| {
        Comparison::new(&context).lists(a, &b).map(|equal| !equal)
    });
    api.function("==", &[], "", |context: Context<'_>, a: &mut Map, b: Map| Comparison::new(&context).maps(a, &b));
    api.function("!=", &[], "", |context: Context<'_>, a: &mut Map, b: Map| {
        Comparison::new(&context).maps(a, &b).map(|equal| !equal)
    });
    api.function("==", &[], "", |a: FnPtr, b: FnPtr| identity(&a) == identity(&b));
    api.function("!=", &[], "", |a: FnPtr, b: FnPtr| identity(&a) != identity(&b));
    api.function(
        "contains",
        &["list: Array", "value: Dynamic", "bool"],
        "Whether a list has an item that equals `value`. `value in list` asks this.",
        |context: Context<'_>, list: &mut Array, value: Dynamic| -> Fallible<bool> {
            Ok(find(&context, list, &value, 0)?.is_some())
        },
    );
    api.function(
        "index_of",
        &["list: Array", "value: Dynamic", "int"],
        "The place of the first item that equals `value`, or -1.",
        |context: Context<'_>, list: &mut Array, value: Dynamic| place(find(&context, list, &value, 0)),
    );
    api.function(
        "index_of",
        &["list: Array", "value: Dynamic", "start: int", "int"],
        "The place of the first item at or after `start` that equals `value`, or -1.",
        |context: Context<'_>, list: &mut Array, value: Dynamic, start: INT| {
            let start = match usize::try_from(start) {
                Ok(start) => start,
                // From the end, as everywhere in the language.
                Err(_) => list.len().saturating_sub(usize::try_from(start.unsigned_abs()).unwrap_or(usize::MAX)),
            };
            place(find(&context, list, &value, start))
        },
    );
}

fn place(found: Fallible<Option<usize>>) -> Fallible<INT> {
    Ok(found?.and_then(|index| INT::try_from(index).ok()).unwrap_or(-1))
}

fn find(context: &NativeCallContext<'_>, list: &[Dynamic], value: &Dynamic, start: usize) -> Fallible<Option<usize>> {
    let mut comparison = Comparison::new(context);
    for (index, item) in list.iter().enumerate().skip(start) {
        if comparison.values(item, value)? {
            return Ok(Some(index));
        }
    }
    Ok(None)
}

/// One comparison by `==`, which ends when the eval must, and steps over cycles.
struct Comparison<'c> {
    context: &'c NativeCallContext<'c>,
    task: std::sync::Arc<Task>,
    steps: usize,
    /// The pairs of cells being compared: equal as far as they are concerned.
    open: Vec<(usize, usize)>,
    depth: usize,
}

impl<'c> Comparison<'c> {
    fn new(context: &'c NativeCallContext<'c>) -> Self {
        Self { context, task: Task::of(context), steps: 0, open: Vec::new(), depth: 0 }
    }

    fn lists(&mut self, a: &[Dynamic], b: &[Dynamic]) -> Fallible<bool> {
        if a.len() != b.len() {
            return Ok(false);
        }
        self.deeper(|this| {
            for (x, y) in a.iter().zip(b) {
                if !this.values(x, y)? {
                    return Ok(false);
                }
            }
            Ok(true)
        })
    }

    fn maps(&mut self, a: &Map, b: &Map) -> Fallible<bool> {
        if a.len() != b.len() {
            return Ok(false);
        }
        self.deeper(|this| {
            for ((key, x), (other, y)) in a.iter().zip(b) {
                if key != other || !this.values(x, y)? {
                    return Ok(false);
                }
            }
            Ok(true)
        })
    }

    fn deeper(&mut self, compare: impl FnOnce(&mut Self) -> Fallible<bool>) -> Fallible<bool> {
        self.depth += 1;
        // The stack holds far more, and values that deep cannot be kept.
        if self.depth > self.task.nesting() * 10 {
            return Err(self.task.hit(LimitHit::Nesting { limit: self.task.nesting() }));
        }
        let equal = compare(self);
        self.depth -= 1;
        equal
    }

    fn values(&mut self, a: &Dynamic, b: &Dynamic) -> Fallible<bool> {
        self.steps += 1;
        if self.steps.is_multiple_of(STRIDE) {
            self.task.check()?;
        }
        if a.is_shared() || b.is_shared() {
            return self.cells(a, b);
        }
        if let (Some(x), Some(y)) = (a.read_lock::<Array>(), b.read_lock::<Array>()) {
            return self.lists(&x, &y);
        }
        if let (Some(x), Some(y)) = (a.read_lock::<Map>(), b.read_lock::<Map>()) {
            return self.maps(&x, &y);
        }
        if let (Some(x), Some(y)) = (a.read_lock::<FnPtr>(), b.read_lock::<FnPtr>()) {
            return Ok(identity(&x) == identity(&y));
        }
        let (mut a, mut b) = (a.clone(), b.clone());
        match self.context.call_native_fn_raw("==", true, &mut [&mut a, &mut b]) {
            Ok(equal) => Ok(equal.as_bool().unwrap_or(false)),
            // Values of different types are different; those of a type that cannot be compared are an error.
            Err(error) => match *error {
                EvalAltResult::ErrorFunctionNotFound(..) if a.type_id() != b.type_id() => Ok(false),
                _ => Err(error),
            },
        }
    }

    fn cells(&mut self, a: &Dynamic, b: &Dynamic) -> Fallible<bool> {
        let inner = |value: &Dynamic| value.read_lock::<Dynamic>().map(|inner| (address(&inner), inner.clone()));
        let outer = |value: &Dynamic| if value.is_shared() { inner(value) } else { Some((0, value.clone())) };
        let (Some((x, a)), Some((y, b))) = (outer(a), outer(b)) else {
            return Err(fail("DataRace", "a captured value is in use by another call or eval"));
        };
        if x == y && x != 0 || self.open.contains(&(x, y)) {
            return Ok(true);
        }
        self.open.push((x, y));
        let equal = self.values(&a, &b);
        self.open.pop();
        equal
    }
}

fn showing(api: &mut Api) {
    type Context<'c> = NativeCallContext<'c>;
    // The language falls back to its own, endless text when one of these fails: they never do.
    for name in ["print", "to_string", "debug", "to_debug"] {
        api.function(name, &[], "", |context: Context<'_>, list: &mut Array| shown(&context, list));
        api.function(name, &[], "", |context: Context<'_>, map: &mut Map| shown(&context, map));
        api.function(name, &[], "", |pointer: &mut FnPtr| text::pointer_text(pointer));
    }
    api.function("to_json", &["map: Map", "String"], "The map as JSON.", |context: Context<'_>, map: &mut Map| {
        let task = Task::of(&context);
        let longest = task.limits().map_or(usize::MAX, |limits| limits.eval_bytes / 2);
        borrowed(map, |value| text::json(value, longest, &|| task.check()))
    });
}

fn shown<T: rhai::Variant + Clone + Default>(context: &NativeCallContext<'_>, place: &mut T) -> ImmutableString {
    let task = Task::of(context);
    let custom = |value: &Dynamic| {
        let mut value = value.clone();
        context.call_native_fn_raw("to_debug", true, &mut [&mut value]).ok()?.into_immutable_string().ok()
    };
    borrowed(place, |value| text::notation(value, text::LONGEST, &custom, &|| !task.must_end())).into()
}

/// Looks at a list or map as a value, without copying it.
fn borrowed<T: rhai::Variant + Clone + Default, R>(place: &mut T, look: impl FnOnce(&Dynamic) -> R) -> R {
    let value = Dynamic::from(std::mem::take(place));
    let result = look(&value);
    if let Some(back) = value.try_cast::<T>() {
        *place = back;
    }
    result
}

/// Functions that hand `this` to a closure. A portable closure cannot tell `this` from an argument by their number, so its own
/// number of parameters decides.
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
                match taken {
                    Some(0) => call_on(&context, &f, item, Vec::new())?,
                    Some(_) => call_on(&context, &f, item, vec![index])?,
                    None => f.call_raw_with_extra_args("for_each", &context, Some(item), [], [index], None)?,
                };
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
    parameters(task.homes()?, f)
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
