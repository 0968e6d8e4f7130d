//! The folder of modules: reads a module's text and lists the names, and never leaves the folder. Where it has no file of a name, a
//! built-in module of that name stands in. Knows nothing of what the texts mean, and remembers nothing: what it answers is what the
//! files say now.

use super::built_in::{self, BuiltIn};
use super::name::ModuleName;
use crate::base::ModuleError;
use crate::base::limits::MIB;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Longest file of a module, in bytes.
pub(crate) const LONGEST: u64 = MIB as u64;
/// Most entries of the folder that a listing looks at, so that a folder which is none of ours cannot hold a caller for long.
const MOST_ENTRIES: usize = 20_000;

/// A folder with `.rhai` files, over built-in modules. It need not exist yet.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    root: PathBuf,
    built_in: &'static [BuiltIn],
}

/// The place a module comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A file of the folder.
    File(PathBuf),
    /// The program.
    BuiltIn,
}

/// A file that a listing met.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Found {
    /// A module.
    Module(ModuleName),
    /// A `.rhai` file that nobody can import, because its path (relative to the folder) is not a name.
    Misnamed(PathBuf),
}

impl Folder {
    /// The folder at `root`, and nothing below it.
    pub(super) fn new(root: impl Into<PathBuf>) -> Self {
        Self::over(root, &[])
    }

    /// The folder at `root`, whose files stand before built-in modules of the same name.
    pub(super) fn over(root: impl Into<PathBuf>, built_in: &'static [BuiltIn]) -> Self {
        Self { root: root.into(), built_in }
    }

    /// The text of a module as its file has it now, without a byte order mark; the built-in one when there is no such file. A file
    /// that cannot be read is an error, whatever stands below it.
    pub(super) fn read(&self, name: &ModuleName) -> Result<Arc<str>, ModuleError> {
        match self.read_file(name) {
            Err(ModuleError::NotFound { .. }) => {
                built_in::text_of(self.built_in, name.as_str()).map(Arc::from).ok_or_else(|| not_found(name))
            }
            read => read,
        }
    }

    /// Where the text of a module comes from now.
    pub(super) fn origin(&self, name: &ModuleName) -> Origin {
        let is_built_in = built_in::text_of(self.built_in, name.as_str()).is_some();
        match self.locate(name) {
            Err(ModuleError::NotFound { .. }) if is_built_in => Origin::BuiltIn,
            Ok(path) if is_built_in && !path.is_file() => Origin::BuiltIn,
            _ => Origin::File(self.root.join(name.path())),
        }
    }

    fn read_file(&self, name: &ModuleName) -> Result<Arc<str>, ModuleError> {
        let unreadable = |e: &io::Error| ModuleError::Unreadable { name: name.to_string(), reason: e.to_string() };
        let path = self.locate(name)?;
        // A pipe would hold the reader for ever.
        let facts = fs::metadata(&path).map_err(|e| unreadable(&e))?;
        if !facts.is_file() {
            return Err(not_found(name));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(facts.len().min(LONGEST)).unwrap_or_default());
        let mut file = File::open(&path).map_err(|e| unreadable(&e))?.take(LONGEST + 1);
        file.read_to_end(&mut bytes).map_err(|e| unreadable(&e))?;
        if bytes.len() as u64 > LONGEST {
            let bytes = facts.len().max(LONGEST + 1);
            return Err(ModuleError::TooBig { name: name.to_string(), bytes, limit: LONGEST });
        }
        let text = String::from_utf8(bytes).map_err(|_| ModuleError::NotText { name: name.to_string() })?;
        Ok(text.strip_prefix('\u{feff}').unwrap_or(&text).into())
    }

    /// Where the file is, links followed and found to end below the folder.
    fn locate(&self, name: &ModuleName) -> Result<PathBuf, ModuleError> {
        let found = |path: &Path| path.canonicalize().map_err(|_| not_found(name));
        let root = found(&self.root)?;
        let path = found(&root.join(name.path()))?;
        if path.starts_with(&root) { Ok(path) } else { Err(ModuleError::Outside { name: name.to_string() }) }
    }

    /// Every module there is now, in order of names. A folder that does not exist has the built-in ones only.
    ///
    /// # Errors
    ///
    /// The folder exists and cannot be read. Folders inside that cannot be read are passed over.
    pub(super) fn list(&self) -> io::Result<Vec<Found>> {
        let mut found = self.list_files()?;
        found.extend(self.list_built_in());
        found.sort();
        found.dedup();
        Ok(found)
    }

    /// The built-in modules, whatever the folder has.
    pub(super) fn list_built_in(&self) -> impl Iterator<Item = Found> {
        built_in::names_of(self.built_in).map(Found::Module)
    }

    fn list_files(&self) -> io::Result<Vec<Found>> {
        let root = match self.root.canonicalize() {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other?,
        };
        let mut found = Vec::new();
        let mut entered = BTreeSet::from([root.clone()]);
        let mut to_read = vec![(root.clone(), PathBuf::new())];
        let mut left = MOST_ENTRIES;
        while let Some((folder, relative)) = to_read.pop() {
            let entries = match fs::read_dir(&folder) {
                Err(e) if folder == root => return Err(e),
                Err(_) => continue,
                Ok(entries) => entries.flatten(),
            };
            for entry in entries.take(left) {
                left -= 1;
                let relative = relative.join(entry.file_name());
                // Links count as what they lead to, unless that is elsewhere; a link up would otherwise be walked for ever.
                let Ok(path) = entry.path().canonicalize() else { continue };
                if !path.starts_with(&root) {
                    continue;
                }
                if path.is_dir() {
                    if entered.insert(path.clone()) {
                        to_read.push((path, relative));
                    }
                } else if relative.extension().is_some_and(|e| e == "rhai") && path.is_file() {
                    found.push(called(relative));
                }
            }
        }
        Ok(found)
    }
}

