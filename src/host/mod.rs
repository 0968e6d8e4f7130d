//! Where state, engine and spaces meet. Both front ends and embedders call only this module (and what it re-exports).

mod api;
mod delivery;
mod embed;
mod serving;
pub mod wait;

pub use api::*;
pub use delivery::{Delivery, Receipt};
pub use embed::{BuildError, Ended, HostBuilder, Printed, Script};
pub use serving::{Occupied, Serving};
