//! Roots: files and folders that may be reached. Each is opened once and held; what is below one is found by the system from that handle,
//! in one call, so that no link leads out of it and nothing can be put in its place meanwhile.

use crate::base::PermissionError;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use std::ffi::OsString;
use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// A place below a root: a handle, and the path from there.
#[derive(Clone, Debug)]
pub(in crate::toolkit) struct Place {
    /// The folder that is held.
    pub(in crate::toolkit) dir: Arc<Dir>,
    /// The path inside it; `.` for the folder itself.
    pub(in crate::toolkit) inside: PathBuf,
    /// Everything is allowed: files of the system too.
    pub(in crate::toolkit) unbounded: bool,
}

/// A file or folder that may be reached.
#[derive(Clone)]
struct Root {
    /// As it was written.
    written: String,
    /// Where it begins, as it was written and as it really is.
    starts: [PathBuf; 2],
    dir: Arc<Dir>,
    /// The name of the one file in the folder that may be reached.
    only: Option<OsString>,
}

/// The roots of one kind of permission.
#[derive(Clone, Default)]
pub(super) struct Roots {
    /// The folder that relative paths begin in.
    here: PathBuf,
    roots: Vec<Root>,
    all: bool,
}

impl Roots {
    /// Opens the roots. `all`: everything there is.
    pub(super) fn open(paths: &[PathBuf], all: bool) -> Result<Self, PermissionError> {
        if paths.is_empty() && !all {
            return Ok(Self::default());
        }
        let here =
            std::env::current_dir().map_err(|error| PermissionError(format!("the working directory: {error}")))?;
        let mut roots = paths.iter().map(|path| Root::open(&here, path)).collect::<Result<Vec<_>, _>>()?;
        if all {
            roots.push(Root::open(&here, Path::new("/"))?);
        }
        Ok(Self { here, roots, all })
    }

    /// The roots as they were written.
    pub(super) fn written(&self) -> Vec<String> {
        let bounded = self.roots.iter().filter(|root| !(self.all && root.written == "/"));
        bounded.map(|root| root.written.clone()).collect()
    }

    /// The place of a path below the root that is nearest to it.
    pub(super) fn place(&self, path: &str) -> Option<Place> {
        if path.is_empty() || path.contains('\0') {
            return None;
        }
        let path = self.here.join(path);
        let below = |root: &Root| {
            root.starts
                .iter()
                .filter_map(|start| Some((path.strip_prefix(start).ok()?, start.components().count())))
                .max_by_key(|(_, depth)| *depth)
                .map(|(rest, depth)| (root.clone(), rest.to_owned(), depth))
        };
        let nearest = self
            .roots
            .iter()
            .filter_map(below)
            .filter(|(root, rest, _)| root.only.is_none() || rest.as_os_str().is_empty());
        let (root, rest, _) = nearest.max_by_key(|(.., depth)| *depth)?;
        let inside = match root.only {
            Some(name) => PathBuf::from(name),
            None if rest.as_os_str().is_empty() => PathBuf::from("."),
            None => rest,
        };
        Some(Place { dir: root.dir, inside, unbounded: self.all })
    }
}

impl Root {
    fn open(here: &Path, path: &Path) -> Result<Self, PermissionError> {
        let problem =
            |error: &dyn fmt::Display| PermissionError(format!("{} cannot be allowed: {error}", path.display()));
        let full = here.join(path);
        let real = full.canonicalize().map_err(|error| problem(&error))?;
        let (folder, only) = if real.is_dir() {
            (real.as_path(), None)
        } else {
            let parent = real.parent().ok_or_else(|| problem(&"it has no folder"))?;
            (parent, real.file_name().map(OsString::from))
        };
        let dir = Dir::open_ambient_dir(folder, ambient_authority()).map_err(|error| problem(&error))?;
        Ok(Self { written: path.display().to_string(), starts: [plain(&full), real.clone()], dir: dir.into(), only })
    }
}

/// A path without the `.` in it.
fn plain(path: &Path) -> PathBuf {
    path.components().filter(|part| *part != Component::CurDir).collect()
}

/// A place that a program allowed by itself: the folder is opened now.
pub(super) fn anywhere(path: &str) -> Option<Place> {
    let full = std::env::current_dir().ok()?.join(path);
    let (folder, name) = if full.is_dir() {
        (full.clone(), PathBuf::from("."))
    } else {
        (full.parent()?.to_owned(), full.file_name()?.into())
    };
    let dir = Dir::open_ambient_dir(folder, ambient_authority()).ok()?;
    Some(Place { dir: dir.into(), inside: name, unbounded: false })
}
