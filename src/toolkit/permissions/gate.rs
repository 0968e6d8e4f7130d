//! [`Gate`]: what is allowed, asked by everything that reaches outside of the process.

use super::audit::{Audit, Row};
use super::paths::{Place, Roots, anywhere};
use crate::base::permission::EnvRule;
use crate::base::{Ask, Decision, EntryId, PermissionError, PermissionKind, Permissions};
use std::fmt;
use std::sync::{PoisonError, RwLock};

/// A program's own decision about what the rules do not allow.
pub(crate) type Permit = Box<dyn Fn(&Ask) -> Decision + Send + Sync>;

/// What a script may go on with.
pub(super) enum Pass {
    /// A file or folder.
    Place(Place),
    /// A name.
    Name,
}

/// The rules in force, and the record.
pub(crate) struct Gate {
    rules: RwLock<Rules>,
    permit: Option<Permit>,
    pub(super) audit: Audit,
}

#[derive(Default)]
struct Rules {
    read: Roots,
    write: Roots,
    env: Vec<EnvRule>,
    all: bool,
}

impl Gate {
    /// Opens what is allowed.
    ///
    /// # Errors
    /// A file or folder that is not there or cannot be opened.
    pub(crate) fn open(permissions: &Permissions, permit: Option<Permit>) -> Result<Self, PermissionError> {
        let all = permissions.all;
        let rules = Rules {
            read: Roots::open(&permissions.read, all)?,
            write: Roots::open(&permissions.write, all)?,
            env: permissions.env.clone(),
            all,
        };
        Ok(Self { rules: RwLock::new(rules), permit, audit: Audit::default() })
    }

    /// Whether everything is allowed.
    pub(crate) fn allows_all(&self) -> bool {
        self.rules().all
    }

    /// What is allowed of a kind, as it was written.
    pub(crate) fn written(&self, kind: PermissionKind) -> Vec<String> {
        let rules = self.rules();
        match kind {
            PermissionKind::Read => rules.read.written(),
            PermissionKind::Write => rules.write.written(),
            PermissionKind::Env => rules.env.iter().map(ToString::to_string).collect(),
        }
    }

    /// Whether the rules allow something. Asks no program, and leaves no row.
    pub(crate) fn allows(&self, kind: PermissionKind, what: &str) -> bool {
        self.pass(kind, what).is_some()
    }

    /// The names of the environment that may be read, of these.
    pub(crate) fn visible(&self, names: impl Iterator<Item = String>) -> Vec<String> {
        names.filter(|name| self.allows(PermissionKind::Env, name)).collect()
    }

    /// The record of an entry, or of all; the oldest row first.
    pub(crate) fn record(&self, entry: Option<EntryId>) -> Vec<Row> {
        self.audit.rows(entry)
    }

    /// Asks the rules, then the program.
    pub(super) fn ask(&self, ask: &Ask) -> Option<Pass> {
        if let Some(pass) = self.pass(ask.kind, &ask.what) {
            return Some(pass);
        }
        let permit = self.permit.as_ref()?;
        if is_secret(&ask.what) && ask.kind == PermissionKind::Env || permit(ask) == Decision::Refuse {
            return None;
        }
        match ask.kind {
            PermissionKind::Read | PermissionKind::Write => anywhere(&ask.what).map(Pass::Place),
            PermissionKind::Env => Some(Pass::Name),
        }
    }

    fn pass(&self, kind: PermissionKind, what: &str) -> Option<Pass> {
        let rules = self.rules();
        match kind {
            PermissionKind::Read => rules.read.place(what).map(Pass::Place),
            PermissionKind::Write => rules.write.place(what).map(Pass::Place),
            PermissionKind::Env => {
                let covered = rules.all || rules.env.iter().any(|rule| rule.covers(what));
                (covered && !is_secret(what)).then_some(Pass::Name)
            }
        }
    }

    fn rules(&self) -> std::sync::RwLockReadGuard<'_, Rules> {
        self.rules.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Our own settings, which may hold the token, are nobody's business.
fn is_secret(name: &str) -> bool {
    name.starts_with("REMONTOIRE_")
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate").field("all", &self.allows_all()).finish_non_exhaustive()
    }
}
