//! The binary from outside, as far as that needs no server: exit codes, the environment, checks of modules.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Runs the program in `folder` with nothing of ours in the environment but `variables`.
fn run(folder: &Path, variables: &[(&str, &str)], line: &[&str]) -> (Option<i32>, String, String) {
    run_into(Stdio::piped(), folder, variables, line)
}

/// The same, with what it says on stdout led somewhere else.
fn run_into(stdout: Stdio, folder: &Path, variables: &[(&str, &str)], line: &[&str]) -> (Option<i32>, String, String) {
    run_between(Stdio::null(), stdout, folder, variables, line)
}

/// The same, with what is on its stdin.
fn run_between(
    stdin: Stdio,
    stdout: Stdio,
    folder: &Path,
    variables: &[(&str, &str)],
    line: &[&str],
) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_remontoire"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("REMONTOIRE_") {
            command.env_remove(name);
        }
    }
    command.args(line).envs(variables.iter().copied()).current_dir(folder).stdin(stdin);
    let child = command.stdout(stdout).stderr(Stdio::piped()).spawn().expect("the program starts");
    let Output { status, stdout, stderr } = child.wait_with_output().expect("the program ends");
    let text = |bytes| String::from_utf8(bytes).expect("it speaks UTF-8");
    (status.code(), text(stdout), text(stderr))
}

#[test]
fn the_version_and_the_help_are_no_errors() {
    let folder = tempfile::tempdir().unwrap();
    let (code, out, _) = run(folder.path(), &[], &["--version"]);
    assert_eq!((code, out.trim()), (Some(0), concat!("remontoire ", env!("CARGO_PKG_VERSION"))));
    let (code, out, _) = run(folder.path(), &[("REMONTOIRE_TOKEN", "xyzzy")], &["--help"]);
    assert_eq!(code, Some(0));
    for word in ["serve", "run", "eval", "check", "outline", "attach", "--port", "--scripts", "--token"] {
        assert!(out.contains(word), "{word} in {out}");
    }
    assert!(!out.contains("xyzzy"), "the help shows no secret");
}

#[test]
fn what_is_wrong_is_named_by_where_it_was_said() {
    let folder = tempfile::tempdir().unwrap();
    let wrong = [("REMONTOIRE_PORT", "banana"), ("REMONTOIRE_MAX_RUNNING", "0")];
    let (code, _, err) = run(folder.path(), &wrong, &["serve", "--eval-memory", "lots"]);
    assert_eq!(code, Some(2));
    for words in ["REMONTOIRE_PORT `banana`", "REMONTOIRE_MAX_RUNNING `0`", "--eval-memory `lots`"] {
        assert!(err.contains(words), "{words} in {err}");
    }
    // An option wins, wherever it stands.
    for line in [["--port", "1", "check"], ["check", "--port", "1"]] {
        let (code, _, err) = run(folder.path(), &wrong[..1], &line);
        assert_eq!(code, Some(0), "{err}");
    }
}

#[test]
fn what_cannot_start_is_exit_3_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    for (line, word) in [
        (&["run", "absent.rhai"] as &[&str], "absent.rhai"),
        (&["outline", "absent.rhai"], "absent.rhai"),
        (&["check", "absent"], "absent"),
        (&["--scripts", "absent", "eval", "1"], "absent"),
        (&["attach", "https://localhost"], "https://localhost"),
    ] {
        let (code, out, err) = run(folder.path(), &[], line);
        assert_eq!((code, out.as_str()), (Some(3), ""), "{line:?}");
        assert!(err.starts_with("remontoire: ") && err.contains(word), "{err}");
    }
}

#[test]
fn a_script_can_come_from_stdin() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("script");
    let from = |code: &[u8]| {
        fs::write(&file, code).unwrap();
        let stdin = fs::File::open(&file).unwrap().into();
        run_between(stdin, Stdio::piped(), folder.path(), &[], &["run", "-", "one", "-"])
    };
    assert_eq!(from(b"ARGS"), (Some(0), "[\"one\", \"-\"]\n".to_owned(), String::new()));
    let (code, _, err) = from(b"1 +\n  nothing");
    assert!(code == Some(1) && err.contains("stdin:2:3"), "{err}");
    let (code, _, err) = from(b"\xff");
    assert!(code == Some(3) && err.contains("stdin: not UTF-8"), "{err}");
}

#[test]
fn a_check_fails_for_errors_and_not_for_warnings() {
    let folder = tempfile::tempdir().unwrap();
    let scripts = folder.path().join("scripts");
    fs::create_dir(&scripts).unwrap();
    fs::write(scripts.join("fine.rhai"), "fn bare() { 1 }\n").unwrap();
    let (code, out, _) = run(folder.path(), &[], &["check"]);
    assert_eq!(code, Some(0));
    assert!(out.contains("fine.rhai:1"), "{out}");
    assert!(out.ends_with("1 module · fine · 1 warning\n"), "{out}");
    fs::write(scripts.join("cracked.rhai"), "fn a() { 1 }\nfn b( {\n").unwrap();
    let (code, out, _) = run(folder.path(), &[], &["check"]);
    assert_eq!(code, Some(1));
    let cracked = Path::new("scripts").join("cracked.rhai");
    assert!(out.contains(&format!("{}:2:", cracked.display())), "{out}");
    assert!(out.ends_with("2 modules · 1 error · 1 warning\n"), "{out}");
}

