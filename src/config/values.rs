//! The values that an operator chose. Knows neither the command line nor the environment.

use crate::base::{Limits, Permissions};
use crate::http::ServeOptions;
use crate::repl::History;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

/// The folder of script modules when none is named. It need not exist.
pub(super) const DEFAULT_SCRIPTS: &str = "scripts";

/// Everything an operator can choose.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    /// The address to bind.
    pub bind: IpAddr,
    /// The port; 0 takes any free one.
    pub port: u16,
    /// The folder of script modules, when one was named: then it must exist.
    pub scripts: Option<PathBuf>,
    /// A description of this instance for those who connect. May be empty.
    pub describe: String,
    /// The rules for who may call.
    pub access: ServeOptions,
    /// The place of the history of the prompt.
    pub history: History,
    /// What scripts may reach outside of the process.
    pub permissions: Permissions,
    /// The limits in force.
    pub limits: Limits,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            bind: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 7766,
            scripts: None,
            describe: String::new(),
            access: ServeOptions::default(),
            history: History::default(),
            permissions: Permissions::none(),
            limits: Limits::default(),
        }
    }
}

impl Config {
    /// The address to serve at.
    pub(crate) fn addr(&self) -> SocketAddr {
        SocketAddr::new(self.bind, self.port)
    }

    /// The folder of script modules: the one that was named, else `scripts`.
    pub(crate) fn scripts_folder(&self) -> &Path {
        self.scripts.as_deref().unwrap_or(Path::new(DEFAULT_SCRIPTS))
    }
}
