//! Docs of what is no function: keywords, operators, types. They stand in `words.md`, a section each, whose heading holds the names.

/// One section: names, and what there is to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The names in its heading, the usual one first.
    pub names: Vec<&'static str>,
    /// The text below.
    pub text: &'static str,
}

impl Word {
    /// The type it is about, as signatures name it.
    pub fn of_type(&self) -> Option<&'static str> {
        self.names.iter().copied().find(|name| TYPES.contains(name))
    }

    /// The whole entry; `functions` are those of the type, by name.
    pub fn entry(&self, functions: &[&str]) -> String {
        let names: Vec<_> = self.names.iter().map(|name| format!("`{name}`")).collect();
        let mut text = format!("{}\n\n{}", names.join(" "), self.text.trim());
        if !functions.is_empty() {
            text.push_str(&format!("\n\nIts functions: {}", functions.join(" ")));
        }
        text
    }
}

/// The types that scripts know, as signatures name them.
const TYPES: [&str; 12] =
    ["array", "map", "string", "blob", "range", "char", "int", "float", "timestamp", "Atom", "Chan", "Entry"];

/// Every section, in order.
pub fn words() -> Vec<Word> {
    let text: &'static str = include_str!("words.md");
    let sections = text.split("\n## ").map(|section| section.strip_prefix("## ").unwrap_or(section));
    sections
        .filter_map(|section| {
            let (heading, text) = section.split_once('\n')?;
            Some(Word { names: in_ticks(heading), text })
        })
        .collect()
}

/// The section that a name is about: as it is written, or else in any case of letters.
pub fn word(name: &str) -> Option<Word> {
    let mut all = words();
    let exact = all.iter().position(|word| word.names.contains(&name));
    let any_case = || all.iter().position(|word| word.names.iter().any(|own| own.eq_ignore_ascii_case(name)));
    exact.or_else(any_case).map(|at| all.swap_remove(at))
}

/// The pieces of code in a heading: `` `a` `b` ``, and ``` `` ` `` ```.
fn in_ticks(heading: &'static str) -> Vec<&'static str> {
    let pieces = heading.split(' ').collect::<Vec<_>>();
    if pieces.contains(&"``") {
        // A tick stands alone between two double ones.
        return pieces.iter().filter(|piece| **piece != "``").map(|piece| bare(piece)).collect();
    }
    pieces.iter().map(|piece| bare(piece)).collect()
}

fn bare(piece: &'static str) -> &'static str {
    let inside = piece.strip_prefix('`').and_then(|piece| piece.strip_suffix('`'));
    inside.filter(|inside| !inside.is_empty()).unwrap_or(piece)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_keyword_and_operator_of_the_language_has_an_entry() {
        let language = "let const if else switch do while until loop for in break continue return fn private import export as \
                        true false try catch throw this global Fn call curry is_shared is_def_fn is_def_var type_of print debug \
                        eval go spawn new shared async await thread is match case default var null with use module public static \
                        protected + - * / % ** << >> & | ^ ! && || == != < <= > >= = += -= *= /= %= **= <<= >>= &= |= ^= .. ..= \
                        ?? ?. ?[ . [ :: => #{ // /* /// ` ' \" _ !in () exit array map string blob range char int float bool \
                        timestamp Atom Chan Entry";
        let missing: Vec<_> = language.split_whitespace().filter(|name| word(name).is_none()).collect();
        assert!(missing.is_empty(), "{missing:?}");
        assert_eq!(word("ARRAY").unwrap().names[0], "array");
        assert_eq!(word("nope"), None);
    }

    #[test]
    fn an_entry_names_itself_and_the_functions_of_its_type() {
        let blob = word("bytes").unwrap();
        assert_eq!(blob.of_type(), Some("blob"));
        let entry = blob.entry(&["len", "push"]);
        assert!(entry.starts_with("`blob` `bytes`\n\nBytes:") && entry.ends_with("Its functions: len push"), "{entry}");
        for word in words() {
            assert!(word.text.trim().len() > 60 && !word.names.is_empty(), "{word:?}");
        }
    }
}
