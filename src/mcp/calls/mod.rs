//! Calls on their way: the tools against the host, what is open and can be taken back, and the exchange that carries the answers
//! as messages. Knows no transport.

pub(super) mod call;
pub(super) mod exchange;
pub(super) mod open_requests;
pub(super) mod response;
pub(super) mod shared;
