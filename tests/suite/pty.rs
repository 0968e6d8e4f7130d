//! The program on a terminal: a pseudo-terminal whose other end the test holds, types into and reads from. Nothing here sleeps;
//! whoever waits for a text waits until it is there, with a bound.

use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, ioctl_tiocsctty, kill_process, setsid};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::time::Duration;

/// Longer than anything takes on a busy machine; a test that gets here has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// The arguments of the program, one a line, for [`the_program_takes_this_process_over`].
const ARGUMENTS: &str = "PTY_TEST_ARGUMENTS";

/// The program on a terminal of its own.
pub(crate) struct OnTerminal {
    child: Child,
    keyboard: File,
    shown: Arc<Shown>,
    /// How much of what was shown has been looked at.
    read: usize,
    /// The first line on stderr.
    pub(crate) first_line: String,
    /// Further lines there. None are expected; they are shown when a test fails.
    complaints: Arc<Mutex<Vec<String>>>,
    /// Nobody holds the other end of this when the program has ended.
    ended: mpsc::Receiver<()>,
}

/// What the terminal has shown so far, without escape sequences and carriage returns.
#[derive(Default)]
struct Shown {
    text: Mutex<(String, bool)>,
    changed: Condvar,
    /// Whoever reads the terminal lets go of it at the next byte.
    closing: AtomicBool,
}

impl OnTerminal {
    /// Starts the program in `folder`, where it keeps its history too.
    pub(crate) fn start(folder: &Path, arguments: &[&str]) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        tcsetwinsize(&master, Winsize { ws_row: 50, ws_col: 200, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let slave = || {
            let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
            Stdio::from(rustix::fs::open(ptsname(&master, Vec::new()).unwrap(), flags, Mode::empty()).unwrap())
        };
        // A terminal controls the processes of a session, and a session is begun by a process of its own: this very program,
        // which then becomes the one that is tested.
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "pty::the_program_takes_this_process_over", "--nocapture", "--quiet"])
            .env_clear()
            .envs([("TERM", "xterm"), ("NO_COLOR", "1"), (ARGUMENTS, &arguments.join("\n"))])
            .env("XDG_STATE_HOME", folder.join("state"))
            .current_dir(folder)
            .stdin(slave())
            .stdout(slave())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let shown = Arc::new(Shown::default());
        let screen = File::from(master.try_clone().unwrap());
        std::thread::spawn({
            let shown = Arc::clone(&shown);
            move || shown.collect(screen)
        });
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        let mut first_line = String::new();
        errors.read_line(&mut first_line).unwrap();
        let complaints = Arc::new(Mutex::new(Vec::new()));
        let (at_the_end, ended) = mpsc::channel();
        std::thread::spawn({
            let complaints = Arc::clone(&complaints);
            move || {
                errors.lines().map_while(Result::ok).for_each(|line| complaints.lock().unwrap().push(line));
                drop::<mpsc::Sender<()>>(at_the_end);
            }
        });
        let first_line = first_line.trim_end().to_owned();
        Self { child, keyboard: File::from(master), shown, read: 0, first_line, complaints, ended }
    }

    /// Presses keys.
    pub(crate) fn press(&mut self, keys: impl AsRef<[u8]>) {
        self.keyboard.write_all(keys.as_ref()).unwrap();
    }

    /// Types a text and presses Enter.
    pub(crate) fn enter(&mut self, text: &str) {
        self.press(text);
        self.press("\r");
    }

    /// Waits until the terminal has shown `text`, after what was looked at before, and returns what it showed up to there.
    #[track_caller]
    pub(crate) fn sees(&mut self, text: &str) -> String {
        let missing = |(shown, over): &mut (String, bool)| !*over && !shown[self.read..].contains(text);
        let rest = {
            let seen = self.shown.text.lock().unwrap();
            let (seen, _) = self.shown.changed.wait_timeout_while(seen, PATIENCE, missing).unwrap();
            seen.0[self.read..].to_owned()
        };
        let Some(at) = rest.find(text) else {
            panic!("no {text:?} in {rest:?}; {:?}", self.complaints.lock().unwrap())
        };
        let passed = rest[..at + text.len()].to_owned();
        self.read += passed.len();
        passed
    }

    /// Waits until the program takes a new line: its prompt stands there, and keys are its own.
    #[track_caller]
    pub(crate) fn is_asked(&mut self) {
        self.sees("\n> ");
    }

    /// Whether the terminal is in the modes that programs find: it echoes what is typed.
    pub(crate) fn is_as_found(&self) -> bool {
        tcgetattr(&self.keyboard)
            .unwrap()
            .local_modes
            .contains(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG)
    }

    /// Sends a signal from outside, as no key does.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Closes the terminal under the program, which is typing; its exit code.
    #[track_caller]
    pub(crate) fn is_closed(&mut self) -> Option<i32> {
        self.shown.closing.store(true, Ordering::Relaxed);
        // What the program shows of this key wakes the reader, which lets go. The keyboard is the last to hold the terminal then.
        self.press("x");
        let seen = self.shown.text.lock().unwrap();
        drop(self.shown.changed.wait_timeout_while(seen, PATIENCE, |(_, over)| !*over).unwrap());
        self.keyboard = File::open("/dev/null").unwrap();
        let ended = self.ended.recv_timeout(PATIENCE);
        assert_eq!(ended, Err(mpsc::RecvTimeoutError::Disconnected), "it goes on without a terminal");
        self.child.wait().unwrap().code()
    }

    /// Waits for the end of the program; its exit code.
    #[track_caller]
    pub(crate) fn ends(&mut self) -> Option<i32> {
        // The last process that has the terminal open is gone.
        let (rest, over) = {
            let seen = self.shown.text.lock().unwrap();
            let (seen, _) = self.shown.changed.wait_timeout_while(seen, PATIENCE, |(_, over)| !*over).unwrap();
            (seen.0[self.read..].to_owned(), seen.1)
        };
        assert!(over, "still there after {rest:?}");
        self.child.wait().unwrap().code()
    }
}

