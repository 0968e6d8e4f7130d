//! The walk over statements and expressions that rewriting is made of: it finds what is read and written, hands variables over
//! before calls, and makes closures portable.

use super::calls::{Calls, Natives, Readings, Receiver, plain_variable};
use super::chains::{Captured, put_before, root, take_part};
use super::function_body::FunctionDef;
use super::hand_over::{End, HandOver};
use super::markers::{Marker, NestingCheck, Tail};
use crate::base::Note;
use rhai::{
    ASTFlags, ASTNode, Dynamic, Expr, FnCallExpr, ImmutableString, Namespace, Position, Shared, Stmt, StmtBlock,
};
use std::collections::{BTreeSet, HashMap};

/// What code does with a captured variable where it names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Use {
    /// Looks at it.
    Read,
    /// Hands it to a closure that captures it.
    Captured,
    /// Gives it, or a part of it, another value: `x = 1`, `x.a = 1`.
    Assigned,
    /// Changes it in one step: `x += 1`, `x.push(1)`.
    InPlace,
}

/// The closures of the code that is rewritten.
pub(crate) trait Closures {
    /// The name that errors give the code: `eval 12`, `stats.rhai`.
    fn source(&self) -> &str;

    /// Told of the body of each closure, as it was compiled, before anything is rewritten.
    fn found(&mut self, body: &Shared<FunctionDef>);

    /// Makes the closures in a constant of the code portable, and says how many there were. `captures` is how many variables
    /// the parser curries.
    fn make_portable(&mut self, constant: &mut Dynamic, captures: usize) -> usize;

    /// The name of a captured variable for a place that writes it so: the same text, which can be told by its address.
    fn name_for(&mut self, name: &ImmutableString, what: Use) -> ImmutableString;
}

/// The walk over one script, and what it has found so far.
pub(super) struct Rewriter<'a> {
    pub(super) closures: &'a mut dyn Closures,
    pub(super) natives: &'a dyn Natives,
    pub(super) check: &'a NestingCheck,
    /// The variables that functions read, and which of them may have been written; does nothing inside functions.
    pub(super) hand_over: HandOver,
    /// The variables that closures captured, or may have.
    pub(super) captured: Captured,
    /// The functions and the closures of the code.
    pub(super) readings: Readings,
    /// What the present function calls.
    pub(super) calls: Calls,
    /// Names declared in the blocks around, innermost last.
    pub(super) locals: Vec<Vec<ImmutableString>>,
    pub(super) in_function: bool,
    pub(super) reads: BTreeSet<ImmutableString>,
    pub(super) imports: BTreeSet<ImmutableString>,
    pub(super) import_places: HashMap<ImmutableString, Position>,
    pub(super) writes: Vec<ImmutableString>,
    pub(super) captures: Vec<ImmutableString>,
    /// What becomes of the value of the statement that is walked over.
    pub(super) tail: Tail,
    /// What becomes of the value of a `return`.
    pub(super) returns: Tail,
    /// The functions of the script that end with the `()` of one that works in place.
    pub(super) giving: BTreeSet<ImmutableString>,
    /// The number of closures of the present function that were made portable.
    pub(super) made_portable: usize,
    /// Whether places are marked whose values are hardly meant.
    pub(super) makes_notes: bool,
    pub(super) notes: Vec<Note>,
}

impl<'a> Rewriter<'a> {
    pub(super) fn new(closures: &'a mut dyn Closures, natives: &'a dyn Natives, check: &'a NestingCheck) -> Self {
        Self {
            closures,
            natives,
            check,
            hand_over: HandOver::default(),
            captured: Captured::default(),
            readings: Readings::default(),
            calls: Calls::default(),
            locals: Vec::new(),
            in_function: false,
            reads: BTreeSet::new(),
            imports: BTreeSet::new(),
            import_places: HashMap::new(),
            writes: Vec::new(),
            captures: Vec::new(),
            tail: Tail::Plain,
            returns: Tail::Plain,
            giving: BTreeSet::new(),
            made_portable: 0,
            makes_notes: false,
            notes: Vec::new(),
        }
    }

    fn namespace(&mut self, namespace: &Namespace) {
        if !namespace.is_empty() {
            let root = ImmutableString::from(namespace.root());
            self.import_places.entry(root.clone()).or_insert(namespace.position());
            self.imports.insert(root);
        }
    }

    pub(super) fn block(&mut self, block: &mut StmtBlock) {
        self.block_of(block, Tail::Plain);
    }

