//! Running code: the engine of one entry, modules and imports, closures, committing, errors as data, and the two ways in.

pub(crate) mod catch;
pub(crate) mod closures;
pub(crate) mod commit;
pub(crate) mod describe;
pub(crate) mod evaluate;
mod explain;
pub(crate) mod modules;
pub(crate) mod stdlib;
