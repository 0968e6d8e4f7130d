//! The prompt of the built program, at a terminal, with another conversation on the same state.

use crate::pty::OnTerminal;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};

const CTRL_C: &str = "\x03";
const CTRL_D: &str = "\x04";

/// A conversation over HTTP with the program at `place`.
struct Agent {
    place: String,
    session: String,
}

impl Agent {
    /// The agent of a program that has said where it is served.
    fn of(program: &OnTerminal) -> Self {
        Self::at(&program.first_line)
    }

    /// The agent of a program whose first line this is.
    fn at(first_line: &str) -> Self {
        let url = first_line.rsplit(' ').next().unwrap();
        let place = url.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
        let mut agent = Self { place, session: String::new() };
        let text = agent.call("create-session", &json!({}));
        agent.session = text.lines().next().unwrap().strip_prefix("session ").unwrap().to_owned();
        agent
    }

    /// Calls a tool; the text of its answer.
    fn call(&self, tool: &str, arguments: &Value) -> String {
        let mut arguments = arguments.clone();
        if !self.session.is_empty() {
            arguments["session"] = json!(self.session);
        }
        let body = json!({
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {
                "name": tool,
                "arguments": arguments,
                "_meta": {
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientInfo": { "name": "agent", "version": "1" },
                    "io.modelcontextprotocol/clientCapabilities": {},
                },
            },
        })
        .to_string();
        let mut stream = TcpStream::connect(&self.place).unwrap();
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}\r\nConnection: close\r\n\
             Content-Length: {}\r\n\r\n{body}",
            self.place,
            body.len()
        )
        .unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        // One JSON object, alone or as the data of an event; chunks never begin inside it.
        let at = reply.find("{\"jsonrpc\"").unwrap_or_else(|| panic!("{reply}"));
        let reply: Value = serde_json::Deserializer::from_str(&reply[at..]).into_iter().next().unwrap().unwrap();
        reply["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{reply}")).to_owned()
    }

    fn eval(&self, code: &str, wait: u64) -> String {
        self.call("eval", &json!({ "code": code, "await": wait }))
    }
}

/// The id in a text such as `;; id 12 · …`.
fn id_in(text: &str) -> &str {
    let at = text.find("id ").expect("it names an entry") + 3;
    text[at..].split(|c: char| !c.is_ascii_digit()).next().unwrap()
}

fn start(folder: &tempfile::TempDir, arguments: &[&str]) -> OnTerminal {
    let mut program = OnTerminal::start(folder.path(), &[&["--port", "0"], arguments].concat());
    assert!(program.first_line.starts_with("remontoire "), "{}", program.first_line);
    program.sees(":help lists the commands");
    program.is_asked();
    program
}

#[test]
fn code_is_typed_and_answered() {
    let folder = tempfile::tempdir().unwrap();
    let mut program = start(&folder, &[]);
    program.enter("6 * 7");
    program.sees("\n42\n;; id 1 · ns scratch · ok");
    program.is_asked();

    // A text goes on until it can stand alone.
    program.enter("fn twice(n) {");
    program.enter("  n * 2");
    program.enter("}");
    program.sees("· ok");
    program.is_asked();
    program.enter("twice(21) + 1");
    program.sees("\n43\n");
    program.is_asked();

    // A pasted text is one entry.
    program.press("\x1b[200~let a = 5;\nlet b = 8;\na * b\x1b[201~\r");
    program.sees("\n40\n");
    program.is_asked();

    // What the space has can be completed.
    program.press("twi\t");
    program.sees("twice(");
    program.enter("4)");
    program.sees("\n8\n");
    program.is_asked();

    program.press(CTRL_D);
    program.sees("\nbye\n");
    assert_eq!(program.ends(), Some(0));
    let history = fs::read_to_string(folder.path().join("state/remontoire/history")).unwrap();
    assert!(history.contains("6 * 7") && history.contains("a * b"), "{history}");
}

