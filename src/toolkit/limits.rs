//! The bounds of what the modules do, beside those of the eval they do it for.

use crate::base::limits::{KIB, MIB};

/// The bytes that a compiled pattern may have.
pub(super) const PATTERN_BYTES: usize = MIB;
/// The levels of brackets that a pattern may have.
pub(super) const PATTERN_DEPTH: u32 = 50;
/// The length of a pattern, in bytes.
pub(super) const PATTERN_LENGTH: usize = 64 * KIB;
/// The patterns that are kept compiled.
pub(super) const PATTERNS: usize = 256;
/// The bytes that the patterns which are kept compiled may have together.
pub(super) const PATTERNS_BYTES: usize = 32 * MIB;
/// The states of a pattern times the places that its groups need.
pub(super) const PATTERN_SLOTS: usize = 1 << 20;
/// The states of a pattern times the bytes of a text up to which every way of searching is taken: 1.5 s at worst.
pub(super) const SEARCH_COST: usize = 200_000_000;

/// The levels that JSON may have.
pub(super) const JSON_DEPTH: usize = 128;
/// The levels that TOML and YAML may have.
pub(super) const CONFIG_DEPTH: usize = 64;
/// The values that YAML may have, repeated ones counted each time.
pub(super) const YAML_NODES: usize = 100_000;

/// The bytes that may be drawn at once.
pub(super) const RANDOM_BYTES: i64 = 1 << 20;

/// The bytes or items that a function works on between two questions whether it must end.
pub(super) const PIECE: usize = 64 * KIB;
/// The rows or values that it works on between two such questions.
pub(super) const STRIDE: usize = 1_024;
