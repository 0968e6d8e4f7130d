//! The session of the prompt: everything that somebody at the terminal of this process may ask, as the nil caller.

use super::answers::Shows;
use super::host::{HostApi, Submitted};
use crate::base::{EntryId, Owner, Refusal, Status, Wake};
use crate::host::names::{ModuleKind, ModuleNames, Names, Signature};
use crate::host::types::{Answer, OutputPage};
use crate::registry::{EntryFilter, SpaceKind};
use crate::render::{Style, Tail, answer, lists, output};
use crate::spaces::library::ModuleOutline;
use std::sync::Arc;

/// Lines of output on one page, when nobody says how many.
const PAGE: usize = 100;

/// A session of the prompt. While it lives, work of the nil caller that settles is owed to it as news.
#[derive(Debug)]
pub struct PromptSession {
    host: HostApi,
    style: Style,
}

impl HostApi {
    /// Somebody sits down at the prompt and wants texts in this style.
    pub fn open_prompt(&self, style: Style) -> PromptSession {
        self.core.set_prompt(Some(style));
        PromptSession { host: self.clone(), style }
    }
}

impl Drop for PromptSession {
    fn drop(&mut self) {
        self.host.core.set_prompt(None);
    }
}

impl PromptSession {
    /// Is notified whenever an entry has settled, so that there may be news.
    pub fn settled(&self) -> &Wake {
        &self.host.core.ends
    }

    /// The answer to an eval that was waited for, without its output when that was shown while it was printed.
    pub fn answer(&self, submitted: Submitted, output_shown: bool) -> Answer {
        let shows = if output_shown { Shows::NoOutput } else { Shows::All };
        self.host.answer_submitted(Owner::Local, submitted, shows)
    }

    /// One entry as it stands, with value and output.
    pub fn entry(&self, id: EntryId) -> Answer {
        self.host.answer_await(Owner::Local, &[id.0])
    }

    /// News of settled work and of evictions; `None` when there is none.
    pub fn news(&self) -> Option<Answer> {
        let core = &self.host.core;
        let now = core.clock.now();
        let (delivery, claim, settled) = {
            let mut registry = core.registry();
            let claim = registry.claim_news(Owner::Local, now);
            if claim.settled.is_empty() && claim.evicted.is_empty() {
                registry.dropped(claim.id);
                return None;
            }
            // What is owed as news is not evicted before it was told.
            let settled: Vec<_> = claim.settled.iter().filter_map(|(id, _)| registry.get(*id, now).ok()).collect();
            (self.host.claimed(claim.id), claim, settled)
        };
        let mut lines: Vec<_> =
            settled.iter().map(|view| lists::settled(view.id, view.status, view.ran, &view.code, self.style)).collect();
        if !claim.evicted.is_empty() {
            let tail = Tail { evicted: &claim.evicted, ..Tail::default() };
            lines.push(answer::tail(&tail, self.style).trim_start().to_owned());
        }
        Some(Answer { text: lines.join("\n"), is_error: false, delivery })
    }

    /// Up to `most` lines that an entry printed, beginning with line `from`.
    ///
    /// # Errors
    /// `NoEntry`, `Evicted`.
    pub fn page(&self, id: EntryId, from: usize, most: usize) -> Result<OutputPage, Refusal> {
        let (status, log) = {
            let registry = self.host.core.registry();
            // The status first: what was printed before the end is there when the end is seen.
            (registry.status(id)?, registry.log(id)?)
        };
        let page = log.page(u64::try_from(from).unwrap_or(u64::MAX), most);
        let count = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let lines = page.lines.iter().map(output::line).collect();
        Ok(OutputPage { status, first: count(page.first), skipped_are_kept: false, lines, total: count(page.total) })
    }

    /// The output of an entry as a list: head and tail, or `count` lines beginning with line `from`.
    ///
    /// # Errors
    /// `NoEntry`, `Evicted`.
    pub fn output(&self, id: EntryId, from: Option<usize>, count: Option<usize>) -> Result<String, Refusal> {
        let log = {
            let mut registry = self.host.core.registry();
            let log = registry.log(id)?;
            registry.look(id);
            log
        };
        let Some(from) = from else {
            let shown = output::Output {
                lines: &log.head_tail(output::ROOM),
                room: output::ROOM,
                dropped: log.dropped_lines(),
            };
            if !shown.is_empty() {
                return Ok(output::block(&shown, id, self.style));
            }
            return Ok(lists::output(&log.page(0, 0), self.style));
        };
        let page = log.page(u64::try_from(from).unwrap_or(u64::MAX), count.unwrap_or(PAGE));
        Ok(lists::output(&page, self.style))
    }

    /// The entries of everybody, or those that stand so.
    pub fn evals(&self, status: Option<Status>) -> String {
        let core = &self.host.core;
        let views = core.registry().entries(EntryFilter { status, owner: None }, core.clock.now());
        let rows: Vec<_> = views
            .iter()
            .map(|view| lists::EvalRow {
                id: view.id,
                status: view.status,
                by: view.by.as_deref().map(str::to_owned),
                ns: view.ns.to_string(),
                time: view.ran,
                lines: usize::try_from(view.lines).unwrap_or(usize::MAX),
                code: view.code.to_string(),
                parent: view.parent,
            })
            .collect();
        lists::evals(&rows, self.style)
    }

