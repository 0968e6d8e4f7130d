//! The output of one entry: lines in a ring, with a lock of its own, so that printing never waits for the registry.

use crate::base::{Time, lock};
use std::borrow::Cow;
use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// One printed line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The time it was printed, counted from the start of the entry.
    pub after: Duration,
    /// The source it came from: `print`, `debug`, or a level and target of an event.
    pub source: Cow<'static, str>,
    /// The text, without line breaks.
    pub text: String,
    /// The number of characters of the line that are missing here; 0 for a whole line.
    pub cut: usize,
}

/// Lines of a log from some point on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The number of the first line in `lines`, counted from 0 over all lines ever printed.
    pub first: u64,
    /// The number of lines asked for that had been dropped.
    pub skipped: u64,
    /// The lines.
    pub lines: Vec<Line>,
    /// The number of lines ever printed.
    pub total: u64,
}

/// The beginning and the end of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeadTail {
    /// Its first lines; empty when these were dropped. A first line too long for its share lacks its end.
    pub head: Vec<Line>,
    /// The gap between `head` and `tail`.
    pub gap: Option<Gap>,
    /// Its last lines. A last line too long for its share lacks its beginning.
    pub tail: Vec<Line>,
}

/// The part of an output that is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Whole lines, dropped ones included; 0 when the gap is inside one line.
    pub lines: u64,
    /// Bytes of text, dropped ones included.
    pub bytes: u64,
    /// Characters, when the gap is inside one line.
    pub characters: u64,
    /// The number of the first line of which something is left out: where paging would begin.
    pub from: u64,
}

/// The output of one entry. Keeps the newest lines within its limit and counts what it dropped.
#[derive(Debug)]
pub struct OutputLog {
    /// Most text to keep, in bytes.
    limit: usize,
    /// The memory all logs of the process take, in bytes.
    total: Arc<AtomicUsize>,
    ring: Mutex<Ring>,
}

#[derive(Debug)]
struct Ring {
    /// The moment times are counted from.
    start: Time,
    lines: VecDeque<Line>,
    /// Lines dropped so far, which is the number of the first kept one.
    dropped: u64,
    /// Text dropped so far, in bytes.
    dropped_bytes: u64,
    /// The kept lines as the limit counts them.
    charged: usize,
    /// The kept lines as memory, in bytes.
    held: usize,
    last_at: Option<Time>,
}

/// The bytes the limit counts for a line: its text and line break. Short lines count a little more, so that a flood of empty lines
/// is bounded as well.
fn charge(line: &Line) -> usize {
    (line.text.len() + 1).max(8)
}

/// The memory a line takes, in bytes.
fn held(line: &Line) -> usize {
    size_of::<Line>() + line.text.len()
}

fn characters(text: &str) -> usize {
    text.chars().count()
}

/// The longest beginning of a text that has at most so many bytes and ends between characters.
fn start_of(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    &text[..end.unwrap_or(0)]
}

/// The longest end of a text that has at most so many bytes and begins between characters.
fn end_of(text: &str, bytes: usize) -> &str {
    let start = (text.len().saturating_sub(bytes)..=text.len()).find(|at| text.is_char_boundary(*at));
    &text[start.unwrap_or(text.len())..]
}

/// The lines, one after the other, that fit into so many bytes, line breaks counted; and the room that is left.
fn whole_lines<'a>(lines: impl Iterator<Item = &'a Line>, mut room: usize) -> (Vec<Line>, usize) {
    let mut fitting = Vec::new();
    for line in lines {
        if line.text.len() >= room {
            break;
        }
        room -= line.text.len() + 1;
        fitting.push(line.clone());
    }
    (fitting, room)
}

impl Line {
    /// This line with a part of its text.
    fn with_text(&self, part: &str) -> Self {
        let cut = self.cut + characters(&self.text) - characters(part);
        Self { text: part.to_owned(), cut, ..self.clone() }
    }
}

impl OutputLog {
    /// An empty log that keeps up to `limit` bytes of text and reports the memory it takes to `total`.
    pub(super) fn new(limit: usize, total: Arc<AtomicUsize>, start: Time) -> Self {
        let ring =
            Ring { start, lines: VecDeque::new(), dropped: 0, dropped_bytes: 0, charged: 0, held: 0, last_at: None };
        Self { limit, total, ring: Mutex::new(ring) }
    }

    /// Counts times from here: the entry has left the queue.
    pub(super) fn start(&self, now: Time) {
        self.ring().start = now;
    }

    /// Appends one print. A text with line breaks becomes several lines of one moment; an empty one is an empty line.
    pub fn push(&self, now: Time, source: impl Into<Cow<'static, str>>, text: &str) {
        let source = source.into();
        let mut ring = self.ring();
        let after = now.since(ring.start);
        let before = ring.held;
        let empty = text.is_empty().then_some("");
        for whole in text.lines().chain(empty) {
            let kept = start_of(whole, self.limit.saturating_sub(1));
            let rest = &whole[kept.len()..];
            ring.append(Line { after, source: source.clone(), text: kept.to_owned(), cut: characters(rest) });
            ring.dropped_bytes += rest.len() as u64;
            while ring.charged > self.limit && ring.drop_oldest() {}
        }
        ring.last_at = Some(now);
        self.report(before, ring.held);
    }

