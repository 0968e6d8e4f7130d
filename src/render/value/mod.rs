//! Values as text within a budget.

mod kinds;
mod table;
mod types;
mod walk;

#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use types::Elided;
pub(crate) use types::{Ask, Budget, EntryEnd, EntryShown, Rendered, Shown, whole};
pub(crate) use walk::value;
