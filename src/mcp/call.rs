//! `tools/call`: the built-in tools against the host, and how a call waits. Both eras come here, with an [`Asker`] that says
//! what differs between them.

use super::arguments::{self, Problems, Read};
use super::dispatch::Shared;
use super::error::{Fault, Wire};
use super::fixture::{Answered, Tool, ToolCall, ToolFault};
use super::requests::Ticket;
use super::stream::{Call, Notes, Pulse, Response};
use super::tasks;
use super::tools::{Listing, Name};
use super::wire::{self, Id, Object};
use crate::base::{ClientInfo, EntryId, Owner, Refusal, TaskId, Time};
use crate::host::{Answer, Delivery, EvalRequest, Hold, HostApi, Submitted};
use crate::registry::CancelBy;
use crate::render::{notice, plain};
use http::StatusCode;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;

/// Who makes a call, and what holds for it.
pub(super) struct Asker {
    /// The wire, and whether the request declared that it follows tasks.
    pub(super) listing: Listing,
    /// The header session, on the wire that has them.
    pub(super) header: Option<Owner>,
    /// What the client says about itself.
    pub(super) client: ClientInfo,
    /// The capabilities the request declared.
    pub(super) capabilities: Object,
    /// The other end of the connection.
    pub(super) peer: Option<String>,
    /// The progress token, as sent.
    pub(super) token: Option<Value>,
}

/// What a call came to.
pub(super) struct Outcome {
    /// The result.
    pub(super) result: Object,
    /// What it delivers.
    pub(super) delivery: Delivery,
}

impl Outcome {
    /// A result that delivers nothing.
    pub(super) fn plain(result: Object) -> Self {
        Self { result, delivery: Delivery::none() }
    }
}

impl From<Answer> for Outcome {
    /// One block of text; `isError` only when it is one.
    fn from(answer: Answer) -> Self {
        Self { result: tool_result(&answer), delivery: answer.delivery }
    }
}

/// The result of a tool: one block of text, and `isError` only when it is true.
pub(super) fn tool_result(answer: &Answer) -> Object {
    let mut result = Object::new();
    result.insert("content".into(), json!([{"type": "text", "text": answer.text}]));
    if answer.is_error {
        result.insert("isError".into(), Value::Bool(true));
    }
    result
}

/// The response to a request. A modern result says its type and who answers; a record on the books stays there until the
/// response was written.
pub(super) fn respond(wire: Wire, id: &Id, outcome: Result<Outcome, Fault>, ticket: Option<Arc<Ticket>>) -> Response {
    let (status, message, delivery) = match outcome {
        Ok(Outcome { mut result, delivery }) => {
            if wire == Wire::Modern {
                super::modern::envelope(&mut result);
            }
            (StatusCode::OK, wire::result(id, result), delivery)
        }
        Err(fault) => (fault.status(wire), wire::error(Some(id), &fault, wire), Delivery::none()),
    };
    let delivery = match ticket {
        Some(ticket) => delivery.and(Delivery::then(move || drop(ticket))),
        None => delivery,
    };
    Response { status, message, delivery }
}

/// A call that takes time; `None` when its request was taken back.
type Work = Pin<Box<dyn Future<Output = Option<Result<Outcome, Fault>>> + Send>>;

/// A call that has begun.
enum Begun {
    /// It is over already.
    Done(Outcome),
    /// It works or waits.
    Working(Pulse, Work),
}

/// Begins a `tools/call`. Whatever it starts has been started when this returns.
pub(super) fn begin(
    shared: &Arc<Shared>,
    id: Id,
    mut params: Object,
    asker: Asker,
    ticket: Ticket,
    notes: &Notes,
) -> Call {
    let wire = asker.listing.wire();
    let ticket = Arc::new(ticket);
    let (name, given) = match named(&mut params) {
        Ok(named) => named,
        Err(fault) => return Call::answered(respond(wire, &id, Err(fault), Some(ticket))),
    };
    let caller = Calling { shared: Arc::clone(shared), asker, ticket: Arc::clone(&ticket) };
    let begun = match Name::from_text(&name) {
        Some(Name::CreateSession) => caller.create_session(given),
        Some(Name::Eval) => caller.eval(given),
        Some(Name::Await) => caller.awaiting(given),
        Some(Name::Cancel) => caller.cancel(given),
        None => match shared.tool(&name) {
            Some(tool) => caller.further(tool, given, notes.clone()),
            None => return Call::answered(respond(wire, &id, Err(Fault::UnknownTool(name)), Some(ticket))),
        },
    };
    match begun {
        Begun::Done(outcome) => Call::answered(respond(wire, &id, Ok(outcome), Some(ticket))),
        Begun::Working(pulse, work) => {
            Call::new(pulse, Box::pin(async move { Some(respond(wire, &id, work.await?, Some(ticket))) }))
        }
    }
}

