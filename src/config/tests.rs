//! Settings from a command line. The environment cannot be changed here; the binary's own tests do that.

use super::options::Options;
use super::settings::SETTINGS;
use super::values::Config;
use crate::base::Limits;
use crate::repl::History;
use clap::{Args, FromArgMatches};
use expect_test::expect;
use std::path::Path;
use std::time::Duration;

fn parse(line: &[&str]) -> Result<Config, clap::Error> {
    let command = Options::augment_args(clap::Command::new("remontoire").no_binary_name(true));
    Options::from_arg_matches(&command.try_get_matches_from(line)?).map(|options| options.0)
}

#[test]
fn nothing_chosen_means_the_defaults() {
    let config = parse(&[]).unwrap();
    assert_eq!(config.addr().to_string(), "127.0.0.1:7766");
    assert_eq!((config.scripts_folder(), config.scripts.is_some()), (Path::new("scripts"), false));
    assert_eq!(config.limits, Limits::default());
    assert!(config.access.token.is_none() && !config.access.trust_network);
}

#[test]
fn everything_can_be_chosen() {
    let config = parse(&[
        "--port",
        "0",
        "--bind",
        "::1",
        "--scripts",
        "lib",
        "--describe",
        "staging",
        "--history",
        "typed",
        "--token",
        "secret",
        "--trust-network",
        "--allow-host",
        "a.example,b.example:80",
        "--allow-host",
        "c.example",
        "--allow-origin",
        "https://desk.example",
        "--max-seconds",
        "1.5",
        "--eval-memory",
        "64MiB",
        "--capacity",
        "7",
        "--stream-after",
        "0",
    ])
    .unwrap();
    assert_eq!(config.addr().to_string(), "[::1]:0");
    assert_eq!((config.scripts_folder(), config.scripts.is_some()), (Path::new("lib"), true));
    assert_eq!(config.describe, "staging");
    assert_eq!(config.history, History::File("typed".into()));
    assert_eq!(parse(&["--history", "none"]).unwrap().history, History::Off);
    assert!(config.access.token.is_some() && config.access.trust_network);
    assert_eq!(config.access.allow_hosts, ["a.example", "b.example:80", "c.example"]);
    assert_eq!(config.access.allow_origins, ["https://desk.example"]);
    let wanted = Limits {
        eval_time: Some(Duration::from_millis(1_500)),
        eval_bytes: 64 << 20,
        capacity: 7,
        stream_after: Duration::ZERO,
        ..Limits::default()
    };
    assert_eq!(config.limits, wanted);
}

#[test]
fn every_limit_is_kept_where_it_belongs() {
    for setting in SETTINGS.iter().filter(|setting| setting.is_limit()) {
        let mut config = Config::default();
        setting.apply(&mut config, "77").unwrap();
        let (changed, default) = (format!("{:#?}", config.limits), format!("{:#?}", Limits::default()));
        let differing: Vec<_> = changed.lines().zip(default.lines()).filter(|(new, old)| new != old).collect();
        let shown: String = differing.iter().map(|(new, _)| *new).collect();
        assert!(shown.contains("77"), "--{}: {differing:?}", setting.name);
    }
    // Every field but none twice: each setting changes a field of its own, and there are as many as fields.
    let fields = format!("{:#?}", Limits::default()).lines().filter(|line| line.contains(": ")).count();
    assert_eq!(SETTINGS.iter().filter(|setting| setting.is_limit()).count(), fields);
}

#[test]
fn every_problem_is_named_at_once_and_no_secret_is_repeated() {
    let error = parse(&[
        "--port",
        "banana",
        "--bind",
        "everywhere",
        "--max-running",
        "0",
        "--eval-memory",
        "lots",
        "--heartbeat",
        "0",
        "--token",
        "my secret",
        "--allow-origin",
        "desk.example",
        "--allow-host",
        "a b",
        "--scripts",
        "",
        "--history",
        "",
    ])
    .unwrap_err();
    assert_eq!(error.exit_code(), 2);
    expect![[r#"
        error: --port `banana`: not a port; they go from 0 (any) to 65535
               --bind `everywhere`: not an address; one looks like 127.0.0.1, and 0.0.0.0 stands for all of this machine
               --scripts ``: not a folder; leave it out for scripts
               --history ``: not a file; `none` keeps no history
               --token `…`: a token is visible ASCII without spaces, and not empty
               --allow-host `a b`: not a host name; one looks like tools.example
               --allow-origin `desk.example`: not an origin; one looks like https://desk.example
               --eval-memory `lots`: not a size; one looks like 64MiB
               --max-running `0`: at least 1
               --heartbeat `0`: not a number of seconds above 0
    "#]]
    .assert_eq(&format!("{}\n", error.to_string().trim_end()));
}

#[test]
fn twins_in_the_environment_are_named_after_their_options() {
    for setting in SETTINGS {
        assert_eq!(setting.env, format!("REMONTOIRE_{}", setting.name.to_uppercase().replace('-', "_")));
    }
}

#[test]
fn each_limit_is_told_to_scripts_in_the_same_words() {
    let told: Vec<_> = crate::render::teach::limit_rows().map(|row| (row.option, row.meaning)).collect();
    let settings = super::settings::SETTINGS.iter().filter(|setting| setting.is_limit());
    let set: Vec<_> = settings
        .map(|setting| (setting.name, setting.help.strip_suffix(" [default: no limit]").unwrap_or(setting.help)))
        .collect();
    assert_eq!(told, set);
}
