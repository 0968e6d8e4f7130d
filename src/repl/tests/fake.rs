//! The parts of a conversation: a backend that follows a script, a person who does, and a terminal that is a text.
//!
//! Each code the backend knows is a list of steps, and waiting for an entry plays the next one. So nothing here sleeps, and
//! only the tests of news involve a second thread.

use crate::base::{Clock, EntryId, Status, Time, Wake};
use crate::host::{Delivery, Names, OutputPage};
use crate::render::Style;
use crate::repl::backend::{Backend, BackendError, Message, Mode, Output, Query, Reply, WaitUntil, Waited};
use crate::repl::interrupts::Interrupts;
use crate::repl::lines::{Line, LineSource, PrintAbove, Screen};
use crate::repl::prompt::run;
use expect_test::Expect;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A step of an entry, taken when it is waited for.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Prints(&'static str),
    Takes(Duration),
    CtrlC,
    Settles(Status),
    /// It settles, that is news as in a host, and the thread that prints news has looked before the loop goes on.
    SettlesAsNews,
    /// The connection breaks.
    Breaks,
}
pub(super) use Step::{Breaks, CtrlC, Prints, Settles, SettlesAsNews, Takes};

pub(super) struct Entry {
    pub(super) code: String,
    pub(super) status: Status,
    pub(super) lines: Vec<String>,
    /// The number of first lines that were dropped.
    pub(super) dropped: usize,
    pub(super) steps: VecDeque<Step>,
}

/// The state of the backend, which tests look into and change.
#[derive(Default)]
pub(super) struct FakeState {
    pub(super) scripts: BTreeMap<&'static str, Vec<Step>>,
    pub(super) entries: Vec<Entry>,
    pub(super) news: Vec<String>,
    pub(super) place: Option<String>,
    pub(super) delivered: Vec<String>,
    /// Evals of the foreground that were neither answered nor left.
    pub(super) awaited: BTreeSet<EntryId>,
    /// Those whose work ends when the prompt is left.
    pub(super) others: Option<&'static str>,
    /// Cancelled entries do not stop.
    pub(super) stubborn: bool,
}

pub(super) struct Fake {
    pub(super) state: Arc<Mutex<FakeState>>,
    pub(super) clock: Clock,
    pub(super) interrupts: Interrupts,
    pub(super) wake: Wake,
    /// Is notified whenever somebody looks whether there may be news.
    pub(super) looked: Wake,
    /// Is notified whenever something was delivered.
    pub(super) marked: Wake,
}

impl Fake {
    fn message(&self, text: String) -> Message {
        let (state, marked) = (Arc::clone(&self.state), self.marked.clone());
        let first = text.lines().next().unwrap_or_default().to_owned();
        let mark = move || {
            state.lock().unwrap().delivered.push(first);
            marked.notify();
        };
        Message { text, delivery: Delivery::then(mark) }
    }

    fn entry<T>(&self, id: EntryId, look: impl FnOnce(&mut Entry) -> T) -> Reply<T> {
        let mut state = self.state.lock().unwrap();
        let entry = state.entries.get_mut(id.0 as usize - 1);
        entry.map(look).ok_or_else(|| BackendError(format!("no entry {id}")))
    }
}

impl Backend for Fake {
    fn clock(&self) -> &Clock {
        &self.clock
    }

    fn cancel_wait(&self) -> Duration {
        Duration::from_secs(2)
    }

    fn place(&self) -> Option<String> {
        self.state.lock().unwrap().place.clone()
    }

    fn names(&self) -> Names {
        Names::default()
    }

    fn submit(&self, code: &str, mode: Mode) -> Reply<EntryId> {
        let mut state = self.state.lock().unwrap();
        if code == "too much" {
            return Err(BackendError("the process is shutting down; nothing was started".into()));
        }
        let steps = state.scripts.get(code).cloned().unwrap_or_else(|| vec![Settles(Status::Ok)]).into();
        state.entries.push(Entry { code: code.into(), status: Status::Running, lines: Vec::new(), dropped: 0, steps });
        let id = EntryId(state.entries.len() as u64);
        if mode == Mode::Foreground {
            state.awaited.insert(id);
        }
        Ok(id)
    }

