//! The program: the allocator that counts, and what it stands on, the log, and the command line.

use remontoire::CountingAllocator;
use std::process::ExitCode;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, fmt, registry};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// The variable that says what is logged, such as `info` or `remontoire::http=debug`.
const LOG: &str = "REMONTOIRE_LOG";

/// The variable by which a person chooses the number of the C library's arenas.
const ARENAS: &str = "MALLOC_ARENA_MAX";

fn main() -> ExitCode {
    // An embedding program's allocator is its own business; this process is ours.
    if std::env::var_os(ARENAS).is_none() {
        remontoire::internals::share_arenas();
    }
    let filter = EnvFilter::try_from_env(LOG).unwrap_or_else(|_| EnvFilter::new("warn"));
    let console = fmt::layer().with_writer(std::io::stderr).with_filter(filter);
    registry().with(console).with(remontoire::tracing_layer()).init();
    remontoire::internals::program(std::env::args_os())
}
