//! The one cast: from the body of a script function to its statements.
//!
//! A function's body is public in Rhai, but the type it is wrapped in is not exported, so safe code can read a body
//! and not edit it. The wrapper is an enum with one variant (as long as Rhai's bytecode machine is off), which has the
//! layout of what it wraps. Size and alignment are checked at compile time, the position at every use, the rest by the test.

#![expect(unsafe_code, reason = "the wrapper's type cannot be named; see the text above")]

use rhai::{ASTNode, Expr, FnPtr, ScriptFuncDef, Stmt, StmtBlock};

/// The compiled form of a script function, for those who only store one.
pub(crate) type FunctionDef = ScriptFuncDef;

/// Whether the body of a function names `this`.
pub(crate) fn names_this(function: &ScriptFuncDef) -> bool {
    has_statement(function, |statement| {
        let mut found = false;
        statement.walk(&mut Vec::new(), &mut |path: &[ASTNode<'_>]| {
            found |= matches!(path.last(), Some(ASTNode::Expr(Expr::ThisPtr(..))));
            !found
        });
        found
    })
}

/// Whether a function has such a statement, at its outermost level.
pub(super) fn has_statement(function: &ScriptFuncDef, is_such: impl FnMut(&Stmt) -> bool) -> bool {
    let mut function = function.clone();
    statements_of(&mut function).statements().iter().any(is_such)
}

/// Whether the body of a function calls one of this name as a function.
pub(crate) fn calls(function: &ScriptFuncDef, name: &str) -> bool {
    let mut function = function.clone();
    let mut found = false;
    for statement in statements_of(&mut function).statements() {
        statement.walk(&mut Vec::new(), &mut |path: &[ASTNode<'_>]| {
            found |= matches!(path.last(), Some(ASTNode::Expr(Expr::FnCall(call, _))) if call.name == name);
            !found
        });
    }
    found
}

/// The name of a closure's body. One with captures is written by the parser as `{ share; curry(closure, captures..) }`.
pub(crate) fn body_of(argument: &Expr) -> Option<String> {
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

/// The statements of a function.
pub(super) fn statements_of(function: &mut ScriptFuncDef) -> &mut StmtBlock {
    let start = function.body.start_position();
    let block = cast(&mut function.body);
    assert!(block.position() == start, "Rhai changed how it wraps function bodies");
    block
}

fn cast<T>(body: &mut T) -> &mut StmtBlock {
    const {
        assert!(
            size_of::<T>() == size_of::<StmtBlock>() && align_of::<T>() == align_of::<StmtBlock>(),
            "Rhai changed how it wraps function bodies"
        );
    }
    // SAFETY: `T` is only ever the type of `ScriptFuncDef::body`, an enum whose one variant holds a `StmtBlock`: same size,
    // same alignment, no tag. The reference is unique and lives as long as the one it is made from.
    unsafe { &mut *std::ptr::from_mut(body).cast::<StmtBlock>() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhai::Engine;

    #[test]
    fn the_statements_of_a_function_can_be_read_and_edited() {
        let ast = Engine::new_raw().compile("fn f(x) {\n  let y = x;\n  return y\n}\nfn empty() {}").unwrap();
        let functions: Vec<_> = ast.shared_lib().iter_script_fn_info().map(|(.., f)| f.clone()).collect();
        for function in functions {
            let mut function = (*function).clone();
            let before = function.body.start_position();
            let end = function.body.end_position();
            let block = statements_of(&mut function);
            let expected = if block.is_empty() { 0 } else { 2 };
            assert_eq!(block.len(), expected);
            assert_eq!(block.end_position(), end);
            block.statements_mut().insert(0, Stmt::Noop(before));
            assert_eq!(block.len(), expected + 1);
            assert_eq!(function.body.start_position(), before);
        }
    }
}
