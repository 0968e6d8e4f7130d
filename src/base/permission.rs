//! Permissions: what scripts may reach outside of the process, as plain values. Which files and variables they mean is found out
//! elsewhere; here is only how they are written.

use super::ids::EntryId;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// A kind of permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum PermissionKind {
    /// To read files and list folders.
    Read,
    /// To write, rename and remove files.
    Write,
    /// To read variables of the environment.
    Env,
}

impl PermissionKind {
    /// Every kind, in the order in which they are shown.
    pub(crate) const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Env];

    /// The word for it, in scripts and rules: `read`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Env => "env",
        }
    }

    /// The kind that a word stands for.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

impl fmt::Display for PermissionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a script is about to reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// The kind of permission that is needed.
    pub kind: PermissionKind,
    /// What is to be reached: a path as the script wrote it, a name.
    pub what: String,
    /// The entry that asks.
    pub entry: EntryId,
}

/// The answer of a program that decides for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Go ahead.
    Allow,
    /// The script gets an error it can catch.
    Refuse,
}

/// Why permissions cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermissionError(pub(crate) String);

impl fmt::Display for PermissionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PermissionError {}

/// What scripts may reach outside of the process. Nothing, unless it is said.
///
/// ```
/// use remontoire::Permissions;
///
/// let permissions = Permissions::none().read("data").write("data/out").env("LANG")?;
/// assert_eq!(permissions, "read=data write=data/out env=LANG".parse()?);
/// # Ok::<_, remontoire::PermissionError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    pub(crate) read: Vec<PathBuf>,
    pub(crate) write: Vec<PathBuf>,
    pub(crate) env: Vec<EnvRule>,
    pub(crate) all: bool,
}

impl Permissions {
    /// Nothing is allowed.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Everything is allowed.
    #[must_use]
    pub fn all() -> Self {
        Self { all: true, ..Self::default() }
    }

    /// A file or a folder, with all that is in it, may be read. It must be there when the host is built.
    #[must_use]
    pub fn read(mut self, path: impl Into<PathBuf>) -> Self {
        self.read.push(path.into());
        self
    }

    /// A file or a folder, with all that is in it, may be written. It must be there when the host is built.
    #[must_use]
    pub fn write(mut self, path: impl Into<PathBuf>) -> Self {
        self.write.push(path.into());
        self
    }

    /// A variable of the environment may be read: `LANG`, or `APP_*` for all that begin so.
    ///
    /// # Errors
    /// What is no name of a variable.
    pub fn env(mut self, name: &str) -> Result<Self, PermissionError> {
        self.env.push(EnvRule::parse(name)?);
        Ok(self)
    }

    /// Whether nothing is allowed.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// One rule more, as `KIND=WHAT,WHAT` or `all` says it.
    pub(crate) fn add(self, kind: PermissionKind, what: &str) -> Result<Self, PermissionError> {
        if what.trim().is_empty() {
            return Err(PermissionError(format!("say what may be reached: {kind}={}", example(kind))));
        }
        match kind {
            PermissionKind::Read => Ok(self.read(what)),
            PermissionKind::Write => Ok(self.write(what)),
            PermissionKind::Env => self.env(what),
        }
    }
}

/// A rule of this kind as an example.
pub(crate) const fn example(kind: PermissionKind) -> &'static str {
    match kind {
        PermissionKind::Read => "./src",
        PermissionKind::Write => "./out",
        PermissionKind::Env => "LANG",
    }
}

impl FromStr for Permissions {
    type Err = PermissionError;

    /// Reads rules between spaces: `read=./src,./doc write=./out env=LANG`, or `all`; each may begin with `--allow-`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut permissions = Self::none();
        for rule in text.split_whitespace() {
            let bare = rule.strip_prefix("--allow-").unwrap_or(rule);
            if bare == "all" {
                permissions.all = true;
                continue;
            }
            let (word, rest) = bare.split_once('=').unwrap_or((bare, ""));
            let kind = PermissionKind::from_word(word)
                .ok_or_else(|| PermissionError(format!("`{rule}` is no rule; one looks like read=./src")))?;
            for what in rest.split(',') {
                permissions = permissions.add(kind, what)?;
            }
        }
        Ok(permissions)
    }
}

/// Which variables of the environment a rule means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EnvRule {
    name: String,
    is_prefix: bool,
}

impl EnvRule {
    pub(crate) fn parse(text: &str) -> Result<Self, PermissionError> {
        let (name, is_prefix) = text.strip_suffix('*').map_or((text, false), |name| (name, true));
        let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_name(name) {
            return Err(PermissionError(format!(
                "`{text}` names no variable of the environment; one looks like LANG or APP_*"
            )));
        }
        Ok(Self { name: name.to_owned(), is_prefix })
    }

    pub(crate) fn covers(&self, name: &str) -> bool {
        if self.is_prefix { name.starts_with(&self.name) } else { name == self.name }
    }
}

impl fmt::Display for EnvRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.name, if self.is_prefix { "*" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_as_they_are_written() {
        let read: Permissions = "--allow-read=a,b write=c env=LANG,APP_*".parse().unwrap();
        let built = Permissions::none().read("a").read("b").write("c").env("LANG").unwrap().env("APP_*").unwrap();
        assert_eq!(read, built);
        assert!("all".parse::<Permissions>().unwrap().all && "".parse::<Permissions>().unwrap().is_empty());
        for (wrong, word) in [
            ("reed=a", "reed=a"),
            ("read", "read=./src"),
            ("read=a,,b", "read=./src"),
            ("env=A=B", "A=B"),
            ("env=*", "*"),
        ] {
            let error = wrong.parse::<Permissions>().unwrap_err().to_string();
            assert!(error.contains(word), "{wrong}: {error}");
        }
    }

    #[test]
    fn a_rule_of_the_environment_covers_its_names_only() {
        let (one, many) = (EnvRule::parse("LANG").unwrap(), EnvRule::parse("APP_*").unwrap());
        assert!(one.covers("LANG") && !one.covers("LANGUAGE") && !one.covers("lang"));
        assert!(many.covers("APP_KEY") && many.covers("APP_") && !many.covers("APP"));
    }
}
