//! What scripts reach outside of the process: files and the environment, where it was allowed, and nowhere else.

use crate::harness::{Harness, Speaker, within};
use remontoire::{Ask, Clock, Decision, Host, HostBuilder, Permissions};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

/// A folder with an `open` and a `shut` part, and a session that may reach the open one. Paths in code are written `{open}`, `{shut}`.
struct Workshop {
    folder: TempDir,
    session: Speaker,
    _harness: Harness,
}

impl Workshop {
    fn new(allow: impl FnOnce(Permissions, &Path) -> Permissions) -> Self {
        Self::build(allow, |builder| builder)
    }

    fn build(
        allow: impl FnOnce(Permissions, &Path) -> Permissions,
        more: impl FnOnce(HostBuilder) -> HostBuilder,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (file, text) in
            [("open/a.txt", "alpha\nbeta\n"), ("open/sub/deep.txt", "needle\n"), ("shut/secret.txt", "SECRET\n")]
        {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let permissions = allow(Permissions::none(), &folder.path().join("open"));
        let harness = Harness::build(Clock::real(), |builder| more(builder.permissions(permissions)));
        let session = harness.session();
        Self { folder, session, _harness: harness }
    }

    fn path(&self, of: &str) -> std::path::PathBuf {
        self.folder.path().join(of)
    }

    fn code(&self, code: &str) -> String {
        let place = |part: &str| self.path(part).display().to_string();
        code.replace("{open}", &place("open")).replace("{shut}", &place("shut"))
    }

    #[track_caller]
    fn is(&self, code: &str, value: &str) -> impl Future<Output = ()> + '_ {
        let (code, value) = (self.code(code), value.to_owned());
        async move {
            self.session.eval(&code).await.is(&value);
        }
    }

    fn fails(&self, code: &str, words: &str) -> impl Future<Output = ()> + '_ {
        let (code, words) = (self.code(code), words.to_owned());
        async move {
            self.session.eval(&code).await.fails(&words);
        }
    }
}

fn reads(permissions: Permissions, open: &Path) -> Permissions {
    permissions.read(open)
}

fn both(permissions: Permissions, open: &Path) -> Permissions {
    permissions.read(open).write(open)
}

#[tokio::test]
async fn nothing_is_open_unless_it_was_allowed() {
    let w = Workshop::new(|permissions, _| permissions);
    for (code, flag) in [
        ("fs::read(\"{open}/a.txt\")", "--allow-read="),
        ("fs::list(\"{open}\")", "--allow-read="),
        ("fs::exists(\"{open}\")", "--allow-read="),
        ("fs::write(\"{open}/x\", \"1\")", "--allow-write="),
        ("fs::remove_all(\"{open}\")", "--allow-write="),
        ("fs::rename(\"{open}/a.txt\", \"{open}/b.txt\")", "--allow-write="),
        ("env::get(\"HOME\")", "--allow-env=HOME"),
    ] {
        let said = w.session.eval(&w.code(code)).await;
        assert!(said.first().starts_with("NotAllowed: ") && said.first().contains(flag), "{}", said.text);
    }
    w.is(
        "let e = (); try { env::get(\"HOME\") } catch (c) { e = c; } [e.kind, e.needs, e.what]",
        "[\"NotAllowed\", \"env\", \"HOME\"]",
    )
    .await;
    w.is("permissions()", "#{all: false, env: [], read: [], write: []}").await;
    assert!(w.path("open/a.txt").exists());
}

#[tokio::test]
async fn reading_is_not_writing() {
    let w = Workshop::new(reads);
    w.is("fs::read(\"{open}/a.txt\").len()", "11").await;
    for code in [
        "fs::write(\"{open}/a.txt\", \"\")",
        "fs::append(\"{open}/a.txt\", \"x\")",
        "fs::remove(\"{open}/a.txt\")",
        "fs::edit(\"{open}/a.txt\", \"alpha\", \"x\")",
    ] {
        w.fails(code, "NotAllowed").await;
    }
    let w = Workshop::new(|permissions, open| permissions.write(open));
    w.fails("fs::read(\"{open}/a.txt\")", "NotAllowed").await;
    w.is("fs::write(\"{open}/b.txt\", \"x\")", "()").await;
    assert_eq!(fs::read_to_string(w.path("open/a.txt")).unwrap(), "alpha\nbeta\n");
}

