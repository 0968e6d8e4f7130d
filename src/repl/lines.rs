//! Where typed lines come from, and where text goes: the two traits the loop stands on.

use super::backend::Names;
use crate::base::lock;
use crate::render::Style;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

/// Where typed texts come from.
pub trait LineSource {
    /// Reads the next text: one line, or several when the first ones cannot stand alone. Blocks.
    ///
    /// # Errors
    /// When the source is broken; its end is [`Line::End`].
    fn read(&mut self, prompt: &str, names: &Arc<Names>) -> io::Result<Line>;

    /// Keeps a submitted text in the history.
    fn remember(&mut self, text: &str);

    /// What prints above a text that is being typed, without breaking it. `None` when the source cannot: text is then written
    /// as any other.
    fn above(&mut self) -> Option<Box<dyn PrintAbove>>;
}

/// What a source gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// A text was submitted. Its line breaks are those of its origin.
    Text(String),
    /// Ctrl-C was pressed.
    Interrupted {
        /// Whether nothing had been typed.
        empty: bool,
    },
    /// What was typed or pasted is not UTF-8 text, and was dropped.
    NotText,
    /// Ctrl-D was pressed, or the input is at its end.
    End,
}

/// Prints above a text that is being typed.
pub trait PrintAbove: Send {
    /// Prints a text that ends with a line break. May block until the next text is being typed.
    ///
    /// # Errors
    /// When the terminal is gone.
    fn print(&mut self, text: &str) -> io::Result<()>;
}

/// Where the loop writes, and how texts are wanted there. Shared by cloning.
#[derive(Clone)]
pub struct Screen {
    out: Arc<Mutex<dyn Write + Send>>,
    style: Style,
}

impl Screen {
    /// A screen that writes to `out`.
    pub fn new(out: impl Write + Send + 'static, style: Style) -> Self {
        Self { out: Arc::new(Mutex::new(out)), style }
    }

    /// The standard output of this process.
    pub fn stdout(style: Style) -> Self {
        Self::new(io::stdout(), style)
    }

    /// How texts are wanted.
    pub(super) fn style(&self) -> Style {
        self.style
    }

    /// Writes a text and a last line break, when it has none.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn say(&self, text: &str) -> io::Result<()> {
        let mut out = lock(&self.out);
        out.write_all(text.as_bytes())?;
        if !text.is_empty() && !text.ends_with('\n') {
            out.write_all(b"\n")?;
        }
        out.flush()
    }
}

impl std::fmt::Debug for Screen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Screen")
    }
}

/// A screen is its own way to print above when the source has none.
impl PrintAbove for Screen {
    fn print(&mut self, text: &str) -> io::Result<()> {
        self.say(text)
    }
}
