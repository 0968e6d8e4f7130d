//! The parts that rewriting puts into a script: markers that the variable hook acts on, and calls that check nesting.

use rhai::{Expr, FnCallExpr, ImmutableString, Namespace, Position, Stmt, StmtBlock};

/// A statement that rewriting leaves in a script for the variable hook to act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marker<'a> {
    /// The end of a top-level statement: commit.
    Commit,
    /// Functions must see the present value of this variable.
    Sync(&'a str),
    /// This variable was changed: functions must see its value once one is called.
    Changed(&'a str),
    /// Functions must see the present values of these variables if they were changed; without names, of all. Names are separated
    /// by spaces.
    SyncNoted(&'a str),
    /// The same for all that were changed and for these, when one of these functions of modules calls what it is given.
    SyncForModules {
        /// `alias::name`, separated by spaces.
        functions: &'a str,
        /// The variables, separated by spaces.
        names: &'a str,
    },
    /// The same when a variable is a map with a function of its own under the name of the method that is called next.
    SyncForOwn {
        /// The variable.
        variable: &'a str,
        /// The method.
        method: &'a str,
        /// The variables, separated by spaces.
        names: &'a str,
    },
    /// The start of a function that was written in this source.
    Source(&'a str),
    /// The start of a module's top level.
    Module,
    /// The next statement turns these variables into cells. Their names are separated by spaces.
    Capture(&'a str),
    /// The start of a `catch` whose error is in this variable; empty when it is in none.
    Caught(&'a str),
    /// A value was made that is thrown next.
    Thrown,
    /// A pointer to the function of this name. Unlike those above it has a value.
    Function(&'a str),
    /// Whether the variable of this name is a list or a blob. It has a value too.
    IsList(&'a str),
    /// The value of the variable of this name that is in no scope, held by nobody: a copy when it is a cell.
    Value(&'a str),
    /// A variable of an import, as `alias::name`, and its value.
    Imported(&'a str),
    /// The value that was put aside last.
    Stashed,
    /// Whether there is a variable of this name; without a name, of the name in the variable that the marker is called.
    Defined(&'a str),
    /// Whether a closure captured the variable of this name, which a function reads.
    IsCell(&'a str),
}

impl<'a> Marker<'a> {
    /// The marker that a variable name stands for.
    pub(crate) fn of(name: &'a str) -> Option<Self> {
        let mut rest = name.strip_prefix(' ')?.chars();
        Some(match (rest.next()?, rest.as_str()) {
            ('p', _) => Self::Commit,
            ('s', variable) => Self::Sync(variable),
            ('n', variable) => Self::Changed(variable),
            ('h', names) => Self::SyncNoted(names),
            ('q', rest) => {
                let (functions, names) = rest.split_once('|')?;
                Self::SyncForModules { functions, names }
            }
            ('o', rest) => {
                let (call, names) = rest.split_once('|')?;
                let (variable, method) = call.split_once(' ')?;
                Self::SyncForOwn { variable, method, names }
            }
            ('f', source) => Self::Source(source),
            ('m', _) => Self::Module,
            ('c', variables) => Self::Capture(variables),
            ('e', variable) => Self::Caught(variable),
            ('t', _) => Self::Thrown,
            ('g', function) => Self::Function(function),
            ('l', variable) => Self::IsList(variable),
            ('w', variable) => Self::Value(variable),
            ('v', path) => Self::Imported(path),
            ('r', _) => Self::Stashed,
            ('d', variable) => Self::Defined(variable),
            ('k', variable) => Self::IsCell(variable),
            _ => return None,
        })
    }

    pub(super) fn statement(self, position: Position) -> Stmt {
        Stmt::Expr(Box::new(self.expression(position)))
    }

    pub(super) fn expression(self, position: Position) -> Expr {
        Expr::Variable(Box::new((None, self.name().into(), Namespace::NONE, 0)), None, position)
    }

    /// The variable that it is.
    pub(super) fn name(self) -> String {
        match self {
            Self::Commit => " p".to_owned(),
            Self::Sync(variable) => format!(" s{variable}"),
            Self::Changed(variable) => format!(" n{variable}"),
            Self::SyncNoted(names) => format!(" h{names}"),
            Self::SyncForModules { functions, names } => format!(" q{functions}|{names}"),
            Self::SyncForOwn { variable, method, names } => format!(" o{variable} {method}|{names}"),
            Self::Source(source) => format!(" f{source}"),
            Self::Module => " m".to_owned(),
            Self::Capture(variables) => format!(" c{variables}"),
            Self::Caught(variable) => format!(" e{variable}"),
            Self::Thrown => " t".to_owned(),
            Self::Function(function) => format!(" g{function}"),
            Self::IsList(variable) => format!(" l{variable}"),
            Self::Value(variable) => format!(" w{variable}"),
            Self::Imported(path) => format!(" v{path}"),
            Self::Stashed => " r".to_owned(),
            Self::Defined(variable) => format!(" d{variable}"),
            Self::IsCell(variable) => format!(" k{variable}"),
        }
    }
}

/// What becomes of the value of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tail {
    /// Nobody uses it.
    Unused,
    /// Nothing is known.
    Plain,
    /// It is used.
    Used,
    /// It is given on, to whoever calls the function.
    Given,
    /// It is the answer of the eval, or may be.
    Seen,
}

/// Calls that rewriting puts around values: of those which are about to be nested in a function pointer, of those behind which
/// markers must stand, and of those that are noted when they are `()`.
#[derive(Clone, Debug)]
pub(crate) struct NestingCheck {
    /// With the value alone, which is checked.
    check: FnCallExpr,
    /// With the value, which is given back, and something that is evaluated after it.
    then: FnCallExpr,
    /// With the value, which is given back, and the name of the function that gave it.
    noting: FnCallExpr,
    /// The same for a value that is given on: whoever uses it notes it.
    giving: FnCallExpr,
    /// The method that gives a part of a list.
    extract: FnCallExpr,
    /// The method that tells whether its object is a list.
    is_list: FnCallExpr,
    /// With the value that is put aside.
    stashing: FnCallExpr,
}

impl NestingCheck {
    /// The name of the native functions that check and give back.
    pub(crate) const FUNCTION: &'static str = "within_nesting_limit";
    /// The name of the native function that notes a `()` whose use was hardly meant.
    pub(crate) const NOTING: &'static str = "noting_unit";

    /// The name of the native function that marks a `()` for whoever uses it.
    pub(crate) const GIVING: &str = "giving_unit";
    /// The name of the native method that tells whether its object is a list or a blob.
    pub(crate) const IS_LIST: &str = "is_list_or_blob";
    /// The name of the native function that puts a value aside, and tells the same of it.
    pub(crate) const STASHING: &str = "stashing_value";

    /// Whether a function of this name is one of those.
    pub(crate) fn is_name(name: &str) -> bool {
        [Self::FUNCTION, Self::NOTING, Self::GIVING, Self::IS_LIST, Self::STASHING].contains(&name)
    }

    /// Asks the parser for such calls: it alone knows the hashes.
    pub(crate) fn new() -> Self {
        let parsed = |script: &str| {
            let ast = rhai::Engine::new_raw().compile(script).expect("a call of a function with a plain name");
            match ast.statements() {
                [Stmt::FnCall(call, _)] => (**call).clone(),
                [Stmt::Expr(expr)] => match &**expr {
                    Expr::FnCall(call, _) => (**call).clone(),
                    Expr::Dot(parts, ..) => match &parts.rhs {
                        Expr::MethodCall(call, _) => (**call).clone(),
                        other => panic!("a method call was parsed as {other:?}"),
                    },
                    other => panic!("a call was parsed as {other:?}"),
                },
                other => panic!("a call was parsed as {other:?}"),
            }
        };
        let call = |arguments: &str| parsed(&format!("{}({arguments})", Self::FUNCTION));
        Self {
            check: call("0"),
            then: call("0, 0"),
            noting: parsed(&format!("{}(0, 0)", Self::NOTING)),
            giving: parsed(&format!("{}(0, 0)", Self::GIVING)),
            extract: parsed("[].extract(0)"),
            is_list: parsed(&format!("[].{}()", Self::IS_LIST)),
            stashing: parsed(&format!("{}(0)", Self::STASHING)),
        }
    }

    pub(super) fn around(&self, value: Expr) -> Expr {
        let position = value.position();
        let mut call = self.check.clone();
        call.args = std::iter::once(value).collect();
        call.into_fn_call_expr(position)
    }

    /// The call of the method that gives the part of a list in this range.
    pub(super) fn extract(&self, range: Expr) -> Expr {
        let position = range.position();
        let mut call = self.extract.clone();
        call.args = std::iter::once(range).collect();
        Expr::MethodCall(Box::new(call), position)
    }

    /// The call of the method that tells whether its object is a list.
    pub(super) fn is_list(&self, position: Position) -> Expr {
        Expr::MethodCall(Box::new(self.is_list.clone()), position)
    }

    /// The call that puts a value aside and tells whether it is a list.
    pub(super) fn stashing(&self, value: Expr) -> Expr {
        let position = value.position();
        let mut call = self.stashing.clone();
        call.args = std::iter::once(value).collect();
        call.into_fn_call_expr(position)
    }

    /// The value, with markers that are reached once it is evaluated.
    pub(super) fn then(&self, value: Expr, markers: Vec<Stmt>) -> Expr {
        let position = value.position();
        let block = Expr::Stmt(Box::new(StmtBlock::new(markers, position, position)));
        let mut call = self.then.clone();
        call.args = [value, block].into_iter().collect();
        call.into_fn_call_expr(position)
    }

    /// The value of a call of `function`, noted when it is `()`. Without a name it is noted when it was marked.
    pub(super) fn noting(&self, value: Expr, function: ImmutableString) -> Expr {
        Self::named(&self.noting, value, function)
    }

    /// The value of a call of `function`, marked when it is `()`.
    pub(super) fn giving(&self, value: Expr, function: ImmutableString) -> Expr {
        Self::named(&self.giving, value, function)
    }

    fn named(call: &FnCallExpr, value: Expr, function: ImmutableString) -> Expr {
        let position = value.position();
        let mut call = call.clone();
        call.args = [value, Expr::StringConstant(function, position)].into_iter().collect();
        call.into_fn_call_expr(position)
    }
}