#[tokio::test]
async fn nothing_leads_out_of_an_allowed_folder() {
    let w = Workshop::new(both);
    let open = w.path("open");
    let secret = w.path("shut/secret.txt");
    symlink("../shut/secret.txt", open.join("out")).unwrap();
    symlink("../shut", open.join("outdir")).unwrap();
    symlink(&secret, open.join("absolute")).unwrap();
    symlink("/proc/self/root/etc/passwd", open.join("magic")).unwrap();
    symlink("loop", open.join("loop")).unwrap();
    symlink("sub/deep.txt", open.join("inside")).unwrap();
    w.is("fs::read(\"{open}/inside\").trim()", "\"needle\"").await;
    for path in [
        "{open}/../shut/secret.txt",
        "{open}/sub/../../shut/secret.txt",
        "{shut}/secret.txt",
        "{open}/out",
        "{open}/outdir/secret.txt",
        "{open}/absolute",
        "{open}/magic",
        "{open}/loop",
        "/etc/passwd",
        "",
        "{open}/a\\x00b",
    ] {
        for call in ["fs::read(\"PATH\")", "fs::bytes(\"PATH\")", "fs::lines(\"PATH\")", "fs::tail(\"PATH\", 1)"] {
            let said = w.session.eval(&w.code(&call.replace("PATH", path))).await;
            assert!(said.is_error && !said.text.contains("SECRET"), "{call} {path}: {}", said.text);
            let kind = said.first().split(':').next().unwrap().to_owned();
            assert!(["NotAllowed", "File"].contains(&kind.as_str()), "{path}: {}", said.text);
        }
    }
    w.is("fs::find(\"{open}\", \"**/secret*\")", "[]").await;
    w.is("fs::search(\"{open}\", \"SECRET\")", "[]").await;
    w.is("fs::stat(\"{open}/out\").kind", "\"link\"").await;
    // A whole write takes the place of the link; what it led to stays.
    w.is("fs::write(\"{open}/out\", \"mine\")", "()").await;
    w.fails("fs::write(\"{open}/outdir/x\", \"1\")", "NotAllowed").await;
    w.fails("fs::append(\"{open}/absolute\", \"1\")", "NotAllowed").await;
    w.is("fs::remove_all(\"{open}/outdir\")", "()").await;
    assert_eq!(fs::read_to_string(&secret).unwrap(), "SECRET\n");
    assert_eq!(fs::read_to_string(open.join("out")).unwrap(), "mine");
}

#[tokio::test]
async fn a_name_that_flips_between_a_folder_and_a_link_out_gives_nothing_away() {
    let w = Workshop::new(reads);
    fs::write(w.path("shut/deep.txt"), "SECRET\n").unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let flipper = {
        let (stop, open) = (Arc::clone(&stop), w.path("open"));
        std::thread::spawn(move || {
            let (link, fresh) = (open.join("flip"), open.join("flip.new"));
            for target in ["sub", "../shut"].iter().cycle() {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                fs::remove_file(&fresh).ok();
                symlink(target, &fresh).unwrap();
                fs::rename(&fresh, &link).unwrap();
            }
        })
    };
    let code = "let seen = #{good: 0, bad: 0}; for i in 0..4000 { try { if fs::read(\"{open}/flip/deep.txt\").contains(\"SECRET\") { seen.bad += 1; } \
                else { seen.good += 1; } } catch {} } [seen.good > 0, seen.bad]";
    w.is(code, "[true, 0]").await;
    stop.store(true, Ordering::Relaxed);
    flipper.join().unwrap();
}

#[tokio::test]
async fn what_is_no_file_or_no_text_is_said_at_once() {
    let w = Workshop::new(|permissions, open| permissions.read(open).read("/dev"));
    assert!(Command::new("mkfifo").arg(w.path("open/pipe")).status().unwrap().success());
    fs::write(w.path("open/latin"), b"caf\xe9").unwrap();
    for path in ["{open}/pipe", "/dev/zero", "{open}/sub"] {
        w.fails(&format!("fs::read(\"{path}\")"), "NotAFile").await;
    }
    w.fails("fs::read(\"{open}/latin\")", "NotText: ").await;
    w.fails("fs::lines(\"{open}/latin\")", "byte 3").await;
    w.is("fs::bytes(\"{open}/latin\").len()", "4").await;
    w.fails("fs::read(\"{open}/none\")", "File: ").await;
}

