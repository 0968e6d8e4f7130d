//! The host as a program embeds it: the caller without a session, futures that are dropped, several hosts, starts that fail, modules
//! of the program's own.

use crate::harness::{Harness, within};
use remontoire::internals::{ClientInfo, Owner, Script, Style};
use remontoire::{
    BuildError, Clock, EntryId, EvalError, EvalRequest, Host, Limits, Refusal, ServeError, ServeOptions, Status,
    StopCause, Token, serve, serve_with,
};
use rhai::{FuncRegistration, Map, Module};
use std::fmt::Debug;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// What a host is served at in tests.
const ANY: std::net::SocketAddr = std::net::SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

#[tokio::test]
async fn values_failures_and_output_come_back_as_data() {
    let harness = Harness::new();
    let host = &harness.host;
    let ended = host.eval("print(\"on the way\"); #{answer: 42}").await.unwrap();
    assert_eq!((ended.text.as_str(), ended.output.as_slice()), ("#{answer: 42}", &["on the way".to_owned()][..]));
    assert_eq!(ended.value.cast::<Map>()["answer"].as_int(), Ok(42));
    let Err(EvalError::Failed { id, failure, thrown, output }) = host.eval("print(1); throw #{code: 404}").await else {
        panic!("it throws");
    };
    assert_eq!((id, failure.kind.as_str(), output.len()), (EntryId(2), "Runtime", 1));
    assert_eq!(thrown.unwrap().cast::<Map>()["code"].as_int(), Ok(404));
    let failed = host.eval("lenn([1])").await.unwrap_err().to_string();
    assert!(
        failed.starts_with("FunctionNotFound: no function 'lenn'") && failed.contains("did you mean: len"),
        "{failed}"
    );
    let job = EvalRequest { code: "1".into(), ns: Some("a b".into()) };
    assert!(matches!(host.eval_job(&job).await, Err(EvalError::Refused(Refusal::BadName { .. }))));
}

#[tokio::test]
async fn without_a_prompt_nobody_is_owed_the_work_of_the_nil_caller() {
    let harness = Harness::with(Clock::real(), Limits { capacity: 0, ..Limits::default() });
    let nil = harness.nil();
    let left = nil.start("while !gate::opened(\"go\") {} 1").id;
    harness.gates.open("go");
    nil.settled(left).await;
    let facts = harness.api.entry(left).unwrap();
    assert!(facts.seen && facts.told && facts.by.is_none());
    // It is no news, and makes room like anything that was read.
    nil.eval("1").await.lacks("settled news");
    assert_eq!(harness.api.entry(left), Err(Refusal::Evicted(left)));
}

#[tokio::test]
async fn with_a_prompt_settled_work_is_told_there_once() {
    let harness = Harness::new();
    let seat = harness.api.open_prompt(Style::Agent);
    let nil = harness.nil();
    let left = nil.start("while !gate::opened(\"go\") {} 40 + 2").id;
    assert!(seat.news().is_none());
    harness.gates.open("go");
    nil.settled(left).await;
    // News that could not be shown is told again.
    drop(seat.news().expect("something has settled"));
    let news = seat.news().expect("nobody has seen it");
    assert!(news.text.contains(&left.to_string()) && news.text.contains("ok"), "{}", news.text);
    news.delivery.written();
    assert!(seat.news().is_none());
    // Work of sessions is no news here.
    harness.session().eval("1").await;
    assert!(seat.news().is_none());
    drop(seat);
    let late = nil.start("2").id;
    nil.settled(late).await;
    assert!(harness.api.entry(late).unwrap().told, "nobody sits there any more");
}

/// Polls `work` until a script has come to the gate.
async fn until_reached(harness: &Harness, gate: &str, work: &mut (impl Future<Output: Debug> + Unpin)) {
    within(gate, async {
        tokio::select! {
            ended = work => panic!("{ended:?}"),
            () = harness.gates.reached(gate) => {}
        }
    })
    .await;
}