/// The tool that a `tools/call` names, and what it gives it.
fn named(params: &mut Object) -> Result<(String, Object), Fault> {
    let Some(Value::String(name)) = params.remove("name") else {
        return Err(Fault::BadParams("tools/call needs the `name` of a tool, a string".into()));
    };
    match params.remove("arguments") {
        None | Some(Value::Null) => Ok((name, Object::new())),
        Some(Value::Object(given)) => Ok((name, given)),
        Some(_) => Err(Fault::BadParams("`arguments` of tools/call must be an object".into())),
    }
}

/// How a wait ended.
enum Ended {
    /// What was waited for has come.
    Settled,
    /// The time was up first.
    TimeUp,
    /// The client took the request back.
    TakenBack,
    /// The server is stopping.
    Stopping,
}

/// How a call waits for its eval, and what it is answered when that lasts.
#[derive(Clone, Copy)]
enum Patience {
    /// This long; then with how it stands.
    Running(Duration),
    /// This long; then with a task.
    Task(Duration),
}

/// The longest line of output shown as progress, in characters.
const LINE_CHARACTERS: usize = 200;

/// Why a wait ended early when only the server stops and its host goes on, as an embedding program may have it.
const STOPPING: &str = "the server is stopping; what has not settled runs on";

/// Work that has settled this soon is answered inline also when it was meant for the background.
const QUICK: Duration = Duration::from_millis(20);

/// One call of a tool, on its way.
struct Calling {
    shared: Arc<Shared>,
    asker: Asker,
    ticket: Arc<Ticket>,
}

impl Calling {
    fn host(&self) -> &HostApi {
        &self.shared.host
    }

    /// The session that speaks: the argument wins over the header.
    fn caller(&self, session: Option<&str>) -> Result<Owner, Refusal> {
        match session {
            Some(handle) => self.host().handle_caller(handle),
            None => self.asker.header.ok_or(Refusal::MissingSession),
        }
    }

    /// Who speaks and what was given; or the answer that says what is wrong with either.
    fn resolve<T>(&self, read: Read<T>) -> Result<(Owner, T), Begun> {
        match (self.caller(read.session.as_deref()), read.arguments) {
            (Ok(caller), Ok(arguments)) => Ok((caller, arguments)),
            (Ok(caller), Err(problems)) => Err(self.refuse(Some(caller), problems.to_string())),
            (Err(refusal), Ok(_)) => Err(self.refuse(None, refusal.to_string())),
            (Err(refusal), Err(problems)) => Err(self.refuse(None, both(&problems, &refusal))),
        }
    }

    fn refuse(&self, caller: Option<Owner>, text: String) -> Begun {
        Begun::Done(self.host().answer_text(caller, &text, true).into())
    }

    fn create_session(self, given: Object) -> Begun {
        // The answer belongs to the conversation that asks, which on the modern wire does not exist yet.
        let asking = self.asker.header;
        let note = match arguments::create_session(given).arguments {
            Ok(arguments) => arguments.note,
            Err(problems) => return self.refuse(asking, problems.to_string()),
        };
        match self.host().create_session(note, self.asker.client.clone(), self.asker.peer.clone()) {
            Ok((handle, _)) => {
                let text = notice::session_created(&handle, self.asker.listing.wire() == Wire::Legacy);
                Begun::Done(self.host().answer_text(asking, &text, false).into())
            }
            Err(refusal) => self.refuse(asking, refusal.to_string()),
        }
    }

    fn eval(self, given: Object) -> Begun {
        let tasks = self.asker.listing == Listing::Tasks;
        let read = arguments::eval(given, tasks, self.host().limits().silence);
        let (caller, arguments) = match self.resolve(read) {
            Ok(resolved) => resolved,
            Err(refused) => return refused,
        };
        let submitted = match self.host().submit(caller, &EvalRequest { code: arguments.code, ns: arguments.ns }) {
            Ok(submitted) => submitted,
            Err(refusal) => return self.refuse(Some(caller), refusal.to_string()),
        };
        let patience = match (tasks, arguments.background) {
            (true, true) => Patience::Task(QUICK),
            (true, false) => Patience::Task(self.host().limits().grace),
            (false, true) => Patience::Running(Duration::ZERO),
            (false, false) => Patience::Running(arguments.wait),
        };
        let pulse = self.pulse(caller, vec![submitted.id()]);
        let watch = Watch::new(&self, caller, submitted);
        Begun::Working(pulse, Box::pin(async move { self.outlast(watch, caller, patience).await.map(Ok) }))
    }

