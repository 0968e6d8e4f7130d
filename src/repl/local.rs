//! The host of this process as a backend.

use super::backend::{Backend, BackendError, Message, Mode, Output, Query, Reply, WaitUntil, Waited};
use crate::base::{Clock, EntryId, Owner, Refusal, Wake, lock};
use crate::host::{Answer, EvalRequest, Host, HostApi, Names, OutputPage, PromptSession, Submitted, wait};
use crate::registry::CancelBy;
use crate::render::Style;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::runtime::Handle;

/// The host of this process, spoken to as the nil caller.
#[derive(Debug)]
pub(crate) struct HostBackend {
    host: HostApi,
    session: PromptSession,
    runtime: Handle,
    /// Evals of the foreground. While one is here its end is no news.
    awaited: Mutex<HashMap<EntryId, Submitted>>,
}

impl HostBackend {
    /// A session of the prompt of `host`. Waiting is done on `runtime`, from a thread that is not one of its own.
    pub(crate) fn new(host: &Host, style: Style, runtime: Handle) -> Arc<Self> {
        let host = HostApi::of(host);
        let session = host.open_prompt(style);
        Arc::new(Self { host: host.clone(), session, runtime, awaited: Mutex::default() })
    }

    fn awaited(&self) -> MutexGuard<'_, HashMap<EntryId, Submitted>> {
        lock(&self.awaited)
    }
}

impl From<Refusal> for BackendError {
    fn from(refusal: Refusal) -> Self {
        Self(refusal.to_string())
    }
}

impl From<Answer> for Message {
    fn from(answer: Answer) -> Self {
        Self { text: answer.text, delivery: answer.delivery }
    }
}

impl Backend for HostBackend {
    fn clock(&self) -> &Clock {
        self.host.clock()
    }

    fn cancel_wait(&self) -> Duration {
        self.host.limits().cancel_wait
    }

    fn place(&self) -> Option<String> {
        let (name, own_scratch) = self.session.place();
        (!own_scratch).then_some(name)
    }

    fn names(&self) -> Names {
        self.session.names()
    }

    fn submit(&self, code: &str, mode: Mode) -> Reply<EntryId> {
        let submitted = self.host.submit(Owner::Local, &EvalRequest::new(code))?;
        let id = submitted.id();
        match mode {
            Mode::Foreground => drop(self.awaited().insert(id, submitted)),
            Mode::Background => drop(submitted),
        }
        Ok(id)
    }

    fn wait(&self, id: EntryId, until: &WaitUntil<'_>) -> Reply<Waited> {
        let expired = async {
            match until.deadline {
                Some(deadline) => wait::until(self.host.clock(), deadline).await,
                None => std::future::pending().await,
            }
        };
        Ok(self.runtime.block_on(async {
            tokio::select! {
                biased;
                () = until.interrupts.past(until.presses) => Waited::Interrupted,
                printed = self.host.printed(id, until.lines) => {
                    if printed.is_some() { Waited::Printed } else { Waited::Settled }
                }
                () = expired => Waited::Expired,
            }
        }))
    }

    fn output(&self, id: EntryId, from: usize, most: usize) -> Reply<OutputPage> {
        Ok(self.session.page(id, from, most)?)
    }

    fn cancel(&self, id: EntryId) -> Reply<()> {
        Ok(self.host.cancel(CancelBy::Owner(Owner::Local), id)?)
    }

    fn answer(&self, id: EntryId, output: Output) -> Reply<Message> {
        let submitted = self.awaited().remove(&id);
        Ok(match submitted {
            Some(submitted) => self.session.answer(submitted, output == Output::AlreadyShown).into(),
            None => self.session.entry(id).into(),
        })
    }

    fn leave(&self, id: EntryId) {
        drop(self.awaited().remove(&id));
        self.session.settled().notify();
    }

    fn ask(&self, query: &Query) -> Reply<Message> {
        Ok(match query {
            Query::Evals(status) => Message::plain(self.session.evals(*status)),
            Query::Entry(id) => self.session.entry(*id).into(),
            Query::Output { id, from, count } => Message::plain(self.session.output(*id, *from, *count)?),
            Query::Cancel(id) => self.runtime.block_on(self.host.answer_cancel(Owner::Local, &[id.0])).into(),
            Query::Sessions => Message::plain(self.session.sessions()),
            Query::Spaces => Message::plain(self.session.spaces()),
            Query::Place => Message::plain(self.session.place().0),
            Query::Move(name) => Message::plain(self.session.enter(name)?),
            Query::Doc(name) => Message::plain(self.session.doc(name).map_err(BackendError)?),
        })
    }

