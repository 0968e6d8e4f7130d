//! The functions scripts call, one file a subject. Each is registered with its doc comment, of which the manual is made; every
//! example in those comments is evaluated by a test.

pub(in crate::host) mod all;
mod call;
mod channels;
mod entries;
mod lookup;
mod modules;
mod numbers;
#[cfg(feature = "tool-fs")]
mod permits;
mod search;
mod sessions;
mod spaces;
mod teaching;
mod work;
