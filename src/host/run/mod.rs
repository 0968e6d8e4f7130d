//! The life of entries: admission, work on a thread, waits, cancelling, the end; and what evaluation asks of its host meanwhile.

pub(in crate::host) mod entry;
pub(in crate::host) mod handles;
pub(in crate::host) mod hooks;
pub(in crate::host) mod space_rows;
pub(in crate::host) mod tracing_layer;
pub(in crate::host) mod waits;
