//! The outcomes of a command and their exit codes: 0 all went well, 1 the script failed or stdout could not be written, 2 the
//! command line is wrong, 3 it could not start.

use crate::host::BuildError;
use std::process::ExitCode;

/// The outcome of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    /// All went well.
    Fine,
    /// The script failed or was stopped, a check found an error, or stdout could not be written.
    Failed,
    /// It could not start.
    NotStarted,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Fine => 0,
            Exit::Failed => 1,
            // 2 is the parser's.
            Exit::NotStarted => 3,
        })
    }
}

/// The reason why a command could not start, as a sentence.
#[derive(Debug)]
pub(super) struct NotStarted(pub(super) String);

impl NotStarted {
    pub(super) fn because(what: impl std::fmt::Display, error: impl std::fmt::Display) -> Self {
        Self(format!("{what}: {error}"))
    }
}

impl From<BuildError> for NotStarted {
    fn from(error: BuildError) -> Self {
        Self(error.to_string())
    }
}
