//! Evaluation and spaces together, on a small host: what scripts see, row by row.

mod closures;
mod flow;
mod language;
mod modules;
mod rig;
mod scratch;
