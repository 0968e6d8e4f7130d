//! `attach`: a prompt on a running instance, or the evaluation of what stdin says there.

use super::backend::{AS_LONG_AS_IT_TAKES, RemoteBackend};
use super::client::{Remote, RemoteError};
use crate::cli::exit::{Exit, NotStarted};
use crate::cli::prompt::{Left, TerminalSession};
use crate::cli::signals::Signals;
use crate::cli::terminal::Terminal;
use crate::config::Config;
use crate::host::{Host, HostApi, Signature};
use crate::render::notice;
use serde_json::json;
use std::io::Read;
use std::sync::Arc;

/// The note of the session that evaluates.
const NOTE: &str = "a prompt, attached";
/// The note of the session that looks around.
const QUERIES_NOTE: &str = "what the attached prompt looks up";

impl From<RemoteError> for NotStarted {
    fn from(error: RemoteError) -> Self {
        Self(error.to_string())
    }
}

/// Opens a prompt on the instance at `url`, until the person there leaves or SIGTERM comes.
pub(in crate::cli) async fn converse(url: &str, config: &Config, terminal: &Terminal) -> Result<Exit, NotStarted> {
    let mut terminal_session = TerminalSession::begin()?;
    let token = config.access.token.as_ref();
    let remote = Remote::connect(url, token, NOTE).await?;
    let queries = Remote::connect(url, token, QUERIES_NOTE).await?;
    let handle = remote.session().to_owned();
    terminal.complain(&notice::attached(url, &handle));
    // The functions of every instance of this version, asked of one that is never served.
    let own = HostApi::of(&Host::builder().build()?).open_prompt(terminal.out).signatures();
    let builtin = own.iter().filter_map(|text| Signature::parse(text)).collect();
    let backend = RemoteBackend::new(remote, queries, builtin, terminal.out, tokio::runtime::Handle::current());
    let left = terminal_session.run_prompt(Arc::new(backend), &config.history, terminal).await?;
    match left {
        Left::ByThemselves => terminal.say(&notice::left(&handle)),
        Left::TerminalGone => {}
        // The cursor may stand in a line that is being typed.
        Left::Terminated => terminal.say(&format!("\n{}", notice::left(&handle))),
    }
    Ok(Exit::Fine)
}

/// Evaluates what stdin says on the instance at `url`, as one eval of a session of its own, and prints the answer. A signal
/// cancels it.
pub(in crate::cli) async fn pipe(url: &str, config: &Config, terminal: &Terminal) -> Result<Exit, NotStarted> {
    let mut signals = Signals::listen().map_err(|error| NotStarted::because("cannot listen for signals", error))?;
    let remote = Remote::connect(url, config.access.token.as_ref(), NOTE).await?;
    let mut code = String::new();
    std::io::stdin().read_to_string(&mut code).map_err(|error| NotStarted::because("stdin", error))?;
    let arguments = json!({ "code": code, "await": AS_LONG_AS_IT_TAKES });
    let answer = tokio::select! {
        biased;
        answer = remote.call("eval", arguments, |line| terminal.complain(line)) => answer?,
        () = signals.next() => {
            terminal.complain(&notice::cancelled_by_leaving(remote.session()));
            return Ok(Exit::Failed);
        }
    };
    if answer.is_error {
        terminal.complain(&answer.text);
        return Ok(Exit::Failed);
    }
    terminal.say(&answer.text);
    Ok(Exit::Fine)
}
