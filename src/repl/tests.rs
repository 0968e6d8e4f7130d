//! Whole conversations at the prompt: what is typed on one side, what the terminal shows on the other.
//!
//! The backend is a script: each code it knows is a list of steps, and waiting for an entry plays the next one. So nothing
//! here sleeps, and only the tests of news involve a second thread.

use super::*;
use crate::host::Delivery;
use crate::words::{Clock, EntryId, Status, Time, Wake};
use expect_test::{Expect, expect};
use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What an entry does when it is waited for.
#[derive(Clone, Debug)]
enum Step {
    Prints(&'static str),
    Takes(Duration),
    CtrlC,
    Settles(Status),
    /// It settles, that is news as in a host, and the thread that prints news has looked before the loop goes on.
    SettlesAsNews,
    /// The connection breaks.
    Breaks,
}
use Step::{Breaks, CtrlC, Prints, Settles, SettlesAsNews, Takes};

struct Entry {
    code: String,
    status: Status,
    lines: Vec<String>,
    /// How many of the first lines were dropped.
    dropped: usize,
    steps: VecDeque<Step>,
}

#[derive(Default)]
struct World {
    scripts: BTreeMap<&'static str, Vec<Step>>,
    entries: Vec<Entry>,
    news: Vec<String>,
    place: Option<String>,
    delivered: Vec<String>,
    /// Whether cancelled entries stop.
    stubborn: bool,
}

struct Fake {
    world: Arc<Mutex<World>>,
    clock: Clock,
    interrupts: Interrupts,
    wake: Wake,
    /// Is notified whenever somebody looks whether there may be news.
    looked: Wake,
    /// Is notified whenever something was delivered.
    marked: Wake,
}

impl Fake {
    fn said(&self, text: String) -> Said {
        let (world, marked) = (Arc::clone(&self.world), self.marked.clone());
        let first = text.lines().next().unwrap_or_default().to_owned();
        let mark = move || {
            world.lock().unwrap().delivered.push(first);
            marked.notify();
        };
        Said { text, delivery: Delivery::then(mark) }
    }

    fn entry<T>(&self, id: EntryId, look: impl FnOnce(&mut Entry) -> T) -> Reply<T> {
        let mut world = self.world.lock().unwrap();
        let entry = world.entries.get_mut(id.0 as usize - 1);
        entry.map(look).ok_or_else(|| Trouble(format!("no entry {id}")))
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
        self.world.lock().unwrap().place.clone()
    }

    fn names(&self) -> Names {
        Names::default()
    }

    fn submit(&self, code: &str) -> Reply<EntryId> {
        let mut world = self.world.lock().unwrap();
        if code == "too much" {
            return Err(Trouble("the process is shutting down; nothing was started".into()));
        }
        let steps = world.scripts.get(code).cloned().unwrap_or_else(|| vec![Settles(Status::Ok)]).into();
        world.entries.push(Entry { code: code.into(), status: Status::Running, lines: Vec::new(), dropped: 0, steps });
        Ok(EntryId(world.entries.len() as u64))
    }

    fn wait(&self, id: EntryId, unless: &Unless<'_>) -> Reply<Waited> {
        loop {
            if self.interrupts.count() > unless.presses {
                return Ok(Waited::Interrupted);
            }
            let (settled, printed, step) = self.entry(id, |entry| {
                let settled = entry.status.is_settled();
                let printed = entry.lines.len() > unless.lines;
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
                    self.entry(id, |entry| entry.lines.extend(text.split('\n').map(str::to_owned)))?
                }
                Some(Takes(time)) => self.clock.advance(time),
                Some(CtrlC) => self.interrupts.press(),
                Some(Settles(status)) => self.entry(id, |entry| entry.status = status)?,
                Some(SettlesAsNews) => {
                    self.entry(id, |entry| entry.status = Status::Ok)?;
                    self.world.lock().unwrap().news.push(format!(";; id {id} · ok"));
                    // Twice: the first notice may come while a look is under way that began before the news was there.
                    for _ in 0..2 {
                        let looked = self.looked.generation();
                        self.wake.notify();
                        wait_until(&self.looked, || self.looked.generation() >= looked + 2);
                    }
                }
                Some(Breaks) => return Err(Trouble("the connection broke".into())),
                None => {
                    // Only time can end this wait.
                    self.clock.advance(unless.until.expect("an entry that hangs is cancelled").since(self.clock.now()));
                }
            }
            if unless.until.is_some_and(|until: Time| until <= self.clock.now()) {
                return Ok(Waited::Expired);
            }
        }
    }

