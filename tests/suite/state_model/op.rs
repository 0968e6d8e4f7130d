//! The steps of histories: everything that can happen to a registry, as data that is generated, shrunk and printed.
//!
//! Ops name entries and sessions loosely, so that a history stays meaningful when an op before them is taken out: `fit 2` is
//! the third of those the op makes sense for, `any 2` the third of all that were ever given out, one past the end included.

use proptest::collection::vec;
use proptest::prelude::*;
use remontoire::internals::Wants;
use remontoire::{Limits, Status};
use std::fmt;
use std::time::Duration;

/// An entry.
#[derive(Clone, Copy)]
pub(super) enum Pick {
    /// Among those for which the op makes sense.
    Fit(u8),
    /// Among all ids ever given out, and one past the end.
    Any(u8),
}

/// A caller, as a history names it.
#[derive(Clone, Copy)]
pub(super) enum Who {
    /// The nil caller or a live session.
    Live(u8),
    /// The nil caller, a live or ended session, or one past the end.
    Any(u8),
}

/// A jump of the time.
#[derive(Clone, Copy, Debug)]
pub(super) enum Jump {
    Millis(u16),
    /// Less than a task is kept for, more than that together with another.
    Minutes(u8),
    /// More than a task is kept for.
    Hours(u8),
    /// More than the silence after which a session ends.
    Days(u8),
}

impl Jump {
    pub(super) fn duration(self) -> Duration {
        match self {
            Self::Millis(n) => Duration::from_millis(n.into()),
            Self::Minutes(n) => Duration::from_secs(60 * u64::from(n)),
            Self::Hours(n) => Duration::from_secs(3_600 * u64::from(n)),
            Self::Days(n) => Duration::from_secs(86_400 * u64::from(n)),
        }
    }
}

/// The one that asks an entry to stop.
#[derive(Clone, Copy, Debug)]
pub(super) enum By {
    Owner,
    Other(Who),
    Task,
    Request,
    Parent,
}

/// A mark on a session.
#[derive(Clone, Copy, Debug)]
pub(super) enum Flag {
    Note,
    Manual,
    Reminded,
    Tools,
}

/// A name of a space; some are not to be had.
#[derive(Clone, Copy, Debug)]
pub(super) enum Name {
    Lab,
    Den,
    /// Not a name.
    Bad,
    /// The nil caller's scratch.
    NilScratch,
    /// A name like a scratch's that nobody has.
    NobodysScratch,
    /// The scratch of somebody, perhaps the speaker.
    ScratchOf(Who),
}

/// One thing that happens.
#[derive(Clone, Debug)]
pub(super) enum Op {
    Wait(Jump),

    Initialize,
    /// A request with a header: the key is one of a few chosen by clients, or one that was minted.
    Knock(u8),
    Delete(u8),
    Create {
        random: u8,
    },
    ByHandle(Who),
    Heard(Who),
    Hold(Who),
    Unhold(Who),
    Expire,
    Prompt(bool),
    Mark(Who, Flag),

    Target(Who, Option<Name>),
    Move(Who, Name),
    DropSpace(Name),

    Admit {
        who: Who,
        elsewhere: usize,
    },
    Child(Pick),
    /// Entries that are admitted, settle and are delivered at once.
    Quick(Who, u8),
    Settle {
        entry: Pick,
        status: Status,
        bytes: usize,
    },
    Print(Pick, u8),
    Detach(Pick),
    Forget(Who, Pick),
    Look(Pick),
    List(Option<Who>, Option<Status>),
    Capacity(u8),
    /// Something wants to keep so many bytes.
    MakeRoom {
        more: usize,
        elsewhere: usize,
    },

    GiveBack(Pick),
    TakeBack {
        entry: Pick,
        force: bool,
    },
    Await(Pick),
    Unawait(Pick),
    WaitFor(Pick, Vec<Pick>, Wants),
    WaitOver(Pick),
    /// A call of its owner is open that will render the outcome.
    Expect(Pick),
    ExpectForeign(Who, Pick),
    Unexpect(Pick),
    Read {
        reader: Pick,
        target: Pick,
    },

    Cancel(Pick, By),
    Release {
        who: Who,
        cancel: bool,
        speaking: Option<u8>,
    },
    ShutDown,

    Claim {
        to: Who,
        outcomes: Vec<Pick>,
        news: bool,
    },
    /// An answer with one outcome and nothing else, written at once.
    Deliver(Pick),
    Follow(Pick),
    Written(u8),
    Dropped(u8),
    /// A claim that has ended before ends again.
    EndAgain {
        claim: u8,
        written: bool,
    },
}

