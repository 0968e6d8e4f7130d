//! Channels: values handed over from one eval to another, in order, each to one taker.

use super::call::{Call, Table, seconds};
use crate::base::{Owner, Refusal, Time, Wake, lock};
use crate::engine::{Atom, Fallible, Task, fail, refuse};
use crate::render::Shown;
use rhai::{Dynamic, NativeCallContext};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

/// The most values a channel may hold.
const LARGEST: i64 = 100_000;

/// A channel, as a value in Rhai. Cheap to clone; equal when it is the same one.
#[derive(Clone, Debug)]
pub(super) struct Channel(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    room: usize,
    owner: Owner,
    inside: Mutex<Inside>,
}

#[derive(Debug, Default)]
struct Inside {
    /// Values on their way. Each is wrapped in an atom of its own, which makes it fit for any eval.
    values: VecDeque<Atom>,
    /// Takers that wait, by the number they drew, in the order in which they came. In a channel without room a value is accepted
    /// for each of them.
    takers: VecDeque<u64>,
    /// The number drawn last.
    drawn: u64,
    closed: bool,
    waiters: Vec<Wake>,
}

impl PartialEq for Channel {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Channel {
    /// How it is shown and printed.
    fn text(&self) -> String {
        let (waiting, closed) = {
            let inside = self.inside();
            (inside.values.len(), if inside.closed { ", closed" } else { "" })
        };
        format!("<chan {waiting} of {}{closed}>", self.0.room)
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        lock(&self.0.inside)
    }

    /// Tells everybody who waits that something has changed.
    fn changed(mut inside: MutexGuard<'_, Inside>) {
        let waiters = std::mem::take(&mut inside.waiters);
        drop(inside);
        for wake in waiters {
            wake.notify();
        }
    }

    /// Whether it was closed, or its owner's session ended.
    fn is_closed(&self, call: &Call) -> bool {
        self.inside().closed || !call.host.registry().is_alive(self.0.owner)
    }

    fn has_room(&self, inside: &Inside) -> bool {
        let room = if self.0.room == 0 { inside.takers.len() } else { self.0.room };
        inside.values.len() < room
    }

    /// Joins those who wait for a value.
    fn queue(&self) -> u64 {
        let mut inside = self.inside();
        inside.drawn += 1;
        let number = inside.drawn;
        inside.takers.push_back(number);
        Self::changed(inside);
        number
    }

    /// Leaves those who wait for a value.
    fn leave(&self, number: u64) {
        let mut inside = self.inside();
        inside.takers.retain(|other| *other != number);
        Self::changed(inside);
    }

    /// Waits until `ready`, woken whenever the channel changes.
    fn wait(&self, task: &Task, until: Option<Time>, mut ready: impl FnMut(&mut Inside) -> bool) -> Fallible<bool> {
        task.wait(until, || {
            let mut inside = self.inside();
            if ready(&mut inside) {
                return true;
            }
            inside.waiters.push(task.wake().clone());
            false
        })
    }

    fn send(&self, context: &NativeCallContext<'_>, value: Dynamic) -> Fallible<()> {
        let call = Call::of(context)?;
        let parcel = Atom::new(context, value)?;
        let mut accepted = false;
        let ended = |inside: &Inside| inside.closed || !call.host.registry().is_alive(self.0.owner);
        self.wait(&call.task, None, |inside| {
            if ended(inside) {
                return true;
            }
            if self.has_room(inside) {
                inside.values.push_back(parcel.clone());
                accepted = true;
            }
            accepted
        })?;
        if !accepted {
            return Err(fail("ChannelClosed", "the channel is closed: nobody takes this value"));
        }
        Self::changed(self.inside());
        Ok(())
    }

