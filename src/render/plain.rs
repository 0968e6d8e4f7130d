//! Pieces that all texts share: escaping, cutting, counting, times.

use std::time::Duration;

/// A running time: `3 ms` below a second, else `3.2 s`.
pub fn duration(time: Duration) -> String {
    let _ = time;
    todo!()
}
