//! [`EntryHandle`]: an entry of the registry as a script holds it; and which types of the host are handles too.

use super::register::Api;
use crate::words::EntryId;
use rhai::{Dynamic, Module, Variant};
use std::any::{Any, TypeId};
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

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

/// A type of the host whose values only stand for something that is shared by itself.
#[derive(Clone, Copy)]
struct HandleType {
    id: TypeId,
    same: fn(&Dynamic, &Dynamic) -> bool,
}

/// What a type is does not depend on the host that registers it, so one list serves the process.
static HANDLE_TYPES: RwLock<Vec<HandleType>> = RwLock::new(Vec::new());

/// Values of `T` are handles from now on; equal ones stand for the same thing.
pub(crate) fn declare<T: Variant + Clone + PartialEq>() {
    let id = TypeId::of::<T>();
    let mut types = HANDLE_TYPES.write().unwrap_or_else(PoisonError::into_inner);
    if types.iter().all(|known| known.id != id) {
        let same = |a: &Dynamic, b: &Dynamic| match (a.read_lock::<T>(), b.read_lock::<T>()) {
            (Some(a), Some(b)) => *a == *b,
            _ => false,
        };
        types.push(HandleType { id, same });
    }
}

fn handle_type(id: TypeId) -> Option<HandleType> {
    let types = HANDLE_TYPES.read().unwrap_or_else(PoisonError::into_inner);
    types.iter().find(|known| known.id == id).copied()
}

/// Whether the value is of a declared handle type.
pub(crate) fn is_declared(value: &Dynamic) -> bool {
    handle_type(value.type_id()).is_some()
}

/// Whether both values stand for the same thing; `false` when their type was not declared.
pub(crate) fn same_declared(a: &Dynamic, b: &Dynamic) -> bool {
    handle_type(a.type_id()).is_some_and(|known| (known.same)(a, b))
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
