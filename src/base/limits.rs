//! The numbers that bound the process, in one struct, handed down by value. `limits()` shows them to scripts.

use std::fmt;
use std::time::Duration;

/// Every limit in force. Fields carry their unit in their name or type; each can be changed by the builder, an option of the
/// command line or the environment.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// Longest script, in bytes.
    pub script_bytes: usize,
    /// Deepest chain of script calls.
    pub call_depth: usize,
    /// Deepest expression at the top level of a script.
    pub expression_depth: usize,
    /// Deepest expression inside a function.
    pub function_expression_depth: usize,
    /// Memory of one eval, in bytes, counted by the allocator. Stacks of eval threads are four times this, virtual.
    pub eval_bytes: usize,
    /// Kept values of one space, in bytes.
    pub space_bytes: usize,
    /// Kept values, output and running evals of the whole process, in bytes.
    pub total_bytes: usize,
    /// The bytes an eval may still keep when the process is at `total_bytes`.
    pub kept_when_full_bytes: usize,
    /// Output of one entry, in bytes; older lines are dropped and counted.
    pub output_bytes: usize,
    /// Evals that run at the same time. Those that wait or sleep do not count.
    pub running: usize,
    /// Slots that no single session may take: it holds at most `running - reserved_slots`.
    pub reserved_slots: usize,
    /// Evals that may wait for a slot.
    pub queued: usize,
    /// Entries that have not settled.
    pub live_entries: usize,
    /// Sessions alive at the same time.
    pub sessions: usize,
    /// Shared spaces alive at the same time. Scratches are bounded by the number of sessions.
    pub spaces: usize,
    /// Variables of one space.
    pub variables: usize,
    /// Functions of one space or module.
    pub functions: usize,
    /// Modules one eval may load.
    pub modules: usize,
    /// Levels a kept value may be nested, closures and curried arguments included.
    pub nesting: usize,
    /// Longest time an eval may run; `None`: for ever.
    pub eval_time: Option<Duration>,
    /// Settled and seen entries that are kept for one session; each further live session adds ten.
    pub capacity: usize,
    /// The time a call of `eval` waits when it is not told; one that declares tasks is answered with a task then.
    pub grace: Duration,
    /// The time a call may be unsettled before its answer is committed to an event stream.
    pub stream_after: Duration,
    /// The pause between signs of life on an open stream.
    pub heartbeat: Duration,
    /// Silence after which a session is over; also the longest wait anyone is granted.
    pub silence: Duration,
    /// The time an answer waits for a cancellation to take effect.
    pub cancel_wait: Duration,
    /// The time a response may make no progress on its socket before the connection is closed.
    pub write_stall: Duration,
    /// Largest request body, in bytes.
    pub body_bytes: usize,
}

/// How long the tool `await` waits when it is not told. Clients give up a call after 30 s or 60 s: the answer comes before.
pub(crate) const AWAIT_WAIT: Duration = Duration::from_secs(25);

/// Most characters of a session's note on the roster.
pub(crate) const MOST_NOTE_CHARACTERS: usize = 500;

/// Most characters that are kept of what a client calls itself, and of its version.
pub(crate) const MOST_CLIENT_CHARACTERS: usize = 100;

/// 1 KiB.
pub const KIB: usize = 1 << 10;
/// 1 MiB.
pub const MIB: usize = 1 << 20;
/// 1 GiB.
pub(crate) const GIB: usize = 1 << 30;

impl Default for Limits {
    fn default() -> Self {
        Self {
            script_bytes: 256 * KIB,
            call_depth: 64,
            expression_depth: 64,
            function_expression_depth: 32,
            eval_bytes: 128 * MIB,
            space_bytes: 256 * MIB,
            total_bytes: 2 * GIB,
            kept_when_full_bytes: 64 * KIB,
            output_bytes: MIB,
            running: 256,
            reserved_slots: 32,
            queued: 1_024,
            live_entries: 4_096,
            sessions: 10_000,
            spaces: 1_000,
            variables: 10_000,
            functions: 5_000,
            modules: 200,
            nesting: 1_000,
            eval_time: None,
            capacity: 50,
            grace: Duration::from_secs(10),
            stream_after: Duration::from_secs(1),
            heartbeat: Duration::from_secs(5),
            silence: Duration::from_secs(24 * 3600),
            cancel_wait: Duration::from_secs(2),
            write_stall: Duration::from_secs(30),
            body_bytes: 4 * MIB,
        }
    }
}

