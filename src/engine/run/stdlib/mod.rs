//! The standard functions of ours. Each file registers its own; [`all`] makes one module of them.

pub(crate) mod all;
mod atoms;
mod basics;
mod callbacks;
mod comparing;
mod entries;
mod showing;
