//! The walk over a chain of properties, indexes and method calls, a part of [`Rewriter`]'s: what the calls in it read and write, and
//! what must run before it.

use super::calls::{Calls, Receiver, plain_variable};
use super::chains::{Effects, changes_nothing, last_argument, part};
use super::walk::{Rewriter, Use};
use rhai::{ASTFlags, Expr, Stmt};

impl Rewriter<'_> {
    /// Rewrites a chain of properties, indexes and method calls. Returns what must run before it.
    pub(super) fn chain(&mut self, expr: &mut Expr) -> Vec<Stmt> {
        part(expr, self.natives, &self.captured, |name| self.in_function && !self.is_local(name));
        let is_index = matches!(expr, Expr::Index(..));
        let (Expr::Dot(parts, flags, _) | Expr::Index(parts, flags, _)) = expr else { return Vec::new() };
        let ends = flags.contains(ASTFlags::BREAK);
        let at_first = self.hand_over.changes();
        self.expression(&mut parts.lhs);
        let of_receiver = self.hand_over.changes();
        let receiver = Receiver::of(&parts.lhs);
        let mut effects = Effects::default();
        self.links(&mut parts.rhs, is_index, ends, Some(&receiver), &mut effects);
        // Whether a variable is a map with a function of its own is looked at when the code runs.
        let own = match receiver {
            Receiver::Variable(variable) if effects.of_root && !self.in_function => {
                let method = effects.calls.take_method();
                let method = method.filter(|m| self.natives.may_be_own(m) || self.natives.is_of_scripts(m));
                method.map(|method| (variable, method))
            }
            _ => None,
        };
        let curried = match &parts.rhs {
            Expr::MethodCall(call, _) => call.name == "curry",
            Expr::Dot(inner, ..) => matches!(&inner.lhs, Expr::MethodCall(call, _) if call.name == "curry"),
            _ => false,
        };
        let mut before = self.before_calls(effects.calls, own);
        // Rhai evaluates the arguments first, then what the chain begins with: what the last of them wrote is handed over behind it.
        if of_receiver != at_first {
            self.behind(&mut parts.lhs, &mut before);
        } else if self.hand_over.changes() != of_receiver
            && let Some(argument) = last_argument(&mut parts.rhs)
        {
            self.behind(argument, &mut before);
        }
        if let Some(variable) = plain_variable(&parts.lhs) {
            if effects.writes {
                self.write(variable);
            } else if effects.methods {
                // It may be a map with a function of its own under that name.
                self.compare(variable);
            }
        }
        if effects.changes {
            self.name_use(&mut parts.lhs, Use::InPlace);
        }
        if curried && !matches!(parts.lhs, Expr::DynamicConstant(..) | Expr::ThisPtr(..)) {
            let receiver = std::mem::take(&mut parts.lhs);
            parts.lhs = self.check.around(receiver);
        }
        before
    }

    /// The links of a chain behind its root. `is_index` says how the first one is joined to it, `ends` that it is the last, and
    /// `root` what stands before it when that is the root.
    fn links(&mut self, link: &mut Expr, is_index: bool, ends: bool, root: Option<&Receiver>, effects: &mut Effects) {
        let next_is_index = matches!(link, Expr::Index(..));
        match link {
            Expr::Dot(parts, flags, _) | Expr::Index(parts, flags, _) if !ends => {
                let ends = flags.contains(ASTFlags::BREAK);
                self.link(&mut parts.lhs, is_index, root, effects);
                self.links(&mut parts.rhs, next_is_index, ends, None, effects);
            }
            last => self.link(last, is_index, root, effects),
        }
    }

    fn link(&mut self, element: &mut Expr, is_index: bool, root: Option<&Receiver>, effects: &mut Effects) {
        match element {
            Expr::MethodCall(call, _) if !is_index => {
                effects.methods = true;
                effects.of_root |= root.is_some();
                effects.calls.add(Calls::of(call, Some(root.unwrap_or(&Receiver::Other)), self.natives));
                let only_reads = self.natives.only_reads(&call.name);
                effects.writes |= !only_reads;
                effects.changes |= !only_reads && !changes_nothing(&call.name);
                call.args.iter_mut().for_each(|argument| self.value(argument));
                if call.name == "curry" {
                    self.check_nesting(&mut call.args);
                }
            }
            Expr::Property(..) if !is_index => {}
            index => self.expression(index),
        }
    }

    /// Marks the captured variable that an expression begins with as one that is written there.
    pub(super) fn name_use(&mut self, expr: &mut Expr, what: Use) {
        match expr {
            Expr::Variable(variable, ..) if variable.2.is_empty() && self.captured.contains(&variable.1) => {
                variable.1 = self.closures.name_for(&variable.1, what);
            }
            Expr::Dot(parts, ..) | Expr::Index(parts, ..) => self.name_use(&mut parts.lhs, what),
            _ => {}
        }
    }
}
