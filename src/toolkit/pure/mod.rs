//! Modules that reach nothing outside of the process: they compute. One file a module.

mod all;
mod codecs;
mod csv;
mod diff;
mod fmt;
mod hash;
mod json;
mod num;
mod plain;
mod random;
mod re;
mod search;
mod time;
mod toml;
mod urls;

pub(super) use all::all;
#[cfg(feature = "tool-fs")]
pub(super) use search::Pattern;
