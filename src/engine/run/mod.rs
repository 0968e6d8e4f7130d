//! Running code: the engine of one entry, modules and imports, closures, committing, errors as data, and the two ways in.

mod catch;
mod closures;
mod commit;
pub(crate) mod describe;
pub(crate) mod evaluate;
mod explain;
mod hints;
mod imports;
mod interpreter;
pub(crate) mod modules;
mod natives;
pub(crate) mod stdlib;
