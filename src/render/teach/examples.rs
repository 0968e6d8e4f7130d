//! Examples in prose and doc comments, in a form that a test can evaluate.

/// One fenced block that says `rhai`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The code.
    pub code: String,
    /// The value that the last line promises (`//=> 42`), as [`crate::render::value`] shows it.
    pub value: Option<String>,
    /// The failure that the last line promises (`//=! no entry`): a part of its first line.
    pub failure: Option<String>,
    /// Whether it needs a host and time and is only compiled: the fence says `rhai compile`.
    pub compile_only: bool,
}

/// Every example of a Markdown text, in order.
pub fn examples(markdown: &str) -> Vec<Example> {
    let _ = markdown;
    todo!()
}
