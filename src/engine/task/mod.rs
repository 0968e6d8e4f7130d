//! The context of a running entry, as data, and what it asks from above. What runs with it is in `run`.

pub(crate) mod context;
pub(crate) mod hooks;
pub(crate) mod runtime;
pub(crate) mod space_view;
