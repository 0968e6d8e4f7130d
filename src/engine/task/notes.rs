//! [`Notes`]: the remarks that a running entry collects for its answer.

use crate::base::{Note, lock};
use std::sync::Mutex;

/// The remarks of one entry, each of them once, in the order in which they came up.
#[derive(Debug, Default)]
pub(crate) struct Notes(Mutex<Vec<Note>>);

impl Notes {
    /// Adds a remark, unless it is there.
    pub(super) fn add(&self, note: Note) {
        let mut notes = lock(&self.0);
        if !notes.contains(&note) {
            notes.push(note);
        }
    }

    /// Takes the remarks.
    pub(super) fn take(&self) -> Vec<Note> {
        std::mem::take(&mut *lock(&self.0))
    }
}
