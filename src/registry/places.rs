//! Spaces as names: which exist, whose they are, and where each session is. The spaces themselves live elsewhere, by id.

use super::Registry;
use crate::base::{Owner, Refusal, SpaceId};
use std::collections::{BTreeMap, HashMap};
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

/// The nil caller's scratch.
const NIL_SCRATCH: &str = "scratch";

/// What the names of sessions' scratches begin with. Kept free of shared spaces, so that no session ever lands in one that
/// somebody else made under its name.
const SCRATCH_PREFIX: &str = "s-";

/// Longest name, in bytes.
const NAME_BYTES: usize = 80;

/// The name of a session's scratch.
pub(super) fn scratch_name(of: &str) -> String {
    format!("{SCRATCH_PREFIX}{of}")
}

/// The names of all spaces.
pub(super) struct Places {
    newest: u64,
    names: BTreeMap<Arc<str>, (SpaceId, SpaceKind)>,
    shared: usize,
    /// Where the nil caller is.
    nil: Arc<str>,
}

impl Places {
    /// Just the nil caller's scratch.
    pub(super) fn new() -> Self {
        let nil: Arc<str> = NIL_SCRATCH.into();
        let mut places = Self { newest: 0, names: BTreeMap::new(), shared: 0, nil: Arc::clone(&nil) };
        places.add_scratch(nil, Owner::Local);
        places
    }

    pub(super) fn is_taken(&self, name: &str) -> bool {
        self.names.contains_key(name)
    }

    /// How many shared spaces there are.
    pub(super) fn shared(&self) -> usize {
        self.shared
    }

    pub(super) fn add_scratch(&mut self, name: Arc<str>, owner: Owner) -> SpaceId {
        let space = self.fresh();
        self.names.insert(name, (space, SpaceKind::Scratch(owner)));
        space
    }

    pub(super) fn retire(&mut self, name: &str) {
        self.names.remove(name);
    }

    fn add_shared(&mut self, name: Arc<str>) -> SpaceId {
        let space = self.fresh();
        self.names.insert(name, (space, SpaceKind::Shared));
        self.shared += 1;
        space
    }

    fn fresh(&mut self) -> SpaceId {
        self.newest += 1;
        SpaceId(self.newest)
    }

    /// The space `owner` would evaluate in under this name; `None` for a shared one still to be made.
    fn enter(&self, owner: Owner, name: &str, limit: usize) -> Result<Option<SpaceId>, Refusal> {
        if !is_name(name) {
            return Err(Refusal::BadName { name: name.to_owned() });
        }
        match self.names.get(name) {
            Some((_, SpaceKind::Scratch(other))) if *other != owner => {
                Err(Refusal::ForeignScratch { name: name.to_owned() })
            }
            Some((space, _)) => Ok(Some(*space)),
            None if name.starts_with(SCRATCH_PREFIX) => Err(Refusal::NoSuchSpace { name: name.to_owned() }),
            None if self.shared >= limit => Err(Refusal::TooManySpaces { limit }),
            None => Ok(None),
        }
    }
}

/// Whether a text can name a space: segments of letters, digits, `_` and `-`, joined by `/`.
fn is_name(name: &str) -> bool {
    let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    name.len() <= NAME_BYTES && name.split('/').all(|segment| !segment.is_empty() && segment.bytes().all(is_legal))
}

impl<V: Clone> Registry<V> {
    /// The space an eval of `owner` takes place in: the one called `name`, or where the owner is. A new name makes a shared
    /// space, also when the owner was in one that has been dropped since. Names of modules are resolved before this is asked.
    /// Errors: `BadName`, `ForeignScratch`, `TooManySpaces`, `NoSuchSpace` for a name like a scratch's (`s-…`) that nobody
    /// has, `SessionEnded` when the owner is gone.
    pub fn place(&mut self, owner: Owner, name: Option<&str>) -> Result<Place, Refusal> {
        let current = self.current(owner)?;
        let name = name.map_or(current, Arc::from);
        match self.places.enter(owner, &name, self.limits.spaces)? {
            Some(space) => Ok(Place { space, name, created: false }),
            None => Ok(Place { space: self.places.add_shared(Arc::clone(&name)), name, created: true }),
        }
    }

    /// The name of where the owner is: a space's or, when it was moved there, a module's. `SessionEnded` when it is gone.
    pub fn current(&self, owner: Owner) -> Result<Arc<str>, Refusal> {
        let current = match owner {
            Owner::Local => &self.places.nil,
            Owner::Session(_) => &self.sessions.get(owner).ok_or(Refusal::SessionEnded)?.current,
        };
        Ok(Arc::clone(current))
    }

    /// Whether the owner could evaluate in `name`; errors as [`Registry::place`]. Makes nothing.
    pub fn may_enter(&self, owner: Owner, name: &str) -> Result<(), Refusal> {
        if !self.is_alive(owner) {
            return Err(Refusal::SessionEnded);
        }
        self.places.enter(owner, name, self.limits.spaces).map(drop)
    }

    /// The owner is in `name` from now on (checked before, or a module's name). Nothing happens for an ended session.
    pub fn move_session(&mut self, owner: Owner, name: &str) {
        if owner == Owner::Local {
            self.places.nil = name.into();
        } else if let Some(session) = self.sessions.get_mut(owner) {
            session.current = name.into();
        }
    }

    /// The space with this name, whosever it is: what reading needs. `NoSuchSpace` otherwise.
    pub fn find_space(&self, name: &str) -> Result<SpaceId, Refusal> {
        let found = self.places.names.get(name).map(|(space, _)| *space);
        found.ok_or_else(|| Refusal::NoSuchSpace { name: name.to_owned() })
    }

    /// Ends a shared space; the caller drops it after unlocking. Who is there stays there, by name. Errors: `NoSuchSpace`, and
    /// `ScratchStays` for a scratch.
    pub fn drop_shared(&mut self, name: &str) -> Result<SpaceId, Refusal> {
        match self.places.names.get(name) {
            None => Err(Refusal::NoSuchSpace { name: name.to_owned() }),
            Some((_, SpaceKind::Scratch(_))) => Err(Refusal::ScratchStays { name: name.to_owned() }),
            Some((space, SpaceKind::Shared)) => {
                let space = *space;
                self.places.retire(name);
                self.places.shared -= 1;
                Ok(space)
            }
        }
    }

    /// All spaces, by name.
    pub fn spaces(&self) -> Vec<SpaceRow> {
        let mut here: HashMap<&str, usize> = HashMap::from([(&*self.places.nil, 1)]);
        for (_, session) in self.sessions.iter() {
            *here.entry(&session.current).or_default() += 1;
        }
        let row = |(name, (space, kind)): (&Arc<str>, &(SpaceId, SpaceKind))| SpaceRow {
            name: Arc::clone(name),
            space: *space,
            kind: *kind,
            here: here.get(&**name).copied().unwrap_or(0),
        };
        self.places.names.iter().map(row).collect()
    }

    /// How many sessions (and the nil caller) are in the space or module of this name now.
    pub fn here(&self, name: &str) -> usize {
        let sessions = self.sessions.iter().filter(|(_, session)| *session.current == *name).count();
        sessions + usize::from(*self.places.nil == *name)
    }

    /// A fresh id for a space that is kept under another kind of name, such as a module's.
    pub fn fresh_space(&mut self) -> SpaceId {
        self.places.fresh()
    }
}
