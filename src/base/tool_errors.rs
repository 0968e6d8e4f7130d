//! What goes wrong when scripts reach outside of the process. Scripts catch the kind and the sentence.

use super::limits::thousands;
use super::permission::PermissionKind;
use std::fmt;

/// An error of a function that reaches outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ToolError {
    /// It was not allowed.
    NotAllowed {
        /// The function, as scripts write it.
        call: &'static str,
        kind: PermissionKind,
        what: String,
    },
    /// It is never allowed, or not in this way, whatever was said.
    Shut { call: &'static str, kind: PermissionKind, what: String, why: &'static str },
    /// The system refused, or something is not as it must be.
    File { call: &'static str, path: String, reason: String },
    /// A folder, a pipe, a device: no file that can be read or written.
    NotAFile { call: &'static str, path: String, is: &'static str },
    /// The file is no text.
    NotText { path: String, byte: usize },
    /// More than may be taken at once.
    TooLarge { what: String, bytes: u64, limit: usize, instead: &'static str },
    /// The text to replace is not there, or not once.
    BadEdit { path: String, places: usize },
}

impl ToolError {
    /// The kind that scripts catch.
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::NotAllowed { .. } | Self::Shut { .. } => "NotAllowed",
            Self::File { .. } => "File",
            Self::NotAFile { .. } => "NotAFile",
            Self::NotText { .. } => "NotText",
            Self::TooLarge { .. } => "TooLarge",
            Self::BadEdit { .. } => "BadEdit",
        }
    }

    /// What a refusal was about.
    pub(crate) fn refused(&self) -> Option<(PermissionKind, &str)> {
        match self {
            Self::NotAllowed { kind, what, .. } | Self::Shut { kind, what, .. } => Some((*kind, what)),
            _ => None,
        }
    }
}

/// The most characters of a path or name that is shown.
const SHOWN: usize = 200;

/// A path or a name of a script in a sentence: controls and marks of the writing direction are escaped, and a long one is cut.
fn shown(text: &str) -> String {
    let unseen = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    let mut out = String::new();
    for (n, c) in text.chars().enumerate() {
        if n == SHOWN {
            out.push('…');
            break;
        }
        if unseen(c) { out.extend(c.escape_unicode()) } else { out.push(c) }
    }
    out
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAllowed { call, kind, what } => {
                let what = shown(what);
                write!(
                    f,
                    "{call} needs the permission {kind} for {what}; the person who started this may allow it: --allow-{kind}={what}"
                )
            }
            Self::Shut { call, kind, what, why } => write!(f, "{call} may not {kind} {}: {why}", shown(what)),
            Self::File { call, path, reason } => write!(f, "{call}: {}: {reason}", shown(path)),
            Self::NotAFile { call, path, is } => write!(f, "{call}: {} is {is}, no file", shown(path)),
            Self::NotText { path, byte } => {
                write!(f, "{} is no text: byte {byte} is not UTF-8; fs::bytes(path) gives it as a blob", shown(path))
            }
            Self::TooLarge { what, bytes, limit, instead } => write!(
                f,
                "{} has {} bytes, and at most {} can be taken at once here; {instead}",
                shown(what),
                thousands(usize::try_from(*bytes).unwrap_or(usize::MAX)),
                thousands(*limit)
            ),
            Self::BadEdit { path, places: 0 } => {
                write!(
                    f,
                    "the text is not in {} (0 places); nothing was changed, so read the file and give a text that is there",
                    shown(path)
                )
            }
            Self::BadEdit { path, places } => {
                write!(
                    f,
                    "the text is in {} {places} times; nothing was changed, so give more of what stands around it",
                    shown(path)
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn every_sentence_says_what_happened_and_what_to_do() {
        let path = || "data/a.txt".to_owned();
        let all = [
            ToolError::NotAllowed { call: "fs::read", kind: PermissionKind::Read, what: path() },
            ToolError::NotAllowed {
                call: "fs::read",
                kind: PermissionKind::Read,
                what: "\u{1b}[31m\u{202e}".to_owned(),
            },
            ToolError::Shut {
                call: "fs::read",
                kind: PermissionKind::Read,
                what: "/proc/1/mem".into(),
                why: "it is a file of the system itself",
            },
            ToolError::File { call: "fs::read", path: path(), reason: "there is no such file".into() },
            ToolError::NotAFile { call: "fs::read", path: path(), is: "a pipe" },
            ToolError::NotText { path: path(), byte: 3 },
            ToolError::TooLarge { what: path(), bytes: 1 << 30, limit: 1 << 20, instead: "read it in parts" },
            ToolError::BadEdit { path: path(), places: 0 },
            ToolError::BadEdit { path: path(), places: 2 },
        ];
        let shown: Vec<_> = all.iter().map(|error| format!("{}: {error}\n", error.kind())).collect();
        expect![[r#"
            NotAllowed: fs::read needs the permission read for data/a.txt; the person who started this may allow it: --allow-read=data/a.txt
            NotAllowed: fs::read needs the permission read for \u{1b}[31m\u{202e}; the person who started this may allow it: --allow-read=\u{1b}[31m\u{202e}
            NotAllowed: fs::read may not read /proc/1/mem: it is a file of the system itself
            File: fs::read: data/a.txt: there is no such file
            NotAFile: fs::read: data/a.txt is a pipe, no file
            NotText: data/a.txt is no text: byte 3 is not UTF-8; fs::bytes(path) gives it as a blob
            TooLarge: data/a.txt has 1,073,741,824 bytes, and at most 1,048,576 can be taken at once here; read it in parts
            BadEdit: the text is not in data/a.txt (0 places); nothing was changed, so read the file and give a text that is there
            BadEdit: the text is in data/a.txt 2 times; nothing was changed, so give more of what stands around it
        "#]].assert_eq(&shown.concat());
    }
}
