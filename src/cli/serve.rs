//! Serving until a signal comes.

use super::signals::Signals;
use super::terminal::Terminal;
use super::{Exit, NotStarted};
use crate::config::Config;
use crate::host::Host;
use crate::http;
use crate::render::notice;

/// Serves a host until the first signal, then lets open calls be answered. A second signal ends that too.
pub(super) async fn serve(host: &Host, config: &Config, terminal: &Terminal) -> Result<Exit, NotStarted> {
    // Before the first line is out: whoever has read it may send a signal.
    let mut signals = Signals::listen().map_err(|error| NotStarted::because("cannot listen for signals", error))?;
    let server = http::serve_with(host, config.addr(), config.access.clone())
        .await
        .map_err(|error| NotStarted(error.to_string()))?;
    terminal.complain(&notice::start_line(&server.url()));
    signals.next().await;
    tokio::select! {
        () = server.shutdown() => {}
        () = signals.next() => {}
    }
    Ok(Exit::Fine)
}
