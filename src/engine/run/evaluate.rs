//! The two ways in: [`evaluate`] for a script, [`call`] for a background child; and [`Ended`], what comes out.

use super::closures::{Prepared, keep, make_portable, prepare};
use super::commit::Reached;
use super::describe::describe_from;
use super::explain::{explain, source_line};
use super::imports::Resolver;
use super::interpreter::engine;
use super::natives::Known;
use crate::base::limits::LimitHit;
use crate::base::{Conflict, EntryId, Failure, Note, StopCause};
use crate::engine::environment::Environment;
use crate::engine::error;
use crate::engine::error::{Fallible, terminated};
use crate::engine::native::panic_text;
use crate::engine::rhai_internals::closure_name::names_closure;
use crate::engine::rhai_internals::lexer::slash_divisions;
use crate::engine::rhai_internals::rewrite::Kind;
use crate::engine::rhai_internals::runtime_state::{RuntimeState, call_pointer, run_statements};
use crate::engine::source_text::{fence_error, is_fenced, readable};
use crate::engine::task::code_unit::CodeUnit;
use crate::engine::task::context::{Tag, Task};
use crate::engine::task::snapshot::Snapshot;
use crate::engine::task::space_view::{Opening, Overlay, SpaceFailure};
use crate::engine::task::views::Inherited;
use crate::engine::value::inspect::{empty_deep_cells, measure};
use rhai::{Dynamic, EvalAltResult, FnPtr, ImmutableString, Map, NativeCallContext, Position, Scope};
use std::any::Any;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};

/// The reason why an entry has no value.
#[derive(Clone, Debug)]
pub(crate) enum Unfinished {
    /// It was made to stop: cancelled, shut down, or given up because of an entry it waited for. Limits and the end of its
    /// space are failures instead.
    Stopped(StopCause),
    /// It failed.
    Failed {
        /// The failure, as text.
        failure: Box<Failure>,
        /// The live value that was thrown, when one was.
        thrown: Option<Dynamic>,
    },
}

/// The end of an eval, with everything the registry keeps of it.
#[derive(Clone, Debug)]
pub(crate) struct Ended {
    /// The value, or why there is none. A value is safe to keep and to drop anywhere: its nesting is bounded and its
    /// closures can be called from any eval.
    pub result: Result<Dynamic, Unfinished>,
    /// The variables it committed, in order of their first commit.
    pub committed: Vec<String>,
    /// Names that other entries set or defined as well.
    pub conflicts: Vec<Conflict>,
    /// Remarks on what its code did, each once.
    pub notes: Vec<Note>,
    /// The values it overwrote that other entries had set meanwhile.
    pub lost: Map,
    /// Entries that can be reached from its value, from variables it committed, or from atoms it set: its children among
    /// them live on. Empty when it was stopped.
    pub kept: BTreeSet<EntryId>,
    /// The size of the value, the thrown value and `lost`, in bytes (an estimate).
    pub bytes: usize,
}

impl Ended {
    /// An eval that failed before any of its code ran.
    pub(crate) fn failed(failure: Failure) -> Self {
        Self {
            result: Err(Unfinished::Failed { failure: failure.into(), thrown: None }),
            committed: Vec::new(),
            conflicts: Vec::new(),
            notes: Vec::new(),
            lost: Map::new(),
            kept: BTreeSet::new(),
            bytes: 0,
        }
    }
}

/// A function that a background child runs, with everything it needs on another thread.
#[derive(Clone, Debug)]
pub(crate) struct Callable {
    function: FnPtr,
    state: RuntimeState,
    environment: Environment,
    /// The code that started the child, and where in it.
    source: String,
    position: Position,
    /// What its parent sees of other spaces.
    views: Inherited,
    /// Its size when the child was made, with what it captured, in bytes.
    bytes: usize,
    /// The addresses of the cells that it captured.
    cells: Vec<usize>,
    /// The variables of the top level among them: functions see these cells.
    variables: Vec<(ImmutableString, Arc<Dynamic>)>,
    /// The entry that started the child.
    parent: Weak<Task>,
}

