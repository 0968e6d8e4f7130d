//! [`Runtime`]: what every eval shares, built once and never changed: the standard functions, the host's, the embedder's.
//! Each eval runs in a raw engine of its own, made here in a fraction of a microsecond from these shared parts.

use super::context::{Tag, Task};
use crate::base::Limits;
use crate::engine::error::{Fallible, column};
use crate::engine::rhai_internals::markers::{Marker, NestingCheck};
use crate::engine::rhai_internals::runtime_state::{StateView, begin_module};
use crate::engine::run::catch::unify;
use crate::engine::run::closures::{Homes, parameter_names};
use crate::engine::run::commit::Reached;
use crate::engine::run::modules::Resolver;
use crate::engine::run::stdlib::all::stdlib;
use crate::engine::signature::{doc_for_scripts, for_scripts};
use crate::engine::value::cycle_collector::CycleCollector;
use crate::engine::value::inspect::is_handle;
use rhai::packages::{Package, StandardPackage};
use rhai::{Dynamic, Engine, EvalContext, LexError, Module, OptimizationLevel, Position, Shared, Token};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// The language of one process: limits, standard functions, host functions, and the modules of the embedding program. Cheap
/// to clone.
#[derive(Clone)]
pub struct Runtime(Arc<Inner>);

struct Inner {
    limits: Limits,
    standard: Shared<Module>,
    /// Standard functions that could hang or kill the process, in a form that cannot.
    guards: Shared<Module>,
    api: Shared<Module>,
    embedded: Vec<(String, Shared<Module>)>,
    homes: Arc<Homes>,
    cells: CycleCollector,
    nesting_check: NestingCheck,
    /// One function that nobody can call.
    no_functions: Shared<Module>,
    functions: OnceLock<Vec<FunctionFacts>>,
}

/// One native function, for reference texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionFacts {
    /// Its name.
    pub name: String,
    /// The embedded module it lives in; `None` for functions every script sees.
    pub module: Option<String>,
    /// Its signature, as in `sleep(secs: float)`, with types as scripts know them.
    pub signature: String,
    /// Its doc comment, without comment marks.
    pub doc: String,
    /// Whether it is of the standard library rather than the host's.
    pub standard: bool,
    /// Whether it is a standard one that is made anew here under other parameter names: its doc holds, but the other is called.
    pub hidden: bool,
}

impl Runtime {
    /// The language with the host's functions `api` and the embedder's modules, each reachable as `name::f()` in every eval
    /// without an import.
    pub fn new(limits: Limits, api: Module, embedded: Vec<(String, Module)>) -> Self {
        let private = Engine::new_raw()
            .compile("private fn no_function_of_this_module() { 0 }")
            .map_or_else(|_| Shared::new(Module::new()), |ast| ast.shared_lib().clone());
        Self(Arc::new(Inner {
            limits,
            standard: StandardPackage::new().as_shared_module(),
            guards: ready(stdlib()),
            api: ready(api),
            embedded: embedded.into_iter().map(|(name, module)| (name, ready(module))).collect(),
            homes: Arc::default(),
            cells: CycleCollector::default(),
            nesting_check: NestingCheck::new(),
            no_functions: private,
            functions: OnceLock::new(),
        }))
    }

    /// The limits in force.
    pub fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// Every native function, by module and name.
    pub fn functions(&self) -> &[FunctionFacts] {
        self.0.functions.get_or_init(|| {
            let own = [&self.0.guards, &self.0.api].into_iter().flat_map(|module| facts(module, None, false));
            let embedded = self.0.embedded.iter().flat_map(|(name, module)| facts(module, Some(name), false));
            let mut all: Vec<_> = own.chain(embedded).chain(facts(&self.0.standard, None, true)).collect();
            all.sort_by(|a, b| (&a.module, &a.name, &a.signature).cmp(&(&b.module, &b.name, &b.signature)));
            // Of a function that is made anew here the standard one follows.
            all.dedup_by(|next, first| {
                (&next.module, &next.name, &next.signature) == (&first.module, &first.name, &first.signature)
            });
            let made_anew: BTreeSet<_> = all.iter().filter(|f| !f.standard && f.module.is_none()).map(taken).collect();
            for standard in all.iter_mut().filter(|f| f.standard) {
                standard.hidden = made_anew.contains(&taken(standard));
            }
            all
        })
    }

    /// The parameters of a closure as they were written; `None` for pointers to named functions.
    pub fn parameters(&self, closure: &rhai::FnPtr) -> Option<Vec<String>> {
        parameter_names(self.homes(), closure)
    }

