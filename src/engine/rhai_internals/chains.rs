//! Chains of properties, indexes and method calls: where one begins, what it may do, and taking it apart.
//!
//! Rhai evaluates a chain while it holds the variable the chain begins with, locked when it is a captured one. Code that is called
//! in the chain could not read it: a closure that captured it too, or a function of the script. So a chain is parted there: what
//! stands before the call is evaluated to a value of its own first.

use super::calls::{Calls, Native, Natives, plain_variable};
use super::closure_name::is_body;
use super::function_body::has_statement;
use super::markers::{Marker, NestingCheck};
use crate::engine::marks::leaves_object;
use rhai::{
    AST, ASTFlags, ASTNode, BinaryExpr, Expr, FlowControl, FnCallExpr, FnPtr, ImmutableString, Position, Stmt,
    StmtBlock,
};
use std::collections::BTreeSet;

/// Whether a method of this name leaves its object as it is by itself: what a function that it is given does is another matter.
pub(super) fn changes_nothing(name: &str) -> bool {
    leaves_object(name) || ["call", "curry", "split", "to_blob"].contains(&name)
}

/// Lets statements run before an expression is evaluated.
pub(super) fn put_before(expr: &mut Expr, before: Vec<Stmt>) {
    if before.is_empty() {
        return;
    }
    let position = expr.position();
    let value = Stmt::Expr(Box::new(std::mem::take(expr)));
    let block = StmtBlock::new(before.into_iter().chain([value]), position, position);
    *expr = Expr::Stmt(Box::new(block));
}

/// What the method calls of a chain may do.
#[derive(Debug, Default)]
pub(super) struct Effects {
    /// Call these.
    pub(super) calls: Calls,
    /// The first of them is called on what the chain begins with.
    pub(super) of_root: bool,
    /// Perhaps change the variable that the chain begins with.
    pub(super) writes: bool,
    /// Change it by all that is known: not by a function that it was given.
    pub(super) changes: bool,
    /// There are any.
    pub(super) methods: bool,
}

/// The variable that an assignment to this expression changes.
pub(super) fn root(expr: &Expr) -> Option<ImmutableString> {
    match expr {
        Expr::Dot(parts, ..) | Expr::Index(parts, ..) => root(&parts.lhs),
        other => plain_variable(other).cloned(),
    }
}

/// The last argument of the last method call in the links of a chain.
pub(super) fn last_argument(link: &mut Expr) -> Option<&mut Expr> {
    match link {
        Expr::MethodCall(call, _) => call.args.last_mut(),
        Expr::Dot(parts, ..) | Expr::Index(parts, ..) => {
            let in_rest = matches!(parts.rhs, Expr::MethodCall(..) | Expr::Dot(..) | Expr::Index(..));
            if in_rest { last_argument(&mut parts.rhs) } else { last_argument(&mut parts.lhs) }
        }
        _ => None,
    }
}

/// Makes `list[1..3]` the part of a list, as it is of a text: Rhai takes no indexer of ours for lists. What is no list is
/// indexed as it was.
pub(super) fn take_part(expr: &mut Expr, calls: &NestingCheck) {
    let Some((place, is_place)) = literal_range(expr) else { return };
    let (mut head, mut links) = take_apart(std::mem::take(expr));
    let rest = links.split_off(place + 1);
    let Some(range) = links.pop() else { return };
    let position = range.position;
    let step = |element: Expr| Link { is_index: false, flags: ASTFlags::empty(), position, element };
    let with = |head: &Expr, links: &[Link], further: Link, rest: Vec<Link>| {
        put_together(head.clone(), links.iter().cloned().chain([further]).chain(rest).collect())
    };
    let is_list = match &head {
        Expr::Array(..) if links.is_empty() => None,
        Expr::Variable(variable, ..) if links.is_empty() && is_place => {
            Some(Marker::IsList(&variable.1).expression(position))
        }
        _ if is_place => Some(with(&head, &links, step(calls.is_list(position)), Vec::new())),
        _ => {
            // It is evaluated once, and the value is taken up below.
            let value = put_together(std::mem::replace(&mut head, Marker::Stashed.expression(position)), links);
            links = Vec::new();
            Some(calls.stashing(value))
        }
    };
    let mut as_list = with(&head, &links, step(calls.extract(range.element.clone())), rest.clone());
    take_part(&mut as_list, calls);
    let Some(is_list) = is_list else {
        *expr = as_list;
        return;
    };
    let otherwise = with(&head, &links, range, rest);
    let block = |expr: Expr| StmtBlock::new([Stmt::Expr(Box::new(expr))], position, position);
    let flow = FlowControl { expr: is_list, body: block(as_list), branch: block(otherwise) };
    *expr = Expr::Stmt(Box::new(StmtBlock::new([Stmt::If(Box::new(flow), position)], position, position)));
}

