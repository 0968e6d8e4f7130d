//! Values as text and as JSON, bounded: cycles end, sizes are capped, and a stopped eval stops writing.
//!
//! This is what `print(x)`, `` `${x}` `` and `to_json()` produce. How answers show values is decided elsewhere.

use super::atom::Atom;
use super::handle::EntryHandle;
use super::inspect::address;
use crate::base::Cut;
use crate::engine::error::{Fallible, fail};
use crate::engine::rhai_internals::closure_name::names_closure;
use rhai::{Array, Blob, Dynamic, FnPtr, ImmutableString, Map};
use std::fmt::Write;

/// The longest text of one value, in bytes.
pub(crate) const LONGEST: usize = 1 << 20;
/// The deepest level that is written.
const DEEPEST: usize = 200;
/// The number of parts that are written between two questions whether to go on.
const STRIDE: usize = 4_096;
/// The bytes of a text that are worked on in one go.
pub(crate) const PIECE: usize = 1 << 16;

/// A value in Rhai's own notation, as `to_string` gives it. `custom` writes host types; `go_on` is asked now and then.
pub(crate) fn notation(
    value: &Dynamic,
    longest: usize,
    custom: &dyn Fn(&Dynamic) -> Option<ImmutableString>,
    go_on: &dyn Fn() -> bool,
) -> String {
    let mut writer = Writer::new(longest, custom, go_on);
    writer.value(value);
    if writer.cut {
        writer.text.push_str(" … cut here");
    }
    writer.text
}

/// A value in short, for a text that only has to name it.
pub(crate) fn brief(value: &Dynamic, longest: usize) -> String {
    notation(value, longest, &|_| None, &|| true)
}

/// The beginning of a value, for a message, with how much was left out. It ends in `…` when something was.
pub(crate) fn beginning(value: &Dynamic, longest: usize) -> (String, Cut) {
    let mut writer = Writer::new(longest, &|_| None, &|| true);
    writer.value(value);
    let Writer { mut text, cut, left, .. } = writer;
    if !cut {
        return (text, Cut::default());
    }
    text.push('…');
    (text, left)
}

/// The first `longest` bytes of a text, cut between characters, with how much was left out. It ends in `…` when something was.
pub(crate) fn clipped(text: &str, longest: usize) -> (String, Cut) {
    if text.len() <= longest {
        return (text.to_owned(), Cut::default());
    }
    let (shown, rest) = text.split_at(boundary(text, longest));
    let (line, further) = if shown.ends_with('\n') { ("", rest) } else { rest.split_once('\n').unwrap_or((rest, "")) };
    let cut = Cut { characters: line.chars().count(), lines: further.lines().count(), elements: 0 };
    (format!("{shown}…"), cut)
}

/// A text in pieces that are worked on in one go, between two questions whether to go on.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, further) = rest.split_at(rest.ceil_char_boundary(PIECE));
        rest = further;
        Some(piece)
    })
}

/// The last place at or before `at` where a text can be cut.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|place| text.is_char_boundary(*place)).unwrap_or(0)
}

struct Writer<'f> {
    text: String,
    longest: usize,
    custom: &'f dyn Fn(&Dynamic) -> Option<ImmutableString>,
    go_on: &'f dyn Fn() -> bool,
    parts: usize,
    open: Vec<usize>,
    cut: bool,
    /// The parts that were left out at the cut.
    left: Cut,
}

impl<'f> Writer<'f> {
    fn new(
        longest: usize,
        custom: &'f dyn Fn(&Dynamic) -> Option<ImmutableString>,
        go_on: &'f dyn Fn() -> bool,
    ) -> Self {
        let left = Cut::default();
        Self { text: String::new(), longest, custom, go_on, parts: 0, open: Vec::new(), cut: false, left }
    }

    /// Whether there is room for more.
    fn room(&mut self) -> bool {
        self.parts += 1;
        if self.text.len() > self.longest || self.parts.is_multiple_of(STRIDE) && !(self.go_on)() {
            self.cut = true;
        }
        !self.cut
    }

