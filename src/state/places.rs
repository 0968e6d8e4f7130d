//! Spaces as names: which exist, whose they are, and where each session is. The spaces themselves live elsewhere, by id.

use super::{Owner, State};
use crate::words::{Refusal, SpaceId};
use std::sync::Arc;

/// Where an eval takes place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The space.
    pub space: SpaceId,
    /// Its name.
    pub name: Arc<str>,
    /// Whether the name was unknown until now: the answer announces a new space.
    pub created: bool,
}

/// What kind of space a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpaceKind {
    /// Private to its owner.
    Scratch(Owner),
    /// Open to everybody.
    Shared,
}

/// A row about one space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpaceRow {
    /// Its name.
    pub name: Arc<str>,
    /// Its id.
    pub space: SpaceId,
    /// Whose it is.
    pub kind: SpaceKind,
    /// How many sessions (and the nil caller) are there now.
    pub here: usize,
}

impl<V: Clone> State<V> {
    /// The space an eval of `owner` takes place in: the one called `name`, or where the owner is. A new name makes a shared
    /// space. Names of modules are resolved before this is asked. Errors: `BadName`, `ForeignScratch`, `TooManySpaces`,
    /// `NoSuchSpace` for a name like a scratch's (`s-…`) that nobody has, `SessionEnded` when the owner is gone.
    pub fn place(&mut self, owner: Owner, name: Option<&str>) -> Result<Place, Refusal> {
        let _ = (owner, name);
        todo!()
    }

    /// The name of where the owner is: a space's or, when it was moved there, a module's. An ended session is nowhere.
    pub fn current(&self, owner: Owner) -> Result<Arc<str>, Refusal> {
        let _ = owner;
        todo!()
    }

    /// Whether the owner could evaluate in `name`; errors as [`State::place`]. Makes nothing.
    pub fn may_enter(&self, owner: Owner, name: &str) -> Result<(), Refusal> {
        let _ = (owner, name);
        todo!()
    }

    /// The owner is in `name` from now on (checked before, or a module's name). Nothing happens for an ended session.
    pub fn move_session(&mut self, owner: Owner, name: &str) {
        let _ = (owner, name);
        todo!()
    }

    /// The space with this name, whosever it is: what reading needs. `NoSuchSpace` otherwise.
    pub fn find_space(&self, name: &str) -> Result<SpaceId, Refusal> {
        let _ = name;
        todo!()
    }

    /// Ends a shared space; the caller drops it after unlocking. Who is there stays there, by name. Errors: `NoSuchSpace`, and
    /// `ScratchStays` for a scratch.
    pub fn drop_shared(&mut self, name: &str) -> Result<SpaceId, Refusal> {
        let _ = name;
        todo!()
    }

    /// All spaces, by name.
    pub fn spaces(&self) -> Vec<SpaceRow> {
        todo!()
    }

    /// A fresh id for a space that is kept under another kind of name, such as a module's.
    pub fn fresh_space(&mut self) -> SpaceId {
        todo!()
    }
}
