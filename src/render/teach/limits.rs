//! The limits in words: a line each, with value, meaning and option.

use crate::base::Limits;
use crate::base::limits::{bytes, thousands};

/// The value of a limit.
enum Value {
    Bytes(usize),
    Count(usize),
    Seconds(f64),
    None,
}

/// One limit.
#[derive(Clone, Copy, Debug)]
pub struct LimitRow {
    /// Its name in `limits()`.
    pub name: &'static str,
    /// Its meaning.
    pub meaning: &'static str,
    /// The option that sets it, without dashes.
    pub option: &'static str,
}

type Get = fn(&Limits) -> Value;

const fn row(name: &'static str, option: &'static str, meaning: &'static str, get: Get) -> (LimitRow, Get) {
    (LimitRow { name, meaning, option }, get)
}

/// Every limit, in the order of the options.
const ROWS: &[(LimitRow, Get)] = &[
    row("capacity", "capacity", "Delivered evals that are kept for one session; each further session adds 10", |l| {
        Value::Count(l.capacity)
    }),
    row("eval_seconds", "max-seconds", "Longest time an eval may run", |l| {
        l.eval_time.map_or(Value::None, |time| Value::Seconds(time.as_secs_f64()))
    }),
    row("script_bytes", "script-size", "Longest script", |l| Value::Bytes(l.script_bytes)),
    row("eval_bytes", "eval-memory", "Memory of one eval", |l| Value::Bytes(l.eval_bytes)),
    row("space_bytes", "space-memory", "Kept values of one space", |l| Value::Bytes(l.space_bytes)),
    row("total_bytes", "total-memory", "Kept values, output and running evals of the process", |l| {
        Value::Bytes(l.total_bytes)
    }),
    row(
        "kept_when_full_bytes",
        "kept-when-full",
        "What an eval may still keep when the process has reached --total-memory",
        |l| Value::Bytes(l.kept_when_full_bytes),
    ),
    row("output_bytes", "output-size", "Output that is kept of one eval", |l| Value::Bytes(l.output_bytes)),
    row("body_bytes", "body-size", "Largest request", |l| Value::Bytes(l.body_bytes)),
    row("running", "max-running", "Evals that run at the same time", |l| Value::Count(l.running)),
    row("reserved_slots", "reserved-slots", "Of these, how many no single session can take", |l| {
        Value::Count(l.reserved_slots)
    }),
    row("queued", "max-queued", "Evals that may wait for a slot", |l| Value::Count(l.queued)),
    row("live_entries", "max-live", "Evals that have not settled", |l| Value::Count(l.live_entries)),
    row("sessions", "max-sessions", "Sessions alive at the same time", |l| Value::Count(l.sessions)),
    row("spaces", "max-spaces", "Spaces alive at the same time", |l| Value::Count(l.spaces)),
    row("variables", "max-variables", "Variables of one space", |l| Value::Count(l.variables)),
    row("functions", "max-functions", "Functions of one space or module", |l| Value::Count(l.functions)),
    row("modules", "max-modules", "Modules one eval may load", |l| Value::Count(l.modules)),
    row("nesting", "max-nesting", "Levels a kept value may be nested", |l| Value::Count(l.nesting)),
    row("call_depth", "call-depth", "Deepest chain of calls in a script", |l| Value::Count(l.call_depth)),
    row("expression_depth", "expression-depth", "Deepest expression at the top level of a script", |l| {
        Value::Count(l.expression_depth)
    }),
    row("function_expression_depth", "function-expression-depth", "Deepest expression in a function", |l| {
        Value::Count(l.function_expression_depth)
    }),
    row(
        "grace",
        "grace",
        "How long eval waits when it is not told; a client that follows tasks is answered with one then",
        |l| Value::Seconds(l.grace.as_secs_f64()),
    ),
    row("stream_after", "stream-after", "How long a call may be open before its answer is streamed", |l| {
        Value::Seconds(l.stream_after.as_secs_f64())
    }),
    row("heartbeat", "heartbeat", "Pause between signs of life on a stream", |l| {
        Value::Seconds(l.heartbeat.as_secs_f64())
    }),
    row("silence", "silence", "Silence after which a session is over; also the longest wait", |l| {
        Value::Seconds(l.silence.as_secs_f64())
    }),
    row("cancel_wait", "cancel-wait", "How long an answer waits for a cancellation to bite", |l| {
        Value::Seconds(l.cancel_wait.as_secs_f64())
    }),
    row("write_stall", "write-stall", "How long a client may take nothing of its answer", |l| {
        Value::Seconds(l.write_stall.as_secs_f64())
    }),
];

/// What is said of each limit, without its value.
pub fn limit_rows() -> impl Iterator<Item = LimitRow> {
    ROWS.iter().map(|(row, _)| *row)
}

/// A line for each limit: name, value, meaning, option.
pub fn limit_lines(limits: &Limits) -> String {
    let line = |(row, get): &(LimitRow, Get)| {
        let value = match get(limits) {
            Value::Bytes(n) => bytes(n),
            Value::Count(n) => thousands(n),
            Value::Seconds(secs) => format!("{secs} s"),
            Value::None => "none".to_owned(),
        };
        format!("- `{}` · {value} · {} · --{}\n", row.name, row.meaning, row.option)
    };
    ROWS.iter().map(line).collect()
}
