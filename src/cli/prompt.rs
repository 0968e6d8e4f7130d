//! The prompt on this process's terminal, whatever instance it speaks to.

use super::exit::NotStarted;
use super::signals::{Ending, Signals};
use super::terminal::{Modes, Terminal, forget_keys};
use crate::render::Style;
use crate::render::notice;
use crate::repl::{self, Backend, History, Interrupts, Screen};
use std::sync::Arc;
use tokio::sync::oneshot;

/// The end of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    /// The person left.
    ByThemselves,
    /// The terminal is gone, and nobody reads what is said there.
    TerminalGone,
    /// SIGTERM came. The prompt is still there, and ends with the process.
    Terminated,
}

/// The terminal of this process with a person at it: its signals, and its modes as they were.
#[derive(Debug)]
pub(super) struct TerminalSession {
    interrupts: Interrupts,
    signals: Signals,
    modes: Modes,
}

impl TerminalSession {
    /// From now on SIGINT is a key of the prompt, and ends nothing.
    pub(super) fn begin() -> Result<Self, NotStarted> {
        Self::with(Signals::listen())
    }

    /// The same where others depend on this process: the end of the terminal, SIGHUP, does not end it at once.
    pub(super) fn begin_for_others() -> Result<Self, NotStarted> {
        Self::with(Signals::listen_at_a_terminal())
    }

    fn with(signals: std::io::Result<Signals>) -> Result<Self, NotStarted> {
        let cannot = |error| NotStarted::because("cannot listen for signals", error);
        let interrupts = Interrupts::default();
        interrupts.catch_signals(&tokio::runtime::Handle::current()).map_err(cannot)?;
        Ok(Self { interrupts, signals: signals.map_err(cannot)?, modes: Modes::remember() })
    }

    /// Runs a prompt on `backend` until the person leaves, the terminal is gone or SIGTERM comes. The prompt blocks, so it has a
    /// thread of its own.
    pub(super) async fn run_prompt(
        &mut self,
        backend: Arc<dyn Backend>,
        history: &History,
        terminal: &Terminal,
    ) -> Result<Left, NotStarted> {
        let colour = terminal.out == Style::Terminal { colour: true };
        let (mut lines, problem) = repl::Terminal::new(history, colour, forget_keys)
            .map_err(|error| NotStarted::because("no terminal", error))?;
        if let Some(problem) = problem {
            terminal.complain(&notice::warning(&problem, terminal.err));
        }
        let (screen, interrupts) = (Screen::stdout(terminal.out), self.interrupts.clone());
        let (ended, end) = oneshot::channel();
        let run = move || {
            let result = repl::run(backend, &mut lines, &screen, &interrupts);
            // Nobody listens any more when SIGTERM was faster.
            ended.send(result).ok();
        };
        std::thread::Builder::new()
            .name("prompt".to_owned())
            .spawn(run)
            .map_err(|error| NotStarted::because("no thread for the prompt", error))?;
        tokio::select! {
            end = end => match end {
                // The prompt may notice before the signal comes.
                _ if terminal.is_gone() => Ok(Left::TerminalGone),
                Ok(Err(error)) => {
                    terminal.complain(&notice::complaint(&error.to_string()));
                    Ok(Left::ByThemselves)
                }
                _ => Ok(Left::ByThemselves),
            },
            ending = self.signals.terminated() => Ok(match ending {
                Ending::Terminate => Left::Terminated,
                Ending::Hangup => Left::TerminalGone,
            }),
        }
    }

    /// Waits for what is left to do, but no longer than to the next signal.
    pub(super) async fn end(self, rest: impl Future<Output = ()>) -> Result<(), NotStarted> {
        // Listening anew: Ctrl-C that was meant for the prompt is none of our business.
        let mut signals = Signals::listen().map_err(|error| NotStarted::because("cannot listen for signals", error))?;
        tokio::select! {
            () = rest => {}
            () = signals.next() => {}
        }
        drop(self.modes);
        Ok(())
    }
}
