//! Claims that meet each other, and the nil caller.

use super::harness::{Harness, key};
use crate::base::Owner;
use crate::registry::Adoption;

#[test]
fn news_rides_one_answer() {
    Harness::play(
        "A runs 1
         1 settles ok
         answer r to A
         answer s to A
         r tells 1 ok
         s tells nothing
         s written
         r written
         1 is ok unread told",
    );
}

#[test]
fn an_outcome_on_its_way_is_no_news() {
    Harness::play(
        "A runs 1
         1 settles ok
         answer r to A : 1
         answer s to A
         s tells nothing
         s written
         r dropped
         answer t to A
         t tells 1 ok",
    );
}

#[test]
fn two_answers_may_render_one_outcome() {
    Harness::play(
        "A runs 1
         1 settles ok
         answer r to A : 1
         answer s to A : 1
         r dropped
         answer t to A
         t tells nothing
         s written
         1 is ok seen told",
    );
}

#[test]
fn an_answer_does_not_tell_what_it_renders() {
    Harness::play(
        "A runs 1
         A runs 2
         1 settles ok
         2 settles failed
         answer r to A : 1
         r tells 2 failed
         r written
         1 is ok seen told
         2 is failed unread told",
    );
}

#[test]
fn news_that_was_dropped_after_its_outcome_arrived_stays_silent() {
    Harness::play(
        "A runs 1
         1 settles ok
         answer r to A
         answer s to A : 1
         s written
         r dropped
         answer t to A
         t tells nothing",
    );
}

#[test]
fn news_on_its_way_survives_eviction() {
    Harness::play(
        "capacity 0
         A runs 1
         1 settles ok
         answer r to A
         block s to A : 1
         s written
         A runs 2
         1 is evicted
         r tells 1 ok
         r written
         answer t to A
         t evicts 1",
    );
}

#[test]
fn a_claim_counts_once() {
    Harness::play(
        "A runs 1
         1 settles ok
         answer r to A : 1 1
         r written
         r written
         r dropped
         1 is ok seen told",
    );
}

#[test]
fn an_ended_session_gets_nothing_back() {
    Harness::play(
        "capacity 0
         A delivered 1
         A runs 2
         2 settles ok
         answer r to A
         r evicts 1
         A ends
         r dropped
         2 is ok seen told
         answer s to A
         s tells nothing
         s evicts nothing",
    );
}

#[test]
fn what_a_timed_out_reader_left_is_still_owed() {
    Harness::play(
        "A runs 1
         A runs 2
         2 reads 1
         1 settles ok
         answer r to A
         r tells 1 ok      # the reader has delivered nothing yet
         r written
         2 settles ok
         answer s to A : 2
         s written
         1 is ok seen told",
    );
}

#[test]
fn another_sessions_answer_marks_nothing_its_scripts_read() {
    Harness::play(
        "A runs 1
         1 settles ok
         A runs 2
         2 reads 1
         2 settles ok
         answer r to B : 2
         r written
         1 is ok unread owed
         2 is ok unread owed",
    );
}

#[test]
fn a_child_that_outlives_its_parent_keeps_its_list() {
    Harness::play(
        "A runs 1
         1 settles ok
         A runs 2
         2 starts 3
         3 reads 1
         2 settles ok
         3 settles ok
         block r to A : 2
         r written
         1 is ok unread owed
         answer s to A : 3
         s written
         1 is ok seen told",
    );
}

#[test]
fn followed_entries_of_an_ended_session_stay_until_that_lapses() {
    Harness::play(
        "capacity 0
         A runs 1
         A runs 2
         task t of 1
         t written
         task u of 2
         u written
         1 settles ok
         A ends
         30 seconds pass
         2 settles ok
         1 is ok seen told followed
         2 is ok seen told followed
         3569 seconds pass
         B runs 3
         1 is ok seen told followed
         1 seconds pass
         B runs 4
         1 is evicted
         2 is ok seen told followed
         30 seconds pass
         B runs 5
         2 is evicted",
    );
}

