//! [`EntryHandle`]: an entry of the registry as a script holds it.

use crate::base::EntryId;
use rhai::{Dynamic, Variant};
use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

/// The object behind a handle. The host has one implementation and finds it again with [`EntryHandle::ops`].
pub(crate) trait EntryOps: Any + Send + Sync {}

/// Types of the host whose values only stand for something that is shared by itself, each with its test of identity.
static HANDLES: RwLock<BTreeMap<TypeId, SameThing>> = RwLock::new(BTreeMap::new());

/// Whether two values of one type stand for the same thing.
type SameThing = fn(&Dynamic, &Dynamic) -> bool;

/// Says that values of a host type are handles: cheap to clone, and equal when they stand for the same thing. Such a value is
/// never locked when a closure captures its variable, so that a method on it may wait; and a variable counts as changed only
/// when it holds another handle. For the whole process; saying it twice is fine.
pub fn shared_by_identity<T: Variant + Clone + PartialEq>() {
    fn same<T: Variant + Clone + PartialEq>(a: &Dynamic, b: &Dynamic) -> bool {
        matches!((a.read_lock::<T>(), b.read_lock::<T>()), (Some(a), Some(b)) if *a == *b)
    }
    HANDLES.write().unwrap_or_else(PoisonError::into_inner).insert(TypeId::of::<T>(), same::<T>);
}

/// Whether a value is a handle of the host or of the embedding program.
pub(crate) fn is_host_handle(value: &Dynamic) -> bool {
    HANDLES.read().unwrap_or_else(PoisonError::into_inner).contains_key(&value.type_id())
}

/// Whether two values are handles of one type that stand for the same thing.
pub(crate) fn same_host_handle(a: &Dynamic, b: &Dynamic) -> bool {
    let same = HANDLES.read().unwrap_or_else(PoisonError::into_inner).get(&a.type_id()).copied();
    same.is_some_and(|same| same(a, b))
}

/// An entry as a script holds it: an id and what the host needs to serve it. Cheap to clone; equal when the ids are.
#[derive(Clone)]
pub(crate) struct EntryHandle {
    id: EntryId,
    ops: Arc<dyn EntryOps>,
}

impl EntryHandle {
    /// The handle of an entry.
    pub(crate) fn new(id: EntryId, ops: Arc<dyn EntryOps>) -> Self {
        Self { id, ops }
    }

    /// The entry.
    pub(crate) fn id(&self) -> EntryId {
        self.id
    }

    /// The object behind it, when it is a `T`.
    pub(crate) fn ops<T: EntryOps>(&self) -> Option<&T> {
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
