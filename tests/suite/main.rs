//! All integration tests, one binary.

#![allow(clippy::unwrap_used, reason = "a test that unwraps fails where it should")]

mod answers; // what answers say: tables, output, news, reminders
mod arguments; // whatever is sent as an argument is taken for one thing or refused by name, and starts nothing then
mod attribution; // every line and event is in the output of the entry that made it
mod command_line; // the binary from outside, as far as that needs no server
mod delivery; // delivery through real sockets
mod differential; // programs run whole, in parts and by plain Rhai, which must agree
mod documents; // what is written is true: examples, sizes, names
mod embedding; // the host as a program embeds it
mod fixtures; // a host on a clock moved by hand, with gates that scripts wait at
mod further_tools; // tools that an embedding program serves beside the built-in ones
mod harness; // a host with gates, and callers who read every answer whole
mod library; // the modules that come along and reach nothing: what they give, refuse and cost
mod limits; // every limit through the host: what happens, what it says, who else is served
#[cfg(unix)]
mod prompt; // the prompt of the built program, with another conversation on the same state
#[cfg(unix)]
mod pty; // the program on a terminal: a pseudo-terminal to type into and read from
#[cfg(unix)]
mod reaching; // files and the environment, where scripts may reach them, and nowhere else
mod real_clients; // a client of another make, over real sockets, in both eras
mod state_model; // random histories of the registry against a model written from its contract
mod tidy; // the source tree keeps its own rules: floors, crate owners, module docs, no sleeping
mod transcripts; // whole conversations with the protocol, in both eras
mod walkthrough; // doc/walkthrough.md: two agents and a person on one host
mod working; // work as scripts see it: waiting, sharing, handing over, letting go

/// Memory limits are enforced in these tests as they are in the program.
#[global_allocator]
static ALLOCATOR: remontoire::CountingAllocator = remontoire::CountingAllocator;
