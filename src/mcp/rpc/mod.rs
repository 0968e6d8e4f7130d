//! JSON-RPC as the protocol uses it: messages, errors, revisions, notifications. Knows no transport, no host and no method.

pub(super) mod fault;
pub(super) mod message;
pub(super) mod notifier;
pub(super) mod revision;