    /// Waits for an entry that this call has started, and answers.
    async fn outlast(&self, watch: Watch, caller: Owner, patience: Patience) -> Option<Outcome> {
        let id = watch.id();
        let (Patience::Running(time) | Patience::Task(time)) = patience;
        let until = self.host().clock().now() + time;
        let at_once = !time.is_zero() && self.host().settles_at_once(id);
        // A notice may have come meanwhile, or in the same batch: it may be what the eval has settled by.
        let ended = if at_once && !self.ticket.is_cancelled() {
            Ended::Settled
        } else {
            match self.wait(&[id], &[], until).await {
                Ended::Stopping => self.last_moment(&[id]).await,
                ended => ended,
            }
        };
        // From here on the call is answered in one go: a client that leaves now has its answer composed.
        let submitted = watch.over()?;
        match (ended, patience) {
            (Ended::TakenBack, _) => {
                // Whoever noticed stopped it already, unless the notice came before the books knew of the entry.
                self.stop(CancelBy::Request, &[id]);
                None
            }
            (Ended::Stopping, _) => Some(self.last_words(self.host().answer_eval(caller, submitted)).into()),
            (Ended::TimeUp, Patience::Task(_)) => Some(self.as_task(caller, submitted)),
            (Ended::TimeUp, Patience::Running(_)) | (Ended::Settled, _) => {
                Some(self.host().answer_eval(caller, submitted).into())
            }
        }
    }

    /// The task that an eval at work becomes; its answer when it has just settled after all.
    fn as_task(&self, caller: Owner, submitted: Submitted) -> Outcome {
        let id = submitted.id();
        let view = self.host().task(id).ok().filter(|view| !view.status.is_settled());
        let (Some(view), Some(handle)) = (view, self.host().handle_of(caller)) else {
            return self.host().answer_eval(caller, submitted).into();
        };
        let task = TaskId { handle, entry: id };
        let mut result = tasks::members(&task, &view, Some(tasks::started(id)), self.host().clock());
        result.insert("resultType".into(), json!("task"));
        Outcome { result, delivery: self.host().follow(submitted) }
    }

    fn awaiting(self, given: Object) -> Begun {
        let read = arguments::awaiting(given, self.host().limits().silence);
        let (caller, arguments) = match self.resolve(read) {
            Ok(resolved) => resolved,
            Err(refused) => return refused,
        };
        let mut ids = arguments.all.clone();
        let in_all: HashSet<u64> = ids.iter().copied().collect();
        ids.extend(arguments.any.iter().filter(|id| !in_all.contains(id)));
        let entries = |ids: &[u64]| ids.iter().copied().map(EntryId).collect::<Vec<_>>();
        let (all, any) = (entries(&arguments.all), entries(&arguments.any));
        let pulse = self.pulse(caller, entries(&ids));
        let hold = self.host().hold(caller);
        // What is awaited is told by this answer and by no other one meanwhile.
        let expected = self.host().expect(caller, &entries(&ids));
        let until = self.host().clock().now() + arguments.wait;
        Begun::Working(
            pulse,
            Box::pin(async move {
                let _hold = hold;
                let ended = match self.wait(&all, &any, until).await {
                    Ended::TakenBack => return None,
                    Ended::Stopping => self.last_moment(&entries(&ids)).await,
                    ended => ended,
                };
                let answer = self.host().answer_await(caller, &ids);
                drop(expected);
                let stopping = matches!(ended, Ended::Stopping);
                Some(Ok(if stopping { self.last_words(answer) } else { answer }.into()))
            }),
        )
    }

    fn cancel(self, given: Object) -> Begun {
        let (caller, arguments) = match self.resolve(arguments::cancel(given)) {
            Ok(resolved) => resolved,
            Err(refused) => return refused,
        };
        let hold = self.host().hold(caller);
        let pulse = Pulse { latest_line: None, ..self.pulse(caller, Vec::new()) };
        Begun::Working(
            pulse,
            Box::pin(async move {
                let _hold = hold;
                // The wait for it to bite is short and bounded, so it outlasts a server that stops.
                tokio::select! {
                    biased;
                    () = self.ticket.cancelled() => None,
                    answer = self.host().answer_cancel(caller, &arguments.ids) => Some(Ok(answer.into())),
                }
            }),
        )
    }

    /// A tool that the embedding program added.
    fn further(self, tool: Arc<dyn Tool>, arguments: Object, notes: Notes) -> Begun {
        let asker = &self.asker;
        let tasks = asker.listing == Listing::Tasks;
        let call = ToolCall::new(arguments, asker.capabilities.clone(), asker.token.clone(), tasks, notes);
        let answer = tool.call(call);
        Begun::Working(
            Pulse::default(),
            Box::pin(async move {
                let answered = tokio::select! {
                    biased;
                    () = self.ticket.cancelled() => return None,
                    answered = answer => answered,
                };
                match answered {
                    Ok(Answered::Result(result)) => Some(Ok(Outcome::plain(result))),
                    Ok(Answered::Work { caller, submitted, grace }) => {
                        let watch = Watch::new(&self, caller, submitted);
                        let patience =
                            if tasks { Patience::Task(grace) } else { Patience::Running(self.host().limits().silence) };
                        self.outlast(watch, caller, patience).await.map(Ok)
                    }
                    Err(ToolFault::NeedsCapability(required)) => Some(Err(Fault::MissingCapability { required })),
                }
            }),
        )
    }

