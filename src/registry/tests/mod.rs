//! Tests of the registry. Most are written in lines that [`harness`] runs, which reads like the rules they test.

mod cancel;
mod delivery;
mod eviction;
mod harness;
mod invariants;
mod log;
mod sessions;
mod slots;
mod spaces;
mod table;
mod views;
mod waits;