/// Limits so small that histories meet them.
#[derive(Clone, Debug)]
pub(super) struct Tiny {
    capacity: usize,
    running: usize,
    reserved_slots: usize,
    queued: usize,
    live_entries: usize,
    sessions: usize,
    spaces: usize,
    total_bytes: usize,
    output_bytes: usize,
}

impl Tiny {
    /// For histories written by hand: two sessions, two slots and a queue.
    pub(super) const TWO: Self = Self {
        capacity: 0,
        running: 2,
        reserved_slots: 0,
        queued: 2,
        live_entries: 4,
        sessions: 2,
        spaces: 3,
        total_bytes: 1 << 30,
        output_bytes: 20,
    };

    pub(super) fn limits(&self) -> Limits {
        Limits {
            capacity: self.capacity,
            running: self.running,
            reserved_slots: self.reserved_slots,
            queued: self.queued,
            live_entries: self.live_entries,
            sessions: self.sessions,
            spaces: self.spaces,
            total_bytes: self.total_bytes,
            output_bytes: self.output_bytes,
            ..Limits::default()
        }
    }
}

/// Limits, and what happens under them.
#[derive(Clone)]
pub(super) struct History {
    pub(super) limits: Tiny,
    pub(super) ops: Vec<Op>,
}

impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.limits)?;
        self.ops.iter().try_for_each(|op| write!(f, "\n    {op:?}"))
    }
}

impl fmt::Debug for Pick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fit(n) => write!(f, "fit {n}"),
            Self::Any(n) => write!(f, "any {n}"),
        }
    }
}

impl fmt::Debug for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Live(n) => write!(f, "live {n}"),
            Self::Any(n) => write!(f, "any {n}"),
        }
    }
}

fn pick() -> impl Strategy<Value = Pick> {
    prop_oneof![9 => (0..8u8).prop_map(Pick::Fit), 1 => any::<u8>().prop_map(Pick::Any)]
}

fn who() -> impl Strategy<Value = Who> {
    prop_oneof![9 => (0..8u8).prop_map(Who::Live), 1 => (0..16u8).prop_map(Who::Any)]
}

fn jump() -> impl Strategy<Value = Jump> {
    prop_oneof![
        6 => (1..3_000u16).prop_map(Jump::Millis),
        3 => (10..45u8).prop_map(Jump::Minutes),
        1 => (1..14u8).prop_map(Jump::Hours),
        1 => (1..3u8).prop_map(Jump::Days),
    ]
}

fn by() -> impl Strategy<Value = By> {
    prop_oneof![
        3 => Just(By::Owner),
        1 => who().prop_map(By::Other),
        1 => Just(By::Task),
        1 => Just(By::Request),
        1 => Just(By::Parent),
    ]
}

fn name() -> impl Strategy<Value = Name> {
    prop_oneof![
        4 => Just(Name::Lab),
        2 => Just(Name::Den),
        1 => Just(Name::Bad),
        1 => Just(Name::NilScratch),
        1 => Just(Name::NobodysScratch),
        2 => who().prop_map(Name::ScratchOf),
    ]
}

fn end() -> impl Strategy<Value = Status> {
    prop_oneof![3 => Just(Status::Ok), 1 => Just(Status::Failed), 2 => Just(Status::Cancelled)]
}

fn status() -> impl Strategy<Value = Status> {
    prop_oneof![end(), Just(Status::Queued), Just(Status::Running)]
}

fn session_op() -> impl Strategy<Value = Op> {
    prop_oneof![
        1 => Just(Op::Initialize),
        4 => any::<u8>().prop_map(Op::Knock),
        1 => any::<u8>().prop_map(Op::Delete),
        2 => (0..6u8).prop_map(|random| Op::Create { random }),
        2 => who().prop_map(Op::ByHandle),
        3 => who().prop_map(Op::Heard),
        1 => who().prop_map(Op::Hold),
        2 => who().prop_map(Op::Unhold),
        1 => Just(Op::Expire),
        1 => any::<bool>().prop_map(Op::Prompt),
        1 => (who(), prop_oneof![Just(Flag::Note), Just(Flag::Manual), Just(Flag::Reminded), Just(Flag::Tools)])
            .prop_map(|(who, flag)| Op::Mark(who, flag)),
        2 => (who(), proptest::option::of(name())).prop_map(|(who, name)| Op::Target(who, name)),
        1 => (who(), name()).prop_map(|(who, name)| Op::Move(who, name)),
        1 => name().prop_map(Op::DropSpace),
    ]
}

