//! Floor 2: the modules that come along. Each is a module of native functions which scripts call as `re::find(..)`, without an import.
//!
//! Owns what these functions do, and what scripts may reach outside of the process. Knows the engine, by which they are called; knows no
//! host, no space and no rendering.
//!
//! ```text
//! all          which modules this build has
//! arguments    what the functions read of what they are given
//! limits       the bounds of what they do
//! pure         modules that reach nothing
//! permissions  what may be reached: rules, with the folders opened; and the record of what was
//! machine      modules that reach the machine, where it is allowed
//! ```

mod all;
#[cfg(feature = "library")]
mod arguments;
#[cfg(feature = "library")]
mod limits;
#[cfg(feature = "tool-fs")]
mod machine;
#[cfg(feature = "tool-fs")]
mod permissions;
#[cfg(feature = "library")]
mod pure;

pub(crate) use all::modules;
#[cfg(feature = "tool-fs")]
pub(crate) use permissions::{Gate, Permit, Row};
