//! The arguments of the built-in tools, from JSON to types. A bad, missing or unknown argument is named; all faults of a call
//! are told at once. Says nothing about who may call.

use crate::base::limits::{MOST_NOTE_CHARACTERS, thousands};
use crate::mcp::rpc::message::{EXACT, Object};
use serde_json::Value;
use std::collections::HashSet;
use std::fmt;
use std::time::Duration;

/// Arguments of `create-session`.
#[derive(Debug, PartialEq)]
pub(crate) struct CreateSession {
    /// A note for the roster.
    pub(crate) note: Option<String>,
}

/// Arguments of `eval`.
#[derive(Debug, PartialEq)]
pub(crate) struct Eval {
    /// The script.
    pub(crate) code: String,
    /// The space or module to evaluate in.
    pub(crate) ns: Option<String>,
    /// How long to wait for the outcome.
    pub(crate) wait: Duration,
    /// Says not to wait at all.
    pub(crate) background: bool,
}

/// Arguments of `await`.
#[derive(Debug, PartialEq)]
pub(crate) struct Await {
    /// Wait for every one of these.
    pub(crate) all: Vec<u64>,
    /// And for one of these.
    pub(crate) any: Vec<u64>,
    /// How long at most.
    pub(crate) wait: Duration,
}

/// Arguments of `cancel`.
#[derive(Debug, PartialEq)]
pub(crate) struct Cancel {
    /// The evals to stop.
    pub(crate) ids: Vec<u64>,
}

/// How long `eval` waits when it is not told.
pub(crate) const EVAL_WAIT: Duration = Duration::from_secs(10);

/// How long `await` waits when it is not told.
pub(crate) const AWAIT_WAIT: Duration = Duration::from_secs(60);

/// One fault of an argument.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Problem {
    /// It is needed and absent.
    Missing {
        /// Its name.
        name: &'static str,
        /// The kind it should be of.
        wanted: &'static str,
    },
    /// It is of the wrong kind.
    Wrong {
        /// Its name.
        name: &'static str,
        /// The kind it should be of.
        wanted: &'static str,
        /// The value that was given, shortened.
        got: String,
    },
    /// The tool knows no such argument.
    Unknown {
        /// Its name.
        name: String,
        /// The names it knows.
        known: &'static [&'static str],
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { name, wanted } => write!(f, "argument `{name}` is missing: {wanted}"),
            Self::Wrong { name, wanted, got } => write!(f, "argument `{name}` must be {wanted}, not {got}"),
            Self::Unknown { name, known } => write!(f, "unknown argument `{name:.60}`; known: {}", known.join(", ")),
        }
    }
}

/// Everything that is wrong with the arguments of a call; never empty. `Display` is one line each.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Problems(Vec<Problem>);

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.0.iter().take(MOST_PROBLEMS).enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            problem.fmt(f)?;
        }
        if let Some(more) = self.0.len().checked_sub(MOST_PROBLEMS).filter(|more| *more > 0) {
            write!(f, "\n… {} more", thousands(more))?;
        }
        Ok(())
    }
}

/// The most problems with arguments that one answer names.
const MOST_PROBLEMS: usize = 20;

/// The most ids that one call names.
const MOST_IDS: usize = 4_096;

/// Arguments as they were read: the session is known even when others are wrong, so that the refusal reaches its caller.
#[derive(Debug, PartialEq)]
pub(crate) struct Read<T> {
    /// The handle given as `session`.
    pub(crate) session: Option<String>,
    /// The others, or everything that is wrong.
    pub(crate) arguments: Result<T, Problems>,
}

/// Reads the arguments of `create-session`.
pub(crate) fn create_session(given: Object) -> Read<CreateSession> {
    let mut reader = Reader::new(given, &["note"]);
    let note = reader.read("note", "a string of at most 500 characters", |value| {
        value.as_str().filter(|note| note.chars().count() <= MOST_NOTE_CHARACTERS).map(str::to_owned)
    });
    reader.finish(None, || Some(CreateSession { note }))
}

/// Reads the arguments of `eval`. `tasks` says that the request declared them: `await` means nothing then. Waits are cut to
/// `longest`.
pub(crate) fn eval(given: Object, tasks: bool, longest: Duration) -> Read<Eval> {
    let mut reader = Reader::new(given, &["code", "ns", "await", "background", "session"]);
    let session = reader.text("session");
    let code = reader.text("code").or_else(|| reader.missing("code", "the script, a string"));
    let ns = reader.text("ns");
    let background = reader.flag("background");
    let wait = if tasks { None } else { reader.seconds("await", longest) };
    let wait = wait.unwrap_or(EVAL_WAIT.min(longest));
    reader.finish(session, || Some(Eval { code: code?, ns, wait, background }))
}

