//! The names of spaces, as data: which exist and whose they are. The spaces themselves live elsewhere, by id.

use crate::base::{Owner, Refusal, SpaceId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The space an eval takes place in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetSpace {
    /// The space.
    pub space: SpaceId,
    /// Its name.
    pub name: Arc<str>,
    /// The name was unknown until now: the answer announces a new space.
    pub created: bool,
}

/// The two kinds of spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpaceKind {
    /// Private to its owner.
    Scratch(Owner),
    /// Open to everybody.
    Shared,
}

/// A space as its name shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedSpace {
    /// Its name.
    pub name: Arc<str>,
    /// Its id.
    pub space: SpaceId,
    /// Its kind, and with it its owner.
    pub kind: SpaceKind,
    /// The number of sessions (and the nil caller) that are there now.
    pub here: usize,
}

/// The nil caller's scratch.
const NIL_SCRATCH: &str = "scratch";

/// The prefix of the names of sessions' scratches. Kept free of shared spaces, so that no session ever lands in one that
/// somebody else made under its name.
const SCRATCH_PREFIX: &str = "s-";

/// Longest name, in bytes.
const NAME_BYTES: usize = 80;

/// The name of a session's scratch.
pub(super) fn scratch_name(of: &str) -> String {
    format!("{SCRATCH_PREFIX}{of}")
}

/// The names of all spaces.
pub(super) struct SpaceNames {
    newest: u64,
    names: BTreeMap<Arc<str>, (SpaceId, SpaceKind)>,
    shared: usize,
    /// The name of the space or module the nil caller is in.
    pub(super) local: Arc<str>,
}

impl SpaceNames {
    /// Just the nil caller's scratch.
    pub(super) fn new() -> Self {
        let local: Arc<str> = NIL_SCRATCH.into();
        let mut names = Self { newest: 0, names: BTreeMap::new(), shared: 0, local: Arc::clone(&local) };
        names.add_scratch(local, Owner::Local);
        names
    }

    pub(super) fn is_taken(&self, name: &str) -> bool {
        self.names.contains_key(name)
    }

    /// The number of shared spaces.
    pub(super) fn shared(&self) -> usize {
        self.shared
    }

    /// Makes a scratch under a name that is free.
    pub(super) fn add_scratch(&mut self, name: Arc<str>, owner: Owner) -> SpaceId {
        let space = self.fresh();
        self.names.insert(name, (space, SpaceKind::Scratch(owner)));
        space
    }

    /// Ends a scratch: its name is free.
    pub(super) fn retire(&mut self, name: &str) {
        self.names.remove(name);
    }

    /// Makes a shared space under a name that is free.
    pub(super) fn add_shared(&mut self, name: Arc<str>) -> SpaceId {
        let space = self.fresh();
        self.names.insert(name, (space, SpaceKind::Shared));
        self.shared += 1;
        space
    }

    /// Ends a shared space. Errors: `NoSuchSpace`, and `ScratchStays` for a scratch.
    pub(super) fn drop_shared(&mut self, name: &str) -> Result<SpaceId, Refusal> {
        match self.names.get(name) {
            None => Err(Refusal::NoSuchSpace { name: name.to_owned() }),
            Some((_, SpaceKind::Scratch(_))) => Err(Refusal::ScratchStays { name: name.to_owned() }),
            Some((space, SpaceKind::Shared)) => {
                let space = *space;
                self.names.remove(name);
                self.shared -= 1;
                Ok(space)
            }
        }
    }

    /// The space with this name, whosever it is.
    pub(super) fn find(&self, name: &str) -> Result<SpaceId, Refusal> {
        let found = self.names.get(name).map(|(space, _)| *space);
        found.ok_or_else(|| Refusal::NoSuchSpace { name: name.to_owned() })
    }

    /// All spaces, by name.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Arc<str>, SpaceId, SpaceKind)> {
        self.names.iter().map(|(name, (space, kind))| (name, *space, *kind))
    }

    /// An id that no space had before.
    pub(super) fn fresh(&mut self) -> SpaceId {
        self.newest += 1;
        SpaceId(self.newest)
    }

    /// The space `owner` would evaluate in under this name; `None` for a shared one still to be made.
    pub(super) fn enter(&self, owner: Owner, name: &str, limit: usize) -> Result<Option<SpaceId>, Refusal> {
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

/// A text can name a space when it is segments of letters, digits, `_` and `-`, joined by `/`.
fn is_name(name: &str) -> bool {
    let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    name.len() <= NAME_BYTES && name.split('/').all(|segment| !segment.is_empty() && segment.bytes().all(is_legal))
}
