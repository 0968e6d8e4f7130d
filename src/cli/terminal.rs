//! The two streams of the program: stdout for results, stderr for everything about them. And the modes of the
//! terminal, which a prompt changes while a line is being typed.

use crate::render::{Style, notice};
use std::io::{Error, ErrorKind, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// The two streams and how each wants its text.
#[derive(Debug)]
pub(super) struct Terminal {
    /// The style of texts on stdout.
    pub(super) out: Style,
    /// The style of texts on stderr.
    pub(super) err: Style,
    /// Stdout was a terminal at first.
    had_terminal: bool,
    /// Text for stdout was lost.
    lost: AtomicBool,
}

impl Terminal {
    /// Colours are for terminals, unless `NO_COLOR` is set to something.
    pub(super) fn of_this_process() -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let style = |is_terminal| Style::Terminal { colour: is_terminal && wanted };
        Self {
            out: style(std::io::stdout().is_terminal()),
            err: style(std::io::stderr().is_terminal()),
            had_terminal: std::io::stdout().is_terminal(),
            lost: AtomicBool::new(false),
        }
    }

    /// Writes text and a line break to stdout. What becomes of an error is up to [`Terminal::unwritten`].
    pub(super) fn say(&self, text: &str) {
        let mut out = std::io::stdout().lock();
        if let Err(error) = writeln!(out, "{text}").and_then(|()| out.flush()) {
            self.unwritten(&error);
        }
    }

    /// Stdout did not take what was said. A reader that has gone away is no failure; anything else is told, once, and remembered:
    /// the work goes on to its end, and the exit code says that its words were lost.
    pub(super) fn unwritten(&self, error: &Error) {
        if error.kind() != ErrorKind::BrokenPipe && !self.lost.swap(true, Ordering::Relaxed) {
            self.complain(&notice::complaint(&format!("stdout cannot be written: {error}")));
        }
    }

    /// Stdout is not the terminal any more that it was when the program started.
    pub(super) fn is_gone(&self) -> bool {
        self.had_terminal && !std::io::stdout().is_terminal()
    }

    /// Text for stdout was lost.
    pub(super) fn lost_words(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// Writes text and a line break to stderr.
    pub(super) fn complain(&self, text: &str) {
        drop(writeln!(std::io::stderr().lock(), "{text}"));
    }
}

/// Both stdin and stdout are a terminal, so that a person can converse.
pub(super) fn is_interactive() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

/// Drops the keys that were pressed and not read yet.
pub(super) fn forget_keys() {
    #[cfg(unix)]
    rustix::termios::tcflush(std::io::stdin(), rustix::termios::QueueSelector::IFlush).ok();
}

/// The modes of the terminal on stdin as they were, put back when this is dropped. A line editor does that itself, unless the
/// process ends while a line is being typed.
#[derive(Debug)]
pub(super) struct Modes {
    #[cfg(unix)]
    before: Option<rustix::termios::Termios>,
}

impl Modes {
    /// Remembers the modes as they are now.
    pub(super) fn remember() -> Self {
        Self {
            #[cfg(unix)]
            before: rustix::termios::tcgetattr(std::io::stdin()).ok(),
        }
    }
}

#[cfg(unix)]
impl Drop for Modes {
    fn drop(&mut self) {
        use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
        let Some(before) = &self.before else { return };
        let changed = tcgetattr(std::io::stdin()).is_ok_and(|now| now.local_modes != before.local_modes);
        if changed {
            // The editor also asked for pastes to be marked.
            let mut out = std::io::stdout().lock();
            drop(out.write_all(b"\x1b[?2004l").and_then(|()| out.flush()));
            tcsetattr(std::io::stdin(), OptionalActions::Drain, before).ok();
        }
    }
}
