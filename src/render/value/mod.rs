//! Values as text within a budget.

mod kinds;
mod types;
mod walk;

#[cfg(test)]
mod tests;

pub use types::{Ask, Budget, Elided, EntryEnd, EntryShown, Hook, Rendered, Shown, is_whole, whole};
pub use walk::value;
