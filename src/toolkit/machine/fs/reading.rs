//! Reading files: whole, in parts, by lines.

use super::opening::{failed, file, to_read};
use crate::base::tool_errors::ToolError;
use crate::engine::Fallible;
use crate::toolkit::permissions::{Capability, Granted};
use cap_std::fs::File;
use rhai::{Array, Blob, Dynamic, FnPtr, NativeCallContext};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};

/// The bytes that are read between two questions whether to go on.
pub(super) const PIECE: usize = 64 << 10;

const IN_PARTS: &str = "take it in parts: fs::bytes(path, from, n), fs::lines(path, from, n), fs::each_line(path, f)";

fn too_large(granted: &Granted<'_>, bytes: u64, limit: usize) -> Box<rhai::EvalAltResult> {
    granted.capability().error(ToolError::TooLarge { what: granted.what().to_owned(), bytes, limit, instead: IN_PARTS })
}

/// Reads on to the end, at most `limit` bytes.
pub(super) fn rest(granted: &Granted<'_>, source: &mut impl Read, announced: u64, limit: usize) -> Fallible<Vec<u8>> {
    if announced > limit as u64 {
        return Err(too_large(granted, announced, limit));
    }
    let capability = granted.capability();
    // The length that is known is asked for at once: a vector that grows takes twice as much.
    let mut bytes = Vec::with_capacity(usize::try_from(announced).unwrap_or(0));
    loop {
        capability.check()?;
        let read =
            source.by_ref().take(PIECE as u64).read_to_end(&mut bytes).map_err(|error| failed(granted, &error))?;
        granted.moved(read);
        if read == 0 {
            return Ok(bytes);
        }
        if bytes.len() > limit {
            return Err(too_large(granted, bytes.len() as u64, limit));
        }
    }
}

/// Bytes as the text they are.
pub(super) fn text(granted: &Granted<'_>, bytes: Vec<u8>) -> Fallible<String> {
    String::from_utf8(bytes).map_err(|problem| {
        let byte = problem.utf8_error().valid_up_to();
        granted.capability().error(ToolError::NotText { path: granted.what().to_owned(), byte })
    })
}

/// The whole text of a file.
pub(super) fn read(context: &NativeCallContext<'_>, path: &str) -> Fallible<String> {
    let capability = Capability::of(context, "fs::read")?;
    let granted = to_read(&capability, path)?;
    let (mut file, metadata) = file(&granted)?;
    let bytes = rest(&granted, &mut file, metadata.len(), capability.room())?;
    text(&granted, bytes)
}

/// The bytes of a file from one of them on, at most so many.
pub(super) fn bytes(context: &NativeCallContext<'_>, path: &str, from: i64, n: Option<i64>) -> Fallible<Blob> {
    let capability = Capability::of(context, "fs::bytes")?;
    let granted = to_read(&capability, path)?;
    let (mut file, metadata) = file(&granted)?;
    let from = u64::try_from(from).unwrap_or(0);
    file.seek(SeekFrom::Start(from)).map_err(|error| failed(&granted, &error))?;
    let most = n.map_or(u64::MAX, |n| u64::try_from(n).unwrap_or(0));
    let announced = metadata.len().saturating_sub(from).min(most);
    rest(&granted, &mut file.take(most), announced, capability.room())
}

/// Goes through the lines of a file, without their ends. `f` gets the text and the number from 0, and says whether to go on. Returns how
/// many it was given.
fn each(granted: &Granted<'_>, file: File, mut f: impl FnMut(String, usize) -> Fallible<bool>) -> Fallible<usize> {
    let capability = granted.capability();
    let mut source = BufReader::with_capacity(PIECE, file);
    let (mut number, mut before) = (0, 0_usize);
    loop {
        if number % 256 == 0 {
            capability.check()?;
        }
        let limit = capability.room();
        let mut line = Vec::new();
        let read = source
            .by_ref()
            .take(limit as u64 + 1)
            .read_until(b'\n', &mut line)
            .map_err(|error| failed(granted, &error))?;
        if read == 0 {
            return Ok(number);
        }
        if read > limit {
            return Err(too_large(granted, read as u64, limit));
        }
        granted.moved(read);
        if line.ends_with(b"\n") {
            line.pop();
            if line.ends_with(b"\r") {
                line.pop();
            }
        }
        let line = String::from_utf8(line).map_err(|problem| {
            let byte = before + problem.utf8_error().valid_up_to();
            capability.error(ToolError::NotText { path: granted.what().to_owned(), byte })
        })?;
        before += read;
        number += 1;
        if !f(line, number - 1)? {
            return Ok(number);
        }
    }
}

/// Lines of a file from one of them on, at most so many.
pub(super) fn lines(context: &NativeCallContext<'_>, path: &str, from: i64, n: i64) -> Fallible<Array> {
    let capability = Capability::of(context, "fs::lines")?;
    let granted = to_read(&capability, path)?;
    let (file, _) = file(&granted)?;
    let from = usize::try_from(from).unwrap_or(0);
    let until = from.saturating_add(usize::try_from(n).unwrap_or(0));
    let (mut lines, mut taken) = (Array::new(), 0);
    let limit = capability.room();
    if until > from {
        each(&granted, file, |line, number| {
            if number >= from {
                taken += line.len() + size_of::<Dynamic>();
                if taken > limit {
                    return Err(too_large(&granted, taken as u64, limit));
                }
                lines.push(line.into());
            }
            Ok(number + 1 < until)
        })?;
    }
    Ok(lines)
}

/// Calls a function for each line, until it gives false.
pub(super) fn each_line(context: &NativeCallContext<'_>, path: &str, f: &FnPtr) -> Fallible<i64> {
    let capability = Capability::of(context, "fs::each_line")?;
    let granted = to_read(&capability, path)?;
    let (file, _) = file(&granted)?;
    let count = each(&granted, file, |line, _| {
        let given: Dynamic = f.call_within_context(context, (line,))?;
        Ok(given.as_bool() != Ok(false))
    })?;
    Ok(i64::try_from(count).unwrap_or(i64::MAX))
}

/// The last lines of a file.
pub(super) fn tail(context: &NativeCallContext<'_>, path: &str, n: i64) -> Fallible<Array> {
    let capability = Capability::of(context, "fs::tail")?;
    let granted = to_read(&capability, path)?;
    let (mut file, metadata) = file(&granted)?;
    let wanted = usize::try_from(n).unwrap_or(0);
    let limit = capability.room();
    let mut from = metadata.len();
    let mut bytes: Vec<u8> = Vec::new();
    // The line end of the last line parts nothing.
    while from > 0 && bytes.iter().rev().skip(1).filter(|byte| **byte == b'\n').count() < wanted {
        let piece = from.min((PIECE.max(bytes.len())) as u64);
        from -= piece;
        let announced = metadata.len() - from;
        if announced > limit as u64 {
            return Err(too_large(&granted, announced, limit));
        }
        file.seek(SeekFrom::Start(from)).map_err(|error| failed(&granted, &error))?;
        bytes = rest(&granted, &mut file.by_ref().take(announced), announced, limit)?;
    }
    // What was cut off in the middle of a character is of a line that is not wanted.
    let text = if from > 0 { String::from_utf8_lossy(&bytes).into_owned() } else { text(&granted, bytes)? };
    let all: Vec<&str> = text.lines().collect();
    Ok(all[all.len().saturating_sub(wanted)..].iter().map(|line| (*line).into()).collect())
}