    /// The names of the native functions every script sees.
    pub(crate) fn function_names(&self) -> BTreeSet<&str> {
        self.functions().iter().filter(|facts| facts.module.is_none()).map(|facts| facts.name.as_str()).collect()
    }

    /// How many pieces of code with closures are alive.
    pub fn homes_alive(&self) -> usize {
        self.0.homes.count()
    }

    /// Frees captured variables that only each other hold. Values are dropped here: call it on a thread of evals.
    pub fn free_circles(&self) {
        self.0.cells.sweep();
    }

    /// How many captured variables are alive that outlived the evals which made them.
    #[cfg(test)]
    pub(crate) fn cells_alive(&self) -> usize {
        self.0.cells.alive()
    }

    pub(crate) fn cells(&self) -> &CycleCollector {
        &self.0.cells
    }

    pub(crate) fn homes(&self) -> &Arc<Homes> {
        &self.0.homes
    }

    pub(crate) fn nesting_check(&self) -> &NestingCheck {
        &self.0.nesting_check
    }

    pub(crate) fn no_functions(&self) -> &Module {
        &self.0.no_functions
    }

    /// An engine that compiles and runs for `task`, and for nobody else: output, stops, limits and variables are its own.
    pub(crate) fn engine(&self, task: &Arc<Task>) -> Engine {
        let Inner { limits, standard, guards, api, embedded, .. } = &*self.0;
        let mut engine = Engine::new_raw();
        engine.set_max_strings_interned(256);
        // Optimising takes longer than it saves in scripts that run once, and assigning to a part of a constant panics in it.
        engine.set_optimization_level(OptimizationLevel::None);
        // The newest comes first when functions are looked up.
        for module in [standard, guards, api] {
            engine.register_global_module(module.clone());
        }
        for (name, module) in embedded {
            engine.register_static_module(name, module.clone());
        }
        let (print, debug, progress, variable) =
            (Arc::clone(task), Arc::clone(task), Arc::clone(task), Arc::clone(task));
        engine.on_print(move |text| print.print("print", text));
        engine.on_debug(move |text, source, position| {
            debug.print("debug", &debug_line(text, source.unwrap_or(debug.source()), position));
        });
        engine.on_progress(move |_| progress.must_end().then_some(Dynamic::UNIT));
        on_token(&mut engine, Arc::clone(task));
        on_variable(&mut engine, variable);
        engine.set_default_tag(Tag { task: Arc::clone(task), home: None }.into_value());
        engine.set_max_call_levels(limits.call_depth);
        engine.set_max_expr_depths(limits.expression_depth, limits.function_expression_depth);
        engine.set_max_functions(limits.functions);
        engine.set_max_modules(limits.modules);
        engine.set_max_variables(limits.variables);
        engine.disable_symbol("eval");
        engine.set_module_resolver(Resolver { language: self.clone(), task: Arc::clone(task) });
        engine
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime").field("limits", &self.0.limits).finish_non_exhaustive()
    }
}

/// The parser compares each key of a map and each parameter with all before it, which takes seconds for as many as a script has
/// room for. So a stop and the limits of an eval end it as well.
#[expect(deprecated, reason = "marked volatile; the version is pinned and the tests watch it")]
fn on_token(engine: &mut Engine, task: Arc<Task>) {
    engine.on_parse_token(move |token, _, _| {
        // The parser looks for the end in loops of its own: that one always comes.
        if token != Token::EOF && task.must_end() {
            return Token::LexError(LexError::Runtime("the eval was made to stop".to_owned()).into());
        }
        token
    });
}

/// The language asks this before it looks into the scope, for every variable.
#[expect(deprecated, reason = "marked volatile; the version is pinned and the tests watch it")]
fn on_variable(engine: &mut Engine, task: Arc<Task>) {
    // Threads are used again: what an error left half-way is no business of the next eval.
    CAPTURING.set(0);
    engine.on_var(move |name, index, mut context| {
        if let Some(mark) = Marker::of(name) {
            return reach(&task, mark, &mut context).map(|()| Some(Dynamic::UNIT));
        }
        LATEST.with_borrow_mut(|latest| {
            latest.clear();
            latest.push_str(name);
        });
        if CAPTURING.get() > 0 {
            CAPTURING.set(CAPTURING.get() - 1);
            // A method on a cell locks it for the whole call. Atoms and entries are shared by themselves: they need no cell,
            // and a variable that is given a value here is left as it is.
            if let Some(value) = context.scope().get(name).filter(|value| is_handle(value)) {
                return Ok(Some(value.clone()));
            }
            // The language would make a cell that nobody knows of. Constants are left to it.
            if let Some(value) = context.scope_mut().get_mut(name).filter(|value| !value.is_shared()) {
                *value = task.cells().make(value.take());
            }
        }
        // Locals and parameters come first.
        if index > 0 || context.scope().contains(name) {
            return Ok(None);
        }
        task.look_up(name, StateView::new(context.global_runtime_state()))
    });
}

