//! Values: how deep and large they are, what they hold on to, and whether two are the same.
//!
//! Every walk is bounded in depth and steps over cycles, which a closure kept inside the map it captured makes.

use super::atom::{Atom, reachable};
use super::handle::{EntryHandle, is_host_handle, same_host_handle};
use super::sequences::{Bits, Chars, Steps};
use crate::base::EntryId;
use crate::engine::rhai_internals::closure_name::{identity, is_bound};
use rhai::{Array, Blob, Dynamic, FnPtr, INT, ImmutableString, Map};
use std::collections::{BTreeSet, HashMap, HashSet};

/// The length from which a text is looked for among those that were counted already, in bytes.
const LONG_TEXT: usize = 256;

/// The findings of one walk over a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Measure {
    /// Whether it is nested deeper than was allowed; the other fields are then incomplete.
    pub too_deep: bool,
    /// Its size in bytes: an estimate from above. Captured cells, and long texts that several parts refer to, count once.
    pub bytes: usize,
    /// The entries it has handles of.
    pub entries: BTreeSet<EntryId>,
    /// Whether it holds a function pointer that works only inside its eval.
    pub(crate) bound: bool,
    /// The addresses of the cells that closures in it captured.
    pub(crate) cells: Vec<usize>,
    /// The atoms in it, without those that are in atoms.
    pub(crate) atoms: Vec<Atom>,
    /// The number of bytes that are in atoms.
    pub(crate) in_atoms: usize,
    /// The number of levels it has.
    pub(crate) height: usize,
}

/// Walks over a value, `levels` deep at most. Cells are looked into once, so the cost is the size of the value even when
/// closures share what they captured.
pub(crate) fn measure(value: &Dynamic, levels: usize) -> Measure {
    let mut walk = Walk { found: Measure::default(), cells: HashMap::new(), texts: HashSet::new() };
    // A variable that is itself a cell is looked into without being a captured one.
    let height = match value.is_shared().then(|| value.read_lock::<Dynamic>()).flatten() {
        Some(inner) => {
            walk.cells.insert(address(&inner), 0);
            walk.value(&inner, levels)
        }
        None => walk.value(value, levels),
    };
    let mut found = walk.found;
    found.too_deep = height.is_none();
    found.height = height.unwrap_or(levels);
    // Each atom once: atoms that share atoms would count without bound.
    found.in_atoms = reachable(&found.atoms).iter().map(Atom::own_bytes).sum();
    found.bytes += found.in_atoms;
    found
}

struct Walk {
    found: Measure,
    /// The height of every cell that was looked into; 0 for those that are being looked into, which ends cycles.
    cells: HashMap<usize, usize>,
    /// The addresses of the long texts that were counted.
    texts: HashSet<usize>,
}

impl Walk {
    /// The number of levels a value has; `None` when it has more than `levels`.
    fn value(&mut self, value: &Dynamic, levels: usize) -> Option<usize> {
        self.found.bytes += size_of::<Dynamic>();
        if value.is_shared() {
            let Some(inner) = value.read_lock::<Dynamic>() else { return Some(0) };
            let cell = address(&inner);
            if let Some(&height) = self.cells.get(&cell) {
                self.found.cells.push(cell);
                return (height <= levels).then_some(height);
            }
            self.found.cells.push(cell);
            self.cells.insert(cell, 0);
            let height = self.value(&inner, levels)?;
            self.cells.insert(cell, height);
            return Some(height);
        }
        if is_small(value) {
            return Some(0);
        }
        if let Some(text) = value.read_lock::<ImmutableString>() {
            if text.len() < LONG_TEXT || self.texts.insert(text.as_ptr().addr()) {
                self.found.bytes += text.len();
            }
        } else if let Some(chars) = value.read_lock::<Chars>() {
            self.found.bytes += chars.size();
        } else if let Some(blob) = value.read_lock::<Blob>() {
            self.found.bytes += blob.len();
        } else if let Some(items) = value.read_lock::<Array>() {
            return self.inside(items.iter(), levels);
        } else if let Some(map) = value.read_lock::<Map>() {
            self.found.bytes += map.len() * 3 * size_of::<Dynamic>();
            return self.inside(map.values(), levels);
        } else if let Some(pointer) = value.read_lock::<FnPtr>() {
            self.found.bytes += size_of::<FnPtr>();
            self.found.bound |= is_bound(&pointer);
            if pointer.is_curried() {
                return self.inside(pointer.iter_curry(), levels);
            }
        } else if let Some(entry) = value.read_lock::<EntryHandle>() {
            self.found.entries.insert(entry.id());
        } else if let Some(atom) = value.read_lock::<Atom>() {
            let height = atom.height() + 1;
            self.found.atoms.push(atom.clone());
            return (height <= levels).then_some(height);
        }
        Some(0)
    }

