//! Scripts that a command line runs: from a file or an argument, as the nil caller, with their output followed live.

use super::host::HostApi;
use super::wait::Awaited;
use crate::base::{EntryId, Failure, Owner, Refusal, Status};
use crate::engine::{Batch, Change, SpaceView};
use crate::host::types::EvalRequest;
use crate::render::EndText;
use crate::render::{self, Style};
use rhai::Dynamic;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A script to evaluate as the nil caller, from a file or a command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// The code.
    pub code: String,
    /// The file it is from, as failures shall name it; `None` for code without a file.
    pub file: Option<String>,
    /// The constant `ARGS`, when it shall be there.
    pub arguments: Option<Vec<String>>,
}

/// A script that was admitted and is read to its end by whoever holds this: nothing evicts its entry meanwhile. The script runs on
/// when this is dropped.
#[derive(Debug)]
#[must_use = "dropping this says that nobody will read how the script ends"]
pub struct SubmittedScript {
    host: HostApi,
    id: EntryId,
    /// The file it is from.
    file: Option<String>,
    _awaited: Awaited,
}

/// Lines that an entry printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// The lines, oldest first, as a terminal may show them.
    pub lines: Vec<String>,
    /// The number of the line after them.
    pub next: usize,
}

/// How an entry ended, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// One of the settled ones.
    pub status: Status,
    /// The value, or why there is none; empty for the value `()`. Without output and footer.
    pub text: String,
}

impl HostApi {
    /// Admits a script of the nil caller and lets it run. Returns at once.
    ///
    /// # Errors
    /// As [`HostApi::submit`].
    pub fn submit_script(&self, script: Script) -> Result<SubmittedScript, Refusal> {
        if let Some(arguments) = script.arguments {
            self.set_arguments(arguments)?;
        }
        let submitted = self.submit(Owner::Local, &EvalRequest::new(script.code))?;
        let id = submitted.id();
        let awaited = Awaited::begin(&self.core, [id]);
        Ok(SubmittedScript { host: self.clone(), id, file: script.file, _awaited: awaited })
    }

    /// Puts the constant `ARGS` into the nil caller's scratch.
    fn set_arguments(&self, arguments: Vec<String>) -> Result<(), Refusal> {
        let place = self.core.registry().target_space(Owner::Local, None)?;
        let space = self.core.space(place.space, &place.name);
        let bytes = arguments.iter().map(String::len).sum();
        let value: Dynamic = arguments.into_iter().map(Dynamic::from).collect::<rhai::Array>().into();
        let change = Change {
            name: "ARGS".into(),
            value: Arc::new(value),
            constant: true,
            bytes,
            live: false,
            base: 0,
            captured: false,
        };
        let batch = Batch { entry: EntryId(0), changes: vec![change], resized: Vec::new(), imports: Vec::new() };
        space.commit(batch).map(drop).map_err(|_| Refusal::NoSuchSpace { name: place.name.to_string() })
    }

    /// The output of an entry from line `from` (counted from 0) on, as soon as there is something; `None` when it has settled
    /// and there is nothing more. Cheap to drop.
    pub async fn printed(&self, id: EntryId, from: usize) -> Option<Printed> {
        let log = self.core.log(id).ok()?;
        loop {
            let active = self.core.active(id);
            let changed = active.as_ref().map(|active| active.changed.notified());
            tokio::pin!(changed);
            // Listening begins before the log is looked at, so nothing is missed.
            if let Some(changed) = changed.as_mut().as_pin_mut() {
                changed.enable();
            }
            let page = log.page(u64::try_from(from).unwrap_or(u64::MAX), usize::MAX);
            if !page.lines.is_empty() {
                let lines: Vec<_> = page.lines.iter().map(render::output::line).collect();
                let first = usize::try_from(page.first).unwrap_or(usize::MAX);
                return Some(Printed { next: first + lines.len(), lines });
            }
            if active.as_ref().is_none_or(|active| active.is_settled()) {
                return None;
            }
            if let Some(changed) = changed.as_pin_mut() {
                changed.await;
            }
        }
    }
}

impl SubmittedScript {
    /// The entry.
    pub fn id(&self) -> EntryId {
        self.id
    }

    /// How the script ended, once it has settled.
    ///
    /// # Errors
    /// `Forgotten`.
    pub fn ended(&self, style: Style) -> Result<Ended, Refusal> {
        let id = self.id;
        let (status, kept) = {
            let registry = self.host.core.registry();
            (registry.status(id)?, registry.value(id)?)
        };
        let text = match kept.as_ref().map(|kept| &kept.summary.end) {
            Some(EndText::Value(rendered)) if rendered.text == "()" => String::new(),
            Some(EndText::Value(rendered)) => rendered.text.clone(),
            Some(EndText::Failed(failure)) => {
                let failure = in_file(failure, id, self.file.as_deref());
                render::failure::text(&failure, None, style)
            }
            Some(EndText::Cancelled(_)) | None => render::notice::cancelled(id),
        };
        Ok(Ended { status, text })
    }

    /// Background work that ends unfinished when the process ends with this script, once it has settled: its children that were
    /// cancelled when it settled, and whatever has not settled by now.
    pub fn unfinished(&self) -> Vec<EntryId> {
        let active = self.host.core.active_ids();
        let registry = self.host.core.registry();
        let kept = registry.value(self.id).ok().flatten();
        let cancelled = kept.iter().flat_map(|kept| &kept.summary.cancelled_children).copied();
        let at_work = |id: &EntryId| matches!(registry.status(*id), Ok(Status::Queued | Status::Running));
        let unfinished: BTreeSet<_> = cancelled.chain(active.into_iter().filter(at_work)).collect();
        unfinished.into_iter().collect()
    }
}

/// The failure as somebody who knows the file wants to read it.
fn in_file(failure: &Failure, id: EntryId, file: Option<&str>) -> Failure {
    let mut failure = failure.clone();
    if let Some(file) = file {
        let own = format!("eval {id}");
        let rename = |source: &mut String| {
            if *source == own || source.is_empty() {
                file.clone_into(source);
            }
        };
        rename(&mut failure.source);
        failure.frames.iter_mut().for_each(|frame| rename(&mut frame.source));
    }
    failure
}
