//! The line editor on a terminal: the source of lines that people type into.

use super::completion::{self, Candidate, Hint};
use super::highlight::{self, DIM};
use super::history::History;
use super::lines::{Line, LineSource, PrintAbove};
use super::typed;
use crate::base::lock;
use crate::host::Names;
use rustyline::completion::Completer;
use rustyline::config::Builder;
use rustyline::error::{ReadlineError, Signal};
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{
    Cmd, ColorMode, CompletionType, ConditionalEventHandler, Context, Editor, Event, EventContext, EventHandler,
    Helper, KeyCode, KeyEvent, Modifiers, RepeatCount,
};
use std::borrow::Cow;
use std::fmt;
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// Texts kept in the history.
const REMEMBERED: usize = 10_000;

/// The indent that Tab inserts at the beginning of a line.
const INDENT: &str = "    ";

/// A line editor on the terminal of this process.
pub(crate) struct Terminal {
    editor: Editor<Assistant, DefaultHistory>,
    history: Option<PathBuf>,
    /// How the text that is being typed ends, when a key other than Enter ends it.
    ended_by: Arc<EndedBy>,
    /// What is typed ahead is dropped at the next occasion: see [`Discarded`].
    discarding: Arc<AtomicBool>,
    /// The editor draws, and keeps keys it has read ahead. It does neither on a terminal that cannot move its cursor.
    keeps_keys: bool,
    forget_keys: fn(),
}

impl Terminal {
    /// An editor with the texts of `history`, in colour or not. `forget_keys` drops the keys that were pressed and not read yet.
    ///
    /// A history that cannot be read or written is no reason not to start: the second value says what is wrong with it.
    ///
    /// # Errors
    /// When there is no terminal to speak of.
    pub(crate) fn new(history: &History, colour: bool, forget_keys: fn()) -> io::Result<(Self, Option<String>)> {
        let config = Builder::new()
            .max_history_size(REMEMBERED)
            .map_err(io_error)?
            // A space in front keeps a text out of the history.
            .history_ignore_space(true)
            .completion_type(CompletionType::List)
            .completion_show_all_if_ambiguous(true)
            .bracketed_paste(true)
            .color_mode(if colour { ColorMode::Enabled } else { ColorMode::Disabled })
            .auto_add_history(false)
            .build();
        let mut editor = Editor::with_config(config).map_err(io_error)?;
        let discarding = Arc::new(AtomicBool::new(false));
        editor.set_helper(Some(Assistant { names: Arc::default(), colour, discarding: Arc::clone(&discarding) }));
        editor.bind_sequence(KeyEvent(KeyCode::Enter, Modifiers::ALT), EventHandler::Simple(Cmd::Newline));
        editor.bind_sequence(
            KeyEvent(KeyCode::Tab, Modifiers::NONE),
            EventHandler::Conditional(Box::new(IndentOrComplete)),
        );
        let ended_by = Arc::new(EndedBy::default());
        let note = |key| EventHandler::Conditional(Box::new(NoteEnd { ended_by: Arc::clone(&ended_by), key }));
        editor.bind_sequence(KeyEvent::ctrl('C'), note(Some(End::Interrupt)));
        editor.bind_sequence(KeyEvent::ctrl('D'), note(Some(End::Leave)));
        editor.bind_sequence(Event::Any, note(None));
        let keeps_keys = editor.create_external_printer().is_ok();
        let (history, problem) = match history.prepare() {
            Ok(path) => (path, None),
            Err(problem) => (None, Some(problem)),
        };
        let mut terminal = Self { editor, history, ended_by, discarding, keeps_keys, forget_keys };
        let problem = problem.or_else(|| terminal.load().err());
        Ok((terminal, problem))
    }

    fn load(&mut self) -> Result<(), String> {
        let Some(path) = &self.history else { return Ok(()) };
        if !path.exists() {
            return Ok(());
        }
        let loaded = self.editor.load_history(path).map_err(|error| format!("history {}: {error}", path.display()));
        if loaded.is_err() {
            // What could not be read must not be overwritten.
            self.history = None;
        }
        loaded
    }
}

