//! The two volatile hooks of an engine, the one of tokens and the one of variables, over a trait: [`Observer`]. Owns what they
//! remember of the code on a thread: the latest variable, and how many captured variables follow.

use super::markers::Marker;
use super::runtime_state::{StateView, begin_module};
use crate::engine::environment::Constants;
use crate::engine::error::Fallible;
use rhai::{
    Array, Blob, Dynamic, Engine, EvalAltResult, EvalContext, ImmutableString, LexError, Position, Scope, Token,
};
use std::cell::{Cell, RefCell};

/// Told of what the code in an engine does.
pub(crate) trait Observer: Send + Sync + 'static {
    /// Whether code must end now.
    fn must_end(&self) -> bool;

    /// A top-level statement has ended.
    fn statement_ended(&self, scope: &Scope<'_>, at: StateView<'_>) -> Fallible<()>;

    /// A variable that functions may read was changed, and must be shown to them as it is now.
    fn show(&self, name: &str, scope: &Scope<'_>);

    /// A variable that functions may read was changed.
    fn changed(&self, name: &str);

    /// These variables, separated by spaces, must be shown to functions as they are now if they were changed; without names, all.
    fn show_changed(&self, names: &str, scope: &Scope<'_>);

    /// Whether one of these functions of modules, as `alias::name` and separated by spaces, may call what it is given.
    fn calls_back(&self, functions: &str, at: StateView<'_>) -> bool;

    /// A `catch` has this error in its variable.
    fn caught(&self, error: &mut Dynamic);

    /// The top level of a module begins, whose constants will be there. Returns its source.
    fn module_begins(&self, constants: Constants) -> Option<ImmutableString>;

    /// The value of a variable that is not in the scope, if there is one.
    fn variable(&self, name: &str, at: StateView<'_>) -> Fallible<Option<Dynamic>>;

    /// The value of a variable of an import, which is named `alias::name`.
    fn imported(&self, path: &str, at: StateView<'_>) -> Fallible<Dynamic>;
    /// Whether there is a variable of this name that is not in the scope.
    fn defines(&self, name: &str, at: StateView<'_>) -> bool;

    /// Whether closures share the variable of this name, which is not in the scope.
    fn is_cell(&self, name: &str, at: StateView<'_>) -> bool;

    /// A pointer to the function of this name.
    fn function(&self, name: &str, at: StateView<'_>) -> Fallible<Dynamic>;

    /// Whether uses of captured variables are of interest.
    fn watches(&self) -> bool;

    /// Code names a captured variable, whose cell this is, to use it and not to capture it again. The name is the very text that
    /// stands in the code.
    fn uses(&self, name: &str, cell: &Dynamic);

    /// Whether a value is shared by itself and stays what it is when it is captured.
    fn is_handle(&self, value: &Dynamic) -> bool;

    /// The cell that a captured variable with this value becomes.
    fn make_cell(&self, value: Dynamic) -> Dynamic;
}

thread_local! {
    /// The variable that code on this thread asked for last. Rhai raises a data race without a name, and it is this one.
    static LATEST: Latest = const { Latest { length: Cell::new(0), letters: Cell::new(0), long: RefCell::new(String::new()) } };
    /// Whether the error on its way was thrown by a script.
    static THROWN: Cell<bool> = const { Cell::new(false) };
    /// The variables that became cells for the closure that is made.
    static MADE: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    /// The captured variables that the running statement still asks for, the next one last.
    static CAPTURING: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    /// Whether there are any.
    static IS_CAPTURING: Cell<bool> = const { Cell::new(false) };
    /// Values that were put aside, each until the marker behind it takes it up.
    static STASH: RefCell<Vec<Dynamic>> = const { RefCell::new(Vec::new()) };
}

/// A name. It is noted at every variable that code asks for, so one of at most eight bytes, as most are, is noted as a number.
struct Latest {
    length: Cell<usize>,
    letters: Cell<u64>,
    /// The name when it is longer than that.
    long: RefCell<String>,
}

impl Latest {
    #[inline]
    fn note(&self, name: &str) {
        self.length.set(name.len());
        if name.len() > size_of::<u64>() {
            return name.clone_into(&mut self.long.borrow_mut());
        }
        self.letters.set(name.bytes().fold(0, |letters, byte| letters << u8::BITS | u64::from(byte)));
    }

    fn name(&self) -> String {
        let letters = self.letters.get().to_be_bytes();
        match letters.len().checked_sub(self.length.get()).and_then(|from| letters.get(from..)) {
            Some(name) => String::from_utf8_lossy(name).into_owned(),
            None => self.long.borrow().clone(),
        }
    }
}

/// Puts a value aside for the marker that takes it up.
pub(crate) fn stash(value: Dynamic) {
    STASH.with_borrow_mut(|stash| stash.push(value));
}

/// The variable that code on this thread asked for last.
pub(crate) fn latest_variable() -> String {
    LATEST.with(Latest::name)
}

/// Lets the parser ask at every token whether it must end. It compares each key of a map and each parameter with all before it,
/// which takes seconds for as many as a script has room for: so a stop and the limits of an eval end it as well.
#[expect(deprecated, reason = "marked volatile; the version is pinned and the tests watch it")]
pub(crate) fn watch_tokens(engine: &mut Engine, observer: impl Observer) {
    engine.on_parse_token(move |token, _, _| {
        // The parser looks for the end in loops of its own: that one always comes.
        if token != Token::EOF && observer.must_end() {
            return Token::LexError(LexError::Runtime("the eval was made to stop".to_owned()).into());
        }
        token
    });
}

/// Lets `observer` answer for variables. Rhai asks this before it looks into the scope, for every variable.
#[expect(deprecated, reason = "marked volatile; the version is pinned and the tests watch it")]
pub(crate) fn watch_variables(engine: &mut Engine, observer: impl Observer) {
    // Threads are used again: what an error left half-way is no business of the next eval.
    CAPTURING.take();
    IS_CAPTURING.set(false);
    STASH.take();
    THROWN.set(false);
    engine.on_var(move |name, index, mut context| {
        if name.as_bytes().first() == Some(&b' ') {
            return at_marker(&observer, name, &mut context);
        }
        LATEST.with(|latest| latest.note(name));
        if IS_CAPTURING.get() && is_captured(name, &mut context) {
            if let Some(handle) = capture(&observer, name, &mut context)? {
                return Ok(Some(handle));
            }
        } else if observer.watches()
            && let Some(value) = context.scope().get(name).filter(|value| value.is_shared())
        {
            observer.uses(name, value);
        }
        // Locals and parameters come first.
        if index > 0 || context.scope().contains(name) {
            return Ok(None);
        }
        observer.variable(name, StateView::new(context.global_runtime_state()))
    });
}

/// The value of a marker, whatever it is.
fn at_marker(
    observer: &impl Observer,
    name: &str,
    context: &mut EvalContext<'_, '_, '_, '_, '_, '_>,
) -> Fallible<Option<Dynamic>> {
    let Some(marker) = Marker::of(name) else { return Ok(None) };
    if let Marker::Source(_) = marker {
        // At the start of every function.
        return reach(observer, marker, context).map(|()| Some(Dynamic::UNIT));
    }
    match valued(observer, marker, context)? {
        Some(value) => Ok(Some(value)),
        None => reach(observer, marker, context).map(|()| Some(Dynamic::UNIT)),
    }
}

/// Makes a cell of a variable that a closure captures. Returns the value when it needs none.
fn capture(
    observer: &impl Observer,
    name: &str,
    context: &mut EvalContext<'_, '_, '_, '_, '_, '_>,
) -> Fallible<Option<Dynamic>> {
    // A method on a cell locks it for the whole call. Atoms and entries are shared by themselves: they need no cell, and a
    // variable that is given a value here is left as it is.
    if let Some(value) = context.scope().get(name).filter(|value| observer.is_handle(value)) {
        return Ok(Some(value.clone()));
    }
    // Rhai would make a cell that nobody knows of. Constants are left to it.
    if let Some(value) = context.scope_mut().get_mut(name).filter(|value| !value.is_shared()) {
        *value = observer.make_cell(value.take());
        MADE.with_borrow_mut(|made| made.push(name.to_owned()));
    }
    if !context.scope().contains(name)
        && observer.variable(name, StateView::new(context.global_runtime_state()))?.is_none()
    {
        no_closure(context);
    }
    Ok(None)
}

/// Whether the running statement asks for this variable to capture it.
fn is_captured(name: &str, context: &mut EvalContext<'_, '_, '_, '_, '_, '_>) -> bool {
    CAPTURING.with_borrow_mut(|names| {
        if names.is_empty() {
            return false;
        }
        let is_next = names.pop().is_some_and(|next| next == name);
        if !is_next {
            // A variable that is not there has ended the statement before it asked for all of them.
            names.clear();
            no_closure(context);
        }
        IS_CAPTURING.set(!names.is_empty());
        is_next
    })
}

/// A variable that is not there ends the statement before its closure is made: those that were made cells for it are as before.
fn no_closure(context: &mut EvalContext<'_, '_, '_, '_, '_, '_>) {
    for made in MADE.take() {
        if let Some(value) = context.scope_mut().get_mut(&made) {
            *value = value.take().flatten();
        }
    }
}

/// Shows functions these variables, separated by spaces, and all others that were changed.
fn show_all(observer: &impl Observer, names: &str, scope: &Scope<'_>) {
    names.split_ascii_whitespace().for_each(|name| observer.show(name, scope));
    observer.show_changed("", scope);
}

/// The value of a marker that has one.
fn valued(
    observer: &impl Observer,
    marker: Marker<'_>,
    context: &EvalContext<'_, '_, '_, '_, '_, '_>,
) -> Fallible<Option<Dynamic>> {
    let at = StateView::new(context.global_runtime_state());
    let scope = context.scope();
    let is = |yes: bool| Ok(Some(Dynamic::from(yes)));
    match marker {
        Marker::Function(function) => observer.function(function, at).map(Some),
        Marker::IsList(variable) => {
            let is_list = |value: &Dynamic| value.read_lock::<Array>().is_some() || value.read_lock::<Blob>().is_some();
            match (Marker::of(variable), scope.get(variable)) {
                (Some(Marker::Imported(path)), _) => is(is_list(&observer.imported(path, at)?)),
                (_, Some(value)) => is(is_list(value)),
                _ => is(observer.variable(variable, at)?.is_some_and(|value| is_list(&value))),
            }
        }
        Marker::Imported(path) => {
            LATEST.with(|latest| latest.note(path));
            observer.imported(path, at).map(Some)
        }
        Marker::Stashed => Ok(Some(STASH.with_borrow_mut(Vec::pop).unwrap_or_default())),
        Marker::Defined("") => {
            let name = scope.get(&Marker::Defined("").name()).cloned().unwrap_or_default();
            match name.into_immutable_string() {
                Ok(name) => is(scope.contains(&name) || observer.defines(&name, at)),
                Err(actual) => {
                    let wrong = EvalAltResult::ErrorMismatchDataType("string".into(), actual.into(), Position::NONE);
                    Err(wrong.into())
                }
            }
        }
        Marker::Defined(name) => is(scope.contains(name) || observer.defines(name, at)),
        Marker::IsCell(name) => is(observer.is_cell(name, at)),
        Marker::Value(name) => {
            LATEST.with(|latest| latest.note(name));
            let missing = || EvalAltResult::ErrorVariableNotFound(name.to_owned(), Position::NONE);
            let value = observer.variable(name, at)?.ok_or_else(missing)?;
            Ok(Some(if observer.is_cell(name, at) { value.flatten() } else { value }))
        }
        _ => Ok(None),
    }
}

/// Running code has come to a marker.
fn reach(
    observer: &impl Observer,
    marker: Marker<'_>,
    context: &mut EvalContext<'_, '_, '_, '_, '_, '_>,
) -> Fallible<()> {
    match marker {
        Marker::Commit => {
            observer.statement_ended(context.scope(), StateView::new(context.global_runtime_state()))?;
        }
        Marker::Sync(variable) => observer.show(variable, context.scope()),
        Marker::Changed(variable) => observer.changed(variable),
        Marker::SyncNoted(names) => observer.show_changed(names, context.scope()),
        Marker::SyncForModules { functions, names } => {
            if observer.calls_back(functions, StateView::new(context.global_runtime_state())) {
                show_all(observer, names, context.scope());
            }
        }
        Marker::SyncForOwn { variable, method, names } => {
            let has_own = |value: &Dynamic| {
                let map = value.read_lock::<rhai::Map>();
                map.is_some_and(|map| map.get(method).is_some_and(Dynamic::is_fnptr))
            };
            let of_space = || observer.variable(variable, StateView::new(context.global_runtime_state()));
            if match context.scope().get(variable) {
                Some(value) => has_own(value),
                None => of_space()?.as_ref().is_some_and(has_own),
            } {
                show_all(observer, names, context.scope());
            }
        }
        Marker::Source(source) => {
            if context.source() != Some(source) {
                *context.source_mut() = Some(source.into());
            }
        }
        Marker::Capture(variables) => {
            MADE.take();
            CAPTURING.set(variables.rsplit(' ').map(str::to_owned).collect());
            IS_CAPTURING.set(true);
        }
        Marker::Thrown => THROWN.set(true),
        // Those that have a value do nothing else.
        Marker::Function(_)
        | Marker::IsList(_)
        | Marker::Stashed
        | Marker::Defined(_)
        | Marker::IsCell(_)
        | Marker::Imported(_)
        | Marker::Value(_) => {}
        Marker::Caught(variable) => {
            // A thrown value is what it is.
            if !THROWN.take()
                && let Some(value) = context.scope_mut().get_mut(variable)
            {
                observer.caught(value);
            }
        }
        Marker::Module => {
            let constants = begin_module(context.global_runtime_state_mut());
            *context.source_mut() = observer.module_begins(constants);
        }
    }
    Ok(())
}
