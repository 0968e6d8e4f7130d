//! The identity of a client of the wire, as it introduced itself.

use std::fmt;

/// A client as it introduced itself, kept with its session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientInfo {
    /// Its name, such as `claude-code`; empty when it did not say.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The protocol revision it speaks.
    pub revision: String,
    /// It declared that it follows tasks.
    pub tasks: bool,
}

/// Its name and version, as people read them.
impl fmt::Display for ClientInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(format!("{} {}", self.name, self.version).trim())
    }
}
