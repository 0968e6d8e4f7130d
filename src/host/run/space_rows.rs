//! Rows of spaces with what they hold, and outlines of modules and spaces, for those who list or complete names.

use crate::base::Owner;
use crate::engine::{Fallible, SpaceView, fail, refuse};
use crate::host::core::host_core::HostCore;
use crate::registry::{NamedSpace, SpaceKind};
use crate::spaces::Space;
use crate::spaces::library::ModuleOutline;
use std::sync::Arc;

/// A space and what it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::host) struct SpaceFacts {
    /// Its name.
    pub(in crate::host) name: String,
    /// `scratch`, `shared` or `module`.
    pub(in crate::host) kind: &'static str,
    /// Variables in it.
    pub(in crate::host) variables: usize,
    /// Functions in it.
    pub(in crate::host) functions: usize,
    /// The size of its variables, in bytes.
    pub(in crate::host) bytes: usize,
    /// The session whose scratch it is, if any.
    pub(in crate::host) owner: Option<Arc<str>>,
    /// How many sessions (and the nil caller) are there now.
    pub(in crate::host) here: usize,
}

impl SpaceFacts {
    fn new(name: &str, kind: &'static str) -> Self {
        Self { name: name.to_owned(), kind, variables: 0, functions: 0, bytes: 0, owner: None, here: 0 }
    }

    fn holding(self, space: &Space) -> Self {
        Self { variables: space.variable_count(), functions: space.function_count(), bytes: space.bytes(), ..self }
    }
}

impl HostCore {
    /// Every space, and those that stand for modules in which something was evaluated.
    pub(in crate::host) fn space_facts(&self) -> Vec<SpaceFacts> {
        // What they hold is asked of the spaces themselves, after the registry is unlocked.
        let rows: Vec<_> = {
            let registry = self.registry();
            let row = |row: NamedSpace| {
                let (kind, owner) = match row.kind {
                    SpaceKind::Shared => ("shared", None),
                    SpaceKind::Scratch(Owner::Local) => ("scratch", None),
                    SpaceKind::Scratch(owner @ Owner::Session(_)) => ("scratch", registry.label(owner)),
                };
                (row.space, SpaceFacts { owner, here: row.here, ..SpaceFacts::new(&row.name, kind) })
            };
            registry.spaces().into_iter().map(row).collect()
        };
        let named = rows.into_iter().map(|(id, facts)| match self.known_space(id) {
            Some(space) => facts.holding(&space),
            None => facts,
        });
        let modules = self.known_module_spaces().into_iter().map(|space| {
            let here = self.registry().here(space.name());
            SpaceFacts { here, ..SpaceFacts::new(space.name(), "module") }.holding(&space)
        });
        named.chain(modules).collect()
    }

    /// The outline of a module, or of a space, which is imported as `@name`.
    pub(in crate::host) fn outline(&self, name: &str) -> Fallible<Arc<ModuleOutline>> {
        match name.strip_prefix('@') {
            Some(space) => {
                let id = self.registry().find_space(space).map_err(|refusal| refuse(&refusal))?;
                Ok(Arc::new(ModuleOutline::of_space(&self.space(id, space))))
            }
            None => {
                self.library.outline(name, &*self.hooks.sources).map_err(|error| fail(error.kind(), error.to_string()))
            }
        }
    }
}
