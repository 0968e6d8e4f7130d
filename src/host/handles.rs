//! Entries as values of the language: what stands behind an [`EntryHandle`], and how handles, atoms and closures are shown.

use super::inner::Inner;
use super::kept::{End, Kept};
use crate::base::{EntryId, Refusal, lock};
use crate::engine::{Atom, EntryHandle, EntryOps};
use crate::registry::EntryView;
use crate::render::Shown;
use crate::render::answer::{EntryFacts, entry_line};
use crate::render::value::{Ask, EntryEnd, EntryShown};
use rhai::{Dynamic, FnPtr};
use std::sync::{Arc, Mutex, Weak};

/// What stands behind a handle: the host, and the facts as they were last known, at the latest when the entry settled. After it
/// was evicted they still answer.
pub(super) struct Known {
    host: Weak<Inner>,
    facts: Mutex<EntryView>,
}

impl EntryOps for Known {}

impl Known {
    /// The facts, as fresh as they can be had.
    pub(super) fn facts(&self) -> EntryView {
        let mut facts = lock(&self.facts);
        if let Some(host) = self.host.upgrade()
            && let Ok(fresh) = host.state().get(facts.id, host.clock.now())
        {
            *facts = fresh;
        }
        facts.clone()
    }

    /// The facts are these from now on.
    pub(super) fn learn(&self, facts: EntryView) {
        *lock(&self.facts) = facts;
    }
}

impl Inner {
    /// The handle of an entry that is there.
    pub(super) fn handle(self: &Arc<Self>, id: EntryId) -> Result<EntryHandle, Refusal> {
        // Asked for first: an entry that settles in between is one that has settled already.
        let live = self.live(id);
        let facts = self.state().get(id, self.clock.now())?;
        let known = || Arc::new(Known { host: Arc::downgrade(self), facts: Mutex::new(facts) });
        let known = match live {
            Some(live) => {
                let known = live.known(known);
                // It may have settled before it knew of this handle.
                known.facts();
                known
            }
            None => known(),
        };
        Ok(EntryHandle::new(id, known))
    }

    /// How a value that only the host knows is shown. `reader` is the entry whose value is rendered.
    pub(super) fn show(self: &Arc<Self>, value: &Dynamic, reader: Option<EntryId>) -> Option<Shown> {
        if let Some(handle) = value.read_lock::<EntryHandle>() {
            return Some(Shown::Entry(self.show_entry(&handle, reader)));
        }
        if let Some(atom) = value.read_lock::<Atom>() {
            return Some(Shown::Around("atom".to_owned(), atom.get()));
        }
        if let Some(function) = value.read_lock::<FnPtr>() {
            return Some(match self.language.parameters(&function) {
                Some(parameters) => Shown::Closure(parameters),
                None => Shown::Text(format!("Fn({})", function.fn_name())),
            });
        }
        super::functions::show(value)
    }

    fn show_entry(self: &Arc<Self>, handle: &EntryHandle, reader: Option<EntryId>) -> EntryShown {
        let id = handle.id();
        let now = self.clock.now();
        let (facts, gone) = {
            let state = self.state();
            let gone = match state.value(id) {
                Err(Refusal::Forgotten(_)) => Some("forgotten"),
                Err(_) => Some("evicted"),
                Ok(_) => None,
            };
            (state.get(id, now).ok(), gone)
        };
        let Some(facts) = facts.or_else(|| handle.ops::<Known>().map(Known::facts)) else {
            return EntryShown { line: format!("entry {id}"), end: EntryEnd::Open };
        };
        let own = reader.and_then(|id| self.live(id)).map(|live| live.owner);
        let line = entry_line(&EntryFacts {
            id,
            status: facts.status,
            time: facts.ran,
            by: facts.by.as_deref().filter(|_| own != Some(facts.owner)),
            gone,
        });
        // Asked only where the end is shown, which reads it; inside a container it is not.
        let host = Arc::clone(self);
        EntryShown { line, end: EntryEnd::Ask(Ask::new(move || host.end_shown(id, reader))) }
    }

    /// How an entry ended, to be shown in the value of `reader`: which has read it then.
    fn end_shown(&self, id: EntryId, reader: Option<EntryId>) -> EntryEnd {
        let kept = {
            let mut state = self.state();
            if let Some(reader) = reader
                && state.status(id).is_ok_and(crate::base::Status::is_settled)
            {
                state.read_by_script(reader, id);
            }
            state.value(id).ok().flatten()
        };
        match kept {
            None => EntryEnd::Open,
            Some(Kept { face, values }) => match &face.end {
                End::Value(_) => EntryEnd::Value(values.value.clone()),
                End::Failed(failure) => EntryEnd::Failed(Arc::clone(failure)),
                End::Cancelled(_) => EntryEnd::Open,
            },
        }
    }
}
