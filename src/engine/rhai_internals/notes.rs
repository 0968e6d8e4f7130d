//! Places worth a remark: where the value of a function is used that works in place and gives `()`, and loops that take the
//! item for the index. Only the places found here cost anything when the code runs.

use super::function_body::{FunctionDef, body_of, statements_of};
use super::markers::Tail;
use super::walk::Rewriter;
use crate::base::Note;
use crate::engine::marks::{uses_result, works_in_place};
use rhai::{AST, ASTFlags, ASTNode, Expr, FnCallExpr, Ident, ImmutableString, Shared, Stmt, StmtBlock};
use std::collections::BTreeSet;

/// What is done with a value that may be the `()` of a function that works in place.
pub(super) enum Mark {
    /// It is noted when it is `()`; without a name, when it was marked.
    Note(ImmutableString),
    /// It is marked for whoever uses it.
    Give(ImmutableString),
}

/// The names of the bodies whose value is used by the function that the closure is given to.
pub(super) fn used_bodies(ast: &AST) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    ast.walk(&mut |path| {
        let call = match path.last() {
            Some(ASTNode::Expr(Expr::MethodCall(call, _) | Expr::FnCall(call, _))) => call,
            Some(ASTNode::Stmt(Stmt::FnCall(call, _))) => call,
            _ => return true,
        };
        if uses_result(&call.name) {
            found.extend(call.args.iter().filter_map(body_of));
        }
        true
    });
    found
}

/// The functions that end with the `()` of one that works in place.
pub(super) fn giving(functions: &[Shared<FunctionDef>]) -> BTreeSet<ImmutableString> {
    let gives = |function: &&Shared<FunctionDef>| {
        let mut function = (***function).clone();
        let body = statements_of(&mut function);
        let mut found = body.statements().last().is_some_and(ends_in_place);
        for statement in body.statements() {
            statement.walk(&mut Vec::new(), &mut |path: &[ASTNode<'_>]| {
                if let Some(ASTNode::Stmt(Stmt::Return(Some(expr), ..))) = path.last() {
                    found |= value_in_place(expr);
                }
                !found
            });
        }
        found
    };
    functions.iter().filter(gives).map(|function| function.name.clone()).collect()
}

fn ends_in_place(statement: &Stmt) -> bool {
    let ends = |block: &StmtBlock| block.statements().last().is_some_and(ends_in_place);
    match statement {
        Stmt::Expr(expr) => value_in_place(expr),
        Stmt::FnCall(call, _) => called_in_place(call),
        Stmt::If(flow, _) => ends(&flow.body) || ends(&flow.branch),
        Stmt::Switch(switch, _) => switch.1.expressions.iter().any(|case| value_in_place(&case.rhs)),
        Stmt::Block(block) => ends(block),
        _ => false,
    }
}

fn value_in_place(expr: &Expr) -> bool {
    match expr {
        Expr::Stmt(block) => block.statements().last().is_some_and(ends_in_place),
        other => in_place(other).is_some(),
    }
}

/// Whether a call such as `push(list, 1)` works in place.
fn called_in_place(call: &FnCallExpr) -> bool {
    call.op_token.is_none() && call.namespace.is_empty() && !call.args.is_empty() && works_in_place(&call.name)
}

/// The function that works in place and is called last in an expression, and whether what it works on is a value that nobody
/// holds.
fn in_place(expr: &Expr) -> Option<(&ImmutableString, bool)> {
    if let Expr::FnCall(call, _) = expr {
        return called_in_place(call).then(|| (&call.name, !is_place(&call.args[0])));
    }
    let mut at = expr;
    let (mut held, mut is_index) = (true, false);
    while let Expr::Dot(parts, flags, _) | Expr::Index(parts, flags, _) = at {
        held &= is_index || begins_place(&parts.lhs);
        is_index = matches!(at, Expr::Index(..));
        let goes_on = matches!(parts.rhs, Expr::Dot(..) | Expr::Index(..)) && !flags.contains(ASTFlags::BREAK);
        match &parts.rhs {
            rest if goes_on => at = rest,
            Expr::MethodCall(call, _) if matches!(at, Expr::Dot(..)) && works_in_place(&call.name) => {
                return Some((&call.name, !held));
            }
            _ => return None,
        }
    }
    None
}

/// Whether an expression is a variable, or a part of one.
fn is_place(expr: &Expr) -> bool {
    let (mut at, mut is_index) = (expr, false);
    while let Expr::Dot(parts, ..) | Expr::Index(parts, ..) = at {
        if !is_index && !begins_place(&parts.lhs) {
            return false;
        }
        is_index = matches!(at, Expr::Index(..));
        at = &parts.rhs;
    }
    is_index || begins_place(at)
}

/// Whether a part of a chain that is no index leaves it a place that somebody holds.
fn begins_place(expr: &Expr) -> bool {
    matches!(expr, Expr::Variable(..) | Expr::ThisPtr(..) | Expr::Property(..))
}

impl Rewriter<'_> {
    /// Rewrites an expression whose value is used.
    pub(super) fn value(&mut self, expr: &mut Expr) {
        self.placed(expr, Tail::Used);
    }

    /// Rewrites an expression, with what becomes of its value.
    pub(super) fn placed(&mut self, expr: &mut Expr, tail: Tail) {
        if let Expr::Stmt(block) = expr
            && !matches!(block.statements().first(), Some(Stmt::Share(..)))
        {
            self.block_of(block, tail);
            return;
        }
        let mark = self.mark(expr, tail);
        self.expression(expr);
        match mark {
            Some(Mark::Note(function)) => *expr = self.check.noting(std::mem::take(expr), function),
            Some(Mark::Give(function)) => *expr = self.check.giving(std::mem::take(expr), function),
            None => {}
        }
    }

    /// A call at the end of a function is an expression when its value is marked.
    pub(super) fn as_expression(&self, statement: &mut Stmt, tail: Tail) {
        if let Stmt::FnCall(call, position) = statement
            && matches!(tail, Tail::Used | Tail::Given | Tail::Seen)
        {
            let call = Expr::FnCall(call.clone(), *position);
            if self.mark(&call, tail).is_some() {
                *statement = Stmt::Expr(Box::new(call));
            }
        }
    }

    /// What is done with the value of an expression.
    pub(super) fn mark(&self, expr: &Expr, tail: Tail) -> Option<Mark> {
        if !self.makes_notes || matches!(tail, Tail::Unused | Tail::Plain) {
            return None;
        }
        if let Some((name, unheld)) = in_place(expr).filter(|(name, _)| !self.natives.is_of_scripts(name)) {
            return match tail {
                Tail::Given => Some(Mark::Give(name.clone())),
                // What was done to a variable is there to see; what was done to a value that nobody holds is lost.
                Tail::Seen if !unheld => None,
                _ => Some(Mark::Note(name.clone())),
            };
        }
        match expr {
            Expr::FnCall(call, _)
                if tail == Tail::Used
                    && call.op_token.is_none()
                    && call.namespace.is_empty()
                    && (self.giving.contains(&call.name) || self.natives.gives_in_place(&call.name)) =>
            {
                Some(Mark::Note(ImmutableString::default()))
            }
            _ => None,
        }
    }

    /// Notes a loop whose first name is that of an index.
    pub(super) fn note_loop(&mut self, item: &Ident, counter: Option<&Ident>) {
        let swapped = counter.is_some() && ["i", "idx", "index"].contains(&item.name.as_str());
        if swapped && self.makes_notes && !self.notes.contains(&Note::ItemFirst) {
            self.notes.push(Note::ItemFirst);
        }
    }
}
