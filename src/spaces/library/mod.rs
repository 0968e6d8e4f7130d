//! The live library of script modules.
mod folder;
mod name;
mod outline;
mod shelf;
mod syntax;
pub use outline::*;
