//! Outlines of modules ([`ModuleOutline`]): made from a text alone, from a native module or from a space, and cut down to the
//! rows that somebody asked for. Nothing is run for it.

use super::name::ModuleName;
use crate::base::{Limits, ModuleError, lock};
use crate::engine::rhai::ImmutableString;
use crate::engine::{
    ConstantOutline, FunctionFacts, FunctionOutline, ModuleImport, ModuleOutline, SpaceView, module_text,
};
use crate::spaces::space::Space;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// The text of a module, taken apart.
#[derive(Debug)]
pub(super) struct Outlined {
    pub(super) outline: Arc<ModuleOutline>,
    pub(super) imports: Vec<ModuleImport>,
}

/// The texts that were taken apart last, one for each module: a module that has not changed is not compiled for every question.
#[derive(Debug, Default)]
pub(super) struct OutlineCache(Mutex<BTreeMap<ModuleName, Cached>>);

/// A text, and what came of it.
type Cached = (Arc<str>, Result<Arc<Outlined>, ModuleError>);

impl OutlineCache {
    /// The outline of a module's text.
    pub(super) fn of(&self, name: &ModuleName, text: &Arc<str>, limits: &Limits) -> Result<Arc<Outlined>, ModuleError> {
        if let Some((_, outlined)) = lock(&self.0).get(name).filter(|(of, _)| of == text) {
            return outlined.clone();
        }
        let parsed = module_text::parse(name.as_str(), text, limits);
        let outlined =
            parsed.map(|parsed| Arc::new(Outlined { outline: parsed.outline.into(), imports: parsed.imports }));
        lock(&self.0).insert(name.clone(), (text.clone(), outlined.clone()));
        outlined
    }

    /// Forgets all modules but these, which are sorted.
    pub(super) fn retain(&self, names: &[ModuleName]) {
        lock(&self.0).retain(|name, _| names.binary_search(name).is_ok());
    }
}

/// The choice of what to show of an outline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OutlineOptions {
    /// True for whole docs instead of their first sentences.
    pub docs: bool,
    /// Only what has this text in its name or doc, in any case of letters; matching lines of the doc are quoted.
    pub like: Option<String>,
}

/// One row of an outline: a public function or an exported constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OutlineRow {
    /// Its name.
    pub name: String,
    /// How it is called; `None` for a constant.
    pub signature: Option<String>,
    /// The parameters; empty for a constant.
    pub params: Vec<String>,
    /// The expression a constant is made by, when that is short.
    pub value: Option<String>,
    /// Its line, from 1; 0 for a native function.
    pub line: usize,
    /// The whole doc or its first sentence; may be empty.
    pub doc: String,
    /// The lines of the doc that have the text that was looked for.
    pub matched: Vec<String>,
    /// The eval that defined it inside the module (`eval 12`), when it is not the file's.
    pub defined_by: Option<String>,
}

impl ModuleOutline {
    /// The outline of a module's text.
    ///
    /// # Errors
    ///
    /// [`ModuleError::Syntax`] when the text does not compile.
    pub(crate) fn of_text(name: &str, text: &str, limits: &Limits) -> Result<Self, ModuleError> {
        module_text::parse(name, text, limits).map(|parsed| parsed.outline)
    }

    /// The outline of a native module of the embedding program, made from the facts about its functions.
    pub(crate) fn of_native(name: &str, doc: &str, functions: &[FunctionFacts]) -> Self {
        let functions = functions.iter().filter(|f| f.module.as_deref() == Some(name));
        Self {
            name: name.to_owned(),
            doc: doc.to_owned(),
            functions: functions.map(FunctionOutline::of_native).collect(),
            constants: Vec::new(),
        }
    }

    /// The outline of a space under the name it is imported by: its functions, and its variables, which importers see as
    /// constants. Nothing of a space that has ended.
    pub(crate) fn of_space(space: &Space) -> Self {
        let environment = space.environment().unwrap_or_default();
        let mut functions = module_text::functions_of(&environment.functions);
        functions.sort_by(|a, b| a.signature.cmp(&b.signature));
        let constant = |name: &ImmutableString| ConstantOutline { name: name.to_string(), value: None, line: 0 };
        Self {
            name: format!("@{}", space.name()),
            doc: String::new(),
            functions,
            constants: space.variables().iter().map(constant).collect(),
        }
    }

    /// The functions importers can call.
    pub(crate) fn public(&self) -> impl Iterator<Item = &FunctionOutline> {
        self.functions.iter().filter(|f| !f.private)
    }

    /// The functions with this name, one for each number of parameters.
    pub(crate) fn named<'a>(&'a self, function: &'a str) -> impl Iterator<Item = &'a FunctionOutline> {
        self.functions.iter().filter(move |f| f.name == function)
    }

