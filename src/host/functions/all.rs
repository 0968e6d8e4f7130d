//! All functions that scripts call, in the order of the manual.

use super::call::Table;
#[cfg(feature = "tool-fs")]
use super::permits;
use super::{channels, entries, modules, numbers, sessions, spaces, teaching, work};
use crate::render::Shown;
use crate::render::teach::FunctionDoc;
use rhai::{Dynamic, Module};

/// Every function of the host, and its texts in the manual, in their order.
pub(in crate::host) fn all() -> (Module, Vec<FunctionDoc>) {
    let mut table = Table::default();
    entries::register(&mut table);
    work::register(&mut table);
    channels::register(&mut table);
    sessions::register(&mut table);
    spaces::register(&mut table);
    modules::register(&mut table);
    teaching::register(&mut table);
    numbers::register(&mut table);
    #[cfg(feature = "tool-fs")]
    permits::register(&mut table);
    (table.api.build(), table.docs)
}

/// How values of the types that the functions define are shown.
pub(in crate::host) fn show(value: &Dynamic) -> Option<Shown> {
    channels::show(value)
}
