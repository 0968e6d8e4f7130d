//! Floor 2: the modules that come along. Each is a module of native functions which scripts call as `re::find(..)`, without an import.
//!
//! Owns what these functions do. Knows the engine, by which they are called; knows no host, no space and no rendering.
//!
//! ```text
//! all         which modules this build has
//! arguments   what the functions read of what they are given
//! limits      the bounds of what they do
//! pure        modules that reach nothing
//! ```

mod all;
#[cfg(feature = "library")]
mod arguments;
#[cfg(feature = "library")]
mod limits;
#[cfg(feature = "library")]
mod pure;

pub(crate) use all::modules;
