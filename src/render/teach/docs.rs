//! The texts of `doc`: a function with all its calls, a variable, what a search found, and that there is nothing.

use crate::render::plain::{count, head, listed, one_line};

/// A function that scripts can call, as its registration tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionDoc {
    /// Its name.
    pub name: String,
    /// Its calls, such as `out(id, from, n)`; one for each overload.
    pub signatures: Vec<String>,
    /// Its doc comment without the marks; may hold examples (see [`examples()`](super::examples())).
    pub doc: String,
}

/// The text of `doc("name")`: its calls, then its whole doc.
pub fn doc(function: &FunctionDoc) -> String {
    let calls: Vec<_> = function.signatures.iter().map(|call| one_line(call)).collect();
    let calls = if calls.is_empty() { one_line(&function.name) } else { calls.join("\n") };
    let doc: Vec<_> = function.doc.trim().lines().map(one_line).collect();
    if doc.is_empty() { calls } else { format!("{calls}\n\n{}", doc.join("\n")) }
}

/// The text of a native function: its overloads, as signature and doc, those with one doc together. An example that several docs
/// have is shown once.
pub fn overloads(name: &str, all: &[(String, String)]) -> String {
    let mut groups: Vec<FunctionDoc> = Vec::new();
    for (signature, doc) in all {
        let doc = doc.trim();
        match groups.iter_mut().find(|group| group.doc == doc) {
            Some(group) => group.signatures.push(signature.clone()),
            None => groups.push(FunctionDoc {
                name: name.to_owned(),
                signatures: vec![signature.clone()],
                doc: doc.to_owned(),
            }),
        }
    }
    // Overloads nobody says anything about come last.
    groups.sort_by_key(|group| group.doc.is_empty());
    let mut examples: Vec<String> = Vec::new();
    for group in &mut groups {
        group.signatures.dedup();
        if let Some((prose, example)) = group.doc.split_once("# Example") {
            let (prose, example) = (prose.trim_end().to_owned(), example.to_owned());
            if examples.contains(&example) {
                group.doc = prose;
            } else {
                examples.push(example);
            }
        }
    }
    groups.iter().map(doc).collect::<Vec<_>>().join("\n\n")
}

/// A variable of a space.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VariableDoc {
    /// Its name.
    pub name: String,
    /// Whether it was declared with `const`.
    pub constant: bool,
    /// The type of its value, as scripts know it.
    pub kind: String,
    /// The size of its value in bytes.
    pub bytes: usize,
    /// The space it is in.
    pub space: String,
    /// Who set it last and when, such as `entry 12, 3.2 s ago`.
    pub set_by: String,
    /// Its value, shortened.
    pub value: String,
}

/// The text of `doc("name")` about a variable.
pub fn variable(of: &VariableDoc) -> String {
    let word = if of.constant { "const" } else { "let" };
    format!(
        "{word} {} · {} · {} · in {} · set by {}\n{}",
        one_line(&of.name),
        one_line(&of.kind),
        count(of.bytes, "byte"),
        one_line(&of.space),
        one_line(&of.set_by),
        of.value
    )
}

/// Something that a search found: how it is called, and the first sentence about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The call, such as `order(list: array, f: Fn) -> array`, or `manual("lists")`.
    pub call: String,
    /// The first sentence of its doc.
    pub says: String,
}

/// Characters of a sentence in what a search found.
const SENTENCE: usize = 160;

/// The text of `doc("some words")`: the best of `total` things that were found. `near`: names that look like the words.
pub fn found(words: &str, near: &[String], hits: &[Hit], total: usize) -> String {
    let mut text = format!("nothing is called `{}`; ", one_line(head(words, 80)));
    if !near.is_empty() {
        text.push_str(&format!("did you mean: {}; ", listed(near.iter().map(|name| one_line(name)))));
    }
    text.push_str(&match total {
        1 => "one thing speaks of it:".to_owned(),
        _ if total > hits.len() => format!("the best {} of {total} that speak of it:", hits.len()),
        _ => format!("{total} that speak of it:"),
    });
    for hit in hits {
        let says = one_line(head(&hit.says, SENTENCE));
        let cut = if says.len() < hit.says.len() && hit.says.chars().count() > SENTENCE { "…" } else { "" };
        let colon = if says.is_empty() { "" } else { ": " };
        text.push_str(&format!("\n- `{}`{colon}{says}{cut}", one_line(&hit.call)));
    }
    text
}

/// The text of `doc("name")` when nothing has that name. `near`: names that look like it, best first.
pub fn no_doc(name: &str, near: &[String]) -> String {
    let name = one_line(head(name, 80));
    match near {
        [] => format!("nothing is known about `{name}`; manual() names every function, doc(\"some words\") searches"),
        near => {
            let near = listed(near.iter().map(|name| one_line(name)));
            format!("nothing is known about `{name}`; did you mean: {near}")
        }
    }
}
