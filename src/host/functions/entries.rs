//! Entries: reading their values, output and failures, listing and forgetting them.

use super::call::{Call, Table, seconds};
use crate::base::{EntryId, Failure, Owner, Refusal, Status};
use crate::engine::{EntryHandle, Fallible, fail, refuse, value_type};
use crate::host::run::waits::facts;
use crate::registry::{EntryFilter, EntryView, Line, OutputLog, Wants};
use crate::render::EndText;
use rhai::{Array, Dynamic, FnPtr, ImmutableString, Map, NativeCallContext};
use std::sync::Arc;

pub(super) fn register(table: &mut Table) {
    table.api.custom_type::<EntryHandle>("Entry");
    res(table);
    fields(table);
    methods(table);
    reading(table);
    listing(table);
}

fn res(table: &mut Table) {
    const DOC: &str = "
The entry with this id: running or settled, yours or anybody's. Its fields are `.id .status .by .ns .started .ms .code .parent
.lost .bytes`; `.value()` waits and returns its value or rethrows its failure. As the last expression it shows the entry and its
value. The id of a task, such as `\"bfw-12\"`, is accepted too.

```rhai
let e = bg(|| 40 + 2);
res(e.id).value() //=> 42
```";
    table.doc("res", &["res(id)", "res(\"bfw-12\")"], DOC);
    table.api.function("res", &["id: int", "Entry"], DOC, |context: NativeCallContext<'_>, id: i64| {
        named(&context, &id.into())
    });
    table.api.function("res", &["id: string", "Entry"], DOC, |context: NativeCallContext<'_>, id: &str| {
        named(&context, &id.into())
    });
    table
        .api
        .function("res", &["entry: Entry", "Entry"], DOC, |entry: EntryHandle| -> Fallible<EntryHandle> { Ok(entry) });
}

fn named(context: &NativeCallContext<'_>, id: &Dynamic) -> Fallible<EntryHandle> {
    Call::of(context)?.host.entry_named(id)
}

fn int(n: impl TryInto<i64>) -> i64 {
    n.try_into().unwrap_or(i64::MAX)
}

fn fields(table: &mut Table) {
    let api = &mut table.api;
    api.getter("id", "The entry's id.", |e: &mut EntryHandle| -> i64 { int(e.id().0) });
    api.getter("status", "`queued`, `running`, `ok`, `failed` or `cancelled`.", |e: &mut EntryHandle| {
        facts(e).map(|facts| facts.status.as_str().to_owned())
    });
    api.getter("by", "The session it belongs to; `()` for the prompt.", |e: &mut EntryHandle| {
        facts(e).map(|facts| by(&facts))
    });
    api.getter("ns", "The space or module it is evaluated in.", |e: &mut EntryHandle| {
        facts(e).map(|facts| facts.ns.to_string())
    });
    api.getter(
        "started",
        "Seconds from the start of the process to its start; `()` while it is queued.",
        |e: &mut EntryHandle| {
            facts(e).map(|facts| facts.started.map_or(Dynamic::UNIT, |at| at.since_start().as_secs_f64().into()))
        },
    );
    api.getter("ms", "How long it ran, or runs, in milliseconds.", |e: &mut EntryHandle| {
        facts(e).map(|facts| int(facts.ran.as_millis()))
    });
    api.getter("code", "Its script.", |e: &mut EntryHandle| facts(e).map(|facts| facts.code.to_string()));
    api.getter("parent", "The id of the entry that started it, or `()`.", |e: &mut EntryHandle| {
        facts(e).map(|facts| parent(&facts))
    });
    api.getter("bytes", "What its value and output take, in bytes.", |e: &mut EntryHandle| {
        facts(e).map(|facts| int(facts.bytes))
    });
    api.function(
        "get$lost",
        &["entry: Entry", "map"],
        "The values it overwrote that other entries had set meanwhile, by name.",
        |context: NativeCallContext<'_>, e: EntryHandle| -> Fallible<Map> {
            let call = Call::of(&context)?;
            let kept = call.host.registry().value(e.id()).map_err(|refusal| refuse(&refusal))?;
            Ok(kept.map(|kept| kept.values.lost.clone()).unwrap_or_default())
        },
    );
}

