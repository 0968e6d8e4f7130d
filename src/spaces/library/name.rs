//! Names of modules: the only way from a script's text to a path below the folder of modules, and which names are near a
//! mistyped one.

use crate::base::ModuleError;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// Longest name, in bytes.
const LONGEST: usize = 200;

/// The name of a script module: segments of letters, digits, `_` and `-`, joined by `/`. Neither absolute nor with a `.`, so
/// what is made from it stays below the folder, links aside.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ModuleName(Arc<str>);

impl ModuleName {
    /// The module with this name, which need not exist.
    ///
    /// # Errors
    ///
    /// [`ModuleError::BadName`].
    pub(crate) fn parse(text: &str) -> Result<Self, ModuleError> {
        let letter = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
        let good = text.len() <= LONGEST && text.split('/').all(|part| !part.is_empty() && part.bytes().all(letter));
        if good { Ok(Self(text.into())) } else { Err(ModuleError::BadName { name: text.to_owned() }) }
    }

    /// The name as scripts write it.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Its file as errors name it, such as `sub/deep.rhai`.
    pub(crate) fn file(&self) -> String {
        format!("{}.rhai", self.0)
    }

    /// Its file, relative to the folder.
    pub(super) fn path(&self) -> PathBuf {
        let mut path: PathBuf = self.0.split('/').collect();
        path.as_mut_os_string().push(".rhai");
        path
    }
}

impl fmt::Display for ModuleName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Up to three of `names` that somebody may have meant by `wanted`, best first.
pub(super) fn near<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let last = |name: &str| name.rsplit('/').next().unwrap_or_default().to_lowercase();
    let mut scored: Vec<_> = names
        .map(|name| {
            let whole = strsim::normalized_damerau_levenshtein(&name.to_lowercase(), &wanted.to_lowercase());
            // Who forgets the folder still means the module.
            let part = strsim::normalized_damerau_levenshtein(&last(name), &last(wanted)) - 0.05;
            (whole.max(part), name)
        })
        .filter(|(score, _)| *score >= 0.6)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    scored.dedup_by(|a, b| a.1 == b.1);
    scored.into_iter().take(3).map(|(_, name)| name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_relative_names_are_names() {
        for good in ["stats", "sub/deep", "a-b_9", "patterns/first_of_several"] {
            assert_eq!(ModuleName::parse(good).map(|n| n.to_string()), Ok(good.to_owned()));
        }
        let long = "x".repeat(LONGEST + 1);
        for bad in [
            "",
            "/",
            "/etc/passwd",
            "a/",
            "a//b",
            "..",
            "../a",
            "a/../b",
            ".",
            "./a",
            "a.rhai",
            "a\\b",
            "C:a",
            "~",
            "é",
            "a b",
            "a\0b",
            &long,
        ] {
            assert!(ModuleName::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_name_is_a_path_and_a_file() {
        let name = ModuleName::parse("sub/deep").unwrap();
        assert_eq!(name.path(), PathBuf::from("sub").join("deep.rhai"));
        assert_eq!(name.file(), "sub/deep.rhai");
    }
}
