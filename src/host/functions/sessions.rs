//! Sessions: the roster, a note on it, and giving up what is owed.

use super::call::{Call, Table};
use crate::base::limits::MOST_NOTE_CHARACTERS;
use crate::base::{EntryId, Owner, StopCause};
use crate::engine::{Fallible, fail};
use crate::registry::Released;
use rhai::{Array, Dynamic, Map, NativeCallContext};

pub(super) fn register(table: &mut Table) {
    const SESSIONS: &str = "
The roster: a row for each live session, `session client note idle entries running peer ns`, and `you: true` on your own.

```rhai
sessions().all(|row| row.idle >= 0) //=> true
```";
    table.doc("sessions", &["sessions()"], SESSIONS);
    table.api.function("sessions", &["array"], SESSIONS, |context: NativeCallContext<'_>| roster(&context));

    const INTRODUCE: &str = "
Puts a note on the roster: what this session is for, in your own words. It goes with the session.

```rhai
introduce(\"reads the logs of staging\");
```";
    table.doc("introduce", &["introduce(text)"], INTRODUCE);
    table.api.function("introduce", &["text: string"], INTRODUCE, |context: NativeCallContext<'_>, text: &str| {
        let call = Call::of(&context)?;
        if text.chars().count() > MOST_NOTE_CHARACTERS {
            return Err(fail("BadArgument", format!("a note has at most {MOST_NOTE_CHARACTERS} characters")));
        }
        call.host.registry().introduce(call.owner(), text.into());
        Ok(())
    });

    const RELEASE: &str = "
Gives up what is still owed to you: your settled unread entries are told no more and may be evicted. `release(true)` also cancels
your running ones, except the eval that speaks, its ancestors and its descendants. Returns what it did.

```rhai
release() //=> #{cancelled: [], released: []}
```";
    table.doc("release", &["release()", "release(true)"], RELEASE);
    table.api.function("release", &["map"], RELEASE, |context: NativeCallContext<'_>| release(&context, false));
    table.api.function("release", &["cancel: bool", "map"], RELEASE, |context: NativeCallContext<'_>, cancel: bool| {
        release(&context, cancel)
    });
}

fn roster(context: &NativeCallContext<'_>) -> Fallible<Array> {
    let call = Call::of(context)?;
    let rows = call.host.registry().sessions(call.host.clock.now());
    let count = |n: usize| Dynamic::from(i64::try_from(n).unwrap_or(i64::MAX));
    Ok(rows
        .into_iter()
        .map(|row| {
            let mut map = Map::new();
            let mut set = |name: &str, value: Dynamic| drop(map.insert(name.into(), value));
            set("session", row.label.to_string().into());
            set("client", row.client.to_string().into());
            set("note", row.note.map_or(Dynamic::UNIT, |note| note.to_string().into()));
            set("idle", row.idle.as_secs_f64().into());
            set("entries", count(row.entries));
            set("running", count(row.running));
            set("peer", row.peer.map_or(Dynamic::UNIT, |peer| peer.to_string().into()));
            set("ns", row.ns.to_string().into());
            if row.session.is_some_and(|session| call.owner() == Owner::Session(session)) {
                set("you", true.into());
            }
            map.into()
        })
        .collect())
}

fn release(context: &NativeCallContext<'_>, cancel: bool) -> Fallible<Map> {
    let call = Call::of(context)?;
    let Released { released, cancelled, stop, dequeued } =
        call.host.registry().release(call.owner(), Some(call.task.id()), cancel, call.host.clock.now());
    call.host.stop_all(&stop, &StopCause::Cancelled);
    call.host.dequeued(&dequeued);
    let ids = |ids: Vec<EntryId>| -> Array {
        ids.into_iter().map(|id| i64::try_from(id.0).unwrap_or(i64::MAX).into()).collect()
    };
    let mut map = Map::new();
    map.insert("released".into(), ids(released).into());
    map.insert("cancelled".into(), ids(cancelled).into());
    Ok(map)
}
