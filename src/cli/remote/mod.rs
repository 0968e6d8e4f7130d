//! A running instance, reached over MCP: the other end of `attach`.
//!
//! ```text
//! client      calls of tools                  events      event streams, taken apart
//! answer      answers, taken apart            facts       lists of an instance, as rows
//! queries     a session for looking around    backend     an instance as the backend of a prompt
//! attach      the command
//! ```

mod answer;
mod attach;
mod backend;
mod client;
mod events;
mod facts;
mod queries;

#[cfg(test)]
mod tests;

pub(super) use attach::{converse, pipe};
