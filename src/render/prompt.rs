//! The sentences of the prompt itself. (Entries, lists and documentation have modules of their own.)

use super::lists::{self, CommandRow};
use super::plain::{count, first_line, one_line};
use super::style::{Role, Style};
use crate::base::{EntryId, Status};
use std::time::Duration;

/// Characters of a typed word that a sentence repeats.
const WORD: usize = 40;

/// The first line of a new prompt.
pub(crate) const GREETING: &str = ":help lists the commands · Ctrl-D leaves";

/// The answer of an idle prompt to Ctrl-C.
pub(crate) const HOW_TO_LEAVE: &str = "Ctrl-D or :quit leaves";

/// Said when what was typed cannot be read.
pub(crate) const NOT_TEXT: &str = "that was not UTF-8 text, and nothing was run";

/// A command was followed by further lines.
pub(crate) const ONE_LINE: &str = "a command is one line";

/// A command needs an entry and got none.
pub(crate) const WHICH_ENTRY: &str = "which entry?";

/// A command needs a name and got none.
pub(crate) const WHICH_NAME: &str = "of which name?";

/// The lines after the list of commands.
const ABOUT_CODE: &str = "Anything else is code. Two blank lines submit it unfinished, Alt-Enter adds a line.
A trailing & runs it in the background. What is typed ahead waits for its turn.
Ctrl-C cancels what runs and drops what was typed ahead of it, Ctrl-D leaves.";

/// The prompt was not left, because that would end what others do; `again`: the time within which leaving means it.
pub(crate) fn not_left(ended: &str, again: Duration) -> String {
    format!("{ended}\nall of it ends with this process · Ctrl-D again within {} s, or :quit!, ends it", again.as_secs())
}

/// The prompt before a first line: where evals run, when that is not the caller's own scratch.
pub(crate) fn prompt(place: Option<&str>) -> String {
    match place {
        Some(name) => format!("{name}> "),
        None => "> ".to_owned(),
    }
}

/// The text of `:help`: every command, and how code is submitted.
pub(crate) fn help(commands: &[CommandRow<'_>], style: Style) -> String {
    format!("{}\n\n{ABOUT_CODE}", lists::commands(commands, style))
}

/// No command has this name; `near` may have been meant.
pub(crate) fn unknown_command(name: &str, near: Option<&str>) -> String {
    let name = first_line(name, WORD);
    match near {
        Some(near) => format!("no command :{name} · did you mean :{near} · :help lists the commands"),
        None => format!("no command :{name} · :help lists the commands"),
    }
}

/// The arguments of a command do not fit; how it is used.
pub(crate) fn misused(problem: &str, usage: &str) -> String {
    format!("{problem} · {usage}")
}

/// A command got a word too many.
pub(crate) fn surplus(word: &str) -> String {
    format!("what is `{}`?", first_line(word, WORD))
}

/// A command needs a number of lines and got something else.
pub(crate) fn no_number(word: &str) -> String {
    format!("`{}` is not a number of lines", first_line(word, WORD))
}

/// A command needs a status and got something else.
pub(crate) fn no_status(word: &str) -> String {
    format!("`{}` is not a status", first_line(word, WORD))
}

/// An eval was started with a trailing `&`.
pub(crate) fn in_background(id: EntryId) -> String {
    format!(";; id {id} · running in the background")
}

/// Ctrl-C was pressed while an eval ran.
pub(crate) fn cancelling(id: EntryId) -> String {
    format!(";; id {id} · cancelling")
}

/// The prompt goes on although the entry has not stopped yet.
pub(crate) fn still_stopping(id: EntryId) -> String {
    format!(";; id {id} · has not stopped yet · :res {id} says how it stands")
}

/// Ctrl-C was pressed while the output of an entry was followed.
pub(crate) fn stopped_watching(id: EntryId) -> String {
    format!(";; id {id} · runs on, no longer watched")
}

/// The end of following an entry.
pub(crate) fn watched_to_its_end(id: EntryId, status: Status) -> String {
    format!(";; id {id} · {status} · :res {id} shows it")
}

/// Lines of output that are not shown because they were dropped, or lie before those that are shown.
pub(crate) fn elided(id: EntryId, from: usize, lines: usize) -> String {
    format!("… {} elided · :out {id} {from} {lines}", count(lines, "line"))
}

/// Lines of output that came faster than they could be shown, and are gone.
pub(crate) fn lost(lines: usize) -> String {
    format!("… {} dropped: the entry printed more than is kept", count(lines, "line"))
}

/// An entry cannot be looked at any more.
pub(crate) fn gone(id: EntryId) -> String {
    format!("entry {id} is not there any more")
}

/// The connection broke while an entry was waited for.
pub(crate) fn lost_sight(id: EntryId, why: &dyn std::fmt::Display) -> String {
    format!(";; id {id} · no longer waited for: {}", one_line(&why.to_string()))
}

/// An answer that came over the wire, as a terminal shows it.
pub(crate) fn from_wire(text: &str, is_error: bool, style: Style) -> String {
    let line = |(n, line): (usize, &str)| match line {
        line if line.starts_with(";;") => style.paint(Role::Quiet, &one_line(line)),
        line if n == 0 && is_error => style.paint(Role::Bad, &one_line(line)),
        line => one_line(line),
    };
    text.lines().enumerate().map(line).collect::<Vec<_>>().join("\n")
}

/// Timing was switched.
pub(crate) fn timing(on: bool) -> &'static str {
    if on { "timing is on" } else { "timing is off" }
}