    /// A block with what becomes of its value.
    pub(super) fn block_of(&mut self, block: &mut StmtBlock, tail: Tail) {
        if block.is_empty() {
            return;
        }
        self.locals.push(Vec::new());
        let mut captures = false;
        let mut index = 0;
        while index < block.len() {
            self.tail = if index + 1 < block.len() { Tail::Unused } else { tail };
            let statement = &mut block.statements_mut()[index];
            // The parser writes a closure with captures as `{ share; curry(closure, captures..) }`.
            let mut before = if captures { self.captured_closure(statement) } else { self.statement(statement) };
            captures = false;
            let mut after = Vec::new();
            if let Stmt::Share(variables) = statement {
                captures = true;
                let names: Vec<_> = variables.iter().map(|(variable, _)| variable.name.clone()).collect();
                before.push(Marker::Capture(&names.join(" ")).statement(Position::NONE));
                let shared: Vec<_> = names.into_iter().filter(|name| !self.is_local(name)).collect();
                after = self.hand_over.captured(&shared);
            }
            index += before.len();
            block.statements_mut().insert_many(index - before.len(), before);
            index += 1;
            let behind = index + after.len();
            block.statements_mut().insert_many(index, after);
            index = behind;
        }
        self.locals.pop();
    }

    /// A block that runs or does not run, with what becomes of its value.
    fn branch(&mut self, block: &mut StmtBlock, tail: Tail) {
        let void = tail == Tail::Unused;
        let branch = self.hand_over.begin_branch();
        self.block_of(block, tail);
        let end = match block.statements().last() {
            Some(Stmt::BreakLoop(..) | Stmt::Return(..)) => End::Jump,
            _ => End::Open,
        };
        let noted = self.hand_over.end_branch(branch, end);
        if noted.is_empty() {
            return;
        }
        // The last expression of a block is its value. Some statements have none.
        let has_value = !void
            && !matches!(
                block.statements().last(),
                None | Some(
                    Stmt::Assignment(..) | Stmt::Noop(..) | Stmt::Var(..) | Stmt::Import(..) | Stmt::Export(..)
                )
            );
        match block.statements_mut().last_mut() {
            Some(last) if has_value => {
                let position = last.position();
                let value = match std::mem::take(last) {
                    Stmt::Expr(value) => *value,
                    other => Expr::Stmt(Box::new(StmtBlock::new([other], position, position))),
                };
                *last = Stmt::Expr(Box::new(self.check.then(value, noted)));
            }
            _ => block.statements_mut().extend(noted),
        }
    }

    /// The body of a loop, whose writes the next round may read. Its value is thrown away.
    fn body(&mut self, block: &mut StmtBlock) {
        self.block_of(block, Tail::Unused);
        let noted = self.hand_over.end_of_round();
        block.statements_mut().extend(noted);
    }

    /// An expression that may not be evaluated.
    fn maybe(&mut self, expr: &mut Expr, tail: Tail) {
        let branch = self.hand_over.begin_branch();
        self.placed(expr, tail);
        let mut noted = self.hand_over.end_branch(branch, End::Open);
        self.behind(expr, &mut noted);
    }

    fn captured_closure(&mut self, statement: &mut Stmt) -> Vec<Stmt> {
        let call = match statement {
            Stmt::FnCall(call, _) => call,
            Stmt::Expr(expr) => match &mut **expr {
                Expr::FnCall(call, _) => call,
                _ => return self.statement(statement),
            },
            _ => return self.statement(statement),
        };
        let captures = call.args.len().saturating_sub(1);
        for (index, argument) in call.args.iter_mut().enumerate() {
            match argument {
                Expr::DynamicConstant(value, _) if index == 0 => self.constant(value, captures),
                other => {
                    self.expression(other);
                    self.name_use(other, Use::Captured);
                }
            }
        }
        Vec::new()
    }

    /// Rewrites a loop. Returns what must stand before it.
    fn looping(&mut self, statement: &mut Stmt) -> Vec<Stmt> {
        let loud = if self.in_function { None } else { self.begin_loop(statement) };
        match statement {
            Stmt::While(flow, _) | Stmt::Do(flow, ..) => {
                self.expression(&mut flow.expr);
                self.body(&mut flow.body);
                self.block(&mut flow.branch);
            }
            Stmt::For(parts, _) => {
                let (item, counter, flow) = &mut **parts;
                self.note_loop(item, counter.as_ref());
                self.expression(&mut flow.expr);
                let names = std::iter::once(&*item).chain(counter.as_ref()).map(|ident| ident.name.clone()).collect();
                self.locals.push(names);
                self.body(&mut flow.body);
                self.locals.pop();
                self.block(&mut flow.branch);
            }
            _ => {}
        }
        self.hand_over.end_loop(loud)
    }

