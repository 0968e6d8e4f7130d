//! The walk over a value. It writes at least one byte for every node it visits and stops at the budget, so its cost is that of
//! its text, whatever the size of the value. It never waits for a lock and meets every cycle only once.

use super::kinds::{is_foreign, is_full_of_quotes, is_name, is_small_number, number, push_in_quotes};
use super::table::{self, Asked};
use super::types::{Budget, Elided, EntryEnd, EntryShown, Hook, Rendered, Shown, is_whole};
use crate::base::limits::{bytes, thousands};
use crate::render::failure;
use crate::render::plain::{fitting, is_unsafe, push_escape};
use crate::render::style::Style;
use rhai::{Array, Blob, Dynamic, FnPtr, ImmutableString, Map};
use std::fmt::{Display, Write};
use std::ops::{Range, RangeInclusive};

/// Characters of a name: of a type, a function, a parameter.
const NAME: usize = 80;
/// Bytes of a string whose characters are counted between two questions whether to go on.
const COUNTED: usize = 1 << 20;
/// Locked cells after which no further cell is tried: each costs a pause that Rhai makes.
const PATIENCE: usize = 4;
/// Bytes of a mark between head and tail.
const MARK: usize = 40;
/// Handles that are followed to their value inside one another.
const ENTRIES: usize = 3;

/// Renders a value that is the whole result of an eval.
///
/// `stopped` is asked on the way; once it says true the rest is left out and what is elided is [`Elided::Uncounted`]. A value
/// marked by [`whole`](super::whole) gets [`Budget::WHOLE`], whatever `budget` says.
pub(crate) fn value(value: &Dynamic, budget: &Budget, hook: Hook<'_>, stopped: &dyn Fn() -> bool) -> Rendered {
    let marked = is_whole(value);
    render(value, if marked { &Budget::WHOLE } else { budget }, marked, hook, stopped)
}

fn render(value: &Dynamic, budget: &Budget, raw: bool, hook: Hook<'_>, stopped: &dyn Fn() -> bool) -> Rendered {
    // What is written after the limit was met: a mark and a bracket for each open level, and one mark of a string.
    let slack = 32 * (budget.depth + 1) + 64;
    let limit = budget.bytes.saturating_sub(slack).max(budget.bytes / 2);
    let mut walk = Walk {
        out: String::new(),
        limit,
        budget,
        hook,
        stopped,
        elided: Elided::None,
        open: Vec::new(),
        busy: 0,
        entries: 0,
    };
    walk.top(value, raw);
    let Walk { mut out, mut elided, .. } = walk;
    if out.len() > budget.bytes {
        // Only budgets smaller than the slack come here.
        out.truncate(fitting(&out, budget.bytes).len());
        elided = Elided::Uncounted;
    }
    Rendered { text: out, elided }
}

struct Walk<'a> {
    out: String,
    /// Length of `out` at which nothing new is begun.
    limit: usize,
    budget: &'a Budget,
    hook: Hook<'a>,
    stopped: &'a dyn Fn() -> bool,
    elided: Elided,
    /// Addresses of the shared cells that are being shown.
    open: Vec<usize>,
    busy: usize,
    entries: usize,
}