impl Callable {
    /// Takes `function` out of a native call, so that a child entry can run it by [`call`].
    ///
    /// # Errors
    /// When it is nested too deeply, closures and curried arguments included.
    pub(crate) fn bind(context: &NativeCallContext<'_>, function: FnPtr) -> Fallible<Self> {
        let task = Task::of(context);
        let mut value = Dynamic::from(function);
        let found = measure(&value, task.nesting());
        if found.too_deep {
            empty_deep_cells(&value, task.nesting());
            return Err(task.hit(LimitHit::Nesting { limit: task.nesting() }));
        }
        make_portable(&task, &mut value);
        if !found.cells.is_empty() {
            task.witness().watch();
            task.shares(&found.cells);
        }
        let function = value.try_cast().ok_or_else(terminated)?;
        let mut state = RuntimeState::of(context);
        state.reset_depth();
        let source = context.call_source().unwrap_or(task.source()).to_owned();
        let (environment, position) = (task.state().environment(), context.call_position());
        let variables = task.state().snapshot().cells(&found.cells);
        let (views, parent) = (task.views().inherited(), Arc::downgrade(&task));
        Ok(Self {
            function,
            state,
            environment,
            source,
            position,
            views,
            bytes: found.bytes,
            cells: found.cells,
            variables,
            parent,
        })
    }
}

impl Callable {
    /// The name of the function in lists: its own, or `closure`.
    pub(crate) fn name(&self) -> &str {
        let name = self.function.fn_name();
        if names_closure(name) { "closure" } else { name }
    }
}

/// Evaluates `code` for `task`, on this thread. Total: it returns whatever the script does, also when a native function panics.
/// Call it on a thread with a stack of [`Limits::stack_bytes`](crate::base::Limits::stack_bytes).
pub(crate) fn evaluate(task: &Arc<Task>, code: &str) -> Ended {
    let code = &*readable(code.strip_prefix('\u{feff}').unwrap_or(code));
    finish(task, code, |scope| {
        run_script(task, code, scope).map_err(|error| explained(&error, task, task.source(), code, scope))
    })
}

/// Runs a background child's function for `task`, on this thread. Total, like [`evaluate`].
pub(crate) fn call(task: &Arc<Task>, callable: Callable) -> Ended {
    finish(task, "", |scope| {
        let Callable { function, mut state, environment, source, position, views, bytes, cells, variables, parent } =
            callable;
        task.set_parent(parent);
        task.shares(&cells);
        task.state().snapshot().show_cells(variables);
        task.state().set_environment(environment);
        task.views().inherit(views);
        state.set_tag(Tag { task: Arc::clone(task), unit: None }.into_value());
        let engine = engine(task);
        let result = call_pointer(&engine, &state, "bg", position, &function, None, Vec::new());
        // What it captured stays where it came from, and no statement of this entry commits it.
        let function = Dynamic::from(function);
        let found = measure(&function, task.nesting());
        let captured = if found.too_deep {
            empty_deep_cells(&function, task.nesting());
            Err(task.hit(LimitHit::Nesting { limit: task.nesting() }))
        } else {
            task.recount(found.bytes != bytes)
        };
        let ended =
            result.map(|value| (value, position)).or_else(exit_value).and_then(|ended| captured.map(|()| ended));
        match ended {
            Ok((value, position)) => Ok(Finished { value, source, position }),
            Err(error) => Err(explained(&placed(error, position), task, &source, "", scope)),
        }
    })
}

/// The value an entry comes to, and where: errors that are found in it later are shown there.
struct Finished {
    value: Dynamic,
    source: String,
    position: Position,
}

/// The error with this place, when it does not know its own.
fn placed(mut error: Box<EvalAltResult>, position: Position) -> Box<EvalAltResult> {
    if error.position().is_none() {
        error.set_position(position);
    }
    error
}

/// `exit(v)` ends the entry with `v`, from however deep. The place is where the outermost call stands.
fn exit_value(error: Box<EvalAltResult>) -> Fallible<(Dynamic, Position)> {
    let position = error.position();
    let mut at = &*error;
    while let EvalAltResult::ErrorInFunctionCall(.., inner, _) | EvalAltResult::ErrorInModule(_, inner, _) = at {
        at = inner;
    }
    match at {
        EvalAltResult::Exit(value, _) => Ok((value.clone(), position)),
        _ => Err(error),
    }
}

type Described = Box<(Failure, Option<Dynamic>)>;

fn explained(error: &EvalAltResult, task: &Task, source: &str, code: &str, scope: &Scope<'_>) -> Described {
    let (mut failure, thrown) = describe_from(error, task, source);
    failure.excerpt = source_line(&failure, task, code);
    // A stopped eval says why it stopped; near names would be a waste.
    if !task.is_stopping() {
        explain(&mut failure, error, task, code, scope);
    }
    Box::new((failure, thrown))
}

