//! Every "no" that a request or a script can be given, as one enum. `Display` is the sentence: what happened, the value, the
//! next step. Codes of protocols are chosen elsewhere.

use super::ids::EntryId;
use super::limits::{LimitHit, thousands};
use std::fmt;
use std::time::Duration;

/// The reasons for which a request is declined. Nothing was changed.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// The id was never given out.
    NoEntry {
        /// The id.
        id: u64,
        /// The newest id given out, 0 when there is none.
        newest: u64,
    },
    /// The entry was given out and has been evicted.
    Evicted(EntryId),
    /// The value or output was dropped by `forget`.
    Forgotten(EntryId),
    /// `forget` of another session's entry that its owner has not read.
    ForeignUnread(EntryId),
    /// The wire asked without a session where one is needed.
    MissingSession,
    /// A handle that this process does not hold.
    UnknownSession {
        /// The text given.
        given: String,
        /// How long the process has been there.
        up: Duration,
    },
    /// The session was ended by its client.
    SessionEnded,
    /// A name that no space or module has.
    NoSuchSpace {
        /// The name.
        name: String,
    },
    /// Another session's scratch cannot be evaluated in.
    ForeignScratch {
        /// The name.
        name: String,
    },
    /// A scratch was to be dropped.
    ScratchStays {
        /// The name.
        name: String,
    },
    /// Not a name of a space.
    BadName {
        /// The text given.
        name: String,
    },
    /// Waiting would never end.
    Deadlock {
        /// The circle, its first id repeated at the end.
        path: Vec<EntryId>,
    },
    /// A wait with a limit ran out.
    TimedOut {
        /// The limit.
        after: Duration,
    },
    /// The script is too long.
    ScriptTooLong {
        /// Its length in bytes.
        bytes: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// No slot is free and the queue is full.
    QueueFull {
        /// Evals at work.
        running: usize,
        /// Evals in the queue.
        queued: usize,
    },
    /// Too many entries have not settled.
    TooManyLive {
        /// The limit.
        limit: usize,
    },
    /// Too many sessions are alive and none of them is idle.
    TooManySessions {
        /// The limit.
        limit: usize,
    },
    /// Too many spaces are alive.
    TooManySpaces {
        /// The limit.
        limit: usize,
    },
    /// The process is ending.
    ShuttingDown,
}

/// A time as people say it: `3 s`, `14 min`, `5 h`, `3 days`.
fn roughly(time: Duration) -> String {
    match time.as_secs() {
        s @ 0..120 => format!("{s} s"),
        s @ 120..7_200 => format!("{} min", s / 60),
        s @ 7_200..172_800 => format!("{} h", s / 3_600),
        s => format!("{} days", s / 86_400),
    }
}

impl Refusal {
    /// The beginning of the sentence about a handle that a process does not hold: a client knows it by this.
    pub(crate) fn no_session(given: &str) -> String {
        format!("no session `{given:.40}` in this process")
    }

    /// The kind a script sees when it catches this.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NoEntry { .. } => "NoEntry",
            Self::Evicted(_) => "Evicted",
            Self::Forgotten(_) => "Forgotten",
            Self::ForeignUnread(_) => "ForeignUnread",
            Self::MissingSession => "MissingSession",
            Self::UnknownSession { .. } => "UnknownSession",
            Self::SessionEnded => "SessionEnded",
            Self::NoSuchSpace { .. } => "NoSuchSpace",
            Self::ForeignScratch { .. } => "ForeignScratch",
            Self::ScratchStays { .. } => "ScratchStays",
            Self::BadName { .. } => "BadName",
            Self::Deadlock { .. } => "Deadlock",
            Self::TimedOut { .. } => "Timeout",
            Self::ScriptTooLong { .. } => "ScriptLimit",
            Self::QueueFull { .. } => "QueueFull",
            Self::TooManyLive { .. } => "TooManyLive",
            Self::TooManySessions { .. } => "TooManySessions",
            Self::TooManySpaces { .. } => "TooManySpaces",
            Self::ShuttingDown => "ShuttingDown",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoEntry { id, newest: 0 } => write!(f, "no entry {id}; none was made yet"),
            Self::NoEntry { id, newest } => write!(f, "no entry {id}; the newest is {newest}"),
            Self::Evicted(id) => write!(f, "entry {id} was evicted"),
            Self::Forgotten(id) => write!(f, "the value and output of entry {id} were dropped by forget({id})"),
            Self::ForeignUnread(id) => {
                write!(f, "entry {id} belongs to another session that has not read it; its owner can forget it")
            }
            Self::MissingSession => f.write_str(
                "this call needs a session: call create-session once, then pass the handle it answers as `session` with every call",
            ),
            Self::UnknownSession { given, up } => write!(
                f,
                "{}, which started {} ago; handles end with the process and are never reused: call create-session and pass the new handle as `session`",
                Self::no_session(given),
                roughly(*up)
            ),
            Self::SessionEnded => f.write_str("this session was ended; initialize opens a new one"),
            Self::NoSuchSpace { name } => write!(f, "no such space: {name:.80}"),
            Self::ForeignScratch { name } => write!(
                f,
                "{name:.80} is another session's scratch; read it with import \"@{name:.80}\" as s; or meet in a shared space"
            ),
            Self::ScratchStays { name } => {
                write!(f, "{name:.80} is a scratch and ends with its session; only shared spaces can be dropped")
            }
            Self::BadName { name } => write!(
                f,
                "`{name:.80}` cannot name a space: letters, digits, `_`, `-` and `/` between them, at most 80 characters"
            ),
            Self::Deadlock { path } => {
                f.write_str("deadlock: ")?;
                for (i, id) in path.iter().enumerate() {
                    if i > 0 {
                        f.write_str(" → ")?;
                    }
                    write!(f, "{id}")?;
                }
                Ok(())
            }
            Self::TimedOut { after } => write!(f, "timed out after {} s", after.as_secs_f64()),
            Self::ScriptTooLong { bytes, limit } => LimitHit::Script { bytes: *bytes, limit: *limit }.fmt(f),
            Self::QueueFull { running, queued } => write!(
                f,
                "{} evals are running and {} are queued, which is the limit; wait for some or cancel them",
                thousands(*running),
                thousands(*queued)
            ),
            Self::TooManyLive { limit } => write!(
                f,
                "{} entries have not settled, which is the limit; wait for some or cancel them",
                thousands(*limit)
            ),
            Self::TooManySessions { limit } => {
                write!(f, "{} sessions are at work, which is the limit; end one first", thousands(*limit))
            }
            Self::TooManySpaces { limit } => {
                write!(f, "{} spaces exist, which is the limit; end one with drop_space(\"name\")", thousands(*limit))
            }
            Self::ShuttingDown => f.write_str("the process is shutting down; nothing was started"),
        }
    }
}

