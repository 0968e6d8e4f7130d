//! What may be reached: rules with their folders opened, the gate that everything passes, and the record.

mod audit;
mod capability;
mod gate;
mod paths;

pub(crate) use audit::Row;
pub(in crate::toolkit) use capability::{Capability, Granted};
pub(crate) use gate::{Gate, Permit};
pub(in crate::toolkit) use paths::Place;