    fn value(&mut self, value: &Dynamic) {
        if !self.room() {
            return;
        }
        if value.is_shared() {
            match value.read_lock::<Dynamic>() {
                None => self.text.push_str("<busy>"),
                Some(inner) if self.open.contains(&address(&inner)) => self.text.push_str("<cycle>"),
                Some(inner) => {
                    self.open.push(address(&inner));
                    self.value(&inner);
                    self.open.pop();
                }
            }
        } else if let Some(items) = value.read_lock::<Array>() {
            self.list("[", items.iter().map(|item| (None, item)), "]");
        } else if let Some(map) = value.read_lock::<Map>() {
            self.list("#{", map.iter().map(|(key, item)| (Some(key.as_str()), item)), "}");
        } else if let Some(text) = value.read_lock::<ImmutableString>() {
            self.string(&text);
        } else if let Ok(c) = value.as_char() {
            self.write(format_args!("{c:?}"));
        } else if let Some(blob) = value.read_lock::<Blob>() {
            self.blob(&blob);
        } else if let Some(pointer) = value.read_lock::<FnPtr>() {
            self.text.push_str(&pointer_text(&pointer));
        } else if let Some(entry) = value.read_lock::<EntryHandle>() {
            self.write(format_args!("entry {}", entry.id()));
        } else if value.is::<Atom>() {
            self.text.push_str("atom");
        } else if let Some(text) = (self.custom)(value) {
            self.text.push_str(&text);
        } else {
            self.write(format_args!("{value:?}"));
        }
    }

    fn list<'v>(
        &mut self,
        open: &str,
        items: impl ExactSizeIterator<Item = (Option<&'v str>, &'v Dynamic)>,
        close: &str,
    ) {
        self.text.push_str(open);
        if self.open.len() >= DEEPEST {
            self.text.push('…');
        } else {
            // A level is counted, though it is no cell: zero is no address.
            self.open.push(0);
            let len = items.len();
            for (index, (key, item)) in items.enumerate() {
                let before = self.text.len();
                if index > 0 {
                    self.text.push_str(", ");
                }
                if let Some(key) = key {
                    self.string(key);
                    self.text.push_str(": ");
                }
                let begun = self.text.len();
                self.value(item);
                if self.cut {
                    let shown = self.text.len() > begun;
                    if !shown {
                        self.text.truncate(before);
                    }
                    self.left.elements += len - index - usize::from(shown);
                    break;
                }
            }
            self.open.pop();
        }
        self.text.push_str(close);
    }

    fn string(&mut self, text: &str) {
        let (shown, rest) = text.split_at(boundary(text, self.longest.saturating_sub(self.text.len())));
        self.write(format_args!("{shown:?}"));
        if !rest.is_empty() {
            self.cut = true;
            self.left.characters += rest.chars().count();
        }
    }

    fn blob(&mut self, blob: &[u8]) {
        self.text.push('[');
        for byte in blob.iter().take(self.longest / 2) {
            self.write(format_args!("{byte:02x}"));
        }
        self.text.push(']');
        let left = blob.len().saturating_sub(self.longest / 2);
        self.cut |= left > 0;
        self.left.elements += left;
    }

    fn write(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _written = self.text.write_fmt(text);
    }
}

/// A function pointer as scripts see it: closures have no name.
pub(crate) fn pointer_text(pointer: &FnPtr) -> String {
    if names_closure(pointer.fn_name()) { "Fn(closure)".to_owned() } else { format!("Fn({})", pointer.fn_name()) }
}

/// A float as scripts see it, with the sign of a zero, which Rhai leaves out.
pub(crate) fn float_text(number: f64) -> String {
    if number == 0.0 && number.is_sign_negative() { "-0.0".to_owned() } else { Dynamic::from(number).to_string() }
}

