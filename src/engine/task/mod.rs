//! The context of a running entry, as data, and what it asks from above. What runs with it is in `run`.

pub(crate) mod code_unit;
pub(crate) mod context;
pub(crate) mod control;
pub(crate) mod hooks;
pub(crate) mod loaded_module;
pub(crate) mod notes;
pub(crate) mod retained;
pub(crate) mod runtime;
pub(crate) mod snapshot;
pub(crate) mod space_view;
pub(crate) mod views;
pub(crate) mod witness;
