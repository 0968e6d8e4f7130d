//! What code may come to by the functions it calls, as far as its text tells: [`Calls`] by name, and [`Reach`] once it is known
//! which functions there are.
//!
//! A function that is a value may be any, and so may what a value carries: whoever calls one may read every variable. A native
//! function calls none but those it is given, so it is known what `list.map(|x| x)` comes to.

use super::function_body::FunctionDef;
use super::function_body::body_of;
use rhai::{ASTFlags, Expr, FnCallExpr, FnPtr, ImmutableString};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// What is known of the native functions of one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Native {
    /// There is none.
    Missing,
    /// None of them takes a function.
    Quiet,
    /// Some take functions.
    Calling {
        /// Whether one takes a function first, so that it may be called as a method of it.
        of_functions: bool,
    },
}

/// The facts about functions, by their names.
pub(crate) trait Natives {
    /// The native functions of this name.
    fn native(&self, name: &str) -> Native;

    /// Whether there is a function of this name in the script or its space.
    fn is_of_scripts(&self, name: &str) -> bool;

    /// Whether a function of this name in the space ends with the `()` of a function that works in place.
    fn gives_in_place(&self, name: &str) -> bool;

    /// Whether every method of this name leaves its object as it is.
    fn only_reads(&self, name: &str) -> bool;

    /// The functions of this name in the space.
    fn of_space(&self, name: &str) -> &[Overload];

    /// Whether some map may have a function of its own under this name.
    fn may_be_own(&self, name: &str) -> bool;

    /// Some map may have a function under this name; without a name, under any.
    fn note_own(&self, name: Option<&str>);
}

/// The calls in a piece of code, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Calls {
    /// Functions and methods, and the closures they are given.
    functions: BTreeSet<ImmutableString>,
    /// Those of them that are given what may be any function.
    given_any: BTreeSet<ImmutableString>,
    /// Methods of values that may have a function of their own under that name.
    methods: BTreeSet<ImmutableString>,
    /// Functions of modules, as `alias::name`.
    of_modules: BTreeSet<ImmutableString>,
    /// Whether a function is called that is a value.
    any: bool,
}

/// What a value is, as far as an expression tells, for whoever may call it.
enum Handed {
    /// No function.
    Plain,
    /// A text, which may be the name of one.
    Text,
    /// The function or the body of this name.
    Function(ImmutableString),
    /// Maybe any function.
    Any,
}

fn handed(expr: &Expr) -> Handed {
    match expr {
        Expr::DynamicConstant(value, _) => match value.read_lock::<FnPtr>() {
            Some(pointer) => Handed::Function(pointer.fn_name().into()),
            None => Handed::Plain,
        },
        Expr::StringConstant(..) | Expr::InterpolatedString(..) => Handed::Text,
        Expr::Array(..) | Expr::Map(..) | Expr::And(..) | Expr::Or(..) => Handed::Plain,
        Expr::FnCall(call, _) if call.op_token.is_some() => Handed::Plain,
        Expr::FnCall(call, _) if call.name == "Fn" => match &*call.args {
            [Expr::StringConstant(name, _)] => Handed::Function(name.clone()),
            _ => Handed::Any,
        },
        Expr::Stmt(_) => body_of(expr).map_or(Handed::Any, |body| Handed::Function(body.into())),
        constant if constant.is_constant() => Handed::Plain,
        _ => Handed::Any,
    }
}

/// Whether the value of an expression may be a function.
fn may_be_function(expr: &Expr) -> bool {
    matches!(handed(expr), Handed::Function(_) | Handed::Any)
}

/// The variable that an expression is; `None` for one of an import, and for markers.
pub(super) fn plain_variable(expr: &Expr) -> Option<&ImmutableString> {
    match expr {
        Expr::Variable(variable, ..) if variable.2.is_empty() && !variable.1.starts_with(' ') => Some(&variable.1),
        _ => None,
    }
}

/// What a method is called on.
#[derive(Clone, Debug)]
pub(super) enum Receiver {
    /// A value that has no functions of its own.
    Plain,
    /// A variable, which is looked at when the code runs.
    Variable(ImmutableString),
    /// Anything else.
    Other,
}

impl Receiver {
    pub(super) fn of(expr: &Expr) -> Self {
        match expr {
            Expr::Map(..) | Expr::DynamicConstant(..) => Self::Other,
            other => match (plain_variable(other), handed(other)) {
                (Some(variable), _) => Self::Variable(variable.clone()),
                (None, Handed::Plain | Handed::Text) => Self::Plain,
                (None, Handed::Function(_) | Handed::Any) => Self::Other,
            },
        }
    }
}

