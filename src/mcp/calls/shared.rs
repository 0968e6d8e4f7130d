//! The parts that all requests share: the host, the open requests, the further tools, and the end of the server.

use super::open_requests::OpenRequests;
use crate::host::HostApi;
use crate::mcp::tools::custom::Tool;
use crate::mcp::tools::declarations::{self, ToolSet};
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::watch;

/// The parts that every request of one server reaches.
pub(crate) struct Shared {
    /// The host that is served.
    pub(crate) host: HostApi,
    /// The requests that can be taken back.
    pub(crate) open_requests: OpenRequests,
    tools: Vec<Arc<dyn Tool>>,
    stopping: watch::Sender<bool>,
}

impl Shared {
    /// Nothing is open yet.
    pub(crate) fn new(host: HostApi, tools: Vec<Arc<dyn Tool>>) -> Self {
        Self { host, open_requests: OpenRequests::default(), tools, stopping: watch::Sender::new(false) }
    }

    /// The declarations a client is shown: the built-in tools of its set, then the further ones.
    pub(crate) fn declarations(&self, set: ToolSet) -> Vec<Value> {
        let mut declarations = declarations::declarations(set, self.host.limits());
        declarations.extend(self.tools.iter().map(|tool| tool.declaration()));
        declarations
    }

    /// The names of all tools that are answered.
    pub(crate) fn tool_names(&self) -> Vec<String> {
        let built_in = declarations::Name::ALL.iter().map(|name| name.as_str());
        built_in.chain(self.tools.iter().map(|tool| tool.name())).map(str::to_owned).collect()
    }

    /// The further tool with this name.
    pub(crate) fn tool(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.tools.iter().find(|tool| tool.name() == name).cloned()
    }

    /// Waits until the server is stopping.
    pub(crate) async fn stopping(&self) {
        // An error means that the sender is gone, and it is a field of this very struct.
        drop(self.stopping.subscribe().wait_for(|stopping| *stopping).await);
    }

    /// Ends every open wait with the reason that the server is stopping.
    pub(crate) fn stop(&self) {
        self.stopping.send_replace(true);
    }
}
