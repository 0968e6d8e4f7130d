//! A running instance as the backend of a prompt.
//!
//! One session evaluates, as any agent does; what it runs is answered by `await`, and its news ride its answers. A second session
//! looks around: how an entry stands, what there is, what can be typed.

use super::answer::Answer;
use super::client::{Remote, RemoteError, ToolAnswer};
use super::facts;
use super::queries::Queries;
use crate::base::{Clock, EntryId, Limits, Wake, lock};
use crate::host::{Names, OutputPage, Signature, wait};
use crate::registry;
use crate::render::{Style, lists, prompt};
use crate::repl::{Backend, BackendError, Message, Mode, Output, Query, Reply, WaitUntil, Waited};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::runtime::Handle;

/// The time that one question waits for an entry to settle, in seconds: what it prints meanwhile is shown after that.
const POLL: f64 = 0.3;

/// The time an instance may take to answer what it can answer at once.
const PATIENCE: Duration = Duration::from_secs(90);

/// The longest wait an instance grants, in seconds.
pub(super) const AS_LONG_AS_IT_TAKES: u64 = 24 * 3600;

/// Lines of output on one page, when nobody says how many.
const PAGE: usize = 100;

/// Words that may give a space another name to be typed, or lead to another space.
const DEFINING: [&str; 5] = ["let", "const", "fn", "import", "in_ns"];

/// A running instance, spoken to as a session of its own.
#[derive(Debug)]
pub(super) struct RemoteBackend {
    shared: Arc<Shared>,
    queries: Queries,
    runtime: Handle,
    clock: Clock,
    style: Style,
    /// Functions that every instance has.
    builtin: Vec<Signature>,
}

/// The state that waits in the background share with the prompt.
#[derive(Debug)]
struct Shared {
    remote: Remote,
    news: Wake,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Evals the prompt waits for, with their answers where these came already.
    foreground: HashMap<EntryId, Option<Answer>>,
    /// The latest answer about an entry.
    seen: Option<Answer>,
    /// News to be told.
    news: VecDeque<String>,
    /// The space of the session; empty when it is not known.
    place: String,
    /// The names that can be typed, as long as nothing may have changed them.
    names: Option<Names>,
}

/// The outcome of looking at an entry.
enum Polled {
    /// Ctrl-C came first.
    Interrupted,
    /// The entry as it stands; `None` when it is not there any more.
    Stands(Option<Answer>),
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    fn tell(&self, text: String) {
        self.state().news.push_back(text);
        self.news.notify();
    }

    /// Takes an answer that is not shown itself: its news are.
    fn keep_news(&self, answer: &Answer) {
        if !answer.news.is_empty() {
            self.tell(answer.news.join("\n"));
        }
    }

    /// Waits for an entry as long as it takes, and tells its answer.
    async fn follow(self: Arc<Self>, id: EntryId) {
        let arguments = json!({ "all": [id.0], "seconds": AS_LONG_AS_IT_TAKES });
        match self.remote.call("await", arguments, |_| ()).await {
            Ok(answer) => self.tell(answer.text),
            Err(error) => self.tell(prompt::lost_sight(id, &error)),
        }
    }

    /// Cancels an entry, and keeps the answer for the prompt when it still waits for that.
    async fn cancel(self: Arc<Self>, id: EntryId) {
        let answer = match self.remote.call("cancel", json!({ "ids": [id.0] }), |_| ()).await {
            Ok(answer) => answer,
            Err(error) => return self.tell(error.to_string()),
        };
        let Some(answer) = Answer::of(&answer.text) else { return };
        let mut state = self.state();
        match state.foreground.get_mut(&id) {
            Some(kept) if answer.facts.status.is_settled() => *kept = Some(answer),
            _ => {
                drop(state);
                self.keep_news(&answer);
            }
        }
    }
}

impl From<RemoteError> for BackendError {
    fn from(error: RemoteError) -> Self {
        Self(error.to_string())
    }
}

impl RemoteBackend {
    /// A backend that evaluates by `remote` and looks around by `queries`. `builtin` are functions that every instance has. Waiting
    /// is done on `runtime`, from a thread that is not one of its own.
    pub(super) fn new(remote: Remote, queries: Remote, builtin: Vec<Signature>, style: Style, runtime: Handle) -> Self {
        let shared = Arc::new(Shared { remote, news: Wake::default(), state: Mutex::default() });
        Self { shared, queries: Queries::new(queries), runtime, clock: Clock::real(), style, builtin }
    }

    /// The handle of the session that evaluates.
    fn session(&self) -> &str {
        self.shared.remote.session()
    }

    fn scratch(&self) -> String {
        format!("s-{}", self.session())
    }

    fn call(&self, tool: &str, arguments: Value) -> Reply<ToolAnswer> {
        self.soon(self.shared.remote.call(tool, arguments, |_| ()))
    }