impl LineSource for Terminal {
    fn read(&mut self, prompt: &str, names: &Arc<Names>) -> io::Result<Line> {
        if let Some(assistant) = self.editor.helper_mut() {
            assistant.names = Arc::clone(names);
        }
        loop {
            self.ended_by.note(None);
            return match self.editor.readline(prompt) {
                Ok(text) => Ok(match self.ended_by.end() {
                    None => Line::Text(text),
                    Some(End::Interrupt) => Line::Interrupted { empty: text.trim().is_empty() },
                    Some(End::Leave) => Line::End,
                }),
                // The terminal's own key for it is another one, or the signal came from outside. What had been typed is gone.
                Err(ReadlineError::Interrupted) => Ok(Line::Interrupted { empty: false }),
                Err(ReadlineError::Eof) => Ok(Line::End),
                // The signal came from outside, not from the keyboard. What had been typed is gone.
                #[cfg(unix)]
                Err(ReadlineError::Signal(Signal::Interrupt)) => Ok(Line::Interrupted { empty: true }),
                // Ending here would end the whole process, and everybody's state with it.
                Err(ReadlineError::Io(error)) if error.kind() == io::ErrorKind::InvalidData => {
                    // The rest of such a text must not be run.
                    (self.forget_keys)();
                    Ok(Line::NotText)
                }
                // The window was resized while the editor was not looking.
                Err(ReadlineError::Signal(_)) => continue,
                Err(error) => Err(io_error(error)),
            };
        }
    }

    fn drop_typed_ahead(&mut self) {
        if !self.keeps_keys {
            return;
        }
        self.discarding.store(true, Ordering::Relaxed);
        let discarded = panic::catch_unwind(AssertUnwindSafe(|| self.editor.readline("")));
        self.discarding.store(false, Ordering::Relaxed);
        match discarded {
            Err(other) if !other.is::<Discarded>() => panic::resume_unwind(other),
            // Without a terminal nothing was read ahead either.
            Err(_) | Ok(_) => {}
        }
    }

    fn remember(&mut self, text: &str) {
        // Memory is all that can fail here, and the text is still run.
        let is_new = self.editor.add_history_entry(text).unwrap_or(false);
        // Appended one by one: prompts that share the file, or end badly, lose nothing.
        if is_new
            && let Some(path) = &self.history
            && let Err(error) = self.editor.append_history(path)
        {
            tracing::warn!(path = %path.display(), %error, "the history is not written any more");
            self.history = None;
        }
    }

    fn above(&mut self) -> Option<Box<dyn PrintAbove>> {
        struct External<P>(P);
        impl<P: rustyline::ExternalPrinter + Send> PrintAbove for External<P> {
            fn print(&mut self, text: &str) -> io::Result<()> {
                self.0.print(text.to_owned()).map_err(io_error)
            }
        }
        let printer = self.editor.create_external_printer().ok()?;
        Some(Box::new(External(printer)))
    }
}

impl fmt::Debug for Terminal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Terminal").field("history", &self.history).finish_non_exhaustive()
    }
}

fn io_error(error: ReadlineError) -> io::Error {
    match error {
        ReadlineError::Io(error) => error,
        other => io::Error::other(other),
    }
}

/// A key other than Enter that ends a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-D where nothing is typed.
    Leave,
}

/// The key that ended the text which is being typed, when it was another one than Enter.
#[derive(Debug, Default)]
struct EndedBy(Mutex<Option<End>>);

impl EndedBy {
    fn note(&self, end: Option<End>) {
        *lock(&self.0) = end;
    }

    fn end(&self) -> Option<End> {
        *lock(&self.0)
    }
}

/// Ctrl-C and Ctrl-D end a text as Enter does, and leave a note. As errors, which they are to the editor otherwise, they would take
/// the keys along that were read with them. The note is void when a further key comes: then the text has not ended.
struct NoteEnd {
    ended_by: Arc<EndedBy>,
    /// What the key asks for; `None` for every other key.
    key: Option<End>,
}

impl ConditionalEventHandler for NoteEnd {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, context: &EventContext<'_>) -> Option<Cmd> {
        let end = self.key.filter(|key| *key == End::Interrupt || context.line().is_empty());
        self.ended_by.note(end);
        end.map(|_| Cmd::AcceptLine)
    }
}

