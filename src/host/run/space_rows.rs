//! Rows of spaces with what they hold, and outlines of modules and spaces, for those who list or complete names.

use crate::base::Owner;
use crate::engine::{Fallible, SpaceView, fail, refuse};
use crate::host::core::host_core::HostCore;
use crate::registry::{NamedSpace, SpaceKind};
use crate::render::lists::SpaceRow;
use crate::spaces::Space;
use crate::spaces::library::ModuleOutline;
use std::sync::Arc;

/// The row of a space that is empty and where nobody is.
fn empty(name: &str, kind: &str) -> SpaceRow {
    let (name, kind) = (name.to_owned(), kind.to_owned());
    SpaceRow { name, kind, variables: 0, functions: 0, bytes: 0, owner: None, sessions: 0 }
}

/// The row with what the space holds.
fn holding(row: SpaceRow, space: &Space) -> SpaceRow {
    SpaceRow { variables: space.variable_count(), functions: space.function_count(), bytes: space.bytes(), ..row }
}

impl HostCore {
    /// Every space, and those that stand for modules in which something was evaluated.
    pub(in crate::host) fn space_rows(&self) -> Vec<SpaceRow> {
        // What they hold is asked of the spaces themselves, after the registry is unlocked.
        let rows: Vec<_> = {
            let registry = self.registry();
            let row = |row: NamedSpace| {
                let (kind, owner) = match row.kind {
                    SpaceKind::Shared => ("shared", None),
                    SpaceKind::Scratch(Owner::Local) => ("scratch", None),
                    SpaceKind::Scratch(owner @ Owner::Session(_)) => ("scratch", registry.label(owner)),
                };
                (row.space, SpaceRow { owner, sessions: row.here, ..empty(&row.name, kind) })
            };
            registry.spaces().into_iter().map(row).collect()
        };
        let named = rows.into_iter().map(|(id, row)| match self.known_space(id) {
            Some(space) => holding(row, &space),
            None => row,
        });
        let modules = self.known_module_spaces().into_iter().map(|space| {
            let sessions = self.registry().here(space.name());
            holding(SpaceRow { sessions, ..empty(space.name(), "module") }, &space)
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
