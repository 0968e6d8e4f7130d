//! Sizes of lists and blobs, nesting, and sleeping: standard functions that could hang or kill the process, in a form that
//! cannot. Sizes are checked before memory is taken, and loops ask whether they must end.

use crate::base::Note;
use crate::base::limits::LimitHit;
use crate::engine::error::{Fallible, fail, limit};
use crate::engine::marks;
use crate::engine::native::Api;
use crate::engine::rhai_internals::callbacks::stash;
use crate::engine::rhai_internals::markers::NestingCheck;
use crate::engine::task::context::Task;
use crate::engine::value::inspect::{measure, within};
use rhai::{Array, Blob, Dynamic, FnPtr, INT, ImmutableString, NativeCallContext};
use std::time::Duration;

/// The number of steps a native loop takes between two questions whether to go on.
pub(super) const STRIDE: usize = 1_024;
/// The tag of a `()` that the first of the functions gave which work in place; those of the others follow.
const GIVEN: i32 = 0x1a_57_00_00;
/// The bytes that a native function moves between two such questions.
const CHUNK: usize = 1 << 16;

pub(super) fn register(api: &mut Api) {
    nesting(api);
    waiting(api);
    growth(api);
    bytes(api);
}

fn nesting(api: &mut Api) {
    api.function(NestingCheck::FUNCTION, &[], "", |value: Dynamic, _behind: Dynamic| value);
    api.function(
        NestingCheck::NOTING,
        &[],
        "",
        |context: NativeCallContext<'_>, mut value: Dynamic, function: ImmutableString| {
            if value.is_unit() {
                let given = usize::try_from(value.tag() - GIVEN).ok().and_then(|index| marks::in_place().nth(index));
                let function = given.unwrap_or(&function);
                if !function.is_empty() {
                    Task::of(&context).note(Note::InPlace(function.to_owned()));
                }
                value.set_tag(0);
            }
            value
        },
    );
    api.function(NestingCheck::GIVING, &[], "", |mut value: Dynamic, function: ImmutableString| {
        let index = marks::in_place().position(|name| name == function).and_then(|index| i32::try_from(index).ok());
        if let (true, Some(index)) = (value.is_unit(), index) {
            value.set_tag(GIVEN + index);
        }
        value
    });
    let is_list = |value: &Dynamic| value.read_lock::<Array>().is_some() || value.read_lock::<Blob>().is_some();
    api.function(NestingCheck::IS_LIST, &[], "", move |value: &mut Dynamic| is_list(value));
    api.function(NestingCheck::STASHING, &[], "", move |value: Dynamic| {
        let list = is_list(&value);
        stash(value);
        list
    });
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
pub(super) fn afford(task: &Task, call: &'static str, what: &'static str, asked: INT, unit: usize) -> Fallible<usize> {
    let limit_bytes = task.limits().eval_bytes;
    let count = usize::try_from(asked).unwrap_or(0);
    let most = limit_bytes / unit;
    if count > most {
        let limit_count = INT::try_from(most).unwrap_or(INT::MAX);
        return Err(limit(&LimitHit::Argument { call, what, asked, limit: limit_count }));
    }
    Ok(count)
}

/// Ends the eval when a result of this size does not fit its memory, or that of the process.
pub(super) fn fits(task: &Task, bytes: usize) -> Fallible<()> {
    task.afford(bytes)
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
}

fn blob(context: &NativeCallContext<'_>, len: INT, value: INT) -> Fallible<Blob> {
    let task = Task::of(context);
    let len = afford(&task, "blob", "bytes", len, 1)?;
    fits(&task, len)?;
    Ok(vec![(value & 0xff) as u8; len])
}

fn bytes(api: &mut Api) {
    api.function(
        "to_array",
        &["blob: Blob", "Array"],
        "The bytes of a blob as numbers.",
        |context: NativeCallContext<'_>, blob: &mut Blob| -> Fallible<Array> {
            let task = Task::of(&context);
            fits(&task, blob.len().saturating_mul(size_of::<Dynamic>()))?;
            let mut items = Array::with_capacity(blob.len());
            for bytes in blob.chunks(CHUNK) {
                task.check()?;
                items.extend(bytes.iter().map(|byte| Dynamic::from(INT::from(*byte))));
            }
            Ok(items)
        },
    );
}
