//! The prompt: the front end for a person at a terminal.
//!
//! [`run`] is the loop. It stands on a [`Backend`] that evaluates (the host of this process, or an instance reached over the
//! wire), a [`LineSource`](lines::LineSource) that is typed into ([`Terminal`]), and a [`Screen`] that is written to. Its evals
//! are ordinary entries of the nil caller. Knows neither sockets nor the protocol.
//!
//! ```text
//! prompt      the loop                        command     the table of commands
//! typed       typed texts, understood         completion  the offers of Tab, hints
//! highlight   colours while typing            interrupts  Ctrl-C while something runs
//! editor      the line editor                 history     where its history is kept
//! local       the host of this process as a backend
//! news        settled work, told above the line that is being typed
//! ```

mod backend;
mod command;
mod completion;
mod editor;
mod highlight;
mod history;
mod interrupts;
mod lines;
mod local;
mod news;
mod prompt;
mod typed;

#[cfg(test)]
mod tests;

pub(crate) use backend::{Backend, BackendError, Message, Mode, Output, Query, Reply, WaitUntil, Waited};
pub(crate) use editor::Terminal;
pub(crate) use history::History;
pub(crate) use interrupts::Interrupts;
pub(crate) use lines::Screen;
pub(crate) use local::HostBackend;
pub(crate) use prompt::run;
