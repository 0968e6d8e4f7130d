//! Whose line is it: everything an entry prints is in its own output, in order, and nowhere else.

use crate::harness::{Harness, within};
use remontoire::{Clock, EntryId};
use rhai::{Array, FuncRegistration, Module};
use std::sync::{Mutex, Once};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt};

/// Evals, half of them in either of two sessions; each has one background child.
const EVALS: usize = 16;
/// Rounds of an entry; it prints six lines in each.
const ROUNDS: usize = 261;
const LINES: usize = 6 * ROUNDS;

/// What an entry called `tag` prints: lines numbered from 0, by every road a line can take.
fn speech(tag: &str) -> String {
    format!(
        "for round in 0..{ROUNDS} {{
             let n = round * 6;
             print(`{tag} ${{n}}`);
             debug(`{tag} ${{n + 1}}`);
             let said = |k| print(`{tag} ${{k}}`);
             said.call(n + 2);
             [n + 3].map(|k| print(`{tag} ${{k}}`));
             speaker::tell(\"{tag}\", n + 4);
             speaker::hand(|k| print(`{tag} ${{k}}`), n + 5);
         }}"
    )
}

/// What an entry printed: source and text of each line.
async fn printed(harness: &Harness, id: EntryId) -> Vec<(String, String)> {
    let code = format!("out({id})");
    let lines = within(&code, harness.host.eval(&code)).await.unwrap().value.cast::<Array>();
    let text = |row: &Array, at: usize| row[at].clone().into_string().unwrap();
    lines.into_iter().map(|row| row.cast::<Array>()).map(|row| (text(&row, 1), text(&row, 2))).collect()
}

#[tokio::test]
async fn every_block_names_the_owner_of_its_entry() {
    let harness = Harness::new();
    let (reader, other) = (harness.session(), harness.session());
    let (own, foreign) = (reader.start("1").id, other.start("while !gate::opened(\"go\") {} 2").id);
    let footer = |id: EntryId, owner: &str| format!(";; id {id} · session {owner} · ns s-{owner} · ");
    let (of_own, of_foreign) = (footer(own, &reader.name), footer(foreign, &other.name));
    reader.cancel(foreign).await.has(&of_foreign);
    reader.wait(&[own, foreign]).await.has(&of_own).has(&of_foreign);
    other.wait(&[own, foreign]).await.has(&of_own).has(&of_foreign);
    harness.nil().wait(&[foreign]).await.has(&format!(";; id {foreign} · ns")).lacks("session");
}

#[tokio::test]
async fn fifty_thousand_lines_of_thirty_two_entries_are_all_where_they_belong() {
    const { assert!(2 * EVALS * LINES >= 50_000) };
    let harness = Harness::new();
    harness.script(
        "speaker.rhai",
        "fn tell(tag, n) { print(`${tag} ${n}`); }\nfn hand(f, n) { for k in [n] { call(f, k); } }\n",
    );
    let sessions = [harness.session(), harness.session()];
    let mut started = Vec::new();
    for at in 0..EVALS {
        let code = format!(
            "import \"speaker\" as speaker;
             let child{at} = bg(|| {{ while !gate::opened(\"go\") {{}} {} }});
             while !gate::opened(\"go\") {{}}
             {}
             child{at}.id",
            speech(&format!("child-{at}")),
            speech(&format!("eval-{at}")),
        );
        started.push(sessions[at % 2].start(&code).id);
    }
    // All thirty-two are at work when they begin to speak.
    within("all stand at the gate", async {
        while harness.host.probe().running < 2 * EVALS {
            tokio::task::yield_now().await;
        }
    })
    .await;
    harness.gates.open("go");
    for (at, id) in started.into_iter().enumerate() {
        let said = sessions[at % 2].wait(&[id]).await;
        let child = EntryId(said.first().parse().unwrap_or_else(|_| panic!("{}", said.text)));
        sessions[at % 2].wait(&[child]).await;
        for (tag, id) in [(format!("eval-{at}"), id), (format!("child-{at}"), child)] {
            let lines = printed(&harness, id).await;
            assert_eq!(lines.len(), LINES, "lines of {tag}");
            for (n, (source, text)) in lines.iter().enumerate() {
                if n % 6 == 1 {
                    assert_eq!(source, "debug");
                    assert!(text.ends_with(&format!(" · \"{tag} {n}\"")), "{text}: place and value");
                } else {
                    assert_eq!((source.as_str(), text.as_str()), ("print", format!("{tag} {n}").as_str()));
                }
            }
        }
    }
}

/// Messages of every event that this test binary emits under the target `crew`, whoever serves what.
static HEARD: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct Recorder;

impl<S: Subscriber> Layer<S> for Recorder {
    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        if event.metadata().target() == "crew" {
            event.record(&mut |field: &tracing::field::Field, value: &dyn std::fmt::Debug| {
                if field.name() == "message" {
                    HEARD.lock().unwrap().push(format!("{value:?}"));
                }
            });
        }
    }
}

/// One subscriber for the whole binary: evals run on threads of the host.
fn subscribe() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let subscriber = tracing_subscriber::registry().with(remontoire::tracing_layer()).with(Recorder);
        tracing::subscriber::set_global_default(subscriber).expect("nobody else subscribes in this binary");
    });
}

/// Host functions of an embedding program that say what they do through `tracing`.
fn crew() -> Module {
    let mut module = Module::new();
    FuncRegistration::new("haul").set_into_module(&mut module, |what: &str, times: i64| {
        tracing::info!(target: "crew", times, "hauls {what}");
        times
    });
    FuncRegistration::new("send_away").set_into_module(&mut module, |what: &str| {
        let what = what.to_owned();
        // A thread of the program's own: it serves nobody.
        let away = std::thread::spawn(move || tracing::warn!(target: "crew", "takes {what} away"));
        away.join().is_ok()
    });
    module
}

#[tokio::test]
async fn events_of_host_functions_are_kept_with_the_entry_they_serve() {
    subscribe();
    let harness = Harness::build(Clock::real(), |builder| builder.module("crew", crew()));
    let (ann, bob) = (harness.session(), harness.session());
    let code = |tag: &str| {
        format!(
            "print(\"{tag} begins\");
             let child_{tag} = bg(|| {{ for n in 0..200 {{ crew::haul(\"{tag}-child\", n); }} }});
             for n in 0..200 {{ crew::haul(\"{tag}\", n); }}
             crew::send_away(\"{tag}\");
             child_{tag}.value();
             child_{tag}.id"
        )
    };
    let entries = [(&ann, "rope"), (&bob, "sail")].map(|(who, tag)| (who, tag, who.start(&code(tag)).id));
    for (who, tag, id) in entries {
        let child = EntryId(who.wait(&[id]).await.first().parse().unwrap());
        let mut expected = vec![("print".to_owned(), format!("{tag} begins"))];
        let hauls = |tag: &str| -> Vec<(String, String)> {
            (0..200).map(|n| ("INFO crew".to_owned(), format!("hauls {tag} times={n}"))).collect()
        };
        expected.extend(hauls(tag));
        assert_eq!(printed(&harness, id).await, expected);
        assert_eq!(printed(&harness, child).await, hauls(&format!("{tag}-child")));
    }
    // What nobody owns went to the program's other layers alone.
    let heard = HEARD.lock().unwrap().clone();
    for tag in ["rope", "sail"] {
        assert_eq!(heard.iter().filter(|line| **line == format!("takes {tag} away")).count(), 1);
        assert_eq!(heard.iter().filter(|line| **line == format!("hauls {tag}")).count(), 200);
    }
}
