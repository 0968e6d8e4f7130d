//! Tests of the registry. Most are written in the small language of [`bench`], which reads like the rules they test.

mod bench;
mod cancel;
mod delivery;
mod invariants;
mod log;
mod places;
mod pool;
mod sessions;
mod slots;
mod table;
mod views;
mod waits;
