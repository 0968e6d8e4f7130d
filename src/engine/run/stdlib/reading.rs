//! The functions of lists and blobs that only read, and which Rhai refuses on constants, and so in functions that read a
//! variable of their space.

use crate::engine::native::Api;
use rhai::{Array, Blob, Dynamic, INT};
use std::ops::{Range, RangeInclusive};

pub(super) fn register(api: &mut Api) {
    api.function(
        "get",
        &["list: Array", "index: int", "Dynamic"],
        "The item at a place, from the end when `index` is below 0; `()` when there is none.",
        |list: &mut Array, index: INT| list.get(offset(list.len(), index)).cloned().unwrap_or_default(),
    );
    parts::<Array>(api, "list: Array", "Array", "items", |part| Dynamic::from_array(part.to_vec()));
    parts::<Blob>(api, "blob: Blob", "Blob", "bytes", |part| Dynamic::from_blob(part.to_vec()));
}

/// Adds the four forms of `extract` for lists or blobs.
fn parts<T>(api: &mut Api, object: &str, returned: &str, of: &str, copy: fn(&[T::Item]) -> Dynamic)
where
    T: rhai::Variant + Clone + IntoIterator + AsRef<[<T as IntoIterator>::Item]>,
    T::Item: 'static,
{
    let doc = |which: &str| format!("A copy of the {of} {which}.");
    api.function(
        "extract",
        &[object, "start: int", "len: int", returned],
        &doc("from `start`, at most `len`; from the end when `start` is below 0"),
        move |object: &mut T, start: INT, len: INT| copy(part(object.as_ref(), start, len)),
    );
    api.function(
        "extract",
        &[object, "start: int", returned],
        &doc("from `start` to the end; from the end when it is below 0"),
        move |object: &mut T, start: INT| copy(part(object.as_ref(), start, INT::MAX)),
    );
    api.function(
        "extract",
        &[object, "range: Range", returned],
        &doc("in a range"),
        move |object: &mut T, range: Range<INT>| {
            let (start, len) = bounds(range.start, range.end);
            copy(part(object.as_ref(), start, len))
        },
    );
    api.function(
        "extract",
        &[object, "range: RangeInclusive", returned],
        &doc("in a range"),
        move |object: &mut T, range: RangeInclusive<INT>| {
            let (start, len) = inclusive_bounds(&range);
            copy(part(object.as_ref(), start, len))
        },
    );
}

/// The place that an index stands for: from the end when it is below 0, and the end when it is beyond it.
pub(super) fn offset(len: usize, index: INT) -> usize {
    match usize::try_from(index) {
        Ok(index) => index.min(len),
        Err(_) => len.saturating_sub(usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX)),
    }
}

/// The start and the length of a range of places. What is before the first place is left out.
pub(super) fn bounds(start: INT, end: INT) -> (INT, INT) {
    let start = start.max(0);
    (start, end.max(start) - start)
}

/// The same for a range with its end. Rhai lets it have one place at least.
pub(super) fn inclusive_bounds(range: &RangeInclusive<INT>) -> (INT, INT) {
    let start = (*range.start()).max(0);
    (start, (*range.end()).max(start).min(INT::MAX - 1) - start + 1)
}

fn part<T>(items: &[T], start: INT, len: INT) -> &[T] {
    let start = offset(items.len(), start);
    let len = usize::try_from(len).unwrap_or(0).min(items.len() - start);
    &items[start..start + len]
}
