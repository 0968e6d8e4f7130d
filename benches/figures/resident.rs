//! What the system shows as resident beside what is held, after eight clients have done mixed work for a while: with the C library's
//! allocator as it is, and as the program sets it. Each in a process of its own; the time is `REMONTOIRE_SECONDS` (60).

use crate::sleepers::resident;
use crate::{Bench, show};
use remontoire::internals::{HostApi, Owner, process_bytes, share_arenas};
use remontoire::{EvalRequest, Host, Status};
use std::process::Command;
use std::time::Duration;
use tokio::runtime::Builder;

/// The word by which this program starts itself again, before the name of the setting.
const AGAIN: &str = "resident-in";
const AS_IT_IS: &str = "as-it-is";
const SHARED: &str = "shared";
const SECONDS: &str = "REMONTOIRE_SECONDS";
const CLIENTS: usize = 8;

pub(crate) fn run(bench: &Bench) {
    if !bench.wants("resident") {
        return;
    }
    for (setting, what) in [(AS_IT_IS, "the C library as it is"), (SHARED, "two arenas, as the program sets it")] {
        show(what, "");
        let program = std::env::current_exe().unwrap();
        assert!(Command::new(program).args([AGAIN, setting]).status().unwrap().success());
    }
}

/// Whether this process was started for one setting; then it has done its work.
pub(crate) fn ran_again(bench: &Bench) -> bool {
    let [again, setting] = bench.wanted.as_slice() else { return false };
    if again == AGAIN {
        if setting == SHARED {
            share_arenas();
        }
        work(bench);
    }
    again == AGAIN
}

fn work(bench: &Bench) {
    let seconds = std::env::var(SECONDS).ok().and_then(|seconds| seconds.parse().ok()).unwrap_or(60);
    let host = Host::builder().build().unwrap();
    let before = process_bytes();
    let until = bench.clock.now() + Duration::from_secs(seconds);
    let done: usize = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                scope.spawn({
                    let host = &host;
                    move || client_works(bench, host, client, until)
                })
            })
            .collect();
        clients.into_iter().map(|client| client.join().unwrap()).sum()
    });
    let held = process_bytes().saturating_sub(before);
    show("… evals a second", done as u64 / seconds);
    show("… held", format!("{} MB", held / 1_000_000));
    if let Some(resident) = resident() {
        show("… resident", format!("{} MB", resident / 1_000_000));
        let most = 3 * held + 40_000_000;
        let verdict = if resident <= most { "✓" } else { "✗" };
        show("… at most three times what is held and 40 MB", format!("{} MB {verdict}", most / 1_000_000));
    }
}

/// Evaluates one kind of work after another, and says how often.
fn client_works(bench: &Bench, host: &Host, client: usize, until: remontoire::internals::Time) -> usize {
    let api = HostApi::of(host);
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    let mut n = client;
    while bench.clock.now() < until {
        n += 1;
        let code = code(client, n);
        let request = EvalRequest { code: code.clone(), ns: Some(format!("client{client}")) };
        let id = api.submit(Owner::Local, &request).unwrap().id();
        runtime.block_on(api.settled(&[id], &[], None));
        // Others may have evicted it by now.
        if let Ok(entry) = api.entry(id) {
            assert_eq!(entry.status, Status::Ok, "{code}");
        }
    }
    n - client
}

/// Small and large, short-lived and kept, alone and with children.
fn code(client: usize, n: usize) -> String {
    let size = 1_000 + n * 7_919 % 50_000;
    match n % 12 {
        0 => format!("let list{client} = []; for i in 0..{size} {{ list{client}.push(i * 2); }} list{client}.len()"),
        1 => format!("let m = #{{}}; for i in 0..{} {{ m[`key${{i}}`] = [i, `value ${{i}}`]; }} m.len()", size / 10),
        2 => format!("let t = \"\"; for i in 0..{size} {{ t += \"some text \"; }} t.len()"),
        3 => format!("let b = blob({}, 7); b[5] = 1; b.len()", size * 60),
        4 => format!("let l = []; l.pad({size}, 3); l.map(|x| x + 1).filter(|x| x > 2).len()"),
        5 => format!(
            "let all = []; for i in 0..6 {{ all.push(bg(|| {{ let l = []; l.pad({size}, i); l.len() }})); }} await_all(all).len()"
        ),
        6 => format!("parse_json(`[${{[1, 2, 3].to_json()}}]`).len() + {n}"),
        7 => format!("let a{} = atom([]); a{}.set([{n}, `{n}`]); 1", n % 40, n % 40),
        8 => format!("for i in 0..100 {{ print(`line ${{i}} of {n}`); }} {n}"),
        9 => format!("let kept{} = []; kept{}.pad({}, `k{n}`); kept{}", n % 30, n % 30, size / 20, n % 30),
        10 => {
            format!("fn f{}(x) {{ x * {n} }} let c{} = |x| f{}(x) + {n}; c{}.call(2)", n % 50, n % 50, n % 50, n % 50)
        }
        _ => format!("let l = []; for i in 0..{} {{ l.push({size} - i); }} l.sort(); l[0]", size / 4),
    }
}
