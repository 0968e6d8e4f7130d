//! The program: the log, and the command line.

use std::process::ExitCode;
use tracing_subscriber::EnvFilter;

/// The variable that says what is logged, such as `info` or `remontoire::http=debug`.
const LOG: &str = "REMONTOIRE_LOG";

fn main() -> ExitCode {
    let filter = EnvFilter::try_from_env(LOG).unwrap_or_else(|_| EnvFilter::new("warn"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(true).init();
    remontoire::cli::main(std::env::args_os())
}