    /// Up to `n` lines from line `from` on, counted from 0 over all lines ever printed.
    pub fn page(&self, from: u64, n: usize) -> Page {
        let ring = self.ring();
        let total = ring.total();
        let until = from.saturating_add(n as u64).min(total);
        let first = from.max(ring.dropped).min(total);
        let skipped = ring.dropped.min(until).saturating_sub(from);
        // Both are at least `dropped` here, and their distance from it is at most the length of the ring.
        let range = (first - ring.dropped) as usize..(until.max(first) - ring.dropped) as usize;
        Page { first, skipped, lines: ring.lines.range(range).cloned().collect(), total }
    }

    /// The beginning and the end, at most `max_bytes` of text together, line breaks counted.
    pub fn head_tail(&self, max_bytes: usize) -> HeadTail {
        let ring = self.ring();
        let size: usize = ring.lines.iter().map(|line| line.text.len() + 1).sum();
        if ring.dropped == 0 && size <= max_bytes {
            return HeadTail { head: ring.lines.iter().cloned().collect(), gap: None, tail: Vec::new() };
        }
        // When the beginning is gone, all the room is the end's.
        let head_room = if ring.dropped == 0 { max_bytes / 2 } else { 0 };
        let (mut head, room) = whole_lines(ring.lines.iter(), head_room);
        let whole_head = head.len();
        let (mut tail, tail_room) = whole_lines(ring.lines.iter().skip(whole_head).rev(), max_bytes - head_room);
        tail.reverse();
        let mut left_out = ring.lines.len() - whole_head - tail.len();
        // A line too long for its share is shown in part, so that there is always something to see at either end.
        let mut partly_shown = BTreeSet::new();
        if head.is_empty() && room > 1 && left_out > 0 {
            partly_shown.insert(0);
            head.extend(ring.lines.front().map(|line| line.with_text(start_of(&line.text, room - 1))));
        }
        if tail.is_empty() && tail_room > 1 && left_out > 0 {
            partly_shown.insert(ring.lines.len() - 1);
            tail.extend(ring.lines.back().map(|line| line.with_text(end_of(&line.text, tail_room - 1))));
        }
        left_out -= partly_shown.len();
        let text = |lines: &mut dyn Iterator<Item = &Line>| lines.map(|line| line.text.len() as u64).sum::<u64>();
        let lines = ring.dropped + left_out as u64;
        let characters = match lines {
            0 => {
                let all: usize = ring.lines.iter().map(|line| line.cut + characters(&line.text)).sum();
                let shown: usize = head.iter().chain(&tail).map(|line| characters(&line.text)).sum();
                (all - shown) as u64
            }
            _ => 0,
        };
        let gap = Gap {
            lines,
            bytes: ring.dropped_bytes + text(&mut ring.lines.iter()) - text(&mut head.iter().chain(&tail)),
            characters,
            from: if ring.dropped == 0 { whole_head as u64 } else { 0 },
        };
        HeadTail { head, gap: Some(gap), tail }
    }

    /// The latest line.
    pub fn last_line(&self) -> Option<Line> {
        self.ring().lines.back().cloned()
    }

    /// The time the latest line was printed.
    pub fn last_at(&self) -> Option<Time> {
        self.ring().last_at
    }

    /// The number of lines ever printed.
    pub fn total_lines(&self) -> u64 {
        self.ring().total()
    }

    /// The number of lines dropped.
    pub fn dropped_lines(&self) -> u64 {
        self.ring().dropped
    }

    /// The memory the kept lines take, in bytes.
    pub fn kept_bytes(&self) -> usize {
        self.ring().held
    }

    /// Takes all lines out and counts them as dropped.
    pub fn forget(&self) -> VecDeque<Line> {
        let mut ring = self.ring();
        let before = std::mem::take(&mut ring.held);
        ring.charged = 0;
        ring.dropped += ring.lines.len() as u64;
        ring.dropped_bytes += ring.lines.iter().map(|line| line.text.len() as u64).sum::<u64>();
        self.report(before, 0);
        std::mem::take(&mut ring.lines)
    }

    /// Brings the total of the process up to date.
    fn report(&self, before: usize, after: usize) {
        if after >= before {
            self.total.fetch_add(after - before, Ordering::Relaxed);
        } else {
            self.total.fetch_sub(before - after, Ordering::Relaxed);
        }
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        // A panic while a line is pushed leaves at worst a count behind, never a broken ring.
        lock(&self.ring)
    }
}

impl Drop for OutputLog {
    fn drop(&mut self) {
        let held = self.ring().held;
        self.report(held, 0);
    }
}

impl Ring {
    fn total(&self) -> u64 {
        self.dropped + self.lines.len() as u64
    }

    fn append(&mut self, line: Line) {
        self.charged += charge(&line);
        self.held += held(&line);
        self.lines.push_back(line);
    }

    /// Drops the oldest line; false when there is none.
    fn drop_oldest(&mut self) -> bool {
        let Some(line) = self.lines.pop_front() else { return false };
        self.charged -= charge(&line);
        self.held -= held(&line);
        self.dropped += 1;
        self.dropped_bytes += line.text.len() as u64;
        true
    }
}
