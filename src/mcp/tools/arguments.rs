//! The arguments of the built-in tools, from JSON to types. A bad, missing or unknown argument is named; all faults of a call
//! are told at once. Says nothing about who may call; how a value may be spelled is in `reading`.

use super::reading::{self, Named};
use crate::base::TaskId;
use crate::base::limits::{AWAIT_WAIT, MOST_NOTE_CHARACTERS, thousands};
use crate::mcp::rpc::message::Object;
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
    /// It names a task that is not here: the entry is not of the session in its id.
    NoTask {
        /// Its name.
        name: &'static str,
        /// The task.
        task: TaskId,
    },
    /// The tool knows no such argument.
    Unknown {
        /// Its name.
        name: String,
        /// The one that was probably meant.
        meant: Option<&'static str>,
        /// The names it knows.
        known: &'static [&'static str],
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { name, wanted } => write!(f, "argument `{name}` is missing: {wanted}"),
            Self::Wrong { name, wanted, got } => write!(f, "argument `{name}` must be {wanted}, not {got}"),
            Self::NoTask { name, task } => {
                let entry = task.entry;
                write!(
                    f,
                    "argument `{name}`: no task `{task}` is here; the number alone, {entry}, names an entry of anybody"
                )
            }
            Self::Unknown { name, meant, known } => {
                write!(f, "unknown argument `{name:.60}`; ")?;
                if let Some(meant) = meant {
                    write!(f, "did you mean `{meant}`? ")?;
                }
                write!(f, "known: {}", known.join(", "))
            }
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

/// The arguments of `eval`.
const EVAL: [&str; 5] = ["code", "ns", "await", "background", "session"];

/// The arguments of `eval` that mean something to a request that declares tasks.
const EVAL_TASKS: [&str; 4] = ["code", "ns", "background", "session"];

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
        reading::word(value).filter(|note| note.chars().count() <= MOST_NOTE_CHARACTERS)
    });
    reader.finish(None, || Some(CreateSession { note }))
}

/// Reads the arguments of `eval`. `tasks` says that the request declared them: `await` means nothing then. It waits for
/// `usual` when it is not told how long. Waits are cut to `longest`.
pub(crate) fn eval(given: Object, tasks: bool, usual: Duration, longest: Duration) -> Read<Eval> {
    let known: &[_] = if tasks { &EVAL_TASKS } else { &EVAL };
    let mut reader = Reader::new(given, known);
    let session = reader.session();
    let code = reader.code().or_else(|| reader.missing("code", "the script, a string"));
    let ns = reader.read("ns", "a string", |value| Some(reading::word(value)?.trim().to_owned()));
    let background = reader.read_value("background", "true or false", reading::flag).unwrap_or_default();
    let wait = if tasks {
        reader.given.remove("await");
        None
    } else {
        reader.seconds("await", longest)
    };
    let wait = wait.unwrap_or(usual.min(longest));
    reader.finish(session, || Some(Eval { code: code?, ns, wait, background }))
}

/// Reads the arguments of `await`. Waits are cut to `longest`; `is_here` tells whether a task is what its id says.
pub(crate) fn awaiting(given: Object, longest: Duration, is_here: impl Fn(&TaskId) -> bool) -> Read<Await> {
    let mut reader = Reader::new(given, &["all", "any", "seconds", "session"]);
    let session = reader.session();
    let all = reader.ids("all", &is_here).unwrap_or_default();
    let any = reader.ids("any", &is_here).unwrap_or_default();
    if all.is_empty() && any.is_empty() && reader.problems.is_empty() {
        reader.missing::<()>("all", "a list of ids to wait for; or one in `any`");
    }
    let wait = reader.seconds("seconds", longest).unwrap_or(AWAIT_WAIT.min(longest));
    reader.finish(session, || Some(Await { all, any, wait }))
}

