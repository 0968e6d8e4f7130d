//! The table of settings.

use super::units::{self, Least};
use super::values::{Config, DEFAULT_SCRIPTS};
#[cfg(feature = "tool-fs")]
use crate::base::PermissionKind;
use crate::base::{Limits, limits};
use crate::http::{Token, is_host, is_origin};
use crate::repl::History;
use std::time::Duration;

/// Something that can be chosen by an option or in the environment.
pub(super) struct Setting {
    /// The long option, without dashes.
    pub(super) name: &'static str,
    /// Its twin in the environment.
    pub(super) env: &'static str,
    /// The placeholder of the value in the help.
    pub(super) value: &'static str,
    pub(super) help: &'static str,
    pub(super) kind: Kind,
}

/// The kind of a setting: how it is read, and where it is kept.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// A text that the function checks and keeps.
    Text(Keep),
    /// The same, and never shown.
    Secret(Keep),
    /// The same, and may be given several times, or with commas.
    Many(Keep),
    Flag(fn(&mut Config)),
    /// A number of at least `least`.
    Count {
        least: usize,
        field: fn(&mut Limits) -> &mut usize,
    },
    /// Bytes.
    Size(fn(&mut Limits) -> &mut usize),
    /// A time of at least this.
    Seconds {
        least: Least,
        field: fn(&mut Limits) -> &mut Duration,
    },
}

type Keep = fn(&mut Config, &str) -> Result<(), String>;

impl Setting {
    /// Takes a value over.
    pub(super) fn apply(&self, config: &mut Config, value: &str) -> Result<(), String> {
        let value = value.trim();
        match self.kind {
            Kind::Text(keep) | Kind::Secret(keep) | Kind::Many(keep) => keep(config, value)?,
            Kind::Flag(set) => set(config),
            Kind::Count { least, field } => *field(&mut config.limits) = units::count(value, least)?,
            Kind::Size(field) => *field(&mut config.limits) = units::size(value)?,
            Kind::Seconds { least, field } => *field(&mut config.limits) = units::seconds(value, least)?,
        }
        Ok(())
    }

    /// The help with the default of a limit, which is asked for and not repeated in the table.
    pub(super) fn help_text(&self) -> String {
        let mut defaults = Limits::default();
        let default = match self.kind {
            Kind::Count { field, .. } => field(&mut defaults).to_string(),
            Kind::Size(field) => limits::bytes(*field(&mut defaults)),
            Kind::Seconds { field, .. } => field(&mut defaults).as_secs_f64().to_string(),
            Kind::Text(_) | Kind::Secret(_) | Kind::Many(_) | Kind::Flag(_) => return self.help.to_owned(),
        };
        format!("{} [default: {default}]", self.help)
    }

    pub(super) fn is_secret(&self) -> bool {
        matches!(self.kind, Kind::Secret(_))
    }

    pub(super) fn is_limit(&self) -> bool {
        matches!(self.kind, Kind::Count { .. } | Kind::Size(_) | Kind::Seconds { .. }) || self.name == "max-seconds"
    }
}

