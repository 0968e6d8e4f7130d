//! The program: the allocator that counts, the log, and the command line.

use remontoire::CountingAllocator;
use std::process::ExitCode;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, fmt, registry};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// The variable that says what is logged, such as `info` or `remontoire::http=debug`.
const LOG: &str = "REMONTOIRE_LOG";

fn main() -> ExitCode {
    let filter = EnvFilter::try_from_env(LOG).unwrap_or_else(|_| EnvFilter::new("warn"));
    let console = fmt::layer().with_writer(std::io::stderr).with_filter(filter);
    registry().with(console).with(remontoire::tracing_layer()).init();
    remontoire::internals::program(std::env::args_os())
}
