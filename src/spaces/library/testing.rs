//! A small host for tests: real evals over a folder of modules.

use super::built_in::BuiltIn;
use super::live::{ScriptModules, SpaceModules};
use super::module_space::ModuleSpace;
use super::name::ModuleName;
use super::store::Library;
use crate::base::limits::LimitHit;
use crate::base::{Clock, EntryId, Limits, Refusal, SpaceId};
use crate::engine::SpaceView;
use crate::engine::{
    Blocking, Budget, Control, Ended, Fallible, Hooks, LoadedModule, Runtime, Sink, Sources, Task, Unfinished, Waits,
    evaluate, refuse, stdlib,
};
use crate::spaces::space::Space;
use rhai::Module;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// A host that gives evals everything and forbids nothing.
pub(super) struct Harness {
    /// Removed with the harness, when it is its own.
    _dir: Option<tempfile::TempDir>,
    folder: PathBuf,
    spaces: Arc<Spaces>,
    pub(super) runtime: Runtime,
    pub(super) modules: ScriptModules,
    pub(super) texts: Arc<Texts>,
    next: AtomicU64,
}

/// The code of evals, by source, and the lines of files.
pub(super) struct Texts {
    evals: Mutex<HashMap<String, String>>,
    library: Arc<Library>,
}

impl Sources for Texts {
    fn text(&self, source: &str) -> Option<Arc<str>> {
        let code = self.evals.lock().unwrap().get(source).map(|code| code.as_str().into());
        code.or_else(|| self.library.text(source))
    }

    fn line(&self, source: &str, line: usize) -> Option<String> {
        let code =
            self.evals.lock().unwrap().get(source).and_then(|code| code.lines().nth(line - 1)).map(str::to_owned);
        code.or_else(|| self.library.line(source, line))
    }
}

struct Idle;

impl Blocking for Idle {
    fn give(&self, _: &Control) {}
    fn take(&self, _: &Control) {}
}

impl Budget for Idle {
    fn may_keep(&self, _: usize) -> Result<(), LimitHit> {
        Ok(())
    }
}

impl Waits for Idle {
    fn begin(&self, _: EntryId, _: EntryId) -> Result<(), Refusal> {
        Ok(())
    }
    fn end(&self, _: EntryId, _: EntryId) {}
}

/// The spaces that were made, and one called `count` whose only variable says how often it was imported before.
#[derive(Default)]
struct Spaces {
    imported: AtomicU64,
    made: Mutex<HashMap<String, Arc<Space>>>,
}

impl SpaceModules for Spaces {
    fn space_module(&self, task: &Task, name: &str) -> Fallible<LoadedModule> {
        let imported = format!("@{name}");
        if name == "count" {
            let mut module = Module::new();
            module.set_var("BEFORE", i64::try_from(self.imported.fetch_add(1, Ordering::Relaxed)).unwrap());
            return Ok(LoadedModule::native(&imported, module));
        }
        let space = self.made.lock().unwrap().get(name).cloned();
        let module = space.and_then(|space| {
            let space: Arc<dyn SpaceView> = space;
            LoadedModule::of_space(task, &imported, &space)
        });
        module.ok_or_else(|| refuse(&Refusal::NoSuchSpace { name: name.to_owned() }))
    }
}

#[derive(Default)]
struct Output(Mutex<Vec<String>>);

impl Sink for Output {
    fn line(&self, source: &str, text: &str) {
        self.0.lock().unwrap().push(format!("{source}: {text}"));
    }
}

pub(super) struct Answer {
    pub(super) ended: Ended,
    pub(super) output: Vec<String>,
}

impl Answer {
    pub(super) fn value(&self) -> i64 {
        match &self.ended.result {
            Ok(value) => value.as_int().unwrap(),
            Err(error) => panic!("{error:?}"),
        }
    }

    /// The failure as `file:line · kind: message`.
    pub(super) fn failure(&self) -> String {
        match &self.ended.result {
            Err(Unfinished::Failed { failure, .. }) => {
                format!("{}:{} · {}: {}", failure.source, failure.line, failure.kind, failure.message)
            }
            other => panic!("{other:?}"),
        }
    }
}