/// Every setting, in the order of the help.
pub(super) const SETTINGS: &[Setting] = &[
    text("port", "REMONTOIRE_PORT", "PORT", "Port to serve at; 0 takes any free one [default: 7766]", port),
    text(
        "bind",
        "REMONTOIRE_BIND",
        "ADDRESS",
        "Address to serve at; one that other machines reach needs --token or --trust-network [default: 127.0.0.1]",
        bind,
    ),
    text(
        "scripts",
        "REMONTOIRE_SCRIPTS",
        "DIR",
        "Folder of script modules, over the built-in ones [default: scripts, which need not exist]",
        scripts,
    ),
    text("describe", "REMONTOIRE_DESCRIBE", "TEXT", "What this instance is, for those who connect", describe),
    text(
        "history",
        "REMONTOIRE_HISTORY",
        "FILE",
        "Where the prompt keeps what was typed; `none` for nowhere [default: a file in your state folder]",
        history,
    ),
    Setting {
        name: "token",
        env: "REMONTOIRE_TOKEN",
        value: "TOKEN",
        help: "Bearer token that every request must carry; other users can see it on a command line, but not in the environment",
        kind: Kind::Secret(token),
    },
    text(
        "token-file",
        "REMONTOIRE_TOKEN_FILE",
        "FILE",
        "File with that token, which only you may read: programs can see neither it nor the environment's",
        token_file,
    ),
    Setting {
        name: "trust-network",
        env: "REMONTOIRE_TRUST_NETWORK",
        value: "",
        help: "Serve an address that other machines reach although there is no token",
        kind: Kind::Flag(|config| config.access.trust_network = true),
    },
    many(
        "allow-host",
        "REMONTOIRE_ALLOW_HOST",
        "NAME",
        "Name that requests may go to beside the loopback names, with any port; repeat it, or use commas",
        allow_host,
    ),
    many(
        "allow-origin",
        "REMONTOIRE_ALLOW_ORIGIN",
        "ORIGIN",
        "Origin whose pages may call and read the answers; repeat it, or use commas",
        allow_origin,
    ),
    #[cfg(feature = "tool-fs")]
    many(
        "allow-read",
        "REMONTOIRE_ALLOW_READ",
        "PATH",
        "File or folder that scripts may read, with all in it; repeat it, or use commas",
        allow_read,
    ),
    #[cfg(feature = "tool-fs")]
    many(
        "allow-write",
        "REMONTOIRE_ALLOW_WRITE",
        "PATH",
        "File or folder that scripts may write, with all in it; repeat it, or use commas",
        allow_write,
    ),
    #[cfg(feature = "tool-fs")]
    many(
        "allow-env",
        "REMONTOIRE_ALLOW_ENV",
        "NAME",
        "Variable of the environment that scripts may read, or PREFIX_* for all that begin so; repeat it, or use commas",
        allow_env,
    ),
    #[cfg(feature = "tool-fs")]
    Setting {
        name: "allow-all",
        env: "REMONTOIRE_ALLOW_ALL",
        value: "",
        help: "Scripts may reach everything that you can",
        kind: Kind::Flag(|config| config.permissions.all = true),
    },
    count(
        "capacity",
        "REMONTOIRE_CAPACITY",
        0,
        "Delivered evals that are kept for one session; each further session adds 10",
        |l| &mut l.capacity,
    ),
    text(
        "max-seconds",
        "REMONTOIRE_MAX_SECONDS",
        "SECONDS",
        "Longest time an eval may run [default: no limit]",
        max_seconds,
    ),
    size("script-size", "REMONTOIRE_SCRIPT_SIZE", "Longest script", |l| &mut l.script_bytes),
    size("eval-memory", "REMONTOIRE_EVAL_MEMORY", "Memory of one eval", |l| &mut l.eval_bytes),
    size("space-memory", "REMONTOIRE_SPACE_MEMORY", "Kept values of one space", |l| &mut l.space_bytes),
    size("total-memory", "REMONTOIRE_TOTAL_MEMORY", "Kept values, output and running evals of the process", |l| {
        &mut l.total_bytes
    }),
    size(
        "kept-when-full",
        "REMONTOIRE_KEPT_WHEN_FULL",
        "What an eval may still keep when the process has reached --total-memory",
        |l| &mut l.kept_when_full_bytes,
    ),
    size("output-size", "REMONTOIRE_OUTPUT_SIZE", "Output that is kept of one eval", |l| &mut l.output_bytes),
    size("body-size", "REMONTOIRE_BODY_SIZE", "Largest request", |l| &mut l.body_bytes),
    count("max-running", "REMONTOIRE_MAX_RUNNING", 1, "Evals that run at the same time", |l| &mut l.running),
    count("reserved-slots", "REMONTOIRE_RESERVED_SLOTS", 0, "Of these, how many no single session can take", |l| {
        &mut l.reserved_slots
    }),
    count("max-queued", "REMONTOIRE_MAX_QUEUED", 0, "Evals that may wait for a slot", |l| &mut l.queued),
    count("max-live", "REMONTOIRE_MAX_LIVE", 1, "Evals that have not settled", |l| &mut l.live_entries),
    count("max-sessions", "REMONTOIRE_MAX_SESSIONS", 1, "Sessions alive at the same time", |l| &mut l.sessions),
    count("max-spaces", "REMONTOIRE_MAX_SPACES", 1, "Spaces alive at the same time", |l| &mut l.spaces),
    count("max-variables", "REMONTOIRE_MAX_VARIABLES", 1, "Variables of one space", |l| &mut l.variables),
    count("max-functions", "REMONTOIRE_MAX_FUNCTIONS", 1, "Functions of one space or module", |l| &mut l.functions),
    count("max-modules", "REMONTOIRE_MAX_MODULES", 0, "Modules one eval may load", |l| &mut l.modules),
    count("max-nesting", "REMONTOIRE_MAX_NESTING", 1, "Levels a kept value may be nested", |l| &mut l.nesting),
    count("call-depth", "REMONTOIRE_CALL_DEPTH", 1, "Deepest chain of calls in a script", |l| &mut l.call_depth),
    count(
        "expression-depth",
        "REMONTOIRE_EXPRESSION_DEPTH",
        1,
        "Deepest expression at the top level of a script",
        |l| &mut l.expression_depth,
    ),
    count(
        "function-expression-depth",
        "REMONTOIRE_FUNCTION_EXPRESSION_DEPTH",
        1,
        "Deepest expression in a function",
        |l| &mut l.function_expression_depth,
    ),
    seconds(
        "grace",
        "REMONTOIRE_GRACE",
        Least::Zero,
        "How long eval waits when it is not told; a client that follows tasks is answered with one then",
        |l| &mut l.grace,
    ),
    seconds(
        "stream-after",
        "REMONTOIRE_STREAM_AFTER",
        Least::Zero,
        "How long a call may be open before its answer is streamed",
        |l| &mut l.stream_after,
    ),
    seconds("heartbeat", "REMONTOIRE_HEARTBEAT", Least::AboveZero, "Pause between signs of life on a stream", |l| {
        &mut l.heartbeat
    }),
    seconds(
        "silence",
        "REMONTOIRE_SILENCE",
        Least::AboveZero,
        "Silence after which a session is over; also the longest wait",
        |l| &mut l.silence,
    ),
    seconds(
        "cancel-wait",
        "REMONTOIRE_CANCEL_WAIT",
        Least::Zero,
        "How long an answer waits for a cancellation to bite",
        |l| &mut l.cancel_wait,
    ),
    seconds(
        "write-stall",
        "REMONTOIRE_WRITE_STALL",
        Least::AboveZero,
        "How long a client may take nothing of its answer",
        |l| &mut l.write_stall,
    ),
];

