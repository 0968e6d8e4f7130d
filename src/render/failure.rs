//! Failures: kind, message and place on the first line; then the source line with a caret, the calls, near names, a hint.

use super::style::Style;
use crate::words::{EntryId, Failure};

/// The whole text. `id` is named on the first line when there is an entry.
pub fn text(failure: &Failure, id: Option<EntryId>, style: Style) -> String {
    let _ = (failure, id, style);
    todo!()
}

/// The first line alone: `FunctionNotFound: no function 'lenn' for (array) · 2:12 · id 12`.
pub fn first_line(failure: &Failure, id: Option<EntryId>) -> String {
    let _ = (failure, id);
    todo!()
}