/// The time an eval took, from Enter to the answer.
pub(crate) fn took(time: Duration) -> String {
    let micros = time.as_micros();
    if micros < 1_000_000 {
        format!(";; time {}.{:03} ms", micros / 1_000, micros % 1_000)
    } else {
        format!(";; time {}.{:03} s", micros / 1_000_000, micros / 1_000 % 1_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::style::visible;
    use expect_test::expect;

    #[test]
    fn every_sentence() {
        let id = EntryId(12);
        let commands = [
            CommandRow { usage: ":res 12".into(), help: "entry 12 with its value" },
            CommandRow { usage: ":out 12 [from [n]]".into(), help: "what entry 12 printed" },
            CommandRow { usage: ":quit".into(), help: "leaves" },
        ];
        let all = [
            GREETING.to_owned(),
            prompt(None),
            prompt(Some("workshop")),
            HOW_TO_LEAVE.to_owned(),
            not_left("running: 12 loop {}", Duration::from_secs(3)),
            NOT_TEXT.to_owned(),
            help(&commands, Style::Terminal { colour: false }),
            unknown_command("evls", Some("evals")),
            unknown_command("xyzzy", None),
            misused(WHICH_ENTRY, ":out 12 [from [n]]"),
            misused(WHICH_NAME, ":doc name"),
            surplus("13"),
            no_number("-1"),
            no_status("done"),
            ONE_LINE.to_owned(),
            in_background(id),
            cancelling(id),
            still_stopping(id),
            stopped_watching(id),
            watched_to_its_end(id, Status::Ok),
            elided(id, 0, 9_980),
            elided(id, 0, 1),
            lost(1_200),
            gone(id),
            lost_sight(id, &"the connection broke"),
            timing(true).to_owned(),
            timing(false).to_owned(),
            took(Duration::from_micros(3_021)),
            took(Duration::from_micros(12_345_678)),
        ];
        expect![[r#"
            :help lists the commands · Ctrl-D leaves
            > 
            workshop> 
            Ctrl-D or :quit leaves
            running: 12 loop {}
            all of it ends with this process · Ctrl-D again within 3 s, or :quit!, ends it
            that was not UTF-8 text, and nothing was run
            :res 12             entry 12 with its value
            :out 12 [from [n]]  what entry 12 printed
            :quit               leaves

            Anything else is code. Two blank lines submit it unfinished, Alt-Enter adds a line.
            A trailing & runs it in the background. What is typed ahead waits for its turn.
            Ctrl-C cancels what runs and drops what was typed ahead of it, Ctrl-D leaves.
            no command :evls · did you mean :evals · :help lists the commands
            no command :xyzzy · :help lists the commands
            which entry? · :out 12 [from [n]]
            of which name? · :doc name
            what is `13`?
            `-1` is not a number of lines
            `done` is not a status
            a command is one line
            ;; id 12 · running in the background
            ;; id 12 · cancelling
            ;; id 12 · has not stopped yet · :res 12 says how it stands
            ;; id 12 · runs on, no longer watched
            ;; id 12 · ok · :res 12 shows it
            … 9,980 lines elided · :out 12 0 9980
            … 1 line elided · :out 12 0 1
            … 1,200 lines dropped: the entry printed more than is kept
            entry 12 is not there any more
            ;; id 12 · no longer waited for: the connection broke
            timing is on
            timing is off
            ;; time 3.021 ms
            ;; time 12.345 s"#]]
        .assert_eq(&all.join("\n"));
    }

    #[test]
    fn answers_from_the_wire_are_painted_and_harmless() {
        let text = from_wire("Thrown: \u{1b}no\n  1\n;; id 3", true, Style::Terminal { colour: true });
        expect![[r#"
            ␛[31mThrown: \x1bno␛[0m
              1
            ␛[2m;; id 3␛[0m"#]]
        .assert_eq(&visible(&text));
        assert_eq!(from_wire("1\n;; id 3", false, Style::Terminal { colour: false }), "1\n;; id 3");
    }
}
