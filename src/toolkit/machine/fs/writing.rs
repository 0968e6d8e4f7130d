//! Writing: a whole file takes the place of the old one in one step, so that what is broken off leaves the old.

use super::opening::{failed, file, has_other_names, parent, regular, to_read, to_write};
use super::reading::{PIECE, rest, text};
use crate::base::tool_errors::ToolError;
use crate::engine::{Fallible, value_type};
use crate::toolkit::arguments::bad;
use crate::toolkit::permissions::{Capability, Granted};
use cap_std::fs::{Dir, OpenOptions};
use rhai::{Blob, Dynamic, ImmutableString, NativeCallContext};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// The deepest folder that is gone through.
pub(super) const DEEPEST: usize = 64;

/// A file under construction, beside the one whose place it takes. It is removed unless it is finished.
struct Whole<'d> {
    folder: &'d Dir,
    temporary: PathBuf,
    finished: bool,
}

impl Whole<'_> {
    /// Writes all that `source` gives, and puts it in the place of `name`.
    fn write(granted: &Granted<'_>, source: &mut impl Read) -> Fallible<()> {
        let (folder, name) = parent(granted)?;
        let old = folder.symlink_metadata(&name).ok();
        if old.as_ref().is_some_and(cap_std::fs::Metadata::is_dir) {
            let call = granted.capability().call;
            return Err(granted.capability().error(ToolError::NotAFile {
                call,
                path: granted.what().to_owned(),
                is: "a folder",
            }));
        }
        let temporary = PathBuf::from(format!(".{}.{:016x}.tmp", name.display(), fastrand::u64(..)));
        let mut target = folder
            .open_with(&temporary, OpenOptions::new().write(true).create_new(true))
            .map_err(|error| failed(granted, &error))?;
        let mut whole = Whole { folder: &folder, temporary, finished: false };
        let mut piece = vec![0; PIECE];
        loop {
            granted.capability().check()?;
            let read = source.read(&mut piece).map_err(|error| failed(granted, &error))?;
            if read == 0 {
                break;
            }
            target.write_all(&piece[..read]).map_err(|error| failed(granted, &error))?;
            granted.moved(read);
        }
        if let Some(old) = old.filter(cap_std::fs::Metadata::is_file) {
            target.set_permissions(old.permissions()).map_err(|error| failed(granted, &error))?;
        }
        drop(target);
        folder.rename(&whole.temporary, &folder, &name).map_err(|error| failed(granted, &error))?;
        whole.finished = true;
        Ok(())
    }
}

impl Drop for Whole<'_> {
    fn drop(&mut self) {
        if !self.finished {
            // Nobody is left to be told.
            self.folder.remove_file(&self.temporary).ok();
        }
    }
}

/// The bytes of a text or a blob, lent to `f`.
fn with_bytes(call: &'static str, data: &Dynamic, f: impl FnOnce(&[u8]) -> Fallible<()>) -> Fallible<()> {
    if let Some(text) = data.read_lock::<ImmutableString>() {
        return f(text.as_bytes());
    }
    match data.read_lock::<Blob>() {
        Some(blob) => f(&blob),
        None => Err(bad(call, format!("writes a text or a blob, not {}; value.to_json() is a text", value_type(data)))),
    }
}

/// Writes a text or a blob as a whole file.
pub(super) fn write(context: &NativeCallContext<'_>, path: &str, data: &Dynamic) -> Fallible<()> {
    let capability = Capability::of(context, "fs::write")?;
    let granted = to_write(&capability, path)?;
    with_bytes("fs::write", data, |mut bytes| Whole::write(&granted, &mut bytes))
}

/// Adds a text or a blob at the end of a file.
pub(super) fn append(context: &NativeCallContext<'_>, path: &str, data: &Dynamic) -> Fallible<()> {
    let capability = Capability::of(context, "fs::append")?;
    let granted = to_write(&capability, path)?;
    let place = granted.place()?;
    let mut target = place
        .dir
        .open_with(&place.inside, OpenOptions::new().append(true).create(true))
        .map_err(|error| failed(&granted, &error))?;
    alone(&granted, &regular(&granted, place, &target)?)?;
    with_bytes("fs::append", data, |bytes| {
        bytes.chunks(PIECE).try_for_each(|piece| {
            capability.check()?;
            target.write_all(piece).map_err(|error| failed(&granted, &error))?;
            granted.moved(piece.len());
            Ok(())
        })
    })
}

