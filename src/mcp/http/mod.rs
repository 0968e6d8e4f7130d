//! The protocol over HTTP: headers, statuses and event streams around `eras` and `calls`, from a request to a reply. Knows no
//! socket; tested without one.

mod dispatcher;
mod era;
mod headers;
mod legacy_post;
mod modern_headers;
mod reply;
mod sse;
mod status;
#[cfg(test)]
mod tests;

pub use dispatcher::Dispatcher;
pub use reply::{Body, Frame, Frames, Incoming, Reply};
