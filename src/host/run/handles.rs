//! Entries as values in Rhai: their handles, and how handles, atoms and closures are shown.

use crate::base::{EntryId, Refusal, Status};
use crate::engine::{Atom, EntryHandle, sequence_text};
use crate::host::core::handle_facts::HandleFacts;
use crate::host::core::host_core::HostCore;
use crate::host::core::settled::SettledEntry;
use crate::render::answer::{entry_facts, entry_line, set_before};
use crate::render::value::{Ask, EntryEnd, EntryShown};
use crate::render::{EndText, Shown};
use rhai::{Dynamic, FnPtr};
use std::sync::Arc;

impl HostCore {
    /// The handle of an entry that is there.
    pub(in crate::host) fn handle(self: &Arc<Self>, id: EntryId) -> Result<EntryHandle, Refusal> {
        // Asked for first: an entry that settles in between is one that has settled already.
        let active = self.active(id);
        let facts = self.registry().get(id, self.clock.now())?;
        let host = Arc::downgrade(self);
        let ask = move |id| host.upgrade().and_then(|host| host.registry().get(id, host.clock.now()).ok());
        let make = || Arc::new(HandleFacts::new(facts, ask));
        let shared = match active {
            Some(active) => {
                let shared = active.facts_or(make);
                // It may have settled before it knew of this handle.
                shared.facts();
                shared
            }
            None => make(),
        };
        Ok(EntryHandle::new(id, shared))
    }

    /// How a value that only the host knows is shown. `reader` is the entry whose value is rendered.
    pub(in crate::host) fn show(self: &Arc<Self>, value: &Dynamic, reader: Option<EntryId>) -> Option<Shown> {
        if let Some(handle) = value.read_lock::<EntryHandle>() {
            return Some(Shown::Entry(self.show_entry(&handle, reader)));
        }
        if let Some(atom) = value.read_lock::<Atom>() {
            return Some(match atom.value() {
                Some(value) => Shown::Around("atom".to_owned(), value),
                None => Shown::Text("atom(in use)".to_owned()),
            });
        }
        if let Some(function) = value.read_lock::<FnPtr>() {
            return Some(match self.runtime.parameters(&function) {
                Some(parameters) => Shown::Closure(parameters),
                None => Shown::Text(format!("Fn({})", function.fn_name())),
            });
        }
        if let Some(text) = sequence_text(value) {
            return Some(Shown::Text(text));
        }
        (self.show_custom)(value)
    }

    fn show_entry(self: &Arc<Self>, handle: &EntryHandle, reader: Option<EntryId>) -> EntryShown {
        let id = handle.id();
        let now = self.clock.now();
        let (facts, gone, log) = {
            let registry = self.registry();
            let gone = match registry.value(id) {
                Err(Refusal::Forgotten(_)) => Some("forgotten"),
                Err(_) => Some("evicted"),
                Ok(_) => None,
            };
            (registry.get(id, now).ok(), gone, registry.log(id).ok())
        };
        let Some(facts) = facts.or_else(|| handle.ops::<HandleFacts>().map(HandleFacts::facts)) else {
            let line = format!("entry {id}");
            return EntryShown { facts: line.clone(), line, end: EntryEnd::Open };
        };
        let own = reader.and_then(|id| self.active(id)).map(|active| active.owner);
        let line = entry_line(&facts, facts.by.as_deref().filter(|_| own != Some(facts.owner)), gone);
        let dropped = log.map_or(0, |log| log.dropped_lines());
        let facts = entry_facts(&facts, gone, dropped);
        // Asked only where the end is shown, which reads it; inside a container it is not.
        let host = Arc::clone(self);
        EntryShown { line, facts, end: EntryEnd::Ask(Ask::new(move || host.end_shown(id, reader))) }
    }

    /// How an entry ended, to be shown in the value of `reader`: which has read it then.
    fn end_shown(&self, id: EntryId, reader: Option<EntryId>) -> EntryEnd {
        let kept = {
            let mut registry = self.registry();
            if let Some(reader) = reader
                && registry.status(id).is_ok_and(Status::is_settled)
            {
                registry.read_by_script(reader, id);
            }
            registry.value(id).ok().flatten()
        };
        match kept {
            None => EntryEnd::Open,
            Some(SettledEntry { summary, values }) => match &summary.end {
                EndText::Value(_) => EntryEnd::Value(values.value.clone()),
                EndText::Failed(failure) => {
                    EntryEnd::Stopped { set: set_before(&summary.committed), failure: Some(Arc::clone(failure)) }
                }
                EndText::Cancelled(_) => EntryEnd::Stopped { set: set_before(&summary.committed), failure: None },
            },
        }
    }
}
