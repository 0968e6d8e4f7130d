//! Floor 2: the places in which code is evaluated. A [`Space`] keeps variables, functions, imports and constants between evals;
//! the [`library`] keeps the modules of a folder and lets an eval work inside one. Knows no registry, no host and no wire.

pub(crate) mod library;
pub(crate) mod space;

pub(crate) use space::Space;

#[cfg(test)]
mod tests;