fn by(facts: &EntryView) -> Dynamic {
    facts.by.as_ref().map_or(Dynamic::UNIT, |name| Dynamic::from(name.to_string()))
}

fn parent(facts: &EntryView) -> Dynamic {
    facts.parent.map_or(Dynamic::UNIT, |id| int(id.0).into())
}

fn methods(table: &mut Table) {
    const VALUE: &str = "
Waits until the entry has settled and returns its value, or rethrows its failure. With `secs` it waits no longer than that, and
fails with `timed out after 2 s` while the entry runs on.

```rhai
let e = bg(|| { sleep(0.01); [1, 2] });
e.value() //=> [1, 2]
```";
    table.doc("value", &["entry.value()", "entry.value(secs)"], VALUE);
    table.api.function("value", &["entry: Entry", "?"], VALUE, |context: NativeCallContext<'_>, e: EntryHandle| {
        let call = Call::of(&context)?;
        call.host.value_in_script(&call.task, &e, None)
    });
    table.api.function(
        "value",
        &["entry: Entry", "secs: float", "?"],
        VALUE,
        |context: NativeCallContext<'_>, e: EntryHandle, secs: Dynamic| {
            let call = Call::of(&context)?;
            call.host.value_in_script(&call.task, &e, Some(seconds(&secs)?))
        },
    );
    const DETACH: &str = "
Frees a background child of its parent: it runs on when the parent settles or is cancelled. Returns the entry.

```rhai
let e = bg(|| 7).detach();
e.value() //=> 7
```";
    table.doc("detach", &["entry.detach()"], DETACH);
    table.api.function(
        "detach",
        &["entry: Entry", "Entry"],
        DETACH,
        |context: NativeCallContext<'_>, e: EntryHandle| {
            Call::of(&context)?.host.registry().detach(e.id()).map_err(|refusal| refuse(&refusal))?;
            Ok::<_, Box<rhai::EvalAltResult>>(e)
        },
    );
}

fn reading(table: &mut Table) {
    const LAST: &str =
        "The value of your newest entry that ended `ok`. It is yours to work on: no need to evaluate again.";
    table.doc("last", &["last()"], LAST);
    table.api.function("last", &["?"], LAST, |context: NativeCallContext<'_>| -> Fallible<Dynamic> {
        let call = Call::of(&context)?;
        let newest = call.host.registry().last_ok(call.owner());
        let Some(id) = newest else {
            return Err(fail("NoEntry", "no entry of yours has ended ok yet"));
        };
        let handle = call.host.handle(id).map_err(|refusal| refuse(&refusal))?;
        call.host.value_in_script(&call.task, &handle, None)
    });

    const OUT: &str = "
What an entry printed, also while it runs: rows `[seconds, source, text, n]`, `n` the number of the line, from 0 over all lines it ever
printed. With `from` and `n` only so many from that number on. Where lines are gone, because an entry keeps the newest 1 MiB, one row
says so: `[seconds, \"dropped\", \"3,953 lines were dropped\", first, last]`.

```rhai
let e = bg(|| { print(\"one\"); print(\"two\"); });
e.value();
out(e.id, 1, 5).map(|line| [line[2], line[3]]) //=> [[\"two\", 1]]
```";
    table.doc("out", &["out(id)", "out(id, from, n)"], OUT);
    table.api.function("out", &["id: int", "array"], OUT, |context: NativeCallContext<'_>, id: Dynamic| {
        lines(&context, &id, 0, i64::MAX)
    });
    table.api.function(
        "out",
        &["id: int", "from: int", "n: int", "array"],
        OUT,
        |context: NativeCallContext<'_>, id: Dynamic, from: i64, n: i64| lines(&context, &id, from, n),
    );

    const FIND: &str = "