    fn recv(&self, context: &NativeCallContext<'_>, secs: Option<&Dynamic>) -> Fallible<Dynamic> {
        let call = Call::of(context)?;
        let limit = secs.map(seconds).transpose()?;
        let until = limit.map(|limit| call.host.clock.now() + limit);
        let number = self.queue();
        let mut taken = None;
        let ended = |inside: &Inside| inside.closed || !call.host.registry().is_alive(self.0.owner);
        let waited = self.wait(&call.task, until, |inside| {
            // A value belongs to whoever waited first, not to who looks first: its giver may be the next taker.
            let before = inside.takers.iter().take_while(|other| **other != number).count();
            if taken.is_none() && before < inside.values.len() {
                taken = inside.values.pop_front();
            }
            taken.is_some() || ended(inside)
        });
        self.leave(number);
        match (waited?, taken) {
            (_, Some(parcel)) => Ok(parcel.value().unwrap_or_default()),
            (true, None) => Ok(Dynamic::UNIT),
            (false, None) => Err(refuse(&Refusal::TimedOut { after: limit.unwrap_or_default() })),
        }
    }
}

/// How a channel is shown.
pub(super) fn show(value: &Dynamic) -> Option<Shown> {
    Some(Shown::Text(value.read_lock::<Channel>()?.text()))
}

pub(super) fn register(table: &mut Table) {
    const DOC: &str = "
A channel with room for `n` values (0: a value is accepted when somebody takes it). `.send(v)` waits for room, `.recv()` for a value;
both can be cancelled and cost no slot while they wait. `.recv(secs)` waits no longer than that. After `.close()`, or when the session
that made it ends, `recv` hands out what is left and then `()`, and `send` is an error. `.len()` values are on their way.

```rhai
let lane = chan(2);
let giver = bg(|| { lane.send(1); lane.send(2); lane.close(); });
[lane.recv(), lane.recv(), lane.recv()] //=> [1, 2, ()]
```";
    table.doc(
        "chan",
        &["chan(n)", "chan.send(v)", "chan.recv()", "chan.recv(secs)", "chan.close()", "chan.is_closed()"],
        DOC,
    );
    let api = &mut table.api;
    crate::engine::shared_by_identity::<Channel>();
    api.custom_type::<Channel>("Chan");
    api.function("chan", &["n: int", "Chan"], DOC, |context: NativeCallContext<'_>, room: i64| {
        let call = Call::of(&context)?;
        let Some(room) = usize::try_from(room).ok().filter(|_| room <= LARGEST) else {
            return Err(fail("BadArgument", format!("a channel has room for 0 to {LARGEST} values, not {room}")));
        };
        Ok(Channel(Arc::new(Shared { room, owner: call.owner(), inside: Mutex::default() })))
    });
    for name in ["to_string", "to_debug"] {
        api.function(name, &[], "", |channel: Channel| -> Fallible<String> { Ok(channel.text()) });
    }
    api.function(
        "send",
        &["chan: Chan", "v: ?"],
        "Hands a value over; waits for room.",
        |context: NativeCallContext<'_>, channel: Channel, value: Dynamic| channel.send(&context, value),
    );
    api.function(
        "recv",
        &["chan: Chan", "?"],
        "Takes the next value; waits for one. `()` once the channel is closed and empty.",
        |context: NativeCallContext<'_>, channel: Channel| channel.recv(&context, None),
    );
    api.function(
        "recv",
        &["chan: Chan", "secs: float", "?"],
        "Takes the next value; an error when none came in time.",
        |context: NativeCallContext<'_>, channel: Channel, secs: Dynamic| channel.recv(&context, Some(&secs)),
    );
    api.function("==", &[], "", |a: Channel, b: Channel| -> Fallible<bool> { Ok(a == b) });
    api.function("!=", &[], "", |a: Channel, b: Channel| -> Fallible<bool> { Ok(a != b) });
    api.function("close", &["chan: Chan"], "Closes the channel.", |channel: Channel| -> Fallible<()> {
        let mut inside = channel.inside();
        inside.closed = true;
        Channel::changed(inside);
        Ok(())
    });
    api.function("len", &["chan: Chan", "int"], "Values on their way.", |channel: Channel| -> Fallible<i64> {
        Ok(i64::try_from(channel.inside().values.len()).unwrap_or(i64::MAX))
    });
    api.function(
        "is_closed",
        &["chan: Chan", "bool"],
        "Whether it was closed, or the session that made it has ended.",
        |context: NativeCallContext<'_>, channel: Channel| {
            Ok::<_, Box<rhai::EvalAltResult>>(channel.is_closed(&Call::of(&context)?))
        },
    );
}