    /// The rows that `options` asks for: constants first, then functions, each in the order of the text. Private functions
    /// are left out.
    pub(crate) fn rows(&self, options: &OutlineOptions) -> Vec<OutlineRow> {
        let constants = self.constants.iter().map(|c| OutlineRow {
            name: c.name.clone(),
            signature: None,
            params: Vec::new(),
            value: c.value.clone(),
            line: c.line,
            doc: String::new(),
            matched: Vec::new(),
            defined_by: None,
        });
        let functions = self.public().map(|f| OutlineRow {
            name: f.name.clone(),
            signature: Some(f.signature.clone()),
            params: f.params.clone(),
            value: None,
            line: f.line,
            doc: f.doc.clone(),
            matched: Vec::new(),
            defined_by: f.defined_by.clone(),
        });
        let mut rows: Vec<_> = constants.chain(functions).collect();
        if let Some(like) = &options.like {
            for row in &mut rows {
                row.matched = row.doc.lines().filter(|l| contains(l, like)).map(|l| l.trim().to_owned()).collect();
            }
            rows.retain(|row| contains(&row.name, like) || !row.matched.is_empty());
        }
        if !options.docs {
            for row in &mut rows {
                row.doc = first_sentence(&row.doc);
            }
        }
        rows
    }
}

impl FunctionOutline {
    fn of_native(facts: &FunctionFacts) -> Self {
        let inside =
            facts.signature.split_once('(').and_then(|(_, rest)| rest.rsplit_once(')')).map(|(inside, _)| inside);
        Self {
            name: facts.name.clone(),
            params: inside
                .into_iter()
                .flat_map(|i| i.split(", "))
                .filter(|p| !p.is_empty())
                .map(str::to_owned)
                .collect(),
            signature: facts.signature.clone(),
            doc: facts.doc.clone(),
            ..Self::default()
        }
    }
}

/// True when `text` has `wanted` in it, in any case of letters.
pub(super) fn contains(text: &str, wanted: &str) -> bool {
    text.to_lowercase().contains(&wanted.to_lowercase())
}

/// The first sentence of a doc, on one line: up to a full stop that ends a word, or the end of the first paragraph.
pub(crate) fn first_sentence(doc: &str) -> String {
    let mut sentence = String::new();
    let words = doc.lines().map(str::trim).skip_while(|l| l.is_empty()).take_while(|l| !l.is_empty());
    for word in words.flat_map(str::split_whitespace) {
        if !sentence.is_empty() {
            sentence.push(' ');
        }
        sentence.push_str(word);
        if word.ends_with(['.', '!', '?']) && !["e.g.", "i.e.", "etc.", "cf.", "vs."].contains(&word) {
            break;
        }
    }
    sentence
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "//! Greetings.\n\nexport const LIMIT = 3;\n\n/// Says hello. In English.\n///\n/// Never shouts.\n\
                        fn hello(name) { name }\n\nprivate fn secret() { 13 }\n\n/// One, always.\nfn number() { 1 }\n";

    fn rows(options: &OutlineOptions) -> Vec<(String, String, Vec<String>)> {
        let outline = ModuleOutline::of_text("greet", TEXT, &Limits::default()).unwrap();
        outline.rows(options).into_iter().map(|r| (r.name, r.doc, r.matched)).collect()
    }

    fn row(name: &str, doc: &str, matched: &[&str]) -> (String, String, Vec<String>) {
        (name.into(), doc.into(), matched.iter().map(|m| (*m).to_owned()).collect())
    }

    #[test]
    fn rows_have_first_sentences_or_whole_docs_and_nothing_private() {
        let short = rows(&OutlineOptions::default());
        assert_eq!(
            short,
            [row("LIMIT", "", &[]), row("hello", "Says hello.", &[]), row("number", "One, always.", &[])]
        );
        let whole = rows(&OutlineOptions { docs: true, like: None });
        assert_eq!(whole[1], row("hello", "Says hello. In English.\n\nNever shouts.", &[]));
    }

    #[test]
    fn a_search_looks_at_names_and_docs_and_quotes_the_lines() {
        let like = |text: &str| rows(&OutlineOptions { docs: false, like: Some(text.into()) });
        assert_eq!(like("NUMB"), [row("number", "One, always.", &[])]);
        assert_eq!(like("shouts"), [row("hello", "Says hello.", &["Never shouts."])]);
        assert_eq!(like("limit"), [row("LIMIT", "", &[])]);
        assert_eq!(like("secret"), []);
    }

    #[test]
    fn the_first_sentence_ends_where_a_reader_would_end_it() {
        for (doc, first) in [
            ("Reads 1.5 times, e.g. twice. Then more.", "Reads 1.5 times, e.g. twice."),
            ("Over\ntwo lines. More.", "Over two lines."),
            ("\nNo stop\n\nSecond paragraph.", "No stop"),
            ("", ""),
        ] {
            assert_eq!(first_sentence(doc), first);
        }
    }

    #[test]
    fn a_native_module_has_an_outline_too() {
        let facts = |module: &str, signature: &str| FunctionFacts {
            name: "count".into(),
            module: Some(module.into()),
            signature: signature.into(),
            doc: "Counts.".into(),
            standard: false,
            hidden: false,
        };
        let all = [facts("orders", "count(kind: string, since: int) -> int"), facts("other", "count()")];
        let outline = ModuleOutline::of_native("orders", "Orders.", &all);
        assert_eq!(outline.functions.len(), 1);
        assert_eq!(outline.functions[0].params, ["kind: string", "since: int"]);
        assert_eq!(
            outline.rows(&OutlineOptions::default())[0].signature.as_deref(),
            Some("count(kind: string, since: int) -> int")
        );
    }
}
