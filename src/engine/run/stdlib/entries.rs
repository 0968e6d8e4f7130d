//! The functions that every script can call on the handle of an entry; the host adds the rest.

use crate::engine::native::Api;
use crate::engine::value::handle::EntryHandle;

pub(super) fn register(api: &mut Api) {
    api.custom_type::<EntryHandle>("Entry");
    api.getter("id", "The id of the entry.", |entry: &mut EntryHandle| i64::try_from(entry.id().0).unwrap_or(i64::MAX));
    api.function("==", &[], "", |a: EntryHandle, b: EntryHandle| a == b);
    api.function("!=", &[], "", |a: EntryHandle, b: EntryHandle| a != b);
    api.function("to_string", &[], "", |entry: &mut EntryHandle| format!("entry {}", entry.id()));
    api.function("to_debug", &[], "", |entry: &mut EntryHandle| format!("entry {}", entry.id()));
}
