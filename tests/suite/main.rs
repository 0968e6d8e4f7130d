//! All integration tests, one binary.

mod command_line; // the binary from outside, as far as that needs no server
mod tidy; // the source tree keeps its own rules: floors, crate owners, module docs, no sleeping
