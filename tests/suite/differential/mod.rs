//! Programs run several ways that must agree: whole, one statement an eval, beside a function that reads every variable, and by
//! plain Rhai. The programs of `tests/corpus` are handwritten, and there are random ones.

mod corpus; // the handwritten programs, and the two lists of those that differ
mod faults; // programs that differ because of a fault
mod grammar; // random programs
mod programs; // reading the corpus
mod purposes; // programs that differ from plain Rhai on purpose
mod random; // the random programs
mod runs; // running a program each way
mod split; // a program as its top-level statements
mod value; // values as text, the same for all ways