/// Reads the arguments of `await`. Waits are cut to `longest`.
pub(crate) fn awaiting(given: Object, longest: Duration) -> Read<Await> {
    let mut reader = Reader::new(given, &["all", "any", "seconds", "session"]);
    let session = reader.text("session");
    let (all, any) = (reader.ids("all").unwrap_or_default(), reader.ids("any").unwrap_or_default());
    if all.is_empty() && any.is_empty() && reader.problems.is_empty() {
        reader.missing::<()>("all", "a list of ids to wait for; or one in `any`");
    }
    let wait = reader.seconds("seconds", longest).unwrap_or(AWAIT_WAIT.min(longest));
    reader.finish(session, || Some(Await { all, any, wait }))
}

/// Reads the arguments of `cancel`.
pub(crate) fn cancel(given: Object) -> Read<Cancel> {
    let mut reader = Reader::new(given, &["ids", "session"]);
    let session = reader.text("session");
    let ids = reader.ids("ids").filter(|ids| !ids.is_empty());
    if ids.is_none() && reader.problems.is_empty() {
        reader.missing::<()>("ids", "a list of ids to stop");
    }
    reader.finish(session, || Some(Cancel { ids: ids? }))
}

/// Takes arguments out one by one; what is left at the end is unknown.
struct Reader {
    given: Object,
    known: &'static [&'static str],
    problems: Vec<Problem>,
}

impl Reader {
    fn new(given: Object, known: &'static [&'static str]) -> Self {
        Self { given, known, problems: Vec::new() }
    }

    /// An argument that was given. Null is what some clients send for an argument left out.
    fn take(&mut self, name: &'static str) -> Option<Value> {
        self.given.remove(name).filter(|value| !value.is_null())
    }

    fn missing<T>(&mut self, name: &'static str, wanted: &'static str) -> Option<T> {
        // An argument that is there and wrong has been named already.
        let named = self.problems.iter().any(|problem| matches!(problem, Problem::Wrong { name: n, .. } if *n == name));
        if !named {
            self.problems.push(Problem::Missing { name, wanted });
        }
        None
    }

    fn read<T>(
        &mut self,
        name: &'static str,
        wanted: &'static str,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Option<T> {
        let value = self.take(name)?;
        let read = read(&value);
        if read.is_none() {
            self.problems.push(Problem::Wrong { name, wanted, got: short(&value) });
        }
        read
    }

    fn text(&mut self, name: &'static str) -> Option<String> {
        self.read(name, "a string", |value| value.as_str().map(str::to_owned))
    }

    fn flag(&mut self, name: &'static str) -> bool {
        self.read(name, "true or false", Value::as_bool).unwrap_or_default()
    }

    fn seconds(&mut self, name: &'static str, longest: Duration) -> Option<Duration> {
        self.read(name, "a number of seconds from 0", |value| {
            let seconds = value.as_f64().filter(|seconds| *seconds >= 0.0)?;
            Some(Duration::from_secs_f64(seconds.min(longest.as_secs_f64())))
        })
    }

    fn ids(&mut self, name: &'static str) -> Option<Vec<u64>> {
        self.read(name, "a list of at most 4,096 ids, which are whole numbers", |value| {
            let given = value.as_array().filter(|given| given.len() <= MOST_IDS)?;
            let mut seen = HashSet::with_capacity(given.len());
            let mut ids = Vec::with_capacity(given.len());
            for id in given {
                let id = whole(id)?;
                if seen.insert(id) {
                    ids.push(id);
                }
            }
            Some(ids)
        })
    }

    fn finish<T>(mut self, session: Option<String>, build: impl FnOnce() -> Option<T>) -> Read<T> {
        // `await` of a request that declares tasks is known and means nothing.
        let known = self.known;
        let unknown = self.given.into_iter().filter(|(name, _)| !known.contains(&name.as_str()));
        self.problems.extend(unknown.map(|(name, _)| Problem::Unknown { name, known }));
        let arguments = match build() {
            Some(arguments) if self.problems.is_empty() => Ok(arguments),
            _ => Err(Problems(self.problems)),
        };
        Read { session, arguments }
    }
}

