//! Where the words of the program go: stdout for what was asked for, stderr for everything about it.

use crate::render::Style;
use std::io::{IsTerminal, Write};

/// The two streams and how each wants its text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terminal {
    /// How stdout wants its text.
    pub(super) out: Style,
    /// How stderr wants its text.
    pub(super) err: Style,
}

impl Terminal {
    /// Colours are for terminals, unless `NO_COLOR` is set to something.
    pub(super) fn of_this_process() -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let style = |is_terminal| Style::Terminal { colour: is_terminal && wanted };
        Self { out: style(std::io::stdout().is_terminal()), err: style(std::io::stderr().is_terminal()) }
    }

    /// Writes text and a line break to stdout. A reader that has gone away is no failure of the script.
    pub(super) fn say(&self, text: &str) {
        let mut out = std::io::stdout().lock();
        drop(writeln!(out, "{text}").and_then(|()| out.flush()));
    }

    /// Writes text and a line break to stderr.
    pub(super) fn complain(&self, text: &str) {
        drop(writeln!(std::io::stderr().lock(), "{text}"));
    }
}