#[test]
fn ctrl_c_cancels_what_runs_and_never_ends_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let mut program = start(&folder, &["--history", "none"]);
    program.enter("print(`at ${\"it\"}`); loop {}");
    program.sees("\nat it\n");
    program.press(CTRL_C);
    program.sees("cancelled · id 1 after");
    program.is_asked();

    program.press(CTRL_C);
    program.sees("Ctrl-D or :quit leaves");
    program.is_asked();
    program.press("half a");
    program.sees("half a");
    program.press(CTRL_C);
    program.is_asked();

    // The same signal from elsewhere, while a line is being typed and while something runs.
    program.signal(Signal::INT);
    program.is_asked();
    program.enter("print(`at ${\"work\"}`); loop {}");
    program.sees("\nat work\n");
    program.signal(Signal::INT);
    program.sees("cancelled · id 2 after");
    program.is_asked();

    program.enter("1 + 1");
    program.sees("\n2\n");
    program.is_asked();
    program.enter(":quit");
    program.sees("\nbye\n");
    assert_eq!(program.ends(), Some(0));
    assert!(!folder.path().join("state").exists(), "no history was wanted");
}

#[test]
fn what_is_no_text_is_not_run_and_does_not_end_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let mut program = start(&folder, &["--history", "none"]);
    program.enter("let kept = 5;");
    program.sees("· ok");
    program.is_asked();
    // A text in another encoding: what stands behind the first bad byte is no keys.
    program.press(b"\x1b[200~\"gr\xfc\xdfe\";\rkept = 6;\r\x1b[201~");
    program.sees("\nthat was not UTF-8 text, and nothing was run");
    program.is_asked();
    program.enter("kept");
    program.sees("\n5\n;; id 2 ·");
    program.is_asked();
    program.press(CTRL_D);
    program.sees("\nbye\n");
    assert_eq!(program.ends(), Some(0));
}

#[test]
fn an_agent_and_the_prompt_share_one_state() {
    let folder = tempfile::tempdir().unwrap();
    let mut program = start(&folder, &[]);
    let agent = Agent::of(&program);

    // What the agent runs is seen, and stopped, from the prompt.
    let id = id_in(&agent.eval("while true { sleep(0.01) }", 0)).to_owned();
    program.enter(":evals running");
    program.sees(&agent.session);
    program.sees("while true { sleep(0.01) }");
    program.is_asked();
    program.enter(&format!(":cancel {id}"));
    program.sees(&format!("cancelled · id {id} after"));
    program.is_asked();
    let text = agent.call("await", &json!({ "all": [id.parse::<u64>().unwrap()] }));
    assert!(text.starts_with(&format!("cancelled · id {id} after")), "{text}");

    // What the prompt runs is seen, and stopped, by the agent.
    program.enter("print(`begun ${\"here\"}`); loop {}");
    program.sees("\nbegun here\n");
    let text = agent.eval("evals(\"running\").filter(|row| row.by == ()).map(|row| row.id)", 10);
    assert!(text.starts_with('['), "{text}");
    let ids = agent.eval("evals(\"running\").find(|row| row.code.starts_with(\"print(`begun\")).id", 10);
    let id: u64 = ids.lines().next().unwrap().parse().unwrap();
    let text = agent.call("cancel", &json!({ "ids": [id] }));
    assert!(text.starts_with(&format!("cancelled · id {id} after")), "{text}");
    program.sees(&format!("cancelled · id {id} after"));
    program.is_asked();

    // Work in the background is told above the line that is being typed, and the line is still there.
    program.enter("let gate = atom(false);");
    program.is_asked();
    program.enter("while !gate.get() { sleep(0.01) } &");
    let id = id_in(&program.sees("· running in the background")).to_owned();
    program.is_asked();
    program.press("40 +");
    program.sees("40 +");
    let text = agent.eval("import \"@scratch\" as prompt; prompt::gate.set(true)", 10);
    assert!(text.contains("· ok ·"), "{text}");
    program.sees(&format!("{id} ok after"));
    program.sees("> 40 +");
    program.enter(" 2");
    program.sees("\n42\n");
    program.is_asked();

    // Whoever leaves stops what runs, and is told so before.
    let id = id_in(&agent.eval("while true { sleep(0.01) }", 0)).to_owned();
    program.press(CTRL_D);
    program.sees(&format!("\nhere: {} agent 1 (idle ", agent.session));
    program.sees(&format!("\nrunning: {id} of {} while true {{ sleep(0.01) }}\n", agent.session));
    program.sees("Ctrl-D again within 3 s, or :quit!, ends it");
    program.is_asked();
    program.enter("40 + 3");
    program.sees("\n43\n");
    program.is_asked();
    program.press([CTRL_D, CTRL_D].concat());
    program.sees("\nbye · 1 running eval cancelled\n");
    assert_eq!(program.ends(), Some(0));
}