    fn wait(&self, id: EntryId, until: &WaitUntil<'_>) -> Reply<Waited> {
        loop {
            if self.interrupts.count() > until.presses {
                return Ok(Waited::Interrupted);
            }
            let (settled, printed, step) = self.entry(id, |entry| {
                let settled = entry.status.is_settled();
                let printed = entry.lines.len() > until.lines;
                (settled, printed, if settled || printed { None } else { entry.steps.pop_front() })
            })?;
            if settled {
                return Ok(Waited::Settled);
            }
            if printed {
                return Ok(Waited::Printed);
            }
            match step {
                Some(Prints(text)) => {
                    self.entry(id, |entry| entry.lines.extend(text.split('\n').map(str::to_owned)))?;
                }
                Some(Takes(time)) => self.clock.advance(time),
                Some(CtrlC) => self.interrupts.press(),
                Some(Settles(status)) => self.entry(id, |entry| entry.status = status)?,
                Some(SettlesAsNews) => {
                    self.entry(id, |entry| entry.status = Status::Ok)?;
                    self.state.lock().unwrap().news.push(format!(";; id {id} · ok"));
                    // Twice: the first notice may come while a look is under way that began before the news was there.
                    for _ in 0..2 {
                        let looked = self.looked.generation();
                        self.wake.notify();
                        wait_until(&self.looked, || self.looked.generation() >= looked + 2);
                    }
                }
                Some(Breaks) => return Err(BackendError("the connection broke".into())),
                None => {
                    // Only time can end this wait.
                    self.clock
                        .advance(until.deadline.expect("an entry that hangs is cancelled").since(self.clock.now()));
                }
            }
            if until.deadline.is_some_and(|deadline: Time| deadline <= self.clock.now()) {
                return Ok(Waited::Expired);
            }
        }
    }

    fn output(&self, id: EntryId, from: usize, most: usize) -> Reply<OutputPage> {
        self.entry(id, |entry| {
            let first = from.clamp(entry.dropped.min(entry.lines.len()), entry.lines.len());
            let lines = entry.lines[first..].iter().take(most).cloned().collect();
            OutputPage { status: entry.status, first, skipped_are_kept: false, lines, total: entry.lines.len() }
        })
    }

    fn cancel(&self, id: EntryId) -> Reply<()> {
        let stubborn = self.state.lock().unwrap().stubborn;
        self.entry(id, |entry| {
            if !stubborn {
                entry.status = Status::Cancelled;
            }
        })
    }

    fn answer(&self, id: EntryId, output: Output) -> Reply<Message> {
        assert_eq!(output, Output::AlreadyShown);
        self.leave(id);
        // What is answered is news no more.
        let news = format!(";; id {id} · ok");
        self.state.lock().unwrap().news.retain(|text| *text != news);
        let text = self.entry(id, |entry| match entry.status {
            Status::Ok => format!("= {}\n;; id {id} · ok", entry.code),
            Status::Queued | Status::Running => format!("cancelling (in native code since 2.0s)\n;; id {id} · running"),
            status => format!("{status}\n;; id {id} · {status}"),
        })?;
        Ok(self.message(text))
    }

    fn leave(&self, id: EntryId) {
        assert!(self.state.lock().unwrap().awaited.remove(&id), "{id} is of the foreground");
    }

    fn ask(&self, query: &Query) -> Reply<Message> {
        match query {
            Query::Move(name) if name == "nowhere" => Err(BackendError("no such space: nowhere".into())),
            Query::Move(name) => {
                self.state.lock().unwrap().place = Some(name.clone());
                Ok(Message::plain(name.clone()))
            }
            other => Ok(self.message(format!("{other:?}"))),
        }
    }

    fn ended_by_leaving(&self) -> Option<String> {
        self.state.lock().unwrap().others.map(str::to_owned)
    }

    fn take_news(&self) -> Option<Message> {
        let mut state = self.state.lock().unwrap();
        if state.news.is_empty() {
            return None;
        }
        let text = state.news.remove(0);
        drop(state);
        Some(self.message(text))
    }

    fn news(&self) -> &Wake {
        self.looked.notify();
        &self.wake
    }
}

/// The text on the terminal, and a wake for those who wait for a part of it.
#[derive(Clone, Default)]
pub(super) struct Shown {
    pub(super) text: Arc<Mutex<String>>,
    pub(super) written: Wake,
}

