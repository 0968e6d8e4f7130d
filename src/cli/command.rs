//! The program behind a command line: it is parsed, and its command is run.

use super::arguments::{Arguments, Command};
use super::exit::{Exit, NotStarted};
use super::terminal::Terminal;
use super::{modules, remote, script, serve, terminal};
use crate::config::Config;
use crate::host::Host;
use crate::render::notice;
use clap::Parser;
use std::ffi::OsString;
use std::io;
use std::process::ExitCode;
use std::time::Duration;

/// The time that the end waits for threads that are still in native code.
const LAST_THREADS: Duration = Duration::from_millis(200);

/// Runs a command line. This is the whole program, without the allocator and the log.
pub fn main(line: impl IntoIterator<Item = OsString>) -> ExitCode {
    let terminal = Terminal::of_this_process();
    let exit = match Arguments::try_parse_from(line) {
        Ok(arguments) => dispatch(arguments, &terminal).unwrap_or_else(|NotStarted(reason)| {
            terminal.complain(&notice::complaint(&reason));
            Exit::NotStarted
        }),
        Err(wrong) if wrong.use_stderr() => {
            // What cannot be written there cannot be written anywhere.
            drop(wrong.print());
            return ExitCode::from(2);
        }
        // Help goes to stdout and is no error.
        Err(help) => {
            help.print().unwrap_or_else(|error| terminal.unwritten(&error));
            Exit::Fine
        }
    };
    match exit {
        Exit::Fine if terminal.lost_words() => Exit::Failed.into(),
        exit => exit.into(),
    }
}

fn dispatch(arguments: Arguments, terminal: &Terminal) -> Result<Exit, NotStarted> {
    let config = arguments.options.0;
    match arguments.command {
        None if terminal::is_interactive() => {
            let host = host(&config)?;
            wait_for(serve::serve_with_prompt(&host, &config, terminal))
        }
        None | Some(Command::Serve) => {
            let host = host(&config)?;
            wait_for(serve::serve(&host, &config, terminal))
        }
        Some(Command::Run { file_and_arguments }) => {
            let script = script::of_file(file_and_arguments)?;
            let host = host(&config)?;
            wait_for(script::run(&host, script, terminal))
        }
        Some(Command::Eval { code }) => {
            let host = host(&config)?;
            wait_for(script::run(&host, script::of_code(code), terminal))
        }
        Some(Command::Check { dir }) => {
            let named = dir.is_some() || config.scripts.is_some();
            let folder = dir.unwrap_or_else(|| config.scripts_folder().to_owned());
            modules::check(&folder, named, &config.limits, terminal)
        }
        Some(Command::Outline { file }) => modules::outline(&file, &config.limits, terminal),
        Some(Command::Attach { url }) if terminal::is_interactive() => {
            wait_for(remote::converse(&url, &config, terminal))
        }
        Some(Command::Attach { url }) => wait_for(remote::pipe(&url, &config, terminal)),
    }
}

/// The host that the settings ask for.
fn host(config: &Config) -> Result<Host, NotStarted> {
    let builder = Host::builder().describe(&config.describe).limits(config.limits.clone());
    #[cfg(feature = "tool-fs")]
    let builder = builder.permissions(config.permissions.clone());
    let builder = match &config.scripts {
        Some(folder) => builder.scripts(folder),
        None => builder.scripts_if_any(config.scripts_folder()),
    };
    Ok(builder.build()?)
}

/// Waits for a command on a runtime of its own. What still runs afterwards ends with the process.
fn wait_for(command: impl Future<Output = Result<Exit, NotStarted>>) -> Result<Exit, NotStarted> {
    let runtime = runtime().map_err(|error| NotStarted::because("no threads to serve with", error))?;
    let exit = runtime.block_on(command);
    runtime.shutdown_timeout(LAST_THREADS);
    exit
}

fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().thread_name("remontoire-io").build()
}
