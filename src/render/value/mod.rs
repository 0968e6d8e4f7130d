//! Values as text within a budget.

mod kinds;
mod types;
mod walk;

#[cfg(test)]
mod tests;

pub(crate) use types::{Ask, Budget, EntryEnd, EntryShown, Rendered, Shown, whole};
pub(crate) use walk::value;
