//! What most tests of the joined program need: a host with gates, and callers who speak to it and take its answers as a front
//! end does. Every wait has a bound.

use crate::fixtures::{self, Gates};
use remontoire::internals::{Answer, CancelBy, ClientInfo, HostApi, Owner};
use remontoire::{Clock, EntryId, EvalRequest, Host, HostBuilder, Limits, Status};
use std::fmt::Debug;
use std::future::Future;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

/// Longer than anything takes; a test that gets here hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// The value of a future that must not take for ever.
pub(crate) async fn within<T>(what: impl Debug, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.unwrap_or_else(|_| panic!("{what:?} hangs"))
}

/// A host, what moves it, and a folder of modules of its own.
pub(crate) struct Harness {
    pub(crate) host: Host,
    /// The same, as front ends use it.
    pub(crate) api: HostApi,
    pub(crate) gates: Gates,
    scripts: TempDir,
}

impl Harness {
    /// On the machine's clock, with the default limits.
    pub(crate) fn new() -> Self {
        Self::with(Clock::real(), Limits::default())
    }

    pub(crate) fn with(clock: Clock, limits: Limits) -> Self {
        Self::build(clock, |builder| builder.limits(limits))
    }

    pub(crate) fn build(clock: Clock, more: impl FnOnce(HostBuilder) -> HostBuilder) -> Self {
        let gates = Gates::default();
        let scripts = tempfile::tempdir().unwrap();
        let builder =
            Host::builder().clock(clock).scripts(scripts.path()).module("gate", fixtures::gate_module(&gates));
        let host = more(builder).build().expect("the host can be built");
        let api = HostApi::of(&host).clone();
        Self { host, api, gates, scripts }
    }

    /// Writes a file of the modules' folder.
    pub(crate) fn script(&self, file: &str, text: &str) {
        let path = self.scripts.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn scripts(&self) -> &Path {
        self.scripts.path()
    }

    /// A new session.
    pub(crate) fn session(&self) -> Speaker {
        let client =
            ClientInfo { name: "suite".into(), version: "1".into(), revision: "2025-11-25".into(), tasks: false };
        let (handle, caller) = self.api.create_session(None, client, None).expect("there is room for a session");
        Speaker { host: self.api.clone(), caller, name: handle.to_string() }
    }

    /// The caller without a session.
    pub(crate) fn nil(&self) -> Speaker {
        Speaker { host: self.api.clone(), caller: Owner::Local, name: String::new() }
    }
}

/// Somebody who speaks to a host and reads every answer whole.
#[derive(Clone)]
pub(crate) struct Speaker {
    pub(crate) host: HostApi,
    pub(crate) caller: Owner,
    /// The session's handle.
    pub(crate) name: String,
}

/// An answer that was read.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    /// The entry, when it was an eval.
    pub(crate) id: EntryId,
    pub(crate) text: String,
    pub(crate) is_error: bool,
}

impl Said {
    fn read(id: EntryId, answer: Answer) -> Self {
        answer.delivery.written();
        Self { id, text: answer.text, is_error: answer.is_error }
    }

    /// The first line.
    pub(crate) fn first(&self) -> &str {
        self.text.lines().next().unwrap_or_default()
    }

    /// It ended well with this value (the first line).
    #[track_caller]
    pub(crate) fn is(&self, value: &str) -> &Self {
        assert!(!self.is_error && self.first() == value, "expected {value}, got\n{}", self.text);
        self
    }

    /// The answer has these words.
    #[track_caller]
    pub(crate) fn has(&self, words: &str) -> &Self {
        assert!(self.text.contains(words), "expected `{words}` in\n{}", self.text);
        self
    }

    #[track_caller]
    pub(crate) fn lacks(&self, words: &str) -> &Self {
        assert!(!self.text.contains(words), "expected no `{words}` in\n{}", self.text);
        self
    }

    /// It is an error whose text has these words.
    #[track_caller]
    pub(crate) fn fails(&self, words: &str) -> &Self {
        assert!(self.is_error, "expected a failure with `{words}`, got\n{}", self.text);
        self.has(words)
    }
}

impl Speaker {
    /// Evaluates and waits for the end.
    pub(crate) async fn eval(&self, code: &str) -> Said {
        self.run(&EvalRequest::new(code)).await
    }

    /// Evaluates in a space or module.
    pub(crate) async fn eval_in(&self, ns: &str, code: &str) -> Said {
        self.run(&EvalRequest { code: code.to_owned(), ns: Some(ns.to_owned()) }).await
    }

    async fn run(&self, job: &EvalRequest) -> Said {
        let submitted = self.host.submit(self.caller, job).unwrap_or_else(|refusal| panic!("{}: {refusal}", job.code));
        let id = submitted.id();
        within(&job.code, self.host.settled(&[id], &[], None)).await;
        Said::read(id, self.host.answer_eval(self.caller, submitted))
    }

    /// Evaluates, and is answered at once: `running` for work that waits.
    pub(crate) fn start(&self, code: &str) -> Said {
        let submitted = self.host.submit(self.caller, &EvalRequest::new(code)).expect("there is room for an eval");
        let id = submitted.id();
        Said::read(id, self.host.answer_eval(self.caller, submitted))
    }

    /// Waits for entries, as the tool `await` does.
    pub(crate) async fn wait(&self, ids: &[EntryId]) -> Said {
        let expected = self.host.expect(self.caller, ids);
        within(ids, self.host.settled(ids, &[], None)).await;
        let numbers: Vec<u64> = ids.iter().map(|id| id.0).collect();
        let answer = self.host.answer_await(self.caller, &numbers);
        drop(expected);
        Said::read(ids.first().copied().unwrap_or(EntryId(0)), answer)
    }

    /// Cancels an entry and waits for the end, as the tool `cancel` does.
    pub(crate) async fn cancel(&self, id: EntryId) -> Said {
        let expected = self.host.expect(self.caller, &[id]);
        let answer = within(id, self.host.answer_cancel(self.caller, &[id.0])).await;
        drop(expected);
        Said::read(id, answer)
    }

    /// Asks an entry to stop without waiting.
    pub(crate) fn stop(&self, id: EntryId) {
        self.host.cancel(CancelBy::Owner(self.caller), id).expect("the entry is there");
    }

    /// Waits until an entry has settled without reading it.
    pub(crate) async fn settled(&self, id: EntryId) -> Status {
        within(id, self.host.settled(&[id], &[], None)).await;
        self.host.entry(id).expect("the entry is kept").status
    }
}
