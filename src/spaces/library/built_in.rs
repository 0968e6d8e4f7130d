//! The script modules that come with the program, in every folder and without one. Knows no files.

use super::name::ModuleName;

/// A module's name and its text.
pub(crate) type BuiltIn = (&'static str, &'static str);

macro_rules! scripts {
    ($($(#[$when:meta])* $name:literal)*) => {
        &[$($(#[$when])* ($name, include_str!(concat!("../../../scripts/", $name, ".rhai")))),*]
    };
}

/// The modules that come with the program, sorted by name.
pub(crate) const BUILT_IN: &[BuiltIn] = scripts! {
    "patterns/fan_out_and_gather"
    "patterns/first_of_several"
    "patterns/hand_over"
    "patterns/poll_and_read"
    "patterns/retry_with_backoff"
    "patterns/watch_and_cancel"
    // Its figures come from the library.
    #[cfg(feature = "library")]
    "stats"
    "table"
    "text"
};

/// The text of one of `modules`.
pub(crate) fn text_of(modules: &[BuiltIn], name: &str) -> Option<&'static str> {
    modules.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// The names of `modules`.
pub(super) fn names_of(modules: &[BuiltIn]) -> impl Iterator<Item = ModuleName> {
    modules.iter().filter_map(|(name, _)| ModuleName::parse(name).ok())
}
