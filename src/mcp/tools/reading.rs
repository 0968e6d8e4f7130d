//! The JSON values that arguments are taken from. Clients and models write numbers as text, lists as text, and a single value
//! where a list belongs: what can mean one thing only is taken for it, and everything else is `None`. Knows no argument by name.

use crate::base::{Handle, TaskId};
use crate::mcp::rpc::message::EXACT;
use serde_json::Value;
use std::collections::HashSet;

/// An entry as a call names it: by its id, or by the id of its task, which says whose it is too.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Named {
    /// By its id.
    Entry(u64),
    /// By the id of its task.
    Task(TaskId),
}

/// Tells whether a value says as little as an argument left out: null, or nothing but blanks.
pub(super) fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        _ => false,
    }
}

/// Tells whether a value that is to be no text says that there is none.
pub(super) fn is_no_value(value: &Value) -> bool {
    let word = value.as_str().map(|text| text.trim().to_ascii_lowercase());
    is_nothing(value) || word.is_some_and(|word| matches!(word.as_str(), "null" | "none" | "undefined"))
}

/// The element of a list of one, where a single value is wanted.
pub(super) fn single(value: Value) -> Value {
    match value {
        Value::Array(mut items) if items.len() == 1 => items.swap_remove(0),
        value => value,
    }
}

/// A short text. Clients that guess types send one that looks like a number as a number.
pub(super) fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) if number.is_i64() || number.is_u64() => Some(number.to_string()),
        _ => None,
    }
}

/// A session's handle. What is none is kept as it came, so that it can be named.
pub(super) fn handle(value: &Value) -> Option<String> {
    let given = value.as_str()?.trim();
    let handle = given.to_ascii_lowercase().parse::<Handle>().ok();
    Some(handle.map_or_else(|| given.to_owned(), |handle| handle.to_string()))
}

/// Yes or no.
pub(super) fn flag(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(*flag),
        Value::Number(number) if number.as_f64() == Some(1.0) => Some(true),
        Value::Number(number) if number.as_f64() == Some(0.0) => Some(false),
        Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" | "1" => Some(true),
            "false" | "no" | "off" | "0" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// A number of seconds from 0.
pub(super) fn seconds(value: &Value) -> Option<f64> {
    let seconds = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => {
            let text = text.trim().to_ascii_lowercase();
            let number = ["seconds", "second", "sec", "s"].iter().find_map(|unit| text.strip_suffix(unit));
            number_text(number.unwrap_or(&text).trim_end())
        }
        _ => None,
    };
    seconds.filter(|seconds| seconds.is_finite() && *seconds >= 0.0)
}

/// The id of a task. A plain number names the entry.
pub(super) fn task(value: &Value) -> Option<Named> {
    match value {
        Value::Number(_) => whole(value).map(Named::Entry),
        Value::String(text) => named(text),
        _ => None,
    }
}

/// Entries, each once: a list, one of them alone, or a text that holds either. More than `most` are none.
pub(super) fn entries(value: &Value, most: usize) -> Option<Vec<Named>> {
    let given = match value {
        Value::Array(items) if items.len() <= most => items.iter().map(task).collect::<Option<Vec<_>>>()?,
        Value::Number(_) => vec![task(value)?],
        Value::String(text) => listed(text)?,
        _ => return None,
    };
    let mut seen = HashSet::with_capacity(given.len());
    let entries: Vec<_> = given.into_iter().filter(|entry| seen.insert(entry.clone())).collect();
    (entries.len() <= most).then_some(entries)
}

/// `12, 13`, `[12, "bfw-13"]`, `12 13`. `1,234` may be one number or two.
fn listed(text: &str) -> Option<Vec<Named>> {
    let text = text.trim();
    if let Ok(Value::Array(items)) = serde_json::from_str(text) {
        return items.iter().map(task).collect();
    }
    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let is_group = |part: &str| part.len() == 3 && part.bytes().all(|byte| byte.is_ascii_digit());
    if inner.split(',').skip(1).any(is_group) {
        return None;
    }
    inner.split([',', ' ', '\n', '\t']).filter(|part| !part.is_empty()).map(named).collect()
}

fn named(text: &str) -> Option<Named> {
    let text = text.trim();
    let number = number_text(text).and_then(|float| text.parse().ok().or_else(|| exact(float)));
    number.map(Named::Entry).or_else(|| text.to_ascii_lowercase().parse().ok().map(Named::Task))
}

/// A number as people write it. The words for what is no number, which Rust would read too, are none.
fn number_text(text: &str) -> Option<f64> {
    text.starts_with(|c: char| c.is_ascii_digit() || c == '.').then(|| text.parse().ok()).flatten()
}

/// A whole number from 0; `3.0` is one too.
fn whole(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_f64().and_then(exact))
}

/// The whole number a float stands for.
fn exact(float: f64) -> Option<u64> {
    // Beyond this a float stands for several.
    (float.fract() == 0.0 && (0.0..=EXACT).contains(&float)).then_some(float as u64)
}

/// The names that people and models use for an argument, beside its own.
const OTHER_NAMES: [(&str, &str); 8] = [
    ("code", "script source program expression expr input text command cmd query rhai snippet"),
    ("await", "timeout timeoutms timeoutseconds wait waitseconds seconds maxwait deadline"),
    ("seconds", "timeout timeoutms timeoutseconds wait waitseconds await maxwait deadline"),
    ("ns", "namespace module space spacename"),
    ("background", "async detach bg runinbackground"),
    ("session", "sessionid handle sid sessionhandle"),
    ("all", "id ids entry entries entryid entryids eval evals task tasks taskid taskids"),
    ("ids", "id all any entry entries entryid entryids eval evals task tasks taskid taskids"),
];