impl Limits {
    /// The stack of an eval thread, in bytes. A chain of values as large as the memory of an eval is dropped by recursion and
    /// must fit: at half this size such a chain ended the process. Unoptimised builds need more room for calls.
    pub fn stack_bytes(&self) -> usize {
        (self.eval_bytes * 4).max(64 * MIB)
    }

    /// The number of slots one session may hold.
    pub fn slots_per_session(&self) -> usize {
        self.running.saturating_sub(self.reserved_slots).max(1)
    }
}

/// A limit that an eval ran into. `Display` names the limit and its value; scripts that catch it see the same sentence.
#[derive(Clone, Debug, PartialEq)]
pub enum LimitHit {
    /// The script is too long.
    Script {
        /// Its length in bytes.
        bytes: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// The eval allocated too much.
    Memory {
        /// The limit in bytes.
        limit: usize,
    },
    /// The space would keep too much.
    SpaceMemory {
        /// The limit in bytes.
        limit: usize,
    },
    /// The process keeps too much already.
    TotalMemory {
        /// The limit in bytes.
        limit: usize,
        /// The bytes an eval may still keep.
        still: usize,
        /// The largest holders, spaces first, as people name them.
        holders: Vec<String>,
        /// The bytes no holder accounts for.
        unnamed: usize,
    },
    /// A value is nested too deeply to be kept.
    Nesting {
        /// The limit in levels.
        limit: usize,
    },
    /// The space has too many variables.
    Variables {
        /// The limit.
        limit: usize,
    },
    /// A space or module defines too many functions.
    Functions {
        /// The limit.
        limit: usize,
    },
    /// The eval ran too long.
    Seconds {
        /// The limit.
        limit: Duration,
    },
    /// An argument of a native function asks for more than is allowed.
    Argument {
        /// The call, such as `pad`.
        call: &'static str,
        /// The unit, such as `characters`.
        what: &'static str,
        /// The number asked for.
        asked: i64,
        /// The limit.
        limit: i64,
    },
}

impl LimitHit {
    /// The kind of failure this ends an eval with.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Script { .. } => "ScriptLimit",
            Self::Memory { .. } => "MemoryLimit",
            Self::SpaceMemory { .. } => "SpaceMemoryLimit",
            Self::TotalMemory { .. } => "TotalMemoryLimit",
            Self::Nesting { .. } => "NestingLimit",
            Self::Variables { .. } => "VariableLimit",
            Self::Functions { .. } => "FunctionLimit",
            Self::Seconds { .. } => "TimeLimit",
            Self::Argument { .. } => "ArgumentLimit",
        }
    }
}

/// A number of bytes as people read it: `128 MiB`, `1.2 MB` only where it is not a whole number of a unit.
pub(crate) fn bytes(n: usize) -> String {
    match n {
        n if n >= GIB && n.is_multiple_of(GIB) => format!("{} GiB", n / GIB),
        n if n >= MIB && n.is_multiple_of(MIB) => format!("{} MiB", n / MIB),
        n if n >= KIB && n.is_multiple_of(KIB) => format!("{} KiB", n / KIB),
        n if n >= 1_000_000 => format!("{}.{} MB", n / 1_000_000, n % 1_000_000 / 100_000),
        n if n >= 10_000 => format!("{} KB", n / 1_000),
        n => format!("{} bytes", thousands(n)),
    }
}

/// A number with commas between thousands: `9,872`.
pub(crate) fn thousands(n: usize) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

