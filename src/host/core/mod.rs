//! The parts of a host: its shared body, the entries at work and the settled ones, the threads, the spaces by id. Nothing here lets
//! an entry in or ends one.

pub(in crate::host) mod active;
mod ceiling;
pub(in crate::host) mod handle_facts;
pub(in crate::host) mod host_core;
pub(in crate::host) mod log_sink;
pub(in crate::host) mod memory;
pub(in crate::host) mod serving;
pub(in crate::host) mod settled;
pub(in crate::host) mod spaces;
pub(in crate::host) mod threads;