#[test]
fn quitting_at_once_asks_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut program = start(&folder, &["--history", "none"]);
    program.enter("loop {} &");
    program.sees("· running in the background");
    program.is_asked();
    program.enter(":quit");
    program.sees("\nrunning: 1 loop {}\n");
    program.is_asked();
    program.enter(":quit!");
    assert!(!program.sees("\nbye · 1 running eval cancelled\n").contains("again"));
    assert_eq!(program.ends(), Some(0));
}

/// Whatever is typed, and whenever, every line of it is evaluated, in order. `agent` is on the same instance.
fn nothing_typed_is_lost(program: &mut OnTerminal, agent: &Agent) {
    program.press("1+1\r2+2\r3+3\r");
    for value in ["\n2\n;; id", "\n4\n;; id", "\n6\n;; id"] {
        program.sees(value);
    }
    program.is_asked();

    // More than the editor reads at a time, with a text of several lines among them, and a line that is only begun.
    let lines: String = (1..=200).map(|n| format!("let v{n} = {n};\n")).collect();
    program.press(format!("{lines}fn sum(a, b) {{\n  a + b\n}}\nsum(v1,"));
    program.press(" v200) + 1000\r");
    program.sees("\n1201\n;; id");
    program.is_asked();
    program.enter("let missing = 0; for n in 1..=200 { if !is_def_var(`v${n}`) { missing += 1 } } missing");
    program.sees("\n0\n;; id");
    program.is_asked();

    // While something runs.
    agent.eval("let gate = atom(false);", 10);
    program.enter(&format!(
        "import \"@s-{}\" as agent; print(`at ${{\"it\"}}`); while !agent::gate.get() {{ sleep(0.01) }} \"through\"",
        agent.session
    ));
    program.sees("\nat it\n");
    program.press("4+4\r5+5\r6+");
    agent.eval("gate.set(true)", 10);
    for value in ["\"through\"\n;; id", "\n8\n;; id", "\n10\n;; id", "> 6+"] {
        program.sees(value);
    }
    program.enter("6");
    program.sees("\n12\n;; id");
    program.is_asked();

    // Ctrl-C drops the text that is being typed, and nothing that was typed after it.
    program.press(format!("let dropped = 1;{CTRL_C}7+7\r"));
    program.sees("\n14\n;; id");
    program.is_asked();

    // While something runs it drops what was typed ahead of it: read already, or not yet.
    program.press("print(`at ${\"it\"}`); loop {}\rlet dropped = 2;\r");
    program.sees("\nat it\n");
    program.press("let dropped = 3;\r");
    program.press(format!("{CTRL_C}8+8\r"));
    program.sees("cancelled · id ");
    program.sees("\n16\n;; id");
    program.is_asked();
    program.enter("is_def_var(\"dropped\")");
    program.sees("\nfalse\n;; id");
    program.is_asked();
}

#[test]
fn nothing_typed_is_lost_at_the_prompt() {
    let folder = tempfile::tempdir().unwrap();
    let mut program = start(&folder, &["--history", "none"]);
    let agent = Agent::of(&program);
    nothing_typed_is_lost(&mut program, &agent);
    program.press([CTRL_D, CTRL_D].concat());
    assert_eq!(program.ends(), Some(0));
}

