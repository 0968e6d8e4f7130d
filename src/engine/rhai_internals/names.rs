//! What the walk over a script notes of names: which are local, and which variables of the space are read, written, compared and
//! captured. Knows no expression.

use super::walk::Rewriter;
use rhai::ImmutableString;

impl Rewriter<'_> {
    pub(super) fn is_local(&self, name: &str) -> bool {
        self.locals.iter().flatten().any(|local| local == name)
    }

    pub(super) fn read(&mut self, name: &ImmutableString) {
        if !self.is_local(name) {
            self.reads.insert(name.clone());
        }
    }

    pub(super) fn write(&mut self, name: &ImmutableString) {
        if !self.in_function && !self.is_local(name) {
            self.reads.insert(name.clone());
            self.note_write(name);
            self.hand_over.written(name);
        }
    }

    /// A variable may have changed although nothing says so: it is compared when the statement ends.
    pub(super) fn compare(&mut self, name: &ImmutableString) {
        if !self.in_function && !self.is_local(name) {
            self.note_write(name);
        }
    }

    /// A closure captures a variable: it becomes a cell, and functions see that cell from then on.
    pub(super) fn capture(&mut self, name: &ImmutableString) {
        if self.in_function {
            self.read(name);
        } else if !self.is_local(name) {
            self.reads.insert(name.clone());
            self.captures.push(name.clone());
        }
    }

    pub(super) fn note_write(&mut self, name: &ImmutableString) {
        if !self.writes.contains(name) {
            self.writes.push(name.clone());
        }
    }

    pub(super) fn declare(&mut self, name: &ImmutableString) {
        match self.locals.last_mut() {
            Some(block) => block.push(name.clone()),
            None => self.note_write(name),
        }
    }
}
