//! [`Space`]: variables, functions, imports and constants that live between evals, behind one short lock.

use crate::engine::view::{Batch, Change, Environment, Opened, Opening, Published, SpaceFailure, SpaceView, Variable};
use crate::words::{EntryId, Limits, SpaceId};
use rhai::ImmutableString;
use std::sync::{Arc, OnceLock};

/// A space. Shared by `Arc`; ends by [`Space::close`] or when the last owner lets go.
#[derive(Debug)]
pub struct Space {}

impl Space {
    /// An empty space.
    pub fn new(id: SpaceId, name: &str, limits: &Limits) -> Arc<Self> {
        let _ = (id, name, limits);
        todo!()
    }

    /// Ends the space: its values are dropped, and later publishes fail. Closures that live elsewhere keep the functions,
    /// imports and constants it had last. Call it on a thread with a large stack, not under a lock.
    pub fn close(&self) {
        todo!()
    }

    /// The names of its variables, sorted.
    pub fn variables(&self) -> Vec<ImmutableString> {
        todo!()
    }

    /// How many variables it has.
    pub fn variable_count(&self) -> usize {
        todo!()
    }

    /// How many functions it has.
    pub fn function_count(&self) -> usize {
        todo!()
    }

    /// What its variables take, in bytes (an estimate).
    pub fn bytes(&self) -> usize {
        todo!()
    }

    /// Replaces its functions, imports and constants: how a space follows a module it stands for.
    pub fn set_environment(&self, environment: Environment) {
        let _ = environment;
        todo!()
    }
}

impl SpaceView for Space {
    fn id(&self) -> SpaceId {
        todo!()
    }

    fn name(&self) -> &str {
        todo!()
    }

    fn alive(&self) -> bool {
        todo!()
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Opened, SpaceFailure> {
        let _ = opening;
        todo!()
    }

    fn close_eval(&self, entry: EntryId) -> Vec<(ImmutableString, EntryId)> {
        let _ = entry;
        todo!()
    }

    fn variable(&self, name: &str) -> Option<Variable> {
        let _ = name;
        todo!()
    }

    fn publish(&self, batch: Batch) -> Result<Published, SpaceFailure> {
        let _: Vec<Change> = batch.changes;
        todo!()
    }

    fn environment(&self) -> Option<Environment> {
        todo!()
    }

    fn last_environment(&self) -> Arc<OnceLock<Environment>> {
        todo!()
    }
}
