//! The loop: read, understand, run, print. Knows no terminal and no host, only the traits they implement.

use super::backend::{Backend, Message, Mode, Output, Query, Reply, WaitUntil, Waited};
use super::command::{COMMANDS, Command, CommandSpec};
use super::interrupts::Interrupts;
use super::lines::{Line, LineSource, Screen};
use super::news::Typing;
use super::typed::{self, Typed};
use crate::base::{EntryId, Status, Time};
use crate::render::prompt as texts;
use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

/// The time within which leaving again means it.
const AGAIN: Duration = Duration::from_secs(3);

/// Lines of an entry's output that are fetched at a time.
const PAGE: usize = 500;

/// Earlier lines that `:watch` shows before it follows.
const LINES_BEFORE_WATCHING: usize = 20;

/// Reads and runs texts until the source is at its end or `:quit` is typed.
///
/// # Errors
/// When the terminal cannot be read or written any more.
pub(crate) fn run(
    backend: Arc<dyn Backend>,
    lines: &mut dyn LineSource,
    screen: &Screen,
    interrupts: &Interrupts,
) -> io::Result<()> {
    let printer = lines.above().unwrap_or_else(|| Box::new(screen.clone()));
    let typing = Typing::watch(&backend, printer)?;
    let mut prompt = Prompt { backend: &*backend, screen, interrupts, timing: false, asked_to_leave: None };
    screen.say(texts::GREETING)?;
    loop {
        prompt.tell_news()?;
        let line = {
            let names = Arc::new(backend.names());
            let place = texts::prompt(backend.place().as_deref());
            typing.during(|| lines.read(&place, &names))?
        };
        match line {
            Line::End if prompt.leave()?.is_break() => break,
            Line::End => {}
            Line::Interrupted { empty: true } => screen.say(texts::HOW_TO_LEAVE)?,
            Line::Interrupted { empty: false } => {}
            Line::NotText => screen.say(texts::NOT_TEXT)?,
            Line::Text(text) => {
                let text = typed::unify_line_breaks(&text);
                if !text.trim().is_empty() {
                    lines.remember(text.trim_end());
                }
                let presses = interrupts.count();
                if prompt.text(&text)?.is_break() {
                    break;
                }
                // Whoever stops something does not want what was to follow it.
                if interrupts.count() > presses {
                    lines.drop_typed_ahead();
                }
            }
        }
    }
    prompt.tell_news()
}

/// The end of following the output of an entry.
enum Followed {
    /// The entry has settled, and all it printed was shown.
    Settled,
    /// Ctrl-C was pressed.
    Interrupted,
    /// The deadline came.
    Expired,
}

/// The output of one entry, shown as it comes.
struct Follower {
    id: EntryId,
    /// The next line to be shown.
    next: usize,
    status: Status,
}

struct Prompt<'a> {
    backend: &'a dyn Backend,
    screen: &'a Screen,
    interrupts: &'a Interrupts,
    timing: bool,
    /// When it was said last what leaving would end.
    asked_to_leave: Option<Time>,
}