    fn output(&self, id: EntryId, from: usize, most: usize) -> Reply<Page> {
        self.entry(id, |entry| {
            let first = from.clamp(entry.dropped.min(entry.lines.len()), entry.lines.len());
            let lines = entry.lines[first..].iter().take(most).cloned().collect();
            Page { status: entry.status, first, lines, total: entry.lines.len() }
        })
    }

    fn cancel(&self, id: EntryId) -> Reply<()> {
        let stubborn = self.world.lock().unwrap().stubborn;
        self.entry(id, |entry| {
            if !stubborn {
                entry.status = Status::Cancelled;
            }
        })
    }

    fn answer(&self, id: EntryId, output: Output) -> Reply<Said> {
        assert_eq!(output, Output::AlreadyShown);
        // What is answered is news no more.
        let news = format!(";; id {id} · ok");
        self.world.lock().unwrap().news.retain(|text| *text != news);
        let text = self.entry(id, |entry| match entry.status {
            Status::Ok => format!("= {}\n;; id {id} · ok", entry.code),
            Status::Queued | Status::Running => format!("cancelling (in native code since 2.0s)\n;; id {id} · running"),
            status => format!("{status}\n;; id {id} · {status}"),
        })?;
        Ok(self.said(text))
    }

    fn ask(&self, query: &Query) -> Reply<Said> {
        match query {
            Query::Move(name) if name == "nowhere" => Err(Trouble("no such space: nowhere".into())),
            Query::Move(name) => {
                self.world.lock().unwrap().place = Some(name.clone());
                Ok(Said::plain(name.clone()))
            }
            other => Ok(self.said(format!("{other:?}"))),
        }
    }

    fn take_news(&self) -> Option<Said> {
        let mut world = self.world.lock().unwrap();
        if world.news.is_empty() {
            return None;
        }
        let text = world.news.remove(0);
        drop(world);
        Some(self.said(text))
    }

