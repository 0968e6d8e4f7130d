//! Programs that differ because of a fault. This list only shrinks: one that no longer differs fails the test until it is taken
//! off.

/// A fault, and the programs that show it.
pub(super) struct Fault {
    pub(super) what: &'static str,
    pub(super) programs: &'static [&'static str],
}

/// Every known fault.
pub(super) const FAULTS: &[Fault] = &[];
