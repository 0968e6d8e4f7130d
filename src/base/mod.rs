//! Floor 0: the types every other room uses.
//!
//! Owns ids, time, limits, the ends of an eval, and the refusals of a request. Knows nothing of Rhai, the wire or the
//! terminal, and holds no state but the clock.

pub mod client;
pub mod clock;
pub mod ids;
pub mod limits;
mod locks;
mod module_error;
pub mod outcome;
pub mod refusal;

pub use client::ClientInfo;
pub use clock::{Alarm, Clock, Time, Wake};
pub use ids::{EntryId, Handle, HeaderKey, Owner, SessionId, SpaceId, TaskId};
pub use limits::Limits;
pub(crate) use locks::lock;
pub use module_error::{ModuleError, ModuleNotice, ModuleProblem, ProblemKind, Severity};
pub use outcome::{Conflict, Cut, Failure, Frame, Status, StopCause};
pub use refusal::Refusal;
