//! `tools/call`: the built-in tools against the host, and how a call waits. Both eras come here, with a [`RequestContext`] that
//! says what differs between them.

use super::exchange::{Call, Progress};
use super::open_requests::{Meaning, RequestGuard};
use super::response::Response;
use super::shared::Shared;
use crate::base::{ClientInfo, EntryId, Owner, Refusal, TaskId, Time};
use crate::host::{Answer, Delivery, EvalRequest, Hold, HostApi, Submitted};
use crate::mcp::rpc::fault::RpcError;
use crate::mcp::rpc::message::{Id, Object};
use crate::mcp::rpc::notifier::Notifier;
use crate::mcp::rpc::revision::Era;
use crate::mcp::tools::arguments::{self, Problems, Read};
use crate::mcp::tools::custom::{Answered, Tool, ToolCall, ToolFault};
use crate::mcp::tools::declarations::{Name, ToolSet};
use crate::mcp::tools::task_view;
use crate::registry::CancelBy;
use crate::render::{notice, plain};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;

/// The circumstances of a call: its client, and what holds for it.
pub(crate) struct RequestContext {
    /// The era, and in the modern one whether the request declared that it follows tasks.
    pub(crate) tools: ToolSet,
    /// The session the message belongs to, in the era whose messages belong to one.
    pub(crate) session: Option<Owner>,
    /// The client as it describes itself.
    pub(crate) client: ClientInfo,
    /// The capabilities the request declared.
    pub(crate) capabilities: Object,
    /// The other end of the connection.
    pub(crate) peer: Option<String>,
    /// The progress token, as sent.
    pub(crate) token: Option<Value>,
}

/// Begins a `tools/call`. Whatever it starts has been started when this returns.
pub(crate) fn begin(
    shared: &Arc<Shared>,
    id: Id,
    mut params: Object,
    context: RequestContext,
    guard: RequestGuard,
    notifier: &Notifier,
) -> Call {
    let calling = Calling { shared: Arc::clone(shared), id, context, guard: Arc::new(guard) };
    let (name, given) = match named(&mut params) {
        Ok(named) => named,
        Err(fault) => return Call::answered(calling.error(fault)),
    };
    match Name::from_text(&name) {
        Some(Name::CreateSession) => calling.create_session(given),
        Some(Name::Eval) => calling.eval(given),
        Some(Name::Await) => calling.awaiting(given),
        Some(Name::Cancel) => calling.cancel(given),
        None => match shared.tool(&name) {
            Some(tool) => calling.further(tool, given, notifier.clone()),
            None => Call::answered(calling.error(RpcError::UnknownTool { given: name, known: shared.tool_names() })),
        },
    }
}

/// The tool that a `tools/call` names, and the arguments it gives.
fn named(params: &mut Object) -> Result<(String, Object), RpcError> {
    let Some(Value::String(name)) = params.remove("name") else {
        return Err(RpcError::BadParams("tools/call needs the `name` of a tool, a string".into()));
    };
    match arguments::object(params.remove("arguments")) {
        Some(given) => Ok((name, given)),
        None => Err(RpcError::BadParams("`arguments` of tools/call must be an object".into())),
    }
}

/// The end of a wait.
enum Ended {
    /// The entries have settled.
    Settled,
    /// The time was up first.
    TimeUp,
    /// The client took the request back.
    TakenBack(Meaning),
    /// The server is stopping.
    Stopping,
}

/// The time a call waits for its eval, and the kind of answer when the eval lasts longer.
#[derive(Clone, Copy)]
enum WaitPolicy {
    /// This long; then with how it stands.
    Running(Duration),
    /// This long; then with a task.
    Task(Duration),
}

/// The longest line of output shown as progress, in characters.
const LINE_CHARACTERS: usize = 200;

/// The reason of a wait that ended early when only the server stops and its host goes on, as an embedding program may have it.
const STOPPING: &str = "the server is stopping; what has not settled runs on";

/// Work that has settled this soon is answered inline also when it was meant for the background.
const QUICK: Duration = Duration::from_millis(20);

/// One call of a tool, on its way.
struct Calling {
    shared: Arc<Shared>,
    id: Id,
    context: RequestContext,
    guard: Arc<RequestGuard>,
}

