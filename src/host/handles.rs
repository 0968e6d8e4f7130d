//! Entries as values of the language: what stands behind an [`EntryHandle`], and how handles, atoms and closures are shown.

use super::inner::Inner;
use super::kept::{End, Kept};
use crate::engine::{Atom, EntryHandle, EntryOps};
use crate::render::Shown;
use crate::render::answer::{EntryFacts, entry_line};
use crate::render::value::{EntryEnd, EntryShown};
use crate::state::EntryView;
use crate::words::{EntryId, Refusal};
use rhai::{Dynamic, FnPtr};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// What stands behind a handle: the host, and the facts as they were last known. After the entry was evicted they still answer.
pub(super) struct Known {
    host: Weak<Inner>,
    facts: Mutex<EntryView>,
}

impl EntryOps for Known {}

impl Known {
    /// The facts, as fresh as they can be had.
    pub(super) fn facts(&self) -> EntryView {
        let mut facts = self.facts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(host) = self.host.upgrade()
            && let Ok(fresh) = host.state().get(facts.id, host.clock.now())
        {
            *facts = fresh;
        }
        facts.clone()
    }
}

impl Inner {
    /// The handle of an entry that is there.
    pub(super) fn handle(self: &Arc<Self>, id: EntryId) -> Result<EntryHandle, Refusal> {
        let facts = self.state().get(id, self.clock.now())?;
        Ok(EntryHandle::new(id, Arc::new(Known { host: Arc::downgrade(self), facts: Mutex::new(facts) })))
    }

    /// How a value that only the host knows is shown. `reader` is the entry whose value is rendered.
    pub(super) fn show(self: &Arc<Self>, value: &Dynamic, reader: Option<EntryId>) -> Option<Shown> {
        if let Some(handle) = value.read_lock::<EntryHandle>() {
            return Some(Shown::Entry(self.show_entry(&handle, reader)));
        }
        if let Some(atom) = value.read_lock::<Atom>() {
            return Some(match crate::engine::outside::peek(&atom) {
                Some(inside) => Shown::Around("atom".to_owned(), inside),
                None => Shown::Text("<atom, owned by a swap>".to_owned()),
            });
        }
        if let Some(function) = value.read_lock::<FnPtr>() {
            return Some(Shown::Closure(crate::engine::outside::closure_parameters(&function)));
        }
        super::functions::show(value)
    }

    fn show_entry(&self, handle: &EntryHandle, reader: Option<EntryId>) -> EntryShown {
        let id = handle.id();
        let now = self.clock.now();
        let (facts, kept) = {
            let state = self.state();
            (state.get(id, now), state.value(id))
        };
        let gone = match (&facts, &kept) {
            (Err(_), _) => Some("evicted"),
            (_, Err(Refusal::Forgotten(_))) => Some("forgotten"),
            _ => None,
        };
        let Some(facts) = facts.ok().or_else(|| handle.ops::<Known>().map(Known::facts)) else {
            return EntryShown { line: format!("entry {id}"), end: EntryEnd::Open };
        };
        let line = entry_line(&EntryFacts { id, status: facts.status, time: facts.ran, by: facts.by.as_deref(), gone });
        let end = match kept.ok().flatten() {
            None => EntryEnd::Open,
            Some(Kept { face, values }) => match &face.end {
                End::Value(_) => EntryEnd::Value(values.value.clone()),
                End::Failed(failure) => EntryEnd::Failed(Arc::clone(failure)),
                End::Cancelled(_) => EntryEnd::Open,
            },
        };
        if let (Some(reader), true) = (reader, !matches!(end, EntryEnd::Open) || facts.status.is_settled()) {
            self.state().read_by_script(reader, id);
        }
        EntryShown { line, end }
    }
}