impl Calls {
    /// The calls that one call comes to. A method says what it is called on.
    pub(super) fn of(call: &FnCallExpr, receiver: Option<&Receiver>, natives: &dyn Natives) -> Self {
        let mut calls = Self::default();
        if call.op_token.is_some() {
            return calls;
        }
        if !call.namespace.is_empty() {
            if call.namespace.path.len() == 1 {
                calls.of_modules.insert(format!("{}::{}", call.namespace.root(), call.name).into());
            } else {
                calls.any = true;
            }
            return calls;
        }
        if call.name == "call" {
            calls.any = true;
            return calls;
        }
        let native = natives.native(&call.name);
        let takes_functions = matches!(native, Native::Calling { .. });
        let mut given_any = receiver.is_some_and(|receiver| {
            !matches!(receiver, Receiver::Plain) && native == Native::Calling { of_functions: true }
        });
        for argument in &*call.args {
            match handed(argument) {
                Handed::Plain => {}
                Handed::Function(name) => drop(calls.functions.insert(name)),
                // Functions of lists take the name of a function as well.
                Handed::Text => given_any |= takes_functions,
                Handed::Any => given_any = true,
            }
        }
        if given_any {
            calls.given_any.insert(call.name.clone());
        }
        if receiver.is_some_and(|receiver| !matches!(receiver, Receiver::Plain)) {
            calls.methods.insert(call.name.clone());
        }
        calls.functions.insert(call.name.clone());
        calls
    }

    pub(super) fn add(&mut self, other: Self) {
        self.functions.extend(other.functions);
        self.given_any.extend(other.given_any);
        self.methods.extend(other.methods);
        self.of_modules.extend(other.of_modules);
        self.any |= other.any;
    }

    /// The method, when it is the only one: whether its object has a function under that name is looked at when it runs.
    pub(super) fn take_method(&mut self) -> Option<ImmutableString> {
        if self.methods.len() == 1 { self.methods.pop_first() } else { None }
    }
}

/// One function as its callers see it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reading {
    /// The variables of its space that it may read itself.
    pub(crate) reads: BTreeSet<ImmutableString>,
    /// The functions that it calls.
    pub(crate) calls: Calls,
}

/// A function beside others of its name: the type of its object, its number of parameters, and what it reads.
pub(crate) type Overload = ((Option<ImmutableString>, usize), Reading);

/// The functions of a space or a script, by name, with what they read and call. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Readings(HashMap<ImmutableString, Arc<Vec<Overload>>>);

impl Readings {
    /// Adds a function, in the place of one with the same signature.
    pub(crate) fn define(&mut self, function: &FunctionDef, reading: Reading) {
        let signature = (function.this_type.clone(), function.params.len());
        let overloads = Arc::make_mut(self.0.entry(function.name.clone()).or_default());
        match overloads.iter_mut().find(|(known, _)| *known == signature) {
            Some((_, known)) => *known = reading,
            None => overloads.push((signature, reading)),
        }
    }

    /// Adds all functions of another script, in the place of those with the same signatures.
    pub(crate) fn add(&mut self, other: &Self) {
        for (name, added) in &other.0 {
            let overloads = Arc::make_mut(self.0.entry(name.clone()).or_default());
            overloads.retain(|(known, _)| added.iter().all(|(signature, _)| signature != known));
            overloads.extend(added.iter().cloned());
        }
    }

    /// The functions of this name.
    pub(crate) fn of(&self, name: &str) -> &[Overload] {
        self.0.get(name).map_or(&[], |overloads| overloads)
    }

    /// Every variable that some function may read.
    pub(crate) fn all_reads(&self) -> impl Iterator<Item = &ImmutableString> {
        self.0.values().flat_map(|overloads| overloads.iter()).flat_map(|(_, reading)| &reading.reads)
    }

    /// What calls may come to, in a script with these functions.
    pub(super) fn reach(&self, calls: &Calls, natives: &dyn Natives) -> Reach {
        let mut reach = Reach::default();
        self.follow(calls, natives, &mut BTreeSet::new(), &mut reach);
        reach
    }

    fn follow(&self, calls: &Calls, natives: &dyn Natives, seen: &mut BTreeSet<ImmutableString>, reach: &mut Reach) {
        reach.any |= calls.any || calls.methods.iter().any(|name| natives.may_be_own(name));
        reach.of_modules.extend(calls.of_modules.iter().cloned());
        for name in &calls.functions {
            if reach.any {
                return;
            }
            let own = self.of(name);
            let inherited =
                natives.of_space(name).iter().filter(|(of, _)| own.iter().all(|(signature, _)| signature != of));
            let mut overloads = own.iter().chain(inherited).peekable();
            if overloads.peek().is_some() {
                // A map may have a function of its own under that name.
                reach.any |= calls.methods.contains(name);
                if !seen.insert(name.clone()) {
                    continue;
                }
                for (_, reading) in overloads {
                    reach.reads.extend(reading.reads.iter().cloned());
                    self.follow(&reading.calls, natives, seen, reach);
                }
            } else {
                reach.any |= match natives.native(name) {
                    Native::Missing => true,
                    Native::Quiet => false,
                    Native::Calling { .. } => calls.given_any.contains(name),
                };
            }
        }
    }