#[tokio::test]
async fn what_is_too_large_is_refused_before_it_is_read() {
    let w = Workshop::new(reads);
    fs::File::create(w.path("open/huge")).unwrap().set_len(1 << 30).unwrap();
    for code in [
        "fs::read(\"{open}/huge\")",
        "fs::bytes(\"{open}/huge\")",
        "fs::lines(\"{open}/huge\")",
        "fs::tail(\"{open}/huge\", 1)",
    ] {
        w.fails(code, "TooLarge: ").await;
    }
    w.fails("fs::read(\"{open}/huge\")", "1,073,741,824").await;
    w.is("fs::bytes(\"{open}/huge\", 5, 4).len()", "4").await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn files_of_the_system_itself_stay_shut() {
    let w = Workshop::new(|permissions, _| permissions.read("/").env("REMONTOIRE_*").unwrap());
    w.is("fs::read(\"{open}/a.txt\").len()", "11").await;
    for path in ["/proc/self/environ", "/proc/self/mem", "/proc/self/maps", "/sys/kernel/notes"] {
        w.fails(&format!("fs::bytes(\"{path}\", 0, 10)"), "NotAllowed").await;
    }
    w.fails("env::get(\"REMONTOIRE_TOKEN\")", "NotAllowed").await;
    let all = Workshop::new(|_, _| Permissions::all());
    all.is("fs::bytes(\"/proc/self/comm\").len() > 0", "true").await;
    all.fails("env::get(\"REMONTOIRE_TOKEN\")", "NotAllowed").await;
}

#[tokio::test]
async fn a_write_that_is_cancelled_leaves_the_old_file_and_nothing_else() {
    let w = Workshop::new(both);
    let code = w.code(
        "let text = \"x\".pad(20000000, 'x'); let n = 0; loop { fs::write(\"{open}/a.txt\", text); n += 1; print(n); }",
    );
    let started = w.session.start(&code);
    within("the first write", async {
        while !w.session.eval(&format!("out({}).len() > 0", started.id)).await.text.starts_with("true") {}
    })
    .await;
    w.session.cancel(started.id).await;
    w.session.settled(started.id).await;
    assert_eq!(fs::metadata(w.path("open/a.txt")).unwrap().len(), 20_000_000);
    let left: Vec<_> = fs::read_dir(w.path("open")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[tokio::test]
async fn files_are_written_edited_and_moved() {
    let w = Workshop::new(both);
    w.is("fs::write(\"{open}/n.txt\", \"one two two\"); fs::append(\"{open}/n.txt\", blob(2, 33)); fs::read(\"{open}/n.txt\")", "\"one two two!!\"").await;
    w.is("fs::edit(\"{open}/n.txt\", \"one\", \"1\"); fs::read(\"{open}/n.txt\")", "\"1 two two!!\"").await;
    w.fails("fs::edit(\"{open}/n.txt\", \"two\", \"2\")", "2 times").await;
    w.fails("fs::edit(\"{open}/n.txt\", \"three\", \"3\")", "0 places").await;
    w.is("fs::make_folder(\"{open}/made/deeper\"); fs::copy(\"{open}/n.txt\", \"{open}/made/c.txt\"); fs::rename(\"{open}/n.txt\", \"{open}/made/m.txt\"); \
          fs::list(\"{open}/made\").map(|row| row.name + \" \" + row.kind)", "[\"c.txt file\", \"deeper folder\", \"m.txt file\"]").await;
    w.fails("fs::remove(\"{open}/made\")", "File: ").await;
    w.is("fs::remove_all(\"{open}/made\"); fs::exists(\"{open}/made\")", "false").await;
    w.fails("fs::remove_all(\"{open}\")", "allowed folder itself").await;
    // Another name of the same file may be outside.
    fs::hard_link(w.path("shut/secret.txt"), w.path("open/hard")).unwrap();
    w.fails("fs::append(\"{open}/hard\", \"x\")", "hard links").await;
    w.fails("fs::edit(\"{open}/hard\", \"SECRET\", \"x\")", "hard links").await;
    w.is("fs::write(\"{open}/hard\", \"mine\")", "()").await;
    assert_eq!(fs::read_to_string(w.path("shut/secret.txt")).unwrap(), "SECRET\n");
}

#[tokio::test]
async fn lines_are_read_in_parts_and_from_the_end() {
    let w = Workshop::new(reads);
    fs::write(w.path("open/many"), (0..50_000).map(|n| format!("line {n}\r\n")).collect::<String>()).unwrap();
    w.is("fs::lines(\"{open}/many\", 49998, 10)", "[\"line 49998\", \"line 49999\"]").await;
    w.is("fs::tail(\"{open}/many\", 2)", "[\"line 49998\", \"line 49999\"]").await;
    w.is("fs::tail(\"{open}/many\", 0)", "[]").await;
    w.is("let n = 0; fs::each_line(\"{open}/many\", |line| { n += 1; n < 3 })", "3").await;
    w.is("fs::search(\"{open}/many\", \"^line 4999[0-9]$\").len()", "10").await;
    w.is("fs::search(\"{open}\", \"line\", #{max: 5}).len()", "5").await;
    w.is("fs::find(\"{open}\", \"**/*.txt\").map(|p| p.split(\"/\").pop())", "[\"a.txt\", \"deep.txt\"]").await;
    w.fails("fs::search(\"{open}\", \"(\")", "BadPattern").await;
    w.fails("fs::find(\"{open}\", \"*\", #{al: true})", "no option `al`").await;
}

#[tokio::test]
async fn one_file_can_be_allowed_alone() {
    let w = Workshop::new(|permissions, open| permissions.read(open.join("a.txt")).write(open.join("a.txt")));
    w.is("fs::write(\"{open}/a.txt\", \"new\"); fs::read(\"{open}/a.txt\")", "\"new\"").await;
    w.fails("fs::read(\"{open}/sub/deep.txt\")", "NotAllowed").await;
    w.fails("fs::write(\"{open}/b.txt\", \"x\")", "NotAllowed").await;
    w.fails("fs::list(\"{open}\")", "NotAllowed").await;
}

#[tokio::test]
async fn all_of_it_is_on_record() {
    let w = Workshop::new(reads);
    let read = w.session.eval(&w.code("fs::read(\"{open}/a.txt\")")).await.id;
    let refused = w.session.eval(&w.code("fs::read(\"{shut}/secret.txt\")")).await.id;
    w.is(&format!("audit({read}).map(|r| [r.kind, r.allowed, r.bytes])"), "[[\"read\", true, 11]]").await;
    w.is(
        &format!("audit({refused}).map(|r| [r.allowed, r.bytes, r.what.ends_with(\"secret.txt\")])"),
        "[[false, 0, true]]",
    )
    .await;
    w.is("audit().len()", "2").await;
    w.is(
        "[allowed(\"read\", \"{open}/x\"), allowed(\"read\", \"{shut}/x\"), allowed(\"env\", \"HOME\")]",
        "[true, false, false]",
    )
    .await;
    w.fails("allowed(\"reed\", \"x\")", "read, write, env").await;
}

#[tokio::test]
async fn a_program_may_decide_for_itself() {
    let asked: Arc<Mutex<Vec<Ask>>> = Arc::default();
    let seen = Arc::clone(&asked);
    let w = Workshop::build(reads, move |builder| {
        builder.permit(move |ask| {
            seen.lock().unwrap().push(ask.clone());
            if ask.what.ends_with("secret.txt") { Decision::Allow } else { Decision::Refuse }
        })
    });
    w.is("fs::read(\"{open}/a.txt\").len()", "11").await;
    assert!(asked.lock().unwrap().is_empty(), "the list allows it");
    w.is("fs::read(\"{shut}/secret.txt\").trim()", "\"SECRET\"").await;
    w.fails("fs::read(\"{shut}/other.txt\")", "NotAllowed").await;
    assert_eq!(asked.lock().unwrap().len(), 2);
}

#[test]
fn what_cannot_be_allowed_is_an_error_at_the_start() {
    let error = Host::builder().permissions(Permissions::none().read("no/such/folder")).build().unwrap_err();
    assert!(error.to_string().contains("no/such/folder cannot be allowed"), "{error}");
}

#[tokio::test]
async fn a_thousand_calls_leave_nothing_open() {
    let w = Workshop::new(both);
    let open = || fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    let code = "for i in 0..RANGE { fs::read(\"{open}/a.txt\"); fs::lines(\"{open}/a.txt\"); fs::list(\"{open}\"); fs::write(\"{open}/w\", \"x\"); \
                fs::find(\"{open}\", \"**\"); fs::search(\"{open}\", \"needle\"); try { fs::read(\"{shut}/x\") } catch {} } 1";
    w.is(&code.replace("RANGE", "10"), "1").await;
    let before = open();
    w.is(&code.replace("RANGE", "1000"), "1").await;
    // Other tests run in this process.
    assert!(open() <= before + 200, "{before} descriptors before, {} after", open());
    assert_eq!(fs::read_dir(w.path("open")).unwrap().count(), 3);
}