impl Harness {
    /// Over a folder of its own with these files.
    pub(super) fn new(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut harness = Self::over(dir.path());
        harness._dir = Some(dir);
        for (file, text) in files {
            harness.write(file, text);
        }
        harness
    }

    /// Over a folder that exists.
    pub(super) fn over(folder: &Path) -> Self {
        Self::with(folder, &[])
    }

    /// Over a folder, which need not exist, over built-in modules.
    pub(super) fn with(folder: &Path, built_in: &'static [BuiltIn]) -> Self {
        let limits = Limits::default();
        let library = Library::new(folder, built_in, &limits, Vec::new());
        let spaces = Arc::new(Spaces::default());
        Self {
            _dir: None,
            folder: folder.to_owned(),
            spaces: spaces.clone(),
            runtime: Runtime::new(
                limits,
                stdlib(),
                Module::new(),
                // Scripts that come with the program call these.
                crate::toolkit::modules().into_iter().map(|(name, module)| (name.to_owned(), module)).collect(),
            ),
            modules: ScriptModules::new(library.clone(), spaces),
            texts: Arc::new(Texts { evals: Mutex::default(), library }),
            next: AtomicU64::new(0),
        }
    }

    pub(super) fn write(&self, file: &str, text: &str) {
        fs::write(self.folder.join(file), text).unwrap();
    }

    pub(super) fn space(&self, name: &str) -> Arc<Space> {
        let id = SpaceId(self.next.fetch_add(1, Ordering::Relaxed) + 1);
        let space = Space::new(id, name, self.runtime.limits());
        self.spaces.made.lock().unwrap().insert(name.to_owned(), space.clone());
        space
    }

    pub(super) fn inside(&self, module: &str) -> Arc<ModuleSpace> {
        ModuleSpace::new(self.space(module), self.modules.clone(), ModuleName::parse(module).unwrap())
    }

    /// Runs `f` as part of an entry, on a thread with the stack of one.
    fn run<T: Send>(
        &self,
        space: Arc<dyn SpaceView>,
        code: &str,
        f: impl FnOnce(&Arc<Task>) -> T + Send,
    ) -> (T, Vec<String>) {
        let id = EntryId(self.next.fetch_add(1, Ordering::Relaxed) + 1);
        self.texts.evals.lock().unwrap().insert(format!("eval {id}"), code.to_owned());
        let output = Arc::new(Output::default());
        let hooks = Hooks {
            modules: Arc::new(self.modules.clone()),
            sources: self.texts.clone(),
            blocking: Arc::new(Idle),
            budget: Arc::new(Idle),
            waits: Arc::new(Idle),
            clock: Clock::manual(),
            services: Arc::new(()),
            tools: Arc::new(()),
        };
        let task = Task::new(id, self.runtime.clone(), space, output.clone(), hooks);
        let stack = self.runtime.limits().stack_bytes();
        let result = std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(stack).spawn_scoped(scope, || f(&task)).unwrap();
            thread.join().unwrap()
        });
        let output = std::mem::take(&mut *output.0.lock().unwrap());
        (result, output)
    }

    /// Evaluates in a space of its own.
    pub(super) fn eval(&self, code: &str) -> Answer {
        self.eval_in(&self.space("scratch"), code)
    }

    /// Evaluates in a space.
    pub(super) fn eval_in(&self, space: &Arc<Space>, code: &str) -> Answer {
        let (ended, output) = self.run(space.clone(), code, |task| evaluate(task, code));
        Answer { ended, output }
    }

    /// Evaluates inside a module.
    pub(super) fn eval_inside(&self, space: &Arc<ModuleSpace>, code: &str) -> Answer {
        let (ended, output) = self.run(space.clone(), code, |task| {
            space.follow(task).unwrap();
            evaluate(task, code)
        });
        Answer { ended, output }
    }

    /// Reloads a module; what that says.
    pub(super) fn reload(&self, name: &str) -> String {
        let space = self.space("scratch");
        let reload = |task: &Arc<Task>| self.modules.reload(task, name).unwrap().to_string();
        self.run(space, "", reload).0
    }
}
