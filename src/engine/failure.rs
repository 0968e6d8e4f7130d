//! Errors: what scripts catch, and how an error of the language becomes a [`Failure`].

use crate::words::limits::LimitHit;
use crate::words::{EntryId, Failure, Refusal};
use rhai::{Dynamic, EvalAltResult};

/// What native functions return.
pub type Fallible<T> = Result<T, Box<EvalAltResult>>;

/// A failure that is handed on to another script, with the live value that was thrown.
#[derive(Clone, Debug)]
pub struct Thrown {
    /// The failure.
    pub failure: Failure,
    /// The entry that failed.
    pub entry: EntryId,
    /// What it threw, if it threw.
    pub thrown: Option<Dynamic>,
}

/// The error that ends a stopped eval. No script can catch it for long: the next operation raises it again.
pub fn terminated() -> Box<EvalAltResult> {
    todo!()
}

/// The failure of another entry, as an error of this script. It catches a map: `kind`, `message`, `entry`, `thrown`, ...
pub fn raise(thrown: &Thrown) -> Box<EvalAltResult> {
    let _ = thrown;
    todo!()
}

/// A refusal, as an error of this script. It catches a map: `kind` and `message`.
pub fn refuse(refusal: &Refusal) -> Box<EvalAltResult> {
    let _ = refusal;
    todo!()
}

/// A limit, as an error of this script. It catches a map: `kind` and `message`.
pub fn limit(hit: &LimitHit) -> Box<EvalAltResult> {
    let _ = hit;
    todo!()
}

/// Any other error of a native function, as an error of this script. It catches a map: `kind` and `message`.
pub fn fail(kind: &str, message: impl Into<String>) -> Box<EvalAltResult> {
    let _ = (kind, message.into());
    todo!()
}

/// No module has this name.
pub fn module_not_found(name: &str) -> Box<EvalAltResult> {
    let _ = name;
    todo!()
}

/// An error of the language as data.
pub fn describe(error: &EvalAltResult, source: &str) -> Failure {
    let _ = (error, source);
    todo!()
}
