//! The parts that rewriting puts into a script: markers that the variable hook acts on, and calls that check nesting.

use rhai::{Expr, FnCallExpr, Namespace, Position, Stmt};

/// A statement that rewriting leaves in a script for the variable hook to act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marker<'a> {
    /// The end of a top-level statement: commit.
    Commit,
    /// Functions must see the present value of this variable.
    Sync(&'a str),
    /// This variable was changed: functions must see its value once one is called.
    Changed(&'a str),
    /// Functions must see the present values of all variables that were changed.
    SyncNoted,
    /// The start of a function that was written in this source.
    Source(&'a str),
    /// The start of a module's top level.
    Module,
    /// The next statement turns these variables into cells. Their names are separated by spaces.
    Capture(&'a str),
    /// The start of a `catch` whose error is in this variable.
    Caught(&'a str),
}

impl<'a> Marker<'a> {
    /// The marker that a variable name stands for.
    pub(crate) fn of(name: &'a str) -> Option<Self> {
        let mut rest = name.strip_prefix(' ')?.chars();
        Some(match (rest.next()?, rest.as_str()) {
            ('p', _) => Self::Commit,
            ('s', variable) => Self::Sync(variable),
            ('n', variable) => Self::Changed(variable),
            ('h', _) => Self::SyncNoted,
            ('f', source) => Self::Source(source),
            ('m', _) => Self::Module,
            ('c', variables) => Self::Capture(variables),
            ('e', variable) => Self::Caught(variable),
            _ => return None,
        })
    }

    pub(super) fn statement(self, position: Position) -> Stmt {
        let name = match self {
            Self::Commit => " p".to_owned(),
            Self::Sync(variable) => format!(" s{variable}"),
            Self::Changed(variable) => format!(" n{variable}"),
            Self::SyncNoted => " h".to_owned(),
            Self::Source(source) => format!(" f{source}"),
            Self::Module => " m".to_owned(),
            Self::Capture(variables) => format!(" c{variables}"),
            Self::Caught(variable) => format!(" e{variable}"),
        };
        Stmt::Expr(Box::new(Expr::Variable(Box::new((None, name.into(), Namespace::NONE, 0)), None, position)))
    }
}

/// A call that rewriting puts around values which are about to be nested in a function pointer.
#[derive(Clone, Debug)]
pub(crate) struct NestingCheck(FnCallExpr);

impl NestingCheck {
    /// The name of the native function that is called.
    pub(crate) const FUNCTION: &'static str = "within_nesting_limit";

    /// Asks the parser for such a call: it alone knows the hash.
    pub(crate) fn new() -> Self {
        let script = format!("{}(0)", Self::FUNCTION);
        let ast = rhai::Engine::new_raw().compile(script).expect("a call of a function with a plain name");
        let call = match ast.statements() {
            [Stmt::FnCall(call, _)] => (**call).clone(),
            [Stmt::Expr(expr)] => match &**expr {
                Expr::FnCall(call, _) => (**call).clone(),
                other => panic!("a call was parsed as {other:?}"),
            },
            other => panic!("a call was parsed as {other:?}"),
        };
        Self(call)
    }

    pub(super) fn around(&self, value: Expr) -> Expr {
        let position = value.position();
        let mut call = self.0.clone();
        call.args = std::iter::once(value).collect();
        call.into_fn_call_expr(position)
    }
}
