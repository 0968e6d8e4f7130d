//! The HTTP server: sockets, the access check, and the proof that a response was really written.
//!
//! Connections are served with hyper, HTTP/1.1 only. A response's [`Delivery`](crate::host::Delivery) travels with its body
//! down to the socket and is marked when the kernel has accepted the last byte of it; a response that could not be written
//! drops it. What a request means is not known here: that is behind `Service`, which the protocol's dispatcher implements and
//! tests replace.

mod access;
mod body;
mod refused;
mod router;
mod server;
mod socket;
#[cfg(test)]
mod tests;

pub use access::Token;
#[cfg(feature = "cli")]
pub(crate) use access::{is_host, is_origin};
pub use server::{ServeError, ServeOptions, Server, serve, serve_dispatcher, serve_with};
