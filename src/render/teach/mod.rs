//! Texts that teach: instructions, tool descriptions, the manual, docs of functions. The prose is Markdown next to this file.

mod examples;

pub use examples::{Example, examples};

/// Which way of waiting a client has: its texts differ in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Calls answer `running` after a deadline; the tools `await` and `cancel` go on from there.
    Await,
    /// The client follows tasks: calls that last become tasks.
    Tasks,
}

/// A tool of the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// `create-session`.
    CreateSession,
    /// `eval`.
    Eval,
    /// `await`.
    Await,
    /// `cancel`.
    Cancel,
}

/// A function that scripts can call, as its registration tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionDoc {
    /// Its name.
    pub name: String,
    /// How it is called, such as `out(id, from, n)`; one for each overload.
    pub signatures: Vec<String>,
    /// Its doc comment without the marks; may hold examples (see [`examples`]).
    pub doc: String,
}

/// The instructions a client reads at the start, under 1,000 characters. `describe`: the operator's words about this instance.
/// `create_session`: whether the wire needs `create-session` first.
pub fn instructions(describe: &str, create_session: bool) -> String {
    let _ = (describe, create_session);
    todo!()
}

/// The description of a tool, under 2,000 characters.
pub fn tool_description(tool: Tool, variant: Variant) -> &'static str {
    let _ = (tool, variant);
    todo!()
}

/// A tool's title.
pub fn tool_title(tool: Tool) -> &'static str {
    let _ = tool;
    todo!()
}

/// The manual: the concepts, then a reference of `functions` in the order given; under 24 KiB with the functions of this
/// program. `modules`: names of the native modules an embedding program added.
pub fn manual(describe: &str, variant: Variant, functions: &[FunctionDoc], modules: &[String]) -> String {
    let _ = (describe, variant, functions, modules);
    todo!()
}

/// What `doc("name")` prints.
pub fn doc(function: &FunctionDoc) -> String {
    let _ = function;
    todo!()
}
