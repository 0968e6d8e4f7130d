//! The revisions of the protocol, the two eras they belong to, and the names that both eras write into messages.

use serde_json::{Value, json};

/// One of the two ways to speak the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// Sessions that a handshake opens: 2024-11-05 to 2025-11-25.
    Legacy,
    /// Requests that describe themselves: 2026-07-28.
    Modern,
}

/// The revision whose requests describe themselves.
pub(crate) const MODERN: &str = "2026-07-28";

/// The `_meta` key whose presence makes a request modern.
pub(crate) const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

/// The `_meta` key with what the client can do.
pub(crate) const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";

/// The `_meta` key with the client's name and version.
pub(crate) const CLIENT_KEY: &str = "io.modelcontextprotocol/clientInfo";

/// The `_meta` key with what a client wants to hear of the server's log, of which this server sends nothing.
pub(crate) const LOG_LEVEL_KEY: &str = "io.modelcontextprotocol/logLevel";

/// The `_meta` key of results with the name and version of the server.
pub(crate) const SERVER_KEY: &str = "io.modelcontextprotocol/serverInfo";

/// The name of the extension by which clients follow evals as tasks.
pub(crate) const TASKS: &str = "io.modelcontextprotocol/tasks";

/// The server's name and version, as both eras say them.
pub(crate) fn server_info() -> Value {
    json!({"name": "remontoire", "version": env!("CARGO_PKG_VERSION")})
}

/// A revision of the legacy era.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Revision {
    /// 2024-11-05
    November2024,
    /// 2025-03-26
    March2025,
    /// 2025-06-18
    June2025,
    /// 2025-11-25
    November2025,
}

impl Revision {
    /// The newest: the answer to a client that asks for an unknown one.
    pub(crate) const NEWEST: Self = Self::November2025;

    /// The revision that holds when neither the header nor the session says.
    pub(crate) const ASSUMED: Self = Self::March2025;

    /// The date that names it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::November2024 => "2024-11-05",
            Self::March2025 => "2025-03-26",
            Self::June2025 => "2025-06-18",
            Self::November2025 => "2025-11-25",
        }
    }

    /// The revision with this name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        [Self::November2024, Self::March2025, Self::June2025, Self::November2025]
            .into_iter()
            .find(|r| r.as_str() == name)
    }

    /// Says that one POST may carry several messages. Only one revision ever allowed it.
    pub(crate) fn has_batches(self) -> bool {
        self == Self::March2025
    }
}
