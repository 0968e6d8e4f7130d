//! Spaces found, made, entered and dropped, by name.

use super::space_names::{NamedSpace, SpaceKind, TargetSpace};
use super::state::Registry;
use crate::base::{Owner, Refusal, SpaceId};
use std::collections::HashMap;
use std::sync::Arc;

impl<V: Clone> Registry<V> {
    /// The space an eval of `owner` takes place in: the one called `name`, or where the owner is. A new name makes a shared
    /// space, also when the owner was in one that has been dropped since. Names of modules are resolved before this is asked.
    /// Errors: `BadName`, `ForeignScratch`, `TooManySpaces`, `NoSuchSpace` for a name like a scratch's (`s-…`) that nobody
    /// has, `SessionEnded` when the owner is gone.
    pub fn target_space(&mut self, owner: Owner, name: Option<&str>) -> Result<TargetSpace, Refusal> {
        let current = self.current(owner)?;
        let name = name.map_or(current, Arc::from);
        match self.space_names.enter(owner, &name, self.limits.spaces)? {
            Some(space) => Ok(TargetSpace { space, name, created: false }),
            None => Ok(TargetSpace { space: self.space_names.add_shared(Arc::clone(&name)), name, created: true }),
        }
    }

    /// The name of the space the owner is in or, when it was moved there, of the module. `SessionEnded` when it is gone.
    pub fn current(&self, owner: Owner) -> Result<Arc<str>, Refusal> {
        let current = match owner {
            Owner::Local => &self.space_names.local,
            Owner::Session(_) => &self.sessions.get(owner).ok_or(Refusal::SessionEnded)?.current,
        };
        Ok(Arc::clone(current))
    }

    /// Tells whether the owner could evaluate in `name`; errors as [`Registry::target_space`]. Makes nothing.
    pub fn may_enter(&self, owner: Owner, name: &str) -> Result<(), Refusal> {
        if !self.is_alive(owner) {
            return Err(Refusal::SessionEnded);
        }
        self.space_names.enter(owner, name, self.limits.spaces).map(drop)
    }

    /// The owner is in `name` from now on (checked before, or a module's name). Nothing happens for an ended session.
    pub fn move_session(&mut self, owner: Owner, name: &str) {
        if owner == Owner::Local {
            self.space_names.local = name.into();
        } else if let Some(session) = self.sessions.get_mut(owner) {
            session.current = name.into();
        }
    }

    /// The space with this name, whosever it is: what reading needs. `NoSuchSpace` otherwise.
    pub fn find_space(&self, name: &str) -> Result<SpaceId, Refusal> {
        self.space_names.find(name)
    }

    /// Ends a shared space; the caller drops it after unlocking. Who is there stays there, by name. Errors: `NoSuchSpace`, and
    /// `ScratchStays` for a scratch.
    pub fn drop_shared(&mut self, name: &str) -> Result<SpaceId, Refusal> {
        self.space_names.drop_shared(name)
    }

    /// All spaces, by name.
    pub fn spaces(&self) -> Vec<NamedSpace> {
        let mut here: HashMap<&str, usize> = HashMap::from([(&*self.space_names.local, 1)]);
        for (_, session) in self.sessions.iter() {
            *here.entry(&session.current).or_default() += 1;
        }
        let row = |(name, space, kind): (&Arc<str>, SpaceId, SpaceKind)| NamedSpace {
            name: Arc::clone(name),
            space,
            kind,
            here: here.get(&**name).copied().unwrap_or(0),
        };
        self.space_names.iter().map(row).collect()
    }

    /// The number of sessions (and the nil caller) in the space or module of this name now.
    pub fn here(&self, name: &str) -> usize {
        let sessions = self.sessions.iter().filter(|(_, session)| *session.current == *name).count();
        sessions + usize::from(*self.space_names.local == *name)
    }

    /// A fresh id for a space that is kept under another kind of name, such as a module's.
    pub fn fresh_space(&mut self) -> SpaceId {
        self.space_names.fresh()
    }
}
