//! Questions about variables by their names, `is_def_var` and `is_shared`: Rhai answers them from the scope, which holds only
//! what a script names, and in functions nothing of the space. So they become markers.

use super::markers::Marker;
use super::walk::Rewriter;
use rhai::{ASTFlags, Expr, FnCallExpr, Ident, Position, Stmt, StmtBlock};

impl Rewriter<'_> {
    /// Makes a statement that is such a question an expression.
    pub(super) fn ask_in(&mut self, statement: &mut Stmt) {
        if let Stmt::FnCall(call, position) = statement
            && call.name == "is_def_var"
        {
            let call = Expr::FnCall(call.clone(), *position);
            *statement = Stmt::Expr(Box::new(call));
        }
        if let Stmt::Expr(expr) = statement
            && let Some(answer) = self.asked(expr)
        {
            **expr = answer;
        }
    }

    /// What answers a question about a variable.
    pub(super) fn asked(&mut self, expr: &mut Expr) -> Option<Expr> {
        match expr {
            Expr::FnCall(call, position) if call.namespace.is_empty() && call.args.len() == 1 => match &*call.name {
                "is_def_var" => Some(self.is_defined(call, *position)),
                "is_shared" => self.is_shared(&call.args[0]),
                _ => None,
            },
            Expr::Dot(parts, flags, _) if !flags.contains(ASTFlags::NEGATED) => match &parts.rhs {
                Expr::MethodCall(call, _) if call.name == "is_shared" && call.args.is_empty() => {
                    self.is_shared(&parts.lhs)
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn is_defined(&mut self, call: &mut FnCallExpr, position: Position) -> Expr {
        if let Expr::StringConstant(name, _) = &call.args[0]
            && !name.is_empty()
        {
            return Marker::Defined(name).expression(position);
        }
        let mut name = std::mem::take(&mut call.args[0]);
        self.value(&mut name);
        let marker = Marker::Defined("");
        let ident = Ident { name: marker.name().into(), pos: position };
        let kept = Stmt::Var(Box::new((ident, name, None)), ASTFlags::empty(), position);
        let asks = marker.statement(position);
        Expr::Stmt(Box::new(StmtBlock::new([kept, asks], position, position)))
    }

    /// A function is shown variables of its space in a form of their own.
    fn is_shared(&self, object: &Expr) -> Option<Expr> {
        match object {
            Expr::Variable(variable, _, position)
                if self.in_function && variable.2.is_empty() && !self.is_local(&variable.1) =>
            {
                Some(Marker::IsCell(&variable.1).expression(*position))
            }
            _ => None,
        }
    }
}
