//! The binary from outside, as far as that needs no server: exit codes, the environment, checks of modules.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Runs the program in `folder` with nothing of ours in the environment but `variables`.
fn run(folder: &Path, variables: &[(&str, &str)], line: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_remontoire"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("REMONTOIRE_") {
            command.env_remove(name);
        }
    }
    let Output { status, stdout, stderr } =
        command.args(line).envs(variables.iter().copied()).current_dir(folder).output().expect("the program starts");
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
fn a_check_fails_for_errors_and_not_for_warnings() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(run(folder.path(), &[], &["check"]), (Some(0), String::new(), String::new()), "no modules, no problems");
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
