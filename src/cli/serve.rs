//! Serving: until a signal comes, or until the person at the prompt leaves.

use super::exit::{Exit, NotStarted};
use super::prompt::{Left, TerminalSession};
use super::signals::Signals;
use super::terminal::Terminal;
use crate::config::Config;
use crate::host::Host;
use crate::http::{self, Server};
use crate::render::notice;
use crate::repl::HostBackend;

/// Serves a host until the first signal, then lets open calls be answered. A second signal ends that too.
pub(super) async fn serve(host: &Host, config: &Config, terminal: &Terminal) -> Result<Exit, NotStarted> {
    // Before the first line is out: whoever has read it may send a signal.
    let mut signals = Signals::listen().map_err(|error| NotStarted::because("cannot listen for signals", error))?;
    let server = start(host, config, terminal).await?;
    signals.next().await;
    // First the evals are stopped, so that open calls are answered with how they ended.
    host.close();
    tokio::select! {
        () = server.shutdown() => {}
        () = signals.next() => {}
    }
    Ok(Exit::Fine)
}

/// Serves a host and opens a prompt on it, until the person there leaves, the terminal is gone or SIGTERM
/// comes. A signal cuts the end short.
pub(super) async fn serve_with_prompt(host: &Host, config: &Config, terminal: &Terminal) -> Result<Exit, NotStarted> {
    let mut session = TerminalSession::begin_for_others()?;
    let server = start(host, config, terminal).await?;
    let backend = HostBackend::new(host, terminal.out, tokio::runtime::Handle::current());
    match session.run_prompt(backend, &config.history, terminal).await? {
        Left::ByThemselves => terminal.say(&notice::goodbye(host.probe().running)),
        Left::TerminalGone => {}
        // The cursor stands in the line that is being typed.
        Left::Terminated => terminal.say(&format!("\n{}", notice::SHUTTING_DOWN)),
    }
    host.close();
    session.end(server.shutdown()).await?;
    Ok(Exit::Fine)
}

/// Starts to serve, and says where.
async fn start(host: &Host, config: &Config, terminal: &Terminal) -> Result<Server, NotStarted> {
    let server = http::serve_with(host, config.addr(), config.access.clone())
        .await
        .map_err(|error| NotStarted(error.to_string()))?;
    terminal.complain(&notice::start_line(&server.url()));
    if let Some(line) = notice::allowed_line(&config.permissions) {
        terminal.complain(&line);
    }
    let writes = config.permissions.all || !config.permissions.write.is_empty();
    if writes && config.access.token.is_none() {
        terminal.complain(&notice::warning(notice::OPEN_TO_ALL_USERS, terminal.err));
    }
    Ok(server)
}