    fn query(&self, expression: &str) -> Reply<Value> {
        self.soon(self.queries.value(expression))
    }

    /// Waits for something that an instance answers soon, unless it hangs.
    fn soon<T>(&self, asked: impl Future<Output = Result<T, RemoteError>>) -> Reply<T> {
        let until = self.clock.now() + PATIENCE;
        let answered = self.runtime.block_on(async {
            tokio::select! {
                biased;
                answered = asked => answered,
                () = wait::until(&self.clock, until) => Err(RemoteError::Silent(PATIENCE)),
            }
        });
        Ok(answered?)
    }

    /// An answer as it is shown here.
    fn message(&self, text: &str, is_error: bool) -> Message {
        Message::plain(prompt::from_wire(text, is_error, self.style))
    }

    fn follow(&self, id: EntryId) {
        self.runtime.spawn(Arc::clone(&self.shared).follow(id));
    }

    /// An entry as it stands now; `None` when it is not there any more.
    fn entry(&self, id: EntryId) -> Reply<Option<Answer>> {
        let kept = self.shared.state().foreground.get(&id).cloned().flatten();
        match kept {
            Some(answer) => Ok(Some(answer)),
            None => self.soon(self.queries.entry(id.0, 0.0)),
        }
    }

    fn lines(&self, id: EntryId, from: Option<usize>, count: Option<usize>) -> Reply<String> {
        let Some(from) = from else {
            let answer = self.soon(self.queries.entry(id.0, 0.0))?;
            let shown = answer.filter(|answer| answer.output.total() > 0);
            return Ok(match shown {
                Some(answer) => answer.output.lines().collect::<Vec<_>>().join("\n"),
                // Says that there is no output, or no such entry.
                None => self.page(id, 0, 0)?,
            });
        };
        self.page(id, from, count.unwrap_or(PAGE))
    }

    fn page(&self, id: EntryId, from: usize, count: usize) -> Reply<String> {
        let page: registry::Page = facts::page(&self.query(&facts::page_of(id, from, count))?, from);
        Ok(lists::output(&page, self.style))
    }

    fn go_to(&self, name: &str) -> Reply<String> {
        let code = format!("in_ns({})", facts::literal(name));
        let answer = self.call("eval", json!({ "code": code, "await": 60 }))?;
        let parts = Answer::of(&answer.text).filter(|_| !answer.is_error);
        let parts = parts.ok_or_else(|| BackendError(answer.text.lines().next().unwrap_or_default().to_owned()))?;
        self.shared.keep_news(&parts);
        let mut state = self.shared.state();
        name.clone_into(&mut state.place);
        state.names = None;
        Ok(name.to_owned())
    }

    /// Looks up the names that can be typed, and the space of the session.
    fn refresh(&self) -> Reply<Names> {
        let known = self.query(&facts::names_of(self.session()))?;
        let hidden = BTreeSet::from([format!("s-{}", self.queries.session())]);
        let mut state = self.shared.state();
        state.place = known["place"].as_str().unwrap_or_default().to_owned();
        let mut names = facts::names(&known, &hidden);
        names.functions.extend_from_slice(&self.builtin);
        state.names = Some(names.clone());
        Ok(names)
    }
}

impl Backend for RemoteBackend {
    fn clock(&self) -> &Clock {
        &self.clock
    }

    fn cancel_wait(&self) -> Duration {
        Limits::default().cancel_wait
    }

    fn place(&self) -> Option<String> {
        let place = self.shared.state().place.clone();
        (!place.is_empty() && place != self.scratch()).then_some(place)
    }

    fn names(&self) -> Names {
        let kept = self.shared.state().names.clone();
        // Without an answer there is nothing to offer, and the next eval will say what is wrong.
        kept.unwrap_or_else(|| self.refresh().unwrap_or_default())
    }

    fn submit(&self, code: &str, mode: Mode) -> Reply<EntryId> {
        let answer = self.call("eval", json!({ "code": code, "await": 0 }))?;
        let Some(parts) = Answer::of(&answer.text) else { return Err(BackendError(answer.text)) };
        let id = parts.facts.id;
        let settled = parts.facts.status.is_settled();
        if DEFINING.iter().any(|word| code.contains(word)) {
            self.shared.state().names = None;
        }
        match mode {
            Mode::Background if settled => self.shared.tell(answer.text),
            Mode::Background => {
                self.shared.keep_news(&parts);
                self.follow(id);
            }
            Mode::Foreground if settled => {
                self.shared.state().foreground.insert(id, Some(parts));
            }
            Mode::Foreground => {
                self.shared.keep_news(&parts);
                self.shared.state().foreground.insert(id, None);
            }
        }
        Ok(id)
    }

