//! The source of typed lines and the screen for texts, which the loop stands on.

use crate::base::lock;
use crate::host::Names;
use crate::render::Style;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

/// A source of typed texts.
pub(crate) trait LineSource {
    /// Reads the next text: one line, or several when the first ones cannot stand alone. Blocks.
    ///
    /// # Errors
    /// When the source is broken; its end is [`Line::End`].
    fn read(&mut self, prompt: &str, names: &Arc<Names>) -> io::Result<Line>;

    /// Drops what was typed ahead and read already, but not asked for. The terminal drops the rest by itself when Ctrl-C is pressed.
    fn drop_typed_ahead(&mut self);

    /// Keeps a submitted text in the history.
    fn remember(&mut self, text: &str);

    /// A printer above a text that is being typed, which does not break it. `None` when the source cannot: text is then written
    /// as any other.
    fn above(&mut self) -> Option<Box<dyn PrintAbove>>;
}

/// A text from a source, or why there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A text was submitted. Its line breaks are those of its origin.
    Text(String),
    /// Ctrl-C was pressed.
    Interrupted {
        /// Nothing had been typed.
        empty: bool,
    },
    /// The typed or pasted text is not UTF-8, and was dropped.
    NotText,
    /// Ctrl-D was pressed, or the input is at its end.
    End,
}

/// Prints above a text that is being typed.
pub(crate) trait PrintAbove: Send {
    /// Prints a text that ends with a line break. May block until the next text is being typed.
    ///
    /// # Errors
    /// When the terminal is gone.
    fn print(&mut self, text: &str) -> io::Result<()>;
}

/// The output of the loop, and the style of texts there. Shared by cloning.
#[derive(Clone)]
pub(crate) struct Screen {
    out: Arc<Mutex<dyn Write + Send>>,
    style: Style,
}

impl Screen {
    /// A screen that writes to `out`.
    pub(crate) fn new(out: impl Write + Send + 'static, style: Style) -> Self {
        Self { out: Arc::new(Mutex::new(out)), style }
    }

    /// The standard output of this process.
    pub(crate) fn stdout(style: Style) -> Self {
        Self::new(io::stdout(), style)
    }

    /// The style of texts.
    pub(super) fn style(&self) -> Style {
        self.style
    }

    /// Writes a text and a last line break, when it has none.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn say(&self, text: &str) -> io::Result<()> {
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