    fn inside<'v>(&mut self, parts: impl Iterator<Item = &'v Dynamic>, levels: usize) -> Option<usize> {
        let levels = levels.checked_sub(1)?;
        let mut highest = 0;
        for part in parts {
            highest = highest.max(self.value(part, levels)?);
        }
        Some(highest + 1)
    }
}

/// Whether a value has no parts worth looking at.
pub(crate) fn is_small(value: &Dynamic) -> bool {
    value.is_int() || value.is_unit() || value.is_bool() || value.is_float() || value.is_char()
}

/// Whether a value only stands for something that is shared by itself.
pub(crate) fn is_handle(value: &Dynamic) -> bool {
    // Asking a cell in use for its type panics.
    if value.is_shared() {
        return value.read_lock::<Dynamic>().is_some_and(|inner| is_handle(&inner));
    }
    value.is::<Atom>() || value.is::<EntryHandle>() || is_host_handle(value)
}

/// The address of a cell, which tells it from others while it lives.
pub(crate) fn address(inner: &Dynamic) -> usize {
    std::ptr::from_ref(inner).addr()
}

/// Empties the captured cells at which a value's depth exceeds `levels`, so that what is left can be dropped just anywhere.
/// Their values are dropped here: call it on a stack that is large enough for any value, the eval's own.
pub(crate) fn empty_deep_cells(value: &Dynamic, levels: usize) {
    let mut search = DeepCells { heights: HashMap::new(), deep: HashMap::new() };
    search.height(value, levels, None);
    // No lock of the walk is held any more: cells may hold each other.
    for mut cell in search.deep.into_values() {
        let Some(mut inner) = cell.write_lock::<Dynamic>() else { continue };
        let value = std::mem::take(&mut *inner);
        drop(inner);
        drop(value);
    }
}

struct DeepCells {
    /// The height of every cell that was looked into; 0 for those that are being looked into.
    heights: HashMap<usize, usize>,
    /// The cells to empty, by address.
    deep: HashMap<usize, Dynamic>,
}

impl DeepCells {
    /// The number of levels a value has once the deep cells are empty. `cell` is the innermost cell around it.
    fn height(&mut self, value: &Dynamic, levels: usize, cell: Option<(usize, &Dynamic)>) -> usize {
        if value.is_shared() {
            let Some(inner) = value.read_lock::<Dynamic>() else { return 0 };
            let cell = (address(&inner), value);
            if let Some(&height) = self.heights.get(&cell.0) {
                return if height <= levels { height } else { self.note(Some(cell)) };
            }
            self.heights.insert(cell.0, 0);
            let height = self.height(&inner, levels, Some(cell));
            self.heights.insert(cell.0, height);
            return height;
        }
        if let Some(items) = value.read_lock::<Array>() {
            self.inside(items.iter(), levels, cell)
        } else if let Some(map) = value.read_lock::<Map>() {
            self.inside(map.values(), levels, cell)
        } else if let Some(pointer) = value.read_lock::<FnPtr>().filter(|pointer| pointer.is_curried()) {
            self.inside(pointer.iter_curry(), levels, cell)
        } else {
            0
        }
    }