/// The way out of the editor that leaves behind the keys it has read ahead. It keeps them from one text to the next, lets nobody
/// look at them, and drops them when a text ends in any way but a good one. A hint is what it asks for first, before it shows or
/// reads anything, so there it is made to end: by unwinding, since a hint has no errors.
struct Discarded;

/// At the beginning of a line Tab indents; elsewhere it completes.
struct IndentOrComplete;

impl ConditionalEventHandler for IndentOrComplete {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, context: &EventContext<'_>) -> Option<Cmd> {
        let before = &context.line()[..context.pos()];
        let line = &before[before.rfind('\n').map_or(0, |at| at + 1)..];
        line.trim().is_empty().then(|| Cmd::Insert(1, INDENT.to_owned()))
    }
}

/// The answers to what the editor asks while a text is typed.
struct Assistant {
    names: Arc<Names>,
    colour: bool,
    /// Nothing is typed: what was typed ahead is to be dropped.
    discarding: Arc<AtomicBool>,
}

impl Helper for Assistant {}

impl Validator for Assistant {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let text = typed::unify_line_breaks(context.input());
        Ok(if typed::is_complete(&text) { ValidationResult::Valid(None) } else { ValidationResult::Incomplete })
    }
}

impl Completer for Assistant {
    type Candidate = Candidate;

    fn complete(&self, line: &str, pos: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Candidate>)> {
        let completion = completion::complete(line, pos, &self.names);
        Ok((completion.start, completion.candidates))
    }
}

impl rustyline::completion::Candidate for Candidate {
    fn display(&self) -> &str {
        &self.shown
    }

    fn replacement(&self) -> &str {
        &self.text
    }
}

impl Hinter for Assistant {
    type Hint = Hint;

    fn hint(&self, line: &str, pos: usize, _: &Context<'_>) -> Option<Hint> {
        if self.discarding.load(Ordering::Relaxed) {
            panic::resume_unwind(Box::new(Discarded));
        }
        // Without colour a hint could not be told from what was typed.
        (self.colour && pos == line.len()).then(|| completion::hint(line, &self.names)).flatten()
    }
}

impl rustyline::hint::Hint for Hint {
    fn display(&self) -> &str {
        &self.shown
    }

    fn completion(&self) -> Option<&str> {
        self.inserts.as_deref()
    }
}

impl Highlighter for Assistant {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        if self.colour { highlight::highlight(line) } else { Cow::Borrowed(line) }
    }

    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        if self.colour { Cow::Owned(highlight::painted(hint, DIM)) } else { Cow::Borrowed(hint) }
    }

    fn highlight_char(&self, _: &str, _: usize, kind: CmdKind) -> bool {
        // Every change may recolour what follows it; moving the cursor changes nothing.
        self.colour && kind != CmdKind::MoveCursor
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Signature;
    use rustyline::completion::Candidate as _;

    fn assistant(colour: bool) -> Assistant {
        let function = Signature { name: "timeout".into(), parameters: vec!["secs".into(), "f".into()] };
        let names = Arc::new(Names { functions: vec![function], ..Names::default() });
        Assistant { names, colour, discarding: Arc::default() }
    }

    #[test]
    fn candidates_show_signatures_and_insert_names() {
        let history = DefaultHistory::new();
        let (start, candidates) = assistant(true).complete("1 + tim", 7, &Context::new(&history)).unwrap();
        assert_eq!(start, 4);
        assert_eq!(candidates[0].display(), "timeout(secs, f)");
        assert_eq!(candidates[0].replacement(), "timeout(");
    }

    #[test]
    fn hints_need_colour_and_the_cursor_at_the_end() {
        let history = DefaultHistory::new();
        let context = Context::new(&history);
        assert!(assistant(true).hint("tim", 3, &context).is_some());
        assert!(assistant(true).hint("tim", 2, &context).is_none());
        assert!(assistant(false).hint("tim", 3, &context).is_none());
    }

    #[test]
    fn without_colour_nothing_is_painted() {
        let plain = assistant(false);
        assert_eq!(plain.highlight("let x = 1", 0), "let x = 1");
        assert_eq!(plain.highlight_hint("secs"), "secs");
        assert_ne!(assistant(true).highlight("let x = 1", 0), "let x = 1");
    }
}