#[test]
fn nothing_typed_is_lost_at_an_attached_prompt() {
    let folder = tempfile::tempdir().unwrap();
    let instance = start(&folder, &["--history", "none"]);
    let agent = Agent::of(&instance);
    let url = instance.first_line.rsplit(' ').next().unwrap().to_owned();
    let mut program = OnTerminal::start(folder.path(), &["attach", &url, "--history", "none"]);
    program.is_asked();
    nothing_typed_is_lost(&mut program, &agent);
    // What runs there runs on, so nothing is asked.
    program.press(CTRL_D);
    assert!(!program.sees("left session ").contains("again"));
    assert_eq!(program.ends(), Some(0));
}

#[test]
fn the_end_of_the_terminal_is_told_to_open_calls() {
    let folder = tempfile::tempdir().unwrap();
    let mut program = start(&folder, &["--history", "none"]);
    let agent = Agent::of(&program);
    let open = std::thread::spawn(move || agent.eval("while true { sleep(0.01) }", 600));
    program.enter("while evals(\"running\").len() < 2 { sleep(0.01) } \"both\"");
    program.sees("\n\"both\"\n");
    program.is_asked();
    assert_eq!(program.is_closed(), Some(0));
    let text = open.join().unwrap();
    assert!(text.contains("the process is shutting down"), "{text}");

    // While something runs at the prompt, too, and however often the signal comes.
    let mut program = start(&folder, &["--history", "none"]);
    program.enter("print(`at ${\"it\"}`); loop {}");
    program.sees("\nat it\n");
    program.signal(Signal::HUP);
    program.signal(Signal::HUP);
    assert_eq!(program.ends(), Some(0));
}

#[test]
fn only_a_prompt_of_the_process_itself_catches_the_end_of_its_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let mut served = OnTerminal::start(folder.path(), &["serve", "--port", "0"]);
    let url = served.first_line.rsplit(' ').next().unwrap().to_owned();
    let mut attached = OnTerminal::start(folder.path(), &["attach", &url, "--history", "none"]);
    attached.is_asked();
    for program in [&mut attached, &mut served] {
        program.signal(Signal::HUP);
        assert_eq!(program.ends(), None, "the signal ended it");
    }

    // What ignores the signal, as under nohup, goes on.
    let mut child = Command::new("sh")
        .args(["-c", "trap '' HUP; exec \"$0\" serve --port 0", env!("CARGO_BIN_EXE_remontoire")])
        .current_dir(folder.path())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first_line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut first_line).unwrap();
    let id = Pid::from_child(&child);
    kill_process(id, Signal::HUP).unwrap();
    let agent = Agent::at(first_line.trim_end());
    assert!(agent.eval("40 + 2", 10).starts_with("42\n"));
    kill_process(id, Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn sigterm_ends_it_and_leaves_the_terminal_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let mut program = start(&folder, &[]);
    program.press("half a li");
    program.sees("half a li");
    assert!(!program.is_as_found(), "keys are the program's own while a line is being typed");
    program.signal(Signal::TERM);
    program.sees("the process is shutting down");
    assert_eq!(program.ends(), Some(0));
    assert!(program.is_as_found());
}

#[test]
fn what_cannot_be_served_opens_no_prompt() {
    let folder = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let mut program = OnTerminal::start(folder.path(), &["--port", &port]);
    assert!(program.first_line.contains(&port), "{}", program.first_line);
    assert_eq!(program.ends(), Some(3));
}

