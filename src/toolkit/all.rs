//! Which modules come along with this build.

use rhai::Module;

/// The modules with their names, in the order of the manual.
pub(crate) fn modules() -> Vec<(&'static str, Module)> {
    #[allow(unused_mut, reason = "a build without them has none")]
    let mut all = Vec::new();
    #[cfg(feature = "library")]
    all.extend(super::pure::all());
    #[cfg(feature = "tool-fs")]
    all.extend(super::machine::all());
    all
}