The lines an entry printed that have `what` in them, as the rows of `out`; with `n` no more than the first so many. `what` is a text, or a
function that gets the text of a line (and its row as second argument, when it has two parameters) and gives true or false. Lines that
are gone cannot be searched: a row with the source `dropped` says so.

```rhai
let e = bg(|| { for i in 0..100 { print(`line ${i}`); } });
e.value();
out_find(e.id, \"7\", 2).map(|row| row[3]) //=> [7, 17]
out_find(e.id, |text, row| row[3] > 97).len() //=> 2
```";
    table.doc("out_find", &["out_find(id, what)", "out_find(id, what, n)"], FIND);
    table.api.function(
        "out_find",
        &["id: int", "what: Fn", "array"],
        FIND,
        |context: NativeCallContext<'_>, id: Dynamic, what: Dynamic| find(&context, &id, &what, i64::MAX),
    );
    table.api.function(
        "out_find",
        &["id: int", "what: Fn", "n: int", "array"],
        FIND,
        |context: NativeCallContext<'_>, id: Dynamic, what: Dynamic, n: i64| find(&context, &id, &what, n),
    );

    const FAILURE: &str = "
How an entry failed, as `#{kind, message, cause, line, column, source, frames, hint, thrown}`; `()` when it did not. `hint` says what
to do, where there is something to say, else it is `()`. `thrown` is the live value of a `throw`. `cause` is the id of the entry that failed first, when this one failed because it waited for another; else `()`.

```rhai
let e = bg(|| throw #{code: 404});
await_all([e]);
failure(e.id).thrown.code //=> 404
```";
    table.doc("failure", &["failure(id)"], FAILURE);
    table.api.function("failure", &["id: int", "map"], FAILURE, |context: NativeCallContext<'_>, id: Dynamic| {
        let call = Call::of(&context)?;
        let handle = call.host.entry_named(&id)?;
        call.host.registry().read_by_script(call.task.id(), handle.id());
        let kept = call.host.registry().value(handle.id()).map_err(|refusal| refuse(&refusal))?;
        Ok::<_, Box<rhai::EvalAltResult>>(match kept {
            Some(kept) => match &kept.summary.end {
                EndText::Failed(failure) => described(failure, kept.values.thrown.clone()).into(),
                _ => Dynamic::UNIT,
            },
            None => Dynamic::UNIT,
        })
    });
}

/// The output of an entry, which counts as touched.
fn log_of(call: &Call, id: &Dynamic) -> Fallible<Arc<OutputLog>> {
    let handle = call.host.entry_named(id)?;
    let mut registry = call.host.registry();
    let log = registry.log(handle.id()).map_err(|refusal| refuse(&refusal))?;
    registry.look(handle.id());
    Ok(log)
}

fn lines(context: &NativeCallContext<'_>, id: &Dynamic, from: i64, n: i64) -> Fallible<Array> {
    let call = Call::of(context)?;
    let log = log_of(&call, id)?;
    let from = u64::try_from(from).unwrap_or(0);
    let page = log.page(from, usize::try_from(n).unwrap_or(0));
    let gap = dropped_row(from, page.skipped);
    Ok(gap.into_iter().chain((page.first..).zip(&page.lines).map(|(number, line)| line_row(line, number))).collect())
}

/// The row of a line: seconds, source, text, and its number.
fn line_row(line: &Line, number: u64) -> Dynamic {
    let row: Array = vec![
        line.after.as_secs_f64().into(),
        line.source.to_string().into(),
        line.text.clone().into(),
        int(number).into(),
    ];
    row.into()
}

/// The row that stands for so many lines that are gone, from this number on.
fn dropped_row(from: u64, count: u64) -> Option<Dynamic> {
    let last = (from + count).checked_sub(1).filter(|_| count > 0)?;
    let row: Array = vec![
        0.0.into(),
        "dropped".into(),
        crate::render::output::dropped(count).into(),
        int(from).into(),
        int(last).into(),
    ];
    Some(row.into())
}

