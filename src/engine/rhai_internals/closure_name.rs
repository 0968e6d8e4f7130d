//! The names of function pointers: how a portable closure is named, and what the name of any pointer tells.
//!
//! A portable closure is `closure_ID_CAPTURES_HASH`, or `closurew_…` when the pointer does not keep its code alive: the id of
//! the code it comes from, how many variables it captured, and what is left of Rhai's own name for its body.

use rhai::{FnPtr, ImmutableString};

/// The beginning of the names of strong pointers.
const STRONG: &str = "closure_";
/// The beginning of the names of weak pointers.
const WEAK: &str = "closurew_";
/// The beginning of the names that Rhai gives the bodies of closures.
const BODY: &str = "anon$";

/// The name of a pointer to the closure `body` of the code `id`; `None` when that is no closure.
pub(crate) fn portable_name(strong: bool, id: u64, captures: usize, body: &str) -> Option<ImmutableString> {
    let hash = body.strip_prefix(BODY)?;
    let prefix = if strong { STRONG } else { WEAK };
    Some(format!("{prefix}{id}_{captures}_{hash}").into())
}

/// The parts of such a name: the id of the code, how many variables are captured, and the name of the body.
pub(crate) fn parts_of(name: &str) -> Option<(u64, usize, ImmutableString)> {
    let rest = name.strip_prefix(WEAK).or_else(|| name.strip_prefix(STRONG))?;
    let mut parts = rest.splitn(3, '_');
    let id = parts.next()?.parse().ok()?;
    let captures = parts.next()?.parse().ok()?;
    Some((id, captures, format!("{BODY}{}", parts.next()?).into()))
}

/// Whether a function is the body of a closure.
pub(crate) fn is_body(name: &str) -> bool {
    name.starts_with(BODY)
}

/// Whether a pointer works only while its code is held by something else.
pub(crate) fn is_weak(pointer: &FnPtr) -> bool {
    pointer.fn_name().starts_with(WEAK)
}

/// Whether a pointer works only inside its eval: a weak closure, or a function by name alone.
pub(crate) fn is_bound(pointer: &FnPtr) -> bool {
    is_weak(pointer) || !(pointer.fn_name().starts_with(STRONG) || is_native_pointer(pointer))
}

/// The part that the names of two pointers to the same closure have in common, weak or strong.
pub(crate) fn identity(pointer: &FnPtr) -> &str {
    let name = pointer.fn_name();
    name.strip_prefix(WEAK).or_else(|| name.strip_prefix(STRONG)).unwrap_or(name)
}

/// Whether a function name, as it stands in an error, is that of a closure.
pub(crate) fn names_closure(name: &str) -> bool {
    name.starts_with(WEAK) || name.starts_with(STRONG) || name.starts_with(BODY)
}

/// Whether a pointer is to native code. Rhai tells it only in its debug form, `Fn#(..)`.
pub(crate) fn is_native_pointer(pointer: &FnPtr) -> bool {
    use std::fmt::Write;
    /// Takes three bytes and then refuses, so that curried arguments are never written.
    #[derive(Default)]
    struct Head {
        bytes: [u8; 3],
        length: usize,
    }
    impl Write for Head {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            for byte in text.bytes() {
                *self.bytes.get_mut(self.length).ok_or(std::fmt::Error)? = byte;
                self.length += 1;
            }
            Ok(())
        }
    }
    let mut head = Head::default();
    let refused = write!(head, "{pointer:?}");
    refused.is_err() && head.bytes == *b"Fn#"
}
