//! News of settled work: printed above the text that is being typed, and between evals otherwise.
//!
//! While an eval of the prompt is waited for, its end must reach the loop as its answer and not as news. So news is taken
//! only by the loop itself, or by [`Typing::watch`] while a text is being typed; the gate between the two is [`Typing`].

use super::backend::{Backend, Message};
use super::lines::PrintAbove;
use crate::base::lock;
use std::sync::{Arc, Mutex};
use std::thread;

/// The state of the loop, for the thread that prints news.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// It runs something, or writes.
    Busy,
    /// A text is being typed.
    Typing,
    /// It has ended.
    Over,
}

/// The gate between the loop and the thread that prints news.
pub(super) struct Typing {
    phase: Arc<Mutex<Phase>>,
    backend: Arc<dyn Backend>,
}

impl Typing {
    /// Starts the thread that prints news by `printer` while a text is being typed. It ends when the gate is dropped; while it
    /// prints it may outlive it.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub(super) fn watch(backend: &Arc<dyn Backend>, mut printer: Box<dyn PrintAbove>) -> std::io::Result<Self> {
        let phase = Arc::new(Mutex::new(Phase::Busy));
        let gate = Self { phase: Arc::clone(&phase), backend: Arc::clone(backend) };
        let backend = Arc::clone(backend);
        thread::Builder::new().name("news".to_owned()).spawn(move || {
            loop {
                let seen = backend.news().generation();
                match take(&phase, &*backend) {
                    Taken::News(message) => {
                        if !print(&mut *printer, message) {
                            return;
                        }
                    }
                    Taken::Nothing => backend.news().wait(seen, backend.clock(), None),
                    Taken::Over => return,
                }
            }
        })?;
        Ok(gate)
    }

    /// Runs `read` as the time in which a text is being typed.
    pub(super) fn during<T>(&self, read: impl FnOnce() -> T) -> T {
        self.enter(Phase::Typing);
        let result = read();
        self.enter(Phase::Busy);
        result
    }

    fn enter(&self, phase: Phase) {
        *lock(&self.phase) = phase;
        self.backend.news().notify();
    }
}

impl Drop for Typing {
    fn drop(&mut self) {
        self.enter(Phase::Over);
    }
}

enum Taken {
    News(Message),
    Nothing,
    Over,
}

/// Takes news only while typing goes on: the lock is held, so that typing cannot end (and the next eval settle) in between.
fn take(phase: &Mutex<Phase>, backend: &dyn Backend) -> Taken {
    let phase = lock(phase);
    match *phase {
        Phase::Over => Taken::Over,
        Phase::Busy => Taken::Nothing,
        Phase::Typing => backend.take_news().map_or(Taken::Nothing, Taken::News),
    }
}

/// Prints, and marks what was printed. Returns whether the terminal is still there.
fn print(printer: &mut dyn PrintAbove, message: Message) -> bool {
    let mut text = message.text;
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let printed = printer.print(&text).is_ok();
    if printed {
        message.delivery.written();
    }
    printed
}
