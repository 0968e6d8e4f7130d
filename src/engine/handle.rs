//! [`EntryHandle`]: an entry of the registry as a script holds it.

use super::register::Api;
use crate::words::EntryId;
use rhai::Module;
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// What stands behind a handle. The host has one implementation and finds it again with [`EntryHandle::ops`].
pub trait EntryOps: Any + Send + Sync {}

/// An entry as a value of the language: an id and what the host needs to serve it. Cheap to clone; equal when the ids are.
#[derive(Clone)]
pub struct EntryHandle {
    id: EntryId,
    ops: Arc<dyn EntryOps>,
}

impl EntryHandle {
    /// The handle of an entry.
    pub fn new(id: EntryId, ops: Arc<dyn EntryOps>) -> Self {
        Self { id, ops }
    }

    /// The entry.
    pub fn id(&self) -> EntryId {
        self.id
    }

    /// What stands behind it, when it is a `T`.
    pub fn ops<T: EntryOps>(&self) -> Option<&T> {
        let any: &dyn Any = &*self.ops;
        any.downcast_ref()
    }
}

impl PartialEq for EntryHandle {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for EntryHandle {}

impl fmt::Debug for EntryHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Entry({})", self.id)
    }
}

/// What every script can do with a handle; the host adds the rest.
pub(crate) fn module() -> Module {
    let mut api = Api::new();
    api.custom_type::<EntryHandle>("Entry");
    api.getter("id", "The id of the entry.", |entry: &mut EntryHandle| i64::try_from(entry.id.0).unwrap_or(i64::MAX));
    api.function("==", &[], "", |a: EntryHandle, b: EntryHandle| a == b);
    api.function("!=", &[], "", |a: EntryHandle, b: EntryHandle| a != b);
    api.function("to_string", &[], "", |entry: &mut EntryHandle| format!("entry {}", entry.id));
    api.function("to_debug", &[], "", |entry: &mut EntryHandle| format!("entry {}", entry.id));
    api.build()
}
