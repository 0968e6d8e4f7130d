//! Work: background children, waiting for several, cancelling, sleeping, bounding a call, atoms.

use super::call::{Call, Table, seconds};
use super::entries::{listed, wait_for};
use crate::base::StopCause;
use crate::engine::{Callable, EntryHandle, Fallible, fail, refuse, terminated};
use crate::registry::{CancelBy, CancelState, Wants};
use rhai::{Array, Dynamic, FnPtr, Map, NativeCallContext};
use std::time::Duration;

pub(super) fn register(table: &mut Table) {
    bg(table);
    awaiting(table);
    cancel(table);
    time(table);
    measuring(table);
    places(table);
    atom(table);
}

fn bg(table: &mut Table) {
    const DOC: &str = "
Runs a function in the background, as an entry of its own with this one as its parent: own id, own output, own memory budget. It
is cancelled when its parent settles, unless the parent's result or a variable it published (or an atom it set) holds it, or
`.detach()` freed it.

```rhai
let jobs = [1, 2, 3].map(|n| bg(|| n * 10));
jobs.map(|e| e.value()) //=> [10, 20, 30]
```";
    table.doc("bg", &["bg(f)"], DOC);
    table.api.function("bg", &["f: Fn", "Entry"], DOC, |context: NativeCallContext<'_>, f: FnPtr| {
        let call = Call::of(&context)?;
        call.task.check()?;
        let callable = Callable::bind(&context, f)?;
        let id = call.host.submit_child(&call.active, callable).map_err(|refusal| refuse(&refusal))?;
        call.host.handle(id).map_err(|refusal| refuse(&refusal))
    });
}

fn handles(entries: Vec<EntryHandle>) -> Array {
    entries.into_iter().map(Dynamic::from).collect()
}

fn awaiting(table: &mut Table) {
    const ALL: &str = "
Waits until every listed entry has settled and returns them, in the order given; ids and entries are accepted. With `secs`, no
longer than that. How each ended is for you to look at: failures are not raised here.

```rhai
await_all([bg(|| 1), bg(|| 2)]).map(|e| e.value()) //=> [1, 2]
```";
    table.doc("await_all", &["await_all(list)", "await_all(list, secs)"], ALL);
    table.api.function("await_all", &["list: array", "array"], ALL, |context: NativeCallContext<'_>, list: Array| {
        wait_for(&Call::of(&context)?, &list, Wants::All, None).map(handles)
    });
    table.api.function(
        "await_all",
        &["list: array", "secs: float", "array"],
        ALL,
        |context: NativeCallContext<'_>, list: Array, secs: Dynamic| {
            wait_for(&Call::of(&context)?, &list, Wants::All, Some(&secs)).map(handles)
        },
    );

    const ANY: &str = "
Waits until one of the listed entries has settled and returns those that have; the others run on.

```rhai
let quick = bg(|| 1);
let slow = bg(|| sleep(60));
await_any([slow, quick])[0].value() //=> 1
```";
    table.doc("await_any", &["await_any(list)", "await_any(list, secs)"], ANY);
    table.api.function("await_any", &["list: array", "array"], ANY, |context: NativeCallContext<'_>, list: Array| {
        any(&context, &list, None)
    });
    table.api.function(
        "await_any",
        &["list: array", "secs: float", "array"],
        ANY,
        |context: NativeCallContext<'_>, list: Array, secs: Dynamic| any(&context, &list, Some(&secs)),
    );
}

fn any(context: &NativeCallContext<'_>, list: &Array, secs: Option<&Dynamic>) -> Fallible<Array> {
    let call = Call::of(context)?;
    if list.is_empty() {
        return Ok(Array::new());
    }
    let entries = wait_for(&call, list, Wants::Any, secs)?;
    Ok(handles(entries.into_iter().filter(|e| call.host.active(e.id()).is_none()).collect()))
}

fn cancel(table: &mut Table) {
    const DOC: &str = "
Asks an entry to stop, and its children with it; returns what that did: `cancelled`, `stopping`, or the status it had already
settled with. An entry that cancels itself ends at once. Also `entry.cancel()`.

```rhai
let e = bg(|| loop {});
cancel(e.id);
await_all([e])[0].status //=> \"cancelled\"
```";
    table.doc("cancel", &["cancel(id)", "entry.cancel()"], DOC);
    table.api.function("cancel", &["id: int", "string"], DOC, |context: NativeCallContext<'_>, id: Dynamic| {
        let call = Call::of(&context)?;
        let entry = listed(&call, &vec![id])?.remove(0);
        let asked = call
            .host
            .cancel(entry.id(), CancelBy::Script, &StopCause::Cancelled)
            .map_err(|refusal| refuse(&refusal))?;
        call.host.registry().read_by_script(call.task.id(), entry.id());
        if entry.id() == call.task.id() {
            return Err(terminated());
        }
        Ok(match asked {
            CancelState::Dequeued => "cancelled",
            CancelState::Asked | CancelState::AlreadyAsked => "stopping",
            CancelState::Settled(status) => status.as_str(),
        }
        .to_owned())
    });
}

