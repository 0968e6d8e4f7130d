//! Modules that reach nothing outside of the process: they compute. One file a module.

mod all;
mod codecs;
mod csv;
mod data; // values as plain data, for the formats
mod diff;
mod fmt;
mod hash;
mod json;
mod num;
mod patterns; // compiled patterns and searches in bounded time
mod random;
mod re;
mod reader; // values of what a format reads
mod rows; // lists of rows as tables
mod time;
mod toml;
mod urls;
mod yaml;

pub(super) use all::all;
#[cfg(feature = "tool-fs")]
pub(super) use patterns::{Pattern, Patterns, Search};
