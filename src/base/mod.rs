//! Floor 0: the types every other room uses.
//!
//! Owns ids, time, limits, the ends of an eval, and the refusals of a request. Knows nothing of Rhai, the wire or the
//! terminal, and holds no state but the clock.

pub(crate) mod client;
pub(crate) mod clock;
pub(crate) mod ids;
mod library_error;
pub(crate) mod limits;
mod locks;
mod module_error;
pub(crate) mod outcome;
pub(crate) mod permission;
pub(crate) mod refusal;
pub(crate) mod tool_errors;

pub use client::ClientInfo;
pub(crate) use clock::Wake;
pub use clock::{Clock, Time};
pub(crate) use ids::TaskId;
pub use ids::{EntryId, Handle, HeaderKey, Owner, SessionId, SpaceId};
pub(crate) use library_error::{Format, LibraryError};
pub use limits::Limits;
pub(crate) use locks::lock;
pub(crate) use module_error::{ModuleError, ModuleNotice, ModuleProblem, ProblemKind, Severity};
pub(crate) use outcome::{Conflict, Cut, Note};
pub use outcome::{Failure, Frame, Status, StopCause};
pub use permission::{Ask, Decision, PermissionError, PermissionKind, Permissions};
pub use refusal::Refusal;