    fn inside<'v>(
        &mut self,
        parts: impl Iterator<Item = &'v Dynamic>,
        levels: usize,
        cell: Option<(usize, &Dynamic)>,
    ) -> usize {
        let Some(levels) = levels.checked_sub(1) else { return self.note(cell) };
        parts.map(|part| self.height(part, levels, cell)).max().unwrap_or(0) + 1
    }

    fn note(&mut self, cell: Option<(usize, &Dynamic)>) -> usize {
        if let Some((address, cell)) = cell {
            self.deep.entry(address).or_insert_with(|| cell.clone());
        }
        0
    }
}

/// Changes function pointers in a value, innermost first; `change` says whether it changed one. Ends early, between two
/// captured cells, once `stop` says so.
///
/// No lock is held while `change` runs, which may look into cells itself: the pointers in a cell are changed in a copy, and
/// put back one by one.
pub(crate) fn each_pointer(value: &mut Dynamic, stop: &dyn Fn() -> bool, change: &mut dyn FnMut(&mut FnPtr) -> bool) {
    let mut cells = Vec::new();
    change_plain(value, &mut cells, change);
    let mut seen = HashSet::new();
    while let Some(mut cell) = cells.pop() {
        if stop() {
            return;
        }
        let mut pointers = Vec::new();
        {
            let Some(inner) = cell.read_lock::<Dynamic>() else { continue };
            if !seen.insert(address(&inner)) {
                continue;
            }
            collect_pointers(&inner, &mut pointers, &mut cells);
        }
        let mut changed = false;
        let replacements: Vec<(FnPtr, Option<FnPtr>)> = pointers
            .into_iter()
            .map(|pointer| {
                let mut value = Dynamic::from(pointer.clone());
                let different = change_plain(&mut value, &mut cells, change);
                changed |= different;
                (pointer, value.try_cast().filter(|_| different))
            })
            .collect();
        if changed && let Some(mut inner) = cell.write_lock::<Dynamic>() {
            replace_pointers(&mut inner, &mut replacements.into_iter());
        }
    }
}

/// Changes the pointers that are not in cells, and notes the cells.
fn change_plain(value: &mut Dynamic, cells: &mut Vec<Dynamic>, change: &mut dyn FnMut(&mut FnPtr) -> bool) -> bool {
    let mut changed = false;
    if value.is_shared() {
        cells.push(value.clone());
    } else if is_small(value) {
    } else if let Some(mut items) = value.write_lock::<Array>() {
        items.iter_mut().for_each(|item| changed |= change_plain(item, cells, change));
    } else if let Some(mut map) = value.write_lock::<Map>() {
        map.values_mut().for_each(|item| changed |= change_plain(item, cells, change));
    } else if let Some(mut pointer) = value.write_lock::<FnPtr>() {
        pointer.iter_curry_mut().for_each(|item| changed |= change_plain(item, cells, change));
        changed |= change(&mut pointer);
    }
    changed
}

/// The outermost pointers in what a cell holds, in the order of [`replace_pointers`], and the cells beside them.
fn collect_pointers(value: &Dynamic, pointers: &mut Vec<FnPtr>, cells: &mut Vec<Dynamic>) {
    if value.is_shared() {
        cells.push(value.clone());
    } else if is_small(value) {
    } else if let Some(items) = value.read_lock::<Array>() {
        items.iter().for_each(|item| collect_pointers(item, pointers, cells));
    } else if let Some(map) = value.read_lock::<Map>() {
        map.values().for_each(|item| collect_pointers(item, pointers, cells));
    } else if let Some(pointer) = value.read_lock::<FnPtr>() {
        pointers.push(pointer.clone());
    }
}

/// Puts changed pointers where the old ones were. Another eval may have changed the cell meanwhile: its pointers are left alone.
fn replace_pointers(value: &mut Dynamic, replacements: &mut dyn Iterator<Item = (FnPtr, Option<FnPtr>)>) {
    if value.is_shared() || is_small(value) {
    } else if let Some(mut items) = value.write_lock::<Array>() {
        items.iter_mut().for_each(|item| replace_pointers(item, replacements));
    } else if let Some(mut map) = value.write_lock::<Map>() {
        map.values_mut().for_each(|item| replace_pointers(item, replacements));
    } else if let Some(mut pointer) = value.write_lock::<FnPtr>()
        && let Some((old, Some(new))) = replacements.next()
        && identity(&old) == identity(&pointer)
        && old.curry().len() == pointer.curry().len()
    {
        *pointer = new;
    }
}