/// The field of a limit.
type Field<T> = fn(&mut Limits) -> &mut T;

const fn text(name: &'static str, env: &'static str, value: &'static str, help: &'static str, keep: Keep) -> Setting {
    Setting { name, env, value, help, kind: Kind::Text(keep) }
}

const fn many(name: &'static str, env: &'static str, value: &'static str, help: &'static str, keep: Keep) -> Setting {
    Setting { name, env, value, help, kind: Kind::Many(keep) }
}

const fn count(
    name: &'static str,
    env: &'static str,
    least: usize,
    help: &'static str,
    field: Field<usize>,
) -> Setting {
    Setting { name, env, value: "N", help, kind: Kind::Count { least, field } }
}

const fn size(name: &'static str, env: &'static str, help: &'static str, field: Field<usize>) -> Setting {
    Setting { name, env, value: "SIZE", help, kind: Kind::Size(field) }
}

const fn seconds(
    name: &'static str,
    env: &'static str,
    least: Least,
    help: &'static str,
    field: Field<Duration>,
) -> Setting {
    Setting { name, env, value: "SECONDS", help, kind: Kind::Seconds { least, field } }
}

fn port(config: &mut Config, value: &str) -> Result<(), String> {
    config.port = value.parse().map_err(|_| "not a port; they go from 0 (any) to 65535")?;
    Ok(())
}

fn bind(config: &mut Config, value: &str) -> Result<(), String> {
    let bare = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(value);
    let address = if bare.eq_ignore_ascii_case("localhost") { "127.0.0.1" } else { bare };
    let unknown = "not an address; one looks like 127.0.0.1, and 0.0.0.0 stands for all of this machine";
    config.bind = address.parse().map_err(|_| unknown)?;
    Ok(())
}

fn scripts(config: &mut Config, value: &str) -> Result<(), String> {
    if value.is_empty() {
        return Err(format!("not a folder; leave it out for {DEFAULT_SCRIPTS}"));
    }
    config.scripts = Some(value.into());
    Ok(())
}

fn describe(config: &mut Config, value: &str) -> Result<(), String> {
    config.describe = value.to_owned();
    Ok(())
}

fn history(config: &mut Config, value: &str) -> Result<(), String> {
    config.history = match value {
        "" => return Err("not a file; `none` keeps no history".to_owned()),
        "none" => History::Off,
        file => History::File(file.into()),
    };
    Ok(())
}

fn token(config: &mut Config, value: &str) -> Result<(), String> {
    let token = Token::new(value).ok_or("a token is visible ASCII without spaces, and not empty")?;
    config.access.token = Some(token);
    Ok(())
}

fn allow_host(config: &mut Config, value: &str) -> Result<(), String> {
    if !is_host(value) {
        return Err("not a host name; one looks like tools.example".to_owned());
    }
    config.access.allow_hosts.push(value.to_owned());
    Ok(())
}

fn allow_origin(config: &mut Config, value: &str) -> Result<(), String> {
    if !is_origin(value) {
        return Err("not an origin; one looks like https://desk.example".to_owned());
    }
    config.access.allow_origins.push(value.to_owned());
    Ok(())
}

#[cfg(feature = "tool-fs")]
fn allow_read(config: &mut Config, value: &str) -> Result<(), String> {
    allow(config, PermissionKind::Read, value)
}

#[cfg(feature = "tool-fs")]
fn allow_write(config: &mut Config, value: &str) -> Result<(), String> {
    allow(config, PermissionKind::Write, value)
}

#[cfg(feature = "tool-fs")]
fn allow_env(config: &mut Config, value: &str) -> Result<(), String> {
    allow(config, PermissionKind::Env, value)
}

#[cfg(feature = "tool-fs")]
fn allow(config: &mut Config, kind: PermissionKind, value: &str) -> Result<(), String> {
    let known = std::mem::take(&mut config.permissions);
    config.permissions = known.add(kind, value).map_err(|error| error.to_string())?;
    Ok(())
}

fn token_file(config: &mut Config, value: &str) -> Result<(), String> {
    let text = std::fs::read_to_string(value).map_err(|error| format!("cannot be read: {error}"))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(value).map_err(|error| error.to_string())?.permissions().mode();
        if mode & 0o077 != 0 {
            return Err("others may read it; say chmod 600".to_owned());
        }
    }
    token(config, text.trim())
}

fn max_seconds(config: &mut Config, value: &str) -> Result<(), String> {
    config.limits.eval_time = Some(units::seconds(value, Least::AboveZero)?);
    Ok(())
}
