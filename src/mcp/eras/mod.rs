//! The methods of each era. Knows no transport: what an era reads out of HTTP headers is handed in.

pub(super) mod legacy;
pub(super) mod modern;
