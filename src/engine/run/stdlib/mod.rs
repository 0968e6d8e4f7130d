//! The standard functions of ours. Each file registers its own; [`all`] makes one module of them.

pub(crate) mod all;
mod atoms;
mod basics;
mod callback;
mod comparing;
mod entries;
mod finding;
pub(in crate::engine) mod json;
mod lists;
mod maps;
mod ranges;
mod reading;
mod showing;
mod sorting;
mod splitting;
mod texts;
