//! The command line: it is taken apart here, and the parts of the program are joined.
//!
//! Knows every part of the program by its front door and none by its inside.
//!
//! ```text
//! command     runs a command line             arguments   its grammar
//! serve       serving, with or without prompt prompt      the prompt on this terminal
//! script      one script to its end           modules     check, outline
//! remote      attach                          exit        outcomes and exit codes
//! signals     SIGINT and SIGTERM              terminal    stdout, stderr, modes
//! ```

mod arguments;
mod command;
mod exit;
mod modules;
mod prompt;
mod remote;
mod script;
mod serve;
mod signals;
mod terminal;

pub use command::main;