    fn begin_loop(&mut self, statement: &Stmt) -> Option<Vec<Stmt>> {
        let mut calls = Calls::default();
        statement.walk(&mut Vec::new(), &mut |path: &[ASTNode<'_>]| {
            match path.last() {
                Some(ASTNode::Stmt(Stmt::FnCall(call, _)) | ASTNode::Expr(Expr::FnCall(call, _))) => {
                    calls.add(Calls::of(call, None, self.natives));
                }
                Some(ASTNode::Expr(Expr::MethodCall(call, _))) => {
                    calls.add(Calls::of(call, Some(&Receiver::Other), self.natives));
                }
                _ => {}
            }
            true
        });
        let reach = self.readings.reach(&calls, self.natives);
        self.hand_over.begin_loop(statement, &reach)
    }

    /// These calls come next. Returns the markers that must be reached before. `own` is as for [`HandOver::before_call`].
    pub(super) fn before_calls(&mut self, calls: Calls, own: Option<(ImmutableString, ImmutableString)>) -> Vec<Stmt> {
        if self.in_function {
            self.calls.add(calls);
            return Vec::new();
        }
        let reach = self.readings.reach(&calls, self.natives);
        if reach.is_nothing() && own.is_none() {
            return Vec::new();
        }
        self.hand_over.before_call(&reach, own)
    }

    /// Rewrites a statement. Returns what must stand before it.
    pub(super) fn statement(&mut self, statement: &mut Stmt) -> Vec<Stmt> {
        self.ask_in(statement);
        let tail = self.tail;
        self.as_expression(statement, tail);
        match statement {
            Stmt::While(..) | Stmt::Do(..) | Stmt::For(..) => return self.looping(statement),
            Stmt::If(flow, _) => {
                self.expression(&mut flow.expr);
                self.branch(&mut flow.body, tail);
                self.branch(&mut flow.branch, tail);
            }
            Stmt::Switch(switch, _) => {
                self.expression(&mut switch.0);
                for case in &mut switch.1.expressions {
                    self.maybe(&mut case.lhs, Tail::Plain);
                    self.maybe(&mut case.rhs, tail);
                }
            }
            Stmt::Var(parts, ..) => {
                self.value(&mut parts.1);
                self.declare(&parts.0.name);
            }
            Stmt::Assignment(parts) => {
                self.value(&mut parts.1.rhs);
                let before = match &mut parts.1.lhs {
                    chain @ (Expr::Dot(..) | Expr::Index(..)) => self.chain(chain),
                    other => {
                        self.expression(other);
                        Vec::new()
                    }
                };
                if let Some(name) = root(&parts.1.lhs) {
                    self.write(&name);
                }
                let in_place = parts.0.is_op_assignment();
                self.name_use(&mut parts.1.lhs, if in_place { Use::InPlace } else { Use::Assigned });
                if let Expr::Variable(variable, ..) = &parts.1.lhs {
                    self.check_wrapped(&mut parts.1.rhs, &variable.1);
                }
                return before;
            }
            Stmt::FnCall(call, _) => return self.call(call),
            Stmt::Block(block) => self.block_of(block, tail),
            Stmt::TryCatch(flow, _) => {
                self.hand_over.begin_try();
                self.branch(&mut flow.body, Tail::Plain);
                self.hand_over.end_try();
                let caught = match &flow.expr {
                    Expr::Variable(variable, ..) => vec![variable.1.clone()],
                    _ => Vec::new(),
                };
                self.locals.push(caught);
                self.branch(&mut flow.branch, Tail::Plain);
                self.locals.pop();
                let (name, position) = match &flow.expr {
                    Expr::Variable(variable, _, position) => (variable.1.as_str(), *position),
                    _ => ("", Position::NONE),
                };
                flow.branch.statements_mut().insert(0, Marker::Caught(name).statement(position));
            }
            Stmt::Expr(expr) if self.mark(expr, tail).is_some() => self.placed(expr, tail),
            Stmt::Expr(expr) => match &mut **expr {
                Expr::FnCall(call, _) => return self.call(call),
                Expr::Dot(..) => {
                    let before = self.chain(expr);
                    take_part(expr, self.check);
                    return before;
                }
                other => self.expression(other),
            },
            Stmt::Return(Some(expr), flags, position) if flags.contains(ASTFlags::BREAK) => {
                self.expression(expr);
                let markers = vec![Marker::Thrown.statement(*position)];
                **expr = self.check.then(std::mem::take(&mut **expr), markers);
                return self.hand_over.jump();
            }
            Stmt::Return(expr, ..) => {
                if let Some(expr) = expr {
                    self.placed(expr, self.returns);
                }
                return self.hand_over.jump();
            }
            Stmt::BreakLoop(expr, ..) => {
                if let Some(expr) = expr {
                    self.expression(expr);
                }
                return self.hand_over.jump();
            }
            Stmt::Import(parts, _) => self.expression(&mut parts.0),
            Stmt::Export(names, _) => self.read(&names.0.name),
            Stmt::Share(variables) => variables.iter().for_each(|(variable, _)| self.capture(&variable.name)),
            _ => {}
        }
        Vec::new()
    }

