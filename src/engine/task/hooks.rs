//! The hooks by which evaluation asks from above, as small traits: where output goes, where source lines are found, what may
//! still be kept, and who waits for whom. `spaces` and `host` implement them. Knows no task: [`Modules`](super::context::Modules),
//! [`Blocking`](super::control::Blocking) and [`SpaceView`](super::space_view::SpaceView) stand with what they take.

use crate::base::limits::LimitHit;
use crate::base::{EntryId, Refusal};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

/// The place where the output of one entry goes.
pub(crate) trait Sink: Send + Sync {
    /// Keeps one line (or several, joined by line breaks). `source` is one word: `print`, `debug`, or what a host function
    /// chose.
    fn line(&self, source: &str, text: &str);
}

/// The place where the text of a source is found again. A source is called `eval 12`, or by its file, such as `stats.rhai`.
pub(crate) trait Sources: Send + Sync {
    /// The whole text of `source`; `None` when it is gone. Whoever needs more than one line asks for this.
    fn text(&self, source: &str) -> Option<Arc<str>>;

    /// Line `line` (from 1) of `source`, to show it with an error that happened there; `None` when it is gone. A file may have
    /// changed since, so a source of files overrides this and takes the text that the error is about.
    fn line(&self, source: &str, line: usize) -> Option<String> {
        self.text(source)?.lines().nth(line.checked_sub(1)?).map(str::to_owned)
    }
}

/// The memory that the process as a whole may still keep.
pub(crate) trait Budget: Send + Sync {
    /// Asked before an entry keeps values above `limits.kept_when_full_bytes`; `bytes` is what it adds now.
    ///
    /// # Errors
    /// [`LimitHit::TotalMemory`] when the process is full.
    fn may_keep(&self, bytes: usize) -> Result<(), LimitHit>;

    /// The number of bytes allocated by the process above which [`Budget::over_total`] is to be called. Read at every operation.
    fn ceiling(&self) -> Arc<AtomicUsize> {
        Arc::new(AtomicUsize::new(usize::MAX))
    }

    /// The process is above its ceiling, or would be once `entry` had the `wanted` bytes that it is about to allocate. Makes room,
    /// if need be by stopping a running entry: perhaps this one. Before an allocation it waits for others that are on their way out.
    fn over_total(&self, entry: EntryId, wanted: usize) {
        let _ = (entry, wanted);
    }

    /// Nobody has made room for the `wanted` bytes in time: stops `entry`, unless it is small.
    fn no_room(&self, entry: EntryId, wanted: usize) {
        let _ = (entry, wanted);
    }
}

/// The graph of who waits for whom. Atoms take part in it.
pub(crate) trait Waits: Send + Sync {
    /// `waiter` is about to wait for something that `owner` holds.
    ///
    /// # Errors
    /// [`Refusal::Deadlock`] when that wait could never end.
    fn begin(&self, waiter: EntryId, owner: EntryId) -> Result<(), Refusal>;
    /// That wait is over.
    fn end(&self, waiter: EntryId, owner: EntryId);
}
