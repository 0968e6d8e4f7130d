//! Every sentence of the prompt itself. (Entries, lists and documentation come from the backend as finished texts.)

use super::command::{COMMANDS, Misuse};
use super::completion::usage;
use crate::words::limits::thousands;
use crate::words::{EntryId, Status};
use std::fmt::Write;
use std::time::Duration;

/// What a new prompt says first.
pub(super) fn greeting() -> String {
    ":help lists the commands · Ctrl-D leaves".to_owned()
}

/// The prompt before a first line.
pub(super) fn prompt(place: Option<&str>) -> String {
    match place {
        Some(name) => format!("{name}> "),
        None => "> ".to_owned(),
    }
}

/// Ctrl-C was pressed where there is nothing to stop.
pub(super) fn how_to_leave() -> &'static str {
    "Ctrl-D or :quit leaves"
}

/// What `:help` prints.
pub(super) fn help() -> String {
    let width = COMMANDS.iter().map(|command| usage(command).chars().count()).max().unwrap_or_default();
    let mut text = String::new();
    for command in COMMANDS {
        text.push_str(&format!("{:width$}  {}\n", usage(command), command.help));
    }
    text.push_str(
        "\nAnything else is code. Two blank lines submit it unfinished, Alt-Enter adds a line.\n\
         A trailing & runs it in the background. Ctrl-C cancels what runs, Ctrl-D leaves.\n",
    );
    text
}

/// What was wrong with a command.
pub(super) fn misuse(misuse: &Misuse) -> String {
    match misuse {
        Misuse::Unknown { name, near: Some(near) } => {
            format!("no command :{name} · did you mean :{near} · :help lists the commands")
        }
        Misuse::Unknown { name, near: None } => format!("no command :{name} · :help lists the commands"),
        Misuse::Arguments { command, problem } => format!("{problem} · {}", usage(command)),
        Misuse::Lines => "a command is one line".to_owned(),
    }
}

/// An eval was started with a trailing `&`.
pub(super) fn in_background(id: EntryId) -> String {
    format!(";; id {id} · running in the background")
}

/// Ctrl-C was pressed while an eval ran.
pub(super) fn cancelling(id: EntryId) -> String {
    format!(";; id {id} · cancelling")
}

/// The prompt goes on although the entry has not stopped yet.
pub(super) fn still_stopping(id: EntryId) -> String {
    format!(";; id {id} · has not stopped yet · :res {id} says how it stands")
}

/// Ctrl-C was pressed while the output of an entry was followed.
pub(super) fn stopped_watching(id: EntryId) -> String {
    format!(";; id {id} · runs on, no longer watched")
}

/// The end of following an entry.
pub(super) fn watched_to_its_end(id: EntryId, status: Status) -> String {
    format!(";; id {id} · {status} · :res {id} shows it")
}

/// Lines of output that are not shown because they were dropped, or lie before those that are shown.
pub(super) fn elided(id: EntryId, from: usize, count: usize) -> String {
    let lines = if count == 1 { "line" } else { "lines" };
    format!("… {} {lines} elided · :out {id} {from} {count}", thousands(count))
}

/// Lines of output that came faster than they could be shown, and are gone.
pub(super) fn lost(count: usize) -> String {
    let lines = if count == 1 { "line" } else { "lines" };
    format!("… {} {lines} dropped: the entry printed more than is kept", thousands(count))
}

/// Timing was switched.
pub(super) fn timing(on: bool) -> &'static str {
    if on { "timing is on" } else { "timing is off" }
}

/// How long an eval took, from Enter to the answer.
pub(super) fn took(time: Duration) -> String {
    let mut text = String::from(";; time ");
    let micros = time.as_micros();
    // Writing to a string does not fail.
    let _written = if micros < 1_000_000 {
        write!(text, "{}.{:03} ms", micros / 1_000, micros % 1_000)
    } else {
        write!(text, "{}.{:03} s", micros / 1_000_000, micros / 1_000 % 1_000)
    };
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repl::command::Command;
    use expect_test::expect;

    #[test]
    fn help_shows_every_command() {
        expect![[r#"
            :help               this list
            :evals [status]     every entry of this process, or only the running, queued, ok, failed or cancelled ones
            :res 12             entry 12 with its value
            :out 12 [from [n]]  what entry 12 printed: head and tail, or n lines beginning with line `from`, counted from 0
            :cancel 12          cancels entry 12, whoever started it
            :watch 12           follows what entry 12 prints until it settles; Ctrl-C stops following
            :sessions           the conversations of this process
            :spaces             the spaces and their sizes
            :ns [name]          where evals run; with a name, moves there
            :doc name           the documentation of a function, such as bg or stats::mean
            :time               switches timing on or off: how long each eval took, from Enter to the answer
            :quit               leaves, as Ctrl-D does

            Anything else is code. Two blank lines submit it unfinished, Alt-Enter adds a line.
            A trailing & runs it in the background. Ctrl-C cancels what runs, Ctrl-D leaves.
        "#]].assert_eq(&help());
    }

    #[test]
    fn every_sentence() {
        let id = EntryId(12);
        let wrong = |line| misuse(&Command::parse(line).unwrap_err());
        let all = [
            greeting(),
            prompt(None),
            prompt(Some("workshop")),
            how_to_leave().into(),
            wrong(":evls"),
            wrong(":xyzzy"),
            wrong(":out"),
            wrong(":res x"),
            wrong(":help\n1"),
            in_background(id),
            cancelling(id),
            still_stopping(id),
            stopped_watching(id),
            watched_to_its_end(id, Status::Ok),
            elided(id, 0, 9_980),
            elided(id, 0, 1),
            lost(1_200),
            timing(true).into(),
            timing(false).into(),
            took(Duration::from_micros(3_021)),
            took(Duration::from_micros(12_345_678)),
        ];
        expect![[r#"
            :help lists the commands · Ctrl-D leaves
            > 
            workshop> 
            Ctrl-D or :quit leaves
            no command :evls · did you mean :evals · :help lists the commands
            no command :xyzzy · :help lists the commands
            which entry? · :out 12 [from [n]]
            `x` is not an entry id: ids are whole numbers from 1 · :res 12
            a command is one line
            ;; id 12 · running in the background
            ;; id 12 · cancelling
            ;; id 12 · has not stopped yet · :res 12 says how it stands
            ;; id 12 · runs on, no longer watched
            ;; id 12 · ok · :res 12 shows it
            … 9,980 lines elided · :out 12 0 9980
            … 1 line elided · :out 12 0 1
            … 1,200 lines dropped: the entry printed more than is kept
            timing is on
            timing is off
            ;; time 3.021 ms
            ;; time 12.345 s"#]]
        .assert_eq(&all.join("\n"));
    }
}