    pub(super) fn expression(&mut self, expr: &mut Expr) {
        if let Some(answer) = self.asked(expr) {
            *expr = answer;
            return;
        }
        match expr {
            Expr::DynamicConstant(value, _) => self.constant(value, 0),
            Expr::InterpolatedString(parts, _) | Expr::Array(parts, _) => {
                parts.iter_mut().for_each(|part| self.value(part));
            }
            Expr::Map(parts, _) => parts.0.iter_mut().for_each(|(_, part)| self.value(part)),
            Expr::Variable(variable, ..) if variable.2.is_empty() => self.read(&variable.1),
            Expr::Variable(variable, _, position) => {
                self.namespace(&variable.2);
                // In functions that is the word for the constants around them.
                if variable.2.root() != "global" {
                    let path = ImmutableString::from(format!("{}::{}", variable.2, variable.1));
                    *expr = Marker::Imported(&path).expression(*position);
                    self.imports.insert(path);
                }
            }
            Expr::MethodCall(call, _) => call.args.iter_mut().for_each(|argument| self.value(argument)),
            Expr::FnCall(call, position) => {
                if let Some(function) = self.named_function(call) {
                    *expr = Marker::Function(&function).expression(*position);
                    return;
                }
                let before = self.call(call);
                put_before(expr, before);
            }
            Expr::Stmt(block) => self.block(block),
            Expr::Dot(..) | Expr::Index(..) => {
                let before = self.chain(expr);
                take_part(expr, self.check);
                put_before(expr, before);
            }
            Expr::And(parts, _) | Expr::Or(parts, _) | Expr::Coalesce(parts, _) => {
                parts.iter_mut().for_each(|part| self.maybe(part, Tail::Used));
            }
            _ => {}
        }
    }

    /// Puts markers behind an expression instead of before all.
    pub(super) fn behind(&self, expr: &mut Expr, markers: &mut Vec<Stmt>) {
        if !markers.is_empty() {
            *expr = self.check.then(std::mem::take(expr), std::mem::take(markers));
        }
    }

    /// The function of the script that `Fn("f")` points to.
    fn named_function(&self, call: &FnCallExpr) -> Option<ImmutableString> {
        let [Expr::StringConstant(name, _)] = &*call.args else { return None };
        let is_pointer = call.name == "Fn" && call.namespace.is_empty() && self.natives.is_of_scripts(name);
        is_pointer.then(|| name.clone())
    }

    /// Rewrites a call. Returns what must run before it.
    fn call(&mut self, call: &mut FnCallExpr) -> Vec<Stmt> {
        let is_curry = call.name == "curry";
        let qualified = !call.namespace.is_empty();
        self.namespace(&call.namespace);
        let at_first = self.hand_over.changes();
        let calls = Calls::of(call, None, self.natives);
        call.args.iter_mut().for_each(|argument| self.value(argument));
        let is_operator = call.op_token.is_some();
        let mut before = self.before_calls(calls, None);
        if self.hand_over.changes() != at_first
            && let Some(argument) = call.args.last_mut()
        {
            self.behind(argument, &mut before);
        }
        // `push(list, 1)` changes its first argument as `list.push(1)` does, and so may a function of a module.
        if !is_operator
            && !is_curry
            && (qualified || !self.natives.only_reads(&call.name))
            && let Some(variable) = call.args.first().and_then(plain_variable)
        {
            self.write(variable);
        }
        if is_curry {
            self.check_nesting(&mut call.args);
        }
        before
    }

    pub(super) fn check_nesting(&self, arguments: &mut [Expr]) {
        for argument in arguments {
            if !argument.is_constant() {
                let value = std::mem::take(argument);
                *argument = self.check.around(value);
            }
        }
    }

    /// `a = [a]` copies all of `a` in every round of a loop: such a value is checked before it grows so deep that it takes for
    /// ever.
    fn check_wrapped(&self, expr: &mut Expr, name: &str) {
        let part = |part: &mut Expr| match part {
            Expr::Variable(variable, ..) if variable.1 == name && variable.2.is_empty() => {
                *part = self.check.around(std::mem::take(part));
            }
            other => self.check_wrapped(other, name),
        };
        match expr {
            Expr::Array(parts, _) => parts.iter_mut().for_each(part),
            Expr::Map(parts, _) => parts.0.iter_mut().map(|(_, value)| value).for_each(part),
            _ => {}
        }
    }

    /// Replaces the closures in a constant by portable ones; `captures` is how many variables the parser curries.
    pub(super) fn constant(&mut self, value: &mut Dynamic, captures: usize) {
        self.made_portable += self.closures.make_portable(value, captures);
    }
}
