//! What is known about places and modules, for those who list or complete names: spaces with what they hold, outlines.

use super::inner::Inner;
use crate::base::Owner;
use crate::base::lock;
use crate::engine::{Fallible, SpaceView, failure, refuse};
use crate::registry::{SpaceKind, SpaceRow};
use crate::spaces::Space;
use crate::spaces::library::{ModuleName, ModuleOutline, ModuleSpace};
use std::collections::HashMap;
use std::sync::{Arc, MutexGuard};

/// A space and what it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SpaceFacts {
    /// Its name.
    pub(super) name: String,
    /// `scratch`, `shared` or `module`.
    pub(super) kind: &'static str,
    /// Variables in it.
    pub(super) variables: usize,
    /// Functions in it.
    pub(super) functions: usize,
    /// What its variables take, in bytes.
    pub(super) bytes: usize,
    /// Whose scratch it is, when it is a session's.
    pub(super) owner: Option<Arc<str>>,
    /// How many sessions (and the nil caller) are there now.
    pub(super) here: usize,
}

impl SpaceFacts {
    fn new(name: &str, kind: &'static str) -> Self {
        Self { name: name.to_owned(), kind, variables: 0, functions: 0, bytes: 0, owner: None, here: 0 }
    }

    fn holding(self, space: &Space) -> Self {
        Self { variables: space.variable_count(), functions: space.function_count(), bytes: space.bytes(), ..self }
    }
}

impl Inner {
    /// Every space, and those that stand for modules in which something was evaluated.
    pub(super) fn space_facts(&self) -> Vec<SpaceFacts> {
        // What they hold is asked of the spaces themselves, after the registry is unlocked.
        let rows: Vec<_> = {
            let state = self.state();
            let row = |row: SpaceRow| {
                let (kind, owner) = match row.kind {
                    SpaceKind::Shared => ("shared", None),
                    SpaceKind::Scratch(Owner::Local) => ("scratch", None),
                    SpaceKind::Scratch(owner @ Owner::Session(_)) => ("scratch", state.label(owner)),
                };
                (row.space, SpaceFacts { owner, here: row.here, ..SpaceFacts::new(&row.name, kind) })
            };
            state.spaces().into_iter().map(row).collect()
        };
        let named = rows.into_iter().map(|(id, facts)| match self.known_space(id) {
            Some(space) => facts.holding(&space),
            None => facts,
        });
        let modules: Vec<_> = self.module_spaces().values().map(|module| Arc::clone(module.space())).collect();
        let modules = modules.into_iter().map(|space| {
            let here = self.state().here(space.name());
            SpaceFacts { here, ..SpaceFacts::new(space.name(), "module") }.holding(&space)
        });
        named.chain(modules).collect()
    }

    /// What a module offers, or a space, which is imported as `@name`.
    pub(super) fn outline(&self, name: &str) -> Fallible<Arc<ModuleOutline>> {
        match name.strip_prefix('@') {
            Some(space) => {
                let id = self.state().find_space(space).map_err(|refusal| refuse(&refusal))?;
                Ok(Arc::new(ModuleOutline::of_space(&self.space(id, space))))
            }
            None => self
                .library
                .outline(name, &*self.hooks().sources)
                .map_err(|error| failure::fail(error.kind(), error.to_string())),
        }
    }

    /// The space that stands for a module, once something was evaluated there.
    pub(super) fn known_module_space(&self, name: &str) -> Option<Arc<Space>> {
        let spaces = self.module_spaces();
        spaces.values().map(|module| module.space()).find(|space| space.name() == name).map(Arc::clone)
    }

    fn module_spaces(&self) -> MutexGuard<'_, HashMap<ModuleName, Arc<ModuleSpace>>> {
        lock(&self.module_spaces)
    }
}