/// The first link of a chain that is a range written in an index, and whether what stands before it is a place that can be
/// looked at twice.
fn literal_range(expr: &Expr) -> Option<(usize, bool)> {
    let mut at = expr;
    let mut index = 0;
    let (Expr::Dot(parts, ..) | Expr::Index(parts, ..)) = expr else { return None };
    let mut is_place = match &parts.lhs {
        Expr::Variable(variable, ..) => variable.2.is_empty(),
        head => matches!(head, Expr::ThisPtr(..)),
    };
    loop {
        let (Expr::Dot(parts, flags, _) | Expr::Index(parts, flags, _)) = at else { return None };
        if flags.intersects(ASTFlags::NEGATED) {
            return None;
        }
        let last = flags.intersects(ASTFlags::BREAK) || !matches!(parts.rhs, Expr::Dot(..) | Expr::Index(..));
        let element = match &parts.rhs {
            Expr::Dot(next, ..) | Expr::Index(next, ..) if !last => &next.lhs,
            rhs => rhs,
        };
        match element {
            Expr::FnCall(range, _) if matches!(at, Expr::Index(..)) && is_range(range) => {
                return Some((index, is_place));
            }
            Expr::Property(..) => {}
            element => is_place &= matches!(at, Expr::Index(..)) && is_simple(element),
        }
        if last {
            return None;
        }
        at = &parts.rhs;
        index += 1;
    }
}

fn is_range(call: &FnCallExpr) -> bool {
    matches!(&*call.name, ".." | "..=") && call.op_token.is_some()
}

/// One step of a chain: what stands before it, and how it is joined to that.
#[derive(Clone)]
struct Link {
    is_index: bool,
    flags: ASTFlags,
    position: Position,
    element: Expr,
}

/// The captured variables of a script, and what its closures may come to.
#[derive(Debug, Default)]
pub(super) struct Captured {
    /// The variables that some closure captured: in the script, or in its space before.
    variables: BTreeSet<ImmutableString>,
    /// The bodies of closures that call no code of scripts.
    quiet: BTreeSet<ImmutableString>,
}

impl Captured {
    /// Those of a script, in a space whose variables of these names are captured.
    pub(super) fn of(ast: &AST, has_closures: bool, in_space: Vec<ImmutableString>, natives: &dyn Natives) -> Self {
        let mut variables: BTreeSet<_> = in_space.into_iter().collect();
        if !has_closures {
            return Self { variables, ..Self::default() };
        }
        ast.walk(&mut |path: &[ASTNode<'_>]| {
            if let Some(ASTNode::Stmt(Stmt::Share(shared))) = path.last() {
                variables.extend(shared.iter().map(|(variable, _)| variable.name.clone()));
            }
            true
        });
        let bodies = ast.shared_lib().iter_script_fn_info().map(|(.., function)| function);
        let quiet = bodies
            .filter(|body| is_body(&body.name) && !has_statement(body, |statement| calls_scripts(statement, natives)));
        Self { variables, quiet: quiet.map(|body| body.name.clone()).collect() }
    }

    /// Whether a variable may be a cell that others hold as well.
    pub(super) fn contains(&self, name: &str) -> bool {
        self.variables.contains(name)
    }

