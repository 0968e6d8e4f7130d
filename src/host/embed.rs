//! Building a host, and evaluating in it from the program it runs in. (Signatures first: bodies follow.)

use super::Host;
use crate::render::Style;
use crate::words::{EntryId, Limits, Refusal, Status};
use std::fmt;
use std::path::PathBuf;

/// What a host is made from. Made by [`Host::builder`].
#[derive(Debug, Default)]
pub struct HostBuilder {}

impl HostBuilder {
    /// What this instance is, in the operator's words.
    pub fn describe(self, text: impl Into<String>) -> Self {
        drop(text.into());
        todo!()
    }

    /// The limits in force.
    pub fn limits(self, limits: Limits) -> Self {
        let _unused = limits;
        todo!()
    }

    /// The folder of script modules. One that does not exist means no modules.
    pub fn scripts(self, folder: impl Into<PathBuf>) -> Self {
        drop(folder.into());
        todo!()
    }

    /// Makes the host. Nothing is served yet.
    pub fn build(self) -> Result<Host, BuildError> {
        todo!()
    }
}

/// Why a host could not be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildError(pub String);

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BuildError {}

/// A script to evaluate as the nil caller, from a file or a command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// The code.
    pub code: String,
    /// The file it is from, as failures shall name it; `None` for code without a file.
    pub file: Option<String>,
    /// The constant `ARGS`, when it shall be there.
    pub arguments: Option<Vec<String>>,
}

/// Lines that an entry printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// The lines, oldest first, as a terminal may show them.
    pub lines: Vec<String>,
    /// The number of the line after them.
    pub next: usize,
}

/// How an entry ended, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// One of the settled ones.
    pub status: Status,
    /// The value, or why there is none; empty for the value `()`. Without output and footer.
    pub text: String,
}

impl Host {
    /// Begins a host.
    pub fn builder() -> HostBuilder {
        HostBuilder::default()
    }

    /// Admits a script of the nil caller and lets it run. Returns at once.
    pub fn submit_script(&self, script: Script) -> Result<EntryId, Refusal> {
        drop(script);
        todo!()
    }

    /// What an entry printed from line `from` (counted from 0) on, as soon as there is something; `None` when it has settled
    /// and there is nothing more. Cheap to drop.
    pub async fn printed(&self, id: EntryId, from: usize) -> Option<Printed> {
        let _unused = (id, from);
        todo!()
    }

    /// How a settled entry of the nil caller ended. It has been read then.
    pub fn ended(&self, id: EntryId, style: Style) -> Result<Ended, Refusal> {
        let _unused = (id, style);
        todo!()
    }
}
