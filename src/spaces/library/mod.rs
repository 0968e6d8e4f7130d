//! The live library of script modules.
mod check;
mod folder;
mod name;
mod outline;
mod shelf;
mod syntax;
pub use check::check;
pub use outline::*;
