//! What breaks a rule and is known. The lists may only shrink: a new breach fails, and so does a line that is no longer true.
//! `UPDATE_TIDY=1 cargo test --test suite tidy` writes them anew; look at the difference, it may hold new breaches too.

/// Files that are in a loop of imports.
pub(super) const LOOPS: &[&str] = &[
];

/// Files that import from a higher floor of their room.
pub(super) const UPWARDS: &[&str] = &[
];

/// Items of a `mod.rs`.
pub(super) const HELD_BY_FACES: &[&str] = &[
];

/// Internals of the language that are named outside their room.
pub(super) const INTERNALS_NAMED: &[&str] = &[
];

/// Names that a file takes from the face of its own room or folder.
pub(super) const THROUGH_OWN_FACE: &[&str] = &[
];