impl Calling {
    fn host(&self) -> &HostApi {
        &self.shared.host
    }

    fn era(&self) -> Era {
        self.context.tools.era()
    }

    /// An answer that ends this call.
    fn answer(&self, answer: Answer) -> Response {
        Response::answer(self.era(), &self.id, answer).keeping_open(Arc::clone(&self.guard))
    }

    /// A result that ends this call.
    fn result(&self, result: Object, delivery: Delivery) -> Response {
        Response::result(self.era(), &self.id, result, delivery).keeping_open(Arc::clone(&self.guard))
    }

    /// An error of the protocol that ends this call.
    fn error(&self, fault: RpcError) -> Response {
        Response::error(Some(&self.id), fault).keeping_open(Arc::clone(&self.guard))
    }

    /// The session that speaks: the argument wins over that of the message.
    fn caller(&self, session: Option<&str>) -> Result<Owner, Refusal> {
        match session {
            Some(handle) => self.host().handle_caller(handle),
            None => self.context.session.ok_or(Refusal::MissingSession),
        }
    }

    /// The session that speaks and what it gives; or the answer that says what is wrong with either.
    fn resolve<T>(&self, read: Read<T>) -> Result<(Owner, T), Answer> {
        match (self.caller(read.session.as_deref()), read.arguments) {
            (Ok(caller), Ok(arguments)) => Ok((caller, arguments)),
            (Ok(caller), Err(problems)) => Err(self.refusal(Some(caller), &problems.to_string())),
            (Err(refusal), Ok(_)) => Err(self.refusal(None, &refusal.to_string())),
            (Err(refusal), Err(problems)) => Err(self.refusal(None, &both(&problems, &refusal))),
        }
    }

    /// Tells whether the id of a task says whose its entry is. An entry that is gone is nobody's any more, and named as such.
    fn is_here(&self, task: &TaskId) -> bool {
        self.host().task(task.entry).map_or(true, |view| view.handle.as_ref() == Some(&task.handle))
    }

    fn refusal(&self, caller: Option<Owner>, text: &str) -> Answer {
        self.host().answer_text(caller, text, true)
    }

    /// A call that is over at once.
    fn done(&self, answer: Answer) -> Call {
        Call::answered(self.answer(answer))
    }

    fn create_session(self, given: Object) -> Call {
        // The answer belongs to the conversation that asks, which in the modern era does not exist yet.
        let asking = self.context.session;
        let note = match arguments::create_session(given).arguments {
            Ok(arguments) => arguments.note,
            Err(problems) => return self.done(self.refusal(asking, &problems.to_string())),
        };
        match self.host().create_session(note, self.context.client.clone(), self.context.peer.clone()) {
            Ok((handle, _)) => {
                let text = notice::session_created(&handle, self.era() == Era::Legacy);
                self.done(self.host().answer_text(asking, &text, false))
            }
            Err(refusal) => self.done(self.refusal(asking, &refusal.to_string())),
        }
    }

    fn eval(self, given: Object) -> Call {
        let tasks = self.context.tools == ToolSet::Tasks;
        let limits = self.host().limits();
        let read = arguments::eval(given, tasks, limits.grace, limits.silence);
        let (caller, arguments) = match self.resolve(read) {
            Ok(resolved) => resolved,
            Err(refused) => return self.done(refused),
        };
        let submitted = match self.host().submit(caller, &EvalRequest { code: arguments.code, ns: arguments.ns }) {
            Ok(submitted) => submitted,
            Err(refusal) => return self.done(self.refusal(Some(caller), &refusal.to_string())),
        };
        let policy = match (tasks, arguments.background) {
            (true, true) => WaitPolicy::Task(QUICK),
            (true, false) => WaitPolicy::Task(self.host().limits().grace),
            (false, true) => WaitPolicy::Running(Duration::ZERO),
            (false, false) => WaitPolicy::Running(arguments.wait),
        };
        let progress = self.progress(caller, vec![submitted.id()]);
        let waiting = CallGuard::new(&self, caller, submitted);
        Call::new(progress, Box::pin(async move { self.outlast(waiting, caller, policy).await }))
    }

