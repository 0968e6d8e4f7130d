//! The one way to take a lock.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks without caring for poison: no step under a lock leaves its data half-changed, so a panic elsewhere is no reason to stop.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
