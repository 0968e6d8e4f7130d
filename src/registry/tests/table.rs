//! The table of the life of an entry, row by row.

use super::harness::Harness;

/// A row: from which state, by which event, and a history that shows where it leads.
struct Row {
    from: &'static str,
    event: &'static str,
    history: &'static str,
}

const TABLE: &[Row] = &[
    Row {
        from: "nothing",
        event: "admission: silent sessions end, live ones are counted, the entry is in, the oldest touch over capacity goes",
        history: "
            capacity 1
            B delivered 1
            A delivered 2 3 4 5
            look 2
            24 hours pass
            A heard
            A runs 6            # one session lives: one place, not eleven
            B gone
            6 is running
            1 is evicted
            3 is evicted
            4 is evicted
            5 is evicted
            2 is ok seen told
            answer r to A
            r evicts 3 4 5",
    },
    Row {
        from: "running",
        event: "settles inside the call and the response is written",
        history: "
            A runs 1
            1 settles ok
            answer r to A : 1
            1 is ok unread owed
            r tells nothing
            r written
            1 is ok seen told
            answer s to A
            s tells nothing",
    },
    Row {
        from: "running",
        event: "settles inside the call and the write fails",
        history: "
            capacity 0
            A delivered 1
            A runs 2
            2 settles ok
            answer r to A : 2
            r evicts 1
            r dropped
            2 is ok unread owed
            A runs 3
            2 is ok unread owed
            answer s to A
            s tells 2 ok
            s evicts 1",
    },
    Row {
        from: "running",
        event: "the wait ends first",
        history: "
            A runs 1
            answer r to A : 1
            r written
            1 settles failed
            1 is failed unread owed
            answer s to A
            s tells 1 failed",
    },
    Row {
        from: "running",
        event: "becomes a task",
        history: "
            capacity 0
            A delivered 1
            A runs 2
            task t of 2
            t written
            2 is running followed
            2 settles ok
            2 is ok unread owed followed
            answer r to A
            r tells nothing
            r evicts 1",
    },
    Row {
        from: "running",
        event: "becomes a task, and the task answer is not written",
        history: "
            A runs 1
            task t of 1
            1 settles ok
            answer r to A
            r tells nothing
            r written
            t dropped
            1 is ok unread owed
            answer s to A
            s tells 1 ok",
    },
    Row {
        from: "followed",
        event: "ttlMs passes and no terminal answer was written",
        history: "
            A runs 1
            task t of 1
            t written
            30 seconds pass
            1 settles ok
            3599 seconds pass
            answer r to A
            r tells nothing
            r written
            1 seconds pass
            answer s to A
            s tells 1 ok
            1 is ok unread owed",
    },
    Row {
        from: "followed",
        event: "stays readable while its ttlMs lasts",
        history: "
            capacity 0
            A runs 1
            task t of 1
            t written
            1 settles ok
            block r to A : 1
            r written
            1 is ok seen told followed
            3599 seconds pass
            A runs 2
            1 is ok seen told followed
            1 seconds pass
            A runs 3
            1 is evicted",
    },
    Row {
        from: "unread",
        event: "listed in settled news, written",
        history: "
            capacity 0
            A runs 1
            1 settles ok
            answer r to A
            r tells 1 ok
            1 is ok unread owed
            r written
            1 is ok unread told
            A runs 2
            1 is ok unread told
            answer s to A
            s tells nothing",
    },
    Row {
        from: "unread",
        event: "listed in settled news, not written",
        history: "
            A runs 1
            1 settles ok
            answer r to A
            answer s to A
            s tells nothing
            r dropped
            answer u to A
            u tells 1 ok",
    },
    Row {
        from: "unread",
        event: "rendered to its owner, written",
        history: "
            A runs 1
            1 settles ok
            answer r to A
            r written
            block s to A : 1
            s written
            1 is ok seen told",
    },
    Row {
        from: "unread",
        event: "read by a script of its owner: marked with the reading entry's outcome",
        history: "
            A runs 1
            1 settles ok
            A runs 2
            2 reads 1
            2 settles ok
            1 is ok unread owed
            answer r to A : 2
            r tells nothing
            r written
            1 is ok seen told",
    },
    Row {
        from: "unread",
        event: "read by a script of its owner whose answer is not written",
        history: "
            A runs 1
            1 settles ok
            A runs 2
            2 reads 1
            2 settles ok
            answer r to A : 2
            r dropped
            1 is ok unread owed
            answer s to A
            s tells 1 ok 2 ok",
    },
    Row {
        from: "running",
        event: "read by a script of its owner: marked when it settles, if the reader's outcome was written by then",
        history: "
            A runs 1
            A runs 2
            2 reads 1
            2 settles ok
            answer r to A : 2
            r written
            1 is running
            1 settles ok
            1 is ok seen told",
    },
    Row {
        from: "running",
        event: "read by a script of its owner, and settles before the reader's outcome is written",
        history: "
            A runs 1
            A runs 2
            2 reads 1
            2 settles ok
            answer r to A : 2
            1 settles ok
            answer s to A
            s tells nothing
            1 is ok unread owed
            r written
            1 is ok seen told",
    },
    Row {
        from: "unread",
        event: "read by a child: the child hands its list to its parent",
        history: "
            A runs 1
            1 settles ok
            A runs 2
            2 starts 3
            3 reads 1
            2 reads 3
            3 settles ok
            2 settles ok
            answer r to A : 2
            r written
            1 is ok seen told
            3 is ok seen told",
    },
    Row {
        from: "any",
        event: "read by another session: touched, nothing else",
        history: "
            capacity 0
            A runs 1
            1 settles ok
            B runs 2
            2 reads 1
            2 settles ok
            answer r to B : 2 1
            r written
            1 is ok unread owed
            answer s to A
            s tells 1 ok",
    },
    Row {
        from: "any",
        event: "looked at: touched, so that it goes later",
        history: "
            capacity 2
            A delivered 1 2 3
            look 1
            A runs 4
            2 is evicted
            1 is ok seen told
            3 is ok seen told",
    },
    Row {
        from: "any",
        event: "listed: touched, and those listed keep their order",
        history: "
            capacity 2
            A delivered 1 2 3
            look 1
            list
            A runs 4
            2 is evicted
            4 settles failed
            answer r to A : 4
            r written
            list ok
            A runs 5
            4 is evicted
            3 is ok seen told
            1 is ok seen told",
    },
    Row {
        from: "unread",
        event: "released by its owner",
        history: "
            A runs 1
            1 settles ok
            B runs 2
            2 settles ok
            A releases
            1 is ok seen told
            2 is ok unread owed
            answer r to A
            r tells nothing",
    },
    Row {
        from: "unread",
        event: "the owner session ends",
        history: "
            capacity 0
            A runs 1
            1 settles ok
            A ends
            1 is ok seen told
            B runs 2
            1 is evicted
            answer r to B
            r evicts nothing",
    },
    Row {
        from: "running",
        event: "cancelled by its owner",
        history: "
            A runs 1
            A cancels 1
            stops 1
            1 is running stopping
            1 settles cancelled
            1 is cancelled seen told",
    },
    Row {
        from: "running",
        event: "cancelled by its owner with release(true)",
        history: "
            A runs 1
            A runs 2
            B runs 3
            A releases all from 2
            stops 1
            1 settles cancelled
            1 is cancelled seen told",
    },
    Row {
        from: "running",
        event: "cancelled as a child of a settling parent",
        history: "
            A runs 1
            1 starts 2
            parent cancels 2
            stops 2
            2 settles cancelled
            2 is cancelled seen told",
    },
    Row {
        from: "running",
        event: "cancelled by its owner, but settles before that bites",
        history: "
            A runs 1
            A cancels 1
            1 settles ok
            1 is ok unread owed",
    },
    Row {
        from: "running",
        event: "cancelled by a dropped stream or a cancel notice",
        history: "
            A runs 1
            request cancels 1
            1 settles cancelled
            1 is cancelled unread owed
            answer r to A
            r tells 1 cancelled",
    },
    Row {
        from: "running",
        event: "cancelled by another session",
        history: "
            A runs 1
            B cancels 1
            1 settles cancelled
            1 is cancelled unread owed
            answer r to B
            r tells nothing",
    },
    Row {
        from: "running",
        event: "a detached, returned or published child settles",
        history: "
            A runs 1
            1 starts 2
            2 detached
            1 starts 3
            1 settles ok
            2 settles ok
            3 settles failed
            answer r to A
            r tells 1 ok 2 ok 3 failed",
    },
    Row {
        from: "running",
        event: "the owner session ends by DELETE",
        history: "
            A runs 1
            A ends
            1 is running
            1 settles ok
            1 is ok seen told",
    },
    Row {
        from: "running",
        event: "the owner session ends by expiry",
        history: "
            A runs 1
            24 hours pass
            B runs 2
            A gone
            1 is running
            1 settles failed
            1 is failed seen told",
    },
    Row {
        from: "pool",
        event: "evicted: the owner is told in its next response of any kind, once",
        history: "
            capacity 0
            A delivered 1
            B runs 2
            capacity 0
            A runs 3
            1 is ok seen told
            B ends
            A runs 4
            1 is evicted
            block b to A : 3
            b evicts nothing
            answer r to A
            r evicts 1
            answer s to A
            s evicts nothing
            r dropped
            answer t to A
            t evicts 1
            t written
            answer u to A
            u evicts nothing",
    },
    Row {
        from: "evicted",
        event: "asked for: not the same as an id never given out",
        history: "
            capacity 0
            A delivered 1 2
            1 is evicted
            7 is no entry 7; the newest is 2",
    },
];

#[test]
fn every_row_of_the_table_holds() {
    let failed: Vec<_> =
        TABLE.iter().filter(|row| std::panic::catch_unwind(|| Harness::play(row.history)).is_err()).collect();
    let named: Vec<_> = failed.iter().map(|row| format!("{}: {}", row.from, row.event)).collect();
    assert!(failed.is_empty(), "rows that do not hold:\n{}", named.join("\n"));
}

/// The rows about the queue need a registry with one slot.
#[test]
fn queued_entries_are_cancelled_at_once() {
    let histories = [
        "A cancels 3
         dequeues 3
         stops nothing
         3 is cancelled seen told",
        "B cancels 3
         dequeues 3
         3 is cancelled unread owed",
        "request cancels 3
         3 is cancelled unread owed",
        "A ends
         dequeues 3
         3 is cancelled seen told",
        "24 hours pass
         C heard
         C queues 4
         3 is cancelled seen told
         1 settles ok
         grants 2",
    ];
    for history in histories {
        let limits = crate::base::Limits { running: 1, reserved_slots: 0, ..Default::default() };
        Harness::with(limits).run("nil runs 1\nnil queues 2\nA queues 3").run(history);
    }
}
