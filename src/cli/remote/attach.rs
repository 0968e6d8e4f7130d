//! `attach`: evaluating on a running instance.

use super::{Remote, RemoteError};
use crate::cli::signals::Signals;
use crate::cli::terminal::Terminal;
use crate::cli::{Exit, NotStarted};
use crate::http::Token;
use serde_json::json;
use std::io::Read;

/// The longest wait an instance grants, in seconds.
const AS_LONG_AS_IT_TAKES: u64 = 24 * 3600;

impl From<RemoteError> for NotStarted {
    fn from(error: RemoteError) -> Self {
        Self(error.to_string())
    }
}

/// Evaluates what stdin says on the instance at `url`, as one eval of a session of its own, and prints the answer. A signal
/// cancels it.
pub(in crate::cli) async fn attach(url: &str, token: Option<&Token>, terminal: &Terminal) -> Result<Exit, NotStarted> {
    let mut signals = Signals::listen().map_err(|error| NotStarted::because("cannot listen for signals", error))?;
    let remote = Remote::connect(url, token).await?;
    let mut code = String::new();
    std::io::stdin().read_to_string(&mut code).map_err(|error| NotStarted::because("stdin", error))?;
    let arguments = json!({ "code": code, "await": AS_LONG_AS_IT_TAKES });
    let answer = tokio::select! {
        biased;
        answer = remote.call("eval", arguments, |line| terminal.complain(line)) => answer?,
        () = signals.next() => {
            terminal.complain(&format!("left session {}; the eval was cancelled", remote.session()));
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
