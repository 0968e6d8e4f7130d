//! Texts that teach: instructions, tool descriptions, the manual and its pages, docs of all that has a name; and the examples in them.

mod docs;
mod examples;
mod limits;
mod manual;
mod pages;
mod texts;
mod words;

#[cfg(test)]
mod tests;

pub use docs::{FunctionDoc, Hit, VariableDoc, doc, found, no_doc, overloads, variable};
pub use examples::{Example, Step, examples};
pub use limits::{LimitRow, limit_lines, limit_rows};
pub use manual::{Instance, ModuleAlong, manual, manual_page};
pub use pages::{page_hits, page_named};
pub use texts::{Tool, Variant, await_wait, eval_wait, instructions, tool_description, tool_title};
pub use words::{Word, word, words};