/// Whether two values are the same: structure by structure, floats by their bits, cells, atoms and entries by identity; `unknown`
/// for host types without an identity.
pub(crate) fn same_or(a: &Dynamic, b: &Dynamic, unknown: bool) -> bool {
    if a.is_shared() || b.is_shared() {
        return a.is_shared()
            && b.is_shared()
            && matches!((a.read_lock::<Dynamic>(), b.read_lock::<Dynamic>()),
                (Some(x), Some(y)) if address(&x) == address(&y));
    }
    if a.type_id() != b.type_id() || a.tag() != b.tag() {
        return false;
    }
    if let (Ok(x), Ok(y)) = (a.as_int(), b.as_int()) {
        x == y
    } else if a.is_unit() {
        true
    } else if let (Ok(x), Ok(y)) = (a.as_bool(), b.as_bool()) {
        x == y
    } else if let (Ok(x), Ok(y)) = (a.as_float(), b.as_float()) {
        x.to_bits() == y.to_bits()
    } else if let (Ok(x), Ok(y)) = (a.as_char(), b.as_char()) {
        x == y
    } else if let Some(equal) = both::<ImmutableString>(a, b, |x, y| x == y) {
        equal
    } else if let Some(equal) = both::<Array>(a, b, |x, y| all_same(x, y, unknown)) {
        equal
    } else if let Some(equal) = both::<Map>(a, b, |x, y| {
        x.len() == y.len() && x.iter().zip(y).all(|((k, v), (l, w))| k == l && same_or(v, w, unknown))
    }) {
        equal
    } else if let Some(equal) = both::<Blob>(a, b, |x, y| x == y) {
        equal
    } else if let Some(equal) = both::<Atom>(a, b, |x, y| x == y) {
        equal
    } else if let Some(equal) = both::<EntryHandle>(a, b, |x, y| x == y) {
        equal
    } else if let Some(equal) = both::<std::time::Instant>(a, b, |x, y| x == y) {
        equal
    } else if let Some(equal) = both::<std::ops::Range<INT>>(a, b, |x, y| x == y) {
        equal
    } else if let Some(equal) = both::<std::ops::RangeInclusive<INT>>(a, b, |x, y| x == y) {
        equal
    } else if let Some(equal) = both::<Steps<INT>>(a, b, |x, y| x == y) {
        equal
    } else if let Some(equal) = both::<Chars>(a, b, |x, y| x == y) {
        equal
    } else if let Some(equal) = both::<Bits>(a, b, |x, y| x == y) {
        equal
    } else {
        // Other types have no identity we know, unless their owner said so.
        both::<FnPtr>(a, b, |x, y| identity(x) == identity(y) && all_same(x.curry(), y.curry(), unknown))
            .unwrap_or_else(|| same_host_handle(a, b) || unknown)
    }
}

fn both<T: rhai::Variant + Clone>(a: &Dynamic, b: &Dynamic, equal: impl FnOnce(&T, &T) -> bool) -> Option<bool> {
    Some(equal(&*a.read_lock::<T>()?, &*b.read_lock::<T>()?))
}

fn all_same(a: &[Dynamic], b: &[Dynamic], unknown: bool) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| same_or(x, y, unknown))
}

/// Whether a value, curried arguments and captured cells included, is nested no deeper than `levels`.
pub(crate) fn within(value: &Dynamic, levels: usize) -> bool {
    !measure(value, levels).too_deep
}

/// Whether a value holds a function pointer anywhere.
pub(crate) fn holds_functions(value: &Dynamic) -> bool {
    let (mut pointers, mut cells, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
    collect_pointers(value, &mut pointers, &mut cells);
    while pointers.is_empty()
        && let Some(cell) = cells.pop()
    {
        if let Some(inner) = cell.read_lock::<Dynamic>()
            && seen.insert(address(&inner))
        {
            collect_pointers(&inner, &mut pointers, &mut cells);
        }
    }
    !pointers.is_empty()
}