impl std::error::Error for Refusal {}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn every_refusal_says_what_happened_and_what_next() {
        let all = [
            Refusal::NoEntry { id: 900, newest: 41 },
            Refusal::NoEntry { id: 1, newest: 0 },
            Refusal::Evicted(EntryId(12)),
            Refusal::Forgotten(EntryId(12)),
            Refusal::ForeignUnread(EntryId(12)),
            Refusal::MissingSession,
            Refusal::UnknownSession { given: "zzz".into(), up: Duration::from_millis(75_300) },
            Refusal::SessionEnded,
            Refusal::NoSuchSpace { name: "lab".into() },
            Refusal::ForeignScratch { name: "s-bfw".into() },
            Refusal::ScratchStays { name: "s-bfw".into() },
            Refusal::BadName { name: "a b".into() },
            Refusal::Deadlock { path: vec![EntryId(3), EntryId(5), EntryId(3)] },
            Refusal::TimedOut { after: Duration::from_millis(2_000) },
            Refusal::ScriptTooLong { bytes: 300 << 10, limit: 256 << 10 },
            Refusal::QueueFull { running: 256, queued: 1_024 },
            Refusal::TooManyLive { limit: 4_096 },
            Refusal::TooManySessions { limit: 10_000 },
            Refusal::TooManySpaces { limit: 1_000 },
            Refusal::ShuttingDown,
        ];
        let shown: Vec<_> = all.iter().map(|r| format!("{}: {r}", r.kind())).collect();
        expect![[r#"
            NoEntry: no entry 900; the newest is 41
            NoEntry: no entry 1; none was made yet
            Evicted: entry 12 was evicted
            Forgotten: the value and output of entry 12 were dropped by forget(12)
            ForeignUnread: entry 12 belongs to another session that has not read it; its owner can forget it
            MissingSession: this call needs a session: call create-session once, then pass the handle it answers as `session` with every call
            UnknownSession: no session `zzz` in this process, which started 75 s ago; handles end with the process and are never reused: call create-session and pass the new handle as `session`
            SessionEnded: this session was ended; initialize opens a new one
            NoSuchSpace: no such space: lab
            ForeignScratch: s-bfw is another session's scratch; read it with import "@s-bfw" as s; or meet in a shared space
            ScratchStays: s-bfw is a scratch and ends with its session; only shared spaces can be dropped
            BadName: `a b` cannot name a space: letters, digits, `_`, `-` and `/` between them, at most 80 characters
            Deadlock: deadlock: 3 → 5 → 3
            Timeout: timed out after 2 s
            ScriptLimit: the script has 307,200 bytes and the limit is 256 KiB; keep it in scripts/ as a module, or send it in parts
            QueueFull: 256 evals are running and 1,024 are queued, which is the limit; wait for some or cancel them
            TooManyLive: 4,096 entries have not settled, which is the limit; wait for some or cancel them
            TooManySessions: 10,000 sessions are at work, which is the limit; end one first
            TooManySpaces: 1,000 spaces exist, which is the limit; end one with drop_space("name")
            ShuttingDown: the process is shutting down; nothing was started"#]].assert_eq(&shown.join("\n"));
    }

    #[test]
    fn long_times_are_said_in_one_word() {
        let shown = [0, 119, 120, 7_199, 7_200, 172_799, 172_800].map(|s| roughly(Duration::from_secs(s)));
        assert_eq!(shown, ["0 s", "119 s", "2 min", "119 min", "2 h", "47 h", "2 days"]);
    }
}
