//! Raising errors: what native functions return, and how a refusal, a limit or a failure becomes an error that scripts catch.
//!
//! Describing an error as data is another file's business: [`describe`](super::describe).

use crate::base::limits::LimitHit;
use crate::base::{EntryId, Failure, Refusal};
use rhai::{Dynamic, EvalAltResult, Map, Position};

/// The result of a native function.
pub(crate) type Fallible<T> = Result<T, Box<EvalAltResult>>;

/// A failure that is handed on to another script, with the live value that was thrown.
#[derive(Clone, Debug)]
pub(crate) struct Thrown {
    /// The failure.
    pub failure: Failure,
    /// The entry that failed.
    pub entry: EntryId,
    /// The value it threw, if it threw.
    pub thrown: Option<Dynamic>,
}

/// Marks the maps made here, so that they are told from maps that a script throws.
const OURS: i32 = 0x4552;

/// The error that ends a stopped eval. No script can catch it for long: the next operation raises it again.
pub(crate) fn terminated() -> Box<EvalAltResult> {
    EvalAltResult::ErrorTerminated(Dynamic::UNIT, Position::NONE).into()
}

/// The failure of another entry, as an error of this script. It catches a map: `kind`, `message`, `entry`, `cause` (the entry that
/// failed first, where that one had waited for others), `line`, `column`, `source`, and `thrown` when something was thrown.
pub(crate) fn raise(thrown: &Thrown) -> Box<EvalAltResult> {
    let Failure { kind, message, cause, source, line, column, .. } = &thrown.failure;
    let mut map = Map::new();
    map.insert("kind".into(), kind.into());
    map.insert("message".into(), message.into());
    map.insert("entry".into(), number(thrown.entry.0));
    map.insert("cause".into(), number(cause.unwrap_or(thrown.entry).0));
    map.insert("source".into(), source.into());
    map.insert("line".into(), number(*line as u64));
    map.insert("column".into(), number(*column as u64));
    if let Some(value) = &thrown.thrown {
        map.insert("thrown".into(), value.clone());
    }
    ours(map)
}

/// A refusal, as an error of this script. It catches a map: `kind` and `message`.
pub(crate) fn refuse(refusal: &Refusal) -> Box<EvalAltResult> {
    fail(refusal.kind(), refusal.to_string())
}

/// A limit, as an error of this script. It catches a map: `kind` and `message`.
pub(crate) fn limit(hit: &LimitHit) -> Box<EvalAltResult> {
    fail(hit.kind(), hit.to_string())
}

/// Any other error of a native function, as an error of this script. It catches a map: `kind` and `message`.
pub(crate) fn fail(kind: &str, message: impl Into<String>) -> Box<EvalAltResult> {
    let mut map = Map::new();
    map.insert("kind".into(), kind.into());
    map.insert("message".into(), message.into().into());
    ours(map)
}

/// The same with further facts, which the handler finds in the map.
pub(crate) fn fail_with(
    kind: &str,
    message: impl Into<String>,
    facts: impl IntoIterator<Item = (&'static str, Dynamic)>,
) -> Box<EvalAltResult> {
    let mut map: Map = facts.into_iter().map(|(name, value)| (name.into(), value)).collect();
    map.insert("kind".into(), kind.into());
    map.insert("message".into(), message.into().into());
    ours(map)
}

/// Marks a map with `kind` and `message`: it speaks for itself when it is thrown.
pub(crate) fn mark_as_ours(value: &mut Dynamic) {
    value.set_tag(OURS);
}

/// Whether a thrown value is a map that was marked here.
pub(crate) fn is_ours(value: &Dynamic) -> bool {
    value.tag() == OURS
}

fn ours(map: Map) -> Box<EvalAltResult> {
    let mut value = Dynamic::from_map(map);
    mark_as_ours(&mut value);
    EvalAltResult::ErrorRuntime(value, Position::NONE).into()
}

fn number(n: u64) -> Dynamic {
    i64::try_from(n).unwrap_or(i64::MAX).into()
}

/// A column in characters, from 1; 0 when unknown. Rhai counts no further than this type holds: there it is unknown.
pub(crate) fn column(position: Position) -> usize {
    position.position().filter(|column| *column < usize::from(u16::MAX)).unwrap_or(0)
}
