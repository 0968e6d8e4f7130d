//! Evaluating one script to its end.

use super::exit::{Exit, NotStarted};
use super::signals::Signals;
use super::terminal::Terminal;
use crate::base::Owner;
use crate::base::Status;
use crate::host::{Host, HostApi, Script};
use crate::registry::CancelBy;
use crate::render::notice;
use std::ffi::OsString;
use std::io::Read;
use std::path::Path;

/// Code from the command line.
pub(super) fn of_code(code: String) -> Script {
    Script { code, file: None, arguments: None }
}

/// A script file and its arguments; the file `-` is stdin.
pub(super) fn of_file(file_and_arguments: Vec<OsString>) -> Result<Script, NotStarted> {
    let mut words = file_and_arguments.into_iter();
    let file = words.next().ok_or_else(|| NotStarted("no file was named".to_owned()))?;
    let (shown, bytes) = if file == "-" {
        let mut bytes = Vec::new();
        ("stdin".to_owned(), std::io::stdin().read_to_end(&mut bytes).map(|_| bytes))
    } else {
        (Path::new(&file).display().to_string(), std::fs::read(&file))
    };
    let bytes = bytes.map_err(|error| NotStarted::because(&shown, error))?;
    let code = String::from_utf8(bytes).map_err(|_| NotStarted(format!("{shown}: not UTF-8 text")))?;
    let arguments = words.map(|word| word.to_string_lossy().into_owned()).collect();
    Ok(Script { code, file: Some(shown), arguments: Some(arguments) })
}

/// Evaluates a script: output while it comes and the value on stdout, a failure on stderr, and there too which background
/// work ends unfinished with it. The first signal cancels the script, the second does not wait for that.
pub(super) async fn run(host: &Host, script: Script, terminal: &Terminal) -> Result<Exit, NotStarted> {
    let mut signals = Signals::listen().map_err(|error| NotStarted::because("cannot listen for signals", error))?;
    let host = HostApi::of(host);
    let script = match host.submit_script(script) {
        Ok(script) => script,
        Err(refusal) => {
            terminal.complain(&refusal.to_string());
            return Ok(Exit::Failed);
        }
    };
    let (mut next, mut cancelled) = (0, false);
    loop {
        tokio::select! {
            biased;
            () = signals.next() => {
                if cancelled {
                    return Ok(Exit::Failed);
                }
                cancelled = true;
                // Refused only when it has settled by now, and then the loop ends by itself.
                drop(host.cancel(CancelBy::Owner(Owner::Local), script.id()));
            }
            printed = host.printed(script.id(), next) => {
                let Some(printed) = printed else { break };
                for line in &printed.lines {
                    terminal.say(line);
                }
                next = printed.next;
            }
        }
    }
    let exit = match script.ended(terminal.out) {
        Ok(ended) if ended.status == Status::Ok => {
            if !ended.text.is_empty() {
                terminal.say(&ended.text);
            }
            Exit::Fine
        }
        Ok(_) => {
            let text = script.ended(terminal.err).map_or_else(|refusal| refusal.to_string(), |ended| ended.text);
            terminal.complain(&text);
            Exit::Failed
        }
        Err(refusal) => {
            terminal.complain(&refusal.to_string());
            Exit::Failed
        }
    };
    let unfinished = script.unfinished();
    // Whoever sent a signal wanted it all to stop.
    if !cancelled && !unfinished.is_empty() {
        terminal.complain(&notice::complaint(&notice::unfinished(&unfinished)));
    }
    Ok(exit)
}