/// Lines that are searched at a time.
const STRETCH: usize = 2_000;

/// The rows of the first `most` lines that `what` is true of, and of the gaps between those searched.
fn find(context: &NativeCallContext<'_>, id: &Dynamic, what: &Dynamic, most: i64) -> Fallible<Array> {
    let call = Call::of(context)?;
    let what = Wanted::of(&call, what)?;
    let most = usize::try_from(most).unwrap_or(0);
    let log = log_of(&call, id)?;
    // What is printed from now on is left to the next search.
    let end = log.total_lines();
    let (mut rows, mut found, mut from) = (Array::new(), 0, 0);
    while from < end && found < most {
        call.task.check()?;
        let page = log.page(from, STRETCH);
        rows.extend(dropped_row(from, page.skipped));
        for (number, line) in (page.first..end).zip(&page.lines) {
            if found < most && what.is_met(context, line, number)? {
                rows.push(line_row(line, number));
                found += 1;
            }
        }
        from = page.first + page.lines.len() as u64;
    }
    Ok(rows)
}

/// The lines that `out_find` looks for.
enum Wanted {
    /// Those with this text in them.
    Text(ImmutableString),
    /// Those a function says true of, which takes so many parameters when that is known.
    Function(FnPtr, Option<usize>),
}

impl Wanted {
    fn of(call: &Call, what: &Dynamic) -> Fallible<Self> {
        if let Some(function) = what.read_lock::<FnPtr>() {
            let parameters = call.host.runtime.parameters(&function).map(|all| all.len());
            return Ok(Self::Function(function.clone(), parameters));
        }
        let wrong = || fail("BadArgument", format!("a text or a function is needed here, not {}", value_type(what)));
        what.as_immutable_string_ref().map(|text| Self::Text(text.clone())).map_err(|_| wrong())
    }

    fn is_met(&self, context: &NativeCallContext<'_>, line: &Line, number: u64) -> Fallible<bool> {
        let (function, parameters) = match self {
            Self::Text(text) => return Ok(line.text.contains(text.as_str())),
            Self::Function(function, parameters) => (function, *parameters),
        };
        let text = Dynamic::from(line.text.clone());
        let said = match parameters {
            Some(2) => function.call_raw(context, None, [text, line_row(line, number)])?,
            Some(_) => function.call_raw(context, None, [text])?,
            None => {
                function.call_raw_with_extra_args("out_find", context, None, [text], [line_row(line, number)], None)?
            }
        };
        let wrong = |_| {
            let kind = value_type(&said);
            fail("BadArgument", format!("the function of out_find gives true or false, not {kind}"))
        };
        said.as_bool().map_err(wrong)
    }
}

fn described(failure: &Failure, thrown: Option<Dynamic>) -> Map {
    let mut map = Map::new();
    let mut set = |name: &str, value: Dynamic| drop(map.insert(name.into(), value));
    set("kind", failure.kind.clone().into());
    set("message", failure.message.clone().into());
    set("cause", failure.cause.map_or(Dynamic::UNIT, |id| int(id.0).into()));
    set("line", int(failure.line).into());
    set("column", int(failure.column).into());
    set("source", failure.source.clone().into());
    let frames: Array = failure
        .frames
        .iter()
        .map(|frame| {
            let mut row = Map::new();
            row.insert("function".into(), frame.function.clone().into());
            row.insert("source".into(), frame.source.clone().into());
            row.insert("line".into(), int(frame.line).into());
            row.insert("column".into(), int(frame.column).into());
            row.into()
        })
        .collect();
    set("frames", frames.into());
    set("hint", failure.hint.as_ref().map_or(Dynamic::UNIT, |hint| hint.clone().into()));
    set("thrown", thrown.unwrap_or(Dynamic::UNIT));
    map
}