    /// The functions that call no function of others, whatever they are given, each with the methods that they call. `is_quiet` says it
    /// of a function of a module, given as `alias::name`.
    pub(crate) fn quiet(
        &self,
        natives: &dyn Natives,
        is_quiet: impl Fn(&str) -> bool,
    ) -> HashMap<ImmutableString, BTreeSet<ImmutableString>> {
        let quiet = |(name, overloads): (&ImmutableString, &Arc<Vec<Overload>>)| {
            let mut methods = BTreeSet::new();
            for (_, reading) in overloads.iter() {
                let reach = self.reach(&reading.calls, natives);
                if reach.any || !reach.of_modules.iter().all(|path| is_quiet(path)) {
                    return None;
                }
                self.methods(&reading.calls, &mut BTreeSet::new(), &mut methods);
            }
            Some((name.clone(), methods))
        };
        self.0.iter().filter_map(quiet).collect()
    }

    /// The methods that calls come to.
    fn methods(&self, calls: &Calls, seen: &mut BTreeSet<ImmutableString>, found: &mut BTreeSet<ImmutableString>) {
        found.extend(calls.methods.iter().cloned());
        for name in &calls.functions {
            if seen.insert(name.clone()) {
                self.of(name).iter().for_each(|(_, reading)| self.methods(&reading.calls, seen, found));
            }
        }
    }
}

/// The variables that functions may read which are called.
#[derive(Clone, Debug, Default)]
pub(super) struct Reach {
    /// These.
    pub(super) reads: BTreeSet<ImmutableString>,
    /// All, when one of these functions of modules calls what it was given.
    pub(super) of_modules: BTreeSet<ImmutableString>,
    /// All.
    pub(super) any: bool,
}

impl Reach {
    /// Whether this variable is read for all that is known.
    pub(super) fn covers(&self, name: &ImmutableString) -> bool {
        self.any || self.reads.contains(name)
    }

    /// Whether this variable may be read.
    pub(super) fn may_cover(&self, name: &ImmutableString) -> bool {
        !self.of_modules.is_empty() || self.covers(name)
    }

    /// Whether nothing is read.
    pub(super) fn is_nothing(&self) -> bool {
        !self.any && self.reads.is_empty() && self.of_modules.is_empty()
    }
}

/// Notes the names under which a script puts functions into maps.
pub(super) fn note_own_functions(ast: &rhai::AST, natives: &dyn Natives) {
    use rhai::{ASTNode, Stmt};
    ast.walk(&mut |path| {
        match path.last() {
            Some(ASTNode::Expr(Expr::Map(parts, _))) => {
                for (key, _) in parts.0.iter().filter(|(_, value)| may_be_function(value)) {
                    natives.note_own(Some(&key.name));
                }
            }
            Some(ASTNode::Stmt(Stmt::Assignment(parts))) if may_be_function(&parts.1.rhs) => {
                match last_element(&parts.1.lhs) {
                    Some(Expr::Property(property, _)) => natives.note_own(Some(&property.2)),
                    Some(Expr::StringConstant(key, _)) => natives.note_own(Some(key)),
                    // Any key: when it is clear that there will be a function under it.
                    Some(_) if matches!(handed(&parts.1.rhs), Handed::Function(_)) => natives.note_own(None),
                    _ => {}
                }
            }
            Some(ASTNode::Expr(Expr::MethodCall(call, _))) if call.name == "set" => match &*call.args {
                [Expr::StringConstant(key, _), value] if may_be_function(value) => natives.note_own(Some(key)),
                [_, value] if matches!(handed(value), Handed::Function(_)) => natives.note_own(None),
                _ => {}
            },
            _ => {}
        }
        true
    });
}

/// The property or index that an assignment to a chain sets.
fn last_element(expr: &Expr) -> Option<&Expr> {
    let (Expr::Dot(parts, flags, _) | Expr::Index(parts, flags, _)) = expr else { return None };
    match &parts.rhs {
        rest @ (Expr::Dot(..) | Expr::Index(..)) if !flags.contains(ASTFlags::BREAK) => last_element(rest),
        last => Some(last),
    }
}
