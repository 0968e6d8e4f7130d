//! What an eval printed, as a block of an answer: head and tail within a budget.

use super::style::Style;
use crate::words::EntryId;

/// One line of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Where it came from: `print`, `debug`, or a level and target such as `WARN orders`. All but `print` are shown.
    pub source: &'a str,
    /// Its text.
    pub text: &'a str,
}

/// The output of an entry as its log gives it: lines in order, with a gap between head and tail when there are many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Output<'a> {
    /// The oldest lines that are kept.
    pub head: &'a [Line<'a>],
    /// The newest lines; empty when there is no gap.
    pub tail: &'a [Line<'a>],
    /// Lines between head and tail.
    pub elided_lines: usize,
    /// Their bytes.
    pub elided_bytes: usize,
    /// Lines older than the head, dropped for ever by the ring.
    pub dropped_lines: usize,
    /// Their bytes.
    pub dropped_bytes: usize,
}

/// Bytes of output that an answer shows.
pub const ANSWER_BYTES: usize = 8 << 10;

/// The block: `;; out` and the lines, within `budget` bytes. Empty when nothing was printed.
pub fn block(output: &Output<'_>, id: EntryId, budget: usize, style: Style) -> String {
    let _ = (output, id, budget, style);
    todo!()
}

/// One line as it is shown (heartbeats, `:watch`, status messages): its source when that is not `print`, escaped, one line.
pub fn line(line: &Line<'_>) -> String {
    let _ = line;
    todo!()
}
