//! When functions are shown the present value of a variable.
//!
//! Functions read the variables of their space and see each as of their call. What the running statement has changed is not
//! in the space yet, so it is handed over: a copy for functions to look at. Copying at each write would make a loop of writes
//! quadratic. So a write is only remembered, and what was written is handed over before an expression that may call a function:
//! by a marker with the variable's name where the text tells that it was written, and by a marker for those that were noted at run
//! time where only the run tells, in a loop that calls functions. A call is handed what it may read ([`Reach`]), and nothing else:
//! a loop whose calls read nothing that is written in it has no marker at all.
//!
//! This file owns that bookkeeping along one walk over a script. It knows no value and no task.

use super::calls::Reach;
use super::markers::Marker;
use rhai::{ASTNode, Expr, ImmutableString, Position, Stmt};
use std::collections::BTreeSet;

/// The variables that functions may have to be shown, along the code of a top level. An empty one does nothing.
#[derive(Debug, Default)]
pub(super) struct HandOver {
    /// The variables that some function reads.
    watched: BTreeSet<ImmutableString>,
    /// Those of them that were written on the way here and not handed over since.
    written: Vec<ImmutableString>,
    /// How often one of them was written.
    changes: usize,
    /// How many loops are around whose calls read what is written in them.
    loops: usize,
    /// What the calls of the outermost of them may read: of these a write is noted while they run.
    noting: Reach,
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

    /// Functions may be called next that read this. `own` is a method and the variable it is called on, which may have a function
    /// of its own under that name. Returns the markers that must be reached before.
    pub(super) fn before_call(&mut self, reach: &Reach, own: Option<(ImmutableString, ImmutableString)>) -> Vec<Stmt> {
        let (read, others): (Vec<_>, Vec<_>) = self.written.iter().cloned().partition(|name| reach.covers(name));
        let mut markers = sync(read.iter());
        if self.noted {
            let noted = if reach.any { String::new() } else { self.names(reach.reads.iter()) };
            if reach.any || !noted.is_empty() {
                markers.push(Marker::SyncNoted(&noted).statement(Position::NONE));
            }
        }
        if !reach.any && (self.noted || !others.is_empty()) {
            let names = self.names(others.iter());
            if !reach.of_modules.is_empty() {
                let functions = &self.joined(reach.of_modules.iter());
                markers.push(Marker::SyncForModules { functions, names: &names }.statement(Position::NONE));
            }
            if let Some((variable, method)) = own {
                let marker = Marker::SyncForOwn { variable: &variable, method: &method, names: &names };
                markers.push(marker.statement(Position::NONE));
            }
        }
        if self.tries == 0 {
            // An error in a `try` may come before the call: there it stays written.
            self.written = others;
        }
        markers
    }

    /// Those of these names that are watched, separated by spaces.
    fn names<'n>(&self, names: impl Iterator<Item = &'n ImmutableString>) -> String {
        self.joined(names.filter(|name| self.watched.contains(*name)))
    }

    fn joined<'n>(&self, names: impl Iterator<Item = &'n ImmutableString>) -> String {
        names.map(ImmutableString::as_str).collect::<Vec<_>>().join(" ")
    }

    /// A loop begins whose calls may read this. `None` when they read nothing that is written; otherwise what must stand before it,
    /// for [`HandOver::end_loop`].
    pub(super) fn begin_loop(&mut self, statement: &Stmt, reach: &Reach) -> Option<Vec<Stmt>> {
        if self.watched.is_empty() || reach.is_nothing() {
            return None;
        }
        let (read, others): (Vec<_>, Vec<_>) = self.written.iter().cloned().partition(|name| reach.may_cover(name));
        if read.is_empty() && !names_any(statement, |name| self.watched.contains(name) && reach.may_cover(name)) {
            return None;
        }
        if self.loops == 0 {
            self.noting = reach.clone();
        }
        self.loops += 1;
        self.noted = true;
        self.changes += read.len();
        // What was written before it is noted before it: in the loop it would be handed over again in every round.
        let before = read.into_iter().map(changed).collect();
        if self.tries == 0 {
            self.written = others;
        }
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
        self.written.iter().filter(|name| self.is_noted(name)).cloned().map(changed).collect()
    }

    /// Whether a write of this variable is noted here while the code runs.
    fn is_noted(&self, name: &ImmutableString) -> bool {
        self.loops > 0 && self.noting.may_cover(name)
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
        if self.tries > 0 {
            self.written.extend(new);
            return Vec::new();
        }
        // In a loop it is noted while it runs, so that nothing is handed over that was not written.
        let (noted, known): (Vec<_>, Vec<_>) = new.into_iter().partition(|name| self.is_noted(name));
        self.written.extend(known);
        match end {
            End::Open => noted.into_iter().map(changed).collect(),
            End::Jump => Vec::new(),
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
    /// The code behind it follows.
    Open,
    /// It goes on elsewhere, and has said so by [`HandOver::jump`].
    Jump,
}

fn sync<'n>(names: impl Iterator<Item = &'n ImmutableString>) -> Vec<Stmt> {
    names.map(|name| Marker::Sync(name).statement(Position::NONE)).collect()
}

fn changed(name: ImmutableString) -> Stmt {
    Marker::Changed(&name).statement(Position::NONE)
}

/// Whether a statement names a variable of this kind: whatever names one may write it.
fn names_any(statement: &Stmt, is_of_kind: impl Fn(&ImmutableString) -> bool) -> bool {
    let mut found = false;
    statement.walk(&mut Vec::new(), &mut |path: &[ASTNode<'_>]| {
        if let Some(ASTNode::Expr(Expr::Variable(variable, ..))) = path.last() {
            found |= is_of_kind(&variable.1);
        }
        !found
    });
    found
}
