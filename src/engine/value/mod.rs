//! Values at rest: handles and atoms, looking into values, values as text, and captured variables that nobody can reach. Knows
//! no task.

pub(crate) mod atom;
pub(crate) mod cell_versions;
pub(crate) mod cycle_collector;
pub(crate) mod handle;
pub(crate) mod inspect;
pub(crate) mod sequences;
pub(crate) mod text;
