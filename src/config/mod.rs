//! What the operator chose: options of the command line and their twins in the environment, checked all at once.
//!
//! One table (`settings`) names every setting; the parser, the help, the defaults shown there and the checks come from it.
//! Knows how to parse; does not open, bind or start anything.

mod settings;
mod units;

use crate::base::Limits;
use crate::http::ServeOptions;
use crate::repl::History;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches};
use settings::{Kind, SETTINGS, Setting};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

/// Where modules are when nothing else is said. It need not exist.
const DEFAULT_SCRIPTS: &str = "scripts";
/// The heading of the help under which the limits stand.
const LIMITS: &str = "Limits";

/// Everything an operator can choose.
#[derive(Clone, Debug)]
pub struct Config {
    /// The address to bind.
    pub bind: IpAddr,
    /// The port; 0 takes any free one.
    pub port: u16,
    /// The folder of script modules, when one was named: then it must exist.
    pub scripts: Option<PathBuf>,
    /// What this instance is, for those who connect. May be empty.
    pub describe: String,
    /// Who may call.
    pub access: ServeOptions,
    /// Where the history of the prompt is kept.
    pub history: History,
    /// The limits in force.
    pub limits: Limits,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            bind: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 7766,
            scripts: None,
            describe: String::new(),
            access: ServeOptions::default(),
            history: History::default(),
            limits: Limits::default(),
        }
    }
}

impl Config {
    /// The address to serve at.
    pub fn addr(&self) -> SocketAddr {
        SocketAddr::new(self.bind, self.port)
    }

    /// The folder of script modules: the one that was named, else `scripts`.
    pub fn scripts_folder(&self) -> &Path {
        self.scripts.as_deref().unwrap_or(Path::new(DEFAULT_SCRIPTS))
    }

    /// Reads what was parsed. The error names every problem.
    fn from_matches(matches: &ArgMatches) -> Result<Self, Problems> {
        let mut config = Self::default();
        let mut problems = Vec::new();
        for setting in SETTINGS {
            let from_environment = matches.value_source(setting.name) == Some(ValueSource::EnvVariable);
            let mut blame = |value: &str, message: String| {
                let by = if from_environment { setting.env.to_owned() } else { format!("--{}", setting.name) };
                // A secret is not repeated.
                let value = if setting.is_secret() { "…" } else { value };
                problems.push(Problem { by, value: value.to_owned(), message });
            };
            if let Kind::Flag(set) = setting.kind {
                if matches.get_flag(setting.name) {
                    set(&mut config);
                }
                continue;
            }
            for value in matches.get_many::<String>(setting.name).into_iter().flatten() {
                if let Err(message) = setting.apply(&mut config, value) {
                    blame(value, message);
                }
            }
        }
        if problems.is_empty() { Ok(config) } else { Err(Problems(problems)) }
    }
}

/// A value that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Problem {
    /// The option, or the variable of the environment.
    by: String,
    value: String,
    message: String,
}

/// Every value that cannot be used, one a line.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Problems(Vec<Problem>);

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, Problem { by, value, message }) in self.0.iter().enumerate() {
            let start = if i > 0 { "\n       " } else { "" };
            write!(f, "{start}{by} `{value}`: {message}")?;
        }
        Ok(())
    }
}

/// The settings as a part of a command line.
#[derive(Clone, Debug, Default)]
pub struct Options(pub Config);

impl clap::FromArgMatches for Options {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Config::from_matches(matches)
            .map(Self)
            .map_err(|problems| clap::Error::raw(clap::error::ErrorKind::ValueValidation, problems.to_string()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl clap::Args for Options {
    fn augment_args(command: clap::Command) -> clap::Command {
        command.args(SETTINGS.iter().map(argument))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

fn argument(setting: &Setting) -> Arg {
    let arg = Arg::new(setting.name)
        .long(setting.name)
        .env(setting.env)
        .hide_env_values(true)
        .help(setting.help_text())
        .global(true);
    let arg = if setting.is_limit() { arg.help_heading(LIMITS) } else { arg };
    match setting.kind {
        Kind::Flag(_) => arg.action(ArgAction::SetTrue).value_parser(clap::builder::BoolishValueParser::new()),
        Kind::Many(_) => arg.value_name(setting.value).action(ArgAction::Append).value_delimiter(','),
        Kind::Text(_) | Kind::Secret(_) | Kind::Count { .. } | Kind::Size(_) | Kind::Seconds { .. } => {
            arg.value_name(setting.value)
        }
    }
}

#[cfg(test)]
mod tests;
