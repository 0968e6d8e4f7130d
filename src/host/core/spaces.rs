//! The spaces of a host, by their ids, and those that stand for modules.

use super::host_core::HostCore;
use crate::base::{SpaceId, lock};
use crate::engine::SpaceView;
use crate::spaces::Space;
use crate::spaces::library::{ModuleName, ModuleSpace};
use std::sync::{Arc, PoisonError};

impl HostCore {
    /// The space with this id and name, made when it is not there yet. One that has ended meanwhile is closed and kept nowhere.
    pub(in crate::host) fn space(&self, id: SpaceId, name: &str) -> Arc<Space> {
        if let Some(space) = self.known_space(id) {
            return space;
        }
        let mut spaces = self.spaces.write().unwrap_or_else(PoisonError::into_inner);
        // A space that ends loses its name first and is removed from here afterwards. So one that has its name now will be removed
        // in its time, and one without would stay for ever.
        if self.registry().find_space(name).is_ok_and(|named| named == id) {
            return Arc::clone(spaces.entry(id).or_insert_with(|| Space::new(id, name, &self.limits)));
        }
        let ended = Space::new(id, name, &self.limits);
        ended.close();
        ended
    }

    /// A space that exists already.
    pub(in crate::host) fn known_space(&self, id: SpaceId) -> Option<Arc<Space>> {
        self.spaces.read().unwrap_or_else(PoisonError::into_inner).get(&id).cloned()
    }

    /// Ends a space on a thread that can take it.
    pub(in crate::host) fn drop_space(&self, id: SpaceId) {
        let space = self.spaces.write().unwrap_or_else(PoisonError::into_inner).remove(&id);
        if let Some(space) = space {
            self.threads.clean_up(move || space.close());
        }
    }

    /// The space that stands for a module: evals inside the module run there.
    pub(in crate::host) fn module_space(&self, name: &ModuleName) -> Arc<ModuleSpace> {
        let mut spaces = lock(&self.module_spaces);
        if let Some(space) = spaces.get(name) {
            return Arc::clone(space);
        }
        let id = self.registry().fresh_space();
        let space = Space::new(id, name.as_str(), &self.limits);
        let module = ModuleSpace::new(space, self.modules.clone(), name.clone());
        spaces.insert(name.clone(), Arc::clone(&module));
        module
    }

    /// The space that stands for a module, once something was evaluated there.
    pub(in crate::host) fn known_module_space(&self, name: &str) -> Option<Arc<Space>> {
        let spaces = lock(&self.module_spaces);
        spaces.values().map(|module| module.space()).find(|space| space.name() == name).map(Arc::clone)
    }

    /// The spaces that stand for modules in which something was evaluated.
    pub(in crate::host) fn known_module_spaces(&self) -> Vec<Arc<Space>> {
        lock(&self.module_spaces).values().map(|module| Arc::clone(module.space())).collect()
    }
}