    /// The roster.
    pub fn sessions(&self) -> String {
        let core = &self.host.core;
        let rows = core.registry().sessions(core.clock.now());
        lists::sessions(&rows, self.style)
    }

    /// The sessions that are here and the evals that have not ended, which would all end with the process; `None` without any.
    pub fn ended_by_leaving(&self) -> Option<String> {
        let core = &self.host.core;
        let now = core.clock.now();
        let (sessions, entries) = {
            let mut registry = core.registry();
            (registry.sessions(now), registry.entries(EntryFilter { status: None, owner: None }, now))
        };
        let live: Vec<_> = entries.iter().filter(|view| !view.status.is_settled()).collect();
        if sessions.is_empty() && live.is_empty() {
            return None;
        }
        let evals = live.iter().map(|view| (view.id, view.by.as_deref(), &*view.code));
        Some(lists::ended_by_leaving(&sessions, &evals.collect::<Vec<_>>()))
    }

    /// The spaces and what they hold.
    pub fn spaces(&self) -> String {
        let core = &self.host.core;
        let here = core.registry().current(Owner::Local).unwrap_or_default();
        lists::spaces(&core.space_rows(), &here, self.style)
    }

    /// The space or module the next eval takes place in, and whether it is the caller's own scratch.
    pub fn place(&self) -> (String, bool) {
        let registry = self.host.core.registry();
        let name = registry.current(Owner::Local).map(|name| name.to_string()).unwrap_or_default();
        let own =
            registry.spaces().iter().any(|row| *row.name == *name && row.kind == SpaceKind::Scratch(Owner::Local));
        (name, own)
    }

    /// Moves to a space or module; a space that is not there is made by the next eval.
    ///
    /// # Errors
    /// `BadName`, `ForeignScratch`, `TooManySpaces`.
    pub fn enter(&self, name: &str) -> Result<String, Refusal> {
        let module = self.host.core.library.find(name).map(|module| module.to_string());
        let mut registry = self.host.core.registry();
        if module.is_none() {
            registry.may_enter(Owner::Local, name)?;
        }
        let name = module.unwrap_or_else(|| name.to_owned());
        registry.move_session(Owner::Local, &name);
        Ok(name)
    }

    /// The docs of a function or a module.
    ///
    /// # Errors
    /// A sentence: nothing is known, or the module is broken.
    pub fn doc(&self, name: &str) -> Result<String, String> {
        self.host.core.documentation(name)
    }

    /// Signatures, as they are written, of the functions that any code calls by their bare name; operators and properties too.
    pub fn signatures(&self) -> Vec<String> {
        self.signatures_of(None)
    }

    /// Signatures of the native functions of one module of the program, or of none.
    fn signatures_of(&self, module: Option<&str>) -> Vec<String> {
        let facts = self.host.core.runtime.functions().iter();
        let of = facts.filter(|facts| !facts.hidden && facts.module.as_deref() == module);
        of.map(|facts| facts.signature.clone()).collect()
    }

    /// The names that can be typed here.
    pub fn names(&self) -> Names {
        let core = &self.host.core;
        let (place, here, spaces) = {
            let registry = core.registry();
            let spaces = registry.spaces();
            let place = registry.current(Owner::Local).map(|name| name.to_string()).unwrap_or_default();
            let here = spaces.iter().find(|row| *row.name == *place).map(|row| row.space);
            let open = spaces.into_iter().filter(|row| !matches!(row.kind, SpaceKind::Scratch(Owner::Session(_))));
            (place, here, open.map(|row| row.name.to_string()).collect())
        };
        // A place is a space, or a module: one in which nothing was evaluated yet has its outline only.
        let space = match here {
            Some(id) => core.known_space(id),
            None => core.known_module_space(&place),
        };
        let inside = match (&space, here) {
            (Some(space), _) => Some(Arc::new(ModuleOutline::of_space(space))),
            (None, Some(_)) => None,
            (None, None) => core.outline(&place).ok(),
        };
        let mut functions = self.signatures();
        functions.extend(inside.iter().flat_map(|inside| &inside.functions).map(|f| f.signature.clone()));
        let embedded = core.native.names().map(|name| ModuleNames {
            name: name.to_owned(),
            kind: ModuleKind::Embedded,
            functions: Signature::parse_all(&self.signatures_of(Some(name))),
            constants: Vec::new(),
        });
        let script_modules = core.library.names();
        let scripts = script_modules.iter().map(|name| self.module_names(name, ModuleKind::Script, name));
        let imports = space.iter().flat_map(|space| space.imports());
        let imports = imports.map(|(alias, name)| self.module_names(&alias, ModuleKind::Import, &name));
        Names {
            variables: inside.iter().flat_map(|inside| &inside.constants).map(|c| c.name.clone()).collect(),
            functions: Signature::parse_all(&functions),
            modules: embedded.chain(scripts).chain(imports).collect(),
            spaces,
        }
    }

    /// The names in the module `module`, known as `name`. One that does not compile can be named all the same.
    fn module_names(&self, name: &str, kind: ModuleKind, module: &str) -> ModuleNames {
        let outline = self.host.core.outline(module).unwrap_or_default();
        ModuleNames {
            name: name.to_owned(),
            kind,
            functions: Signature::parse_all(outline.public().map(|f| &f.signature)),
            constants: outline.constants.iter().map(|c| c.name.clone()).collect(),
        }
    }
}
