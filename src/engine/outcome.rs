//! The two ways in: [`evaluate`] for a script, [`call`] for a background child; and [`Ended`], what comes out.

use super::language::Language;
use super::task::Task;
use crate::words::{EntryId, Failure, StopCause};
use rhai::{Dynamic, FnPtr, Map, NativeCallContext};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Why an entry has no value.
#[derive(Clone, Debug)]
pub enum Unfinished {
    /// It was made to stop: cancelled, shut down, or given up because of an entry it waited for. Limits and the end of its
    /// space are failures instead.
    Stopped(StopCause),
    /// It failed.
    Failed {
        /// Why, as text.
        failure: Box<Failure>,
        /// The live value that was thrown, when one was.
        thrown: Option<Dynamic>,
    },
}

/// A name that another entry set or defined too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The variable or function.
    pub name: String,
    /// The other entry.
    pub other: EntryId,
    /// Whether it is a function.
    pub function: bool,
}

/// How an eval ended, with everything the registry keeps of it.
#[derive(Clone, Debug)]
pub struct Ended {
    /// The value, or why there is none. A value is safe to keep and to drop anywhere: its nesting is bounded and its
    /// closures can be called from any eval.
    pub result: Result<Dynamic, Unfinished>,
    /// The variables it published, in order of their first publishing.
    pub published: Vec<String>,
    /// Names that other entries set or defined as well.
    pub conflicts: Vec<Conflict>,
    /// The values it overwrote that other entries had set meanwhile.
    pub lost: Map,
    /// Entries that can be reached from its value, from variables it published, or from atoms it set: its children among
    /// them live on. Empty when it was stopped.
    pub kept: BTreeSet<EntryId>,
    /// What the value, the thrown value and `lost` take, in bytes (an estimate).
    pub bytes: usize,
}

/// A function that a background child runs, with everything it needs on another thread.
#[derive(Clone, Debug)]
pub struct Callable {}

impl Callable {
    /// Takes `function` out of a native call, so that a child entry can run it by [`call`].
    pub fn bind(context: &NativeCallContext<'_>, function: FnPtr) -> Self {
        let _ = (context, function);
        todo!()
    }
}

/// Evaluates `code` for `task`, on this thread. Total: it returns whatever the script does, also when a native function panics.
/// Call it on a thread with a stack of [`Limits::stack_bytes`](crate::words::Limits::stack_bytes).
pub fn evaluate(language: &Language, task: &Arc<Task>, code: &str) -> Ended {
    let _ = (language, task, code);
    todo!()
}

/// Runs a background child's function for `task`, on this thread. Total, like [`evaluate`].
pub fn call(language: &Language, task: &Arc<Task>, callable: Callable) -> Ended {
    let _ = (language, task, callable);
    todo!()
}