fn listing(table: &mut Table) {
    const EVALS: &str = "
All entries of the registry, oldest first, as rows `id status by ns ms lines code parent`: `by` only on the rows of others, `code`
is the first line. With a status, only those.

```rhai
evals().some(|row| row.status == \"running\") //=> true
evals(\"failed\").all(|row| row.status == \"failed\") //=> true
```";
    table.doc("evals", &["evals()", "evals(\"failed\")"], EVALS);
    table.api.function("evals", &["array"], EVALS, |context: NativeCallContext<'_>| rows(&context, None));
    table.api.function("evals", &["status: string", "array"], EVALS, |context: NativeCallContext<'_>, status: &str| {
        match Status::from_word(status) {
            Some(status) => rows(&context, Some(status)),
            None => Err(fail(
                "BadArgument",
                format!("`{status:.40}` is no status: queued, running, ok, failed or cancelled"),
            )),
        }
    });

    const FORGET: &str = "
Drops the value and the output an entry keeps; the entry itself stays and says so. Refused for another session's entry that its
owner has not read. Returns the number of bytes freed.

```rhai
let e = bg(|| [1, 2, 3]);
e.value();
forget(e.id) > 0 //=> true
```";
    table.doc("forget", &["forget(id)"], FORGET);
    table.api.function("forget", &["id: int", "int"], FORGET, |context: NativeCallContext<'_>, id: Dynamic| {
        let call = Call::of(&context)?;
        let handle = call.host.entry_named(&id)?;
        let forgotten = call.host.registry().forget(handle.id(), call.owner()).map_err(|refusal| refuse(&refusal))?;
        // The value is dropped here, on the eval's thread and outside the lock.
        Ok::<_, Box<rhai::EvalAltResult>>(int(forgotten.bytes))
    });
}

/// Characters of code that a row shows.
const ROW_CODE: usize = 80;

fn rows(context: &NativeCallContext<'_>, status: Option<Status>) -> Fallible<Array> {
    let call = Call::of(context)?;
    let owner = call.owner();
    let views = call.host.registry().entries(EntryFilter { status, owner: None }, call.host.clock.now());
    Ok(views.iter().map(|view| row(view, owner).into()).collect())
}

fn row(view: &EntryView, reader: Owner) -> Map {
    let mut row = Map::new();
    let mut set = |name: &str, value: Dynamic| drop(row.insert(name.into(), value));
    set("id", int(view.id.0).into());
    set("status", view.status.as_str().into());
    if view.owner != reader {
        set("by", by(view));
    }
    set("ns", view.ns.to_string().into());
    set("ms", int(view.ran.as_millis()).into());
    set("lines", int(view.lines).into());
    set("code", first_line(&view.code).into());
    set("parent", parent(view));
    row
}

/// The first line of a script, cut to what a row shows.
fn first_line(code: &str) -> String {
    let line = code.trim_start_matches('\u{feff}').trim_start().lines().next().unwrap_or_default();
    let mut shown: String = line.chars().take(ROW_CODE).collect();
    if shown.len() < line.len() {
        shown.pop();
        shown.push('…');
    }
    shown
}

/// The entries a script lists, by handle or id, in its order.
pub(super) fn listed(call: &Call, list: &Array) -> Fallible<Vec<EntryHandle>> {
    list.iter().map(|value| call.host.entry_named(value)).collect()
}

/// Waits for listed entries; a limit that runs out is an error.
pub(super) fn wait_for(call: &Call, list: &Array, wants: Wants, secs: Option<&Dynamic>) -> Fallible<Vec<EntryHandle>> {
    let handles = listed(call, list)?;
    let ids: Vec<EntryId> = handles.iter().map(EntryHandle::id).collect();
    let limit = secs.map(seconds).transpose()?;
    let until = limit.map(|limit| call.host.clock.now() + limit);
    if !call.host.wait_in_script(&call.task, &ids, wants, until)? {
        return Err(refuse(&Refusal::TimedOut { after: limit.unwrap_or_default() }));
    }
    for id in ids.iter().filter(|id| call.host.active(**id).is_none()) {
        call.host.registry().read_by_script(call.task.id(), *id);
    }
    Ok(handles)
}
