//! Texts that teach: instructions, tool descriptions, the manual, docs of functions; and the examples in them.

mod examples;
mod texts;

#[cfg(test)]
mod tests;

pub use examples::{Example, Step, examples};
pub use texts::{
    FunctionDoc, Tool, Variant, await_wait, doc, eval_wait, instructions, manual, no_doc, tool_description, tool_title,
};
