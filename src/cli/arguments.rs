//! The grammar of the command line. Doc comments here are the help.

use crate::config::Options;
use clap::{Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;

/// A live Rhai runtime that agents reach over MCP and a person reaches at a prompt.
///
/// Without a command it serves MCP, and opens a prompt on the same state when it runs in a terminal.
///
/// Every option can also be given in the environment. Exit codes: 0 all went well, 1 the script failed or stdout could not be
/// written, 2 the command line is wrong, 3 it could not start.
#[derive(Debug, Parser)]
#[command(name = "remontoire", version, max_term_width = 100)]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub(super) command: Option<Command>,
    #[command(flatten)]
    pub(super) options: Options,
}

#[derive(Debug, Subcommand, PartialEq, Eq)]
pub(super) enum Command {
    /// Serve MCP until SIGINT or SIGTERM
    Serve,
    /// Evaluate a script file; everything after FILE is the script's, as the constant ARGS
    Run {
        /// The file, or - for stdin, and the arguments of the script
        // One list, so that nothing after the file is taken for an option of ours.
        #[arg(required = true, num_args = 1.., trailing_var_arg = true, value_names = ["FILE", "ARG"])]
        file_and_arguments: Vec<OsString>,
    },
    /// Evaluate code and print its value
    Eval {
        /// The code
        #[arg(allow_hyphen_values = true)]
        code: String,
    },
    /// Compile every script module of a folder
    Check {
        /// The folder [default: that of --scripts]
        dir: Option<PathBuf>,
    },
    /// Print the signatures and docs of a script module
    Outline {
        /// The file
        file: PathBuf,
    },
    /// Open a prompt on a running instance; without a terminal, evaluate what stdin says there
    Attach {
        /// Where it is served
        #[arg(default_value = "http://127.0.0.1:7766/mcp")]
        url: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn parse(line: &[&str]) -> Arguments {
        Arguments::try_parse_from([&["remontoire"], line].concat()).unwrap()
    }

    fn exit_code(line: &[&str]) -> i32 {
        Arguments::try_parse_from([&["remontoire"], line].concat()).unwrap_err().exit_code()
    }

    #[test]
    fn the_definition_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn options_stand_before_or_after_the_command() {
        for line in [["--port", "1", "serve"], ["serve", "--port", "1"]] {
            let arguments = parse(&line);
            assert_eq!((arguments.command, arguments.options.0.port), (Some(Command::Serve), 1));
        }
        let arguments = parse(&["--port", "1"]);
        assert_eq!((arguments.command, arguments.options.0.port), (None, 1));
    }

    #[test]
    fn everything_after_the_file_belongs_to_the_script() {
        let arguments =
            parse(&["run", "--port", "1", "job.rhai", "one", "two words", "--three", "--port", "2", "--", "-h"]);
        let wanted = ["job.rhai", "one", "two words", "--three", "--port", "2", "--", "-h"].map(OsString::from);
        assert_eq!(arguments.command, Some(Command::Run { file_and_arguments: wanted.into() }));
        assert_eq!(arguments.options.0.port, 1);
    }

    #[test]
    fn code_may_begin_with_a_minus() {
        let arguments = parse(&["eval", "-1 + 2", "--max-seconds", "5"]);
        assert_eq!(arguments.command, Some(Command::Eval { code: "-1 + 2".into() }));
        assert!(arguments.options.0.limits.eval_time.is_some());
    }

    #[test]
    fn what_is_wrong_with_the_line_is_exit_2_and_help_is_not_wrong() {
        for line in [
            &["--frobnicate"] as &[_],
            &["serve", "--frobnicate"],
            &["serve", "--port", "banana"],
            &["eval"],
            &["run"],
            &["run", "--frobnicate"],
            &["outline"],
            &["frobnicate"],
        ] {
            assert_eq!(exit_code(line), 2, "{line:?}");
        }
        for line in [&["--help"] as &[_], &["--version"], &["serve", "--help"]] {
            assert_eq!(exit_code(line), 0, "{line:?}");
        }
    }
}