/// Runs `body` with everything around it: limits, panics, the verdict, and what is kept.
fn finish(
    task: &Arc<Task>,
    code: &str,
    body: impl FnOnce(&mut Scope<'static>) -> Result<Finished, Described>,
) -> Ended {
    task.begin();
    let ended = settled(task, code, body);
    // Everything of the eval is gone but what it ended with. What is freed may be of the embedding program, and panic.
    drop(catch_unwind(AssertUnwindSafe(|| task.runtime().cycle_collector().take_over(task.captures()))));
    ended
}

fn settled(
    task: &Arc<Task>,
    code: &str,
    body: impl FnOnce(&mut Scope<'static>) -> Result<Finished, Described>,
) -> Ended {
    let mut scope = Scope::new();
    let outcome = catch_unwind(AssertUnwindSafe(|| body(&mut scope)));
    // The values that could not be kept go here, on a stack that is large enough for any of them.
    drop(scope);
    let result = catch_unwind(AssertUnwindSafe(|| verdict(task, code, outcome)))
        .unwrap_or_else(|payload| Err(panicked(&*payload)));
    let redefined = task.take_redefined();
    let snapshot = task.state().take_snapshot();
    let mut kept = task.retained().entries();
    kept.extend(snapshot.entries());
    let Snapshot { committed, overwritten, lost, .. } = snapshot;
    let conflict = |function| {
        move |(name, other): (ImmutableString, EntryId)| Conflict { name: name.to_string(), other, function }
    };
    let conflicts = overwritten.into_iter().map(conflict(false)).chain(redefined.into_iter().map(conflict(true)));
    if matches!(result, Err(Unfinished::Stopped(_))) {
        kept.clear();
    }
    let levels = task.nesting();
    let size = |value: &Dynamic| measure(value, levels).bytes;
    let bytes = match &result {
        Ok(value) => size(value),
        Err(Unfinished::Failed { thrown: Some(value), .. }) => size(value),
        Err(_) => 0,
    };
    let ended = Ended {
        result,
        committed,
        conflicts: conflicts.collect(),
        notes: task.take_notes(),
        bytes: bytes + lost.values().map(size).sum::<usize>(),
        lost,
        kept,
    };
    task.end();
    ended
}

/// The value or failure that the entry ends with. Why it was stopped decides, whatever its script made of it.
fn verdict(
    task: &Task,
    code: &str,
    outcome: Result<Result<Finished, Described>, Box<dyn Any + Send>>,
) -> Result<Dynamic, Unfinished> {
    let outcome = match outcome {
        Ok(Ok(Finished { value, source, position })) => {
            let mut value = value.flatten();
            match keep(task, &mut value) {
                Ok(_) => Ok(value),
                Err(error) => {
                    let (mut failure, thrown) = describe_from(&placed(error, position), task, &source);
                    failure.excerpt = source_line(&failure, task, code);
                    Err(Box::new((failure, thrown)))
                }
            }
        }
        Ok(Err(described)) => {
            let (mut failure, thrown) = *described;
            let thrown = thrown.and_then(|value| keep_thrown(task, value));
            failure.thrown = thrown.is_some();
            Err(Box::new((failure, thrown)))
        }
        Err(payload) => return Err(panicked(&*payload)),
    };
    match (task.stopped(), outcome) {
        (None | Some(StopCause::Exit), outcome) => outcome.map_err(|described| {
            let (failure, thrown) = *described;
            Unfinished::Failed { failure: failure.into(), thrown }
        }),
        (Some(StopCause::Limit(hit)), outcome) => Err(ended_by(Failure::from(&hit), outcome.err())),
        (Some(StopCause::NoSuchSpace(name)), outcome) => {
            let failure = Failure::new("NoSuchSpace", format!("no such space: {name}"));
            Err(ended_by(failure, outcome.err()))
        }
        (Some(cause), _) => Err(Unfinished::Stopped(cause)),
    }
}

/// A thrown value is kept like a result; one that cannot be kept is only described.
fn keep_thrown(task: &Task, mut value: Dynamic) -> Option<Dynamic> {
    if task.is_stopping() || measure(&value, task.nesting()).too_deep {
        return None;
    }
    keep(task, &mut value).ok().map(|_| value)
}

/// A failure that ended the eval from outside of its script, with the place the script had come to.
fn ended_by(failure: Failure, at: Option<Described>) -> Unfinished {
    let failure = match at.map(|described| *described) {
        Some((Failure { source, line, column, excerpt, frames, .. }, _)) => {
            Failure { source, line, column, excerpt, frames, ..failure }
        }
        None => failure,
    };
    Unfinished::Failed { failure: failure.into(), thrown: None }
}

fn panicked(payload: &(dyn Any + Send)) -> Unfinished {
    Unfinished::Failed { failure: Failure::new("Panic", panic_text(payload)).into(), thrown: None }
}

/// The word before `::` by which functions name a constant of their space.
const GLOBAL: &str = "global";

fn run_script(task: &Arc<Task>, code: &str, scope: &mut Scope<'static>) -> Fallible<Finished> {
    let limit = task.limits().script_bytes;
    if code.len() > limit {
        return Err(error::limit(&LimitHit::Script { bytes: code.len(), limit }));
    }
    task.check()?;
    if is_fenced(code) {
        return Err(EvalAltResult::ErrorParsing(fence_error(), Position::new(1, 1)).into());
    }
    let engine = engine(task);
    // When the parser is made to end, its error says where it had come to.
    let mut ast = engine.compile(code)?;
    let source = ImmutableString::from(task.source());
    ast.set_source(source.clone());
    let space = task.space();
    let runtime = task.runtime();
    let unit = CodeUnit::of_space(runtime.code_units(), space, source.clone());
    let (readings, captured) = (space.readings(), space.captured());
    let of_space = space.environment().unwrap_or_default().functions;
    let natives = Known::new(runtime, vec![ast.shared_lib(), &of_space], &readings);
    let kind = Kind::Eval { readings: &readings, captured: &captured };
    let mut prepared = prepare(&ast, &unit, &natives, kind, runtime.nesting_check());
    task.called_units().keep(&unit);
    std::mem::take(&mut prepared.script.notes).into_iter().for_each(|note| task.note(note));
    if !slash_divisions(code).is_empty() {
        task.note(Note::SlashesComment);
    }
    let overlay = Overlay::new(&ast, source.clone());
    drop(ast);
    let mut state = RuntimeState::new(&engine);
    let kept = begin(task, &mut prepared, overlay, code.contains(GLOBAL), scope)?;
    state.set_surroundings(&kept);
    state.set_functions([&kept.functions]);
    state.set_source(source);
    let result = run_statements(&engine, &mut state, scope, &prepared.script.statements);
    // The statement that ran last: the value is its value, and what is left to commit was written by it. An error that knows no
    // place of its own, such as a data race, is raised by it.
    let place = prepared.script.place(task.state().snapshot().statement());
    let result = result.map(|value| (value, place)).or_else(exit_value).map_err(|error| placed(error, place));
    let reached = if result.is_ok() { Reached::End } else { Reached::BrokenOff };
    let committed = task.commit(scope, state.moment(), reached);
    let (value, position) = result?;
    committed.map_err(|error| placed(error, place))?;
    Ok(Finished { value, source: task.source().to_owned(), position })
}

/// Opens the space: defines the functions, takes the snapshot, resolves kept imports again.
fn begin(
    task: &Arc<Task>,
    prepared: &mut Prepared,
    overlay: Overlay,
    names_globals: bool,
    scope: &mut Scope<'static>,
) -> Fallible<Environment> {
    let definitions = std::mem::take(&mut prepared.definitions);
    let reads = &prepared.script.reads;
    let opening = Opening { entry: task.id(), reads, definitions: &definitions, names_globals, overlay };
    let opened = match task.space().open(&opening) {
        Ok(opened) => opened,
        Err(SpaceFailure::Closed) => {
            task.stop(StopCause::NoSuchSpace(task.space().name().to_owned()));
            return Err(terminated());
        }
        // Without a place: it is all functions of the script together that are too many.
        Err(SpaceFailure::Limit(hit)) => return Err(error::limit(&hit)),
    };
    let named_by_functions = Arc::clone(&opened.imports);
    task.set_redefined(opened.redefined.clone());
    task.views().name(prepared.script.imports.iter().chain(&*named_by_functions));
    *scope = task.open_snapshot(prepared, opened);
    let resolver = Resolver { task: Arc::clone(task) };
    let kept = task.state().environment();
    let refreshed =
        resolver.refresh(&kept.imports, &prepared.script.imports, &named_by_functions).map_err(|(import, error)| {
            placed(error, prepared.script.import_places.get(&import).copied().unwrap_or(Position::NONE))
        })?;
    task.refresh_imports(&refreshed);
    Ok(task.state().environment())
}
