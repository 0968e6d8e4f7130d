//! Errors of the modules that come along, as values: what scripts catch, and the sentence for it.

use super::limits::thousands;
use std::fmt;

/// Why a function of such a module cannot do what it was asked. Nothing was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LibraryError {
    /// An argument that the function cannot use.
    BadArgument {
        /// The function, such as `csv::parse`.
        call: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// A pattern that is none, or that would grow beyond its limit.
    BadPattern {
        /// What is wrong with it.
        reason: String,
    },
    /// A search that might take too long.
    TooCostly {
        /// The states of the pattern.
        states: usize,
        /// The bytes of the text.
        bytes: usize,
        /// The largest product of both that is tried in any case.
        limit: usize,
    },
    /// No time, no zone, or one that is out of range.
    BadTime {
        /// What is wrong with it.
        reason: String,
    },
    /// Text that is not of its format.
    BadFormat {
        /// The format.
        format: Format,
        /// Line and column in characters, both from 1; 0 for what is not known.
        place: (usize, usize),
        /// What is wrong there.
        reason: String,
    },
    /// Text or bytes that do not decode.
    BadText {
        /// What it should have been, such as `base64`.
        what: &'static str,
        /// The place from 0, in bytes.
        at: usize,
        /// What is wrong there.
        reason: String,
    },
    /// No address.
    BadUrl {
        /// The text given.
        given: String,
        /// What is wrong with it.
        reason: String,
    },
}

/// Formats of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// JSON.
    Json,
    /// Comma-separated values.
    Csv,
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
}

impl LibraryError {
    /// The kind a script sees when it catches this.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::BadArgument { .. } => "BadArgument",
            Self::BadPattern { .. } => "BadPattern",
            Self::TooCostly { .. } => "TooCostly",
            Self::BadTime { .. } => "BadTime",
            Self::BadFormat { format: Format::Json, .. } => "BadJson",
            Self::BadFormat { format: Format::Csv, .. } => "BadCsv",
            Self::BadFormat { format: Format::Toml, .. } => "BadToml",
            Self::BadFormat { format: Format::Yaml, .. } => "BadYaml",
            Self::BadText { .. } => "BadText",
            Self::BadUrl { .. } => "BadUrl",
        }
    }
}

impl fmt::Display for LibraryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadArgument { call, reason } => write!(f, "{call}: {reason}"),
            Self::BadPattern { reason } => write!(f, "this pattern cannot be used: {reason}"),
            Self::TooCostly { states, bytes, limit } => write!(
                f,
                "a pattern of {} states on a text of {} bytes might take too long: beyond {} for states times bytes only the \
                 quickest way of searching is tried, and it gave up; make the pattern simpler, or search the text in parts",
                thousands(*states),
                thousands(*bytes),
                thousands(*limit)
            ),
            Self::BadTime { reason } => f.write_str(reason),
            Self::BadFormat { format, place, reason } => {
                write!(f, "this is not {format}: ")?;
                match place {
                    (0, _) => {}
                    (line, 0) => write!(f, "line {line}: ")?,
                    (line, column) => write!(f, "line {line}, column {column}: ")?,
                }
                f.write_str(reason)
            }
            Self::BadText { what, at, reason } => write!(f, "this is not {what}: {reason} at byte {at}"),
            Self::BadUrl { given, reason } => write!(f, "`{given:.200}` is no address: {reason}"),
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Json => "JSON",
            Self::Csv => "CSV",
            Self::Toml => "TOML",
            Self::Yaml => "YAML",
        })
    }
}