impl fmt::Display for LimitHit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Script { bytes: got, limit } => write!(
                f,
                "the script has {} bytes and the limit is {}; keep it in scripts/ as a module, or send it in parts",
                thousands(*got),
                bytes(*limit)
            ),
            Self::Memory { limit } => {
                write!(f, "the eval reached its memory limit of {}; work in smaller parts", bytes(*limit))
            }
            Self::SpaceMemory { limit } => write!(
                f,
                "the space would keep more than its memory limit of {}; assign () to what is no longer needed",
                bytes(*limit)
            ),
            Self::TotalMemory { limit, still, holders, unnamed } => {
                write!(
                    f,
                    "the process keeps its memory limit of {} already, and only values up to {} can still be kept",
                    bytes(*limit),
                    bytes(*still)
                )?;
                if !holders.is_empty() {
                    write!(f, "; the largest holders are {}", holders.join(", "))?;
                }
                f.write_str("; free some with drop_space(\"name\"), forget(id), or by assigning () to variables")?;
                // A process has always some memory that no value accounts for.
                if *unnamed > limit / 8 {
                    write!(
                        f,
                        "; {} are held by no space, kept entry or running eval: closures that reach themselves through an atom \
                         or a channel can hold them, and values of the embedding program; end such a circle, as with \
                         a.set(()), before its last name goes",
                        bytes(*unnamed)
                    )?;
                }
                // Nothing that has a name would make room.
                if *unnamed > limit / 2 + limit / 4 {
                    f.write_str("; what is lost already is freed by a restart")?;
                }
                Ok(())
            }
            Self::Nesting { limit } => {
                write!(f, "a value nested deeper than {} levels cannot be kept", thousands(*limit))
            }
            Self::Variables { limit } => {
                write!(f, "the space has its limit of {} variables; gather some in a map", thousands(*limit))
            }
            Self::Functions { limit } => {
                write!(f, "more than {} functions, which is the limit of a space or module", thousands(*limit))
            }
            Self::Seconds { limit } => write!(f, "the eval ran into its time limit of {} seconds", limit.as_secs_f64()),
            Self::Argument { call, what, asked, limit } => write!(
                f,
                "{call} was asked for {asked} {what} and the limit is {}",
                thousands(usize::try_from(*limit).unwrap_or_default())
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn sizes_read_well() {
        let shown: Vec<_> = [0, 999, 1_000, 8_192, 12_345, 1_234_567, 128 * MIB, 2 * GIB].map(bytes).into();
        expect![[r#"["0 bytes", "999 bytes", "1,000 bytes", "8 KiB", "12 KB", "1.2 MB", "128 MiB", "2 GiB"]"#]]
            .assert_eq(&format!("{shown:?}"));
    }

    #[test]
    fn each_limit_names_its_value() {
        let hits = [
            LimitHit::Script { bytes: 300 * KIB, limit: 256 * KIB },
            LimitHit::Memory { limit: 128 * MIB },
            LimitHit::SpaceMemory { limit: 256 * MIB },
            LimitHit::TotalMemory {
                limit: 2 * GIB,
                still: 64 * KIB,
                holders: vec!["entry 12 (1 GiB)".into()],
                unnamed: 0,
            },
            LimitHit::TotalMemory {
                limit: 2 * GIB,
                still: 64 * KIB,
                holders: vec!["space room (1 GiB)".into()],
                unnamed: 300 * MIB,
            },
            LimitHit::TotalMemory { limit: 2 * GIB, still: 64 * KIB, holders: vec![], unnamed: 1_900 * MIB },
            LimitHit::Nesting { limit: 1_000 },
            LimitHit::Variables { limit: 10_000 },
            LimitHit::Functions { limit: 5_000 },
            LimitHit::Seconds { limit: Duration::from_millis(1_500) },
            LimitHit::Argument { call: "blob", what: "bytes", asked: i64::MAX, limit: 1_000_000 },
        ];
        let shown: Vec<_> = hits.iter().map(|hit| format!("{}: {hit}", hit.kind())).collect();
        expect![[r#"
            ScriptLimit: the script has 307,200 bytes and the limit is 256 KiB; keep it in scripts/ as a module, or send it in parts
            MemoryLimit: the eval reached its memory limit of 128 MiB; work in smaller parts
            SpaceMemoryLimit: the space would keep more than its memory limit of 256 MiB; assign () to what is no longer needed
            TotalMemoryLimit: the process keeps its memory limit of 2 GiB already, and only values up to 64 KiB can still be kept; the largest holders are entry 12 (1 GiB); free some with drop_space("name"), forget(id), or by assigning () to variables
            TotalMemoryLimit: the process keeps its memory limit of 2 GiB already, and only values up to 64 KiB can still be kept; the largest holders are space room (1 GiB); free some with drop_space("name"), forget(id), or by assigning () to variables; 300 MiB are held by no space, kept entry or running eval: closures that reach themselves through an atom or a channel can hold them, and values of the embedding program; end such a circle, as with a.set(()), before its last name goes
            TotalMemoryLimit: the process keeps its memory limit of 2 GiB already, and only values up to 64 KiB can still be kept; free some with drop_space("name"), forget(id), or by assigning () to variables; 1900 MiB are held by no space, kept entry or running eval: closures that reach themselves through an atom or a channel can hold them, and values of the embedding program; end such a circle, as with a.set(()), before its last name goes; what is lost already is freed by a restart
            NestingLimit: a value nested deeper than 1,000 levels cannot be kept
            VariableLimit: the space has its limit of 10,000 variables; gather some in a map
            FunctionLimit: more than 5,000 functions, which is the limit of a space or module
            TimeLimit: the eval ran into its time limit of 1.5 seconds
            ArgumentLimit: blob was asked for 9223372036854775807 bytes and the limit is 1,000,000"#]]
        .assert_eq(&shown.join("\n"));
    }
}
