//! What evaluation needs from above, as small traits: where output goes, how imports are resolved, where source lines are
//! found, who is told before a thread blocks, what may still be kept, and who waits for whom. `spaces` and `host` implement
//! them; [`SpaceView`](super::SpaceView) has a module of its own.

use super::context::Task;
use super::runtime::Runtime;
use crate::base::limits::LimitHit;
use crate::base::{Clock, EntryId, Refusal};
use crate::engine::error::Fallible;
use crate::engine::run::modules::LoadedModule;
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// Where the output of one entry goes.
pub trait Sink: Send + Sync {
    /// Keeps one line (or several, joined by line breaks). `source` is one word: `print`, `debug`, or what a host function
    /// chose.
    fn line(&self, source: &str, text: &str);
}

/// Where modules come from.
pub trait Modules: Send + Sync {
    /// The module called `name` as it is now, compiled by [`compile_module`](super::compile_module) on behalf of `task` when
    /// it is not loaded yet or has changed. Loading it again must be cheap when nothing changed: this is asked at every
    /// import, and for every kept import at the start of an eval that names it.
    ///
    /// # Errors
    /// [`failure::module_not_found`](super::failure::module_not_found) for a name that no module has; what its text raises
    /// otherwise.
    fn resolve(&self, language: &Runtime, task: &Arc<Task>, name: &str) -> Fallible<Arc<LoadedModule>>;

    /// The names of the modules there are, for hints: `stats`, `patterns/retry`.
    fn names(&self) -> Vec<String>;
}

/// Where the text of a source is found again. A source is called `eval 12`, or by its file, such as `stats.rhai`.
pub trait Sources: Send + Sync {
    /// The whole text of `source`; `None` when it is gone. Whoever needs more than one line asks for this.
    fn text(&self, source: &str) -> Option<Arc<str>>;

    /// Line `line` (from 1) of `source`, to show it with an error that happened there; `None` when it is gone. A file may have
    /// changed since, so a source of files overrides this and takes the text that the error is about.
    fn line(&self, source: &str, line: usize) -> Option<String> {
        self.text(source)?.lines().nth(line.checked_sub(1)?).map(str::to_owned)
    }
}

/// Who must know that an entry's thread blocks.
pub trait Blocking: Send + Sync {
    /// The entry is about to wait: it gives its slot back.
    fn give(&self, task: &Task);
    /// The entry goes on: blocks until it has a slot again, or, when the task was stopped, not at all.
    fn take(&self, task: &Task);
}

/// What the process as a whole may still keep.
pub trait Budget: Send + Sync {
    /// Asked before an entry keeps values above `limits.kept_when_full_bytes`; `bytes` is what it adds now.
    ///
    /// # Errors
    /// [`LimitHit::TotalMemory`] when the process is full.
    fn may_keep(&self, bytes: usize) -> Result<(), LimitHit>;
}

/// Who waits for whom. Atoms take part in it.
pub trait Waits: Send + Sync {
    /// `waiter` is about to wait for something that `owner` holds.
    ///
    /// # Errors
    /// [`Refusal::Deadlock`] when that wait could never end.
    fn begin(&self, waiter: EntryId, owner: EntryId) -> Result<(), Refusal>;
    /// That wait is over.
    fn end(&self, waiter: EntryId, owner: EntryId);
}

/// Everything that is the same for all entries of a process.
#[derive(Clone)]
pub struct Hooks {
    /// Where modules come from.
    pub modules: Arc<dyn Modules>,
    /// Where source lines come from.
    pub sources: Arc<dyn Sources>,
    /// Who is told about waits.
    pub blocking: Arc<dyn Blocking>,
    /// What the process may still keep.
    pub budget: Arc<dyn Budget>,
    /// Who waits for whom.
    pub waits: Arc<dyn Waits>,
    /// The clock that sleeps, waits and time limits ask.
    pub clock: Clock,
    /// The host's own context, fetched back by its functions with [`Task::services`].
    pub services: Arc<dyn Any + Send + Sync>,
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooks").field("clock", &self.clock).finish_non_exhaustive()
    }
}