fn time(table: &mut Table) {
    const SLEEP: &str = "
Waits so many seconds. Sleeping costs no running slot and can be cancelled.

```rhai
sleep(0.01); 1 //=> 1
```";
    table.doc("sleep", &["sleep(secs)"], SLEEP);

    const TIMEOUT: &str = "
Calls a function and ends it when it takes longer: its value, or an error saying `timed out after 2 s`. Script code and waits are
ended at once, a native call when it returns.

```rhai
timeout(5, || 40 + 2) //=> 42
timeout(0.01, || loop {}) //=! timed out after 0.01 s
```";
    table.doc("timeout", &["timeout(secs, f)"], TIMEOUT);
    table.api.function(
        "timeout",
        &["secs: float", "f: Fn", "?"],
        TIMEOUT,
        |context: NativeCallContext<'_>, secs: Dynamic, f: FnPtr| {
            let call = Call::of(&context)?;
            call.task.within(seconds(&secs)?, || f.call_within_context::<Dynamic>(&context, ()))
        },
    );
}

/// The function is one of the language, and so is part of the engine.
fn places(table: &mut Table) {
    const DOC: &str = "
Every place in a nested value that equals `what`, or that the function `what` says yes to, as JSON pointers in the order in which the
value is shown. The value itself is `\"\"`; `~` and `/` in keys are written `~0` and `~1`. A function may take the key or index as its
second parameter.

```rhai
let town = #{rooms: [#{name: \"hall\"}, #{name: \"loft\"}], main: \"loft\"};
find_path(town, \"loft\") //=> [\"/main\", \"/rooms/1/name\"]
town.find_path(|value, key| key == \"main\") //=> [\"/main\"]
```";
    table.doc("find_path", &["find_path(value, what)"], DOC);
}

fn measuring(table: &mut Table) {
    const DOC: &str = "
Calls a function several times (10 unless you say otherwise, at most 100,000) and says how long a call took: `#{n, min, median, max}`,
in milliseconds. An error of the function ends it.

```rhai
measure(|| [3, 1, 2].order(), 5).n //=> 5
```";
    table.doc("measure", &["measure(f)", "measure(f, n)"], DOC);
    table.api.function("measure", &["f: Fn", "map"], DOC, |context: NativeCallContext<'_>, f: FnPtr| {
        measure(&context, &f, 10)
    });
    table.api.function(
        "measure",
        &["f: Fn", "n: int", "map"],
        DOC,
        |context: NativeCallContext<'_>, f: FnPtr, n: i64| measure(&context, &f, n),
    );
}

/// Times of calls that are kept at most.
const MOST_MEASURED: i64 = 100_000;

fn measure(context: &NativeCallContext<'_>, f: &FnPtr, n: i64) -> Fallible<Map> {
    let call = Call::of(context)?;
    if !(1..=MOST_MEASURED).contains(&n) {
        return Err(fail("BadArgument", format!("measure calls a function 1 to 100,000 times, not {n}")));
    }
    let mut times = Vec::new();
    for _ in 0..n {
        call.task.check()?;
        let before = call.host.clock.now();
        drop(f.call_within_context::<Dynamic>(context, ())?);
        times.push(call.host.clock.now().since(before));
    }
    times.sort_unstable();
    let ms = |time: Duration| Dynamic::from(time.as_secs_f64() * 1_000.0);
    // Of an even number the two in the middle count.
    let median = (times[(times.len() - 1) / 2] + times[times.len() / 2]) / 2;
    let mut map = Map::new();
    map.insert("n".into(), n.into());
    map.insert("min".into(), ms(times[0]));
    map.insert("median".into(), ms(median));
    map.insert("max".into(), ms(times[times.len() - 1]));
    Ok(map)
}

fn atom(table: &mut Table) {
    const DOC: &str = "
A cell that concurrent evals share safely: `.get()`, `.set(v)`, and `.swap(f)`, which owns the cell while `f` makes the new value of
the old one. Variables are copied in and out of an eval; an atom is the one place that everybody sees at once. For something large,
`.change(f)` and `.read(f)` hand the value itself to `f` as `this`, without a copy, and give what `f` gives: `change` changes it
where it is (what was done before an error stays), `read` only looks.

```rhai
let hits = atom(0);
await_all([1, 2, 3].map(|n| bg(|| hits.swap(|old| old + n))));
hits.get() //=> 6
```

```rhai
let log = atom([1]);
log.change(|| this.push(2));
log.read(|| this[1]) //=> 2
```";
    table.doc("atom", &["atom(v)", "atom.get()", "atom.set(v)", "atom.swap(f)", "atom.change(f)", "atom.read(f)"], DOC);
}
