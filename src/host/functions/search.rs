//! What `doc` gives: the docs behind a name, or else a search by words in names and docs of all that can be called, keywords, types,
//! modules and the pages of the manual.

use super::lookup::{Lookup, bare, doc_of, ranked};
use crate::engine::Fallible;
use crate::render::teach::{self, Hit};
use crate::spaces::library::first_sentence;

/// The most that is listed.
const MOST: usize = 10;

/// Words that say nothing.
const EMPTY: [&str; 30] = [
    "a", "an", "and", "any", "are", "by", "can", "do", "does", "for", "from", "how", "i", "in", "into", "is", "it",
    "me", "my", "of", "on", "or", "that", "the", "to", "what", "when", "which", "with", "you",
];

/// Something that can be found.
struct Candidate {
    /// The names it is found by.
    names: String,
    call: String,
    says: String,
    doc: String,
}

impl Lookup<'_> {
    /// The docs; or the sentence that there are none.
    pub(super) fn text(&self, name: &str) -> Fallible<Result<String, String>> {
        let name = bare(name);
        if let Some(text) = self.named(name)? {
            return Ok(Ok(text));
        }
        let near = self.near(name)?;
        // What is written like a name of code is meant as one.
        let is_code = !name.contains(' ') && name.contains(['_', ':', '.', '(', '@']);
        let (hits, total) = if is_code { (Vec::new(), 0) } else { search(self, name)? };
        if hits.is_empty() {
            return Ok(Err(teach::no_doc(name, &near)));
        }
        Ok(Ok(teach::found(name, &near, &hits, total)))
    }
}

/// The best that was found, and how much was found in all.
fn search(lookup: &Lookup<'_>, words: &str) -> Fallible<(Vec<Hit>, usize)> {
    let all: Vec<String> = tokens(words).collect();
    let telling: Vec<&String> = all.iter().filter(|word| !EMPTY.contains(&word.as_str())).collect();
    // Of words that all say nothing, each may be the one that was meant.
    let wanted: Vec<Stem> = if telling.is_empty() { all.iter().collect() } else { telling }
        .into_iter()
        .map(|word| Stem::of(word))
        .collect();
    let mut found = Vec::new();
    for candidate in candidates(lookup)? {
        (lookup.check)()?;
        let scores: Vec<usize> = wanted.iter().map(|stem| stem.score(&candidate)).filter(|score| *score > 0).collect();
        if !scores.is_empty() {
            found.push((scores.len(), scores.iter().sum::<usize>(), candidate));
        }
    }
    // All words before some; then names before docs; then short names.
    found.sort_by(|a, b| (b.0, b.1).cmp(&(a.0, a.1)).then_with(|| a.2.names.len().cmp(&b.2.names.len())));
    let total = found.len();
    let hit = |candidate: Candidate| Hit { call: candidate.call, says: candidate.says };
    Ok((found.into_iter().take(MOST).map(|(_, _, candidate)| hit(candidate)).collect(), total))
}

/// The words of a text, in lower case.
fn tokens(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// A word without its ending: `sorting`, `sorted` and `sorts` look for the same.
struct Stem {
    stem: String,
    /// Whether words that go on after it are meant too.
    open: bool,
}

impl Stem {
    fn of(word: &str) -> Self {
        let ending = ["ing", "ed", "es", "s"].iter().find_map(|ending| word.strip_suffix(ending));
        let stem = ending.filter(|stem| stem.chars().count() >= 3).unwrap_or(word).to_owned();
        Self { open: stem.chars().count() >= 4, stem }
    }

    fn is(&self, token: &str) -> bool {
        token.strip_prefix(self.stem.as_str()).is_some_and(|rest| self.open || rest.is_empty() || rest == "s")
    }

    fn is_in(&self, text: &str) -> bool {
        tokens(text).any(|token| self.is(&token))
    }

    fn score(&self, candidate: &Candidate) -> usize {
        if tokens(&candidate.names).any(|token| token == self.stem) {
            8
        } else if self.is_in(&candidate.names) || (self.open && candidate.names.contains(&self.stem)) {
            5
        } else if self.is_in(&candidate.says) {
            2
        } else {
            usize::from(self.is_in(&candidate.doc))
        }
    }
}

fn candidates(lookup: &Lookup<'_>) -> Fallible<Vec<Candidate>> {
    let host = lookup.host;
    let candidate = |names: &str, call: String, doc: &str| Candidate {
        names: names.to_lowercase(),
        call,
        says: first_sentence(doc),
        doc: doc.to_owned(),
    };
    let mut all = Vec::new();
    for doc in &host.docs {
        let names = format!("{} {}", doc.name, doc.signatures.join(" "));
        all.push(candidate(&names, doc.signatures.first().unwrap_or(&doc.name).clone(), &doc.doc));
    }
    let functions: Vec<_> = host.runtime.functions().iter().collect();
    for overloads in functions.chunk_by(|a, b| (&a.module, &a.name) == (&b.module, &b.name)) {
        let name = &overloads[0].name;
        let own = overloads[0].module.is_none() && host.docs.iter().any(|doc| doc.name == *name);
        if own || name.contains('$') || name == "to_debug" {
            continue;
        }
        // The overload for each type can be what is looked for; one of them is shown.
        let ranked = ranked(overloads);
        let Some(first) = ranked.first() else { continue };
        let prefix = first.module.as_ref().map_or(String::new(), |module| format!("{module}::"));
        let mut found = candidate(name, format!("{prefix}{}", first.signature), doc_of(first, overloads));
        for other in &ranked[1..] {
            found.doc.push(' ');
            found.doc.push_str(doc_of(other, overloads));
        }
        all.push(found);
    }
    let here = match host.library.find(lookup.place) {
        Some(_) => host.outline(lookup.place),
        None => host.outline(&format!("@{}", lookup.place)),
    };
    for function in here.iter().flat_map(|outline| &outline.functions) {
        all.push(candidate(&function.name, function.signature.clone(), &function.doc));
    }
    for module in host.library.names() {
        (lookup.check)()?;
        let Ok(outline) = host.outline(&module) else { continue };
        let is_native = host.native.names().any(|name| name == module);
        all.push(candidate(&module, format!("doc(\"{module}\")"), &outline.doc));
        for function in outline.public().filter(|_| !is_native) {
            let names = format!("{module} {}", function.name);
            all.push(candidate(&names, format!("{module}::{}", function.signature), &function.doc));
        }
    }
    for word in teach::words() {
        all.push(candidate(&word.names.join(" "), format!("doc(\"{}\")", word.names[0]), word.text));
    }
    for (name, names, about, text) in teach::page_hits() {
        let says = about.to_owned();
        all.push(Candidate { names, call: format!("manual(\"{name}\")"), says, doc: text });
    }
    Ok(all)
}
