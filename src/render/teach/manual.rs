//! The manual: what everybody reads once, and its pages.

use super::docs::FunctionDoc;
use super::limits::limit_lines;
use super::pages::{self, meant, no_page};
use super::texts::{DESCRIBE, Variant, brief};
use crate::base::Limits;
use crate::render::plain::{head, listed, one_line};

/// What the manual says about this program in particular.
#[derive(Clone, Copy, Debug)]
pub struct Instance<'a> {
    /// The operator's words about it.
    pub describe: &'a str,
    /// The limits in force.
    pub limits: &'a Limits,
    /// The host's own functions, in their order.
    pub functions: &'a [FunctionDoc],
    /// The names of the modules an embedding program added.
    pub modules: &'a [String],
    /// The modules that come along, in their order.
    pub along: &'a [ModuleAlong],
}

/// A native module that comes along.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleAlong {
    /// Its name.
    pub name: String,
    /// The names of its functions.
    pub functions: Vec<String>,
}

/// The manual: the model, the rules that surprise, what there is by name, and a line for each page. Under 6.5 KB.
pub fn manual(of: &Instance<'_>, variant: Variant) -> String {
    let mut text = include_str!("manual/manual.md").to_owned();
    if !of.describe.trim().is_empty() {
        // After the title, before everything else: the place names itself.
        let title = text.find('\n').map_or(text.len(), |end| end + 1);
        text.insert_str(title, &format!("\nThis instance: {}\n", brief(of.describe, 10 * DESCRIBE)));
    }
    text.push('\n');
    text.push_str(&pages::waiting(variant, of.limits));
    text.push('\n');
    text.push_str(include_str!("manual/rules.md"));
    if !of.modules.is_empty() {
        let names = listed(of.modules.iter().map(|name| format!("`{}::`", one_line(name))));
        text.push_str(&format!("- This program's own modules, called without an import: {names}\n"));
    }
    if !of.along.is_empty() {
        text.push_str("\n## Modules that come along\n\nCalled without an import; `outline(\"re\")` lists one, `doc(\"re::find\")` tells all about a function.\n\n");
        for module in of.along {
            text.push_str(&format!("- `{}::` {}\n", module.name, module.functions.join(" ")));
        }
    }
    text.push_str("\n## Pages\n\n`manual(\"children\")` shows one:\n\n");
    text.push_str(&pages::list());
    text
}

/// A page of the manual; or, as an error, the sentence that says which pages there are.
pub fn manual_page(name: &str, of: &Instance<'_>, variant: Variant) -> Result<String, String> {
    let page = meant(name).ok_or_else(|| no_page(name))?;
    let mut text = pages::prose(page);
    match page.name {
        "waiting" => text.push_str(&format!("\n## Calls that last\n\n{}", pages::waiting(variant, of.limits))),
        "limits" => {
            text.push_str("\n## In force here\n\n");
            text.push_str(&limit_lines(of.limits));
        }
        "reference" => {
            text.push_str("## Reference\n\n`doc(\"name\")` shows all there is to say about a function.\n\n");
            for function in of.functions {
                text.push_str(&reference(function));
                text.push('\n');
            }
        }
        _ => {}
    }
    Ok(text)
}

/// Longest entry of the reference, in characters of its text; `doc("name")` shows the rest.
const REFERENCE: usize = 200;

/// One line of the reference: its calls, and the first paragraph of its doc, up to the end of a sentence where that is long.
pub(super) fn reference(function: &FunctionDoc) -> String {
    let calls = listed(function.signatures.iter().map(|call| format!("`{}`", one_line(call))));
    let calls = if calls.is_empty() { format!("`{}`", one_line(&function.name)) } else { calls };
    let first = function.doc.trim().split("\n\n").next().unwrap_or_default();
    let first = first.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = whole_sentences(&first);
    let cut = if shown.len() < first.len() { " …" } else { "" };
    let colon = if shown.is_empty() { "" } else { ": " };
    format!("- {calls}{colon}{}{cut}", one_line(shown))
}

/// The sentences of a text that fit; of a first one that is too long, as many words as fit.
fn whole_sentences(text: &str) -> &str {
    let fitting = head(text, REFERENCE);
    if fitting.len() == text.len() {
        return text;
    }
    let sentence = fitting.rfind(". ").map(|at| &fitting[..=at]);
    sentence.or_else(|| fitting.rfind(' ').map(|at| &fitting[..at])).unwrap_or(fitting)
}
