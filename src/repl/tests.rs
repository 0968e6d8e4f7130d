//! Whole conversations at the prompt: what is typed on one side, what the terminal shows on the other.

mod fake;

use crate::base::Status;
use expect_test::expect;
use fake::{Act, Breaks, Conversation, CtrlC, Prints, Settles, SettlesAsNews, Step, Takes, wait_until};
use std::sync::Arc;
use std::time::Duration;

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
    Conversation::new(&[("native()", &[CtrlC])]).with(|state| state.stubborn = true).types(&["native()", "1"]).shows(
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
        .with(|state| state.stubborn = true)
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
fn who_stops_something_does_not_want_what_was_typed_ahead() {
    let mut conversation = Conversation::new(&[("loop {}", &[CtrlC])]).types(&["quick()", "loop {}", "1"]);
    conversation.run();
    assert_eq!(conversation.person.dropped, 1);
    let mut conversation = Conversation::new(&[]).acts(Act::CtrlC { empty: true }).types(&["1"]);
    conversation.run();
    assert_eq!(conversation.person.dropped, 0, "nothing was stopped");
}

#[test]
fn what_would_end_with_the_prompt_is_said_before_it_ends() {
    Conversation::new(&[("sleep(4)", &[Takes(Duration::from_secs(4)), Settles(Status::Ok)])])
        .with(|state| state.others = Some("here: bfw claude-code 2"))
        .acts(Act::CtrlD)
        .types(&["sleep(4)", ":quit"])
        .acts(Act::CtrlD)
        .types(&["never"])
        .shows(expect![[r#"
            > ^D
            here: bfw claude-code 2
            all of it ends with this process · Ctrl-D again within 3 s, or :quit!, ends it
            > sleep(4)
            = sleep(4)
            ;; id 1 · ok
            > :quit
            here: bfw claude-code 2
            all of it ends with this process · Ctrl-D again within 3 s, or :quit!, ends it
            > ^D
            [end]"#]]);
    Conversation::new(&[])
        .with(|state| state.others = Some("here: bfw claude-code 2"))
        .types(&[":quit!", "never"])
        .shows(expect![[r#"
            > :quit!
            [end]"#]]);
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
    assert_eq!(done.fake.state.lock().unwrap().entries[0].code, "work()");
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
fn help_lists_every_command() {
    Conversation::new(&[]).types(&[":help"]).shows(expect![[r#"
        > :help
        :help               this list
        :evals [status]     every entry of this process, or only the running, queued, ok, failed or cancelled ones
        :res 12             entry 12 with its value
        :out 12 [from [n]]  what entry 12 printed: head and tail, or n lines beginning with line `from`, counted from 0
        :cancel 12          cancels entry 12, whoever started it
        :watch 12           follows what entry 12 prints until it settles; Ctrl-C stops following
        :sessions           the conversations of this process
        :spaces             the spaces and their sizes
        :ns [name]          where evals run; with a name, moves there
        :doc name           the documentation of a function, such as bg or stats::mean
        :time               switches timing on or off: how long each eval took, from Enter to the answer
        :quit               leaves, as Ctrl-D does; asks first when that ends the work of others
        :quit!              leaves without asking

        Anything else is code. Two blank lines submit it unfinished, Alt-Enter adds a line.
        A trailing & runs it in the background. What is typed ahead waits for its turn.
        Ctrl-C cancels what runs and drops what was typed ahead of it, Ctrl-D leaves.
        > ^D
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
        .meanwhile(|state| state.entries[0].lines = numbered(30).split('\n').map(str::to_owned).collect())
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
        .meanwhile(|state| state.entries[0].dropped = 3)
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
        .with(|state| state.news = vec![";; id 8 · ok".into(), ";; id 9 · failed".into()])
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
            fake.state.lock().unwrap().news.push(";; id 8 · ok".into());
            fake.wake.notify();
            shown.wait_for("[above] ;; id 8 · ok");
            wait_until(&fake.marked, || fake.state.lock().unwrap().delivered.len() == 2);
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