fn entry_op() -> impl Strategy<Value = Op> {
    let elsewhere = prop_oneof![3 => Just(0usize), 1 => 0..600usize];
    prop_oneof![
        10 => (who(), elsewhere).prop_map(|(who, elsewhere)| Op::Admit { who, elsewhere }),
        6 => pick().prop_map(Op::Child),
        3 => (who(), 1..6u8).prop_map(|(who, n)| Op::Quick(who, n)),
        14 => (pick(), end(), 0..200usize).prop_map(|(entry, status, bytes)| Op::Settle { entry, status, bytes }),
        3 => (pick(), 0..80u8).prop_map(|(entry, length)| Op::Print(entry, length)),
        2 => pick().prop_map(Op::Detach),
        2 => (who(), pick()).prop_map(|(who, entry)| Op::Forget(who, entry)),
        2 => pick().prop_map(Op::Look),
        1 => (proptest::option::of(who()), proptest::option::of(status()))
            .prop_map(|(who, status)| Op::List(who, status)),
        1 => (0..4u8).prop_map(Op::Capacity),
        1 => (0..500usize, 0..300usize).prop_map(|(more, elsewhere)| Op::MakeRoom { more, elsewhere }),
        4 => pick().prop_map(Op::GiveBack),
        4 => (pick(), proptest::bool::weighted(0.2)).prop_map(|(entry, force)| Op::TakeBack { entry, force }),
        2 => pick().prop_map(Op::Await),
        2 => pick().prop_map(Op::Unawait),
        5 => (pick(), vec(pick(), 1..4), prop_oneof![Just(Wants::All), Just(Wants::Any)])
            .prop_map(|(waiter, targets, wants)| Op::WaitFor(waiter, targets, wants)),
        1 => pick().prop_map(Op::WaitOver),
        3 => pick().prop_map(Op::Expect),
        1 => (who(), pick()).prop_map(|(who, entry)| Op::ExpectForeign(who, entry)),
        3 => pick().prop_map(Op::Unexpect),
        9 => (pick(), pick()).prop_map(|(reader, target)| Op::Read { reader, target }),
        5 => (pick(), by()).prop_map(|(entry, by)| Op::Cancel(entry, by)),
        3 => (who(), any::<bool>(), proptest::option::of(0..4u8))
            .prop_map(|(who, cancel, speaking)| Op::Release { who, cancel, speaking }),
    ]
}

fn delivery_op() -> impl Strategy<Value = Op> {
    prop_oneof![
        8 => (who(), vec(pick(), 0..3), proptest::bool::weighted(0.8))
            .prop_map(|(to, outcomes, news)| Op::Claim { to, outcomes, news }),
        4 => pick().prop_map(Op::Deliver),
        2 => pick().prop_map(Op::Follow),
        6 => (0..4u8).prop_map(Op::Written),
        3 => (0..4u8).prop_map(Op::Dropped),
        1 => (any::<u8>(), any::<bool>()).prop_map(|(claim, written)| Op::EndAgain { claim, written }),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        40 => jump().prop_map(Op::Wait),
        70 => session_op(),
        230 => entry_op(),
        110 => delivery_op(),
        1 => Just(Op::ShutDown),
    ]
}

prop_compose! {
    fn tiny()(
        capacity in 0..4usize,
        running in 1..5usize,
        reserved_slots in 0..3usize,
        queued in 0..5usize,
        live_entries in 4..14usize,
        sessions in 1..5usize,
        spaces in 3..9usize,
        total_bytes in prop_oneof![2 => Just(1usize << 30), 1 => 200..900usize],
        output_bytes in 20..120usize,
    ) -> Tiny {
        Tiny { capacity, running, reserved_slots, queued, live_entries, sessions, spaces, total_bytes, output_bytes }
    }
}

fn beginning() -> impl Strategy<Value = Op> {
    prop_oneof![
        Just(Op::Initialize),
        any::<u8>().prop_map(Op::Knock),
        (0..6u8).prop_map(|random| Op::Create { random }),
        Just(Op::Prompt(true)),
    ]
}

/// Histories of up to `longest` ops, after a beginning in which some people arrive.
pub(super) fn histories(longest: usize) -> impl Strategy<Value = History> {
    (tiny(), vec(beginning(), 0..5), vec(op(), 1..longest)).prop_map(|(limits, mut ops, rest)| {
        ops.extend(rest);
        History { limits, ops }
    })
}
