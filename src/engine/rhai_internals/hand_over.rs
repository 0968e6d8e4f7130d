//! When functions are shown the present value of a variable.
//!
//! Functions read the variables of their space and see each as of their call. What the running statement has changed is not
//! in the space yet, so it is handed over: a copy for functions to look at. Copying at each write would make a loop of writes
//! quadratic. So a write is only remembered, and what was written is handed over before an expression that may call a function:
//! by a marker with the variable's name where the text tells that it was written, and by a marker for all that were noted at run
//! time where only the run tells, in a loop that calls functions. A loop that calls none has no marker at all.
//!
//! This file owns that bookkeeping along one walk over a script. It knows no value and no task.

use super::markers::Marker;
use rhai::{ASTNode, Expr, ImmutableString, Position, Stmt};
use std::collections::BTreeSet;

/// The facts about native functions, by their names.
pub(crate) trait Natives {
    /// Whether a function of this name may be of the script, or call one.
    fn may_call_scripts(&self, name: &str) -> bool;

    /// Whether there is a function of this name in the script or its space.
    fn is_of_scripts(&self, name: &str) -> bool;

    /// Whether every method of this name leaves its object as it is.
    fn only_reads(&self, name: &str) -> bool;
}

/// The variables that functions may have to be shown, along the code of a top level. An empty one does nothing.
#[derive(Debug, Default)]
pub(super) struct HandOver {
    /// The variables that some function reads.
    watched: BTreeSet<ImmutableString>,
    /// Those of them that were written on the way here and not handed over since.
    written: Vec<ImmutableString>,
    /// How often one of them was written.
    changes: usize,
    /// How many loops that call functions are around.
    loops: usize,
    /// How many bodies of `try` are around.
    tries: usize,
    /// Whether something may have been noted while the statement runs.
    noted: bool,
}

impl HandOver {
    pub(super) fn new(watched: BTreeSet<ImmutableString>) -> Self {
        Self { watched, ..Self::default() }
    }

    /// A top-level statement begins: what the one before it wrote was committed.
    pub(super) fn begin_statement(&mut self) {
        self.written.clear();
        self.noted = false;
    }

    /// A variable of the space was written.
    pub(super) fn written(&mut self, name: &ImmutableString) {
        if self.watched.contains(name) {
            self.changes += 1;
            if !self.written.contains(name) {
                self.written.push(name.clone());
            }
        }
    }

    /// How often something was written on the way here: tells whether code that was walked over has written.
    pub(super) fn changes(&self) -> usize {
        self.changes
    }

    /// Variables of the space have become cells: functions look at the cells themselves.
    pub(super) fn captured(&self, names: &[ImmutableString]) -> Vec<Stmt> {
        sync(names.iter().filter(|name| self.watched.contains(*name)))
    }

    /// A function may be called next. Returns the markers that must be reached before.
    pub(super) fn before_call(&mut self) -> Vec<Stmt> {
        let mut markers = sync(self.written.iter());
        if self.tries == 0 {
            // An error in a `try` may come before the call: there it stays written.
            self.written.clear();
        }
        if self.noted {
            markers.push(Marker::SyncNoted.statement(Position::NONE));
        }
        markers
    }

    /// A loop begins. `None` when it calls no function; otherwise what must stand before it, for [`HandOver::end_loop`].
    pub(super) fn begin_loop(&mut self, statement: &Stmt, natives: &dyn Natives) -> Option<Vec<Stmt>> {
        if self.watched.is_empty() || !calls_scripts(statement, natives) {
            return None;
        }
        self.loops += 1;
        // What was written before it is noted before it: in the loop it would be handed over again in every round.
        let before: Vec<_> = self.written.iter().cloned().map(changed).collect();
        self.changes += before.len();
        if self.tries == 0 {
            self.written.clear();
        }
        self.noted |= !before.is_empty() || writes(statement, &self.watched);
        Some(before)
    }

    /// The loop that began like this is over. Returns what must stand before it.
    pub(super) fn end_loop(&mut self, begun: Option<Vec<Stmt>>) -> Vec<Stmt> {
        let Some(before) = begun else { return Vec::new() };
        self.loops -= 1;
        before
    }

    /// The end of a loop's body: the next round may call a function before it writes.
    pub(super) fn end_of_round(&mut self) -> Vec<Stmt> {
        self.jump()
    }

    /// The code goes on elsewhere. Returns what must stand before it does.
    pub(super) fn jump(&self) -> Vec<Stmt> {
        // What was written stays so for the code behind: not every way leads by here.
        if self.loops == 0 { Vec::new() } else { self.written.iter().cloned().map(changed).collect() }
    }

    /// The body of a `try` begins: an error may leave it anywhere, past all markers that follow.
    pub(super) fn begin_try(&mut self) {
        self.tries += 1;
    }

    /// The body of a `try` is over.
    pub(super) fn end_try(&mut self) {
        self.tries -= 1;
    }

    /// Code begins that may not run.
    pub(super) fn begin_branch(&self) -> Branch {
        Branch { written: self.written.clone() }
    }

    /// Code that may not have run is over.
    pub(super) fn end_branch(&mut self, branch: Branch, end: End) -> Vec<Stmt> {
        // What is written before it, and handed over in it, is still to be handed over where it did not run.
        let inside = std::mem::replace(&mut self.written, branch.written);
        let new: Vec<_> = inside.into_iter().filter(|name| !self.written.contains(name)).collect();
        let exact = self.loops > 0 && self.tries == 0;
        match end {
            End::Jump if exact => Vec::new(),
            // In a loop it is noted while it runs, so that nothing is handed over that was not written.
            End::Open if exact => new.into_iter().map(changed).collect(),
            End::Open | End::Jump | End::Value => {
                self.written.extend(new);
                Vec::new()
            }
        }
    }
}

/// What was written before code that may not run.
#[derive(Debug)]
pub(super) struct Branch {
    written: Vec<ImmutableString>,
}

/// How code that may not run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Markers may stand behind it.
    Open,
    /// It goes on elsewhere, and has said so by [`HandOver::jump`].
    Jump,
    /// It has a value, behind which nothing may stand.
    Value,
}

fn sync<'n>(names: impl Iterator<Item = &'n ImmutableString>) -> Vec<Stmt> {
    names.map(|name| Marker::Sync(name).statement(Position::NONE)).collect()
}

fn changed(name: ImmutableString) -> Stmt {
    Marker::Changed(&name).statement(Position::NONE)
}

/// Whether a statement has a call in it that may reach a function of the script.
pub(super) fn calls_scripts(statement: &Stmt, natives: &dyn Natives) -> bool {
    let mut found = false;
    statement.walk(&mut Vec::new(), &mut |path: &[ASTNode<'_>]| {
        let Some(
            ASTNode::Stmt(Stmt::FnCall(call, _)) | ASTNode::Expr(Expr::FnCall(call, _) | Expr::MethodCall(call, _)),
        ) = path.last()
        else {
            return true;
        };
        let calls = call.op_token.is_none() && (!call.namespace.is_empty() || natives.may_call_scripts(&call.name));
        found |= calls;
        !found
    });
    found
}

/// Whether a statement may write one of these variables.
fn writes(statement: &Stmt, watched: &BTreeSet<ImmutableString>) -> bool {
    let mut found = false;
    statement.walk(&mut Vec::new(), &mut |path: &[ASTNode<'_>]| {
        // Whatever names a variable may write it; a few markers too many do not matter.
        if let Some(ASTNode::Expr(Expr::Variable(variable, ..))) = path.last() {
            found |= watched.contains(&variable.1);
        }
        !found
    });
    found
}
