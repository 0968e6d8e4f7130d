//! What breaks a rule and is known. The lists may only shrink: a new breach fails, and so does a line that is no longer true.
//! `UPDATE_TIDY=1 cargo test --test suite tidy` writes them anew; look at the difference, it may hold new breaches too.

/// Files that are in a loop of imports.
pub(super) const LOOPS: &[&str] = &[
    "cli/mod.rs",
    "cli/modules.rs",
    "cli/prompt.rs",
    "cli/remote/attach.rs",
    "cli/script.rs",
    "cli/serve.rs",
    "config/mod.rs",
    "config/settings.rs",
    "render/value.rs",
    "render/value/walk.rs",
];

/// Files that import from a higher floor of their room.
pub(super) const UPWARDS: &[&str] = &[
];

/// Items of a `mod.rs`.
pub(super) const HELD_BY_FACES: &[&str] = &[
    "cli/mod.rs: Exit",
    "cli/mod.rs: LAST_THREADS",
    "cli/mod.rs: NotStarted",
    "cli/mod.rs: dispatch",
    "cli/mod.rs: host",
    "cli/mod.rs: impl",
    "cli/mod.rs: main",
    "cli/mod.rs: runtime",
    "cli/mod.rs: wait_for",
    "cli/remote/mod.rs: LONGEST",
    "cli/remote/mod.rs: REVISION",
    "cli/remote/mod.rs: Remote",
    "cli/remote/mod.rs: RemoteError",
    "cli/remote/mod.rs: ToolAnswer",
    "cli/remote/mod.rs: impl",
    "cli/remote/mod.rs: read",
    "cli/remote/mod.rs: understand",
    "cli/remote/mod.rs: unknown",
    "config/mod.rs: Config",
    "config/mod.rs: DEFAULT_SCRIPTS",
    "config/mod.rs: LIMITS",
    "config/mod.rs: Options",
    "config/mod.rs: Problem",
    "config/mod.rs: Problems",
    "config/mod.rs: argument",
    "config/mod.rs: impl",
    "render/teach/mod.rs: DESCRIBE",
    "render/teach/mod.rs: FunctionDoc",
    "render/teach/mod.rs: REFERENCE",
    "render/teach/mod.rs: Tool",
    "render/teach/mod.rs: Variant",
    "render/teach/mod.rs: brief",
    "render/teach/mod.rs: doc",
    "render/teach/mod.rs: impl",
    "render/teach/mod.rs: instructions",
    "render/teach/mod.rs: manual",
    "render/teach/mod.rs: no_doc",
    "render/teach/mod.rs: reference",
    "render/teach/mod.rs: tool_description",
    "render/teach/mod.rs: tool_title",
];

/// Internals of the language that are named outside their room.
pub(super) const INTERNALS_NAMED: &[&str] = &[
];

/// Names that a file takes from the face of its own room or folder.
pub(super) const THROUGH_OWN_FACE: &[&str] = &[
];
