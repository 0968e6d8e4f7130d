//! What scripts may reach, and what was reached.

use super::call::{Call, Table};
use crate::base::{EntryId, PermissionKind};
use crate::engine::{Fallible, Task, fail, terminated};
use crate::toolkit::{Gate, Row};
use rhai::{Array, Dynamic, Map, NativeCallContext};
use std::sync::Arc;

pub(super) fn register(table: &mut Table) {
    const PERMISSIONS: &str = "
What scripts may reach outside of the process, as the person who started it allowed it: `#{read, write, env, all}`, lists of what was
written behind `--allow-read` and so on. What is not allowed is refused with `NotAllowed`, whose text names the flag.

```rhai
type_of(permissions().read) //=> \"array\"
```";
    table.doc("permissions", &["permissions()"], PERMISSIONS);
    table.api.function("permissions", &["map"], PERMISSIONS, |context: NativeCallContext<'_>| -> Fallible<Map> {
        let gate = gate(&context)?;
        let mut map = Map::new();
        for kind in PermissionKind::ALL {
            let written: Array = gate.written(kind).into_iter().map(Into::into).collect();
            map.insert(kind.as_str().into(), written.into());
        }
        map.insert("all".into(), gate.allows_all().into());
        Ok(map)
    });
    const ALLOWED: &str = "
Whether one thing may be reached: `kind` is `read`, `write` or `env`, `what` a path or a name. Nothing is opened for it.

```rhai
allowed(\"write\", \"/\") //=> false
```";
    table.doc("allowed", &["allowed(kind, what)"], ALLOWED);
    table.api.function(
        "allowed",
        &["kind: string", "what: string", "bool"],
        ALLOWED,
        |context: NativeCallContext<'_>, kind: &str, what: &str| -> Fallible<bool> {
            Ok(gate(&context)?.allows(kind_named(kind)?, what))
        },
    );
    const AUDIT: &str = "
What was reached, allowed or refused: rows `#{entry, at, kind, what, allowed, bytes, ms}`, of one entry or of all, the oldest first, at most the
newest 4,096. `at` is in seconds since the start of the process. Contents are not in it.

```rhai
type_of(audit()) //=> \"array\"
```";
    table.doc("audit", &["audit()", "audit(id)"], AUDIT);
    table.api.function("audit", &["array"], AUDIT, |context: NativeCallContext<'_>| -> Fallible<Array> {
        Ok(gate(&context)?.record(None).into_iter().map(row).collect())
    });
    table.api.function(
        "audit",
        &["id: int", "array"],
        AUDIT,
        |context: NativeCallContext<'_>, id: Dynamic| -> Fallible<Array> {
            let entry: EntryId = Call::of(&context)?.host.entry_named(&id)?.id();
            Ok(gate(&context)?.record(Some(entry)).into_iter().map(row).collect())
        },
    );
}

fn gate(context: &NativeCallContext<'_>) -> Fallible<Arc<Gate>> {
    Task::of(context).tools::<Gate>().ok_or_else(terminated)
}

fn kind_named(word: &str) -> Fallible<PermissionKind> {
    let all = || PermissionKind::ALL.map(PermissionKind::as_str).join(", ");
    PermissionKind::from_word(word)
        .ok_or_else(|| fail("BadArgument", format!("there is no permission `{word}`; they are {}", all())))
}

fn row(row: Row) -> Dynamic {
    let mut map = Map::new();
    map.insert("entry".into(), i64::try_from(row.entry.0).unwrap_or(i64::MAX).into());
    map.insert("at".into(), row.at.since_start().as_secs_f64().into());
    map.insert("kind".into(), row.kind.as_str().into());
    map.insert("what".into(), row.what.into());
    map.insert("allowed".into(), row.allowed.into());
    map.insert("bytes".into(), i64::try_from(row.bytes).unwrap_or(i64::MAX).into());
    map.insert("ms".into(), (row.took.as_secs_f64() * 1000.0).into());
    map.into()
}