impl Prompt<'_> {
    fn text(&mut self, text: &str) -> io::Result<ControlFlow<()>> {
        match typed::understand(text) {
            Typed::Nothing => {}
            Typed::Command(Ok(command)) => return self.command(command),
            Typed::Command(Err(misuse)) => self.screen.say(&misuse.to_string())?,
            Typed::Background(code) => match self.backend.submit(code, Mode::Background) {
                Ok(id) => self.screen.say(&texts::in_background(id))?,
                Err(error) => self.screen.say(&error.0)?,
            },
            Typed::Eval(code) => {
                let began = self.backend.clock().now();
                self.eval(code)?;
                if self.timing {
                    self.screen.say(&texts::took(self.backend.clock().now().since(began)))?;
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn command(&mut self, command: Command) -> io::Result<ControlFlow<()>> {
        match command {
            Command::Help => {
                let rows: Vec<_> = COMMANDS.iter().map(CommandSpec::row).collect();
                self.screen.say(&texts::help(&rows, self.screen.style()))?;
            }
            Command::Time => {
                self.timing = !self.timing;
                self.screen.say(texts::timing(self.timing))?;
            }
            Command::Watch(id) => self.watch(id)?,
            Command::Quit => return self.leave(),
            Command::QuitAtOnce => return Ok(ControlFlow::Break(())),
            Command::Evals(status) => self.ask(&Query::Evals(status))?,
            Command::Res(id) => self.ask(&Query::Entry(id))?,
            Command::Out { id, from, count } => self.ask(&Query::Output { id, from, count })?,
            Command::Cancel(id) => self.ask(&Query::Cancel(id))?,
            Command::Sessions => self.ask(&Query::Sessions)?,
            Command::Spaces => self.ask(&Query::Spaces)?,
            Command::Ns(None) => self.ask(&Query::Place)?,
            Command::Ns(Some(name)) => self.ask(&Query::Move(name))?,
            Command::Doc(name) => self.ask(&Query::Doc(name))?,
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Leaves, unless that would end the work of somebody: then it says so, and leaves when asked again soon.
    fn leave(&mut self) -> io::Result<ControlFlow<()>> {
        let now = self.backend.clock().now();
        if self.asked_to_leave.is_some_and(|asked| now.since(asked) <= AGAIN) {
            return Ok(ControlFlow::Break(()));
        }
        let Some(ended) = self.backend.ended_by_leaving() else { return Ok(ControlFlow::Break(())) };
        self.asked_to_leave = Some(now);
        self.screen.say(&texts::not_left(&ended, AGAIN))?;
        Ok(ControlFlow::Continue(()))
    }

    fn ask(&self, query: &Query) -> io::Result<()> {
        self.tell(self.backend.ask(query))
    }

    /// Runs code and waits for it. The first Ctrl-C cancels; a second one, or a cancellation that does not bite in time, gives
    /// the prompt back while the entry is still stopping: its end is news then.
    fn eval(&self, code: &str) -> io::Result<()> {
        // Counted before the eval exists, so that a press meant for it is never missed.
        let mut presses = self.interrupts.count();
        let id = match self.backend.submit(code, Mode::Foreground) {
            Ok(id) => id,
            Err(error) => return self.screen.say(&error.0),
        };
        let mut follower = Follower { id, next: 0, status: Status::Running };
        let mut deadline = None;
        loop {
            match self.follow(&mut follower, deadline, presses)? {
                Ok(Followed::Settled) => break,
                Ok(Followed::Interrupted) if deadline.is_none() => {
                    presses = self.interrupts.count();
                    self.screen.say(&texts::cancelling(id))?;
                    if let Err(error) = self.backend.cancel(id) {
                        self.screen.say(&error.0)?;
                    }
                    deadline = Some(self.backend.clock().now() + self.backend.cancel_wait());
                }
                Ok(Followed::Interrupted) => {
                    self.backend.leave(id);
                    return self.screen.say(&texts::still_stopping(id));
                }
                // The answer says what it is that cannot be stopped at once.
                Ok(Followed::Expired) => break,
                Err(error) => {
                    self.backend.leave(id);
                    return self.screen.say(&error.0);
                }
            }
        }
        self.tell(self.backend.answer(id, Output::AlreadyShown))
    }

    /// Shows what an entry prints, from a few lines back, until it settles or Ctrl-C is pressed. Leaves the entry alone.
    fn watch(&self, id: EntryId) -> io::Result<()> {
        let presses = self.interrupts.count();
        let printed = match self.backend.output(id, usize::MAX, 0) {
            Ok(page) => page.total,
            Err(error) => return self.screen.say(&error.0),
        };
        let next = printed.saturating_sub(LINES_BEFORE_WATCHING);
        if next > 0 {
            self.screen.say(&texts::elided(id, 0, next))?;
        }
        let mut follower = Follower { id, next, status: Status::Running };
        match self.follow(&mut follower, None, presses)? {
            Ok(Followed::Settled) => self.screen.say(&texts::watched_to_its_end(id, follower.status)),
            Ok(Followed::Interrupted | Followed::Expired) => self.screen.say(&texts::stopped_watching(id)),
            Err(error) => self.screen.say(&error.0),
        }
    }

    /// Shows what an entry prints until it settles, `deadline` has come, or Ctrl-C was pressed more often than `presses`.
    fn follow(&self, follower: &mut Follower, deadline: Option<Time>, presses: u64) -> io::Result<Reply<Followed>> {
        loop {
            let until = WaitUntil { lines: follower.next, deadline, interrupts: self.interrupts, presses };
            let waited = match self.backend.wait(follower.id, &until) {
                Ok(waited) => waited,
                Err(error) => return Ok(Err(error)),
            };
            if waited == Waited::Interrupted {
                // The terminal has echoed `^C` at the beginning of a line.
                self.screen.say("\n")?;
                return Ok(Ok(Followed::Interrupted));
            }
            if let Err(error) = self.catch_up(follower, presses)? {
                return Ok(Err(error));
            }
            match waited {
                Waited::Settled => return Ok(Ok(Followed::Settled)),
                Waited::Expired => return Ok(Ok(Followed::Expired)),
                Waited::Printed | Waited::Interrupted => {}
            }
        }
    }

    /// Shows all that an entry has printed by now, page by page; Ctrl-C ends that too.
    fn catch_up(&self, follower: &mut Follower, presses: u64) -> io::Result<Reply<()>> {
        loop {
            let page = match self.backend.output(follower.id, follower.next, PAGE) {
                Ok(page) => page,
                Err(error) => return Ok(Err(error)),
            };
            follower.status = page.status;
            if page.first > follower.next && follower.next < page.total {
                let skipped = page.first - follower.next;
                self.screen.say(&match page.skipped_are_kept {
                    true => texts::elided(follower.id, follower.next, skipped),
                    false => texts::lost(skipped),
                })?;
            }
            if page.lines.is_empty() {
                follower.next = page.total.max(follower.next);
                return Ok(Ok(()));
            }
            follower.next = page.first + page.lines.len();
            self.screen.say(&page.lines.iter().flat_map(|line| [line, "\n"]).collect::<String>())?;
            if follower.next >= page.total || self.interrupts.count() > presses {
                return Ok(Ok(()));
            }
        }
    }

    fn tell(&self, reply: Reply<Message>) -> io::Result<()> {
        match reply {
            Ok(message) => {
                self.screen.say(&message.text)?;
                message.delivery.written();
                Ok(())
            }
            Err(error) => self.screen.say(&error.0),
        }
    }

    fn tell_news(&self) -> io::Result<()> {
        while let Some(message) = self.backend.take_news() {
            self.tell(Ok(message))?;
        }
        Ok(())
    }
}