impl Drop for OnTerminal {
    fn drop(&mut self) {
        // A test that fails leaves nothing behind.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl Shown {
    fn collect(&self, mut screen: impl Read) {
        let mut escapes = Escapes::default();
        let mut bytes = Vec::new();
        let mut part = [0; 4096];
        loop {
            // An error is how the end of a terminal is told on some systems.
            let n = screen.read(&mut part).unwrap_or(0);
            let n = if self.closing.load(Ordering::Relaxed) { 0 } else { n };
            bytes.extend(part[..n].iter().copied().filter(|byte| escapes.keep(*byte)));
            let whole = match std::str::from_utf8(&bytes) {
                Ok(text) => text.len(),
                Err(error) => error.valid_up_to(),
            };
            let text: Vec<u8> = bytes.drain(..whole).collect();
            if n == 0 {
                drop(screen);
                self.show(&text, true);
                return;
            }
            self.show(&text, false);
        }
    }

    fn show(&self, text: &[u8], over: bool) {
        let mut shown = self.text.lock().unwrap();
        shown.0.push_str(std::str::from_utf8(text).unwrap());
        shown.1 = over;
        self.changed.notify_all();
    }
}

/// Where a stream of bytes stands in an escape sequence.
#[derive(Default)]
enum Escapes {
    #[default]
    Outside,
    Begun,
    Inside,
}

impl Escapes {
    /// Whether the byte belongs to the text.
    fn keep(&mut self, byte: u8) -> bool {
        let was_outside = matches!(self, Self::Outside);
        *self = match (&self, byte) {
            (Self::Outside, 0x1b) => Self::Begun,
            (Self::Begun, b'[') => Self::Inside,
            (Self::Inside, 0x20..=0x3f) => Self::Inside,
            _ => Self::Outside,
        };
        was_outside && byte != 0x1b && byte != b'\r'
    }
}

/// No test by itself: begins a session, makes the terminal on stdin its own, and becomes the program.
#[test]
fn the_program_takes_this_process_over() {
    let Ok(arguments) = std::env::var(ARGUMENTS) else { return };
    setsid().unwrap();
    ioctl_tiocsctty(std::io::stdin()).unwrap();
    let mut program = Command::new(env!("CARGO_BIN_EXE_remontoire"));
    program.args(arguments.lines()).env_remove(ARGUMENTS);
    panic!("{}", program.exec());
}

#[test]
fn escape_sequences_are_no_text() {
    let shown = Shown::default();
    shown.collect("\x1b[?2004h> \x1b[1;31mä\x1b[0m\r\n\x1b=b".as_bytes());
    assert_eq!(*shown.text.lock().unwrap(), ("> ä\nb".to_owned(), true));
}
