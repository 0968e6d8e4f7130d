//! Rewriting a compiled script before it runs:
//!
//! - every closure becomes a native pointer that can be called from anywhere, made by whoever implements [`Closures`];
//! - the variables each top-level statement may write are listed, and a commit point is put after each statement;
//! - variables that functions read are handed over before inner code that may call one, when they may have been written since
//!   (see [`hand_over`](super::hand_over));
//! - every function says at its start where it was written, so that errors name the right source;
//! - every `catch` has its error put into one shape;
//! - captured atoms and entries stay what they are instead of becoming cells;
//! - arguments of `curry`, and variables that are wrapped in a list or map of their own, are checked for nesting.
//!
//! Markers are variables whose names begin with a space, which no script can type: see [`Marker`].

use super::calls::{Natives, Reading, Readings, note_own_functions};
use super::chains::Captured;
use super::closure_name::is_body;
use super::function_body::{FunctionDef, statements_of};
use super::hand_over::HandOver;
use super::markers::{Marker, NestingCheck, Tail};
use super::notes::{giving, used_bodies};
use super::walk::{Closures, Rewriter};
use crate::base::Note;
use rhai::{AST, ImmutableString, Module, Position, ScriptFuncDef, Shared, Stmt};
use std::collections::{BTreeSet, HashMap};

/// The kind of code that is rewritten.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind<'a> {
    /// A script that runs in a space with functions.
    Eval {
        /// These functions.
        readings: &'a Readings,
        /// The variables of the space that closures captured.
        captured: &'a BTreeSet<ImmutableString>,
    },
    /// A module, or functions that are added to one.
    Module,
}

/// One function after the rewriting. It belongs to no code yet.
#[derive(Debug)]
pub(crate) struct RewrittenFunction {
    /// The function.
    pub(crate) function: Shared<FunctionDef>,
    /// The variables that it may read, and what it calls.
    pub(crate) reading: Reading,
    /// The imports that it names.
    pub(crate) imports: BTreeSet<ImmutableString>,
    /// Whether it contains closures.
    pub(crate) has_closures: bool,
}

/// A script after the rewriting.
#[derive(Debug, Default)]
pub(crate) struct Rewritten {
    /// The top level, with markers.
    pub(crate) statements: Vec<Stmt>,
    /// The functions, without those of closures.
    pub(crate) functions: Vec<RewrittenFunction>,
    /// The bodies of closures.
    pub(crate) bodies: Module,
    /// What the functions and the closures read and call.
    pub(crate) readings: Readings,
    /// The variables the top level names.
    pub(crate) reads: BTreeSet<ImmutableString>,
    /// The imports the top level names.
    pub(crate) imports: BTreeSet<ImmutableString>,
    /// The place where each import is named first.
    pub(crate) import_places: HashMap<ImmutableString, Position>,
    /// The place of each top-level statement.
    places: Vec<Position>,
    /// For each top-level statement the variables it may write.
    pub(crate) writes: Vec<Vec<ImmutableString>>,
    /// For each top-level statement the variables that closures in it capture.
    pub(crate) captures: Vec<Vec<ImmutableString>>,
    /// Whether there is any closure.
    pub(crate) has_closures: bool,
    /// Remarks on the code.
    pub(crate) notes: Vec<Note>,
}

impl Rewritten {
    /// The place of the top-level statement with this index.
    pub(crate) fn place(&self, index: usize) -> Position {
        self.places.get(index).copied().unwrap_or(Position::NONE)
    }
}