    /// Waits for an entry that this call has started, and answers.
    async fn outlast(&self, waiting: CallGuard, caller: Owner, policy: WaitPolicy) -> Option<Response> {
        let id = waiting.id();
        let (WaitPolicy::Running(time) | WaitPolicy::Task(time)) = policy;
        let until = self.host().clock().now() + time;
        let at_once = !time.is_zero() && self.host().settles_at_once(id);
        // A notice may have come meanwhile, or in the same batch: it may be what the eval has settled by.
        let ended = if at_once && self.guard.taken_back().is_none() {
            Ended::Settled
        } else {
            match self.wait(&[id], &[], until).await {
                Ended::Stopping => self.last_moment(&[id]).await,
                ended => ended,
            }
        };
        // From here on the call is answered in one go: a client that leaves now has its answer composed.
        let submitted = waiting.over()?;
        match (ended, policy) {
            (Ended::TakenBack(Meaning::Stop), _) => {
                // Whoever noticed stopped it already, unless the notice came before the open request knew of the entry.
                self.stop(CancelBy::Request, &[id]);
                None
            }
            // Nobody is answered: it runs on, and is owed as news.
            (Ended::TakenBack(Meaning::GoOn), _) => None,
            (Ended::Stopping, _) => Some(self.answer(self.last_words(self.host().answer_eval(caller, submitted)))),
            (Ended::TimeUp, WaitPolicy::Task(_)) => Some(self.as_task(caller, submitted)),
            (Ended::TimeUp, WaitPolicy::Running(_)) | (Ended::Settled, _) => {
                Some(self.answer(self.host().answer_eval(caller, submitted)))
            }
        }
    }

    /// The task that an eval at work becomes; its answer when it has just settled after all.
    fn as_task(&self, caller: Owner, submitted: Submitted) -> Response {
        let id = submitted.id();
        let view = self.host().task(id).ok().filter(|view| !view.status.is_settled());
        let (Some(view), Some(handle)) = (view, self.host().handle_of(caller)) else {
            return self.answer(self.host().answer_eval(caller, submitted));
        };
        let task = TaskId { handle, entry: id };
        let mut result = task_view::members(&task, &view, Some(task_view::started(id)), self.host().clock());
        result.insert("resultType".into(), json!("task"));
        self.result(result, self.host().follow(submitted))
    }

    fn awaiting(self, given: Object) -> Call {
        let read = arguments::awaiting(given, self.host().limits().silence, |task| self.is_here(task));
        let (caller, arguments) = match self.resolve(read) {
            Ok(resolved) => resolved,
            Err(refused) => return self.done(refused),
        };
        let mut ids = arguments.all.clone();
        let in_all: HashSet<u64> = ids.iter().copied().collect();
        ids.extend(arguments.any.iter().filter(|id| !in_all.contains(id)));
        let entries = |ids: &[u64]| ids.iter().copied().map(EntryId).collect::<Vec<_>>();
        let (all, any) = (entries(&arguments.all), entries(&arguments.any));
        let progress = self.progress(caller, entries(&ids));
        let hold = self.host().hold(caller);
        // What is awaited is told by this answer and by no other one meanwhile.
        let expected = self.host().expect(caller, &entries(&ids));
        let until = self.host().clock().now() + arguments.wait;
        Call::new(
            progress,
            Box::pin(async move {
                let _hold = hold;
                let ended = match self.wait(&all, &any, until).await {
                    Ended::TakenBack(_) => return None,
                    Ended::Stopping => self.last_moment(&entries(&ids)).await,
                    ended => ended,
                };
                let answer = self.host().answer_await(caller, &ids);
                drop(expected);
                let stopping = matches!(ended, Ended::Stopping);
                Some(self.answer(if stopping { self.last_words(answer) } else { answer }))
            }),
        )
    }

    fn cancel(self, given: Object) -> Call {
        let (caller, arguments) = match self.resolve(arguments::cancel(given, |task| self.is_here(task))) {
            Ok(resolved) => resolved,
            Err(refused) => return self.done(refused),
        };
        let hold = self.host().hold(caller);
        let progress = Progress { latest_line: None, ..self.progress(caller, Vec::new()) };
        Call::new(
            progress,
            Box::pin(async move {
                let _hold = hold;
                // The wait for it to bite is short and bounded, so it outlasts a server that stops.
                tokio::select! {
                    biased;
                    _ = self.guard.cancelled() => None,
                    answer = self.host().answer_cancel(caller, &arguments.ids) => Some(self.answer(answer)),
                }
            }),
        )
    }