#[test]
fn with_a_prompt_news_to_the_nil_caller_absorbs() {
    Harness::play(
        "prompt on
         nil runs 1
         1 settles ok
         1 is ok unread owed
         answer r to nil
         r tells 1 ok
         r dropped
         answer s to nil
         s written
         1 is ok seen told",
    );
}

#[test]
fn without_a_prompt_the_nil_caller_is_owed_nothing() {
    Harness::play(
        "nil runs 1
         1 settles failed
         1 is failed seen told
         answer r to nil
         r tells nothing
         prompt on
         nil runs 2
         nil runs 3
         2 settles ok
         prompt off
         2 is ok seen told
         3 settles ok
         3 is ok seen told",
    );
}

#[test]
fn the_adoption_notice_is_told_until_it_was_written() {
    let mut harness = Harness::new();
    let session = harness.state.find_or_adopt(&key("old"), None, harness.now).unwrap().session;
    let owner = Owner::Session(session);
    let first = harness.state.claim_news(owner, harness.now);
    let meanwhile = harness.state.claim_news(owner, harness.now);
    assert_eq!((first.adopted, meanwhile.adopted), (Some(Adoption::Unknown), None));
    harness.state.written(meanwhile.id, harness.now);
    harness.state.dropped(first.id);
    let block = harness.state.claim(owner, &[], false, harness.now);
    assert_eq!(block.adopted, None, "a block alone carries no notice");
    let second = harness.state.claim_news(owner, harness.now);
    assert_eq!(second.adopted, Some(Adoption::Unknown));
    harness.state.written(second.id, harness.now);
    assert_eq!(harness.state.claim_news(owner, harness.now).adopted, None);
}

#[test]
fn delivery_makes_an_entry_young_again() {
    for history in [
        // Rendered to its owner.
        "A runs 1
         A runs 2
         1 settles ok
         2 settles ok
         answer r to A : 2
         r written
         answer s to A : 1
         s written
         nil runs 3
         2 is evicted
         1 is ok seen told",
        // Rendered to somebody else.
        "A delivered 1 2
         answer r to nil : 1
         r written
         nil runs 3
         2 is evicted
         1 is ok seen told",
        // Delivered with the outcome of a script that read it.
        "A runs 1
         A runs 2
         1 settles ok
         2 reads 1
         2 settles ok
         answer r to A : 2
         r written
         nil runs 3
         2 is evicted
         1 is ok seen told",
        // Read by a script that was delivered before it settled.
        "A runs 1
         A runs 2
         2 reads 1
         2 settles ok
         answer r to A : 2
         r written
         A delivered 3
         1 settles ok
         nil runs 4
         3 is evicted
         1 is ok seen told",
    ] {
        Harness::new().run("capacity 1").run(history);
    }
}

#[test]
fn a_task_answer_written_after_the_session_ended_is_followed() {
    Harness::play(
        "capacity 0
         A runs 1
         task t of 1
         1 settles ok
         A ends
         t written
         1 is ok seen told followed
         nil runs 2
         1 is ok seen told followed
         3600 seconds pass
         nil runs 3
         1 is evicted",
    );
}

#[test]
fn an_entry_that_looks_at_itself_is_not_delivered_by_its_parent() {
    Harness::play(
        "A runs 1
         1 starts 2
         2 reads 2
         2 settles ok
         1 settles ok
         block r to A : 1
         r written
         2 is ok unread owed",
    );
}

#[test]
fn what_an_open_call_will_render_is_no_news_elsewhere() {
    Harness::play(
        "A runs 1
         A expects 1
         1 settles ok
         answer r to A
         r tells nothing
         r written
         answer s to A : 1
         A expects 1 no more
         answer t to A
         t tells nothing
         s dropped
         answer u to A
         u tells 1 ok",
    );
    Harness::play(
        "A runs 1
         A expects 1
         1 settles ok
         A expects 1 no more     # the call is gone
         answer r to A
         r tells 1 ok",
    );
    Harness::play(
        "A runs 1
         B expects 1
         1 settles ok
         answer r to A
         r tells 1 ok
         B expects 1 no more",
    );
}