/// The module that a file below the folder is.
fn called(relative: PathBuf) -> Found {
    let parts: Option<Vec<_>> = relative.iter().map(|part| part.to_str()).collect();
    let name = parts.map(|parts| parts.join("/"));
    match name.and_then(|name| ModuleName::parse(name.strip_suffix(".rhai")?).ok()) {
        Some(name) => Found::Module(name),
        None => Found::Misnamed(relative),
    }
}

fn not_found(name: &ModuleName) -> ModuleError {
    ModuleError::NotFound { name: name.to_string(), near: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> ModuleName {
        ModuleName::parse(text).unwrap()
    }

    fn folder(files: &[(&str, &[u8])]) -> (tempfile::TempDir, Folder) {
        let dir = tempfile::tempdir().unwrap();
        for (file, bytes) in files {
            let path = dir.path().join("scripts").join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        let folder = Folder::new(dir.path().join("scripts"));
        (dir, folder)
    }

    #[test]
    fn a_file_is_read_as_it_is_now() {
        let (dir, folder) = folder(&[("sub/deep.rhai", b"\xef\xbb\xbffn v() { 5 }\r\n")]);
        assert_eq!(folder.read(&name("sub/deep")).as_deref(), Ok("fn v() { 5 }\r\n"));
        fs::write(dir.path().join("scripts/sub/deep.rhai"), "fn v() { 6 }").unwrap();
        assert_eq!(folder.read(&name("sub/deep")).as_deref(), Ok("fn v() { 6 }"));
        fs::remove_file(dir.path().join("scripts/sub/deep.rhai")).unwrap();
        assert!(matches!(folder.read(&name("sub/deep")), Err(ModuleError::NotFound { .. })));
    }

    #[test]
    fn what_is_no_module_is_refused() {
        let big = vec![b' '; usize::try_from(LONGEST).unwrap() + 1];
        let (dir, folder) = folder(&[("big.rhai", &big), ("fits.rhai", &big[1..]), ("pic.rhai", b"\xff\xfe")]);
        fs::create_dir(dir.path().join("scripts/dir.rhai")).unwrap();
        let limit = LONGEST;
        assert_eq!(folder.read(&name("big")), Err(ModuleError::TooBig { name: "big".into(), bytes: limit + 1, limit }));
        assert!(folder.read(&name("fits")).is_ok());
        assert_eq!(folder.read(&name("pic")), Err(ModuleError::NotText { name: "pic".into() }));
        assert!(matches!(folder.read(&name("dir")), Err(ModuleError::NotFound { .. })));
    }

    #[cfg(unix)]
    #[test]
    fn links_may_lead_around_inside_but_not_out() {
        use std::os::unix::fs::symlink;
        let (dir, folder) = folder(&[("real.rhai", b"fn v() { 1 }"), ("sub/a.rhai", b"")]);
        let scripts = dir.path().join("scripts");
        fs::write(dir.path().join("secret.rhai"), "fn leak() { 666 }").unwrap();
        fs::create_dir(dir.path().join("out")).unwrap();
        fs::write(dir.path().join("out/x.rhai"), "fn leak() { 666 }").unwrap();
        symlink("real.rhai", scripts.join("alias.rhai")).unwrap();
        symlink("../secret.rhai", scripts.join("link.rhai")).unwrap();
        symlink("../out", scripts.join("door")).unwrap();
        symlink("..", scripts.join("sub/up")).unwrap();
        assert!(folder.read(&name("alias")).is_ok());
        for out in ["link", "door/x", "sub/up/../secret"] {
            let read = ModuleName::parse(out).and_then(|name| folder.read(&name));
            assert!(matches!(read, Err(ModuleError::Outside { .. } | ModuleError::BadName { .. })), "{out}: {read:?}");
        }
        let listed: Vec<_> = folder.list().unwrap();
        assert_eq!(listed, ["alias", "real", "sub/a"].map(|n| Found::Module(name(n))));
    }

    #[test]
    fn a_listing_names_modules_and_what_nobody_can_import() {
        let (_dir, folder) = folder(&[("b.rhai", b""), ("a/c.rhai", b""), ("not me.rhai", b""), ("notes.txt", b"")]);
        let listed = folder.list().unwrap();
        assert_eq!(
            listed,
            [Found::Module(name("a/c")), Found::Module(name("b")), Found::Misnamed(PathBuf::from("not me.rhai"))]
        );
    }

    #[test]
    fn a_folder_that_does_not_exist_has_no_modules_until_it_does() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::new(dir.path().join("later"));
        assert_eq!(folder.list().unwrap(), []);
        assert!(matches!(folder.read(&name("a")), Err(ModuleError::NotFound { .. })));
        fs::create_dir(dir.path().join("later")).unwrap();
        fs::write(dir.path().join("later/a.rhai"), "1").unwrap();
        assert!(folder.read(&name("a")).is_ok());
    }
}