/// Reads the arguments of `cancel`. `is_here` tells whether a task is what its id says.
pub(crate) fn cancel(given: Object, is_here: impl Fn(&TaskId) -> bool) -> Read<Cancel> {
    let mut reader = Reader::new(given, &["ids", "session"]);
    let session = reader.session();
    let ids = reader.ids("ids", &is_here).filter(|ids| !ids.is_empty());
    if ids.is_none() && reader.problems.is_empty() {
        reader.missing::<()>("ids", "a list of ids to stop");
    }
    reader.finish(session, || Some(Cancel { ids: ids? }))
}

/// What `tasks/get` and its like name as `taskId`: the task, or the entry by its number; else what is wrong with it.
pub(crate) fn task_id(method: &str, given: Option<&Value>) -> Result<Named, String> {
    match given.filter(|value| !reading::is_nothing(value)) {
        None => Err(format!("{method} needs a `taskId`, such as \"bfw-12\"")),
        Some(value) => reading::task(value)
            .ok_or_else(|| format!("{method} needs a `taskId`, such as \"bfw-12\", not {}", short(value))),
    }
}

/// The `arguments` of a `tools/call`: an object, also as a text that holds one. Nothing and an empty list say that there are
/// none: some languages write an empty object as a list.
pub(crate) fn object(given: Option<Value>) -> Option<Object> {
    match given {
        None => Some(Object::new()),
        Some(Value::Object(given)) => Some(given),
        Some(Value::Array(items)) if items.is_empty() => Some(Object::new()),
        Some(value) if reading::is_nothing(&value) => Some(Object::new()),
        Some(Value::String(text)) => serde_json::from_str(&text).ok(),
        Some(_) => None,
    }
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

    fn missing<T>(&mut self, name: &'static str, wanted: &'static str) -> Option<T> {
        // An argument that is there and wrong has been named already.
        let named = self.problems.iter().any(|problem| matches!(problem, Problem::Wrong { name: n, .. } if *n == name));
        if !named {
            self.problems.push(Problem::Missing { name, wanted });
        }
        None
    }

    /// A single value, which an empty one leaves out.
    fn read<T>(
        &mut self,
        name: &'static str,
        wanted: &'static str,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Option<T> {
        let value = reading::single(self.given.remove(name)?);
        if reading::is_nothing(&value) {
            return None;
        }
        self.judge(name, wanted, &value, read)
    }

    /// A single value that is no text: the words for nothing leave it out too.
    fn read_value<T>(
        &mut self,
        name: &'static str,
        wanted: &'static str,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Option<T> {
        self.read(name, wanted, |value| if reading::is_no_value(value) { Some(None) } else { read(value).map(Some) })?
    }

    fn judge<T>(
        &mut self,
        name: &'static str,
        wanted: &'static str,
        value: &Value,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Option<T> {
        let read = read(value);
        if read.is_none() {
            self.problems.push(Problem::Wrong { name, wanted, got: short(value) });
        }
        read
    }

    fn session(&mut self) -> Option<String> {
        self.read("session", "a handle such as bfw, a string", reading::handle)
    }

    /// The script, to the letter. An empty one is a script too.
    fn code(&mut self) -> Option<String> {
        let value = reading::single(self.given.remove("code").filter(|value| !value.is_null())?);
        self.judge("code", "a string", &value, |value| value.as_str().map(str::to_owned))
    }

    fn seconds(&mut self, name: &'static str, longest: Duration) -> Option<Duration> {
        self.read_value(name, "a number of seconds from 0", |value| {
            Some(Duration::from_secs_f64(reading::seconds(value)?.min(longest.as_secs_f64())))
        })
    }

    fn ids(&mut self, name: &'static str, is_here: &impl Fn(&TaskId) -> bool) -> Option<Vec<u64>> {
        let value = self.given.remove(name).filter(|value| !reading::is_no_value(value))?;
        let wanted = "a list of at most 4,096 ids, such as [12, 13]";
        let named = self.judge(name, wanted, &value, |value| reading::entries(value, MOST_IDS))?;
        let mut seen = HashSet::with_capacity(named.len());
        let mut ids = Vec::with_capacity(named.len());
        for named in named {
            let id = match named {
                Named::Entry(id) => id,
                Named::Task(task) if is_here(&task) => task.entry.0,
                Named::Task(task) => {
                    self.problems.push(Problem::NoTask { name, task });
                    continue;
                }
            };
            if seen.insert(id) {
                ids.push(id);
            }
        }
        Some(ids)
    }

    fn finish<T>(mut self, session: Option<String>, build: impl FnOnce() -> Option<T>) -> Read<T> {
        let known = self.known;
        // What is known has been taken out.
        let said = |(name, value): &(String, Value)| !reading::is_nothing(value) && !reading::is_bookkeeping(name);
        let unknown = self.given.into_iter().filter(said);
        self.problems.extend(unknown.map(|(name, _)| {
            let meant = reading::meant(&name, known);
            Problem::Unknown { name, meant, known }
        }));
        let arguments = match build() {
            Some(arguments) if self.problems.is_empty() => Ok(arguments),
            _ => Err(Problems(self.problems)),
        };
        Read { session, arguments }
    }
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

    const USUAL: Duration = Duration::from_secs(3);

    fn eval(given: Object, tasks: bool, longest: Duration) -> Read<Eval> {
        super::eval(given, tasks, USUAL, longest)
    }

    fn awaiting(given: Object, longest: Duration) -> Read<Await> {
        super::awaiting(given, longest, |task| task.handle.as_str() == "bfw")
    }

    fn cancel(given: Object) -> Read<Cancel> {
        super::cancel(given, |task| task.handle.as_str() == "bfw")
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
        assert_eq!(eval(object(json!({"code": "1"})), false, DAY).arguments.unwrap().wait, USUAL);
    }

    #[test]
    fn await_means_nothing_to_a_request_that_declares_tasks() {
        let read = eval(object(json!({"code": "1", "await": "never"})), true, DAY);
        assert_eq!(read.arguments.unwrap().wait, USUAL);
    }

    #[test]
    fn everything_wrong_is_named_at_once() {
        let given = json!({"code": 7, "await": -1, "background": "maybe", "colour": "red", "sesion": "bfw"});
        expect![[r#"
            argument `code` must be a string, not 7
            argument `background` must be true or false, not "maybe"
            argument `await` must be a number of seconds from 0, not -1
            unknown argument `sesion`; did you mean `session`? known: code, ns, await, background, session
            unknown argument `colour`; known: code, ns, await, background, session"#]]
        .assert_eq(&problems(eval(object(given), false, DAY)));
        expect![[r#"
            argument `code` is missing: the script, a string
            unknown argument `script`; did you mean `code`? known: code, ns, await, background, session"#]]
        .assert_eq(&problems(eval(object(json!({"script": "1"})), false, DAY)));
        expect![[r#"
            argument `all` is missing: a list of ids to wait for; or one in `any`
            argument `seconds` must be a number of seconds from 0, not "soon"
            unknown argument `timeout`; did you mean `seconds`? known: all, any, seconds, session"#]]
        .assert_eq(&problems(awaiting(object(json!({"timeout": 5, "seconds": "soon"})), DAY)));
        expect!["argument `all` is missing: a list of ids to wait for; or one in `any`"]
            .assert_eq(&problems(awaiting(object(json!({})), DAY)));
        expect!["argument `ids` must be a list of at most 4,096 ids, such as [12, 13], not [1,-2]"]
            .assert_eq(&problems(cancel(object(json!({"ids": [1, -2]})))));
        expect!["argument `ids`: no task `zzz-2` is here; the number alone, 2, names an entry of anybody"]
            .assert_eq(&problems(cancel(object(json!({"ids": ["bfw-1", "zzz-2"]})))));
        expect![[r#"
            argument `ids` is missing: a list of ids to stop
            unknown argument `id`; did you mean `ids`? known: ids, session"#]]
        .assert_eq(&problems(cancel(object(json!({"ids": "none", "id": 12})))));
        let note = json!({"note": {"a": "é".repeat(50)}, "session": "bfw"});
        expect![[r#"
            argument `note` must be a string of at most 500 characters, not {"a":"éééééééééééééééééééééééééééééééééé…
            unknown argument `session`; known: note"#]]
        .assert_eq(&problems(create_session(object(note))));
    }

    #[test]
    fn what_can_mean_one_thing_only_is_taken() {
        let given = json!({"code": ["1"], "ns": 12, "await": "10", "background": "true", "session": " BFW "});
        let read = eval(object(given), false, DAY);
        assert_eq!(read.session.as_deref(), Some("bfw"));
        let wait = Duration::from_secs(10);
        assert_eq!(read.arguments, Ok(Eval { code: "1".into(), ns: Some("12".into()), wait, background: true }));
        let read = awaiting(object(json!({"all": "[1]", "any": ["bfw-12", "12"], "seconds": "2.5"})), DAY);
        assert_eq!(read.arguments, Ok(Await { all: vec![1], any: vec![12], wait: Duration::from_millis(2_500) }));
        for ids in [json!(12), json!("12"), json!("[12]"), json!(["12"]), json!("bfw-12"), json!([12.0])] {
            assert_eq!(cancel(object(json!({"ids": ids}))).arguments, Ok(Cancel { ids: vec![12] }));
        }
        assert_eq!(create_session(object(json!({"note": 7}))).arguments, Ok(CreateSession { note: Some("7".into()) }));
    }

    #[test]
    fn what_says_nothing_is_as_left_out() {
        for nothing in [json!(null), json!(""), json!("  ")] {
            let read = eval(
                object(json!({
                    "code": "", "ns": nothing, "await": nothing, "background": nothing, "session": nothing, "x": nothing
                })),
                false,
                DAY,
            );
            assert_eq!(read.session, None);
            let asked = Eval { code: String::new(), ns: None, wait: USUAL, background: false };
            assert_eq!(read.arguments, Ok(asked));
            let read =
                awaiting(object(json!({"all": [1], "any": nothing, "seconds": nothing, "session": nothing})), DAY);
            assert_eq!(read.session, None);
            assert_eq!(read.arguments, Ok(Await { all: vec![1], any: vec![], wait: AWAIT_WAIT }));
            assert_eq!(create_session(object(json!({"note": nothing}))).arguments, Ok(CreateSession { note: None }));
            assert!(problems(cancel(object(json!({"ids": nothing})))).starts_with("argument `ids` is missing"));
        }
        let read = awaiting(object(json!({"all": [1], "any": "none", "seconds": "null"})), DAY);
        assert_eq!(read.arguments, Ok(Await { all: vec![1], any: vec![], wait: AWAIT_WAIT }));
    }

    #[test]
    fn what_a_client_adds_of_its_own_is_passed_over() {
        let given = json!({"code": "1", "toolCallId": "call_1", "_meta": {}, "_thought": 1});
        assert!(eval(object(given), false, DAY).arguments.is_ok());
    }

    #[test]
    fn arguments_are_an_object_in_every_spelling_of_one() {
        let code = object(json!({"code": "1"}));
        for given in [json!({"code": "1"}), json!("{\"code\": \"1\"}")] {
            assert_eq!(super::object(Some(given)), Some(code.clone()));
        }
        for given in [None, Some(json!(null)), Some(json!("")), Some(json!([])), Some(json!("{}"))] {
            assert_eq!(super::object(given), Some(Object::new()));
        }
        for given in [json!([1]), json!("1"), json!("[]"), json!(7), json!(true)] {
            assert_eq!(super::object(Some(given)), None);
        }
    }
}