    /// A tool that the embedding program added.
    fn further(self, tool: Arc<dyn Tool>, arguments: Object, notifier: Notifier) -> Call {
        let context = &self.context;
        let tasks = context.tools == ToolSet::Tasks;
        let call = ToolCall::new(arguments, context.capabilities.clone(), context.token.clone(), tasks, notifier);
        let answer = tool.call(call);
        Call::new(
            Progress::default(),
            Box::pin(async move {
                let answered = tokio::select! {
                    biased;
                    _ = self.guard.cancelled() => return None,
                    answered = answer => answered,
                };
                match answered {
                    Ok(Answered::Result(result)) => Some(self.result(result, Delivery::none())),
                    Ok(Answered::Work { caller, submitted, grace }) => {
                        let waiting = CallGuard::new(&self, caller, submitted);
                        let policy = if tasks {
                            WaitPolicy::Task(grace)
                        } else {
                            WaitPolicy::Running(self.host().limits().silence)
                        };
                        self.outlast(waiting, caller, policy).await
                    }
                    Err(ToolFault::NeedsCapability(required)) => {
                        Some(self.error(RpcError::MissingCapability { required }))
                    }
                }
            }),
        )
    }

    /// The signs of life of this call: the latest line of the entries it waits for.
    fn progress(&self, caller: Owner, ids: Vec<EntryId>) -> Progress {
        let host = self.host().clone();
        let latest_line = move || {
            let line = match ids.as_slice() {
                [id] => host.latest_line(*id),
                ids => newest_line(&host, ids),
            };
            line.map(|line| plain::first_line(&line, LINE_CHARACTERS))
        };
        let (host, session) = (self.host().clone(), self.context.session);
        let heard = move || {
            let host = host.clone();
            Delivery::then(move || {
                host.heard(caller);
                if let Some(session) = session.filter(|session| *session != caller) {
                    host.heard(session);
                }
            })
        };
        Progress {
            token: self.context.token.clone(),
            latest_line: Some(Box::new(latest_line)),
            heard: Some(Box::new(heard)),
        }
    }

    async fn wait(&self, all: &[EntryId], any: &[EntryId], until: Time) -> Ended {
        tokio::select! {
            biased;
            meaning = self.guard.cancelled() => Ended::TakenBack(meaning),
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

/// The wait of a call for the entry it started. Dropping this before it is over says that the client has gone away, and decides
/// what becomes of the entry. It also keeps the session alive.
struct CallGuard {
    host: HostApi,
    /// The entry, and the open request that hears of a notice; `None` once the wait is over.
    waiting: Option<(Submitted, Arc<RequestGuard>)>,
    id: EntryId,
    era: Era,
    _hold: Hold,
}

impl CallGuard {
    fn new(calling: &Calling, caller: Owner, submitted: Submitted) -> Self {
        let (host, era, id) = (calling.host().clone(), calling.era(), submitted.id());
        calling.guard.stands_for(id);
        let hold = host.hold(caller);
        Self { host, waiting: Some((submitted, Arc::clone(&calling.guard))), id, era, _hold: hold }
    }

    fn id(&self) -> EntryId {
        self.id
    }

    /// The wait is over: the entry, to be answered for.
    fn over(mut self) -> Option<Submitted> {
        self.waiting.take().map(|(submitted, _)| submitted)
    }
}

impl Drop for CallGuard {
    fn drop(&mut self) {
        let Some((submitted, guard)) = self.waiting.take() else { return };
        match self.era {
            // Closing the stream takes the request back. What has settled meanwhile needs no stopping.
            Era::Modern => drop(self.host.cancel(CancelBy::Request, self.id)),
            // Closing a socket means nothing: the eval runs on, and the client may still take the request back by a notice.
            Era::Legacy => {
                let (host, id) = (self.host.clone(), self.id);
                if let Ok(runtime) = Handle::try_current() {
                    runtime.spawn(async move {
                        host.over(&[id]).await;
                        drop(guard);
                    });
                }
            }
        }
        // Nobody is there to be answered: from now on the entry is owed as news.
        drop(submitted);
    }
}
