//! Listing folders, finding files and searching in them. Links are shown and never followed.

use super::opening::{failed, file, to_read};
use super::reading::{PIECE, rest};
use super::writing::DEEPEST;
use crate::engine::{Fallible, Task, fail};
use crate::toolkit::arguments::{Options, int, within};
use crate::toolkit::permissions::{Capability, Granted};
use crate::toolkit::pure::{Pattern, Patterns, Search};
use cap_std::fs::{Dir, Metadata};
use globset::{Glob, GlobBuilder, GlobMatcher};
use rhai::{Array, Dynamic, Map, NativeCallContext};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// The most files that are gone through.
const MOST_FILES: usize = 100_000;
/// The most hits of a search, unless it is said.
const MOST_HITS: usize = 1_000;
/// The longest text of a hit, in characters.
const LONGEST_HIT: usize = 1_000;
/// Folders that are passed over, unless all are wanted.
const PASSED_OVER: [&str; 3] = [".git", "target", "node_modules"];

fn row(name: &str, metadata: &Metadata) -> Map {
    let kind = metadata.file_type();
    let kind = if kind.is_dir() {
        "folder"
    } else if kind.is_symlink() {
        "link"
    } else if kind.is_file() {
        "file"
    } else {
        "other"
    };
    let modified = metadata.modified().ok().and_then(|at| at.into_std().duration_since(SystemTime::UNIX_EPOCH).ok());
    let mut row = Map::new();
    row.insert("name".into(), name.into());
    row.insert("kind".into(), kind.into());
    row.insert("bytes".into(), i64::try_from(metadata.len()).unwrap_or(i64::MAX).into());
    row.insert("modified".into(), modified.map_or(Dynamic::UNIT, |at| at.as_secs_f64().into()));
    row
}

/// What is in a folder, by name.
pub(super) fn list(context: &NativeCallContext<'_>, path: &str) -> Fallible<Array> {
    let capability = Capability::of(context, "fs::list")?;
    let granted = to_read(&capability, path)?;
    let mut rows = Vec::new();
    for (name, metadata) in entries(&granted, &folder(&granted)?)? {
        let row = row(&name, &metadata);
        rows.push((name, row));
    }
    rows.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(rows.into_iter().map(|(_, row)| row.into()).collect())
}

/// One file or folder; of a link, the link.
pub(super) fn stat(context: &NativeCallContext<'_>, path: &str) -> Fallible<Dynamic> {
    let capability = Capability::of(context, "fs::stat")?;
    let granted = to_read(&capability, path)?;
    let Some(metadata) = metadata(&granted)? else { return Ok(Dynamic::UNIT) };
    let name = Path::new(path).file_name().map_or_else(|| path.into(), |name| name.to_string_lossy());
    let mut row = row(&name, &metadata);
    if metadata.is_symlink() {
        let place = granted.place()?;
        let to = place.dir.read_link_contents(&place.inside).map_err(|error| failed(&granted, &error))?;
        row.insert("to".into(), to.to_string_lossy().as_ref().into());
    }
    Ok(row.into())
}

/// Whether there is something of this name.
pub(super) fn exists(context: &NativeCallContext<'_>, path: &str) -> Fallible<bool> {
    let capability = Capability::of(context, "fs::exists")?;
    let granted = to_read(&capability, path)?;
    metadata(&granted).map(|metadata| metadata.is_some())
}

fn metadata(granted: &Granted<'_>) -> Fallible<Option<Metadata>> {
    let place = granted.place()?;
    match place.dir.symlink_metadata(&place.inside) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(failed(granted, &error)),
    }
}

fn folder(granted: &Granted<'_>) -> Fallible<Dir> {
    let place = granted.place()?;
    place.dir.open_dir(&place.inside).map_err(|error| failed(granted, &error))
}

/// What is in an open folder. What goes meanwhile is passed over.
fn entries(granted: &Granted<'_>, folder: &Dir) -> Fallible<Vec<(String, Metadata)>> {
    let mut found = Vec::new();
    for entry in folder.entries().map_err(|error| failed(granted, &error))? {
        if found.len() % 256 == 0 {
            granted.capability().check()?;
        }
        let Ok(entry) = entry else { continue };
        let Ok(metadata) = entry.metadata() else { continue };
        found.push((entry.file_name().to_string_lossy().into_owned(), metadata));
    }
    Ok(found)
}

/// A walk through a folder and those in it.
struct Walk<'g, 'c> {
    granted: &'g Granted<'c>,
    all: bool,
    seen: usize,
    /// Where it ended early.
    cut: Option<String>,
}