    /// Whether code that a method is given may read this variable.
    fn may_read(&self, argument: &Expr, variable: &str) -> bool {
        let loud = |constant: &Expr| match constant {
            Expr::DynamicConstant(value, _) => {
                value.read_lock::<FnPtr>().is_some_and(|pointer| !self.quiet.contains(pointer.fn_name()))
            }
            _ => false,
        };
        match argument {
            Expr::Stmt(block) => captures(argument, variable) || closure_in(block).is_none_or(loud),
            constant if constant.is_constant() => loud(constant),
            _ => true,
        }
    }
}

/// The closure that a block of the parser gives, `{ share; curry(closure, captures..) }`.
fn closure_in(block: &StmtBlock) -> Option<&Expr> {
    match block.statements().last()? {
        Stmt::FnCall(call, _) => call.args.first(),
        Stmt::Expr(expr) => match &**expr {
            Expr::FnCall(call, _) => call.args.first(),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a call of this name may come to code of scripts.
fn may_call_scripts(name: &str, natives: &dyn Natives) -> bool {
    natives.is_of_scripts(name) || natives.may_be_own(name) || natives.native(name) != Native::Quiet
}

/// Whether a statement has a call in it that may come to code of scripts.
fn calls_scripts(statement: &Stmt, natives: &dyn Natives) -> bool {
    let mut found = false;
    statement.walk(&mut Vec::new(), &mut |path: &[ASTNode<'_>]| {
        if let Some(
            ASTNode::Stmt(Stmt::FnCall(call, _)) | ASTNode::Expr(Expr::FnCall(call, _) | Expr::MethodCall(call, _)),
        ) = path.last()
        {
            let qualified = !call.namespace.is_empty();
            found |= call.op_token.is_none() && (qualified || may_call_scripts(&call.name, natives));
        }
        !found
    });
    found
}

/// Parts a chain before a method that may call code which reads the variable that the chain begins with, when that may be a cell.
/// `of_space` tells of those that are looked up in the space each time.
pub(super) fn part(expr: &mut Expr, natives: &dyn Natives, captured: &Captured, of_space: impl Fn(&str) -> bool) {
    let Some(variable) = root(expr) else { return };
    let of_space = of_space(&variable);
    if !of_space && !captured.contains(&variable) {
        return;
    }
    let Some(place) = conflict(expr, &variable, natives, captured) else { return };
    if place == 0 && of_space && !captured.contains(&variable) {
        // What is looked up is copied only when it is a cell by now. A closure of this code that captured it would hold what was
        // looked up.
        if let Expr::Dot(parts, ..) | Expr::Index(parts, ..) = expr {
            parts.lhs = Marker::Value(&variable).expression(parts.lhs.position());
        }
        return;
    }
    let (head, mut links) = take_apart(std::mem::take(expr));
    let rest = links.split_off(place);
    let position = head.position();
    let before = if links.is_empty() {
        // A block is evaluated to a copy.
        let value = Stmt::Expr(Box::new(head));
        Expr::Stmt(Box::new(StmtBlock::new([value], position, position)))
    } else {
        put_together(head, links)
    };
    *expr = put_together(before, rest);
}

/// The index of the first link that may call code which reads `variable`, when the chain can be parted before it.
fn conflict(expr: &Expr, variable: &str, natives: &dyn Natives, captured: &Captured) -> Option<usize> {
    let mut at = expr;
    let mut index = 0;
    let mut after_call = false;
    let mut found = None;
    loop {
        let (Expr::Dot(parts, flags, _) | Expr::Index(parts, flags, _)) = at else { return found };
        let is_index = matches!(at, Expr::Index(..));
        // `a?.b.c` ends early as a whole.
        if flags.intersects(ASTFlags::NEGATED) {
            return None;
        }
        let last = flags.intersects(ASTFlags::BREAK) || !matches!(parts.rhs, Expr::Dot(..) | Expr::Index(..));
        let element = match &parts.rhs {
            Expr::Dot(next, ..) | Expr::Index(next, ..) if !last => &next.lhs,
            rhs => rhs,
        };
        if let (Expr::MethodCall(call, _), false) = (element, is_index) {
            // A function of the script may change what it is called on.
            if natives.is_of_scripts(&call.name) {
                return None;
            }
            // A native may take a function as any value.
            let calls = may_call_scripts(&call.name, natives);
            let reads = |argument| captures(argument, variable) || calls && captured.may_read(argument, variable);
            let reads = call.args.iter().any(reads);
            if found.is_none() && reads && (after_call || leaves_object(&call.name)) {
                found = Some(index);
            }
            // What stands behind is evaluated in another order than Rhai would: only what cannot tell may.
            if !call.args.iter().all(is_simple) {
                return None;
            }
            after_call = true;
        } else {
            after_call = false;
            if found.is_some() && is_index && !is_simple(element) {
                return None;
            }
        }
        if last {
            return found;
        }
        at = &parts.rhs;
        index += 1;
    }
}

/// Whether an argument is a closure that captured this variable.
fn captures(argument: &Expr, variable: &str) -> bool {
    let Expr::Stmt(block) = argument else { return false };
    matches!(block.statements().first(), Some(Stmt::Share(shared)) if shared.iter().any(|(shared, _)| shared.name == variable))
}

/// Whether it does not matter when an expression is evaluated.
fn is_simple(expr: &Expr) -> bool {
    match expr {
        Expr::Variable(..) => true,
        Expr::Stmt(block) => matches!(block.statements().first(), Some(Stmt::Share(..))),
        Expr::FnCall(call, _) => call.name == "Fn" && matches!(&*call.args, [Expr::StringConstant(..)]),
        constant => constant.is_constant(),
    }
}

fn take_apart(expr: Expr) -> (Expr, Vec<Link>) {
    let (mut parts, mut is_index, mut flags, mut position) = match expr {
        Expr::Dot(parts, flags, position) => (*parts, false, flags, position),
        Expr::Index(parts, flags, position) => (*parts, true, flags, position),
        other => return (other, Vec::new()),
    };
    let head = std::mem::take(&mut parts.lhs);
    let mut links = Vec::new();
    loop {
        let ends = flags.intersects(ASTFlags::BREAK);
        match parts.rhs {
            Expr::Dot(mut next, next_flags, next_position) if !ends => {
                let element = std::mem::take(&mut next.lhs);
                links.push(Link { is_index, flags, position, element });
                (parts, is_index, flags, position) = (*next, false, next_flags, next_position);
            }
            Expr::Index(mut next, next_flags, next_position) if !ends => {
                let element = std::mem::take(&mut next.lhs);
                links.push(Link { is_index, flags, position, element });
                (parts, is_index, flags, position) = (*next, true, next_flags, next_position);
            }
            element => {
                links.push(Link { is_index, flags, position, element });
                return (head, links);
            }
        }
    }
}

fn put_together(head: Expr, links: Vec<Link>) -> Expr {
    let mut links = links.into_iter().rev();
    let Some(Link { mut is_index, mut flags, mut position, element }) = links.next() else { return head };
    // Without the mark an index that is a chain itself would be taken for the rest of this one.
    flags.set(
        ASTFlags::BREAK,
        is_index && matches!(element, Expr::Dot(..) | Expr::Index(..)) || flags.contains(ASTFlags::BREAK),
    );
    let mut rhs = element;
    for link in links {
        rhs = node(is_index, flags, position, link.element, rhs);
        (is_index, flags, position) = (link.is_index, link.flags, link.position);
    }
    node(is_index, flags, position, head, rhs)
}

fn node(is_index: bool, flags: ASTFlags, position: Position, lhs: Expr, rhs: Expr) -> Expr {
    let parts = Box::new(BinaryExpr { lhs, rhs });
    if is_index { Expr::Index(parts, flags, position) } else { Expr::Dot(parts, flags, position) }
}
