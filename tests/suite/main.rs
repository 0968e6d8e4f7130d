//! All integration tests, one binary.

#![allow(clippy::unwrap_used, reason = "a test that unwraps fails where it should")]

mod command_line; // the binary from outside, as far as that needs no server
mod further_tools; // tools that an embedding program serves beside the built-in ones
mod real_clients; // a client of another make, over real sockets, in both eras
mod tidy; // the source tree keeps its own rules: floors, crate owners, module docs, no sleeping
mod transcripts; // whole conversations with the protocol, in both eras
mod world; // a host on a clock moved by hand, with gates that scripts wait at