    /// What an open stream says about this call: the latest line of the entries it waits for.
    fn pulse(&self, caller: Owner, ids: Vec<EntryId>) -> Pulse {
        let host = self.host().clone();
        let latest_line = move || {
            let line = match ids.as_slice() {
                [id] => host.latest_line(*id),
                ids => newest_line(&host, ids),
            };
            line.map(|line| plain::first_line(&line, LINE_CHARACTERS))
        };
        let (host, header) = (self.host().clone(), self.asker.header);
        let heard = move || {
            let host = host.clone();
            Delivery::then(move || {
                host.heard(caller);
                if let Some(header) = header.filter(|header| *header != caller) {
                    host.heard(header);
                }
            })
        };
        Pulse {
            token: self.asker.token.clone(),
            latest_line: Some(Box::new(latest_line)),
            heard: Some(Box::new(heard)),
        }
    }

    async fn wait(&self, all: &[EntryId], any: &[EntryId], until: Time) -> Ended {
        tokio::select! {
            biased;
            () = self.ticket.cancelled() => Ended::TakenBack,
            settled = self.host().settled(all, any, Some(until)) => if settled { Ended::Settled } else { Ended::TimeUp },
            () = self.shared.stopping() => Ended::Stopping,
        }
    }

    /// The server is stopping. When the process ends with it, everything has been asked to stop: that may take a moment, and
    /// an answer with the end of the eval is worth it, and says by itself why it ended.
    async fn last_moment(&self, ids: &[EntryId]) -> Ended {
        if self.host().is_closing() {
            let until = self.host().clock().now() + self.host().limits().cancel_wait;
            if self.host().settled(ids, &[], Some(until)).await {
                return Ended::Settled;
            }
        }
        Ended::Stopping
    }

    /// An answer about what has not settled, given because the server is stopping, says so.
    fn last_words(&self, mut answer: Answer) -> Answer {
        answer.text.push_str("\n;; ");
        answer.text.push_str(if self.host().is_closing() { notice::SHUTTING_DOWN } else { STOPPING });
        answer
    }

    fn stop(&self, by: CancelBy, ids: &[EntryId]) {
        for id in ids {
            // What has settled or gone meanwhile needs no stopping.
            drop(self.host().cancel(by, *id));
        }
    }
}

fn both(problems: &Problems, refusal: &Refusal) -> String {
    format!("{problems}\n{refusal}")
}

/// The latest line of several entries: of the one that changed last.
fn newest_line(host: &HostApi, ids: &[EntryId]) -> Option<String> {
    let views = ids.iter().filter_map(|id| host.task(*id).ok());
    views.filter(|view| view.latest_line.is_some()).max_by_key(|view| view.updated)?.latest_line
}

/// The wait of a call for the entry it started, and what becomes of both when the client goes away: dropping this before it
/// is over says so. It also keeps the session alive.
struct Watch {
    host: HostApi,
    /// The entry, and who hears of a notice; `None` once the wait is over.
    waiting: Option<(Submitted, Arc<Ticket>)>,
    id: EntryId,
    wire: Wire,
    _hold: Hold,
}

impl Watch {
    fn new(calling: &Calling, caller: Owner, submitted: Submitted) -> Self {
        let (host, wire, id) = (calling.host().clone(), calling.asker.listing.wire(), submitted.id());
        calling.ticket.stands_for(id);
        let hold = host.hold(caller);
        Self { host, waiting: Some((submitted, Arc::clone(&calling.ticket))), id, wire, _hold: hold }
    }

    fn id(&self) -> EntryId {
        self.id
    }

    /// The wait is over: the entry, to be answered for.
    fn over(mut self) -> Option<Submitted> {
        self.waiting.take().map(|(submitted, _)| submitted)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let Some((submitted, ticket)) = self.waiting.take() else { return };
        match self.wire {
            // Closing the stream takes the request back. What has settled meanwhile needs no stopping.
            Wire::Modern => drop(self.host.cancel(CancelBy::Request, self.id)),
            // Closing a socket means nothing: the eval runs on, and the client may still take the request back by a notice.
            Wire::Legacy => {
                let (host, id) = (self.host.clone(), self.id);
                if let Ok(runtime) = Handle::try_current() {
                    runtime.spawn(async move {
                        host.over(&[id]).await;
                        drop(ticket);
                    });
                }
            }
        }
        // Nobody is there to be answered: from now on the entry is owed as news.
        drop(submitted);
    }
}