impl Walk<'_> {
    /// True while there is room to show more and nobody stopped it.
    fn goes_on(&mut self) -> bool {
        if (self.stopped)() {
            self.elided = Elided::Uncounted;
            self.limit = 0;
        }
        self.out.len() < self.limit
    }

    fn elide_items(&mut self, items: usize) {
        self.elided = self.elided.and(Elided::Counted { items, characters: 0 });
    }

    /// Stands for a value that is not shown.
    fn elide_one(&mut self) {
        self.out.push_str("… 1 elided");
        self.elide_items(1);
    }

    fn push(&mut self, shown: impl Display) {
        write!(self.out, "{shown}").expect("writing to a string cannot fail");
    }

    /// A value that is the whole result.
    fn top(&mut self, value: &Dynamic, raw: bool) {
        if value.is_shared() {
            self.shared(value, |walk, inner| walk.top(inner, raw));
        } else if let Some(text) = value.read_lock::<ImmutableString>() {
            if raw || (text.contains('\n') && !text.trim().is_empty()) {
                self.lines(&text);
            } else if is_full_of_quotes(&text)
                && let Some(characters) = self.count(&text)
            {
                self.push(format_args!("text · {} characters\n", thousands(characters)));
                self.lines(&text);
            } else {
                self.string(&text, usize::MAX);
            }
        } else if let Some(table) = value.read_lock::<Array>().and_then(|items| self.table(&items)) {
            self.out.push_str(&table.text);
            self.elided = self.elided.and(table.elided);
        } else if is_foreign(value)
            && let Some(shown) = (self.hook)(value)
        {
            match shown {
                Shown::Entry(entry) => self.entry(&entry),
                other => self.shown(other, 0),
            }
        } else {
            self.node(value, 0);
        }
    }

    /// A list of like maps as a table.
    fn table(&self, items: &Array) -> Option<Rendered> {
        let container = |value: &Dynamic| self.in_one_cell(value);
        let asked = Asked { container: &container, count: &|text| self.count(text), stopped: self.stopped };
        table::table(items, self.budget, self.limit.saturating_sub(self.out.len()), &asked)
    }

    /// A value on a line as short as a cell of a table, if all of it fits.
    fn in_one_cell(&self, value: &Dynamic) -> Option<String> {
        let mut walk = Walk {
            out: String::new(),
            limit: 4 * table::CONTAINER,
            budget: self.budget,
            hook: self.hook,
            stopped: self.stopped,
            elided: Elided::None,
            open: Vec::new(),
            busy: self.busy,
            entries: ENTRIES,
        };
        // Inside the list and the map.
        walk.node(value, 2);
        (walk.elided == Elided::None && walk.out.chars().count() <= table::CONTAINER).then_some(walk.out)
    }

    /// A value inside `depth` containers.
    fn node(&mut self, value: &Dynamic, depth: usize) {
        if !self.goes_on() {
            self.elide_one();
        } else if value.is_shared() {
            self.shared(value, |walk, inner| walk.node(inner, depth));
        } else if value.is_unit() {
            self.out.push_str("()");
        } else if let Some(number) = number(value) {
            self.out.push_str(&number);
        } else if value.is_bool() {
            self.push(value);
        } else if let Some(text) = value.read_lock::<ImmutableString>() {
            self.string(&text, if depth == 0 { usize::MAX } else { self.budget.string });
        } else if let Ok(c) = value.as_char() {
            self.character(c);
        } else if let Some(items) = value.read_lock::<Array>() {
            self.array(&items, depth);
        } else if let Some(map) = value.read_lock::<Map>() {
            self.map(&map, depth);
        } else if let Some(blob) = value.read_lock::<Blob>() {
            self.blob(&blob);
        } else if let Some(shown) = (self.hook)(value) {
            self.shown(shown, depth);
        } else {
            self.foreign(value, depth);
        }
    }

    /// The value in a shared cell. A cell that another thread is changing is not waited for.
    fn shared(&mut self, value: &Dynamic, show: impl FnOnce(&mut Self, &Dynamic)) {
        let cell = if self.busy < PATIENCE { value.read_lock::<Dynamic>() } else { None };
        let Some(inner) = cell else {
            self.busy += 1;
            self.elided = Elided::Uncounted;
            self.out.push_str("<busy>");
            return;
        };
        let address = std::ptr::from_ref::<Dynamic>(&inner).addr();
        if self.open.contains(&address) {
            self.out.push_str("<cycle>");
            return;
        }
        self.open.push(address);
        show(self, &inner);
        self.open.pop();
    }

    /// The items of a container that fit, with marks for those that do not.
    fn items<T>(
        &mut self,
        separator: &str,
        len: usize,
        head: impl Iterator<Item = T>,
        last: impl FnOnce(usize) -> Vec<T>,
        each: impl Fn(&mut Self, T) + Copy,
    ) {
        let cut = len > self.budget.items;
        let (want, tail) = if cut { (self.budget.head, self.budget.tail.min(len)) } else { (len, 0) };
        let limit = self.limit;
        if tail > 0 {
            // A fifth of the room is kept for the tail.
            self.limit -= limit.saturating_sub(self.out.len()) / 5;
        }
        let mut shown = 0;
        for item in head.take(want) {
            if !self.goes_on() {
                break;
            }
            if shown > 0 {
                self.out.push_str(separator);
            }
            each(self, item);
            shown += 1;
        }
        if self.limit > 0 {
            self.limit = limit;
        }
        let left = len - shown;
        if left == 0 {
            return;
        }
        if shown > 0 {
            self.out.push_str(separator);
        }
        let parts = self.last_that_fit(separator, last(tail.min(left)), each);
        let between = left - parts.len();
        if parts.is_empty() {
            self.push(format_args!("… {} elided", thousands(between)));
        } else {
            self.push(format_args!("… {} elided …", thousands(between)));
        }
        self.elide_items(between);
        for part in parts {
            self.out.push_str(separator);
            self.out.push_str(&part);
        }
    }

    /// The last of some items that fit as a whole, in order.
    fn last_that_fit<T>(&mut self, separator: &str, items: Vec<T>, each: impl Fn(&mut Self, T)) -> Vec<String> {
        let (limit, elided) = (self.limit, self.elided);
        let before = std::mem::take(&mut self.out);
        let mut room = limit.saturating_sub(before.len() + MARK);
        let mut parts = Vec::new();
        for item in items.into_iter().rev() {
            self.limit = room;
            if !self.goes_on() {
                break;
            }
            let elided = self.elided;
            each(self, item);
            let part = std::mem::take(&mut self.out);
            if part.len() + separator.len() > room {
                self.elided = elided;
                break;
            }
            room -= part.len() + separator.len();
            parts.push(part);
        }
        self.out = before;
        if (self.stopped)() {
            // What was shown of the tail may be half of it.
            self.elided = elided;
            parts.clear();
            self.limit = 0;
        } else {
            self.limit = limit;
        }
        parts.reverse();
        parts
    }

    fn array(&mut self, items: &Array, depth: usize) {
        self.out.push('[');
        if depth < self.budget.depth || items.is_empty() {
            let last = |n: usize| items[items.len() - n..].iter().collect();
            self.items(", ", items.len(), items.iter(), last, |walk, item| walk.node(item, depth + 1));
        } else {
            self.push(format_args!("… {} elided", thousands(items.len())));
            self.elide_items(items.len());
        }
        self.out.push(']');
    }

    fn map(&mut self, map: &Map, depth: usize) {
        self.out.push_str("#{");
        if depth < self.budget.depth || map.is_empty() {
            let last = |n: usize| {
                let mut last: Vec<_> = map.iter().rev().take(n).collect();
                last.reverse();
                last
            };
            self.items(", ", map.len(), map.iter(), last, |walk, (key, item)| {
                if is_name(key) && key.len() <= NAME {
                    walk.out.push_str(key);
                } else {
                    walk.string(key, walk.budget.string);
                }
                walk.out.push_str(": ");
                walk.node(item, depth + 1);
            });
        } else {
            self.push(format_args!("… {} elided", thousands(map.len())));
            self.elide_items(map.len());
        }
        self.out.push('}');
    }

    fn blob(&mut self, blob: &Blob) {
        self.out.push_str("blob[");
        let last = |n: usize| blob[blob.len() - n..].iter().collect();
        self.items(" ", blob.len(), blob.iter(), last, |walk, byte| walk.push(format_args!("{byte:02x}")));
        self.out.push(']');
    }

    fn character(&mut self, c: char) {
        self.out.push('\'');
        match c {
            '\'' => self.out.push_str("\\'"),
            '"' => self.out.push('"'),
            c => push_in_quotes(&mut self.out, c),
        }
        self.out.push('\'');
    }

    /// A quoted string of at most `max` characters.
    fn string(&mut self, text: &str, max: usize) {
        self.out.push('"');
        let end = self.characters(text, max, push_in_quotes);
        self.out.push('"');
        self.elide_rest("", &text[end..]);
    }

    /// Appends characters up to `max` or the limit; where it stopped, in bytes.
    fn characters(&mut self, text: &str, max: usize, push: impl Fn(&mut String, char)) -> usize {
        for (n, (i, c)) in text.char_indices().enumerate() {
            if n >= max || self.out.len() >= self.limit {
                return i;
            }
            push(&mut self.out, c);
        }
        text.len()
    }

    /// Says how much of a string is left out.
    fn elide_rest(&mut self, before: &str, rest: &str) {
        if rest.is_empty() {
            return;
        }
        self.out.push_str(before);
        if let Some(characters) = self.count(rest) {
            self.push(format_args!("… {} characters elided", thousands(characters)));
            self.elided = self.elided.and(Elided::Counted { items: 0, characters });
        } else {
            self.push(format_args!("… {} elided", bytes(rest.len())));
            self.elided = Elided::Uncounted;
        }
    }

    /// The number of characters; `None` once it is to stop.
    fn count(&self, text: &str) -> Option<usize> {
        // Every character has one byte that is no continuation of another.
        let begins = |byte: &&u8| (**byte & 0b1100_0000) != 0b1000_0000;
        text.as_bytes()
            .chunks(COUNTED)
            .map(|bytes| if (self.stopped)() { None } else { Some(bytes.iter().filter(begins).count()) })
            .sum()
    }

    /// A text of several lines as itself. No line of it can pass for one of the system's.
    fn lines(&mut self, text: &str) {
        let mut begin = 0;
        for line in text.split_inclusive('\n') {
            if self.out.len() >= self.limit || !self.goes_on() {
                break;
            }
            self.guard(line);
            let end = self.characters(line, usize::MAX, |out, c| match c {
                '\n' | '\t' => out.push(c),
                c if is_unsafe(c) => push_escape(out, c),
                c => out.push(c),
            });
            begin += end;
            if end < line.len() {
                break;
            }
        }
        let before = if self.out.ends_with('\n') { "" } else { "\n" };
        self.elide_rest(before, &text[begin..]);
    }

    /// A text that begins a line may not pass for one of the system's.
    fn guard(&mut self, text: &str) {
        if text.starts_with(";;") && (self.out.is_empty() || self.out.ends_with('\n')) {
            self.out.push(' ');
        }
    }

    /// A name, escaped, on one line.
    fn name(&mut self, name: &str) {
        self.guard(name);
        let end = self.characters(name, NAME, |out, c| if is_unsafe(c) { push_escape(out, c) } else { out.push(c) });
        if end < name.len() {
            self.out.push('…');
        }
    }

    /// The answer of the hook about a value.
    fn shown(&mut self, shown: Shown, depth: usize) {
        match shown {
            Shown::Text(text) => {
                self.guard(&text);
                let max = if depth == 0 { usize::MAX } else { self.budget.string };
                let end =
                    self.characters(&text, max, |out, c| if is_unsafe(c) { push_escape(out, c) } else { out.push(c) });
                self.elide_rest("", &text[end..]);
            }
            Shown::Closure(parameters) => {
                self.out.push('|');
                for (i, parameter) in parameters.iter().enumerate() {
                    if i > 0 {
                        self.out.push_str(", ");
                    }
                    if !self.goes_on() {
                        self.out.push('…');
                        break;
                    }
                    self.name(parameter);
                }
                self.out.push_str("| closure");
            }
            Shown::Entry(entry) => {
                self.out.push('<');
                self.name(&entry.line);
                self.out.push('>');
            }
            Shown::Around(name, inner) => {
                self.name(&name);
                self.out.push('(');
                if depth < self.budget.depth {
                    self.node(&inner, depth + 1);
                } else {
                    self.elide_one();
                }
                self.out.push(')');
            }
        }
    }

    /// A handle that is the whole value: its line, then its end.
    fn entry(&mut self, entry: &EntryShown) {
        let room = self.limit.saturating_sub(self.out.len());
        self.out.push_str(fitting(&entry.facts, room));
        self.entries += 1;
        let asked;
        let end = match &entry.end {
            EntryEnd::Ask(ask) if self.entries <= ENTRIES => {
                asked = ask.put();
                &asked
            }
            end => end,
        };
        match end {
            EntryEnd::Value(value) if self.entries <= ENTRIES && self.goes_on() => {
                self.out.push('\n');
                self.top(value, is_whole(value));
            }
            EntryEnd::Stopped { set, failure } if self.goes_on() => {
                let failure = failure.as_deref().map(|failure| failure::text(failure, None, Style::Agent));
                let text = set.iter().chain(&failure).map(|part| format!("\n{part}")).collect::<String>();
                let room = self.limit - self.out.len();
                let shown = fitting(&text, room);
                self.out.push_str(shown);
                self.elide_rest("\n", &text[shown.len()..]);
            }
            EntryEnd::Value(_) | EntryEnd::Stopped { .. } => self.elide_items(1),
            EntryEnd::Open | EntryEnd::Ask(_) => {}
        }
    }

    /// Functions, ranges, small numbers, and whatever else the hook did not know.
    fn foreign(&mut self, value: &Dynamic, depth: usize) {
        if let Some(function) = value.read_lock::<FnPtr>() {
            return self.function(&function, depth);
        }
        if value.is_timestamp() {
            self.out.push_str("<timestamp>");
        } else if value.is::<Range<i64>>() || value.is::<RangeInclusive<i64>>() || is_small_number(value) {
            self.push(value);
        } else {
            self.out.push('<');
            // The path of a Rust type says more about the program than about the value.
            let path = value.type_name();
            let start = path.split('<').next().and_then(|p| p.rfind("::")).map_or(0, |i| i + 2);
            self.name(&path[start..]);
            self.out.push('>');
        }
    }

    fn function(&mut self, function: &FnPtr, depth: usize) {
        if function.is_anonymous() {
            self.out.push_str("closure");
            return;
        }
        self.out.push_str("Fn(\"");
        self.name(function.fn_name());
        self.out.push_str("\")");
        let curry = function.curry();
        if !curry.is_empty() {
            self.out.push_str(".curry(");
            if depth < self.budget.depth {
                let last = |n: usize| curry[curry.len() - n..].iter().collect();
                self.items(", ", curry.len(), curry.iter(), last, |walk, item| walk.node(item, depth + 1));
            } else {
                self.push(format_args!("… {} elided", thousands(curry.len())));
                self.elide_items(curry.len());
            }
            self.out.push(')');
        }
    }
}
