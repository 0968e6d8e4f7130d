//! Putting a host together.

use super::embed::Host;
use super::host::HostApi;
#[cfg(feature = "tool-fs")]
use crate::base::{Ask, Decision, PermissionError, Permissions};
use crate::base::{Clock, Limits};
use crate::engine::{Runtime, memory, stdlib};
use crate::host::core::host_core::{HostCore, NativeModules, Parts};
use crate::host::functions;
use crate::host::run::hooks;
use crate::render::teach::ModuleAlong;
use crate::spaces::library::{BUILT_IN, Library, ModuleOutline};
use crate::toolkit;
#[cfg(feature = "tool-fs")]
use crate::toolkit::{Gate, Permit};
use rhai::Module;
use std::any::Any;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// Why a host could not be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildError {
    /// The folder of script modules that was asked for is not there, or cannot be read.
    Scripts {
        /// The folder.
        folder: PathBuf,
        /// Why.
        reason: String,
    },
    /// Two modules of the embedding program have one name, or a name that scripts cannot write.
    ModuleName {
        /// The name.
        name: String,
    },
    /// A permission is not usable.
    #[cfg(feature = "tool-fs")]
    Permission(PermissionError),
    /// A limit is not usable.
    Limit {
        /// Which, and why.
        reason: String,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scripts { folder, reason } => {
                write!(f, "the scripts folder {} cannot be read: {reason}", folder.display())
            }
            Self::ModuleName { name } => write!(
                f,
                "`{name}` cannot name an embedded module: letters, digits and `_`, not beginning with a digit, and each name once"
            ),
            #[cfg(feature = "tool-fs")]
            Self::Permission(error) => error.fmt(f),
            Self::Limit { reason } => f.write_str(reason),
        }
    }
}

impl std::error::Error for BuildError {}

/// Builds a [`Host`]. Nothing runs and nothing is bound until the host is used.
#[derive(Debug)]
pub struct HostBuilder {
    describe: String,
    limits: Limits,
    clock: Option<Clock>,
    /// The folder, and whether it must be there.
    scripts: (PathBuf, bool),
    /// Whether the script modules that come with the library are there.
    built_in: bool,
    modules: Vec<(String, Module)>,
    #[cfg(feature = "tool-fs")]
    permissions: Permissions,
    #[cfg(feature = "tool-fs")]
    permit: OwnDecision,
}

/// A program's own decision.
#[cfg(feature = "tool-fs")]
#[derive(Default)]
struct OwnDecision(Option<Permit>);

#[cfg(feature = "tool-fs")]
impl fmt::Debug for OwnDecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "OwnDecision(…)" } else { "None" })
    }
}

impl Host {
    /// Begins a host: `Host::builder().describe("…").build()?`.
    pub fn builder() -> HostBuilder {
        HostBuilder::new()
    }
}

impl HostBuilder {
    fn new() -> Self {
        Self {
            describe: String::new(),
            limits: Limits::default(),
            clock: None,
            scripts: (PathBuf::from("scripts"), false),
            built_in: true,
            modules: Vec::new(),
            #[cfg(feature = "tool-fs")]
            permissions: Permissions::none(),
            #[cfg(feature = "tool-fs")]
            permit: OwnDecision::default(),
        }
    }

    /// Describes this instance in a few words, which are shown to every client and on `/probe`.
    #[must_use]
    pub fn describe(mut self, text: impl Into<String>) -> Self {
        self.describe = text.into();
        self
    }

    /// Adds a native module of the embedding program: scripts call its functions as `name::f()`, without an import. Doc comments of its
    /// functions are shown by `doc("name::f")`.
    #[must_use]
    pub fn module(mut self, name: impl Into<String>, module: impl Into<Module>) -> Self {
        self.modules.push((name.into(), module.into()));
        self
    }

    /// The limits in force; [`Limits::default`] otherwise.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The folder of script modules, over the built-in ones: a file takes the place of a built-in module of its name. It must be there.
    #[must_use]
    pub fn scripts(mut self, folder: impl Into<PathBuf>) -> Self {
        self.scripts = (folder.into(), true);
        self
    }

    /// The folder of script modules, if it is there; `scripts` in the working directory is the default. While it is not there,
    /// there are only the built-in modules.
    #[must_use]
    pub fn scripts_if_any(mut self, folder: impl Into<PathBuf>) -> Self {
        self.scripts = (folder.into(), false);
        self
    }

    /// Leaves out the script modules that come with the library: `stats`, `table`, `text` and `patterns/…`. What they are called is
    /// free then, and there are no script modules but those of the folder.
    #[must_use]
    pub fn without_built_in_modules(mut self) -> Self {
        self.built_in = false;
        self
    }

