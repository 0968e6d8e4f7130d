//! The frame of every function that scripts call: the table it is registered in, who calls it, and how it reads seconds.

use crate::base::Owner;
use crate::engine::{Api, Fallible, Task, fail, terminated, value_type};
use crate::host::core::active::ActiveEntry;
use crate::host::core::host_core::HostCore;
use crate::host::run::hooks::Services;
use crate::render::teach::FunctionDoc;
use rhai::{Dynamic, NativeCallContext};
use std::sync::Arc;
use std::time::Duration;

/// The functions under construction.
#[derive(Default)]
pub(super) struct Table {
    pub(super) api: Api,
    pub(super) docs: Vec<FunctionDoc>,
}

impl Table {
    /// Describes a function (or a property of entries): its name, its overloads as they are called, and its doc comment.
    pub(super) fn doc(&mut self, name: &str, signatures: &[&str], doc: &str) {
        self.docs.push(FunctionDoc {
            name: name.to_owned(),
            signatures: signatures.iter().map(|&s| s.to_owned()).collect(),
            doc: doc.trim().to_owned(),
        });
    }
}

/// A call of one of the functions: the host, and the entry that calls.
pub(super) struct Call {
    pub(super) host: Arc<HostCore>,
    pub(super) task: Arc<Task>,
    /// The entry it serves.
    pub(super) active: Arc<ActiveEntry>,
}

impl Call {
    /// The call that Rhai makes just now.
    pub(super) fn of(context: &NativeCallContext<'_>) -> Fallible<Self> {
        let task = Task::of(context);
        let host = task.services::<Services>().and_then(|services| services.host()).ok_or_else(terminated)?;
        let active = host.active(task.id()).ok_or_else(terminated)?;
        Ok(Self { host, task, active })
    }

    /// The owner of the entry that calls.
    pub(super) fn owner(&self) -> Owner {
        self.active.owner
    }
}

/// A number of seconds as a script gives it, as a duration of at most a day.
pub(super) fn seconds(value: &Dynamic) -> Fallible<Duration> {
    let longest = 86_400.0;
    let secs = match (value.as_float(), value.as_int()) {
        (Ok(secs), _) => secs,
        #[expect(clippy::cast_precision_loss, reason = "cut to a day right below")]
        (_, Ok(secs)) => secs as f64,
        _ => return Err(fail("BadArgument", format!("seconds are a number, not {}", value_type(value)))),
    };
    if secs.is_nan() || secs < 0.0 {
        return Err(fail("BadArgument", format!("seconds are 0 or more, not {secs}")));
    }
    Ok(Duration::from_secs_f64(secs.clamp(0.0, longest)))
}
