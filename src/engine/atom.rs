//! [`Atom`]: a cell that concurrent evals share safely.

use super::failure::Fallible;
use rhai::{Dynamic, FnPtr, NativeCallContext};

/// A shared mutable cell. `swap` owns it while its function runs; others wait, cancellably. Cheap to clone; equal when it is
/// the same cell.
#[derive(Clone, Debug)]
pub struct Atom {}

impl Atom {
    /// A cell that holds `value`, made portable for any eval.
    ///
    /// # Errors
    /// When the value is nested too deeply.
    pub fn new(context: &NativeCallContext<'_>, value: Dynamic) -> Fallible<Self> {
        let _ = (context, value);
        todo!()
    }

    /// The value. Waits while another entry's `swap` owns the cell.
    pub fn get(&self, context: &NativeCallContext<'_>) -> Fallible<Dynamic> {
        let _ = context;
        todo!()
    }

    /// Replaces the value.
    pub fn set(&self, context: &NativeCallContext<'_>, value: Dynamic) -> Fallible<()> {
        let _ = (context, value);
        todo!()
    }

    /// Replaces the value by what `function` makes of it, and returns the new one. A function that fails changes nothing.
    pub fn swap(&self, context: &NativeCallContext<'_>, function: &FnPtr) -> Fallible<Dynamic> {
        let _ = (context, function);
        todo!()
    }
}