/// A whole number from 0; `3.0` is one too.
fn whole(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let float = value.as_f64().filter(|float| float.fract() == 0.0 && (0.0..=EXACT).contains(float))?;
        Some(float as u64)
    })
}

/// A value in a sentence, cut.
fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use serde_json::json;

    const DAY: Duration = Duration::from_secs(86_400);

    fn object(value: Value) -> Object {
        value.as_object().cloned().unwrap()
    }

    fn problems<T: fmt::Debug>(read: Read<T>) -> String {
        read.arguments.expect_err("problems").to_string()
    }

    #[test]
    fn what_is_right_is_read() {
        let read = eval(object(json!({"code": "1", "session": "bfw", "ns": null, "await": 0.25})), false, DAY);
        assert_eq!(read.session.as_deref(), Some("bfw"));
        let wait = Duration::from_millis(250);
        assert_eq!(read.arguments, Ok(Eval { code: "1".into(), ns: None, wait, background: false }));
        let read = awaiting(object(json!({"all": [1, 2.0, 1], "any": [3], "seconds": 0})), DAY);
        assert_eq!(read.arguments, Ok(Await { all: vec![1, 2], any: vec![3], wait: Duration::ZERO }));
        assert_eq!(
            cancel(object(json!({"ids": [0, 7, 8.0, 1e3]}))).arguments,
            Ok(Cancel { ids: vec![0, 7, 8, 1_000] })
        );
        assert_eq!(create_session(object(json!({}))).arguments, Ok(CreateSession { note: None }));
    }

    #[test]
    fn waits_are_cut_to_the_longest() {
        for seconds in [json!(1e300), json!(90_000), json!(u64::MAX)] {
            let read = eval(object(json!({"code": "1", "await": seconds})), false, DAY);
            assert_eq!(read.arguments.unwrap().wait, DAY);
        }
        assert_eq!(eval(object(json!({"code": "1"})), false, DAY).arguments.unwrap().wait, EVAL_WAIT);
    }

    #[test]
    fn await_means_nothing_to_a_request_that_declares_tasks() {
        let read = eval(object(json!({"code": "1", "await": "never"})), true, DAY);
        assert_eq!(read.arguments.unwrap().wait, EVAL_WAIT);
    }

    #[test]
    fn everything_wrong_is_named_at_once() {
        let given = json!({"code": 7, "await": -1, "background": "yes", "colour": "red", "session": "bfw"});
        let read = eval(object(given), false, DAY);
        assert_eq!(read.session.as_deref(), Some("bfw"));
        expect![[r#"
            argument `code` must be a string, not 7
            argument `background` must be true or false, not "yes"
            argument `await` must be a number of seconds from 0, not -1
            unknown argument `colour`; known: code, ns, await, background, session"#]]
        .assert_eq(&problems(read));
        expect!["argument `code` is missing: the script, a string"].assert_eq(&problems(eval(
            object(json!({})),
            false,
            DAY,
        )));
        expect![[r#"
            argument `all` is missing: a list of ids to wait for; or one in `any`
            argument `seconds` must be a number of seconds from 0, not "10""#]]
        .assert_eq(&problems(awaiting(object(json!({"seconds": "10"})), DAY)));
        expect!["argument `all` is missing: a list of ids to wait for; or one in `any`"]
            .assert_eq(&problems(awaiting(object(json!({})), DAY)));
        expect!["argument `ids` must be a list of at most 4,096 ids, which are whole numbers, not [1,-2]"]
            .assert_eq(&problems(cancel(object(json!({"ids": [1, -2]})))));
        for bad in [json!(1.5), json!(-1.0), json!(1e300), json!("1")] {
            let told = problems(cancel(object(json!({"ids": [bad]}))));
            assert!(
                told.starts_with("argument `ids` must be a list of at most 4,096 ids, which are whole numbers, not [")
            );
        }
        expect![[r#"
            argument `ids` must be a list of at most 4,096 ids, which are whole numbers, not 12
            unknown argument `id`; known: ids, session"#]]
        .assert_eq(&problems(cancel(object(json!({"ids": 12, "id": 12})))));
        expect!["argument `ids` is missing: a list of ids to stop"]
            .assert_eq(&problems(cancel(object(json!({"ids": []})))));
        expect![[r#"
            argument `note` must be a string of at most 500 characters, not {"a":"éééééééééééééééééééééééééééééééééé…
            unknown argument `session`; known: note"#]]
        .assert_eq(&problems(create_session(object(json!({"note": {"a": "é".repeat(50)}, "session": "bfw"})))));
    }
}