    /// What scripts may reach outside of the process; nothing otherwise. Files and folders are opened when the host is built.
    #[cfg(feature = "tool-fs")]
    #[must_use]
    pub fn permissions(mut self, permissions: Permissions) -> Self {
        self.permissions = permissions;
        self
    }

    /// Decides about what the permissions do not allow, on the thread of the eval that asks. It must not evaluate anything itself.
    #[cfg(feature = "tool-fs")]
    #[must_use]
    pub fn permit(mut self, decide: impl Fn(&Ask) -> Decision + Send + Sync + 'static) -> Self {
        self.permit = OwnDecision(Some(Box::new(decide)));
        self
    }

    /// The clock everything asks: the machine's by default, one moved by hand in tests.
    #[must_use]
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = Some(clock);
        self
    }

    /// The host.
    ///
    /// # Errors
    /// A named scripts folder that cannot be read, unusable names of modules, unusable limits.
    pub fn build(self) -> Result<Host, BuildError> {
        #[cfg(feature = "tool-fs")]
        let tools: Arc<dyn Any + Send + Sync> =
            Arc::new(Gate::open(&self.permissions, self.permit.0).map_err(BuildError::Permission)?);
        #[cfg(not(feature = "tool-fs"))]
        let tools: Arc<dyn Any + Send + Sync> = Arc::new(());
        let Self { describe, limits, clock, scripts: (folder, must_be_there), built_in, modules, .. } = self;
        check_limits(&limits)?;
        if must_be_there && let Err(error) = std::fs::read_dir(&folder) {
            return Err(BuildError::Scripts { folder, reason: error.to_string() });
        }
        for (at, (name, _)) in modules.iter().enumerate() {
            let well_formed = name.starts_with(|c: char| c.is_alphabetic() || c == '_')
                && name.chars().all(|c| c.is_alphanumeric() || c == '_');
            if !well_formed || modules[..at].iter().any(|(other, _)| other == name) {
                return Err(BuildError::ModuleName { name: name.clone() });
            }
        }
        let embedded: Vec<String> = modules.iter().map(|(name, _)| name.clone()).collect();
        // One of the program takes the place of one that comes along, so that a new name of ours breaks nobody.
        let along = toolkit::modules().into_iter().filter(|(name, _)| !embedded.iter().any(|own| own == name));
        let along: Vec<_> = along.map(|(name, module)| (name.to_owned(), module)).collect();
        let along_names: Vec<String> = along.iter().map(|(name, _)| name.clone()).collect();
        let modules: Vec<_> = modules.into_iter().chain(along).collect();
        let module_docs: Vec<(String, String)> =
            modules.iter().map(|(name, module)| (name.clone(), module.doc().to_owned())).collect();
        let (api, docs) = functions::all::all();
        let runtime = Runtime::new(limits.clone(), stdlib(), api, modules);
        let facts = runtime.functions();
        let native = module_docs
            .iter()
            .map(|(name, doc)| {
                let own: Vec<_> = facts.iter().filter(|f| f.module.as_deref() == Some(name)).cloned().collect();
                ModuleOutline::of_native(name, doc, &own)
            })
            .collect();
        let library = Library::new(folder, if built_in { BUILT_IN } else { &[] }, &limits, native);
        let functions_of = |name: &str| {
            let own = facts.iter().filter(|f| f.module.as_deref() == Some(name)).map(|f| f.name.clone());
            own.collect::<std::collections::BTreeSet<_>>().into_iter().collect()
        };
        let along = along_names.into_iter().map(|name| ModuleAlong { functions: functions_of(&name), name }).collect();
        let natives = NativeModules { program: embedded, along };
        let held_before = memory::installed().then(memory::process_bytes);
        if held_before.is_none() {
            tracing::warn!(
                "the counting allocator is not installed: memory limits of evals are not enforced; add `#[global_allocator] static \
                 ALLOCATOR: remontoire::CountingAllocator = remontoire::CountingAllocator;` to the program"
            );
        }
        let clock = clock.unwrap_or_else(Clock::real);
        let show_custom = functions::all::show;
        let parts =
            Parts { clock, limits, describe, runtime, library, docs, native: natives, tools, held_before, show_custom };
        Ok(Host { api: HostApi { core: HostCore::new(parts, hooks::connect) } })
    }
}

fn check_limits(limits: &Limits) -> Result<(), BuildError> {
    let at_least = [
        ("running", limits.running, 1),
        ("live entries", limits.live_entries, 1),
        ("sessions", limits.sessions, 1),
        ("spaces", limits.spaces, 1),
        ("call depth", limits.call_depth, 8),
        ("memory of an eval", limits.eval_bytes, 1 << 20),
    ];
    for (what, value, least) in at_least {
        if value < least {
            return Err(BuildError::Limit {
                reason: format!("the limit of {what} is {value} and must be at least {least}"),
            });
        }
    }
    Ok(())
}
