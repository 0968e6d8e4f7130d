//! Numbers: the limits in force, and the capacity.

use super::call::{Call, Table};
use crate::base::Time;
use crate::engine::{Fallible, fail};
use rhai::{Dynamic, Map, NativeCallContext};

pub(super) fn register(table: &mut Table) {
    const LIMITS: &str = "
The limits in force. Sizes are in bytes, times in seconds; `memory` says whether the memory limit of an eval is enforced. Three more say
where the process is: `started` is when it started (UTC), `held_bytes` counts against `total_bytes`, and of these no space, kept entry
or running eval accounts for `unnamed_bytes`.

```rhai
limits().call_depth //=> 64
```";
    table.doc("limits", &["limits()"], LIMITS);
    table.api.function("limits", &["map"], LIMITS, |context: NativeCallContext<'_>| limits(&context));

    const CAPACITY: &str = "
How many settled and seen entries are kept for one session (ten more for each further one); with a number, changes it. Lowering acts
at the next admission.

```rhai
capacity() > 0 //=> true
```";
    table.doc("capacity", &["capacity()", "capacity(n)"], CAPACITY);
    table.api.function("capacity", &["int"], CAPACITY, |context: NativeCallContext<'_>| {
        Ok::<_, Box<rhai::EvalAltResult>>(count(Call::of(&context)?.host.registry().capacity()))
    });
    table.api.function("capacity", &["n: int", "int"], CAPACITY, |context: NativeCallContext<'_>, n: i64| {
        let call = Call::of(&context)?;
        let Some(capacity) = usize::try_from(n).ok().filter(|n| *n <= 1_000_000) else {
            return Err(fail("BadArgument", format!("a capacity is 0 to 1,000,000 entries, not {n}")));
        };
        call.host.registry().set_capacity(capacity);
        Ok(n)
    });
}

fn count(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

fn limits(context: &NativeCallContext<'_>) -> Fallible<Map> {
    let call = Call::of(context)?;
    let l = &call.host.limits;
    let (capacity, effective) = {
        let registry = call.host.registry();
        (registry.capacity(), registry.effective_capacity())
    };
    let (held, unnamed) = call.host.held();
    let mut map = Map::new();
    for (name, value) in [
        ("script_bytes", l.script_bytes),
        ("call_depth", l.call_depth),
        ("expression_depth", l.expression_depth),
        ("function_expression_depth", l.function_expression_depth),
        ("eval_bytes", l.eval_bytes),
        ("space_bytes", l.space_bytes),
        ("total_bytes", l.total_bytes),
        ("kept_when_full_bytes", l.kept_when_full_bytes),
        ("held_bytes", held),
        ("unnamed_bytes", unnamed),
        ("output_bytes", l.output_bytes),
        ("running", l.running),
        ("running_per_session", l.slots_per_session()),
        ("queued", l.queued),
        ("live_entries", l.live_entries),
        ("sessions", l.sessions),
        ("spaces", l.spaces),
        ("variables", l.variables),
        ("functions", l.functions),
        ("modules", l.modules),
        ("nesting", l.nesting),
        ("capacity", capacity),
        ("capacity_now", effective),
        ("body_bytes", l.body_bytes),
    ] {
        map.insert(name.into(), count(value).into());
    }
    for (name, value) in [
        ("grace", l.grace),
        ("stream_after", l.stream_after),
        ("heartbeat", l.heartbeat),
        ("silence", l.silence),
        ("cancel_wait", l.cancel_wait),
        ("write_stall", l.write_stall),
    ] {
        map.insert(name.into(), value.as_secs_f64().into());
    }
    map.insert("eval_seconds".into(), l.eval_time.map_or(Dynamic::UNIT, |time| time.as_secs_f64().into()));
    let memory = if call.host.held_before.is_some() { "enforced" } else { "not enforced" };
    map.insert("memory".into(), memory.into());
    map.insert("started".into(), call.host.clock.stamp(Time::START).into());
    Ok(map)
}