#[test]
fn a_prompt_on_another_instance_is_one_session_more() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("scripts")).unwrap();
    fs::write(folder.path().join("scripts/calc.rhai"), "/// Twice.\nfn twice(n) { n * 2 }\n").unwrap();
    let mut instance = start(&folder, &["--history", "none"]);
    let agent = Agent::of(&instance);
    let url = instance.first_line.rsplit(' ').next().unwrap().to_owned();
    let mut program = OnTerminal::start(folder.path(), &["attach", &url, "--history", "none"]);
    let session = program.first_line.rsplit(' ').next().unwrap().to_owned();
    assert_eq!(program.first_line, format!("attached to {url} · session {session}"));
    program.sees(":help lists the commands");
    program.is_asked();

    // Evals, output, failures.
    program.enter("let total = 40; print(`so ${\"far\"}`); total + 2");
    program.sees("\nso far\n42\n;; id ");
    program.sees(&format!("session {session}"));
    program.is_asked();
    program.enter("nosuch(1)");
    program.sees("FunctionNotFound: no function 'nosuch'");
    program.is_asked();
    program.enter("for i in 0..3000 { print(`line ${i}`) }");
    program.sees("\nline 0\n");
    program.sees(" lines elided · :out ");
    program.sees("\nline 2999\n");
    program.is_asked();

    // What there is.
    program.enter(":evals");
    let listed = program.sees("\n> ");
    assert!(listed.contains("nosuch(1)") && !listed.contains("to_json"), "{listed}");
    program.enter(":sessions");
    let listed = program.sees("\n> ");
    assert!(listed.contains(&agent.session) && listed.contains("a prompt, attached"), "{listed}");
    assert!(!listed.contains("looks up"), "{listed}");
    program.press("tot\t");
    program.sees("total");
    program.enter(" + 1");
    program.sees("\n41\n");
    program.is_asked();
    program.enter(":doc calc::twice");
    program.sees("Twice.");
    program.is_asked();
    program.enter(":ns workshop");
    program.sees("workshop> ");
    program.enter("let here = 1;");
    program.sees(";; new space workshop");
    program.sees("workshop> ");
    program.enter(":spaces");
    program.sees("workshop");
    program.sees("← here");
    program.enter(&format!(":ns s-{session}"));
    program.is_asked();

    // Lists are whole, however long they are.
    instance.enter("for i in 0..120 { bg(|| sleep(600)).detach(); }");
    instance.is_asked();
    program.enter(":evals running");
    let listed = program.sees("\n> ");
    assert_eq!(
        listed.lines().filter(|line| line.contains("running") && !line.contains(":evals")).count(),
        120,
        "{listed}"
    );
    program.enter(":cancel 999999");
    program.sees("no entry 999999");
    program.is_asked();

    // Ctrl-C cancels what runs there; the others see the same entries.
    program.enter("print(`at ${\"it\"}`); loop {}");
    program.sees("\nat it\n");
    let rows = agent.eval("evals(\"running\").map(|row| row.by)", 10);
    assert!(rows.contains(&session), "{rows}");
    program.press(CTRL_C);
    let id = id_in(&program.sees("· cancelling")).to_owned();
    program.sees(&format!("cancelled · id {id} after"));
    program.is_asked();

    // Work in the background is told above the line that is being typed.
    program.enter("let gate = atom(false);");
    program.is_asked();
    program.enter("while !gate.get() { sleep(0.01) } \"through\" &");
    let id = id_in(&program.sees("· running in the background")).to_owned();
    program.is_asked();
    program.press("40 +");
    program.sees("40 +");
    instance.enter(&format!("import \"@s-{session}\" as other; other::gate.set(true)"));
    program.sees("\"through\"");
    program.sees(&format!(";; id {id} · "));
    program.enter(" 2");
    program.sees("\n42\n");
    program.is_asked();
    program.enter(&format!(":out {id}"));
    program.sees("no output");
    program.is_asked();

    // The prompt outlives the instance.
    instance.enter(":quit!");
    assert_eq!(instance.ends(), Some(0));
    program.enter("1 + 1");
    program.sees("nothing is running at");
    program.is_asked();
    program.press(CTRL_D);
    program.sees(&format!("left session {session}"));
    assert_eq!(program.ends(), Some(0));
}
