//! Floor 2: what code is evaluated in. Spaces keep variables, functions, imports and constants between evals.

pub mod library;
pub mod space;

pub use space::Space;

#[cfg(test)]
mod tests;
