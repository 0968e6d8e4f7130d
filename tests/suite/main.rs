//! All integration tests, one binary.

mod state_model; // random histories of the registry against a model written from its contract
mod tidy; // the source tree keeps its own rules: floors, crate owners, module docs, no sleeping