/// The known argument that an unknown one was probably meant for.
pub(super) fn meant(name: &str, known: &[&'static str]) -> Option<&'static str> {
    if name.len() > LONGEST_NAME {
        return None;
    }
    let plain: String = name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let other = |argument: &str| {
        OTHER_NAMES.iter().any(|(known, names)| *known == argument && names.split(' ').any(|other| other == plain))
    };
    let same =
        known.iter().find(|argument| plain == **argument).or_else(|| known.iter().find(|argument| other(argument)));
    same.copied().or_else(|| {
        let allowed = (plain.chars().count() / 3).min(2);
        let near = known.iter().map(|argument| (strsim::damerau_levenshtein(&plain, argument), *argument));
        near.filter(|(distance, _)| *distance <= allowed).min().map(|(_, argument)| argument)
    })
}

/// Longer names are near to none.
const LONGEST_NAME: usize = 60;

/// Tells whether a name is of a client's own bookkeeping, which it adds to the arguments of every tool: its model can neither
/// see nor omit it.
pub(super) fn is_bookkeeping(name: &str) -> bool {
    name.starts_with('_') || matches!(name, "toolCallId" | "tool_call_id")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn entry(id: u64) -> Named {
        Named::Entry(id)
    }

    fn bfw(id: u64) -> Named {
        Named::Task(format!("bfw-{id}").parse().unwrap())
    }

    #[test]
    fn ids_are_taken_in_every_spelling_that_means_one_thing() {
        for (given, wanted) in [
            (json!([1, 2.0, "3", 1]), vec![entry(1), entry(2), entry(3)]),
            (json!(12), vec![entry(12)]),
            (json!(12.0), vec![entry(12)]),
            (json!("12"), vec![entry(12)]),
            (json!(" 12.0 "), vec![entry(12)]),
            (json!("[1]"), vec![entry(1)]),
            (json!("[\"1\", \"bfw-2\"]"), vec![entry(1), bfw(2)]),
            (json!("[bfw-2, 3]"), vec![bfw(2), entry(3)]),
            (json!(["bfw-12"]), vec![bfw(12)]),
            (json!("BFW-12"), vec![bfw(12)]),
            (json!("12, 13"), vec![entry(12), entry(13)]),
            (json!("12,13"), vec![entry(12), entry(13)]),
            (json!("12, 345"), vec![entry(12), entry(345)]),
            (json!("12 bfw-13"), vec![entry(12), bfw(13)]),
            (json!(u64::MAX), vec![entry(u64::MAX)]),
            (json!(u64::MAX.to_string()), vec![entry(u64::MAX)]),
            (json!([]), vec![]),
        ] {
            assert_eq!(entries(&given, 4), Some(wanted), "{given}");
        }
        for given in [
            json!("soon"),
            json!("1,234"),
            json!("12;13"),
            json!("-1"),
            json!("1.5"),
            json!("+1"),
            json!("inf"),
            json!("99999999999999999999"),
            json!([1.5]),
            json!([-1]),
            json!([1e300]),
            json!([[1]]),
            json!([null]),
            json!([""]),
            json!([true]),
            json!({"0": 1}),
            json!(true),
            json!([1, 2, 3, 4, 5]),
            json!("1 2 3 4 5"),
        ] {
            assert_eq!(entries(&given, 4), None, "{given}");
        }
    }

    #[test]
    fn seconds_are_numbers_and_texts_of_numbers() {
        for (given, wanted) in [
            (json!(10), 10.0),
            (json!(10.0), 10.0),
            (json!("10"), 10.0),
            (json!(" 2.5 "), 2.5),
            (json!("10s"), 10.0),
            (json!("10 seconds"), 10.0),
            (json!(".5"), 0.5),
            (json!("1e3"), 1_000.0),
            (json!(u64::MAX), u64::MAX as f64),
        ] {
            assert_eq!(seconds(&given), Some(wanted), "{given}");
        }
        for given in [
            json!(-1),
            json!("-1"),
            json!("inf"),
            json!("nan"),
            json!("1e999"),
            json!("10m"),
            json!("soon"),
            json!(true),
        ] {
            assert_eq!(seconds(&given), None, "{given}");
        }
    }

    #[test]
    fn flags_are_taken_in_words_and_digits() {
        for given in
            [json!(true), json!("true"), json!(" TRUE "), json!("yes"), json!("on"), json!(1), json!(1.0), json!("1")]
        {
            assert_eq!(flag(&given), Some(true), "{given}");
        }
        for given in [json!(false), json!("False"), json!("no"), json!("off"), json!(0), json!("0")] {
            assert_eq!(flag(&given), Some(false), "{given}");
        }
        for given in [json!("maybe"), json!(2), json!([]), json!({})] {
            assert_eq!(flag(&given), None, "{given}");
        }
    }

    #[test]
    fn what_an_unknown_argument_was_meant_for() {
        let known = ["code", "ns", "await", "background", "session"];
        for (name, wanted) in [
            ("script", Some("code")),
            ("Code", Some("code")),
            ("cdoe", Some("code")),
            ("codes", Some("code")),
            ("timeout", Some("await")),
            ("timeout_ms", Some("await")),
            ("namespace", Some("ns")),
            ("sessionId", Some("session")),
            ("session_id", Some("session")),
            ("sesion", Some("session")),
            ("bakcground", Some("background")),
            ("colour", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(meant(name, &known), wanted, "{name}");
        }
        assert_eq!(meant("timeout", &["all", "any", "seconds", "session"]), Some("seconds"));
        assert_eq!(meant("ids", &["all", "any", "seconds", "session"]), Some("all"));
        assert_eq!(meant("all", &["ids", "session"]), Some("ids"));
        assert_eq!(meant(&"code".repeat(100_000), &known), None);
    }
}