    fn ended_by_leaving(&self) -> Option<String> {
        self.session.ended_by_leaving()
    }

    fn take_news(&self) -> Option<Message> {
        self.session.news().map(Message::from)
    }

    fn news(&self) -> &Wake {
        self.session.settled()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Status;
    use crate::host::ModuleKind;
    use crate::repl::Interrupts;

    fn backend(runtime: &tokio::runtime::Runtime) -> Arc<HostBackend> {
        let host = Host::builder().build().unwrap();
        HostBackend::new(&host, Style::Terminal { colour: false }, runtime.handle().clone())
    }

    fn settle(backend: &HostBackend, id: EntryId) {
        let interrupts = Interrupts::default();
        let deadline = Some(backend.clock().now() + Duration::from_secs(20));
        loop {
            let lines = backend.output(id, usize::MAX, 0).unwrap().total;
            let until = WaitUntil { lines, deadline, interrupts: &interrupts, presses: 0 };
            match backend.wait(id, &until).unwrap() {
                Waited::Settled => return,
                Waited::Printed => {}
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn an_eval_of_the_foreground_is_answered_and_is_no_news() {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let backend = backend(&runtime);
        let id = backend.submit("print(\"seen\"); let total = 42; total", Mode::Foreground).unwrap();
        settle(&backend, id);
        assert!(backend.take_news().is_none());
        let page = backend.output(id, 0, 10).unwrap();
        assert_eq!((page.status, page.lines.as_slice()), (Status::Ok, ["seen".to_owned()].as_slice()));
        let message = backend.answer(id, Output::AlreadyShown).unwrap();
        assert_eq!(message.text.lines().next(), Some("42"));
        assert!(!message.text.contains("seen"), "{}", message.text);
        message.delivery.written();
        assert!(backend.take_news().is_none());
        assert_eq!(backend.names().variables, ["total"]);
    }

    #[test]
    fn an_eval_of_the_background_is_news_once() {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let backend = backend(&runtime);
        let id = backend.submit("1 + 1", Mode::Background).unwrap();
        settle(&backend, id);
        let message = backend.take_news().unwrap();
        assert!(message.text.starts_with(&format!("{id} ok after ")), "{}", message.text);
        message.delivery.written();
        assert!(backend.take_news().is_none());
    }

    #[test]
    fn a_running_eval_is_cancelled_and_one_that_is_left_is_news() {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let backend = backend(&runtime);
        let id = backend.submit("loop {}", Mode::Foreground).unwrap();
        let interrupts = Interrupts::default();
        interrupts.press();
        let until = WaitUntil { lines: 0, deadline: None, interrupts: &interrupts, presses: 0 };
        assert_eq!(backend.wait(id, &until), Ok(Waited::Interrupted));
        backend.cancel(id).unwrap();
        settle(&backend, id);
        let message = backend.answer(id, Output::AlreadyShown).unwrap();
        assert!(message.text.starts_with(&format!("cancelled · id {id} after ")), "{}", message.text);
        message.delivery.written();

        let id = backend.submit("sleep(0.01)", Mode::Foreground).unwrap();
        backend.leave(id);
        settle(&backend, id);
        assert!(backend.take_news().is_some());
    }

    #[test]
    fn what_a_space_or_a_module_has_can_be_typed_there() {
        let folder = tempfile::tempdir().unwrap();
        let text = "/// Twice as much.\nfn twice(n) { n * 2 }\nprivate fn secret() { 1 }\nexport const RATE = 3;\n";
        std::fs::write(folder.path().join("calc.rhai"), text).unwrap();
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let host = Host::builder().scripts(folder.path()).build().unwrap();
        let backend = HostBackend::new(&host, Style::Terminal { colour: false }, runtime.handle().clone());
        let eval = |code: &str| {
            let id = backend.submit(code, Mode::Foreground).unwrap();
            settle(&backend, id);
            backend.answer(id, Output::AlreadyShown).unwrap().delivery.written();
        };
        let functions = |names: &Names| names.functions.iter().map(ToString::to_string).collect::<Vec<_>>();
        let module = |names: &Names, name: &str| names.modules.iter().find(|m| m.name == name).cloned();

        assert_eq!(module(&backend.names(), "calc").unwrap().kind, ModuleKind::Script);
        eval("import \"calc\" as c; let total = c::twice(1); fn thrice(n) { n * 3 } let f = |x| x; 1");
        let names = backend.names();
        assert_eq!(names.variables, ["f", "total"]);
        assert!(functions(&names).contains(&"thrice(n)".to_owned()));
        let imported = module(&names, "c").unwrap();
        assert_eq!(
            (imported.kind, imported.constants.as_slice()),
            (ModuleKind::Import, ["RATE".to_owned()].as_slice())
        );
        assert_eq!(imported.functions[0].to_string(), "twice(n)");

        // Inside a module, before anything was evaluated there and after.
        backend.ask(&Query::Move("calc".into())).unwrap();
        for code in ["", "fn quarter(n) { n / 4 } let here = 1;"] {
            eval(code);
            let names = backend.names();
            for signature in ["twice(n)", "secret()"] {
                assert!(functions(&names).contains(&signature.to_owned()), "{signature} after {code:?}");
            }
        }
        assert!(functions(&backend.names()).contains(&"quarter(n)".to_owned()));
        assert!(backend.names().variables.contains(&"here".to_owned()));
        let spaces = backend.ask(&Query::Spaces).unwrap().text;
        let row = spaces.lines().find(|line| line.starts_with("calc")).unwrap();
        assert!(row.contains("module") && row.ends_with("← here"), "{spaces}");
    }

    #[test]
    fn questions_are_answered() {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let backend = backend(&runtime);
        let id = backend.submit("print(\"line\"); 7", Mode::Foreground).unwrap();
        settle(&backend, id);
        drop(backend.answer(id, Output::AlreadyShown));
        let text = |query: &Query| backend.ask(query).unwrap().text;
        assert!(text(&Query::Evals(None)).contains("print(\"line\"); 7"));
        assert_eq!(text(&Query::Evals(Some(Status::Failed))), "no entries");
        assert!(text(&Query::Entry(id)).starts_with("7\n"));
        assert!(text(&Query::Output { id, from: None, count: None }).contains("line"));
        assert!(text(&Query::Output { id, from: Some(0), count: Some(1) }).contains("line"));
        assert_eq!(text(&Query::Sessions), "no sessions");
        assert!(text(&Query::Spaces).contains("scratch"));
        assert_eq!(text(&Query::Place), "scratch");
        assert!(text(&Query::Doc("sleep".into())).contains("sleep("));
        assert!(backend.ask(&Query::Doc("slep".into())).unwrap_err().0.contains("sleep"));
        settle(&backend, backend.submit("/// Doubles.\nfn twice(n) { n * 2 }", Mode::Foreground).unwrap());
        assert!(text(&Query::Doc("twice".into())).contains("Doubles."));
        assert_eq!(backend.place(), None);
        assert_eq!(text(&Query::Move("workshop".into())), "workshop");
        assert_eq!(backend.place(), Some("workshop".into()));
        assert!(backend.ask(&Query::Move("not a name".into())).is_err());
        assert!(backend.ask(&Query::Output { id: EntryId(99), from: None, count: None }).is_err());
        assert!(backend.names().functions.iter().any(|signature| signature.name == "sleep"));
        let shown: Vec<_> = backend.names().functions.iter().map(ToString::to_string).collect();
        assert!(shown.contains(&"push(array: array, item: any)".to_owned()), "{shown:?}");
        let foreign = |text: &str| ["&", "Dynamic", "Array", "ImmutableString"].iter().any(|word| text.contains(word));
        assert_eq!(shown.iter().find(|signature| foreign(signature)), None);
        // What is made anew here is shown once, as what it is here.
        let sleeps: Vec<_> = shown.iter().filter(|signature| signature.starts_with("sleep(")).collect();
        assert_eq!(sleeps, ["sleep(secs: float)", "sleep(secs: int)"]);
        let replace = text(&Query::Doc("replace".into()));
        assert!(replace.contains("replace(text: string, find: string, by: char)"), "{replace}");
        assert!(!replace.contains("find_string"), "{replace}");
        for name in ["print", "debug", "push"] {
            assert!(!foreign(&text(&Query::Doc(name.into()))), "{name}");
        }
    }
}
