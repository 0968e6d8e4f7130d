//! The tools as data: their declarations, their arguments, tasks as the protocol shows them, and tools that an embedding program
//! adds. Knows no transport; what a call of a tool does is in `calls`.

pub(super) mod arguments;
pub(super) mod custom;
pub(super) mod declarations;
pub(super) mod reading;
pub(super) mod task_view;