#[tokio::test]
async fn dropping_the_future_of_an_eval_cancels_it() {
    let harness = Harness::new();
    let mut running = Box::pin(harness.host.eval("gate::opened(\"begun\"); loop { }"));
    until_reached(&harness, "begun", &mut running).await;
    let id = EntryId(1);
    assert_eq!(harness.api.entry(id).unwrap().status, Status::Running);
    drop(running);
    assert_eq!(harness.nil().settled(id).await, Status::Cancelled);

    // Somebody else's cancel is the caller's error.
    let mut running = Box::pin(harness.host.eval("print(1); gate::opened(\"again\"); sleep(3600)"));
    until_reached(&harness, "again", &mut running).await;
    harness.session().cancel(EntryId(2)).await.has("cancelled · id 2");
    let ended = within("its end", running).await.unwrap_err();
    let EvalError::Cancelled { id: EntryId(2), cause: StopCause::Cancelled, output } = ended else {
        panic!("{ended}");
    };
    assert_eq!(output, ["1"]);
}

/// A host that keeps two entries which were read, and room for nothing else.
fn harness_for_two() -> Harness {
    Harness::with(Clock::real(), Limits { capacity: 2, ..Limits::default() })
}

/// Those of `ids` that are still there after twenty further evals.
async fn still_there(harness: &Harness, ids: &[EntryId]) -> Vec<EntryId> {
    for _ in 0..20 {
        harness.host.eval("1").await.unwrap();
    }
    ids.iter().copied().filter(|id| harness.api.entry(*id).is_ok()).collect()
}

#[tokio::test]
async fn an_eval_whose_future_was_dropped_makes_room_like_any_other() {
    let harness = harness_for_two();
    let mut dropped = Vec::new();
    for n in 1..=10 {
        let gate = format!("begun {n}");
        let mut running = Box::pin(harness.host.eval(format!("gate::opened(\"{gate}\"); loop {{ }}")));
        until_reached(&harness, &gate, &mut running).await;
        drop(running);
        assert_eq!(harness.nil().settled(EntryId(n)).await, Status::Cancelled);
        dropped.push(EntryId(n));
    }
    assert_eq!(still_there(&harness, &dropped).await, []);
}

#[tokio::test]
async fn a_script_is_kept_while_somebody_holds_it_and_no_longer() {
    let harness = harness_for_two();
    let script = || Script { code: "1".into(), file: Some("one.rhai".into()), arguments: None };
    let held = harness.api.submit_script(script()).unwrap();
    let mut dropped = Vec::new();
    for _ in 0..10 {
        let script = harness.api.submit_script(script()).unwrap();
        harness.nil().settled(script.id()).await;
        dropped.push(script.id());
    }
    assert_eq!(still_there(&harness, &dropped).await, []);
    assert_eq!(held.ended(Style::Agent).unwrap().text, "1");
}

#[tokio::test]
async fn two_hosts_do_not_meet() {
    let (one, two) = (Harness::new(), Harness::new());
    let a = one.session();
    a.eval("let x = 1; fn f() { 1 } in_ns(\"common\")").await.has(";; id 1 ·");
    a.eval("let y = 2;").await.has("ns common");
    let b = two.session();
    b.eval_in("common", "y").await.fails("VariableNotFound").has(";; id 1 ·").has(";; new space common");
    b.eval("[sessions().len(), evals().len(), spaces().filter(|row| row.kind == \"shared\").len()]")
        .await
        .is("[1, 2, 1]");
    b.eval("res(5)").await.fails("no entry 5");
    assert!(matches!(two.api.handle_caller(&a.name), Err(Refusal::UnknownSession { .. })) || a.name == b.name);
    // What runs in one is out of reach of the other.
    let long = a.start("while !gate::opened(\"go\") {} 7").id;
    two.host.close();
    within("the other has nothing to end", two.host.drained(Duration::from_secs(5))).await;
    one.gates.open("go");
    a.wait(&[long]).await.is("7");
    assert!(matches!(two.api.submit(b.caller, &EvalRequest::new("1")), Err(Refusal::ShuttingDown)));
}

