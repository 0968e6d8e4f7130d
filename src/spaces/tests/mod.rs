//! Evaluation and spaces together, on a small host: what scripts see, row by row.

mod calls;
mod caught;
mod children;
mod circles;
mod closures;
mod concurrent;
mod errors;
mod flow;
mod harness;
mod language;
mod limits;
mod modules;
mod natives;
mod nesting;
mod seen;
mod sessions;
mod stdlib;
mod stops;