impl Walk<'_, '_> {
    /// Goes through what is below `folder`, by name. `f` gets the path from where the walk began and the folder, and says whether to go on.
    fn below(
        &mut self,
        folder: &Dir,
        path: &Path,
        depth: usize,
        f: &mut dyn FnMut(&Path, &Dir, &str) -> Fallible<bool>,
    ) -> Fallible<bool> {
        let mut entries = entries(self.granted, folder)?;
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        for (name, metadata) in entries {
            let inside = path.join(&name);
            self.seen += 1;
            if self.seen > MOST_FILES {
                self.cut = Some(format!("after {MOST_FILES} files, at {}", inside.display()));
                return Ok(false);
            }
            if !metadata.is_dir() {
                if !f(&inside, folder, &name)? {
                    return Ok(false);
                }
                continue;
            }
            if !self.all && PASSED_OVER.contains(&name.as_str()) {
                continue;
            }
            if depth >= DEEPEST {
                self.cut = Some(format!("below {}, {DEEPEST} folders deep", inside.display()));
                continue;
            }
            // It may be a link by now, or gone.
            let Ok(inner) = folder.open_dir_nofollow_or_none(&name) else { continue };
            if !self.below(&inner, &inside, depth + 1, f)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Says in the entry's output that not all was gone through.
    fn tell(&self) {
        if let Some(cut) = &self.cut {
            let capability = self.granted.capability();
            capability.task.print("fs", &format!("{} of {} ended {cut}", capability.call, self.granted.what()));
        }
    }
}

trait OpenDir {
    fn open_dir_nofollow_or_none(&self, name: &str) -> io::Result<Dir>;
}

impl OpenDir for Dir {
    fn open_dir_nofollow_or_none(&self, name: &str) -> io::Result<Dir> {
        if self.symlink_metadata(name)?.is_symlink() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        self.open_dir(name)
    }
}

fn glob(call: &'static str, pattern: &str) -> Fallible<GlobMatcher> {
    let built: Result<Glob, _> = GlobBuilder::new(pattern).literal_separator(true).build();
    built
        .map(|glob| glob.compile_matcher())
        .map_err(|problem| fail("BadPattern", format!("{call}: `{pattern}`: {}", problem.kind())))
}

/// The paths of files that a pattern names, each beginning as the given one did.
pub(super) fn find(context: &NativeCallContext<'_>, path: &str, pattern: &str, options: &Map) -> Fallible<Array> {
    const CALL: &str = "fs::find";
    let all = Options::new(CALL, options, &["all"])?.flag("all", false)?;
    let matcher = glob(CALL, pattern)?;
    let capability = Capability::of(context, CALL)?;
    let granted = to_read(&capability, path)?;
    let mut found = Array::new();
    let mut walk = Walk { granted: &granted, all, seen: 0, cut: None };
    walk.below(&folder(&granted)?, Path::new(""), 0, &mut |inside, _, _| {
        if matcher.is_match(inside) {
            found.push(beginning(path, inside).into());
        }
        Ok(true)
    })?;
    walk.tell();
    Ok(found)
}

fn beginning(path: &str, inside: &Path) -> String {
    PathBuf::from(path).join(inside).to_string_lossy().into_owned()
}

/// The lines of files that a regular expression is found in.
pub(super) fn search(context: &NativeCallContext<'_>, path: &str, pattern: &str, options: &Map) -> Fallible<Array> {
    const CALL: &str = "fs::search";
    let options = Options::new(CALL, options, &["glob", "max", "all"])?;
    let all = options.flag("all", false)?;
    let matcher = options.text("glob")?.map(|pattern| glob(CALL, &pattern)).transpose()?;
    let most = match options.get("max") {
        Some(value) => within(CALL, "the option `max`", value.as_int().unwrap_or(-1), 1..=1_000_000)?,
        None => MOST_HITS,
    };
    let pattern = Patterns::default().get(pattern)?;
    let capability = Capability::of(context, CALL)?;
    let granted = to_read(&capability, path)?;
    let mut hits = Array::new();
    if metadata(&granted)?.is_some_and(|metadata| metadata.is_file()) {
        let (mut source, known) = file(&granted)?;
        let bytes = rest(&granted, &mut source, known.len(), capability.room())?;
        lines_with(&capability.task, &pattern, path, &bytes, most, &mut hits)?;
        return Ok(hits);
    }
    let mut walk = Walk { granted: &granted, all, seen: 0, cut: None };
    let mut last = None;
    walk.below(&folder(&granted)?, Path::new(""), 0, &mut |inside, folder, name| {
        if matcher.as_ref().is_some_and(|matcher| !matcher.is_match(inside)) {
            return Ok(true);
        }
        capability.check()?;
        // What cannot be opened, is too large or is no text is passed over.
        let Some(bytes) = small_text(&granted, folder, name) else { return Ok(true) };
        granted.moved(bytes.len());
        let shown = beginning(path, inside);
        lines_with(&capability.task, &pattern, &shown, &bytes, most, &mut hits)?;
        last = Some(shown);
        Ok(hits.len() < most)
    })?;
    if hits.len() >= most && walk.cut.is_none() {
        walk.cut = last.map(|at| format!("after {most} hits, at {at}; #{{max: n}} gives more"));
    }
    walk.tell();
    Ok(hits)
}

/// The contents of a regular file that is neither huge nor binary.
fn small_text(granted: &Granted<'_>, folder: &Dir, name: &str) -> Option<Vec<u8>> {
    let metadata = folder.symlink_metadata(name).ok().filter(Metadata::is_file)?;
    let limit = granted.capability().room();
    if metadata.len() > limit as u64 {
        return None;
    }
    let mut source = folder.open(name).ok()?;
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0));
    let mut piece = vec![0; PIECE];
    loop {
        let read = io::Read::read(&mut source, &mut piece).ok()?;
        if read == 0 {
            return Some(bytes);
        }
        let is_binary = bytes.is_empty() && piece[..read].contains(&0);
        if is_binary || bytes.len() + read > limit || granted.capability().check().is_err() {
            return None;
        }
        bytes.extend_from_slice(&piece[..read]);
    }
}

fn lines_with(
    task: &Task,
    pattern: &Arc<Pattern>,
    path: &str,
    bytes: &[u8],
    most: usize,
    hits: &mut Array,
) -> Fallible<()> {
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if hits.len() >= most {
            break;
        }
        let line = String::from_utf8_lossy(line);
        let line = line.trim_end_matches('\r');
        if Search::new(task, Arc::clone(pattern), line, false)?.any()? {
            let mut row = Map::new();
            row.insert("path".into(), path.into());
            row.insert("line".into(), int(index + 1).into());
            let cut = line.char_indices().nth(LONGEST_HIT).map_or(line.len(), |(at, _)| at);
            row.insert("text".into(), line[..cut].into());
            hits.push(row.into());
        }
    }
    Ok(())
}