impl Write for Shown {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.lock().unwrap().push_str(std::str::from_utf8(bytes).unwrap());
        self.written.notify();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Shown {
    /// Waits until the terminal shows `text`.
    pub(super) fn wait_for(&self, text: &str) {
        wait_until(&self.written, || self.text.lock().unwrap().contains(text));
    }
}

/// Waits until `is_so`, which may change whenever `wake` is notified; fails after a while.
pub(super) fn wait_until(wake: &Wake, is_so: impl Fn() -> bool) {
    let clock = Clock::real();
    let until = clock.now() + Duration::from_secs(20);
    loop {
        let seen = wake.generation();
        if is_so() {
            return;
        }
        assert!(clock.now() < until, "what was waited for never came");
        wake.wait(seen, &clock, Some(until));
    }
}

/// A deed of the person at the terminal.
pub(super) enum Act {
    Types(&'static str),
    CtrlC {
        empty: bool,
    },
    CtrlD,
    /// Does this while a text is being typed, and types nothing.
    Meanwhile(Box<dyn FnOnce(&Shown)>),
}

pub(super) struct Person {
    pub(super) acts: VecDeque<Act>,
    pub(super) shown: Shown,
    pub(super) history: Vec<String>,
    /// How often what was typed ahead was dropped.
    pub(super) dropped: usize,
}

impl LineSource for Person {
    fn read(&mut self, prompt: &str, _: &Arc<Names>) -> io::Result<Line> {
        loop {
            let (echo, line) = match self.acts.pop_front() {
                Some(Act::Types(text)) => (text.replace('\r', "").replace('\n', "\n· "), Line::Text(text.to_owned())),
                Some(Act::CtrlC { empty }) => ("^C".to_owned(), Line::Interrupted { empty }),
                Some(Act::CtrlD) | None => ("^D".to_owned(), Line::End),
                Some(Act::Meanwhile(act)) => {
                    act(&self.shown);
                    continue;
                }
            };
            self.shown.write_all(format!("{prompt}{echo}\n").as_bytes())?;
            return Ok(line);
        }
    }

    fn drop_typed_ahead(&mut self) {
        self.dropped += 1;
    }

    fn remember(&mut self, text: &str) {
        self.history.push(text.to_owned());
    }

    fn above(&mut self) -> Option<Box<dyn PrintAbove>> {
        struct Above(Shown);
        impl PrintAbove for Above {
            fn print(&mut self, text: &str) -> io::Result<()> {
                assert!(text.ends_with('\n'));
                self.0.write_all(format!("[above] {text}").as_bytes())
            }
        }
        Some(Box::new(Above(self.shown.clone())))
    }
}

/// One conversation: its backend and its person.
pub(super) struct Conversation {
    pub(super) fake: Arc<Fake>,
    pub(super) person: Person,
}

impl Conversation {
    pub(super) fn new(scripts: &[(&'static str, &[Step])]) -> Self {
        let scripts = scripts.iter().map(|(code, steps)| (*code, steps.to_vec())).collect();
        let fake = Fake {
            state: Arc::new(Mutex::new(FakeState { scripts, ..FakeState::default() })),
            clock: Clock::manual(),
            interrupts: Interrupts::default(),
            wake: Wake::default(),
            looked: Wake::default(),
            marked: Wake::default(),
        };
        let person = Person { acts: VecDeque::new(), shown: Shown::default(), history: Vec::new(), dropped: 0 };
        Self { fake: Arc::new(fake), person }
    }

    pub(super) fn with(self, change: impl FnOnce(&mut FakeState)) -> Self {
        change(&mut self.fake.state.lock().unwrap());
        self
    }

    pub(super) fn types(mut self, texts: &[&'static str]) -> Self {
        self.person.acts.extend(texts.iter().map(|text| Act::Types(text)));
        self
    }

    pub(super) fn acts(mut self, act: Act) -> Self {
        self.person.acts.push_back(act);
        self
    }

    /// Changes the state of the backend while the next text is being typed.
    pub(super) fn meanwhile(self, change: impl FnOnce(&mut FakeState) + 'static) -> Self {
        let state = Arc::clone(&self.fake.state);
        self.acts(Act::Meanwhile(Box::new(move |_| change(&mut state.lock().unwrap()))))
    }

    /// Runs it to its end; returns what the terminal showed after the greeting.
    pub(super) fn run(&mut self) -> String {
        let screen = Screen::new(self.person.shown.clone(), Style::Terminal { colour: false });
        let interrupts = self.fake.interrupts.clone();
        let backend: Arc<dyn Backend> = Arc::clone(&self.fake) as Arc<dyn Backend>;
        run(backend, &mut self.person, &screen, &interrupts).unwrap();
        assert_eq!(self.fake.state.lock().unwrap().awaited, BTreeSet::new(), "each was answered or left");
        let text = self.person.shown.text.lock().unwrap().clone();
        text.strip_prefix(":help lists the commands · Ctrl-D leaves\n").expect("the greeting comes first").to_owned()
    }

    /// Runs it to its end and compares what the terminal showed.
    pub(super) fn shows(mut self, expected: Expect) -> Self {
        let text = self.run();
        expected.assert_eq(&format!("{text}[end]"));
        self
    }

    pub(super) fn delivered(&self) -> Vec<String> {
        self.fake.state.lock().unwrap().delivered.clone()
    }
}
