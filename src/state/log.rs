//! The output of one entry: lines in a ring, with a lock of its own, so that printing never waits for the registry.

use crate::words::Time;
use std::borrow::Cow;
use std::time::Duration;

/// One printed line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// When it was printed, counted from the start of the entry.
    pub after: Duration,
    /// What printed it: `print`, `debug`, or a level and target of an event.
    pub source: Cow<'static, str>,
    /// The text, without line breaks.
    pub text: String,
    /// How many bytes of its end were cut off; 0 for a whole line.
    pub cut: usize,
}

/// Lines of a log from some point on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The number of the first line in `lines`, counted from 0 over all lines ever printed.
    pub first: u64,
    /// How many of the lines asked for had been dropped.
    pub skipped: u64,
    /// The lines.
    pub lines: Vec<Line>,
    /// How many lines were ever printed.
    pub total: u64,
}

/// The beginning and the end of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeadTail {
    /// Its first lines. The last of them is cut when a single line was too long.
    pub head: Vec<Line>,
    /// What is left out between `head` and `tail`.
    pub gap: Option<Gap>,
    /// Its last lines. The first of them lacks its beginning when a single line was too long.
    pub tail: Vec<Line>,
}

/// What was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Whole lines, dropped ones included; 0 when the gap is inside one line.
    pub lines: u64,
    /// Bytes, dropped ones included.
    pub bytes: u64,
    /// The number of the first line left out: where paging would begin.
    pub from: u64,
}

/// The output of one entry.
#[derive(Debug)]
pub struct OutputLog {}

impl OutputLog {
    /// Appends one print. A text with line breaks becomes several lines of one moment.
    pub fn push(&self, now: Time, source: impl Into<Cow<'static, str>>, text: &str) {
        let _ = (now, source.into(), text);
        todo!()
    }

    /// Up to `n` lines from line `from` on, counted from 0 over all lines ever printed.
    pub fn page(&self, from: u64, n: usize) -> Page {
        let _ = (from, n);
        todo!()
    }

    /// The beginning and the end, at most `max_bytes` of text together.
    pub fn head_tail(&self, max_bytes: usize) -> HeadTail {
        let _ = max_bytes;
        todo!()
    }

    /// The latest line.
    pub fn last_line(&self) -> Option<Line> {
        todo!()
    }

    /// When the latest line was printed.
    pub fn last_at(&self) -> Option<Time> {
        todo!()
    }

    /// How many lines were ever printed.
    pub fn total_lines(&self) -> u64 {
        todo!()
    }

    /// How many lines were dropped.
    pub fn dropped_lines(&self) -> u64 {
        todo!()
    }

    /// The text that is kept, in bytes.
    pub fn kept_bytes(&self) -> usize {
        todo!()
    }

    /// Drops all lines.
    pub fn forget(&self) {
        todo!()
    }
}
