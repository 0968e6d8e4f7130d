//! The identity of a client of the wire, as it introduced itself.

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
