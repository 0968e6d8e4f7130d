//! The functions scripts call, one file a subject. Each is registered with its doc comment, of which the manual is made; every
//! example in those comments is evaluated by a test.

mod channels;
mod entries;
mod numbers;
mod places;
mod sessions;
mod shelf;
mod teaching;
mod work;

use super::hooks::Services;
use super::inner::Inner;
use super::live::Live;
use crate::base::Owner;
use crate::engine::{Api, Fallible, Task, failure, terminated};
use crate::render::Shown;
use crate::render::teach::FunctionDoc;
use rhai::{Dynamic, Module, NativeCallContext};
use std::sync::Arc;
use std::time::Duration;

/// Every function of the host, and what the manual says of them, in its order.
pub(super) fn all() -> (Module, Vec<FunctionDoc>) {
    let mut table = Table::default();
    entries::register(&mut table);
    work::register(&mut table);
    channels::register(&mut table);
    sessions::register(&mut table);
    places::register(&mut table);
    shelf::register(&mut table);
    teaching::register(&mut table);
    numbers::register(&mut table);
    (table.api.build(), table.docs)
}

/// How values of the types defined here are shown.
pub(super) fn show(value: &Dynamic) -> Option<Shown> {
    channels::show(value)
}

/// The functions under construction.
#[derive(Default)]
struct Table {
    api: Api,
    docs: Vec<FunctionDoc>,
}

impl Table {
    /// Describes a function (or a property of entries): its name, its overloads as they are called, and its doc comment.
    fn doc(&mut self, name: &str, signatures: &[&str], doc: &str) {
        self.docs.push(FunctionDoc {
            name: name.to_owned(),
            signatures: signatures.iter().map(|&s| s.to_owned()).collect(),
            doc: doc.trim().to_owned(),
        });
    }
}

/// Who calls, and for which entry.
struct Call {
    host: Arc<Inner>,
    task: Arc<Task>,
    live: Arc<Live>,
}

impl Call {
    fn of(context: &NativeCallContext<'_>) -> Fallible<Self> {
        let task = Task::of(context);
        let host = task.services::<Services>().and_then(|services| services.host()).ok_or_else(terminated)?;
        let live = host.live(task.id()).ok_or_else(terminated)?;
        Ok(Self { host, task, live })
    }

    fn owner(&self) -> Owner {
        self.live.owner
    }
}

/// A number of seconds as a script gives it, as a duration of at most a day.
fn seconds(value: &Dynamic) -> Fallible<Duration> {
    let longest = 86_400.0;
    let secs = match (value.as_float(), value.as_int()) {
        (Ok(secs), _) => secs,
        #[expect(clippy::cast_precision_loss, reason = "cut to a day right below")]
        (_, Ok(secs)) => secs as f64,
        _ => return Err(failure::fail("BadArgument", format!("seconds are a number, not {}", value.type_name()))),
    };
    if secs.is_nan() || secs < 0.0 {
        return Err(failure::fail("BadArgument", format!("seconds are 0 or more, not {secs}")));
    }
    Ok(Duration::from_secs_f64(secs.clamp(0.0, longest)))
}