    fn news(&self) -> &Wake {
        self.looked.notify();
        &self.wake
    }
}

/// What the terminal shows, and a wake for those who wait for a text on it.
#[derive(Clone, Default)]
struct Shown {
    text: Arc<Mutex<String>>,
    written: Wake,
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
    fn wait_for(&self, text: &str) {
        wait_until(&self.written, || self.text.lock().unwrap().contains(text));
    }
}

/// Waits until `is_so`, which may change whenever `wake` is notified; fails after a while.
fn wait_until(wake: &Wake, is_so: impl Fn() -> bool) {
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

/// What the person at the terminal does.
enum Act {
    Types(&'static str),
    CtrlC {
        empty: bool,
    },
    /// Does this while a text is being typed, and types nothing.
    Meanwhile(Box<dyn FnOnce(&Shown)>),
}

struct Person {
    acts: VecDeque<Act>,
    shown: Shown,
    history: Vec<String>,
}

impl LineSource for Person {
    fn read(&mut self, prompt: &str, _: &Arc<Names>) -> io::Result<Line> {
        loop {
            let (echo, line) = match self.acts.pop_front() {
                Some(Act::Types(text)) => (text.replace('\r', "").replace('\n', "\n· "), Line::Text(text.to_owned())),
                Some(Act::CtrlC { empty }) => ("^C".to_owned(), Line::Interrupted { empty }),
                Some(Act::Meanwhile(act)) => {
                    act(&self.shown);
                    continue;
                }
                None => ("^D".to_owned(), Line::End),
            };
            self.shown.write_all(format!("{prompt}{echo}\n").as_bytes())?;
            return Ok(line);
        }
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

/// One conversation: the world it happens in, and what came of it.
struct Conversation {
    fake: Arc<Fake>,
    person: Person,
}

impl Conversation {
    fn new(scripts: &[(&'static str, &[Step])]) -> Self {
        let scripts = scripts.iter().map(|(code, steps)| (*code, steps.to_vec())).collect();
        let fake = Fake {
            world: Arc::new(Mutex::new(World { scripts, ..World::default() })),
            clock: Clock::manual(),
            interrupts: Interrupts::default(),
            wake: Wake::default(),
            looked: Wake::default(),
            marked: Wake::default(),
        };
        let person = Person { acts: VecDeque::new(), shown: Shown::default(), history: Vec::new() };
        Self { fake: Arc::new(fake), person }
    }

    fn with(self, change: impl FnOnce(&mut World)) -> Self {
        change(&mut self.fake.world.lock().unwrap());
        self
    }

    fn types(mut self, texts: &[&'static str]) -> Self {
        self.person.acts.extend(texts.iter().map(|text| Act::Types(text)));
        self
    }

    fn acts(mut self, act: Act) -> Self {
        self.person.acts.push_back(act);
        self
    }

    /// What happens to the world while the next text is being typed.
    fn meanwhile(self, change: impl FnOnce(&mut World) + 'static) -> Self {
        let world = Arc::clone(&self.fake.world);
        self.acts(Act::Meanwhile(Box::new(move |_| change(&mut world.lock().unwrap()))))
    }

    /// Runs it to its end; returns what the terminal showed after the greeting.
    fn run(&mut self) -> String {
        let screen = Screen::new(self.person.shown.clone());
        let interrupts = self.fake.interrupts.clone();
        let backend: Arc<dyn Backend> = Arc::clone(&self.fake) as Arc<dyn Backend>;
        run(backend, &mut self.person, &screen, &interrupts).unwrap();
        let text = self.person.shown.text.lock().unwrap().clone();
        text.strip_prefix(":help lists the commands · Ctrl-D leaves\n").expect("the greeting comes first").to_owned()
    }

    /// Runs it to its end and compares what the terminal showed.
    fn shows(mut self, expected: Expect) -> Self {
        let text = self.run();
        expected.assert_eq(&format!("{text}[end]"));
        self
    }

    fn delivered(&self) -> Vec<String> {
        self.fake.world.lock().unwrap().delivered.clone()
    }
}

#[test]
fn code_is_answered_and_delivered() {
    let done =
        Conversation::new(&[]).types(&["40 + 2", "   ", "too much", "fn f() {\r\n  1\r\n}"]).shows(expect![[r#"
            > 40 + 2
            = 40 + 2
            ;; id 1 · ok
            >    
            > too much
            the process is shutting down; nothing was started
            > fn f() {
            ·   1
            · }
            = fn f() {
              1
            }
            ;; id 2 · ok
            > ^D
            [end]"#]]);
    assert_eq!(done.delivered(), ["= 40 + 2", "= fn f() {"]);
    assert_eq!(done.person.history, ["40 + 2", "too much", "fn f() {\n  1\n}"]);
}

#[test]
fn output_is_shown_as_it_comes() {
    Conversation::new(&[(
        "work()",
        &[Prints("one"), Prints("two\n\nthree"), Takes(Duration::from_millis(3)), Settles(Status::Ok)],
    )])
    .types(&["work()"])
    .shows(expect![[r#"
            > work()
            one
            two

            three
            = work()
            ;; id 1 · ok
            > ^D
            [end]"#]]);
}

#[test]
fn output_longer_than_a_page_is_shown_whole() {
    let many = numbered(1_700);
    let text = Conversation::new(&[("work()", &[Prints(many), Settles(Status::Ok)])]).types(&["work()"]).run();
    assert!(text.contains(&format!("\n{many}\n= work()\n")), "{text}");
}

/// So many lines, each its number.
fn numbered(lines: usize) -> &'static str {
    (0..lines).map(|n| n.to_string()).collect::<Vec<_>>().join("\n").leak()
}

#[test]
fn ctrl_c_cancels_what_runs_and_the_prompt_goes_on() {
    let done =
        Conversation::new(&[("loop {}", &[Prints("at it"), CtrlC])]).types(&["loop {}", "1"]).shows(expect![[r#"
        > loop {}
        at it
        ;; id 1 · cancelling
        cancelled
        ;; id 1 · cancelled
        > 1
        = 1
        ;; id 2 · ok
        > ^D
        [end]"#]]);
    assert_eq!(done.delivered(), ["cancelled", "= 1"]);
}

#[test]
fn what_does_not_stop_in_time_is_said() {
    Conversation::new(&[("native()", &[CtrlC])]).with(|world| world.stubborn = true).types(&["native()", "1"]).shows(
        expect![[r#"
            > native()
            ;; id 1 · cancelling
            cancelling (in native code since 2.0s)
            ;; id 1 · running
            > 1
            = 1
            ;; id 2 · ok
            > ^D
            [end]"#]],
    );
}

#[test]
fn a_second_ctrl_c_gives_the_prompt_back() {
    let done = Conversation::new(&[("native()", &[CtrlC, Takes(Duration::from_secs(1)), CtrlC])])
        .with(|world| world.stubborn = true)
        .types(&["native()"])
        .shows(expect![[r#"
            > native()
            ;; id 1 · cancelling
            ;; id 1 · has not stopped yet · :res 1 says how it stands
            > ^D
            [end]"#]]);
    assert_eq!(done.delivered(), [""; 0], "its end is still owed");
}

#[test]
fn ctrl_c_at_the_prompt_never_leaves() {
    let done = Conversation::new(&[])
        .acts(Act::CtrlC { empty: true })
        .acts(Act::CtrlC { empty: false })
        .types(&["1", ":quit", "never"])
        .shows(expect![[r#"
            > ^C
            Ctrl-D or :quit leaves
            > ^C
            > 1
            = 1
            ;; id 1 · ok
            > :quit
            [end]"#]]);
    assert_eq!(done.person.acts.len(), 1);
}

#[test]
fn an_ampersand_gives_the_prompt_back_at_once() {
    let done = Conversation::new(&[("work()", &[])]).types(&["work() &", "1"]).shows(expect![[r#"
        > work() &
        ;; id 1 · running in the background
        > 1
        = 1
        ;; id 2 · ok
        > ^D
        [end]"#]]);
    assert_eq!(done.fake.world.lock().unwrap().entries[0].code, "work()");
}

#[test]
fn commands_ask_the_backend() {
    Conversation::new(&[])
        .types(&[
            ":evals",
            ":evals failed",
            ":res 1",
            ":out 1",
            ":out 1 500 100",
            ":cancel 1",
            ":sessions",
            ":spaces",
            ":ns",
            ":ns nowhere",
            ":ns lab",
            ":doc bg",
            ":evls",
            ":res",
            ":res 1\n2",
        ])
        .shows(expect![[r#"
            > :evals
            Evals(None)
            > :evals failed
            Evals(Some(Failed))
            > :res 1
            Entry(EntryId(1))
            > :out 1
            Output { id: EntryId(1), from: None, count: None }
            > :out 1 500 100
            Output { id: EntryId(1), from: Some(500), count: Some(100) }
            > :cancel 1
            Cancel(EntryId(1))
            > :sessions
            Sessions
            > :spaces
            Spaces
            > :ns
            Place
            > :ns nowhere
            no such space: nowhere
            > :ns lab
            lab
            lab> :doc bg
            Doc("bg")
            lab> :evls
            no command :evls · did you mean :evals · :help lists the commands
            lab> :res
            which entry? · :res 12
            lab> :res 1
            · 2
            a command is one line
            lab> ^D
            [end]"#]]);
}

#[test]
fn timing_is_switched_on_and_off() {
    Conversation::new(&[("work()", &[Takes(Duration::from_micros(1_234)), Settles(Status::Ok)])])
        .types(&["work()", ":time", "work()", ":time", "work()"])
        .shows(expect![[r#"
            > work()
            = work()
            ;; id 1 · ok
            > :time
            timing is on
            > work()
            = work()
            ;; id 2 · ok
            ;; time 1.234 ms
            > :time
            timing is off
            > work()
            = work()
            ;; id 3 · ok
            > ^D
            [end]"#]]);
}

#[test]
fn watch_follows_an_entry_to_its_end_and_leaves_it_alone() {
    let script: &[Step] = &[CtrlC, Prints("more"), Prints("last"), Settles(Status::Failed)];
    let done = Conversation::new(&[("work()", script)])
        .types(&["work() &"])
        .meanwhile(|world| world.entries[0].lines = numbered(30).split('\n').map(str::to_owned).collect())
        .types(&[":watch 1", ":watch 1", ":watch 1", ":watch 7"])
        .shows(expect![[r#"
            > work() &
            ;; id 1 · running in the background
            > :watch 1
            … 10 lines elided · :out 1 0 10
            10
            11
            12
            13
            14
            15
            16
            17
            18
            19
            20
            21
            22
            23
            24
            25
            26
            27
            28
            29
            ;; id 1 · runs on, no longer watched
            > :watch 1
            … 10 lines elided · :out 1 0 10
            10
            11
            12
            13
            14
            15
            16
            17
            18
            19
            20
            21
            22
            23
            24
            25
            26
            27
            28
            29
            more
            last
            ;; id 1 · failed · :res 1 shows it
            > :watch 1
            … 12 lines elided · :out 1 0 12
            12
            13
            14
            15
            16
            17
            18
            19
            20
            21
            22
            23
            24
            25
            26
            27
            28
            29
            more
            last
            ;; id 1 · failed · :res 1 shows it
            > :watch 7
            no entry 7
            > ^D
            [end]"#]]);
    assert_eq!(done.delivered(), [""; 0], "its end is still owed");
}

#[test]
fn output_that_was_dropped_before_it_could_be_shown_is_counted() {
    Conversation::new(&[("work()", &[Prints("a\nb\nc\nd"), Settles(Status::Ok)])])
        .types(&["work() &"])
        .meanwhile(|world| world.entries[0].dropped = 3)
        .types(&[":watch 1"])
        .shows(expect![[r#"
            > work() &
            ;; id 1 · running in the background
            > :watch 1
            … 3 lines dropped: the entry printed more than is kept
            d
            ;; id 1 · ok · :res 1 shows it
            > ^D
            [end]"#]]);
}

#[test]
fn a_broken_connection_ends_the_eval_and_not_the_prompt() {
    Conversation::new(&[("work()", &[Prints("one"), Breaks])]).types(&["work()", "1"]).shows(expect![[r#"
        > work()
        one
        the connection broke
        > 1
        = 1
        ;; id 2 · ok
        > ^D
        [end]"#]]);
}

#[test]
fn news_is_told_between_evals() {
    let done = Conversation::new(&[])
        .with(|world| world.news = vec![";; id 8 · ok".into(), ";; id 9 · failed".into()])
        .types(&["1"])
        .shows(expect![[r#"
            ;; id 8 · ok
            ;; id 9 · failed
            > 1
            = 1
            ;; id 1 · ok
            > ^D
            [end]"#]]);
    assert_eq!(done.delivered(), [";; id 8 · ok", ";; id 9 · failed", "= 1"]);
}

#[test]
fn news_is_printed_above_the_text_that_is_being_typed() {
    let conversation = Conversation::new(&[]);
    let fake = Arc::clone(&conversation.fake);
    let done = conversation
        .types(&["1"])
        .acts(Act::Meanwhile(Box::new(move |shown| {
            fake.world.lock().unwrap().news.push(";; id 8 · ok".into());
            fake.wake.notify();
            shown.wait_for("[above] ;; id 8 · ok");
            wait_until(&fake.marked, || fake.world.lock().unwrap().delivered.len() == 2);
        })))
        .types(&["2"])
        .shows(expect![[r#"
            > 1
            = 1
            ;; id 1 · ok
            [above] ;; id 8 · ok
            > 2
            = 2
            ;; id 2 · ok
            > ^D
            [end]"#]]);
    assert_eq!(done.delivered(), ["= 1", ";; id 8 · ok", "= 2"]);
}

#[test]
fn the_end_of_an_awaited_eval_is_never_news() {
    let done = Conversation::new(&[("work()", &[SettlesAsNews])]).types(&["work()", "2"]).shows(expect![[r#"
        > work()
        = work()
        ;; id 1 · ok
        > 2
        = 2
        ;; id 2 · ok
        > ^D
        [end]"#]]);
    assert_eq!(done.delivered(), ["= work()", "= 2"]);
}