#[test]
fn built_in_modules_are_there_without_a_folder_and_below_every_one() {
    let folder = tempfile::tempdir().unwrap();
    let code = "import \"stats\" as stats; stats::median([1, 9, 2]).to_int()";
    assert_eq!(run(folder.path(), &[], &["eval", code]).1, "2\n");
    for name in ["stats", "stats.rhai", "scripts/stats.rhai"] {
        let (code, out, err) = run(folder.path(), &[], &["outline", name]);
        assert!(code == Some(0) && out.contains("median(values)"), "{name}: {out}{err}");
    }
    assert_eq!(run(folder.path(), &[], &["outline", "statz"]).0, Some(3));
    let other = folder.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("text.rhai"), "/// One.\nfn one() { 1 }\n").unwrap();
    fs::write(other.join("user.rhai"), "import \"stats\" as s;\nimport \"text\" as t;\n").unwrap();
    let code = "import \"text\" as text; import \"stats\" as s; [text::one(), s::median([1, 9, 2]).to_int()]";
    assert_eq!(run(folder.path(), &[], &["--scripts", "other", "eval", code]).1, "[1, 2]\n");
    assert_eq!(run(folder.path(), &[], &["check", "other"]).1, "2 modules · fine\n");
    assert_eq!(run(folder.path(), &[], &["--scripts", "none", "eval", "1"]).0, Some(3));
}

#[test]
fn a_check_of_nothing_says_where_it_looked() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().canonicalize().unwrap().join("scripts");
    let (code, out, err) = run(folder.path(), &[], &["check"]);
    let said = format!("0 modules beside the built-in ones · there is no folder {} · ", place.display());
    assert!(code == Some(0) && out.starts_with(&said) && err.is_empty(), "{out}{err}");
    fs::create_dir(&place).unwrap();
    for line in [&["check"] as &[&str], &["check", "scripts"]] {
        let (code, out, err) = run(folder.path(), &[], line);
        let said = format!("0 modules · no file in {} ends in .rhai\n", place.display());
        assert_eq!((code, out, err), (Some(0), said, String::new()));
    }
    let (code, _, err) = run(folder.path(), &[], &["outline", "scripts"]);
    assert!(code == Some(3) && err.starts_with("remontoire: scripts is a folder"), "{err}");
}

#[test]
fn work_that_ends_unfinished_is_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("left.rhai"), "bg(|| sleep(600)); throw 5;").unwrap();
    for (line, wanted, ids) in [
        // Cancelled when its parent settled.
        (&["eval", "bg(|| sleep(600)); 5"] as &[&str], (0, "5\n"), "entry 2"),
        (&["eval", "for i in 0..2 { bg(|| sleep(600)); } 5"], (0, "5\n"), "entries 2, 3"),
        (&["run", "left.rhai"], (1, ""), "entry 2"),
        // Cancelled with the process.
        (&["eval", "bg(|| sleep(600)).detach(); 5"], (0, "5\n"), "entry 2"),
        (&["eval", "let kept = bg(|| sleep(600)); 5"], (0, "5\n"), "entry 2"),
    ] {
        let (code, out, err) = run(folder.path(), &[], line);
        assert_eq!((code, out.as_str()), (Some(wanted.0), wanted.1), "{line:?}: {err}");
        let said = format!("remontoire: cancelled with the end of the script: {ids} · await_all");
        assert!(err.lines().last().is_some_and(|last| last.starts_with(&said)), "{line:?}: {err}");
    }
    let (code, out, err) = run(folder.path(), &[], &["eval", "await_all([bg(|| 6 * 7)])[0].value()"]);
    assert_eq!((code, out.as_str(), err.as_str()), (Some(0), "42\n", ""));
}

#[test]
#[cfg(target_os = "linux")]
fn words_that_are_lost_are_a_failure_and_a_reader_who_left_is_none() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("one.rhai"), "/// One.\nfn one() { 1 }\n").unwrap();
    let lines: [&[&str]; 5] = [
        &["eval", "print(1); print(2); 3"],
        &["run", "one.rhai"],
        &["check", "."],
        &["outline", "one.rhai"],
        &["--help"],
    ];
    for line in lines {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let (code, _, err) = run_into(full.into(), folder.path(), &[], line);
        let silent = line[0] == "run";
        assert_eq!(code, Some(if silent { 0 } else { 1 }), "{line:?}: {err}");
        let told = err.lines().filter(|line| line.starts_with("remontoire: stdout cannot be written: ")).count();
        assert_eq!((told, err.lines().count()), (usize::from(!silent), usize::from(!silent)), "{line:?}: {err}");
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let (code, _, err) = run_into(writer.into(), folder.path(), &[], line);
        assert_eq!((code, err.as_str()), (Some(0), ""), "{line:?}");
    }
}
