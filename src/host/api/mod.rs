//! The ways in: for front ends, for the prompt, for scripts of a command line, for programs that embed a host.

pub(in crate::host) mod answers;
pub(in crate::host) mod builder;
pub(in crate::host) mod embed;
pub(in crate::host) mod host;
pub(in crate::host) mod prompt;
pub(in crate::host) mod script;
pub(crate) mod wait;
