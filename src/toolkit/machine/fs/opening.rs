//! Opening what is below a root, and what may be opened at all: regular files, and none of the system's own.

use crate::base::PermissionKind;
use crate::base::tool_errors::ToolError;
use crate::engine::Fallible;
use crate::toolkit::permissions::{Capability, Granted, Place};
use cap_std::fs::{Dir, File, Metadata, OpenOptions};
use rhai::EvalAltResult;
use std::io;
use std::path::{Path, PathBuf};

/// A call's permission to read a path.
pub(super) fn to_read<'c>(capability: &'c Capability, path: &str) -> Fallible<Granted<'c>> {
    named(capability, PermissionKind::Read, path)
}

/// A call's permission to write a path.
pub(super) fn to_write<'c>(capability: &'c Capability, path: &str) -> Fallible<Granted<'c>> {
    named(capability, PermissionKind::Write, path)
}

fn named<'c>(capability: &'c Capability, kind: PermissionKind, path: &str) -> Fallible<Granted<'c>> {
    if path.is_empty() || path.contains('\0') {
        let reason = "a path is not empty and has no NUL character".to_owned();
        return Err(capability.error(ToolError::File { call: capability.call, path: path.to_owned(), reason }));
    }
    capability.ask(kind, path)
}

/// The error for what the system said.
pub(super) fn failed(granted: &Granted<'_>, error: &io::Error) -> Box<EvalAltResult> {
    // The handle's own refusal has no number of the system.
    if error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none() {
        return granted.shut("it leads out of what is allowed");
    }
    let reason = match error.kind() {
        io::ErrorKind::NotFound => "there is no such file or folder".to_owned(),
        io::ErrorKind::CrossesDevices => {
            "the two places are on different file systems; copy and remove instead".to_owned()
        }
        _ => error.to_string(),
    };
    let capability = granted.capability();
    capability.error(ToolError::File { call: capability.call, path: granted.what().to_owned(), reason })
}

/// Opens a regular file for reading. A pipe or a device is not waited for.
pub(super) fn file(granted: &Granted<'_>) -> Fallible<(File, Metadata)> {
    let place = granted.place()?;
    let mut options = OpenOptions::new();
    options.read(true);
    without_waiting(&mut options);
    let file = place.dir.open_with(&place.inside, &options).map_err(|error| failed(granted, &error))?;
    let metadata = regular(granted, place, &file)?;
    Ok((file, metadata))
}

/// What an open file is, when it is a regular one.
pub(super) fn regular(granted: &Granted<'_>, place: &Place, file: &File) -> Fallible<Metadata> {
    let metadata = file.metadata().map_err(|error| failed(granted, &error))?;
    let capability = granted.capability();
    if !metadata.is_file() {
        let is = if metadata.is_dir() { "a folder" } else { "a pipe, a socket or a device" };
        return Err(capability.error(ToolError::NotAFile {
            call: capability.call,
            path: granted.what().to_owned(),
            is,
        }));
    }
    if !place.unbounded && is_of_the_system(file) {
        return Err(granted
            .shut("it is a file of the system itself, such as the memory of a process; only --allow-all opens those"));
    }
    Ok(metadata)
}

#[cfg(unix)]
fn without_waiting(options: &mut OpenOptions) {
    use cap_std::fs::OpenOptionsExt;
    options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
}

#[cfg(not(unix))]
fn without_waiting(_: &mut OpenOptions) {}

/// Whether a file is one of those by which the system shows itself: `/proc`, `/sys` and their kin.
#[cfg(target_os = "linux")]
fn is_of_the_system(file: &File) -> bool {
    /// Numbers of `statfs(2)`: proc, sysfs, cgroup, cgroup2, debugfs, tracefs, securityfs, configfs.
    const SHUT: [u64; 8] =
        [0x9fa0, 0x6265_6572, 0x27_e0eb, 0x6367_7270, 0x6462_6720, 0x7472_6163, 0x7363_6673, 0x6265_6570];
    rustix::fs::fstatfs(file).is_ok_and(|system| SHUT.contains(&u64::try_from(system.f_type).unwrap_or(0)))
}

#[cfg(not(target_os = "linux"))]
fn is_of_the_system(_: &File) -> bool {
    false
}

/// The folder that a path ends in, opened, and its last part.
pub(super) fn parent(granted: &Granted<'_>) -> Fallible<(Dir, PathBuf)> {
    let place = granted.place()?;
    let capability = granted.capability();
    let Some(name) = place.inside.file_name() else {
        let reason = "it is the allowed folder itself, or ends in `..`; name something in it".to_owned();
        return Err(capability.error(ToolError::File {
            call: capability.call,
            path: granted.what().to_owned(),
            reason,
        }));
    };
    let folder = match place.inside.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => place.dir.open_dir(folder),
        _ => place.dir.try_clone(),
    };
    Ok((folder.map_err(|error| failed(granted, &error))?, Path::new(name).to_owned()))
}

/// Whether other names lead to the same file.
#[cfg(unix)]
pub(super) fn has_other_names(metadata: &Metadata) -> bool {
    use cap_std::fs::MetadataExt;
    metadata.nlink() > 1
}

#[cfg(not(unix))]
pub(super) fn has_other_names(_: &Metadata) -> bool {
    false
}