thread_local! {
    /// The variable that code on this thread asked for last. The language raises a data race without a name, and it is this one.
    static LATEST: RefCell<String> = const { RefCell::new(String::new()) };
    /// How many captured variables the running statement still asks for.
    static CAPTURING: Cell<usize> = const { Cell::new(0) };
}

/// The variable that code on this thread asked for last.
pub(crate) fn latest_variable() -> String {
    LATEST.with_borrow(String::clone)
}

/// Running code has come to a mark.
fn reach(task: &Task, mark: Marker<'_>, context: &mut EvalContext<'_, '_, '_, '_, '_, '_>) -> Fallible<()> {
    match mark {
        Marker::Publish => {
            task.publish(context.scope(), StateView::new(context.global_runtime_state()), Reached::Statement)?;
        }
        Marker::Sync(variable) => task.sync(variable, context.scope()),
        Marker::Source(source) => {
            if context.source() != Some(source) {
                *context.source_mut() = Some(source.into());
            }
        }
        Marker::Capture(count) => CAPTURING.set(count),
        Marker::Caught(variable) => {
            if let Some(value) = context.scope_mut().get_mut(variable) {
                unify(value, task);
            }
        }
        Marker::Module => {
            let constants = begin_module(context.global_runtime_state_mut());
            *context.source_mut() = task.begin_module(constants);
        }
    }
    Ok(())
}

fn debug_line(text: &str, source: &str, position: Position) -> String {
    match (position.line(), column(position)) {
        (Some(line), 0) => format!("{source} · {line} · {text}"),
        (Some(line), column) => format!("{source} · {line}:{column} · {text}"),
        _ => format!("{source} · {text}"),
    }
}

fn ready(mut module: Module) -> Shared<Module> {
    module.build_index();
    module.into()
}

/// Reads the functions of a module out of the language's own metadata.
fn facts(module: &Shared<Module>, name: Option<&str>, standard: bool) -> Vec<FunctionFacts> {
    let mut engine = Engine::new_raw();
    engine.register_global_module(module.clone());
    let json = engine.gen_fn_metadata_to_json(true).unwrap_or_default();
    let metadata: serde_json::Value = serde_json::from_str(&json).unwrap_or_default();
    let functions = metadata["functions"].as_array().map(Vec::as_slice).unwrap_or_default();
    functions
        .iter()
        .filter_map(|function| {
            let text = |key: &str| function[key].as_str().unwrap_or_default().to_owned();
            let comments = function["docComments"].as_array().map(Vec::as_slice).unwrap_or_default();
            let doc: Vec<_> = comments.iter().filter_map(|comment| comment.as_str()).map(without_marks).collect();
            let function_name = text("name");
            // Operators, and what only the engine calls.
            let plain = function_name.starts_with(|c: char| c.is_alphabetic() || c == '_')
                && function_name != NestingCheck::FUNCTION;
            plain.then(|| FunctionFacts {
                name: function_name,
                module: name.map(str::to_owned),
                signature: for_scripts(&text("signature")),
                doc: doc_for_scripts(&doc.join("\n")),
                standard,
                hidden: false,
            })
        })
        .collect()
}

/// The name and the types a function takes: of two that agree in them only one can be called.
fn taken(function: &FunctionFacts) -> String {
    let params = function.signature.strip_prefix(&function.name).unwrap_or_default();
    let params = params.split_once(") -> ").map_or(params, |(params, _)| params).trim_matches(['(', ')']);
    let types: Vec<_> = params.split(", ").map(|param| param.split_once(": ").map_or(param, |(_, of)| of)).collect();
    format!("{}({})", function.name, types.join(", "))
}

fn without_marks(comment: &str) -> String {
    let lines = comment.lines().map(|line| {
        let line = line.trim_start();
        let text = line.strip_prefix("///").or_else(|| line.strip_prefix("/**")).unwrap_or(line);
        text.strip_prefix(' ').unwrap_or(text)
    });
    lines.collect::<Vec<_>>().join("\n")
}
