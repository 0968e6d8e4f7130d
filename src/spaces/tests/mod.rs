//! Evaluation and spaces together, on a small host: what scripts see, row by row.

mod calls;
mod caught;
mod children;
mod circles;
mod closures;
mod concurrent;
mod constants;
mod errors;
mod flow;
mod harness;
mod json;
mod language;
mod limits;
mod lists;
mod modules;
mod natives;
mod nesting;
mod notes;
mod ranges;
mod seen;
mod sessions;
mod sorting;
mod source;
mod stdlib;
mod stops;
mod texts;
