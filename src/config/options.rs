//! The settings as options of a command line: how they are declared to the parser, and how parsed values are read.

use super::settings::{Kind, SETTINGS, Setting};
use super::values::Config;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches};
use std::fmt;

/// The heading of the help under which the limits stand.
const LIMITS: &str = "Limits";

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
pub(crate) struct Options(pub Config);

impl clap::FromArgMatches for Options {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        read(matches)
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

/// Reads the values of a parsed command line. The error names every problem.
fn read(matches: &ArgMatches) -> Result<Config, Problems> {
    let mut config = Config::default();
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
    if config.access.trust_network && config.access.token.is_none() && !config.permissions.is_empty() {
        problems.push(Problem {
            by: "--trust-network".to_owned(),
            value: "with --allow-…".to_owned(),
            message: "whoever reaches the port could use what scripts may reach: give a token as well, with --token-file or --token"
                .to_owned(),
        });
    }
    if problems.is_empty() { Ok(config) } else { Err(Problems(problems)) }
}
