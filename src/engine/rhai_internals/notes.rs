//! Places worth a remark: where the value of a function is used that works in place and gives `()`, and loops that take the
//! item for the index. Only the places found here cost anything when the code runs.

use super::walk::Rewriter;
use crate::base::Note;
use rhai::{AST, ASTFlags, ASTNode, Expr, FnPtr, Ident, ImmutableString, Stmt, StmtBlock};
use std::collections::BTreeSet;

/// Functions that change a list or a map in place and give `()`.
const IN_PLACE: [&str; 14] = [
    "append",
    "chop",
    "clear",
    "dedup",
    "fill_with",
    "insert",
    "mixin",
    "pad",
    "push",
    "reverse",
    "sort",
    "sort_by",
    "sort_desc",
    "truncate",
];

/// Functions that use the value of the closure they are given.
const USE_RESULT: [&str; 18] = [
    "all",
    "dedup",
    "drain",
    "filter",
    "find",
    "find_map",
    "find_path",
    "index_of",
    "map",
    "order",
    "order_by",
    "reduce",
    "reduce_rev",
    "retain",
    "some",
    "sort",
    "sort_by",
    "swap",
];

/// The names of the bodies whose value is used by the function that the closure is given to.
pub(super) fn used_bodies(ast: &AST) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    ast.walk(&mut |path| {
        let call = match path.last() {
            Some(ASTNode::Expr(Expr::MethodCall(call, _) | Expr::FnCall(call, _))) => call,
            Some(ASTNode::Stmt(Stmt::FnCall(call, _))) => call,
            _ => return true,
        };
        if USE_RESULT.contains(&&*call.name) {
            found.extend(call.args.iter().filter_map(body_of));
        }
        true
    });
    found
}

/// The name of a closure's body. One with captures is written by the parser as `{ share; curry(closure, captures..) }`.
pub(super) fn body_of(argument: &Expr) -> Option<String> {
    match argument {
        Expr::DynamicConstant(value, _) => value.read_lock::<FnPtr>().map(|pointer| pointer.fn_name().to_owned()),
        Expr::Stmt(block) => match block.statements().last()? {
            Stmt::FnCall(call, _) => call.args.first().and_then(body_of),
            Stmt::Expr(expr) => match &**expr {
                Expr::FnCall(call, _) => call.args.first().and_then(body_of),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

/// The last call of a chain when its function works in place.
fn in_place(expr: &Expr) -> Option<&ImmutableString> {
    let mut at = expr;
    while let Expr::Dot(parts, flags, _) | Expr::Index(parts, flags, _) = at {
        let goes_on = matches!(parts.rhs, Expr::Dot(..) | Expr::Index(..)) && !flags.contains(ASTFlags::BREAK);
        match &parts.rhs {
            rest if goes_on => at = rest,
            Expr::MethodCall(call, _) if matches!(at, Expr::Dot(..)) && IN_PLACE.contains(&&*call.name) => {
                return Some(&call.name);
            }
            _ => return None,
        }
    }
    None
}

impl Rewriter<'_> {
    /// Rewrites an expression whose value is used.
    pub(super) fn value(&mut self, expr: &mut Expr) {
        let function = self.noted(expr);
        self.expression(expr);
        self.note_unit(expr, function);
    }

    /// Rewrites the body of a closure whose value is used.
    pub(super) fn used_body(&mut self, body: &mut StmtBlock) {
        let function = match body.statements().last() {
            Some(Stmt::Expr(expr)) => self.noted(expr),
            _ => None,
        };
        self.block(body);
        if let Some(Stmt::Expr(expr)) = body.statements_mut().last_mut() {
            self.note_unit(expr, function);
        }
    }

    /// The function whose `()` is noted when the expression gives it.
    fn noted(&self, expr: &Expr) -> Option<ImmutableString> {
        let name = in_place(expr).filter(|name| self.makes_notes && !self.natives.is_of_scripts(name))?;
        Some(name.clone())
    }

    fn note_unit(&self, expr: &mut Expr, function: Option<ImmutableString>) {
        if let Some(function) = function {
            *expr = self.check.noting(std::mem::take(expr), function);
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
