//! `find_path`: the places in a nested value at which something stands.

use super::basics::{STRIDE, fits};
use super::callback::Callback;
use super::comparing::Comparison;
use crate::base::limits::LimitHit;
use crate::engine::error::{Fallible, fail};
use crate::engine::native::Api;
use crate::engine::task::context::Task;
use crate::engine::value::inspect::address;
use rhai::{Array, Dynamic, FnPtr, Map};
use std::any::TypeId;
use std::fmt::Write;
use std::sync::Arc;

const DOC: &str =
    "Every place in a nested value that equals `what`, or that the function `what` says yes to, as JSON pointers.";

pub(super) fn register(api: &mut Api) {
    let any = TypeId::of::<Dynamic>();
    let params = ["value: Dynamic", "what: Dynamic", "Array"];
    api.method("find_path", &[any, any], &params, DOC, true, |context, arguments| {
        let [value, what] = arguments else { return Ok(Dynamic::UNIT) };
        let wanted = match what.read_lock::<FnPtr>() {
            Some(f) => Wanted::Function(Callback::new("find_path", &context, f.clone())),
            None => Wanted::Value(Comparison::new(&context), what.flatten_clone()),
        };
        let mut search = Search {
            task: Task::of(&context),
            wanted,
            found: Array::new(),
            bytes: 0,
            path: String::new(),
            open: Vec::new(),
            depth: 0,
            steps: 0,
        };
        search.visit(value, &Dynamic::UNIT)?;
        Ok(search.found.into())
    });
}

/// What is looked for.
enum Wanted<'c> {
    Value(Comparison<'c>, Dynamic),
    Function(Callback<'c>),
}

struct Search<'c> {
    task: Arc<Task>,
    wanted: Wanted<'c>,
    found: Array,
    /// Bytes of what was found.
    bytes: usize,
    /// The place that is looked at.
    path: String,
    /// The cells that are being looked into: each is entered once.
    open: Vec<usize>,
    depth: usize,
    steps: usize,
}

impl Search<'_> {
    /// Looks at a value, which stands in its container at `key`, and at all that is in it.
    fn visit(&mut self, value: &Dynamic, key: &Dynamic) -> Fallible<()> {
        self.steps += 1;
        if self.steps.is_multiple_of(STRIDE) {
            self.task.check()?;
        }
        if value.is_shared() {
            let Some(inner) = value.read_lock::<Dynamic>() else {
                return Err(fail("DataRace", "a captured value is in use by another call or eval"));
            };
            let cell = address(&inner);
            if self.open.contains(&cell) {
                return Ok(());
            }
            self.open.push(cell);
            self.visit(&inner, key)?;
            self.open.pop();
            return Ok(());
        }
        if self.is_wanted(value, key)? {
            self.bytes += self.path.len() + size_of::<Dynamic>();
            if self.found.len().is_multiple_of(STRIDE) {
                fits(&self.task, self.bytes)?;
            }
            self.found.push(self.path.clone().into());
        }
        let before = self.path.len();
        if let Some(items) = value.read_lock::<Array>() {
            self.deeper()?;
            for (index, item) in items.iter().enumerate() {
                write!(self.path, "/{index}").expect("writing to a string cannot fail");
                self.visit(item, &i64::try_from(index).unwrap_or(i64::MAX).into())?;
                self.path.truncate(before);
            }
            self.depth -= 1;
        } else if let Some(members) = value.read_lock::<Map>() {
            self.deeper()?;
            for (name, member) in members.iter() {
                self.path.push('/');
                for c in name.chars() {
                    match c {
                        '~' => self.path.push_str("~0"),
                        '/' => self.path.push_str("~1"),
                        c => self.path.push(c),
                    }
                }
                self.visit(member, &name.as_str().into())?;
                self.path.truncate(before);
            }
            self.depth -= 1;
        }
        Ok(())
    }

    fn deeper(&mut self) -> Fallible<()> {
        self.depth += 1;
        // The stack holds far more, and values that deep cannot be kept.
        if self.depth > self.task.nesting() * 10 {
            return Err(self.task.hit(LimitHit::Nesting { limit: self.task.nesting() }));
        }
        Ok(())
    }

    fn is_wanted(&mut self, value: &Dynamic, key: &Dynamic) -> Fallible<bool> {
        match &mut self.wanted {
            Wanted::Value(comparison, wanted) => comparison.values(value, wanted),
            Wanted::Function(f) => {
                let said = match f.takes([1, 2]) {
                    Some(2) => f.plain([value.clone(), key.clone()])?,
                    _ => f.plain([value.clone()])?,
                };
                f.says_yes(&said)
            }
        }
    }
}