    fn wait(&self, id: EntryId, until: &WaitUntil<'_>) -> Reply<Waited> {
        if self.shared.state().foreground.get(&id).is_some_and(Option::is_some) {
            return Ok(Waited::Settled);
        }
        let mut patience = 0.0;
        loop {
            let left = until.deadline.map(|deadline| deadline.since(self.clock.now()).as_secs_f64());
            let seconds = left.map_or(patience, |left| left.min(patience));
            let interrupted = async {
                until.interrupts.past(until.presses).await;
                Ok(Polled::Interrupted)
            };
            let looked = async { Ok(Polled::Stands(self.queries.entry(id.0, seconds).await?)) };
            let polled = self.soon(async {
                tokio::select! {
                    biased;
                    interrupted = interrupted => interrupted,
                    looked = looked => looked,
                }
            });
            let answer = match polled? {
                Polled::Interrupted => return Ok(Waited::Interrupted),
                // What is not there any more has settled once.
                Polled::Stands(None) => return Ok(Waited::Settled),
                Polled::Stands(Some(answer)) => answer,
            };
            let (settled, printed) = (answer.facts.status.is_settled(), answer.output.total() > until.lines);
            self.shared.state().seen = Some(answer);
            if settled {
                return Ok(Waited::Settled);
            }
            if printed {
                return Ok(Waited::Printed);
            }
            if left == Some(0.0) {
                return Ok(Waited::Expired);
            }
            patience = POLL;
        }
    }

    fn output(&self, id: EntryId, from: usize, most: usize) -> Reply<OutputPage> {
        let seen = self.shared.state().seen.take();
        let known = seen.filter(|answer| answer.facts.id == id && answer.output.total() > from);
        let answer = match known {
            Some(answer) => answer,
            None => self.entry(id)?.ok_or_else(|| BackendError(prompt::gone(id)))?,
        };
        let output = &answer.output;
        let (first, lines) = output.from(from);
        let lines = lines[..lines.len().min(most)].to_vec();
        let page =
            OutputPage { status: answer.facts.status, first, lines, total: output.total(), skipped_are_kept: true };
        // The next page is asked for at once.
        self.shared.state().seen = Some(answer);
        Ok(page)
    }

    fn cancel(&self, id: EntryId) -> Reply<()> {
        self.runtime.spawn(Arc::clone(&self.shared).cancel(id));
        Ok(())
    }

    fn answer(&self, id: EntryId, output: Output) -> Reply<Message> {
        let kept = self.shared.state().foreground.remove(&id).flatten();
        let with_output = output == Output::Included;
        if let Some(answer) = kept {
            return Ok(self.message(&answer.text(with_output), answer.is_failed()));
        }
        let answer = self.call("await", json!({ "all": [id.0], "seconds": 0 }))?;
        match Answer::of(&answer.text) {
            Some(parts) => {
                if !parts.facts.status.is_settled() {
                    // It is still stopping, and its end will be news.
                    self.follow(id);
                }
                Ok(self.message(&parts.text(with_output), parts.is_failed()))
            }
            None => Err(BackendError(answer.text)),
        }
    }

    fn leave(&self, id: EntryId) {
        let kept = self.shared.state().foreground.remove(&id).flatten();
        match kept {
            Some(answer) => self.shared.tell(answer.text(true)),
            None => self.follow(id),
        }
    }

    fn ask(&self, query: &Query) -> Reply<Message> {
        let own = self.queries.session();
        Ok(match query {
            Query::Evals(status) => {
                let rows = facts::evals(&self.query(&facts::evals_of(*status))?, self.session());
                Message::plain(lists::evals(&rows, self.style))
            }
            Query::Entry(id) => {
                let answer = self.call("await", json!({ "all": [id.0], "seconds": 0 }))?;
                self.message(&answer.text, answer.is_error)
            }
            Query::Output { id, from, count } => Message::plain(self.lines(*id, *from, *count)?),
            Query::Cancel(id) => {
                let answer = self.call("cancel", json!({ "ids": [id.0] }))?;
                self.message(&answer.text, answer.is_error)
            }
            Query::Sessions => {
                Message::plain(lists::sessions(&facts::sessions(&self.query("sessions()")?, own), self.style))
            }
            Query::Spaces => {
                let place = self.shared.state().place.clone();
                let hidden = format!("s-{own}");
                Message::plain(lists::spaces(&facts::spaces(&self.query("spaces()")?, &hidden), &place, self.style))
            }
            Query::Place => Message::plain(self.shared.state().place.clone()),
            Query::Move(name) => Message::plain(self.go_to(name)?),
            Query::Doc(name) => {
                let code = format!("doc({})", facts::literal(name));
                let text = self.query(&code)?;
                Message::plain(text.as_str().unwrap_or_default().to_owned())
            }
        })
    }

    fn ended_by_leaving(&self) -> Option<String> {
        // Nothing: what runs there runs on.
        None
    }

    fn take_news(&self) -> Option<Message> {
        let text = self.shared.state().news.pop_front()?;
        Some(self.message(&text, false))
    }

    fn news(&self) -> &Wake {
        &self.shared.news
    }
}