/// A file that has other names is another's too.
fn alone(granted: &Granted<'_>, metadata: &cap_std::fs::Metadata) -> Fallible<()> {
    let unbounded = granted.place()?.unbounded;
    if has_other_names(metadata) && !unbounded {
        return Err(granted
            .shut("the file has other names (hard links), which may be outside; fs::write replaces this name only"));
    }
    Ok(())
}

/// Replaces a text that is in a file exactly once.
pub(super) fn edit(context: &NativeCallContext<'_>, path: &str, old: &str, new: &str) -> Fallible<()> {
    let capability = Capability::of(context, "fs::edit")?;
    let reading = to_read(&capability, path)?;
    let writing = to_write(&capability, path)?;
    let (mut source, metadata) = file(&reading)?;
    alone(&writing, &metadata)?;
    let bytes = rest(&reading, &mut source, metadata.len(), capability.room())?;
    let whole = text(&reading, bytes)?;
    let places = if old.is_empty() { 0 } else { whole.matches(old).count() };
    if places != 1 {
        return Err(capability.error(ToolError::BadEdit { path: path.to_owned(), places }));
    }
    Whole::write(&writing, &mut whole.replacen(old, new, 1).as_bytes())
}

/// Copies a file.
pub(super) fn copy(context: &NativeCallContext<'_>, from: &str, to: &str) -> Fallible<()> {
    let capability = Capability::of(context, "fs::copy")?;
    let reading = to_read(&capability, from)?;
    let writing = to_write(&capability, to)?;
    let (mut source, _) = file(&reading)?;
    Whole::write(&writing, &mut source)
}

/// Gives a file or folder another name.
pub(super) fn rename(context: &NativeCallContext<'_>, from: &str, to: &str) -> Fallible<()> {
    let capability = Capability::of(context, "fs::rename")?;
    let (old, new) = (to_write(&capability, from)?, to_write(&capability, to)?);
    let ((old_folder, old_name), (new_folder, new_name)) = (parent(&old)?, parent(&new)?);
    old_folder.rename(old_name, &new_folder, new_name).map_err(|error| failed(&old, &error))
}

/// Makes a folder, and those it is in.
pub(super) fn make_folder(context: &NativeCallContext<'_>, path: &str) -> Fallible<()> {
    let capability = Capability::of(context, "fs::make_folder")?;
    let granted = to_write(&capability, path)?;
    let place = granted.place()?;
    place.dir.create_dir_all(&place.inside).map_err(|error| failed(&granted, &error))
}

/// Removes a file, a link, or an empty folder.
pub(super) fn remove(context: &NativeCallContext<'_>, path: &str) -> Fallible<()> {
    let capability = Capability::of(context, "fs::remove")?;
    let granted = to_write(&capability, path)?;
    let (folder, name) = parent(&granted)?;
    let metadata = folder.symlink_metadata(&name).map_err(|error| failed(&granted, &error))?;
    let removed = if metadata.is_dir() { folder.remove_dir(&name) } else { folder.remove_file(&name) };
    removed.map_err(|error| failed(&granted, &error))
}

/// Removes a file, or a folder with all that is in it. Links are removed, not followed.
pub(super) fn remove_all(context: &NativeCallContext<'_>, path: &str) -> Fallible<()> {
    let capability = Capability::of(context, "fs::remove_all")?;
    let granted = to_write(&capability, path)?;
    let (folder, name) = parent(&granted)?;
    remove_below(&granted, &folder, &name, 0)
}

fn remove_below(granted: &Granted<'_>, folder: &Dir, name: &Path, depth: usize) -> Fallible<()> {
    let capability = granted.capability();
    capability.check()?;
    let metadata = folder.symlink_metadata(name).map_err(|error| failed(granted, &error))?;
    if !metadata.is_dir() {
        return folder.remove_file(name).map_err(|error| failed(granted, &error));
    }
    if depth >= DEEPEST {
        let reason = format!("it is more than {DEEPEST} folders deep; begin further below");
        return Err(capability.error(ToolError::File {
            call: capability.call,
            path: granted.what().to_owned(),
            reason,
        }));
    }
    let inner = folder.open_dir(name).map_err(|error| failed(granted, &error))?;
    for entry in inner.entries().map_err(|error| failed(granted, &error))? {
        let entry = entry.map_err(|error| failed(granted, &error))?;
        remove_below(granted, &inner, Path::new(&entry.file_name()), depth + 1)?;
    }
    drop(inner);
    folder.remove_dir(name).map_err(|error| failed(granted, &error))
}
