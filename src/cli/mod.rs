//! The command line: what was asked for is taken apart here, and the parts are joined.
//!
//! Knows every part of the program by its front door and none by its inside. The exit codes are decided here: 0 all went well,
//! 1 the script failed or stdout could not be written, 2 the command line is wrong, 3 it could not start.

mod arguments;
mod modules;
mod prompt;
mod remote;
mod script;
mod serve;
mod signals;
mod terminal;

use crate::config::Config;
use crate::host::{BuildError, Host};
use crate::render::notice;
use arguments::{Arguments, Command};
use clap::Parser;
use std::ffi::OsString;
use std::io;
use std::process::ExitCode;
use std::time::Duration;
use terminal::Terminal;

/// How long the end waits for threads that are still in native code.
const LAST_THREADS: Duration = Duration::from_millis(200);

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exit {
    /// All went well.
    Fine,
    /// The script failed or was stopped, a check found an error, or stdout could not be written.
    Failed,
    /// It could not start.
    NotStarted,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Fine => 0,
            Exit::Failed => 1,
            // 2 is the parser's.
            Exit::NotStarted => 3,
        })
    }
}

/// Why a command could not start.
#[derive(Debug)]
struct NotStarted(String);

impl NotStarted {
    fn because(what: impl std::fmt::Display, error: impl std::fmt::Display) -> Self {
        Self(format!("{what}: {error}"))
    }
}

impl From<BuildError> for NotStarted {
    fn from(error: BuildError) -> Self {
        Self(error.to_string())
    }
}

/// Does what the command line asks for. This is the whole program, without the allocator and the log.
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
