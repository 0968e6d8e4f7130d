//! The commands of the prompt: one table, from which parsing, help and completion are made. Knows neither backend nor terminal.

use crate::base::{EntryId, Status};
use crate::render::lists::CommandRow;
use crate::render::prompt as texts;
use std::fmt;

/// A command, understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// Lists the commands.
    Help,
    /// Lists entries: all, or those that stand so.
    Evals(Option<Status>),
    /// Shows one entry with its value.
    Res(EntryId),
    /// Shows output of an entry: head and tail, or lines beginning with `from`.
    Out {
        /// The entry.
        id: EntryId,
        /// The first line, from 0.
        from: Option<usize>,
        /// The number of lines.
        count: Option<usize>,
    },
    /// Cancels an entry.
    Cancel(EntryId),
    /// Lists the conversations.
    Sessions,
    /// Says where evals run, or moves.
    Ns(Option<String>),
    /// Prints the documentation of a name.
    Doc(String),
    /// Follows the output of an entry.
    Watch(EntryId),
    /// Switches timing on or off.
    Time,
    /// Lists the spaces.
    Spaces,
    /// Leaves, unless others are here or work runs and this is the first time.
    Quit,
    /// Leaves, whoever is here and whatever runs.
    QuitAtOnce,
}

/// The error in a line that begins like a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Misuse {
    /// No command has this name.
    Unknown {
        /// The name as typed, without the colon.
        name: String,
        /// The name that was probably meant.
        near: Option<&'static str>,
    },
    /// The arguments do not fit.
    Arguments {
        /// The command.
        command: &'static CommandSpec,
        /// The problem with them.
        problem: String,
    },
    /// More than one line was given.
    Lines,
}

/// The kind of name that an argument of a command is, for completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Argument {
    /// Nothing that could be completed.
    Free,
    /// A status of an entry.
    Status,
    /// A space.
    Space,
    /// A function.
    Function,
}

/// One row of the table.
#[derive(Debug)]
pub(super) struct CommandSpec {
    /// Its name, which is typed after the colon.
    pub name: &'static str,
    /// The arguments as help shows them; empty for none.
    pub arguments: &'static str,
    /// Its effect, in one line.
    pub help: &'static str,
    /// The kind of name its first argument is.
    pub completes: Argument,
    parse: fn(&[&str]) -> Result<Command, String>,
}

impl PartialEq for CommandSpec {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for CommandSpec {}

impl CommandSpec {
    /// The command as it is typed, with its arguments: `:out 12 [from [n]]`.
    pub(super) fn usage(&self) -> String {
        format!(":{} {}", self.name, self.arguments).trim_end().to_owned()
    }

    /// Its row of the help.
    pub(super) fn row(&self) -> CommandRow<'static> {
        CommandRow { usage: self.usage(), help: self.help }
    }
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&match self {
            Self::Unknown { name, near } => texts::unknown_command(name, *near),
            Self::Arguments { command, problem } => texts::misused(problem, &command.usage()),
            Self::Lines => texts::ONE_LINE.to_owned(),
        })
    }
}

/// Every command, in the order of help.
pub(super) const COMMANDS: &[CommandSpec] = &[
    CommandSpec {
        name: "help",
        arguments: "",
        help: "this list",
        completes: Argument::Free,
        parse: |words| none(words, Command::Help),
    },
    CommandSpec {
        name: "evals",
        arguments: "[status]",
        help: "every entry of this process, or only the running, queued, ok, failed or cancelled ones",
        completes: Argument::Status,
        parse: |words| Ok(Command::Evals(at_most_one(words)?.map(status).transpose()?)),
    },
    CommandSpec {
        name: "res",
        arguments: "12",
        help: "entry 12 with its value",
        completes: Argument::Free,
        parse: |words| Ok(Command::Res(entry(words)?)),
    },
    CommandSpec {
        name: "out",
        arguments: "12 [from [n]]",
        help: "what entry 12 printed: head and tail, or n lines beginning with line `from`, counted from 0",
        completes: Argument::Free,
        parse: |words| {
            let (id, lines) = words.split_first().ok_or(texts::WHICH_ENTRY)?;
            let id = id.parse()?;
            let (from, count) = match lines {
                [] => (None, None),
                [from] => (Some(number(from)?), None),
                [from, count] => (Some(number(from)?), Some(number(count)?)),
                [_, _, more, ..] => return Err(texts::surplus(more)),
            };
            Ok(Command::Out { id, from, count })
        },
    },
    CommandSpec {
        name: "cancel",
        arguments: "12",
        help: "cancels entry 12, whoever started it",
        completes: Argument::Free,
        parse: |words| Ok(Command::Cancel(entry(words)?)),
    },
    CommandSpec {
        name: "watch",
        arguments: "12",
        help: "follows what entry 12 prints until it settles; Ctrl-C stops following",
        completes: Argument::Free,
        parse: |words| Ok(Command::Watch(entry(words)?)),
    },
    CommandSpec {
        name: "sessions",
        arguments: "",
        help: "the conversations of this process",
        completes: Argument::Free,
        parse: |words| none(words, Command::Sessions),
    },
    CommandSpec {
        name: "spaces",
        arguments: "",
        help: "the spaces and their sizes",
        completes: Argument::Free,
        parse: |words| none(words, Command::Spaces),
    },
    CommandSpec {
        name: "ns",
        arguments: "[name]",
        help: "where evals run; with a name, moves there",
        completes: Argument::Space,
        parse: |words| Ok(Command::Ns(at_most_one(words)?.map(str::to_owned))),
    },
    CommandSpec {
        name: "doc",
        arguments: "name",
        help: "the documentation of a function, such as bg or stats::mean",
        completes: Argument::Function,
        parse: |words| Ok(Command::Doc(at_most_one(words)?.ok_or(texts::WHICH_NAME)?.to_owned())),
    },
    CommandSpec {
        name: "time",
        arguments: "",
        help: "switches timing on or off: how long each eval took, from Enter to the answer",
        completes: Argument::Free,
        parse: |words| none(words, Command::Time),
    },
    CommandSpec {
        name: "quit",
        arguments: "",
        help: "leaves, as Ctrl-D does; asks first when that ends the work of others",
        completes: Argument::Free,
        parse: |words| none(words, Command::Quit),
    },
    CommandSpec {
        name: "quit!",
        arguments: "",
        help: "leaves without asking",
        completes: Argument::Free,
        parse: |words| none(words, Command::QuitAtOnce),
    },
];