#[tokio::test]
async fn a_host_ends_with_its_last_owner() {
    let harness = Harness::new();
    let session = harness.session();
    session.eval("let kept = [1, 2, 3]; fn f() { kept }").await;
    let marker = Arc::new(());
    let seen = Arc::downgrade(&marker);
    let mut module = Module::new();
    FuncRegistration::new("hold").set_into_module(&mut module, move || Arc::strong_count(&marker) as i64);
    let other = Host::builder().module("own", module).build().unwrap();
    other.eval("own::hold()").await.unwrap();
    drop(other);
    within("the thread lets go", async {
        while seen.strong_count() > 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn what_cannot_be_built_says_why() {
    let missing = Host::builder().scripts("no/such/folder").build().unwrap_err();
    assert!(
        matches!(missing, BuildError::Scripts { .. }) && missing.to_string().contains("no/such/folder"),
        "{missing}"
    );
    assert!(Host::builder().scripts_if_any("no/such/folder").build().is_ok());
    for name in ["a b", "1a", "", "a::b"] {
        let refused = Host::builder().module(name, Module::new()).build().unwrap_err();
        assert_eq!(refused, BuildError::ModuleName { name: name.to_owned() });
    }
    let twice = Host::builder().module("m", Module::new()).module("m", Module::new()).build().unwrap_err();
    assert_eq!(twice, BuildError::ModuleName { name: "m".into() });
    let refused = Host::builder().limits(Limits { running: 0, ..Limits::default() }).build().unwrap_err();
    assert!(refused.to_string().contains("running"), "{refused}");
}

#[tokio::test]
async fn script_modules_come_with_the_library() {
    let code = "import \"stats\" as stats; stats::median([1, 9, 2]).to_int()";
    let host = Host::builder().scripts_if_any("no/such/folder").build().unwrap();
    assert_eq!(host.eval(code).await.unwrap().value.as_int(), Ok(2));
    let without = Host::builder().scripts_if_any("no/such/folder").without_built_in_modules().build().unwrap();
    let refused = without.eval(code).await.unwrap_err().to_string();
    assert!(refused.contains("stats"), "{refused}");
    let scripts = "modules().filter(|m| m.from != \"program\").len()";
    assert_eq!(without.eval(scripts).await.unwrap().value.as_int(), Ok(0));
}

#[tokio::test]
async fn a_start_that_fails_leaves_the_host_as_it_was() {
    let harness = Harness::new();
    let host = &harness.host;
    let busy = std::net::TcpListener::bind(ANY).unwrap();
    let taken = busy.local_addr().unwrap();
    let error = serve(host, taken).await.unwrap_err();
    assert!(matches!(error, ServeError::Bind { .. }) && error.to_string().contains("in use"), "{error}");
    let open = "0.0.0.0:0".parse().unwrap();
    assert!(matches!(serve(host, open).await, Err(ServeError::Unlocked { .. })));
    let wrong = ServeOptions { allow_origins: vec!["not an origin".into()], ..ServeOptions::default() };
    assert!(matches!(serve_with(host, ANY, wrong).await, Err(ServeError::AllowOrigin(_))));
    assert_eq!(harness.api.serving().addr(), None);
    harness.nil().eval("1 + 1").await.is("2");

    let server = serve(host, ANY).await.unwrap();
    assert_eq!(server.url(), format!("http://{}/mcp", server.addr()));
    let again = serve(host, ANY).await.unwrap_err();
    assert!(matches!(again, ServeError::Serving { addr } if addr == server.addr()), "{again}");
    assert!(again.to_string().contains(&server.addr().to_string()), "{again}");
    within("nothing is open", server.shutdown()).await;
    assert_eq!(harness.api.serving().addr(), None);
    // The end of a server is not the end of the host.
    harness.nil().eval("2 + 2").await.is("4");

    // A token unlocks an address for others; a host can be served again after its server went.
    let other = Harness::new();
    let token = ServeOptions { token: Some(Token::new("a-token-of-some-length").unwrap()), ..ServeOptions::default() };
    drop(serve_with(&other.host, open, token).await.unwrap());
    within("the port is given back", async {
        while other.api.serving().addr().is_some() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    within("served anew", serve(&other.host, ANY).await.unwrap().shutdown()).await;
}

/// The orders service of the documentation.
fn orders() -> Module {
    let orders = Arc::new(Mutex::new(Vec::<String>::new()));
    let mut module = Module::new();
    module.set_doc("The orders of this service.");
    let counted = Arc::clone(&orders);
    FuncRegistration::new("count")
        .with_params_info(["int"])
        .with_comments(["/// How many orders there are."])
        .set_into_module(&mut module, move || counted.lock().unwrap().len() as i64);
    FuncRegistration::new("place")
        .with_params_info(["item: string", "int"])
        .with_comments(["/// Places an order and returns its number."])
        .set_into_module(&mut module, move |item: &str| {
            let mut all = orders.lock().unwrap();
            all.push(item.to_owned());
            all.len() as i64
        });
    module
}

#[tokio::test]
async fn modules_of_the_program_need_no_import_and_document_themselves() {
    let harness =
        Harness::build(Clock::real(), |builder| builder.describe("orders service").module("orders", orders()));
    assert_eq!(harness.host.eval("orders::place(\"clock\"); orders::count()").await.unwrap().text, "1");
    let session = harness.session();
    session.eval("fn more() { orders::place(\"spring\") } more()").await.is("2");
    session.eval("bg(|| [1].map(|x| orders::count())).value()").await.is("[2]");
    harness.script("shop.rhai", "fn stock() { orders::count() }\n");
    session.eval("import \"shop\" as shop; shop::stock()").await.is("2");
    session.eval("doc(\"orders::place\")").await.has("orders::place(item: string)").has("Places an order");
    session.eval("doc(\"orders\")").await.has("The orders of this service.");
    session.eval("outline(\"orders\").map(|row| row.name)").await.is("[\"count\", \"place\"]");
    session.eval("manual()").await.has("This instance: orders service.").has("`orders::`");
    session.eval("orders::plaec(\"x\")").await.fails("did you mean").has("orders::place");
    session.eval("orders::place(1, 2, 3)").await.fails("FunctionNotFound");
}

/// Native code that cannot be interrupted: it blocks until it is let go.
#[derive(Clone, Default)]
struct Vice(Arc<(Mutex<Grip>, Condvar)>);

#[derive(Default)]
struct Grip {
    open: bool,
    holds: bool,
}

impl Vice {
    fn module(&self) -> Module {
        let vice = self.clone();
        let mut module = Module::new();
        FuncRegistration::new("hold").set_into_module(&mut module, move || {
            let mut grip = vice.0.0.lock().unwrap();
            grip.holds = true;
            drop(vice.0.1.wait_while(grip, |grip| !grip.open).unwrap());
        });
        module
    }

    fn let_go(&self) {
        self.0.0.lock().unwrap().open = true;
        self.0.1.notify_all();
    }

    async fn holds(&self) {
        while !self.0.0.lock().unwrap().holds {
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test]
async fn a_cancel_held_up_in_native_code_is_said_to_be_and_bites_later() {
    let (clock, vice) = (Clock::manual(), Vice::default());
    let harness = Harness::build(clock.clone(), |builder| builder.module("vice", vice.module()));
    let session = harness.session();
    let id = session.start("print(\"in\"); vice::hold(); print(\"never\"); 1").id;
    within("it is in native code", vice.holds()).await;
    let (said, ()) = tokio::join!(session.cancel(id), async { clock.advance(Duration::from_secs(2)) });
    assert!(!said.is_error);
    assert!(said.first().starts_with("cancelling (in native code since 2.0s) · id 1"), "{}", said.text);
    session.eval("res(1).status").await.is("\"running\"");
    vice.let_go();
    session.wait(&[id]).await.has("cancelled · id 1").has("in\n").lacks("never");
}

#[tokio::test]
async fn closing_ends_every_open_wait_and_says_why() {
    let harness = Harness::new();
    let session = harness.session();
    let asleep = session.start("sleep(3600)").id;
    let waiting = session.start(&format!("res({asleep}).value()")).id;
    let ids = [asleep, waiting];
    let wait = session.wait(&ids);
    tokio::pin!(wait);
    tokio::select! {
        biased;
        said = &mut wait => panic!("{}", said.text),
        () = tokio::task::yield_now() => harness.host.close(),
    }
    let said = within("the end", wait).await;
    said.has("shutting down");
    within("nothing is left", harness.host.drained(Duration::from_secs(10))).await;
    assert_eq!(harness.host.probe().running, 0);
    assert!(matches!(harness.host.eval("1").await, Err(EvalError::Refused(Refusal::ShuttingDown))));
}

#[test]
fn callers_are_told_apart_by_what_they_are() {
    let harness = Harness::new();
    let (_, modern) = harness.api.create_session(Some("reads".into()), ClientInfo::default(), None).unwrap();
    let (key, legacy) = harness.api.initialize(ClientInfo::default(), Some("127.0.0.1:9".into())).unwrap();
    assert!(modern != legacy && modern != Owner::Local);
    assert_eq!(Owner::Session(harness.api.header_caller(&key, None, |_| String::new()).unwrap().session), legacy);
    assert!(harness.api.handle_of(modern).is_some() && harness.api.handle_of(legacy).is_none());
    harness.api.end_header_session(&key).unwrap();
    assert_eq!(harness.api.end_header_session(&key), Err(Refusal::SessionEnded));
    assert_eq!(harness.host.probe().sessions, 1);
}