/// A value as JSON.
///
/// # Errors
/// For a value that holds itself, one nested too deeply, or a text longer than `longest` bytes.
pub(crate) fn json(value: &Dynamic, longest: usize, check: &dyn Fn() -> Fallible<()>) -> Fallible<String> {
    let mut writer = Json { text: String::new(), longest, check, parts: 0, open: Vec::new() };
    writer.value(value)?;
    Ok(writer.text)
}

struct Json<'f> {
    text: String,
    longest: usize,
    check: &'f dyn Fn() -> Fallible<()>,
    parts: usize,
    open: Vec<usize>,
}

impl Json<'_> {
    fn value(&mut self, value: &Dynamic) -> Fallible<()> {
        self.parts += 1;
        if self.text.len() > self.longest || self.parts.is_multiple_of(STRIDE) {
            self.goes_on()?;
        }
        if value.is_shared() {
            let Some(inner) = value.read_lock::<Dynamic>() else {
                return Err(fail("DataRace", "a captured value is in use by another call or eval"));
            };
            if self.open.contains(&address(&inner)) {
                return Err(fail("CyclicValue", "a value that holds itself has no JSON"));
            }
            self.open.push(address(&inner));
            self.value(&inner)?;
            self.open.pop();
        } else if let Some(items) = value.read_lock::<Array>() {
            self.list('[', items.iter().map(|item| (None, item)), ']')?;
        } else if let Some(map) = value.read_lock::<Map>() {
            self.list('{', map.iter().map(|(key, item)| (Some(key.as_str()), item)), '}')?;
        } else if let Some(text) = value.read_lock::<ImmutableString>() {
            self.string(&text)?;
        } else if let Ok(c) = value.as_char() {
            self.string(c.encode_utf8(&mut [0; 4]))?;
        } else if let Ok(number) = value.as_float() {
            // JSON has no infinities.
            let shown = serde_json::Number::from_f64(number).map_or_else(|| "null".to_owned(), |n| n.to_string());
            self.text.push_str(&shown);
        } else if value.is_int() || value.is_bool() {
            self.text.push_str(&value.to_string());
        } else if value.is_unit() {
            self.text.push_str("null");
        } else if let Some(blob) = value.read_lock::<Blob>() {
            self.blob(&blob)?;
        } else {
            self.string(&brief(value, 1_000))?;
        }
        Ok(())
    }

    fn list<'v>(
        &mut self,
        open: char,
        items: impl Iterator<Item = (Option<&'v str>, &'v Dynamic)>,
        close: char,
    ) -> Fallible<()> {
        if self.open.len() >= DEEPEST * 5 {
            return Err(fail("NestingLimit", "the value is nested too deeply for JSON"));
        }
        self.open.push(0);
        self.text.push(open);
        for (index, (key, item)) in items.enumerate() {
            if index > 0 {
                self.text.push(',');
            }
            if let Some(key) = key {
                self.string(key)?;
                self.text.push(':');
            }
            self.value(item)?;
        }
        self.text.push(close);
        self.open.pop();
        Ok(())
    }

    fn string(&mut self, text: &str) -> Fallible<()> {
        self.text.push('"');
        for piece in pieces(text) {
            self.goes_on()?;
            let quoted = serde_json::Value::from(piece).to_string();
            self.text.push_str(&quoted[1..quoted.len() - 1]);
        }
        self.text.push('"');
        Ok(())
    }

    fn blob(&mut self, blob: &Blob) -> Fallible<()> {
        self.text.push('[');
        for (index, byte) in blob.iter().enumerate() {
            if index.is_multiple_of(STRIDE) {
                self.goes_on()?;
            }
            let comma = if index > 0 { "," } else { "" };
            write!(self.text, "{comma}{byte}").expect("writing to a string cannot fail");
        }
        self.text.push(']');
        Ok(())
    }

    fn goes_on(&self) -> Fallible<()> {
        if self.text.len() > self.longest {
            return Err(fail("JsonLimit", format!("the JSON is longer than {} bytes", self.longest)));
        }
        (self.check)()
    }
}