impl Command {
    /// Understands a line that begins with a colon. No Rhai code does.
    pub(super) fn parse(line: &str) -> Result<Self, Misuse> {
        let line = line.trim();
        if line.contains('\n') {
            return Err(Misuse::Lines);
        }
        let mut words = line.trim_start_matches(':').split_whitespace();
        let name = words.next().unwrap_or_default();
        let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
            return Err(Misuse::Unknown { name: name.to_owned(), near: near(name) });
        };
        let words: Vec<&str> = words.collect();
        (command.parse)(&words).map_err(|problem| Misuse::Arguments { command, problem })
    }
}

/// The command that was probably meant: one it abbreviates, or the one nearest to it in letters.
fn near(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        return None;
    }
    let abbreviated = COMMANDS.iter().map(|command| command.name).find(|known| known.starts_with(name));
    abbreviated.or_else(|| {
        COMMANDS
            .iter()
            .map(|command| (strsim::damerau_levenshtein(name, command.name), command.name))
            .filter(|(distance, known)| *distance <= 2 && *distance < known.len())
            .min()
            .map(|(_, known)| known)
    })
}

fn none(words: &[&str], command: Command) -> Result<Command, String> {
    match words {
        [] => Ok(command),
        [word, ..] => Err(texts::surplus(word)),
    }
}

fn at_most_one<'a>(words: &[&'a str]) -> Result<Option<&'a str>, String> {
    match words {
        [] => Ok(None),
        [word] => Ok(Some(word)),
        [_, word, ..] => Err(texts::surplus(word)),
    }
}

fn entry(words: &[&str]) -> Result<EntryId, String> {
    at_most_one(words)?.ok_or(texts::WHICH_ENTRY)?.parse()
}

fn number(word: &str) -> Result<usize, String> {
    word.parse().map_err(|_| texts::no_number(word))
}

fn status(word: &str) -> Result<Status, String> {
    Status::from_word(word).ok_or_else(|| texts::no_status(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_parses_with_and_without_its_arguments() {
        let id = EntryId(12);
        let good = [
            (":help", Command::Help),
            ("  :help  ", Command::Help),
            (":evals", Command::Evals(None)),
            (":evals failed", Command::Evals(Some(Status::Failed))),
            (":res 12", Command::Res(id)),
            (":out 12", Command::Out { id, from: None, count: None }),
            (":out 12 500", Command::Out { id, from: Some(500), count: None }),
            (":out  12 0  100", Command::Out { id, from: Some(0), count: Some(100) }),
            (":cancel 12", Command::Cancel(id)),
            (":watch 12", Command::Watch(id)),
            (":sessions", Command::Sessions),
            (":spaces", Command::Spaces),
            (":ns", Command::Ns(None)),
            (":ns lab/one", Command::Ns(Some("lab/one".into()))),
            (":doc stats::mean", Command::Doc("stats::mean".into())),
            (":time", Command::Time),
            (":quit", Command::Quit),
            (":quit!", Command::QuitAtOnce),
        ];
        for (line, command) in good {
            assert_eq!(Command::parse(line), Ok(command), "{line}");
        }
        for command in COMMANDS {
            assert!(good_names().contains(&command.name), "{} is tested", command.name);
        }
    }

    fn good_names() -> [&'static str; 13] {
        ["help", "evals", "res", "out", "cancel", "watch", "sessions", "spaces", "ns", "doc", "time", "quit", "quit!"]
    }

    #[test]
    fn what_does_not_fit_is_said() {
        let bad = [
            (":help me", "what is `me`?"),
            (":evals done", "`done` is not a status"),
            (":res", "which entry?"),
            (":res 12 13", "what is `13`?"),
            (":res x", "`x` is not an entry id: ids are whole numbers from 1"),
            (":res 0", "`0` is not an entry id: ids are whole numbers from 1"),
            (":out", "which entry?"),
            (":out 12 -1", "`-1` is not a number of lines"),
            (":out 12 1 2 3", "what is `3`?"),
            (":doc", "of which name?"),
        ];
        for (line, expected) in bad {
            match Command::parse(line) {
                Err(Misuse::Arguments { problem, .. }) => assert_eq!(problem, expected, "{line}"),
                other => panic!("{line}: {other:?}"),
            }
        }
        assert_eq!(Command::parse(":help\n1 + 1"), Err(Misuse::Lines));
    }

    #[test]
    fn unknown_names_are_near_one_or_none() {
        let table = [
            ("evls", Some("evals")),
            ("eval", Some("evals")),
            ("q", Some("quit")),
            ("exit", Some("quit")),
            ("cancle", Some("cancel")),
            ("sesions", Some("sessions")),
            ("", None),
            ("xyzzy", None),
        ];
        for (name, near) in table {
            assert_eq!(Command::parse(&format!(":{name}")), Err(Misuse::Unknown { name: name.into(), near }), "{name}");
        }
    }
}