/// Rewrites a compiled script whose closures are `closures`.
pub(crate) fn rewrite(
    ast: &AST,
    closures: &mut dyn Closures,
    natives: &dyn Natives,
    kind: Kind<'_>,
    check: &NestingCheck,
) -> Rewritten {
    let functions: Vec<Shared<ScriptFuncDef>> =
        ast.shared_lib().iter_script_fn_info().map(|(.., function)| function.clone()).collect();
    let mut rewritten = Rewritten::default();
    for body in functions.iter().filter(|function| is_body(&function.name)) {
        closures.found(body);
        rewritten.has_closures = true;
    }

    let mut rewriter = Rewriter::new(closures, natives, check);
    // Whoever calls a module's functions did not write them.
    rewriter.makes_notes = matches!(kind, Kind::Eval { .. });
    let used = if rewritten.has_closures && rewriter.makes_notes { used_bodies(ast) } else { BTreeSet::new() };
    if rewriter.makes_notes {
        rewriter.giving = giving(&functions);
    }
    note_own_functions(ast, natives);
    let in_space = match kind {
        Kind::Eval { captured, .. } => captured.iter().cloned().collect(),
        Kind::Module => Vec::new(),
    };
    rewriter.captured = Captured::of(ast, rewritten.has_closures, in_space, natives);
    for function in functions {
        let closure = is_body(&function.name);
        let (function, facts) = rewriter.function(&function, !closure, used.contains(function.name.as_str()));
        // What a closure of this code reads, the callers of its functions may have to see as well.
        rewriter.readings.define(&function, facts.reading.clone());
        if closure {
            rewritten.bodies.set_script_fn(function);
        } else {
            let FunctionFacts { reading, imports, has_closures, .. } = facts;
            rewritten.functions.push(RewrittenFunction { function, reading, imports, has_closures });
        }
        rewritten.imports.extend(facts.called_imports);
    }

    if let Kind::Eval { readings, .. } = kind {
        let watched = readings.all_reads().chain(rewriter.readings.all_reads()).cloned().collect();
        rewriter.hand_over = HandOver::new(watched);
    }
    rewriter.returns = Tail::Seen;
    rewriter.top_level(ast.statements(), kind, &mut rewritten);
    rewritten.import_places = std::mem::take(&mut rewriter.import_places);
    rewritten.notes = std::mem::take(&mut rewriter.notes);
    rewritten.readings = std::mem::take(&mut rewriter.readings);
    rewritten
}

/// The facts that the rewriting learns of one function.
#[derive(Debug, Default)]
struct FunctionFacts {
    reading: Reading,
    imports: BTreeSet<ImmutableString>,
    /// Imports named by a closure: its code belongs to the script that wrote it.
    called_imports: BTreeSet<ImmutableString>,
    has_closures: bool,
}

impl Rewriter<'_> {
    /// Rewrites one function. A named one also says where it was written. `used`: it is a closure whose value is used.
    fn function(
        &mut self,
        function: &ScriptFuncDef,
        named: bool,
        used: bool,
    ) -> (Shared<ScriptFuncDef>, FunctionFacts) {
        let mut function = function.clone();
        let params = function.params.to_vec();
        let body = statements_of(&mut function);
        let position = body.position();
        self.locals = vec![params];
        self.in_function = true;
        self.made_portable = 0;
        self.returns = match (used, named) {
            (true, _) => Tail::Used,
            (false, true) => Tail::Given,
            (false, false) => Tail::Plain,
        };
        self.block_of(body, self.returns);
        self.returns = Tail::Seen;
        if named && !body.is_empty() {
            body.statements_mut().insert(0, Marker::Source(self.closures.source()).statement(position));
        }
        self.in_function = false;
        self.locals.clear();
        self.writes.clear();
        let imports = std::mem::take(&mut self.imports);
        let (imports, called_imports) = if named { (imports, BTreeSet::new()) } else { (BTreeSet::new(), imports) };
        let facts = FunctionFacts {
            reading: Reading { reads: std::mem::take(&mut self.reads), calls: std::mem::take(&mut self.calls) },
            imports,
            called_imports,
            has_closures: self.made_portable > 0,
        };
        (function.into(), facts)
    }

    /// Rewrites the top level, with a commit point after each statement of an eval but the last, whose value is the result.
    fn top_level(&mut self, statements: &[Stmt], kind: Kind<'_>, rewritten: &mut Rewritten) {
        let is_module = matches!(kind, Kind::Module);
        if is_module {
            rewritten.statements.push(Marker::Module.statement(Position::NONE));
        }
        for (index, statement) in statements.iter().enumerate() {
            let mut statement = statement.clone();
            self.writes.clear();
            self.hand_over.begin_statement();
            self.tail = if index + 1 < statements.len() { Tail::Unused } else { Tail::Seen };
            let before = self.statement(&mut statement);
            rewritten.writes.push(std::mem::take(&mut self.writes));
            rewritten.captures.push(std::mem::take(&mut self.captures));
            let position = statement.position();
            rewritten.places.push(position);
            rewritten.statements.extend(before);
            rewritten.statements.push(statement);
            if !is_module && index + 1 < statements.len() {
                rewritten.statements.push(Marker::Commit.statement(position));
            }
        }
        rewritten.reads = std::mem::take(&mut self.reads);
        rewritten.imports.append(&mut self.imports);
    }
}
