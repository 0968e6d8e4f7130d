//! The place where the history of typed texts is kept between prompts.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// The place of the history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum History {
    /// In a file of the user's own state folder.
    #[default]
    State,
    /// In this file.
    File(PathBuf),
    /// Nowhere.
    Off,
}

impl History {
    /// The file to use, its folder made when it is not there. `None` when no history is kept.
    pub(super) fn prepare(&self) -> Result<Option<PathBuf>, String> {
        let path = match self {
            Self::Off => return Ok(None),
            Self::File(path) => path.clone(),
            Self::State => match state_folder(|name| std::env::var_os(name)) {
                Some(folder) => folder.join("remontoire").join("history"),
                None => return Ok(None),
            },
        };
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            make_private(folder).map_err(|error| format!("history {}: {error}", folder.display()))?;
        }
        Ok(Some(path))
    }
}

/// The folder for state that should outlive a program, by the convention of the system. Relative values are ignored: a
/// history must not end up in whatever folder the program was started in.
fn state_folder(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if cfg!(windows) {
        return absolute("LOCALAPPDATA");
    }
    absolute("XDG_STATE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local").join("state")))
}

/// Makes a folder and those above it, readable by nobody else where the system can say so.
fn make_private(folder: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(variables: &[(&str, &str)]) -> Option<PathBuf> {
        state_folder(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into()))
    }

    #[cfg(unix)]
    #[test]
    fn the_state_folder_follows_the_convention() {
        assert_eq!(folder(&[("XDG_STATE_HOME", "/s"), ("HOME", "/h")]), Some("/s".into()));
        assert_eq!(folder(&[("HOME", "/h")]), Some("/h/.local/state".into()));
        assert_eq!(folder(&[("XDG_STATE_HOME", "relative"), ("HOME", "/h")]), Some("/h/.local/state".into()));
        assert_eq!(folder(&[("HOME", "")]), None);
        assert_eq!(folder(&[]), None);
    }

    #[test]
    fn folders_are_made_and_failures_are_told() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("a/b/history");
        assert_eq!(History::File(path.clone()).prepare(), Ok(Some(path.clone())));
        assert!(path.parent().unwrap().is_dir());
        fs::write(scratch.path().join("file"), "").unwrap();
        let blocked = History::File(scratch.path().join("file/history")).prepare();
        assert!(blocked.unwrap_err().starts_with("history "));
        assert_eq!(History::Off.prepare(), Ok(None));
        assert_eq!(History::File("here".into()).prepare(), Ok(Some("here".into())));
    }
}
